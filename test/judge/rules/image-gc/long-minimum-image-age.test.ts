import { longMinimumImageAge } from '#judge/rules/image-gc/long-minimum-image-age.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(longMinimumImageAge, {
  bad: { configuration: { imageMinimumGCAge: '720h0m0s' } },
  good: { configuration: { imageMinimumGCAge: '24h0m0s' } },
})
