import { podsWithoutEphemeralRequestsFirst } from '#judge/rules/eviction/pods-without-ephemeral-requests-first.ts'
import type { RankedPod } from '#model/prediction.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

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
