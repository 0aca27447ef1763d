import { unwatchedInodes } from '#judge/rules/eviction/unwatched-inodes.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unwatchedInodes, {
  bad: {
    configuration: {
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '0%',
      },
    },
    thresholds: [hard('memory.available', 1), hard('nodefs.available', 10)],
  },
  good: { thresholds: [hard('nodefs.available', 10), hard('nodefs.inodesFree', 5)] },
})
