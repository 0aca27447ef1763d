import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { podsWithoutEphemeralRequestsFirst } from '#judge/rules/eviction/pods-without-ephemeral-requests-first.ts'
import type { RankedPod } from '#model/prediction.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const pod = (name: string, rank: number, usage: number, request: number): RankedPod => ({
  namespace: 'shop',
  name,
  rank,
  qos: 'Burstable',
  priority: 0,
  usage,
  request,
  reason: usage > request ? 'uses more than it requests' : 'uses no more than it requests',
})

const ranking = (request: number) => ({
  eviction: {
    rankings: [
      {
        signal: 'nodefs.available' as const,
        pods: [pod('web-0', 0, 1_000, request), pod('cache-0', 1, 9 * gibibyte, 10 * gibibyte)],
      },
    ],
  },
})

itJudgesExamples(podsWithoutEphemeralRequestsFirst, { bad: ranking(0), good: ranking(2_000) })

describe('pods-without-ephemeral-requests-first', () => {
  const place = (name: string, rank: number, usage: number | null, request: number, priority = 0) =>
    ({
      namespace: 'shop',
      name,
      rank,
      qos: 'Burstable',
      priority,
      usage,
      request,
      reason: '',
    }) as const
  const ranked = (...pods: ReturnType<typeof place>[]): NodeExample => ({
    eviction: { rankings: [{ signal: 'nodefs.available', pods }] },
  })

  it.each<[string, NodeExample, string]>([
    ['one GiB more stays', ranked(place('a', 0, 1, 0), place('b', 1, gibibyte + 1, 1)), 'fail'],
    ['one byte less', ranked(place('a', 0, 1, 0), place('b', 1, gibibyte, 1)), 'pass'],
    [
      'the other requests nothing either',
      ranked(place('a', 0, 1, 0), place('b', 1, 9 * gibibyte, 0)),
      'pass',
    ],
    ['the first requests', ranked(place('a', 0, 1, 1), place('b', 1, 9 * gibibyte, 1)), 'pass'],
    ['priorities decide', ranked(place('a', 0, 1, 0), place('b', 1, 9 * gibibyte, 1, 1)), 'pass'],
    ['no order among them', ranked(place('a', 0, 1, 0), place('b', 0, 9 * gibibyte, 1)), 'pass'],
    [
      'no statistics of the first',
      ranked(place('a', 0, null, 0), place('b', 1, 9 * gibibyte, 1)),
      'pass',
    ],
    ['not known', { eviction: { victims: null } }, 'unknown'],
    [
      'one of the first equals requests',
      ranked(place('a', 0, 1, 0), place('c', 0, 2, 1), place('b', 1, 9 * gibibyte, 9)),
      'pass',
    ],
  ])('%s: %s', (_, example, expected) => {
    expect(state(podsWithoutEphemeralRequestsFirst, example)).toBe(expected)
  })

  it('names all that may be first, the same whatever their order', () => {
    const [a, b, c] = [
      place('a', 0, 5, 0),
      place('b', 0, 5, 0),
      place('c', 2, 9 * gibibyte, 10 * gibibyte),
    ]
    const failing = failingOf(podsWithoutEphemeralRequestsFirst, ranked(a, b, c))
    expect(failing.consequence).toMatchSnapshot()
    expect(failingOf(podsWithoutEphemeralRequestsFirst, ranked(b, a, c))).toEqual(failing)
  })
})
