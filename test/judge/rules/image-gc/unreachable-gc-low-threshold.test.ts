import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { shortfallBytes } from '#facts/kubelet/event-messages.ts'
import { unreachableGcLowThreshold } from '#judge/rules/image-gc/unreachable-gc-low-threshold.ts'
import type { ImageDeletion } from '#model/prediction.ts'
import { gc } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf as failingIn, failingOf, state, state as stateOf } from '#test/rule-outcome.ts'
import { event, shortBefore135, shortSince135 } from '#test/rules/events.ts'

itJudgesExamples(unreachableGcLowThreshold, {
  bad: {
    imageGC: {
      triggered: true,
      usagePercent: 91,
      bytesUntilTrigger: 0,
      bytesToFree: 21 * gibibyte,
      reachesLow: false,
      freedBytes: gibibyte,
      shortfallBytes: 20 * gibibyte,
    },
  },
  good: {
    imageGC: {
      triggered: true,
      usagePercent: 91,
      bytesToFree: 21 * gibibyte,
      reachesLow: true,
      freedBytes: 22 * gibibyte,
    },
  },
})

describe('unreachable-gc-low-threshold', () => {
  const short = (message: string, ago: number | [number, number] = [50, 3], count = 12) =>
    event({ reason: 'FreeDiskSpaceFailed', message, ago, count })
  const due = { triggered: true, reachesLow: null, freedBytes: null, shortfallBytes: null }

  it.each([
    [shortBefore135, { wantedBytes: 3_435_469_701, freedBytes: 1024 }],
    [shortSince135, { wantedBytes: null, freedBytes: 2048 }],
    [
      'Wanted to free 7549477683 bytes, but freed 0 bytes',
      { wantedBytes: 7_549_477_683, freedBytes: 0 },
    ],
    ['Attempted to free 99999999999999999999 bytes, but only found 1 bytes', null],
    ['full', null],
  ])('%s', (message, expected) => {
    expect(shortfallBytes(message)).toEqual(expected)
  })

  it.each([
    ['not known by replay, but in an event', due, [short(shortSince135)], 'fail'],
    ['not known by replay', due, [], 'unknown'],
    ['in an event, but long ago', due, [short(shortBefore135, [50, 11])], 'unknown'],
    ['below the trigger again', { triggered: false }, [short(shortBefore135)], 'pass'],
    ['no statistics', { triggered: null, reachesLow: null }, [short(shortBefore135)], 'fail'],
    ['another text', due, [short('full')], 'unknown'],
    [
      'only the second witness of the same round',
      due,
      [event({ reason: 'ImageGCFailed', message: shortBefore135 })],
      'unknown',
    ],
  ] as const)('%s: %4$s', (_, imageGC, events, expected) => {
    expect(state(unreachableGcLowThreshold, { imageGC, events: [...events] })).toBe(expected)
  })

  it('says what the kubelet reports beside its replay', () => {
    const message =
      'Failed to garbage collect required amount of images. Attempted to free 2576980377 bytes, but only found 0 bytes eligible to free.'
    const failing = failingOf(unreachableGcLowThreshold, {
      imageGC: { triggered: true, reachesLow: false, bytesToFree: 2 * gibibyte },
      events: [short(message)],
    })
    expect(failing.seen).toMatch(/^Image GC failed 12 times since .*: asked for 2\.4 GiB, freed 0/)
  })

  it.each([
    [62, 50, { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 70 }],
    [75, 60, { imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 }],
    [82, 60, undefined],
    [82, 80, undefined],
  ])('at %i %% used, with %i %%, has thresholds to raise: %o', (usedPercent, high, config) => {
    const { fix, severity } = failingOf(unreachableGcLowThreshold, {
      imageGC: { ...due, reachesLow: false, highThresholdPercent: high, lowThresholdPercent: 40 },
      filesystems: { imagefs: { usedPercent } } as never,
    })
    expect({ config: fix?.config, severity }).toEqual({ config, severity: config && 'medium' })
  })

  it.each([
    [{ unread: 70, images: 20 }, 'unread'],
    [{ 'pod-volumes': 60, images: 20 }, 'holder'],
    // That the kubelet deletes images is what it reports.
    [{ images: 80 }, undefined],
  ] as const)('of what else holds the disk, %o, has the cause: %s', (held, kind) => {
    const { cause } = failingOf(unreachableGcLowThreshold, {
      imageGC: due,
      held,
      events: [short(shortSince135)],
    })
    expect(cause?.kind).toBe(kind)
  })

  it('is only likely where replay finds enough', () => {
    const imageGC = { ...due, reachesLow: true }
    expect(state(unreachableGcLowThreshold, { imageGC, events: [] })).toBe('pass')
    expect(
      failingOf(unreachableGcLowThreshold, { imageGC, events: [short(shortBefore135, [8, 3], 2)] })
        .confidence,
    ).toBe('likely')
  })

  it('is only likely where nothing else shows that the disk is full', () => {
    const imageGC = { triggered: null, reachesLow: null }
    expect(
      failingOf(unreachableGcLowThreshold, { imageGC, events: [short(shortBefore135)] }).confidence,
    ).toBe('likely')
    expect(
      failingOf(unreachableGcLowThreshold, { imageGC: due, events: [short(shortBefore135)] })
        .confidence,
    ).toBe('certain')
  })

  it('cites what was asked and freed, once, beside what replay says', () => {
    const imageGC = { ...due, bytesToFree: 9, reachesLow: false, freedBytes: 0, shortfallBytes: 9 }
    const plain = failingOf(unreachableGcLowThreshold, { imageGC })
    const cited = failingOf(unreachableGcLowThreshold, { imageGC, events: [short(shortBefore135)] })
    expect(cited.consequence).toBe(`${cited.seen} ${plain.consequence}`)
    expect(cited.evidence.slice(plain.evidence.length)).toEqual([
      {
        kind: 'event',
        what: 'event FreeDiskSpaceFailed, 12 times since 2026-11-20 23:10 UTC, last at 2026-11-20 23:57 UTC',
        value: 'asked for 3.2 GiB, freed 1.0 KiB',
      },
    ])
  })
})

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
    expect(stateOf(unreachableGcLowThreshold, { imageGC })).toBe(expected)
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
    const bySpace = failingIn(unreachableGcLowThreshold, {
      imageGC: { ...short, deletions: [image('space')] },
    })
    expect(bySpace.confidence).toBe('certain')
    expect(bySpace.consequence).toMatchSnapshot()
    expect(
      failingIn(unreachableGcLowThreshold, { imageGC: { ...short, deletions: [image('age')] } })
        .confidence,
    ).toBe('likely')
  })
})
