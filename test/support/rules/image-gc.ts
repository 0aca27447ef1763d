/** What the tests of these rules share: image gc. */

import type { NodeRule } from '#judge/rule.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, hard, type NodeExample } from '#test/example.ts'

export const judge = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  outcomeOf(rule, exampleSubject(example), policy)

export const state = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  judge(rule, example, policy).state

export const failingOf = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) => {
  const outcome = judge(rule, example, policy)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

export const gc = (high: number, low = high - 5) => ({
  enabled: high < 100,
  highThresholdPercent: high,
  lowThresholdPercent: low,
})

export const nodefs = (gib: number) => [hard('nodefs.available', gib)]
