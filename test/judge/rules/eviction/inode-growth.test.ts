import { inodeGrowth } from '#judge/rules/eviction/inode-growth.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const inodes = (free: number): NodeExample => ({
  thresholds: [hard('nodefs.inodesFree', 5)],
  filesystems: {
    nodefs: {
      ...{ capacityBytes: 100 * 1024 ** 3, availableBytes: 60 * 1024 ** 3, usedPercent: 40 },
      ...{ inodes: 6_553_600, inodesFree: free },
    },
  },
})

itJudgesExamples(inodeGrowth, { bad: inodes(2_000_000), good: inodes(5_000_000) })
