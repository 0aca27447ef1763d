import { unsupportedVersion } from '#judge/rules/kernel/unsupported-version.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unsupportedVersion, {
  bad: { identity: { kubeletVersion: 'v1.23.17' } },
  good: { identity: { kubeletVersion: 'v1.24.0' } },
})
