import { absoluteThresholdOnMixedDisks } from '#judge/rules/eviction/absolute-threshold-on-mixed-disks.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

const node = (gib: number): NodeExample => ({
  configuration: { evictionHard: { 'nodefs.available': '10Gi' } },
  thresholds: [hard('nodefs.available', 10)],
  filesystems: {
    nodefs: {
      capacityBytes: gib * gibibyte,
      availableBytes: 0,
      usedPercent: 0,
      inodes: 1,
      inodesFree: 1,
    },
  },
})

itJudgesExamples(absoluteThresholdOnMixedDisks, {
  bad: [node(20), node(100)],
  good: [node(100), node(100)],
})
