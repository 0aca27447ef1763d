import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const node = (high: number): NodeExample => ({
  configuration: { imageGCHighThresholdPercent: high },
})

itJudgesExamples(peerDrift, {
  bad: [node(80), node(80), node(95)],
  good: [node(80), node(80), node(80)],
})
