import { imageGcDisabled } from '#judge/rules/image-gc/image-gc-disabled.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(imageGcDisabled, {
  bad: { imageGC: { enabled: false, highThresholdPercent: 100, lowThresholdPercent: 80 } },
  good: { imageGC: { highThresholdPercent: 99, lowThresholdPercent: 80 } },
})
