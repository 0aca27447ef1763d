import { alertBeforeImageGc } from '#judge/rules/image-gc/alert-before-image-gc.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(alertBeforeImageGc, {
  bad: { imageGC: { highThresholdPercent: 85, lowThresholdPercent: 80 } },
  good: {
    imageGC: { highThresholdPercent: 80, lowThresholdPercent: 70 },
    thresholds: [hard('nodefs.available', 10)],
  },
})
