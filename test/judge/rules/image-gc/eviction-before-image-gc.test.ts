import { evictionBeforeImageGc } from '#judge/rules/image-gc/eviction-before-image-gc.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(evictionBeforeImageGc, {
  bad: {
    imageGC: { highThresholdPercent: 85, lowThresholdPercent: 80 },
    thresholds: [hard('imagefs.available', 15)],
  },
  good: {
    imageGC: { highThresholdPercent: 70, lowThresholdPercent: 50 },
    thresholds: [hard('imagefs.available', 10)],
  },
})
