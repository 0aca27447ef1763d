import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { diskEvictionPercent, raisedThresholds } from '#judge/help/thresholds.ts'
import type { NodeRule } from '#judge/rule.ts'
import { softThresholdWithoutGrace } from '#judge/rules/eviction/soft-threshold-without-grace.ts'
import { unreachableSoftThreshold } from '#judge/rules/eviction/unreachable-soft-threshold.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'
import { failingOf } from '#test/rule-outcome.ts'

it.each([
  ['shared', 25],
  ['imagefs', 15],
  ['split', 15],
  [null, 25],
] as const)('on a %s layout pods are evicted below %s %% of the image disk', (layout, percent) => {
  // 10 % of a nodefs that is 2.5 times as large as the image disk.
  const thresholds = [
    { signal: 'nodefs.available', value: '10%', resolved: 25 },
    { signal: 'imagefs.available', value: '15%', resolved: 15 },
  ]
  const filesystems = { imagefs: { capacityBytes: 100 }, nodefs: { capacityBytes: 250 }, layout }
  const subject = { identity: {}, eviction: { thresholds, signals: {} }, filesystems }
  expect(diskEvictionPercent(subject as never)).toBe(percent)
})

const roomyEviction = (threshold: EvaluatedThreshold) => ({
  thresholds: [threshold],
  signals: { [threshold.signal]: { capacityBytes: 20 * gibibyte } },
})

const roomyDisk = (availableGib: number) => {
  const disk = { capacityBytes: 20 * gibibyte, availableBytes: availableGib * gibibyte }
  return { nodefs: disk, imagefs: disk, layout: 'shared', layoutCertainty: 'certain' }
}

it.each([
  // In bytes, too: 12 GiB of 20.
  ['unmet', hard('nodefs.available', 12, 13), 13, '10%'],
  ['met, and not by the default', hard('nodefs.available', 12, 11), 11, '10%'],
  ['met, also by the default', hard('nodefs.available', 12, 1), 1, null],
  ['twice the default, unmet', hard('nodefs.available', 4, 13), 13, null],
  // Halfway between 10 % and the start of image GC at 16 % free.
  ['soft', soft('nodefs.available', 8, 60_000, 10), 10, '13%'],
  [
    'soft, the default hard one just below image GC',
    soft('imagefs.available', 9, 60_000, 10),
    10,
    '20%',
  ],
] as const)('a threshold that is the mistake: %s', (_, threshold, availableGib, to) => {
  const subject = {
    identity: { kubeletVersion: 'v1.34.1', operatingSystem: 'linux' },
    eviction: roomyEviction(threshold),
    filesystems: roomyDisk(availableGib),
    imageGC: { enabled: true, highThresholdPercent: 85 },
    ledger: null,
    unusedImages: () => null,
  }
  const raised = raisedThresholds([threshold], subject as never)
  expect(raised.map(one => one.to)).toEqual(to === null ? [] : [to])
})

it('suits no image GC to a threshold that is the mistake', () => {
  const subject = {
    identity: { kubeletVersion: 'v1.34.1', operatingSystem: 'linux' },
    eviction: roomyEviction(hard('nodefs.available', 12, 13)),
    filesystems: roomyDisk(13),
    ledger: null,
    unusedImages: () => null,
  }
  expect(diskEvictionPercent(subject as never)).toBe(10)
})

describe('what a hard eviction leaves a pod', () => {
  const noGrace = {
    evictionSoft: { 'nodefs.available': '15Gi' },
    evictionSoftGracePeriod: { 'nodefs.available': '0s' },
  }
  const acting: [NodeRule, NodeExample][] = [
    [
      softThresholdWithoutGrace,
      { configuration: noGrace, thresholds: [hard('nodefs.available', 15)] },
    ],
    [
      unreachableSoftThreshold,
      { thresholds: [hard('nodefs.available', 15), soft('nodefs.available', 10, 60_000)] },
    ],
  ]

  it.each(acting.map(([rule, example]) => ({ id: rule.id, rule, example })))(
    'is its own grace period before 1.31: $id',
    ({ rule, example }) => {
      const on = (kubeletVersion: string) =>
        failingOf(rule, { ...example, identity: { kubeletVersion } }).consequence
      expect(on('v1.30.14')).toContain('with its own terminationGracePeriodSeconds')
      expect(on('v1.30.14')).not.toContain('at once')
      expect(on('v1.31.0')).toContain('at once')
      expect(on('v1.31.0')).not.toContain('terminationGracePeriodSeconds')
    },
  )
})
