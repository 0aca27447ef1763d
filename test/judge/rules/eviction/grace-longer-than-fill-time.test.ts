import { graceLongerThanFillTime } from '#judge/rules/eviction/grace-longer-than-fill-time.ts'
import { hard, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(graceLongerThanFillTime, {
  bad: { thresholds: [hard('nodefs.available', 10), soft('nodefs.available', 12, 600_000)] },
  good: { thresholds: [hard('nodefs.available', 10), soft('nodefs.available', 12, 90_000)] },
})
