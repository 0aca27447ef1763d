/** Runs the rules on a cluster's objects. Each rule yields few findings, never one per object. */

import type { StepAction } from '#model/cause.ts'
import type { ClusterPrediction } from '#model/cluster-garbage.ts'
import type { Finding } from '#model/finding.ts'
import type { Policy } from '#model/policy.ts'
import type { Subject } from '#model/subject.ts'
import { byText } from '#model/text-order.ts'
import { sample } from './drift/variants.ts'
import { gathered } from './gathered.ts'
import { type Outcome, ruleError } from './outcome.ts'
import type { ClusterFailing, ClusterRule } from './rule.ts'
import { boundedFailing, boundedSubject, findingId } from './tally.ts'
import { bounded } from './text.ts'

/** If one rule fails for more subjects than this in a cluster, they become one cluster finding. */
export const mostSubjects = 25

export interface JudgedCluster {
  outcome: Outcome
  failings: ClusterFailing[]
  /** Why more failings may exist than the listed ones. Null: the list is complete. */
  open: string | null
}

export function judgeCluster(
  rule: ClusterRule,
  cluster: ClusterPrediction,
  policy: Policy,
): JudgedCluster {
  const { enabled, kinds } = policy.clusterGarbage
  if (!enabled || rule.needs.some(need => !kinds.includes(need)))
    return settled({ state: 'notApplicable' })
  const reasons = rule.needs.flatMap(need => cluster.missing[need] ?? [])
  if (reasons.length > 0) return undecided(reasons)
  if (rule.needs.some(need => cluster[need] === null)) return settled({ state: 'notApplicable' })
  try {
    const yields = [...rule.judge(cluster, policy)]
    const failings = yields.filter(yielded => 'consequence' in yielded)
    const [first] = failings
    const reasons = [
      ...yields.flatMap(yielded => ('unknown' in yielded ? [yielded.unknown] : [])),
      ...rule.needs.flatMap(need => cluster.doubts[need] ?? []),
    ]
    if (first)
      return {
        outcome: { state: 'fail', failing: first },
        failings,
        open: reasons.length > 0 ? together(reasons) : null,
      }
    return reasons.length > 0 ? undecided(reasons) : settled({ state: 'pass' })
  } catch (error) {
    return settled(ruleError(error))
  }
}

const settled = (outcome: Outcome): JudgedCluster => ({ outcome, failings: [], open: null })
const together = (reasons: readonly string[]): string => bounded([...new Set(reasons)].join('; '))

function undecided(reasons: readonly string[]): JudgedCluster {
  const reason = together(reasons)
  return { outcome: { state: 'unknown', reason }, failings: [], open: reason }
}

export interface OwnFinding {
  rule: ClusterRule
  cluster: string
  subject: Subject
  finding(allNodes: boolean): Finding
  proposals(): never[]
  actions(): readonly StepAction[]
  commands: readonly string[]
  failingNodes(): string[]
}

/** @param isOwn whether a subject keeps its own finding, because a waiver names the subject */
export function gatherSubjects(
  rule: ClusterRule,
  cluster: string,
  failings: readonly ClusterFailing[],
  isOwn: (subject: Subject) => boolean,
): OwnFinding[] {
  const own = failings.filter(({ subject }) => isOwn(subject))
  const others = failings.filter(({ subject }) => !isOwn(subject)).toSorted(byWeight)
  const merged = others.length > mostSubjects ? [...own, gathered(rule, cluster, others)] : failings
  return merged.map(failing => ({
    ...{ rule, cluster, subject: failing.subject },
    finding: allNodes => findingOf(rule, cluster, failing, allNodes),
    proposals: () => [],
    actions: () => rule.steps ?? [],
    commands: failing.commands,
    failingNodes: () => [...(failing.nodes ?? [])],
  }))
}

const byWeight = (a: ClusterFailing, b: ClusterFailing): number =>
  b.count - a.count ||
  byText(a.subject.namespace ?? '', b.subject.namespace ?? '') ||
  byText(a.subject.name, b.subject.name)

function findingOf(
  rule: ClusterRule,
  cluster: string,
  failing: ClusterFailing,
  allNodes: boolean,
): Finding {
  const {
    consequence,
    evidence,
    title,
    severity,
    confidence,
    subject,
    nodes = [],
    places,
  } = boundedFailing(failing)
  return {
    id: findingId(rule.id, cluster, subject),
    rule: rule.id,
    family: rule.family,
    severity: severity ?? rule.severity,
    confidence: confidence ?? 'certain',
    cluster: bounded(cluster),
    subject: boundedSubject(subject),
    nodes: sample([{ text: '', value: null, nodes: [...nodes] }], allNodes),
    ...(places !== undefined && { places }),
    title: title ?? rule.docs.title,
    consequence,
    evidence,
    cause: rule.cause,
    steps: [],
    fix: { config: {}, durable: [] },
    since: null,
    waived: null,
    docs: rule.docs,
  }
}
