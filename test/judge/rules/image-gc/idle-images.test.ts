import { idleImages } from '#judge/rules/image-gc/idle-images.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(idleImages, {
  bad: { held: { 'images-unused': 30 } },
  good: { held: { 'images-in-use': 30 } },
})
