/** Compares the previous run with this one: how long each finding exists, what is new, worse, resolved or returned, and what to remember. */

import { usedPercentOf } from '#base/percent.ts'
import { by } from '#base/text.ts'
import { compareRuns } from '#judge/compare/delta/delta.ts'
import {
  type Change,
  type ChangedFinding,
  type Delta,
  type Ending,
  endings,
  type MetNode,
} from '#model/delta.ts'
import {
  type ClusterResult,
  type Finding,
  type FindingsDocument,
  type NotAudited,
  type Severity,
  severities,
} from '#model/finding.ts'
import {
  type GroupPoint,
  isRepaired,
  type PastFinding,
  type ReclaimRound,
  type ReclaimSum,
  type RememberedFinding,
  type RememberedRun,
  type Spread,
  type TrendPoint,
} from '#model/history.ts'
import type { AuditedNode, HiddenFinding, RunBefore } from '#model/report.ts'
import { absentClusters, readingsOf, splitAbsent, withAbsent, withUnknownStarts } from './absent.ts'

export interface RunToCompare extends Pick<RememberedRun, 'nodes' | 'ruleErrors'> {
  document: FindingsDocument
  /** The place that was enumerated to find the clusters; null: none. */
  scope: string | null
}

export interface Ledger {
  /** First day of each finding of this run, by finding id. Includes waived ones. */
  since: Map<string, string>
  delta: Required<FindingsDocument['delta']>
  before: RunBefore | null
  run: Omit<RememberedRun, 'runId'>
}

/**
 * @param last null: no earlier run exists, so no finding is new
 * @param day of this run, YYYY-MM-DD in UTC
 * @param forgetBefore findings that ended before that day are not kept
 */
export function nextLedger(
  last: RememberedRun | null,
  now: RunToCompare,
  day: string,
  forgetBefore: string,
): Ledger {
  const split = last && splitAbsent(last, now, now.scope, forgetBefore)
  const previous = split?.compared ?? null
  const before = byId(previous ? [...previous.document.findings, ...previous.document.waived] : [])
  const past = byId(previous?.past ?? [])
  const compared =
    previous && last && withUnknownStarts(compareRuns(previous, now), now, last, now.scope)
  const changes = byId(compared?.findings ?? [])
  const all = [...now.document.findings, ...now.document.waived]
  const since = new Map(all.map(({ id }) => [id, before.get(id)?.since ?? day]))
  const unseen = [...before.values()].filter(({ id }) => !since.has(id))
  // Findings that could not be checked today stay as last seen until a run can check them.
  const carried = unseen.filter(({ id }) => !isEnding(changes.get(id)?.change))
  const ended = unseen.flatMap((finding): PastFinding[] => {
    const how = changes.get(finding.id)?.change
    return isEnding(how) ? [{ ...namesOf(finding), ended: how, on: day }] : []
  })
  const returned = all.flatMap(({ id }) => {
    const finding = before.has(id) ? undefined : past.get(id)
    return !finding || !isRepaired(finding) ? [] : [finding]
  })
  const kept = [...past.values()].filter(({ id, on }) => !since.has(id) && on >= forgetBefore)
  const runBefore = last &&
    previous &&
    compared && {
      takenAt: previous.document.run.takenAt,
      delta: compared,
      ended,
      readAgain: readAgainSince(previous, now.document),
      returned: returned.map(({ id, since, ended, on }) => ({ id, since, ended, on })),
      hidden: carried
        .filter(isOpen)
        .map(finding => hiddenFinding(finding, changes.get(finding.id)?.why ?? [])),
      absent: absentClusters(split?.absent ?? null, last, now.scope),
      unread: newlyUnread(compared, previous),
    }
  const run = rememberedRun(now, { since, carried, past: [...kept, ...ended] }, day)
  return {
    since,
    delta: deltaOf([...changes.values()], since, ended, returned),
    before: runBefore,
    run: withAbsent(run, split?.absent ?? null),
  }
}

const byId = <Item extends { id: string }>(items: readonly Item[]) =>
  new Map(items.map(item => [item.id, item]))

const isEnding = (change: Change | undefined): change is Ending =>
  endings.some(ending => ending === change)

const isOpen = ({ waived }: RememberedFinding) => waived === null

function deltaOf(
  changed: readonly ChangedFinding[],
  since: ReadonlyMap<string, string>,
  ended: readonly PastFinding[],
  returned: readonly PastFinding[],
): Ledger['delta'] {
  const sortedIds = (found: readonly { id: string }[]) => found.map(({ id }) => id).toSorted()
  return {
    new: sortedIds(changed.filter(({ id, change }) => change === 'new' && since.has(id))),
    resolved: sortedIds(ended.filter(isRepaired)),
    worse: sortedIds(
      changed.filter(({ change }) => change === 'worse' || change === 'waiverExpired'),
    ),
    regressed: sortedIds(returned),
  }
}

interface KeptFinding {
  since: ReadonlyMap<string, string>
  carried: readonly RememberedFinding[]
  past: PastFinding[]
}

function rememberedRun(
  now: RunToCompare,
  { since, carried, past }: KeptFinding,
  day: string,
): Ledger['run'] {
  const { run, clusters, unknowns, notAudited, findings, waived } = now.document
  const rememberToday = (finding: Finding) =>
    rememberedFinding(finding, since.get(finding.id) ?? day, day)
  return {
    schema: 'highwater.history/1',
    document: {
      run,
      clusters,
      unknowns,
      notAudited,
      findings: [...findings.map(rememberToday), ...carried.filter(isOpen).map(carriedFinding)],
      waived: [
        ...waived.map(rememberToday),
        ...carried.filter(finding => !isOpen(finding)).map(carriedFinding),
      ],
    },
    nodes: now.nodes,
    ruleErrors: now.ruleErrors,
    past,
    readings: readingsOf(now, now.scope, day),
  }
}

function rememberedFinding(finding: Finding, since: string, lastSeen: string): RememberedFinding {
  const { id, rule, severity, confidence, cluster, subject, nodes, places, title, waived } = finding
  return {
    id,
    rule,
    severity,
    confidence,
    cluster,
    subject,
    nodes,
    ...(places !== undefined && { places }),
    title,
    // The comparison reads only these kinds of evidence.
    evidence: finding.evidence.filter(({ kind }) => kind === 'layer' || kind === 'waiver'),
    waived,
    since,
    lastSeen,
  }
}

function readAgainSince({ document }: RememberedRun, { notAudited }: FindingsDocument) {
  const unread = new Set(notAudited.map(keyOfUnread))
  return document.notAudited.filter(entry => !unread.has(keyOfUnread(entry)))
}

const keyOfUnread = ({ cluster, node }: NotAudited) => JSON.stringify([cluster, node])
const carriedFinding = (finding: RememberedFinding): RememberedFinding => ({
  ...finding,
  isCarried: true,
})

const hiddenFinding = (finding: RememberedFinding, why: string[]): HiddenFinding => ({
  ...namesOf(finding),
  nodes: finding.nodes,
  isNew: finding.isCarried !== true,
  why,
})

const namesOf = (finding: RememberedFinding): Omit<PastFinding, 'ended' | 'on'> => {
  const { id, rule, cluster, subject, title, severity, since, lastSeen } = finding
  return { id, rule, cluster, subject, title, severity, since, lastSeen }
}

/** Nodes and clusters that are unread since this run. `hasCome`: the run before did not know them. */
function newlyUnread({ nodes }: Delta, { document }: RememberedRun) {
  const broken = new Set(
    document.notAudited.filter(({ node }) => node === null).map(({ cluster }) => cluster),
  )
  const known = new Set(document.clusters.map(({ name }) => name))
  return nodes.notReadNow
    .filter(({ cluster, node, coverage, before }) =>
      node === null ? !broken.has(cluster) : coverage !== before && before !== 'notRead',
    )
    .map(({ cluster, node, before }) => ({
      cluster,
      node,
      hasCome: node === null ? !known.has(cluster) : before === null,
    }))
}

const keptGroups = 100
/** Image GC is near if the used percentage is at most this many points below its threshold. */
const nearPoints = 5

export interface DayOfCluster {
  cluster: ClusterResult
  findings: Finding[]
  nodes: { audited: AuditedNode; met: MetNode }[]
}

export function trendPoint(
  { cluster, findings, nodes }: DayOfCluster,
  day: string,
  runId: string,
): TrendPoint {
  const groups = [
    ...Map.groupBy(nodes, ({ met: { group } }) =>
      JSON.stringify(group.kind === 'Node' ? ['Node', ''] : [group.kind, group.name]),
    ),
  ]
    .map(([key, members]) =>
      groupPoint(
        key,
        members.map(({ audited }) => audited),
      ),
    )
    .toSorted(
      by(
        ({ nodes }) => -nodes,
        ({ kind }) => kind,
        ({ name }) => name,
      ),
    )
  const counts = Object.fromEntries(
    severities.map(severity => [
      severity,
      findings.filter(finding => finding.severity === severity).length,
    ]),
  ) as Record<Severity, number>
  const { grade, coverage } = cluster
  return {
    day,
    runId,
    grade,
    coverage,
    findings: counts,
    groups: groups.slice(0, keptGroups),
    imageGc: reclaimSum(nodes.flatMap(({ audited }) => audited.rounds ?? [])),
    groupsLeftOut: Math.max(0, groups.length - keptGroups),
  }
}

function reclaimSum(rounds: readonly ReclaimRound[]): ReclaimSum | null {
  if (rounds.length === 0) return null
  const sum = (some: readonly ReclaimRound[], field: keyof Omit<ReclaimRound, 'at'>) =>
    some.reduce((total, round) => total + (round[field] ?? 0), 0)
  const measured = rounds.filter(({ freedBytes }) => freedBytes !== null)
  const predicted = rounds.filter(
    ({ predictedBytes, countedBytes }) => predictedBytes !== null && (countedBytes ?? 0) > 0,
  )
  const counted = sum(predicted, 'countedBytes')
  const error = Math.abs(sum(predicted, 'predictedBytes') - counted)
  return {
    rounds: rounds.length,
    countedBytes: sum(measured, 'countedBytes'),
    freedBytes: sum(measured, 'freedBytes'),
    errorPercent: predicted.length === 0 ? null : Math.round((100 * error) / counted),
  }
}

function groupPoint(key: string, members: AuditedNode[]): GroupPoint {
  const [kind, name]: [GroupPoint['kind'], string] = JSON.parse(key)
  const used = members.flatMap(
    ({ prediction: { filesystems } }) =>
      usedPercentOf(filesystems.imagefs?.capacityBytes, filesystems.imagefs?.availableBytes) ?? [],
  )
  const near = members.flatMap(({ prediction: { imageGC } }) =>
    imageGC?.enabled && imageGC.usagePercent !== null
      ? [imageGC.usagePercent >= imageGC.highThresholdPercent - nearPoints]
      : [],
  )
  const headroom = members.flatMap(({ prediction: { imageGC } }) =>
    imageGC?.enabled ? (imageGC.bytesUntilTrigger ?? []) : [],
  )
  return {
    kind,
    name,
    nodes: members.length,
    known: used.length,
    usedPercent: spreadOf(used),
    nearImageGc: near.length === 0 ? null : near.filter(isNear => isNear).length,
    imageGcHeadroomBytes: headroom.length === 0 ? null : Math.min(...headroom),
  }
}

function spreadOf(values: number[]): Spread | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const median = sorted[Math.floor((sorted.length - 1) / 2)]!
  return { min: sorted[0]!, median, max: sorted.at(-1)! }
}

/** One point per day, in order, without points from before `forgetBefore`. */
export const withPoint = (points: TrendPoint[], point: TrendPoint, forgetBefore: string) =>
  [...points.filter(({ day }) => day !== point.day && day >= forgetBefore), point].toSorted(
    by(({ day }) => day),
  )
