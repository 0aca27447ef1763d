import { unreachableGcLowThreshold } from '#judge/rules/image-gc/unreachable-gc-low-threshold.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

itJudgesExamples(unreachableGcLowThreshold, {
  bad: {
    imageGC: {
      triggered: true,
      usagePercent: 91,
      bytesUntilTrigger: 0,
      bytesToFree: 21 * gibibyte,
      reachesLow: false,
      freedBytes: gibibyte,
      shortfallBytes: 20 * gibibyte,
    },
  },
  good: {
    imageGC: {
      triggered: true,
      usagePercent: 91,
      bytesToFree: 21 * gibibyte,
      reachesLow: true,
      freedBytes: 22 * gibibyte,
    },
  },
})
