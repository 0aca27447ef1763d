import { serializedPulls } from '#judge/rules/image-pull/serialized-pulls.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(serializedPulls, {
  bad: { configuration: { serializeImagePulls: true } },
  good: { configuration: { serializeImagePulls: false } },
})
