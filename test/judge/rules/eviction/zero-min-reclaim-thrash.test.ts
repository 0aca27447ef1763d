import { zeroMinReclaimThrash } from '#judge/rules/eviction/zero-min-reclaim-thrash.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(zeroMinReclaimThrash, {
  bad: { thresholds: [hard('nodefs.available', 10, 9)] },
  good: { thresholds: [{ ...hard('nodefs.available', 10, 9), minReclaim: '5Gi' }] },
})
