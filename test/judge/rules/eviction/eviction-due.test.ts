import { evictionDue } from '#judge/rules/eviction/eviction-due.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(evictionDue, {
  bad: { thresholds: [hard('nodefs.available', 10, 9)], conditions: { DiskPressure: 'True' } },
  good: { thresholds: [hard('nodefs.available', 10, 10)] },
})
