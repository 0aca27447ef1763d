import { volumeNotDeleted } from '#judge/rules/cluster-gc/volume-not-deleted.ts'
import type { ReleasedVolume } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const volume = (hoursAgo: number): ReleasedVolume => ({
  volume: 'pvc-91ac',
  claim: 'shop/scratch-1',
  storageClass: 'gp3',
  reclaimPolicy: 'Delete',
  action: 'leave-to-driver',
  capacityBytes: 20 * 2 ** 30,
  driver: 'ebs.csi.aws.com',
  handle: 'vol-0123456789abcdef1',
  volumeType: null,
  sinceMs: hoursBefore(hoursAgo),
  createdMs: hoursBefore(2000),
  isBeingDeleted: false,
})

const example = (released: ReleasedVolume) => ({ volumes: { released: [released], held: [] } })

itJudgesExamples(volumeNotDeleted, { bad: example(volume(90)), good: example(volume(0.2)) })
