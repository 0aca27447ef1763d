/** Counts outcomes and coverage by cluster, and gathers failing nodes by rule and subject. */

import type { Rule, RuleOfNodes } from '#judge/rule.ts'
import { ClusterFacts } from '#judge/subject/cluster-facts.ts'
import type { JudgedNode } from '#judge/subject/node-subject.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type {
  ClusterResult,
  NotAudited,
  NotAuditedCause,
  OutcomeCounts,
} from '#model/finding/finding.ts'
import type { Subject } from '#model/finding/subject.ts'
import { isEndedByBoth, limitConfidence, type Outcome } from './outcome.ts'
import type { RuleError } from './result.ts'
import { Tally } from './tally.ts'

interface ClusterState extends Omit<ClusterResult, 'grade'> {
  facts: ClusterFacts
  isListCut: boolean
  nodeOutcomes: Map<string, OutcomeCounts>
}

export class Counts {
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
    const known = nodeOutcomes.get(node) ?? noOutcomes()
    nodeOutcomes.set(node, known)
    return known
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
      this.#tally(rule, cluster, group).fail(
        limitConfidence(rule, subject, outcome.failing),
        identity,
      )
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

  leaveOut(cluster: string, node: string | null, cause: NotAuditedCause, reason: string): void {
    this.notAudited.push({
      cluster: shorten(cluster),
      node: node === null ? null : shorten(node, nameLength),
      cause,
      reason: shorten(reason),
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
