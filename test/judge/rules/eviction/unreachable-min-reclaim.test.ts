import { unreachableMinReclaim } from '#judge/rules/eviction/unreachable-min-reclaim.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

const reclaim = (value: string) => ({
  configuration: { evictionMinimumReclaim: { 'nodefs.available': value } },
  thresholds: [{ ...hard('nodefs.available', 10), minReclaim: value }],
  eviction: {
    signals: {
      'nodefs.available': {
        availableBytes: 60 * gibibyte,
        capacityBytes: 100 * gibibyte,
        time: null,
      },
    },
  },
})

itJudgesExamples(unreachableMinReclaim, { bad: reclaim('90Gi'), good: reclaim('5Gi') })
