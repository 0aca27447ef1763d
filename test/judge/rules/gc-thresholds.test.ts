/** Boundaries of the rules about image GC and container GC. */

import { describe, expect, it } from 'vitest'
import { imageGcDead } from '#judge/rules/image-gc/image-gc-dead.ts'
import { unreachableGcLowThreshold } from '#judge/rules/image-gc/unreachable-gc-low-threshold.ts'
import type { ImageDeletion } from '#model/prediction.ts'
import { failingOf, gc, gibibyte, state } from '#test/rules/gc-thresholds.ts'

describe('unreachable-gc-low-threshold', () => {
  const due = { triggered: true, usagePercent: 91, bytesToFree: 21 * gibibyte }

  it.each([
    [{ ...due, reachesLow: false, freedBytes: 0, shortfallBytes: 21 * gibibyte }, 'fail'],
    [{ ...due, reachesLow: true }, 'pass'],
    [{ ...due, reachesLow: null, freedBytes: null, shortfallBytes: null }, 'unknown'],
    [{ triggered: null, reachesLow: null }, 'unknown'],
    [
      { triggered: false, reachesLow: null, error: 'invalid capacity 0 on image filesystem' },
      'unknown',
    ],
    [{ triggered: false }, 'pass'],
    [gc(100, 80), 'notApplicable'],
  ] as const)('%j: %s', (imageGC, expected) => {
    expect(state(unreachableGcLowThreshold, { imageGC })).toBe(expected)
  })

  it('counts what goes for space, and is less certain where something goes by age before', () => {
    const image = (reason: ImageDeletion['reason']): ImageDeletion => ({
      image: 'a',
      names: [],
      sizeBytes: gibibyte,
      rank: 0,
      reason,
      certainty: 'certain',
    })
    const short = { ...due, reachesLow: false, freedBytes: gibibyte, shortfallBytes: 20 * gibibyte }
    const bySpace = failingOf(unreachableGcLowThreshold, {
      imageGC: { ...short, deletions: [image('space')] },
    })
    expect(bySpace.confidence).toBe('certain')
    expect(bySpace.consequence).toMatchSnapshot()
    expect(
      failingOf(unreachableGcLowThreshold, { imageGC: { ...short, deletions: [image('age')] } })
        .confidence,
    ).toBe('likely')
  })
})

describe('image-gc-dead', () => {
  it.each([
    [
      { triggered: false, reachesLow: null, error: 'invalid capacity 0 on image filesystem' },
      'fail',
    ],
    [{ triggered: true, error: 'wanted to free' }, 'pass'],
    [{ triggered: null, error: null }, 'unknown'],
    [
      { triggered: null, error: 'invalid HighThresholdPercent 101, must be in range [0-100]' },
      'unknown',
    ],
    [{ triggered: false }, 'pass'],
    [gc(100, 80), 'notApplicable'],
  ] as const)('%j: %s', (imageGC, expected) => {
    expect(state(imageGcDead, { imageGC })).toBe(expected)
  })
})
