import { describe, expect, it } from 'vitest'
import { releasedVolume } from '#judge/rules/cluster-gc/released-volume.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { releasedVolumeExamples } from '#test/examples/released-volume.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, valueIn, volume, volumes } from '#test/rules/cluster-garbage.ts'

itJudgesExamples(releasedVolume, releasedVolumeExamples)

describe('released-volume', () => {
  it.each([
    ['released exactly so long ago', { sinceMs: hoursBefore(24) }, true],
    ['released a moment later', { sinceMs: hoursBefore(24) + 1 }, false],
    ['released at an unknown time, made long ago', { sinceMs: null }, true],
    [
      'released at an unknown time, made exactly so long ago',
      { sinceMs: null, createdMs: hoursBefore(24) },
      true,
    ],
    [
      'released at an unknown time, made later',
      { sinceMs: null, createdMs: hoursBefore(24) + 1 },
      false,
    ],
    ['with no known time', { sinceMs: null, createdMs: null }, true],
    ['that its driver deletes', { action: 'leave-to-driver' }, false],
    ['that is being deleted: another rule reports it', { isBeingDeleted: true }, false],
  ] as const)('one %s', (_, more, fails) => {
    expect(failings('released-volume', volumes(volume(more)))).toHaveLength(fails ? 1 : 0)
  })

  it.each([
    ['the type that its driver makes', {}, 'about 8.00 USD a month'],
    ['a type', { volumeType: 'gp2' }, 'about 10 USD a month'],
    ['a type that has no known price', { volumeType: 'gp9' }, undefined],
    ['a name of every object', { volumeType: 'constructor' }, undefined],
    ['another driver', { driver: 'efs.csi.aws.com' }, undefined],
    ['no capacity', { capacityBytes: null }, undefined],
  ] as const)('costs by %s', (_, more, cost) => {
    const given = volumes(volume({ capacityBytes: 100 * 2 ** 30, ...more }))
    expect(valueIn('released-volume', given, 'cost of EBS at list price of us-east-1')).toBe(cost)
  })

  it.each([
    ['type', { volumeType: 'gp9' }, '1: size or price is not known'],
    ['size', { capacityBytes: null }, '1: size or price is not known'],
    ['driver', { driver: 'efs.csi.aws.com' }, undefined],
  ] as const)('says how many of EBS its cost leaves out: one of another %s', (_, more, value) => {
    expect(
      valueIn('released-volume', volumes(volume({}), volume(more)), 'of EBS, and not in the cost'),
    ).toBe(value)
  })

  it('is one for each namespace that had the claims, and the cluster’s where no claim is named', () => {
    const found = failings(
      'released-volume',
      volumes(
        volume({}),
        volume({ claim: 'a/x' }),
        volume({ claim: null }),
        volume({ volume: 'b' }),
      ),
    )
    expect(found.map(({ subject, count }) => [subject.kind, subject.name, count])).toEqual([
      ['Cluster', 'prod', 1],
      ['Namespace', 'a', 1],
      ['Namespace', 'shop', 2],
    ])
  })
})

describe('volumes released at an unknown time', () => {
  it.each([
    ['released-volume', 'retain'],
    ['volume-not-deleted', 'leave-to-driver'],
  ] as const)('are found by %s, and no more than likely', (id, action) => {
    const untold = volume({ action, sinceMs: null })
    const [found] = failings(id, volumes(untold))
    expect(found?.confidence).toBe('likely')
    expect(valueIn(id, volumes(untold), 'since when is not known')).toMatchSnapshot()
    expect(valueIn(id, volumes(untold), 'first of these was made')).toMatch(/^83 days ago/)
    const [both] = failings(id, volumes(untold, volume({ action, volume: 'told' })))
    expect([both?.count, both?.confidence]).toEqual([2, undefined])
    expect(
      failings(id, volumes(volume({ action })))[0]?.evidence.map(({ what }) => what),
    ).not.toContain('since when is not known')
  })
})
