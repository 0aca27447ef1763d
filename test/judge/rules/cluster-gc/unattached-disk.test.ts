import { describe, expect, it } from 'vitest'
import { unattachedDisk } from '#judge/rules/cluster-gc/unattached-disk.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, judged } from '#test/rules/cluster-garbage.ts'

const disk = (hoursAgo: number) => ({
  ...{ volumeId: 'vol-0123456789abcdef0', capacityBytes: 100 * 2 ** 30, volumeType: 'gp3' },
  ...{ iops: 3000, throughputMiBps: 125, volume: null },
  createdMs: hoursBefore(hoursAgo),
})

const example = (hoursAgo: number) => ({
  disks: { unattached: [disk(hoursAgo)], areVolumesKnown: true },
})

itJudgesExamples(unattachedDisk, { bad: example(400), good: example(2) })

describe('the account', () => {
  const none = { iops: null, throughputMiBps: null, volume: null }
  const disk = {
    volumeId: "vol-1'; rm",
    capacityBytes: null,
    volumeType: null,
    createdMs: hoursBefore(24),
    ...none,
  }
  const evidenceText = (...unattached: (typeof disk | Record<string, unknown>)[]) =>
    failings('unattached-disk', {
      disks: { unattached: unattached.map(more => ({ ...disk, ...more })), areVolumesKnown: true },
    })[0]
  it.each([
    [[{}], 'attached to nothing, and no PersistentVolume names it.'],
    [
      [{ volume: 'pv' }],
      'attached to nothing, and no claim has the PersistentVolume that names it.',
    ],
    [
      [{ volume: 'a' }, { volume: 'b' }],
      'attached to nothing, and no claim has the 2 PersistentVolumes that name them.',
    ],
    [
      [{ volume: 'a' }, {}],
      'attached to nothing, and no PersistentVolume names them, but 1, which no claim has.',
    ],
  ])('says of disks %j who has them', (disks, words) => {
    expect(evidenceText(...disks)?.consequence).toContain(words)
  })

  it.each([
    [{ volumeType: 'io2', iops: 64_000 }, 'about 3553 USD a month', false],
    [{ volumeType: 'io2' }, 'about 1.25 USD a month', true],
    [{ volumeType: 'st1' }, 'about 0.45 USD a month', false],
    [{ volumeType: 'new9' }, undefined, false],
  ])(
    'prices %j with what was provisioned, and says of how many that is not known',
    (more, cost, isBySize) => {
      const evidence = new Map(
        evidenceText({ capacityBytes: 10 * 2 ** 30, ...more })?.evidence.map(({ what, value }) => [
          what,
          value,
        ]),
      )
      expect(evidence.get('cost of EBS at list price of us-east-1')).toBe(cost)
      expect(evidence.get('of EBS, and in the cost by size alone')).toBe(
        isBySize ? '1: IOPS and throughput are not known' : undefined,
      )
    },
  )

  it('loses no disk as long as a volume may name it', () => {
    expect(
      judged('unattached-disk', { disks: { unattached: [disk], areVolumesKnown: false } }).outcome
        .state,
    ).toBe('unknown')
    expect(
      judged('unattached-disk', { disks: { unattached: [], areVolumesKnown: false } }).outcome
        .state,
    ).toBe('pass')
  })

  it('is asked by commands that a shell reads as words, whatever a snapshot says', () => {
    const [found] = failings('unattached-disk', {
      disks: { unattached: [disk], areVolumesKnown: true },
    })
    expect(found?.commands).toMatchSnapshot()
  })
})
