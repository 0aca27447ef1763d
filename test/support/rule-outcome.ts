/** What a rule that needs its cluster says of one node. */
import { Contexts } from '#judge/contexts.ts'
import { type ContextExample, exampleContext, exampleSubject } from '#judge/example.ts'
import type { Outcome } from '#judge/outcome.ts'
import type { ContextRule } from '#judge/rule.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'

export function outcomeIn(rule: ContextRule, example: ContextExample, policy: Policy = defaultPolicy): Outcome {
  const contexts = new Contexts(rule)
  contexts.take(exampleSubject(example))
  const [found] = contexts.outcomes(() => exampleContext(example), policy)
  if (!found) throw new Error('the rule has no outcome')
  return found.outcome
}
