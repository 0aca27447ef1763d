/** Runs the rules on each node as it arrives. Makes outcomes, findings, coverage and grades. */

import type { StepAction } from '#model/cause.ts'
import type { ClusterPrediction } from '#model/cluster-garbage.ts'
import type { ClusterInput } from '#model/cluster-input.ts'
import type { ObjectsInput } from '#model/cluster-objects.ts'
import type { DiskLedger, NodeLedger } from '#model/disk-ledger.ts'
import type {
  ClusterResult,
  NotAudited,
  NotAuditedCause,
  OutcomeCounts,
  UnknownOutcome,
} from '#model/finding.ts'
import type { GarbageOverview } from '#model/garbage-overview.ts'
import { gradeOf } from '#model/grade.ts'
import type { EarlierNodes } from '#model/history.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { NodeInput } from '#model/node-input.ts'
import type { Policy } from '#model/policy.ts'
import type { NodePrediction } from '#model/prediction.ts'
import { sources } from '#model/read-mode.ts'
import type { ReadError } from '#model/record.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Subject } from '#model/subject.ts'
import { byText } from '#model/text-order.ts'
import { openAuditedPredictions } from './audited-prediction.ts'
import { asCertainAsFacts } from './certainty.ts'
import { ClusterFacts, type NodeContext } from './cluster-facts.ts'
import { gatherSubjects, judgeCluster, type OwnFinding } from './cluster-rules.ts'
import { Cohorts } from './cohorts.ts'
import { Contexts } from './contexts.ts'
import { declarationOf } from './drift/declared.ts'
import type { Declaration, DeclaredNode } from './drift/declared-source.ts'
import { isEndedByBoth } from './ended-by.ts'
import { type JudgedNode, type KeptNode, keptNode } from './facts-of-nodes.ts'
import type { Wishes } from './fixes/agreement.ts'
import { placeOfCluster } from './fixes/command-place.ts'
import { settleFixes } from './fixes/fix.ts'
import { FixFacts } from './fixes/fix-facts.ts'
import { stepsOf } from './fixes/steps.ts'
import { garbageOverview, type JudgedClusterRule } from './garbage-overview.ts'
import { happeningsOf, noteRestart, readingOfMachine, withEvents } from './history/happenings.ts'
import { imagesOf, mergedRounds, noteImages, reportedRounds } from './history/reclaim.ts'
import { gatherLooseNodes } from './loose-nodes.ts'
import { inOrder, withoutRepeats } from './merged-judgements.ts'
import type { NodeSubject } from './node-subject.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import type { JudgementResult, RuleError } from './result.ts'
import { type CohortRule, type ContextRule, line, type Rule, type RuleOfNodes } from './rule.ts'
import { manyFindings } from './samples.ts'
import { fargateReason, nodeSubject } from './subject.ts'
import { byFinding, byUnknown, fewNodes, Tally } from './tally.ts'
import { bounded, nameLength } from './text.ts'
import { utcDay, waiverOf } from './waivers.ts'

export interface Judgement {
  takeCluster(input: ClusterInput): void
  /** Events, node classes and other objects of a cluster, in any order and any number of pages. */
  takeObjects(input: ObjectsInput): void
  /** The outcomes of one node. The judgement keeps only compact facts of the node. */
  take(input: NodeInput, prediction: NodePrediction): AuditedNode
  /**
   * Runs the rules that compare nodes or need their cluster's objects, and makes the totals. Call it once, at the end.
   * @param takenAt RFC 3339: the snapshot's time, whose UTC day decides which waivers hold. @throws RangeError for an invalid time.
   * @param predictions of the clusters that were searched for garbage
   * @param before the last reading of each node
   */
  close(
    takenAt: string,
    predictions?: readonly ClusterPrediction[],
    before?: EarlierNodes,
  ): JudgementResult
}

export interface JudgementOptions {
  allNodes?: boolean
}

interface JudgedGroup extends Wishes {
  cluster: string
  nodes: string[]
  actions: readonly StepAction[] | null
  /** The rule's own commands. */
  commands: readonly string[]
}

type FindingSource = Pick<
  Tally,
  'cluster' | 'subject' | 'finding' | 'proposals' | 'failingNodes' | 'actions'
> & { rule: Rule; commands?: readonly string[] }

interface ClusterState extends Omit<ClusterResult, 'grade'> {
  facts: ClusterFacts
  isListCut: boolean
  /** By node. `AuditedNode.outcomes` is the same object, and is updated until `close`. */
  nodeOutcomes: Map<string, OutcomeCounts>
}

export const openJudgement = (
  rules: readonly Rule[],
  policy: Policy,
  { allNodes = false }: JudgementOptions = {},
): Judgement => new RunningJudgement(rules, policy, allNodes)

/** The report names no holder's parts, and each node's would be kept. */
const withoutParts = ({ parts: _, ...ledger }: NodeLedger): DiskLedger => ledger

function outcomesOf({ nodeOutcomes }: ClusterState, node: string): OutcomeCounts {
  const known = nodeOutcomes.get(node) ?? noOutcomes()
  nodeOutcomes.set(node, known)
  return known
}

class RunningJudgement implements Judgement {
  readonly #rules: readonly Rule[]
  readonly #policy: Policy
  readonly #allNodes: boolean
  readonly #clusters = new Map<string, ClusterState>()
  readonly #tallies = new Map<string, Tally>()
  readonly #notAudited: NotAudited[] = []
  readonly #audited = new Map<KeptNode, AuditedNode>()
  readonly #ruleErrors: RuleError[] = []
  readonly #emptyReasons = new Map<string, string>()
  readonly #auditedPrediction = openAuditedPredictions()
  readonly #fixFacts = new FixFacts()
  readonly #cohorts: ReadonlyMap<CohortRule, Cohorts>
  readonly #contexts: ReadonlyMap<ContextRule, Contexts>

  constructor(rules: readonly Rule[], policy: Policy, allNodes: boolean) {
    this.#rules = rules
    this.#policy = policy
    this.#allNodes = allNodes
    this.#cohorts = new Map(
      rules.filter(rule => rule.kind === 'cohort').map(rule => [rule, new Cohorts(rule)]),
    )
    this.#contexts = new Map(
      rules.filter(rule => rule.kind === 'context').map(rule => [rule, new Contexts(rule)]),
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
    if (outcome.state === 'error')
      this.#ruleErrors.push({
        rule: rule.id,
        cluster: bounded(cluster),
        node: bounded(name, nameLength),
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

  takeObjects(input: ObjectsInput): void {
    this.#clusterState(input.cluster).facts.takeObjects(input)
  }

  take(input: NodeInput, prediction: NodePrediction): AuditedNode {
    const subject = nodeSubject(input, prediction)
    const { cluster, identity, unread } = subject
    const isFargate = identity.owner === 'fargate'
    const { coverage } = subject
    const state = this.#clusterState(cluster)
    state.coverage.nodes++
    state.coverage[coverage]++
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
      else if (rule.kind === 'cohort') this.#cohorts.get(rule)?.take(subject, kept)
      else this.#contexts.get(rule)?.take(subject, kept)
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
  ): { own: OwnFinding[]; unknowns: UnknownOutcome[]; overview: GarbageOverview | null } {
    const { cluster, resources } = prediction
    const state = this.#clusterState(cluster)
    const lists = Object.values(resources)
    state.coverage.clusterGc = {
      lists: lists.length,
      read: lists.filter(reason => reason === null).length,
    }
    const judged: JudgedClusterRule[] = []
    const own: OwnFinding[] = []
    const unknowns: UnknownOutcome[] = []
    for (const rule of this.#rules) {
      if (rule.kind !== 'cluster') continue
      const { outcome, failings, open } = judgeCluster(rule, prediction, this.#policy)
      judged.push({ rule, outcome, failings, open })
      state.outcomes[outcome.state]++
      const isWaived = (subject: Subject) =>
        waiverOf({ rule: rule.id, cluster, subject }, this.#policy.waivers, day) !== null
      for (const found of gatherSubjects(rule, cluster, failings, isWaived)) own.push(found)
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
      if (outcome.state === 'error')
        this.#ruleErrors.push({
          rule: rule.id,
          cluster: bounded(cluster),
          node: '',
          message: outcome.message,
        })
    }
    return { own, unknowns, overview: garbageOverview(prediction, this.#policy, judged) }
  }

  close(
    takenAt: string,
    predictions: readonly ClusterPrediction[] = [],
    before: EarlierNodes = () => null,
  ): JudgementResult {
    const day = utcDay(takenAt)
    const factsOf = (cluster: string) => this.#clusterState(cluster).facts
    for (const [rule, members] of this.#cohorts)
      for (const { subject, outcome } of members.outcomes(this.#policy, factsOf))
        this.#count(rule, subject, outcome)
    this.#addHappenings(before)
    const contextOf = (node: KeptNode) => this.#contextOf(node, before)
    for (const [rule, members] of this.#contexts)
      for (const { subject, outcome } of members.outcomes(contextOf, this.#policy))
        this.#count(rule, subject, outcome)
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
    const sources: FindingSource[] = [...groups, ...garbage.flatMap(({ own }) => own)]
    const all = sources
      .flatMap(source => this.#judged(source, day) ?? [])
      .toSorted((a, b) => byFinding(a.finding, b.finding))
    settleFixes(all)
    for (const group of all) this.#addSteps(group)
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

  /** The finding of a tally, with the policy's severity and waiver. */
  #judged(group: FindingSource, day: string): JudgedGroup | null {
    const finding = group.finding(this.#allNodes)
    if (!finding) return null
    const { cluster, rule, subject } = group
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
    const wishes = group.proposals().map(({ origin, config, nodes }) => {
      const fact = this.#fixFacts.ofMost(cluster, nodes)
      return { origin, config, fact, declaration: fact && this.#declarationIn(cluster, fact.node) }
    })
    return {
      cluster,
      finding,
      nodes: group.failingNodes(),
      actions: group.actions(),
      commands: group.commands ?? [],
      wishes,
      sizes: this.#fixFacts.sizesOf(cluster, subject),
    }
  }

  #addSteps({ cluster, finding, nodes, actions, commands }: JudgedGroup): void {
    const place = placeOfCluster(
      cluster,
      this.#clusterState(cluster).facts.eks,
      this.#policy.contextNames,
    )
    const [first] = nodes.toSorted()
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

const reasonOf = (unread: NodeSubject['unread']): string =>
  sources
    .filter(source => unread[source] !== undefined)
    .map(source => `${source}: ${unread[source]}`)
    .join('; ')
