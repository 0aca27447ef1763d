import { imageGcDue } from '#judge/rules/image-gc/image-gc-due.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(imageGcDue, {
  bad: {
    imageGC: {
      triggered: true,
      usagePercent: 91,
      bytesUntilTrigger: 0,
      bytesToFree: 11 * 1024 ** 3,
    },
  },
  good: { imageGC: { triggered: false, usagePercent: 79 } },
})
