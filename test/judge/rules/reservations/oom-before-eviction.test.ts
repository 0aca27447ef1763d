import { oomBeforeEviction } from '#judge/rules/reservations/oom-before-eviction.ts'
import { hard, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(oomBeforeEviction, {
  bad: { thresholds: [hard('nodefs.available', 10), soft('memory.available', 1, 90_000)] },
  good: {
    thresholds: [
      hard('nodefs.available', 10),
      hard('memory.available', 1),
      soft('memory.available', 2, 90_000),
    ],
  },
})
