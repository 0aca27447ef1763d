import type { ReleasedVolume } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'

const volume = (hoursAgo: number): ReleasedVolume => ({
  volume: 'pvc-7f2e',
  claim: 'shop/data-cart-0',
  storageClass: 'gp3-retain',
  action: 'retain',
  capacityBytes: 100 * 2 ** 30,
  driver: 'ebs.csi.aws.com',
  handle: 'vol-0123456789abcdef0',
  volumeType: null,
  sinceMs: hoursBefore(hoursAgo),
  createdMs: hoursBefore(2000),
  isBeingDeleted: false,
})

const example = (released: ReleasedVolume) => ({ volumes: { released: [released], held: [] } })

export const releasedVolumeExamples = { bad: example(volume(900)), good: example(volume(2)) }
