/** Runs the rules on each node as it arrives. Makes outcomes, findings, coverage and grades. */

import { byText } from '#base/text/text-order.ts'
import {
  happeningsOf,
  noteRestart,
  readingOfMachine,
  withEvents,
} from '#judge/compare/history/happenings.ts'
import {
  imagesOf,
  mergedRounds,
  noteImages,
  reportedRounds,
} from '#judge/compare/history/reclaim.ts'
import { declarationOf } from '#judge/drift/declared.ts'
import type { Declaration, DeclaredNode } from '#judge/drift/declared-source.ts'
import type { Wishes } from '#judge/fixes/agreement.ts'
import { placeOfCluster } from '#judge/fixes/command-place.ts'
import type { Refusals } from '#judge/fixes/completion.ts'
import { settleFixes } from '#judge/fixes/fix.ts'
import { FixFacts } from '#judge/fixes/fix-facts.ts'
import { stepsOf } from '#judge/fixes/steps.ts'
import {
  type CohortRule,
  type ContextRule,
  line,
  type Rule,
  type RuleOfNodes,
} from '#judge/rule.ts'
import { ClusterFacts, type NodeContext } from '#judge/subject/cluster-facts.ts'
import { isImageListCut, type JudgedNode, type NodeSubject } from '#judge/subject/node-subject.ts'
import { fargateReason, nodeSubject } from '#judge/subject/subject.ts'
import { bounded, nameLength } from '#judge/text.ts'
import type { ClusterPrediction } from '#model/finding/cluster-garbage.ts'
import type {
  ClusterResult,
  NotAudited,
  NotAuditedCause,
  OutcomeCounts,
  UnknownOutcome,
} from '#model/finding/finding.ts'
import type { GarbageOverview } from '#model/finding/garbage-overview.ts'
import { gradeOf } from '#model/finding/grade.ts'
import type { Subject } from '#model/finding/subject.ts'
import type { EarlierNodes } from '#model/history.ts'
import type { ClusterInput } from '#model/input/cluster-input.ts'
import type { ObjectsInput } from '#model/input/cluster-objects.ts'
import type { NodeIdentity } from '#model/input/node-identity.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import { sources } from '#model/input/read-mode.ts'
import type { ReadError } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type { DiskLedger, NodeLedger } from '#model/prediction/disk-ledger.ts'
import type { NodePrediction } from '#model/prediction/prediction.ts'
import type { AuditedNode } from '#model/report.ts'
import { openAuditedPredictions } from './audited-prediction.ts'
import { gatherSubjects, judgeCluster } from './cluster-rules.ts'
import { cohortOutcomes, contextOutcomes } from './cohorts.ts'
import { FactsOfNodes, type KeptNode, keptNode } from './facts-of-nodes.ts'
import { garbageOverview, type JudgedClusterRule } from './garbage-overview.ts'
import { asCertainAsFacts, isEndedByBoth, type Outcome, outcomeOf } from './outcome.ts'
import {
  inOrder,
  type JudgementResult,
  manyFindings,
  type RuleError,
  withoutRepeats,
} from './result.ts'
import {
  byFinding,
  byUnknown,
  commandNode,
  type FoundFinding,
  fewNodes,
  gatherLooseNodes,
  Tally,
} from './tally.ts'
import { utcDay, waiverOf } from './waivers.ts'

export interface JudgementOptions {
  allNodes?: boolean
  /** Default: a kubelet starts with every fix. */
  refusalsOf?: Refusals
}

type JudgedFinding = Wishes & FoundFinding

interface ClusterState extends Omit<ClusterResult, 'grade'> {
  facts: ClusterFacts
  isListCut: boolean
  /** By node. `AuditedNode.outcomes` is the same object, and is updated until `close`. */
  nodeOutcomes: Map<string, OutcomeCounts>
}

export const openJudgement = (
  rules: readonly Rule[],
  policy: Policy,
  { allNodes = false, refusalsOf = () => [] }: JudgementOptions = {},
): Judgement => new Judgement(rules, policy, allNodes, refusalsOf)

/** The report names no holder's parts. */
const withoutParts = ({ parts: _, ...ledger }: NodeLedger): DiskLedger => ledger

function outcomesOf({ nodeOutcomes }: ClusterState, node: string) {
  const known = nodeOutcomes.get(node)
  if (known !== undefined) return known
  const added = noOutcomes()
  nodeOutcomes.set(node, added)
  return added
}

export class Judgement {
  readonly #rules: readonly Rule[]
  readonly #policy: Policy
  readonly #allNodes: boolean
  readonly #refusalsOf: Refusals
  readonly #clusters = new Map<string, ClusterState>()
  readonly #tallies = new Map<string, Tally>()
  readonly #notAudited: NotAudited[] = []
  readonly #audited = new Map<KeptNode, AuditedNode>()
  readonly #ruleErrors: RuleError[] = []
  readonly #emptyReasons = new Map<string, string>()
  readonly #auditedPrediction = openAuditedPredictions()
  readonly #fixFacts = new FixFacts()
  readonly #facts: ReadonlyMap<CohortRule | ContextRule, FactsOfNodes>

  constructor(rules: readonly Rule[], policy: Policy, allNodes: boolean, refusalsOf: Refusals) {
    this.#rules = rules
    this.#policy = policy
    this.#allNodes = allNodes
    this.#refusalsOf = refusalsOf
    this.#facts = new Map(
      rules
        .filter(rule => rule.kind === 'cohort' || rule.kind === 'context')
        .map(rule => [rule, new FactsOfNodes(rule)]),
    )
  }

  #clusterState(name: string): ClusterState {
    const known = this.#clusters.get(name)
    if (known) return known
    const coverage = { nodes: 0, read: 0, partlyRead: 0, notRead: 0 }
    const state = {
      name,
      coverage,
      outcomes: noOutcomes(),
      facts: new ClusterFacts(),
      isListCut: false,
      nodeOutcomes: new Map(),
    }
    this.#clusters.set(name, state)
    return state
  }

  #tally(rule: RuleOfNodes, cluster: string, subject: Subject): Tally {
    const key = JSON.stringify([rule.id, cluster, subject.kind, subject.namespace, subject.name])
    const known = this.#tallies.get(key)
    if (known) return known
    const added = new Tally(rule, cluster, subject)
    this.#tallies.set(key, added)
    return added
  }

  #count(rule: RuleOfNodes, subject: JudgedNode, outcome: Outcome): void {
    const { cluster, identity } = subject
    const { name, group }: NodeIdentity = identity
    const state = this.#clusterState(cluster)
    state.outcomes[outcome.state]++
    outcomesOf(state, name)[outcome.state]++
    if (outcome.state === 'fail')
      this.#tally(rule, cluster, group).fail(
        asCertainAsFacts(rule, subject, outcome.failing),
        identity,
      )
    if (outcome.state === 'unknown')
      this.#tally(rule, cluster, group).unknown(
        name,
        outcome.reason,
        isEndedByBoth(rule.needs, subject.mode),
      )
    this.#noteError(rule, cluster, name, outcome)
  }

  #noteError({ id: rule }: Rule, cluster: string, node: string, outcome: Outcome): void {
    if (outcome.state === 'error')
      this.#ruleErrors.push({
        rule,
        cluster: bounded(cluster),
        node: bounded(node, nameLength),
        message: outcome.message,
      })
  }

  #leaveOut(cluster: string, node: string | null, cause: NotAuditedCause, reason: string): void {
    this.#notAudited.push({
      cluster: bounded(cluster),
      node: node === null ? null : bounded(node, nameLength),
      cause,
      reason: bounded(reason),
    })
  }

  takeCluster(input: ClusterInput): void {
    const { cluster, eks, errors } = input
    const state = this.#clusterState(cluster)
    state.facts.takeCluster(input)
    state.isListCut ||= errors?.some(({ what }) => what === 'nodes') === true
    // One error often stops several lists, so it is reported once.
    for (const [message, unread] of Map.groupBy(errors ?? [], error => error.message))
      this.#leaveOut(
        cluster,
        null,
        causeOf(unread),
        `${[...new Set(unread.map(({ what }) => what))].join(', ')}: ${message}`,
      )
    const status = eks?.status ?? 'ACTIVE'
    if (!errors?.length && status !== 'ACTIVE')
      this.#emptyReasons.set(cluster, bounded(`the cluster is ${status} and showed no nodes`))
  }

  /** Events, node classes and other objects of a cluster, in any order and any number of pages. */
  takeObjects(input: ObjectsInput): void {
    this.#clusterState(input.cluster).facts.takeObjects(input)
  }

  /** The outcomes of one node. The judgement keeps only compact facts of the node. */
  take(input: NodeInput, prediction: NodePrediction): AuditedNode {
    const subject = nodeSubject(input, prediction)
    const { cluster, identity, unread } = subject
    const isFargate = identity.owner === 'fargate'
    const { coverage } = subject
    const state = this.#clusterState(cluster)
    state.coverage.nodes++
    state.coverage[coverage]++
    if (isImageListCut(subject))
      state.coverage.cutImageLists = (state.coverage.cutImageLists ?? 0) + 1
    this.#fixFacts.take(subject)
    const kept = keptNode(subject)
    if (coverage === 'notRead' || isFargate)
      this.#leaveOut(
        cluster,
        identity.name,
        isFargate ? 'fargate' : 'sources',
        isFargate ? fargateReason : reasonOf(unread),
      )
    for (const rule of this.#rules) {
      if (rule.kind === 'cluster') continue
      if (isFargate) this.#count(rule, subject, { state: 'notApplicable' })
      else if (rule.kind === 'node')
        this.#count(rule, subject, outcomeOf(rule, subject, this.#policy))
      else this.#facts.get(rule)?.take(subject, kept)
    }
    const joinedAt = input.node.metadata?.creationTimestamp
    const audited: AuditedNode = {
      cluster,
      identity,
      at: input.at ?? prediction.at,
      ...(joinedAt !== undefined && { joinedAt }),
      mode: subject.mode,
      coverage,
      errors: [...input.errors],
      prediction: this.#auditedPrediction(subject, prediction),
      ...(prediction.ledger && { ledger: withoutParts(prediction.ledger) }),
      outcomes: outcomesOf(state, identity.name),
      happened: happeningsOf(input, input.at ?? prediction.at),
      rounds: reportedRounds(null, input.host?.logLines ?? []),
      images: imagesOf(input, prediction),
    }
    this.#audited.set(kept, audited)
    return audited
  }

  /** Adds to each node what happened since its last reading. */
  #addHappenings(before: EarlierNodes): void {
    for (const audited of this.#audited.values()) {
      const { events } = this.#clusterState(audited.cluster).facts.of(audited.identity.name)
      audited.happened = withEvents(audited, events)
      if (audited.rounds?.length === 0) audited.rounds = reportedRounds(events, [])
      const last = readingOfMachine(audited, before(audited))
      noteRestart(audited, last?.fill ?? null)
      noteImages(audited, last)
    }
  }

  #contextOf(node: KeptNode, before: EarlierNodes): NodeContext {
    const audited = this.#audited.get(node)
    const { images = [], imagesSince = null, rounds = [] } = audited ?? {}
    const roundsBefore = () => (audited && readingOfMachine(audited, before(audited))?.rounds) ?? []
    return {
      ...this.#clusterState(node.cluster).facts.of(node.identity.name),
      at: node.at,
      images,
      imagesSince,
      rounds: () => mergedRounds(roundsBefore(), rounds),
    }
  }

  #judgeGarbage(
    prediction: ClusterPrediction,
    day: string,
  ): { own: FoundFinding[]; unknowns: UnknownOutcome[]; overview: GarbageOverview | null } {
    const { cluster, resources } = prediction
    const state = this.#clusterState(cluster)
    const lists = Object.values(resources)
    state.coverage.clusterGc = {
      lists: lists.length,
      read: lists.filter(reason => reason === null).length,
    }
    const judged: JudgedClusterRule[] = []
    const own: FoundFinding[] = []
    const unknowns: UnknownOutcome[] = []
    for (const rule of this.#rules) {
      if (rule.kind !== 'cluster') continue
      const { outcome, failings, open } = judgeCluster(rule, prediction, this.#policy)
      judged.push({ rule, outcome, failings, open })
      state.outcomes[outcome.state]++
      const isWaived = (subject: Subject) =>
        waiverOf({ rule: rule.id, cluster, subject }, this.#policy.waivers, day) !== null
      own.push(...gatherSubjects(rule, cluster, failings, isWaived, this.#allNodes))
      if (open !== null) {
        const subject: Subject = { kind: 'Cluster', namespace: null, name: bounded(cluster) }
        unknowns.push({
          rule: rule.id,
          cluster: bounded(cluster),
          subject,
          nodes: { count: 0, sample: [] },
          reason: open,
        })
      }
      this.#noteError(rule, cluster, '', outcome)
    }
    return { own, unknowns, overview: garbageOverview(prediction, this.#policy, judged) }
  }

  /**
   * Runs the rules that compare nodes or need their cluster's objects, and makes the totals. Call it once, at the end.
   * @param takenAt RFC 3339: the snapshot's time, whose UTC day decides which waivers hold. @throws RangeError for an invalid time.
   * @param predictions of the clusters that were searched for garbage
   * @param before the last reading of each node
   */
  close(
    takenAt: string,
    predictions: readonly ClusterPrediction[] = [],
    before: EarlierNodes = () => null,
  ): JudgementResult {
    const day = utcDay(takenAt)
    this.#addHappenings(before)
    for (const [rule, facts] of this.#facts) {
      const members = facts.members()
      const outcomes =
        rule.kind === 'cohort'
          ? cohortOutcomes(rule, members, this.#policy, name => this.#clusterState(name).facts)
          : contextOutcomes(rule, members, this.#policy, node => this.#contextOf(node, before))
      for (const { subject, outcome } of outcomes) this.#count(rule, subject, outcome)
    }
    for (const [cluster, reason] of this.#emptyReasons)
      if (this.#clusterState(cluster).coverage.nodes === 0)
        this.#leaveOut(cluster, null, 'inactive', reason)
    const waiver = ({ rule, cluster, subject }: Tally) =>
      waiverOf({ rule: rule.id, cluster, subject }, this.#policy.waivers, day)
    const groups = gatherLooseNodes(
      [...this.#tallies.values()],
      (rule, cluster, subject) => new Tally(rule, cluster, subject),
      tally => waiver(tally) !== null,
    )
    const garbage = predictions.map(prediction => this.#judgeGarbage(prediction, day))
    const all = groups
      .flatMap(group => group.found(this.#allNodes) ?? [])
      .concat(garbage.flatMap(({ own }) => own))
      .map(found => this.#judged(found, day))
      .toSorted((a, b) => byFinding(a.finding, b.finding))
    settleFixes(all, this.#refusalsOf)
    for (const found of all) this.#addSteps(found)
    if (!this.#allNodes && all.length > manyFindings)
      for (const { finding } of all) finding.nodes.sample = finding.nodes.sample.slice(0, fewNodes)
    const open = all.filter(({ finding }) => finding.waived === null)
    return {
      clusters: [...this.#clusters.values()]
        .toSorted((a, b) => byText(a.name, b.name))
        .map(({ name, coverage, outcomes, isListCut }) => {
          const own = open
            .filter(({ cluster }) => cluster === name)
            .map(({ finding, nodes }) => ({ severity: finding.severity, nodes }))
          return {
            name: bounded(name),
            grade: gradeOf(own, coverage, outcomes, isListCut),
            coverage,
            outcomes,
          }
        }),
      findings: open.map(({ finding }) => finding),
      waived: all.filter(({ finding }) => finding.waived !== null).map(({ finding }) => finding),
      unknowns: [
        ...groups.flatMap(group => group.unknownOutcome(this.#allNodes) ?? []),
        ...garbage.flatMap(({ unknowns }) => unknowns),
      ].toSorted(byUnknown),
      notAudited: withoutRepeats(this.#notAudited),
      delta: { new: [], resolved: [] },
      ruleErrors: inOrder(this.#ruleErrors),
      garbage: garbage.flatMap(({ overview }) => overview ?? []).toSorted(byCluster),
    }
  }

  /** The finding with the policy's severity and waiver, and what its fixes need. */
  #judged(source: FoundFinding, day: string): JudgedFinding {
    const { cluster, rule, subject, finding } = source
    if (Object.hasOwn(this.#policy.severities, rule.id))
      finding.severity = this.#policy.severities[rule.id] ?? finding.severity
    const found = waiverOf({ rule: rule.id, cluster, subject }, this.#policy.waivers, day)
    if (found) {
      const { until, reason } = found.waiver
      if (found.expired)
        finding.evidence = [
          ...finding.evidence,
          line('waiver', 'waiver', `expired after ${until}; its reason was: ${reason}`),
        ]
      else finding.waived = { until, reason }
    }
    const wishes = source.proposals.map(({ origin, config, nodes }) => {
      const fact = this.#fixFacts.ofMost(cluster, nodes)
      return { origin, config, fact, declaration: fact && this.#declarationIn(cluster, fact.node) }
    })
    return { ...source, wishes, sizes: this.#fixFacts.sizesOf(cluster, subject) }
  }

  #addSteps({ cluster, finding, nodes, actions, commands }: JudgedFinding): void {
    const place = placeOfCluster(
      cluster,
      this.#clusterState(cluster).facts.eks,
      this.#policy.contextNames,
    )
    const first = commandNode(nodes)
    const node = first === undefined ? null : this.#fixFacts.stepNode(cluster, first)
    finding.steps = stepsOf(finding, actions, { commands, node, place, cluster })
  }

  #declarationIn(cluster: string, node: DeclaredNode): Declaration | null {
    const declaration = declarationOf(node, this.#clusterState(cluster).facts.of(''))
    return typeof declaration === 'string' ? null : declaration
  }
}

const byCluster = (a: { cluster: string }, b: { cluster: string }) => byText(a.cluster, b.cluster)

const noOutcomes = (): OutcomeCounts => ({
  pass: 0,
  fail: 0,
  unknown: 0,
  notApplicable: 0,
  error: 0,
})

/** The largest scope that the errors leave unread. */
function causeOf(errors: readonly ReadError[]): NotAuditedCause {
  const whats = new Set(errors.map(({ what }) => what))
  if (whats.has('clusters')) return 'clusters'
  return whats.has('cluster') || whats.has('nodes') ? 'nodes' : 'objects'
}

const reasonOf = (unread: NodeSubject['unread']) =>
  sources
    .filter(source => unread[source] !== undefined)
    .map(source => `${source}: ${unread[source]}`)
    .join('; ')
