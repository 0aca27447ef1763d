import { versionSkewDrift } from '#judge/rules/drift/version-skew-drift.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const node = (release: string): NodeExample => ({
  node: { status: { nodeInfo: { osImage: `Amazon Linux 2023.9.${release}` } } },
})

itJudgesExamples(versionSkewDrift, {
  bad: [node('20251117'), node('20251117'), node('20250203')],
  good: [node('20251117'), node('20251117')],
})
