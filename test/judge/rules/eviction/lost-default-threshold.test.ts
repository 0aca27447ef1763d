import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(lostDefaultThreshold, {
  bad: {
    configuration: { evictionHard: { 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' } },
    thresholds: [hard('nodefs.available', 10), hard('nodefs.inodesFree', 5)],
  },
  good: {
    thresholds: [
      hard('memory.available', 1),
      hard('nodefs.available', 10),
      hard('nodefs.inodesFree', 5),
    ],
  },
})
