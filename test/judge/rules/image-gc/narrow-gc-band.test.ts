import { narrowGcBand } from '#judge/rules/image-gc/narrow-gc-band.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(narrowGcBand, {
  bad: { imageGC: { highThresholdPercent: 80, lowThresholdPercent: 79 } },
  good: { imageGC: { highThresholdPercent: 85, lowThresholdPercent: 80 } },
})
