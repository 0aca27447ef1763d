/** Judges what needs all nodes or the cluster's objects, and makes the totals. */

import { by } from '#base/text.ts'
import { headroomShare } from '#judge/causes.ts'
import { growthOf, withReading } from '#judge/compare/history/fill.ts'
import {
  joinAlike,
  mergedRounds,
  readingOfMachine,
  reportedRounds,
  withEvents,
  withImages,
  withRestart,
} from '#judge/compare/history/happenings.ts'
import { sumOrNull } from '#judge/garbage/garbage.ts'
import { type ClusterRule, type NodeContext, nameLength, shorten } from '#judge/rule.ts'
import {
  type ClusterPrediction,
  type GarbageOverview,
  type GarbageRow,
  garbageFates,
} from '#model/cluster-garbage.ts'
import { gradeOf, type UnknownOutcome } from '#model/finding.ts'
import type { EarlierNodes } from '#model/history.ts'
import type { Subject } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type { AuditedNode, TakenNode } from '#model/report.ts'
import { gatherSubjects, type JudgedCluster, judgeCluster } from './cluster-rules.ts'
import { cohortOutcomes, contextOutcomes, type KeptNode } from './cohorts.ts'
import { completeFindings } from './fixing.ts'
import { type JudgementResult, manyFindings, sortedErrors, withoutRepeats } from './result.ts'
import type { Taken } from './taking.ts'
import {
  byUnknown,
  type FoundFinding,
  fewNodes,
  gatherLooseNodes,
  type RoomOf,
  Tally,
} from './tally.ts'
import { utcDay, waiverOf } from './waivers.ts'

export interface Closed extends JudgementResult {
  /** In the order in which they were taken. */
  nodes: AuditedNode[]
}

/** What was found beside the nodes. */
export interface Beside {
  takenAt: string
  predictions: readonly ClusterPrediction[]
  before: EarlierNodes
  onFound: (found: FoundFinding) => void
}

export function closeJudgement(
  taken: Taken,
  { takenAt, predictions, before, onFound }: Beside,
): Closed {
  const { counts, policy, allNodes } = taken
  const day = utcDay(takenAt)
  const nodes = new Map(
    [...taken.nodes].map(([kept, node]) => [kept, withHistory(taken, node, before)]),
  )
  for (const [rule, facts] of taken.facts) {
    const members = facts.members()
    const outcomes =
      rule.kind === 'cohort'
        ? cohortOutcomes(rule, members, policy, name => counts.cluster(name).facts)
        : contextOutcomes(rule, members, policy, node =>
            contextOf(taken, node, nodes.get(node), before),
          )
    for (const { subject, outcome } of outcomes) counts.count(rule, subject, outcome)
  }
  for (const [cluster, reason] of taken.emptyReasons)
    if (counts.cluster(cluster).coverage.nodes === 0)
      counts.leaveOut(cluster, null, 'inactive', reason)
  const groups = gatherLooseNodes(
    [...counts.tallies.values()],
    (rule, cluster, subject) => new Tally(rule, cluster, subject),
    ({ rule, cluster, subject }) =>
      waiverOf({ rule: rule.id, cluster, subject }, policy.waivers, day) !== null,
  )
  const garbage = predictions.map(prediction => judgeGarbage(taken, prediction, day))
  const roomOf = headroomsOf([...nodes.values()])
  const found = groups
    .flatMap(group => group.foundFindings(allNodes, roomOf))
    .concat(garbage.flatMap(({ own }) => own))
  const factsOf = (cluster: string) => counts.cluster(cluster).facts
  const all = completeFindings(found, { ...taken, day, factsOf }).map(each =>
    !allNodes && found.length > manyFindings ? withFewNodes(each) : each,
  )
  const open = all.filter(({ finding }) => finding.waived === null)
  open.forEach(onFound)
  return {
    nodes: [...nodes.values()].map(node => ({
      ...node,
      outcomes: counts.outcomesOf(node.cluster, node.identity.name),
    })),
    clusters: [...counts.clusters.values()]
      .toSorted(by(({ name }) => name))
      .map(({ name, coverage, outcomes, isListCut, insights }) => {
        const own = open
          .filter(({ cluster }) => cluster === name)
          .map(({ finding, nodes }) => ({ severity: finding.severity, nodes }))
        return {
          name: shorten(name),
          grade: gradeOf(own, coverage, outcomes, isListCut),
          coverage,
          outcomes,
          ...(insights && { insights }),
        }
      }),
    findings: open.map(({ finding }) => finding),
    waived: all.filter(({ finding }) => finding.waived !== null).map(({ finding }) => finding),
    unknowns: [
      ...groups.flatMap(group => group.unknownOutcome(allNodes) ?? []),
      ...garbage.flatMap(({ unknowns }) => unknowns),
    ].toSorted(byUnknown),
    notAudited: withoutRepeats(counts.notAudited),
    delta: { new: [], resolved: [] },
    ruleErrors: sortedErrors(counts.ruleErrors),
    garbage: garbage.flatMap(({ overview }) => overview ?? []).toSorted(byCluster),
  }
}

function headroomsOf(nodes: readonly TakenNode[]): RoomOf {
  const rooms = new Map<string, Map<string, number>>()
  for (const node of nodes) {
    const ofCluster = rooms.get(node.cluster) ?? new Map<string, number>()
    rooms.set(node.cluster, ofCluster.set(node.identity.name, headroomShare(node)))
  }
  return (cluster, name) => rooms.get(cluster)?.get(name) ?? Number.POSITIVE_INFINITY
}

const withFewNodes = (found: FoundFinding): FoundFinding => {
  const { finding } = found
  const sample = finding.nodes.sample.slice(0, fewNodes)
  return { ...found, finding: { ...finding, nodes: { ...finding.nodes, sample } } }
}

/** The node with what happened on it since its last reading. */
function withHistory({ counts }: Taken, taken: TakenNode, before: EarlierNodes): TakenNode {
  const { events } = counts.cluster(taken.cluster).facts.contextOf(taken.identity.name)
  const last = readingOfMachine(taken, before(taken))
  const isLogged = taken.rounds !== undefined && taken.rounds.length > 0
  const node = {
    ...taken,
    happened: withRestart(taken, withEvents(taken, events), last?.fill ?? null),
    rounds: isLogged ? taken.rounds : reportedRounds(events, []),
  }
  return { ...node, ...withImages(node, last) }
}

function contextOf(
  { counts }: Taken,
  { cluster, identity, at }: KeptNode,
  audited: TakenNode | undefined,
  before: EarlierNodes,
): NodeContext {
  const { images = [], imagesSince = null, rounds = [], happened = [] } = audited ?? {}
  const earlier = () => audited && readingOfMachine(audited, before(audited))
  return {
    ...counts.cluster(cluster).facts.contextOf(identity.name),
    at,
    images,
    imagesSince,
    rounds: () => mergedRounds(earlier()?.rounds ?? [], rounds),
    happened: () => joinAlike([...(earlier()?.happened ?? []), ...happened]),
    growth: () =>
      audited ? growthOf(withReading(before(audited)?.fill ?? null, audited), audited) : {},
  }
}

function judgeGarbage(
  { counts, rules, policy, allNodes }: Taken,
  prediction: ClusterPrediction,
  day: string,
): { own: FoundFinding[]; unknowns: UnknownOutcome[]; overview: GarbageOverview | null } {
  const { cluster, resources } = prediction
  const state = counts.cluster(cluster)
  const lists = Object.values(resources)
  state.coverage.clusterGc = {
    lists: lists.length,
    read: lists.filter(reason => reason === null).length,
  }
  const judged: JudgedClusterRule[] = []
  const own: FoundFinding[] = []
  const unknowns: UnknownOutcome[] = []
  for (const rule of rules) {
    if (rule.kind !== 'cluster') continue
    const { outcome, failings, open } = judgeCluster(rule, prediction, policy)
    judged.push({ rule, outcome, failings, open })
    state.outcomes[outcome.state]++
    const isWaived = (subject: Subject) =>
      waiverOf({ rule: rule.id, cluster, subject }, policy.waivers, day) !== null
    own.push(...gatherSubjects(rule, cluster, failings, isWaived, allNodes))
    if (open !== null) {
      const subject: Subject = { kind: 'Cluster', namespace: null, name: shorten(cluster) }
      unknowns.push({
        rule: rule.id,
        cluster: shorten(cluster),
        subject,
        nodes: { count: 0, sample: [] },
        reason: open,
      })
    }
    counts.noteError(rule, cluster, '', outcome)
  }
  return { own, unknowns, overview: garbageOverview(prediction, policy, judged) }
}

const byCluster = by<{ cluster: string }>(({ cluster }) => cluster)

/* The table of a cluster's garbage, from the outcomes of the cluster's rules. */

interface JudgedClusterRule extends JudgedCluster {
  rule: ClusterRule
}

const namespacesShown = 3

/** Null if the policy does not search for garbage. */
function garbageOverview(
  { cluster, at, missing, doubts }: ClusterPrediction,
  { clusterGarbage: { enabled, kinds } }: Policy,
  judged: readonly JudgedClusterRule[],
): GarbageOverview | null {
  if (!enabled) return null
  const open = kinds.flatMap(need =>
    [...(missing[need] ?? []), ...(doubts[need] ?? [])].map(reason => ({ need, reason })),
  )
  const isClean = (need: (typeof kinds)[number]) =>
    judged.every(({ rule, outcome }) => !rule.needs.includes(need) || outcome.state === 'pass')
  return {
    cluster: shorten(cluster),
    at,
    rows: judged.flatMap(rowOf).toSorted(byUrgency),
    clean: kinds.filter(isClean),
    gaps: [...Map.groupBy(open, ({ reason }) => reason)].map(([reason, of]) => ({
      reason: shorten(reason),
      needs: of.map(({ need }) => need),
    })),
  }
}

function rowOf({ rule, failings }: JudgedClusterRule): GarbageRow[] {
  if (failings.length === 0) return []
  const namespaces = failings
    .filter(({ subject }) => subject.kind !== 'Cluster')
    .map(({ subject, count }) => ({ name: shorten(subject.name, nameLength), count }))
    .toSorted(
      by(
        ({ count }) => -count,
        ({ name }) => name,
      ),
    )
  const evidence = failings.flatMap(failing => failing.evidence)
  const times = evidence.flatMap(({ since }) => since?.firstMs ?? [])
  return [
    {
      rule: rule.id,
      count: failings.reduce((sum, { count }) => sum + count, 0),
      oldestMs: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)),
      namespaces: namespaces.slice(0, namespacesShown),
      namespacesLeftOut: Math.max(0, namespaces.length - namespacesShown),
      bytes: sumOrNull(failings.flatMap(({ size }) => size?.bytes ?? [])),
      monthlyUsd: sumOrNull(failings.flatMap(({ size }) => size?.monthlyUsd ?? [])),
      fate: rule.fate,
    },
  ]
}

const byUrgency = by<GarbageRow>(
  ({ fate }) => garbageFates.indexOf(fate),
  ({ monthlyUsd }) => -(monthlyUsd ?? 0),
  ({ count }) => -count,
)
