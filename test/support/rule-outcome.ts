/** The outcome of a rule on one node. */

import type { ContextRule, NodeRule } from '#judge/rule.ts'
import { contextOutcomes, FactsOfNodes } from '#judge/run/cohorts.ts'
import { type Outcome, outcomeOf } from '#judge/run/outcome.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { type ContextExample, exampleContext, exampleSubject } from '#test/example.ts'

export const outcomeIn = (
  rule: ContextRule,
  example: ContextExample,
  policy: Policy = defaultPolicy,
): Outcome => outcomeOn(rule, [exampleSubject(example)], example, policy)

/** Of the first of these nodes of one group. */
export function outcomeOn(
  rule: ContextRule,
  subjects: readonly NodeSubject[],
  example: ContextExample = {},
  policy: Policy = defaultPolicy,
): Outcome {
  const contexts = new FactsOfNodes(rule)
  for (const subject of subjects) contexts.take(subject)
  const [found] = contextOutcomes(rule, contexts.members(), policy, () => exampleContext(example))
  if (!found) throw new Error('the rule has no outcome')
  return found.outcome
}

/** Also of a rule that needs none: a test need not know which of its rules read what the cluster says. */
export const outcomeFor = (
  rule: NodeRule | ContextRule,
  example: ContextExample,
  policy: Policy = defaultPolicy,
): Outcome =>
  rule.kind === 'node'
    ? outcomeOf(rule, exampleSubject(example), policy)
    : outcomeIn(rule, example, policy)

export const state = (...of: Parameters<typeof outcomeFor>): Outcome['state'] =>
  outcomeFor(...of).state

/** Throws if the rule does not fail. */
export function failingOf(...of: Parameters<typeof outcomeFor>) {
  const outcome = outcomeFor(...of)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${JSON.stringify(outcome)}`)
  return outcome.failing
}

export const evidenceText = (...of: Parameters<typeof outcomeFor>): string =>
  JSON.stringify(failingOf(...of).evidence)

export const shownValue = (rule: NodeRule | ContextRule, example: ContextExample, what: string) =>
  failingOf(rule, example).evidence.find(entry => entry.what === what)?.value
