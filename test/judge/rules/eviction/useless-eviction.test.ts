import { uselessEviction } from '#judge/rules/eviction/useless-eviction.ts'
import type { RankedPod } from '#model/prediction.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

const pod: RankedPod = {
  namespace: 'shop',
  name: 'web-0',
  rank: 0,
  qos: 'BestEffort',
  priority: 0,
  usage: gibibyte / 2,
  request: 0,
  reason: 'uses more than it requests',
}

const full = (imageGib: number) => ({
  thresholds: [hard('nodefs.available', 10, 5)],
  eviction: {
    signals: {
      'nodefs.available': {
        availableBytes: 5 * gibibyte,
        capacityBytes: 100 * gibibyte,
        time: null,
      },
    },
    rankings: [{ signal: 'nodefs.available' as const, pods: [pod] }],
  },
  summary: { node: { runtime: { imageFs: { usedBytes: imageGib * gibibyte } } } },
})

itJudgesExamples(uselessEviction, { bad: full(1), good: full(30) })
