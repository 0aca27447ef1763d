import { expect, it } from 'vitest'
import { podProcessLimitReached } from '#judge/rules/eviction/pod-process-limit-reached.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rules/eviction-settings.ts'

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
  { limit: 100, steps: ['set-fields', 'limit-processes'] },
  { limit: 8192, steps: ['limit-processes'] },
])('raises a limit of $limit only if it is low', ({ limit, steps }) => {
  const failing = failingOf(podProcessLimitReached, podWith(limit, limit))
  expect(failing.steps?.map(({ id }) => id)).toEqual(steps)
})
