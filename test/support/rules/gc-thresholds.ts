/** What the tests of these rules share: gc thresholds. */

import type { ContextRule, NodeRule } from '#judge/rule.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { NodeExample } from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

export const gibibyte = 1024 ** 3

const judge = (rule: NodeRule | ContextRule, example: NodeExample, policy = defaultPolicy) =>
  outcomeFor(rule, example, policy)

export const state = (rule: NodeRule | ContextRule, example: NodeExample, policy = defaultPolicy) =>
  judge(rule, example, policy).state

export const failingOf = (rule: NodeRule | ContextRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

export const gc = (high: number, low: number) => ({
  enabled: high < 100,
  highThresholdPercent: high,
  lowThresholdPercent: low,
})
