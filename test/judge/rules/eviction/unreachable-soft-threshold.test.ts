import { unreachableSoftThreshold } from '#judge/rules/eviction/unreachable-soft-threshold.ts'
import { hard, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unreachableSoftThreshold, {
  bad: { thresholds: [hard('nodefs.available', 15), soft('nodefs.available', 10, 90_000)] },
  good: { thresholds: [hard('nodefs.available', 10), soft('nodefs.available', 15, 90_000)] },
})
