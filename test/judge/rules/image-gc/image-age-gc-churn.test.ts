import { imageAgeGcChurn } from '#judge/rules/image-gc/image-age-gc-churn.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(imageAgeGcChurn, {
  bad: { configuration: { imageMaximumGCAge: '1h0m0s' } },
  good: { configuration: { imageMaximumGCAge: '168h0m0s' } },
})
