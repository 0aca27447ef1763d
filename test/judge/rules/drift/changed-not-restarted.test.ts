import { changedNotRestarted } from '#judge/rules/drift/changed-not-restarted.ts'
import { restartExamples } from '#test/examples/changed-not-restarted.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(changedNotRestarted, restartExamples)
