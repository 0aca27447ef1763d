/** What the tests of these rules share: eviction settings. */

import type { NodeRule } from '#judge/rule.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'

export const gibibyte = 1024 ** 3

export const judge = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  outcomeOf(rule, exampleSubject(example), policy)

export const state = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  judge(rule, example, policy).state

export const failingOf = (rule: NodeRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

export const unresolved = { resolved: null, met: null, margin: null }
