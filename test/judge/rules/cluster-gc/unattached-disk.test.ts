import { unattachedDisk } from '#judge/rules/cluster-gc/unattached-disk.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const disk = (hoursAgo: number) => ({
  ...{
    volumeId: 'vol-0123456789abcdef0',
    capacityBytes: 100 * 2 ** 30,
    volumeType: 'gp3',
    zone: 'us-east-1a',
  },
  ...{ iops: 3000, throughputMiBps: 125, volume: null },
  createdMs: hoursBefore(hoursAgo),
})

const example = (hoursAgo: number) => ({
  disks: { unattached: [disk(hoursAgo)], areVolumesKnown: true },
})

itJudgesExamples(unattachedDisk, { bad: example(400), good: example(2) })
