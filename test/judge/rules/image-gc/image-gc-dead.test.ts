import { imageGcDead } from '#judge/rules/image-gc/image-gc-dead.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

/** Upstream's text where a round sees no size of the disk. */
const noCapacity = 'invalid capacity 0 on image filesystem'

itJudgesExamples(imageGcDead, {
  bad: { imageGC: { triggered: false, usagePercent: null, reachesLow: null, error: noCapacity } },
  good: { imageGC: { triggered: false } },
})
