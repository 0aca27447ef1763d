import { baselineDrift } from '#judge/rules/drift/baseline-drift.ts'
import { baselineExamples } from '#test/examples/baseline-drift.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(baselineDrift, baselineExamples)
