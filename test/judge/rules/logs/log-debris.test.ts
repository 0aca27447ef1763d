import { logDebris } from '#judge/rules/logs/log-debris.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(logDebris, {
  bad: { held: { 'log-debris': 3 } },
  good: { held: { 'container-logs': 3 } },
})
