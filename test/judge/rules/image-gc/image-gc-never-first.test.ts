import { imageGcNeverFirst } from '#judge/rules/image-gc/image-gc-never-first.ts'
import type { FilesystemState } from '#model/prediction.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

const disk = (usedPercent: number): FilesystemState => ({
  capacityBytes: 100 * gibibyte,
  availableBytes: (100 - usedPercent) * gibibyte,
  usedPercent,
  inodes: 1_000,
  inodesFree: 900,
})

itJudgesExamples(imageGcNeverFirst, {
  bad: {
    filesystems: { layout: 'imagefs', nodefs: disk(85) },
    thresholds: [hard('nodefs.available', 10, 15)],
  },
  good: {
    filesystems: { layout: 'imagefs', nodefs: disk(60) },
    thresholds: [hard('nodefs.available', 10, 40)],
  },
})
