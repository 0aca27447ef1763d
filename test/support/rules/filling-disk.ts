/** What the tests of these rules share: filling disk. */

import type { NodeRule } from '#judge/rule.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { RankedPod } from '#model/prediction.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'

export const GiB = 1024 ** 3

const judge = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  outcomeOf(rule, exampleSubject(example), policy)

export const state = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  judge(rule, example, policy).state

export const failingOf = (rule: NodeRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

export const shownValue = (rule: NodeRule, example: NodeExample, what: string) =>
  failingOf(rule, example).evidence.find(entry => entry.what === what)?.value

export const ranked = (name: string, rank: number, usage: number | null): RankedPod => ({
  namespace: 'shop',
  name,
  rank,
  qos: 'BestEffort',
  priority: 0,
  usage,
  request: 0,
  reason: 'uses more than it requests',
})

export const unobserved = { resolved: null, margin: null, met: null }
