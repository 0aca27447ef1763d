import { unexplainedDiskUse } from '#judge/rules/image-gc/unexplained-disk-use.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unexplainedDiskUse, {
  bad: { held: { 'not-explained': 20 } },
  good: { held: { 'not-explained': 1, 'images-in-use': 20 } },
})
