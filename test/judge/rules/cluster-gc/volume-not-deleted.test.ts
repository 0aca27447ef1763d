import { describe, expect, it } from 'vitest'
import { volumeNotDeleted } from '#judge/rules/cluster-gc/volume-not-deleted.ts'
import type { ReleasedVolume } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, volume, volumes } from '#test/rules/cluster-garbage.ts'

const exampleVolume = (hoursAgo: number): ReleasedVolume => ({
  volume: 'pvc-91ac',
  claim: 'shop/scratch-1',
  storageClass: 'gp3',
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

itJudgesExamples(volumeNotDeleted, {
  bad: example(exampleVolume(90)),
  good: example(exampleVolume(0.2)),
})

describe('volume-not-deleted', () => {
  it.each([
    ['its driver', { action: 'leave-to-driver' }, 'ebs.csi.aws.com has not done it'],
    [
      'nobody',
      { action: 'fail', driver: 'nfs.csi.k8s.io' },
      'nothing in this cluster can delete such a volume',
    ],
  ] as const)('names %s', (_, more, words) => {
    expect(failings('volume-not-deleted', volumes(volume(more)))[0]?.consequence).toContain(words)
  })
})
