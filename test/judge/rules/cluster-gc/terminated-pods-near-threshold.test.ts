import { describe, expect, it } from 'vitest'
import { terminatedPodsNearThreshold } from '#judge/rules/cluster-gc/terminated-pods-near-threshold.ts'
import { failedPod, hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, pod } from '#test/rules/cluster-garbage.ts'

const many = (count: number) => ({
  terminated: Array.from({ length: count }, (_, index) => ({
    ...failedPod(hoursBefore(1), null),
    name: `report-${index}`,
  })),
  threshold: { pods: 10, isAssumed: false },
  excess: Math.max(0, count - 10),
  terminating: [],
})

itJudgesExamples(terminatedPodsNearThreshold, { bad: { pods: many(9) }, good: { pods: many(3) } })

describe('terminated-pods-near-threshold', () => {
  const given = (count: number, limit: number, isAssumed = false) => ({
    pods: {
      terminated: Array.from({ length: count }, (_, index) => pod({ name: `p-${index}` })),
      ...{
        threshold: { pods: limit, isAssumed },
        excess: Math.max(0, count - limit),
        terminating: [],
      },
    },
  })
  it.each([
    [7, 10, 0],
    [8, 10, 1],
    [11, 10, 1],
    [50, 0, 0],
    [50, -1, 0],
  ])('%i of %i', (count, limit, fails) => {
    expect(failings('terminated-pods-near-threshold', given(count, limit))).toHaveLength(fails)
  })

  it('says what goes first, and how soon; of an assumed threshold nothing is certain', () => {
    expect(
      failings('terminated-pods-near-threshold', given(12, 10))[0]?.consequence,
    ).toMatchSnapshot()
    const [assumed] = failings('terminated-pods-near-threshold', given(10, 10, true))
    expect(assumed).toMatchObject({
      confidence: 'likely',
      consequence: expect.stringMatching(/^After 1 more finished pod pod GC begins/),
    })
    expect(failings('terminated-pods-near-threshold', given(10, 10))[0]?.confidence).toBeUndefined()
  })
})
