import { alertBehindEviction } from '#judge/rules/eviction/alert-behind-eviction.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(alertBehindEviction, {
  bad: { policy: { criticalAlertPercent: 90 }, thresholds: [hard('nodefs.available', 10)] },
  good: { policy: { criticalAlertPercent: 85 }, thresholds: [hard('nodefs.available', 10)] },
})
