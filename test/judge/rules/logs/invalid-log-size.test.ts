import { invalidLogSize } from '#judge/rules/logs/invalid-log-size.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(invalidLogSize, {
  bad: { configuration: { containerLogMaxSize: '1.5Gi' } },
  good: { configuration: { containerLogMaxSize: '1536Mi', containerLogMaxFiles: 2 } },
})
