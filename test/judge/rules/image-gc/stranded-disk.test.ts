import { strandedDisk } from '#judge/rules/image-gc/stranded-disk.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

itJudgesExamples(strandedDisk, {
  bad: {
    filesystems: {
      nodefs: {
        capacityBytes: 900 * gibibyte,
        availableBytes: 600 * gibibyte,
        usedPercent: 34,
        inodes: 1,
        inodesFree: 1,
      },
    },
    thresholds: [hard('nodefs.available', 135, 600)],
  },
  good: { thresholds: [hard('nodefs.available', 10)] },
})
