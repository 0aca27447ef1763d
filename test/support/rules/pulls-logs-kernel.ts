/** What the tests of these rules share: pulls logs kernel. */

import type { ContextRule, NodeRule } from '#judge/rule.ts'
import type { ContextExample } from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

export const judge = (rule: NodeRule | ContextRule, example: ContextExample) =>
  outcomeFor(rule, example)

export const state = (rule: NodeRule | ContextRule, example: ContextExample) =>
  judge(rule, example).state

export const failingOf = (rule: NodeRule | ContextRule, example: ContextExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}
