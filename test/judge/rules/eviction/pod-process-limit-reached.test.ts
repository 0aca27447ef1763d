import { expect, it } from 'vitest'
import { podProcessLimitReached } from '#judge/rules/eviction/pod-process-limit-reached.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const podWith = (processes: number, podPidsLimit: number): NodeExample => ({
  configuration: { podPidsLimit },
  pods: [{ metadata: { namespace: 'shop', name: 'api' }, status: { phase: 'Running' } }],
  summary: {
    pods: [
      { podRef: { namespace: 'shop', name: 'api' }, process_stats: { process_count: processes } },
    ],
  },
})

itJudgesExamples(podProcessLimitReached, { bad: podWith(98, 100), good: podWith(60, 100) })

it.each([
  { processes: 900, limit: 1000, expected: 'fail' },
  { processes: 899, limit: 1000, expected: 'pass' },
  { processes: 40_000, limit: -1, expected: 'notApplicable' },
])('$processes processes with a limit of $limit: $expected', ({ processes, limit, expected }) => {
  expect(state(podProcessLimitReached, podWith(processes, limit))).toBe(expected)
})

it.each([
  { limit: 100, steps: [{ id: 'set-fields' }, { id: 'raise-process-limit' }] },
  { limit: 8192, steps: [{ id: 'raise-process-limit', above: 8192 }] },
])('sets a limit only if $limit is low, and renews the pod', ({ limit, steps }) => {
  const failing = failingOf(podProcessLimitReached, podWith(limit, limit))
  expect(failing.steps?.map(({ owner: _, ...step }) => step)).toEqual(steps)
})

it.each([
  { processes: 92, canStartMore: true },
  { processes: 100, canStartMore: false },
])('$processes of 100 processes', ({ processes, canStartMore }) => {
  const { consequence } = failingOf(podProcessLimitReached, podWith(processes, 100))
  expect(consequence.includes('It can start no more')).toBe(!canStartMore)
})
