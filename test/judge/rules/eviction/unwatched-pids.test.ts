import { unwatchedPids } from '#judge/rules/eviction/unwatched-pids.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unwatchedPids, {
  bad: {
    eviction: {
      signals: { 'pid.available': { availableBytes: 3_000, capacityBytes: 32_768, time: null } },
    },
  },
  good: {
    eviction: {
      signals: { 'pid.available': { availableBytes: 30_000, capacityBytes: 32_768, time: null } },
    },
  },
})
