/** Each rule's test begins with the smallest example that fails the rule and the nearest one that passes it. */
import { expect, it } from 'vitest'
import type { ClusterRule, CohortRule, ContextRule, NodeRule, Rule } from '#judge/rule.ts'
import { judgeCluster } from '#judge/run/cluster-rules.ts'
import { cohortOutcomes, FactsOfNodes } from '#judge/run/cohorts.ts'
import { policyKeys } from '#judge/run/explanation.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { type ContextExample, exampleSubject, type NodeExample } from './example.ts'
import { type ClusterExample, exampleCluster } from './example-cluster.ts'
import { outcomeIn } from './rule-outcome.ts'

interface Examples<Example> {
  bad: Example
  good: Example
}

export function itJudgesExamples(rule: NodeRule, examples: Examples<NodeExample>): void
export function itJudgesExamples(rule: ContextRule, examples: Examples<ContextExample>): void
export function itJudgesExamples(rule: CohortRule, examples: Examples<NodeExample[]>): void
export function itJudgesExamples(rule: ClusterRule, examples: Examples<ClusterExample>): void
export function itJudgesExamples(
  rule: Parameters<typeof statesOf>[0],
  { bad, good }: Examples<unknown>,
): void {
  it('fails its bad example', () => {
    expect(statesOf(rule, bad)).toContain('fail')
  })

  it('passes its good example', () => {
    expect(new Set(statesOf(rule, good))).toEqual(new Set(['pass']))
  })
}

function statesOf(
  rule: NodeRule | ContextRule | CohortRule | ClusterRule,
  example: unknown,
): string[] {
  const policy = declaredPolicy(rule)
  if (rule.kind === 'cluster')
    return [judgeCluster(rule, exampleCluster(example as ClusterExample), policy).outcome.state]
  if (rule.kind === 'node') {
    const node = example as NodeExample
    return [outcomeOf(rule, exampleSubject(node), declaredPolicy(rule, node.policy)).state]
  }
  if (rule.kind === 'context') {
    const context = example as ContextExample
    return [outcomeIn(rule, context, declaredPolicy(rule, context.policy)).state]
  }
  const cohorts = new FactsOfNodes(rule)
  for (const [index, peer] of (example as NodeExample[]).entries())
    cohorts.take(exampleSubject(peer, `ip-10-0-1-${index}.ec2.internal`))
  return [...cohortOutcomes(rule, cohorts.members(), policy)].map(({ outcome }) => outcome.state)
}

/** Throws if a rule reads a key that its `policy` does not declare: `explain` would not name that key. */
function declaredPolicy(rule: Rule, own: Partial<Policy> = {}): Policy {
  const declared: PropertyKey[] = policyKeys(rule)
  // All are `alertPercent` in highwater.yaml.
  if (declared.includes('alertPercent')) declared.push('criticalAlertPercent', 'isAlertAssumed')
  return new Proxy(
    { ...defaultPolicy, ...own },
    {
      get(policy, key) {
        if (!declared.includes(key)) throw new Error(`${rule.id} does not declare ${String(key)}`)
        return Reflect.get(policy, key)
      },
    },
  )
}
