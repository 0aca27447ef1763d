import { describe, expect, it } from 'vitest'
import { diskEvictionPercent } from '#judge/help/thresholds.ts'
import type { NodeRule } from '#judge/rule.ts'
import { softThresholdWithoutGrace } from '#judge/rules/eviction/soft-threshold-without-grace.ts'
import { unreachableSoftThreshold } from '#judge/rules/eviction/unreachable-soft-threshold.ts'
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
    { signal: 'nodefs.available', resolved: 25 },
    { signal: 'imagefs.available', resolved: 15 },
  ]
  const filesystems = { imagefs: { capacityBytes: 100 }, layout }
  expect(diskEvictionPercent({ thresholds } as never, filesystems as never)).toBe(percent)
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
