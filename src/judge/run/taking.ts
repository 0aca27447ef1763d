/** Takes records as they arrive: judges each node, and keeps compact facts for `closed`. */

import type { Keep } from '#base/keep.ts'
import { isInsightError, openInsights } from '#facts/eks/insights.ts'
import {
  happeningsOf,
  imagesOf,
  pressuresOf,
  reportedRounds,
} from '#judge/compare/history/happenings.ts'
import type { Refusals } from '#judge/fixes/completion.ts'
import { FixFacts } from '#judge/fixes/fix-facts.ts'
import { heldDisks } from '#judge/help/disk-reason.ts'
import {
  type CohortRule,
  type ContextRule,
  nameLength,
  type Rule,
  type RuleOfNodes,
  shorten,
} from '#judge/rule.ts'
import {
  ClusterFacts,
  isImageListCut,
  type JudgedNode,
  type NodeSubject,
} from '#judge/subject/node-subject.ts'
import { workloadsWithImages } from '#judge/subject/pod-owners.ts'
import { fargateReason, nodeSubject } from '#judge/subject/subject.ts'
import type { ClusterResult, NotAudited, NotAuditedCause, OutcomeCounts } from '#model/finding.ts'
import {
  type ClusterInput,
  type NodeInput,
  type ObjectsInput,
  type ReadError,
  type Subject,
  sources,
} from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { type NodePrediction, shownLedger } from '#model/prediction.ts'
import type { TakenNode } from '#model/report.ts'
import { FactsOfNodes, type KeptNode, keptNode } from './cohorts.ts'
import { firstVictims, openAuditedPredictions } from './kept-prediction.ts'
import { isEndedByBoth, limitConfidence, type Outcome, outcomeOf } from './outcome.ts'
import type { RuleError } from './result.ts'
import { Tally } from './tally.ts'

export class Taken {
  readonly rules: readonly Rule[]
  readonly policy: Policy
  readonly allNodes: boolean
  readonly refusalsOf: Refusals | null
  readonly hasHistory: boolean
  readonly #keep: Keep | null
  readonly counts = new Counts()
  readonly nodes = new Map<KeptNode, TakenNode>()
  /** Why a cluster may have no nodes. */
  readonly emptyReasons = new Map<string, string>()
  readonly fixFacts = new FixFacts()
  readonly facts: ReadonlyMap<CohortRule | ContextRule, FactsOfNodes>
  readonly #auditedPrediction = openAuditedPredictions()

  constructor(
    rules: readonly Rule[],
    policy: Policy,
    allNodes: boolean,
    refusalsOf: Refusals | null,
    hasHistory: boolean,
    keep: Keep | null,
  ) {
    this.rules = rules
    this.policy = policy
    this.allNodes = allNodes
    this.refusalsOf = refusalsOf
    this.hasHistory = hasHistory
    this.#keep = keep
    this.facts = new Map(
      rules
        .filter(rule => rule.kind === 'cohort' || rule.kind === 'context')
        .map(rule => [rule, new FactsOfNodes(rule, keep ?? undefined)]),
    )
  }

  takeCluster(input: ClusterInput): void {
    const { cluster, eks, insights, errors } = input
    const state = this.counts.cluster(cluster)
    state.facts.takeCluster(input)
    state.isListCut ||= errors?.some(({ what }) => what === 'nodes') === true
    const open = openInsights(insights ?? [])
    if (open.length > 0) state.insights = open
    const [first] = (errors ?? []).filter(isInsightError)
    if (first) state.coverage.insightsUnread = shorten(first.message)
    const others = (errors ?? []).filter(error => !isInsightError(error))
    this.#leaveOut(cluster, others)
    const status = eks?.status ?? 'ACTIVE'
    if (others.length === 0 && status !== 'ACTIVE')
      this.emptyReasons.set(cluster, shorten(`the cluster is ${status} and showed no nodes`))
  }

  /** Events, node classes and other objects of a cluster, in any order and any number of pages. */
  takeObjects(input: ObjectsInput): void {
    this.counts.cluster(input.cluster).facts.takeObjects(input)
    this.#leaveOut(input.cluster, input.errors ?? [])
  }

  /** One error often stops several lists, so it is reported once. */
  #leaveOut(cluster: string, errors: readonly ReadError[]) {
    for (const [message, unread] of Map.groupBy(errors, error => error.message))
      this.counts.leaveOut(
        cluster,
        null,
        causeOf(unread),
        `${[...new Set(unread.map(({ what }) => what))].join(', ')}: ${message}`,
        unread,
      )
  }

  /** The outcomes of one node. The judgement keeps only compact facts of the node. */
  take(input: NodeInput, prediction: NodePrediction): TakenNode {
    const subject = nodeSubject(input, prediction)
    const { cluster, identity, unread } = subject
    const isFargate = identity.owner === 'fargate'
    const { coverage } = subject
    const state = this.counts.cluster(cluster)
    state.coverage.nodes++
    state.coverage[coverage]++
    state.facts.owners.take(input.pods ?? [])
    if (isImageListCut(subject))
      state.coverage.cutImageLists = (state.coverage.cutImageLists ?? 0) + 1
    this.fixFacts.take(subject)
    const kept = keptNode(subject)
    if (coverage === 'notRead' || isFargate)
      this.counts.leaveOut(
        cluster,
        identity.name,
        isFargate ? 'fargate' : 'sources',
        isFargate ? fargateReason : reasonOf(unread),
        input.errors,
      )
    for (const rule of this.rules) {
      if (rule.kind === 'cluster') continue
      if (isFargate) this.counts.count(rule, subject, { state: 'notApplicable' })
      else if (rule.kind === 'node')
        this.counts.count(rule, subject, outcomeOf(rule, subject, this.policy))
      else this.facts.get(rule)?.take(subject, kept)
    }
    const joinedAt = input.node.metadata?.creationTimestamp
    const pressures = pressuresOf(input)
    const workloads = this.hasHistory ? workloadsWithImages(input.pods ?? []) : []
    const node: TakenNode = {
      cluster,
      identity,
      at: input.at ?? prediction.at,
      ...(joinedAt !== undefined && { joinedAt }),
      mode: subject.mode,
      coverage,
      errors: [...input.errors],
      prediction: this.#auditedPrediction(subject, prediction),
      details:
        this.#keep?.({
          ...(prediction.ledger && { ledger: shownLedger(prediction.ledger) }),
          held: heldDisks(subject),
          ...(prediction.eviction && { firstVictims: firstVictims(prediction.eviction) }),
          ...(workloads.length > 0 && { workloads }),
        }) ?? (() => ({})),
      ...(pressures.length > 0 && { pressures }),
      happened: happeningsOf(input, input.at ?? prediction.at),
      rounds: reportedRounds(null, input.host?.logLines ?? []),
      // Without a history only times of use are read, which the runtime alone shows.
      images: this.hasHistory || input.runtime ? imagesOf(input, prediction) : [],
    }
    this.nodes.set(kept, node)
    return node
  }
}

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

/* Counts outcomes and coverage by cluster, and gathers failing nodes by rule and subject. */

interface ClusterState extends Omit<ClusterResult, 'grade'> {
  facts: ClusterFacts
  isListCut: boolean
  nodeOutcomes: Map<string, OutcomeCounts>
}

class Counts {
  readonly clusters = new Map<string, ClusterState>()
  readonly tallies = new Map<string, Tally>()
  readonly notAudited: NotAudited[] = []
  readonly ruleErrors: RuleError[] = []

  cluster(name: string): ClusterState {
    const known = this.clusters.get(name)
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
    this.clusters.set(name, state)
    return state
  }

  outcomesOf(cluster: string, node: string): OutcomeCounts {
    const { nodeOutcomes } = this.cluster(cluster)
    const known = nodeOutcomes.get(node)
    if (known) return known
    const outcomes = noOutcomes()
    nodeOutcomes.set(node, outcomes)
    return outcomes
  }

  #tally(rule: RuleOfNodes, cluster: string, subject: Subject): Tally {
    const key = JSON.stringify([rule.id, cluster, subject.kind, subject.namespace, subject.name])
    const known = this.tallies.get(key)
    if (known) return known
    const added = new Tally(rule, cluster, subject)
    this.tallies.set(key, added)
    return added
  }

  count(rule: RuleOfNodes, subject: JudgedNode, outcome: Outcome): void {
    const { cluster, identity } = subject
    const { name, group } = identity
    this.cluster(cluster).outcomes[outcome.state]++
    this.outcomesOf(cluster, name)[outcome.state]++
    if (outcome.state === 'fail')
      for (const failing of [outcome.failing, ...(outcome.apart ?? [])])
        this.#tally(rule, cluster, group).fail(limitConfidence(rule, subject, failing), identity)
    if (outcome.state === 'unknown')
      this.#tally(rule, cluster, group).addUnknown(
        name,
        outcome.reason,
        isEndedByBoth(rule.needs, subject.mode),
      )
    this.noteError(rule, cluster, name, outcome)
  }

  noteError({ id: rule }: Rule, cluster: string, node: string, outcome: Outcome): void {
    if (outcome.state === 'error')
      this.ruleErrors.push({
        rule,
        cluster: shorten(cluster),
        node: shorten(node, nameLength),
        message: outcome.message,
      })
  }

  leaveOut(
    cluster: string,
    node: string | null,
    cause: NotAuditedCause,
    reason: string,
    errors: readonly ReadError[] = [],
  ): void {
    const { endedBy } = errors.find(error => error.endedBy !== undefined) ?? {}
    this.notAudited.push({
      cluster: shorten(cluster),
      node: node === null ? null : shorten(node, nameLength),
      cause,
      reason: shorten(reason),
      ...(endedBy !== undefined && { endedBy: shorten(endedBy) }),
    })
  }
}

const noOutcomes = (): OutcomeCounts => ({
  pass: 0,
  fail: 0,
  unknown: 0,
  notApplicable: 0,
  error: 0,
})
