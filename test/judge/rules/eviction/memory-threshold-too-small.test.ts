import { memoryThresholdTooSmall } from '#judge/rules/eviction/memory-threshold-too-small.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(memoryThresholdTooSmall, {
  bad: {
    thresholds: [{ ...hard('memory.available', 1), value: '50Mi', resolved: 50 * 1024 ** 2 }],
  },
  good: {
    thresholds: [{ ...hard('memory.available', 1), value: '100Mi', resolved: 100 * 1024 ** 2 }],
  },
})
