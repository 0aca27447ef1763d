import { describe, expect, it } from 'vitest'
import { evictionBeforeImageGc } from '#judge/rules/image-gc/eviction-before-image-gc.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'
import { exampleCapacityBytes, gc, hard, nodefs, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, state } from '#test/rule-outcome.ts'

itJudgesExamples(evictionBeforeImageGc, {
  bad: {
    imageGC: { highThresholdPercent: 85, lowThresholdPercent: 80 },
    thresholds: [hard('imagefs.available', 15)],
  },
  good: {
    imageGC: { highThresholdPercent: 70, lowThresholdPercent: 50 },
    thresholds: [hard('imagefs.available', 10)],
  },
})

const imagefs = (gib: number) => [hard('imagefs.available', gib)]

const unresolved = (thresholds: EvaluatedThreshold[]) =>
  thresholds.map(threshold => ({ ...threshold, resolved: null, met: null, margin: null }))

/** As the kubelet resolves it: float32, then cut. */
const asPercent = (signal: 'imagefs.available', percent: number): EvaluatedThreshold => ({
  ...hard(signal, percent),
  value: `${percent}%`,
  resolved: Math.trunc(exampleCapacityBytes * Math.fround(Math.fround(percent) / 100)),
})

describe('eviction-before-image-gc', () => {
  it.each([
    ['the defaults of the kubelet, 15 % beside 85: 1 % apart', gc(85), imagefs(15), 'fail'],
    ['the defaults of EKS, 10 % beside 85: 6 % apart', gc(85), nodefs(10), 'pass'],
    ['10 % beside 70', gc(70), imagefs(10), 'pass'],
    ['both at the same point', gc(86), imagefs(15), 'fail'],
    ['eviction first', gc(90), imagefs(15), 'fail'],
    ['exactly 2 % apart', gc(85), imagefs(14), 'pass'],
    [
      'exactly 2 % apart, written as a percentage, which float32 makes 64 bytes more',
      gc(85),
      [asPercent('imagefs.available', 14)],
      'pass',
    ],
    ['1 % apart, written as a percentage', gc(85), [asPercent('imagefs.available', 15)], 'fail'],
    [
      'one byte less than 2 % apart',
      gc(85),
      [{ ...hard('imagefs.available', 14), resolved: 14 * 1024 ** 3 + 1 }],
      'fail',
    ],
    ['a soft threshold', gc(85), [soft('imagefs.available', 20, 60_000)], 'fail'],
    ['no threshold on the image filesystem', gc(85), [hard('memory.available', 90)], 'pass'],
    ['a threshold that is never met', gc(99), imagefs(0), 'pass'],
    ['image GC that is off, as image-gc-disabled reports', gc(100), imagefs(5), 'notApplicable'],
  ] as const)('%s: %s', (_, imageGC, thresholds, expected) => {
    expect(state(evictionBeforeImageGc, { imageGC, thresholds: [...thresholds] })).toBe(expected)
  })

  it.each([
    ['shared', nodefs(15), 'fail'],
    ['imagefs', nodefs(15), 'pass'],
    ['split', nodefs(15), 'pass'],
    [null, nodefs(15), 'unknown'],
    [null, nodefs(5), 'pass'],
    [null, [...nodefs(15), ...imagefs(15)], 'fail'],
    ['imagefs', imagefs(15), 'fail'],
    ['split', imagefs(15), 'fail'],
  ] as const)(
    'asks on layout %s only the thresholds that watch images',
    (layout, thresholds, expected) => {
      expect(
        state(evictionBeforeImageGc, {
          imageGC: gc(85),
          thresholds: [...thresholds],
          filesystems: { layout },
        }),
      ).toBe(expected)
    },
  )

  it('is unknown where bytes are, even if another threshold is sound', () => {
    const thresholds = [...unresolved(imagefs(15)), ...nodefs(5)]
    const outcome = outcomeFor(evictionBeforeImageGc, {
      imageGC: gc(85),
      thresholds,
      unread: { summary: 'HTTP 500' },
    })
    expect(outcome).toEqual({ state: 'unknown', reason: 'summary: HTTP 500' })
  })

  it('is as certain as the layout where only nodefs tells', () => {
    const likely = { layoutCertainty: 'likely' } as const
    expect(
      failingOf(evictionBeforeImageGc, {
        imageGC: gc(85),
        thresholds: nodefs(15),
        filesystems: likely,
      }).confidence,
    ).toBe('likely')
    expect(
      failingOf(evictionBeforeImageGc, { imageGC: gc(85), thresholds: nodefs(15) }).confidence,
    ).toBe('certain')
    expect(
      failingOf(evictionBeforeImageGc, {
        imageGC: gc(85),
        thresholds: imagefs(15),
        filesystems: likely,
      }).confidence,
    ).toBe('certain')
  })

  it.each([
    [59, 'medium'],
    [60, 'high'],
  ] as const)('on a disk at %i %% is of severity %s', (usedPercent, severity) => {
    const availableBytes = (exampleCapacityBytes * (100 - usedPercent)) / 100
    const disk = { capacityBytes: exampleCapacityBytes, availableBytes, usedPercent }
    const { severity: own = evictionBeforeImageGc.severity } = failingOf(evictionBeforeImageGc, {
      imageGC: gc(85),
      thresholds: imagefs(15),
      filesystems: { imagefs: { ...disk, inodes: null, inodesFree: null } },
    })
    expect(own).toBe(severity)
  })

  it('takes the growth from the policy', () => {
    const policy = { ...defaultPolicy, assumedGrowthPercent: 7 }
    expect(state(evictionBeforeImageGc, { imageGC: gc(85), thresholds: nodefs(10) }, policy)).toBe(
      'fail',
    )
  })

  it('names how far one is from the other, and no time at assumed growth', () => {
    const evidenceText = (high: number, growth = 2) => {
      const outcome = outcomeFor(
        evictionBeforeImageGc,
        { imageGC: gc(high), thresholds: imagefs(15) },
        { ...defaultPolicy, assumedGrowthPercent: growth },
      )
      if (outcome.state !== 'fail') throw new Error(outcome.state)
      return outcome.failing.consequence
    }
    expect(evidenceText(85)).toContain('(1 % of the disk)')
    expect(evidenceText(90)).toContain('4.0 GiB later')
    expect(evidenceText(86)).not.toContain('later')
    expect(evidenceText(90, 0)).toContain('4.0 GiB later')
  })

  it('tells the bytes, who acts first and by how much', () => {
    const { evidence } = failingOf(evictionBeforeImageGc, {
      imageGC: gc(85),
      thresholds: [asPercent('imagefs.available', 15)],
    })
    expect(evidence).toEqual(
      expect.arrayContaining([
        { kind: 'computed', what: 'image GC starts below', value: '16.0 GiB', bytes: 17179869184 },
        {
          kind: 'computed',
          what: 'imagefs.available is met below',
          value: '15.0 GiB',
          bytes: 16106128000,
        },
        {
          kind: 'computed',
          what: 'acts first',
          value: 'image GC, unless the margin fills within its period',
        },
        { kind: 'computed', what: 'margin', value: '1.0 GiB, 1 % of the capacity' },
      ]),
    )
  })

  it.each([
    [15, 80],
    [20, 76],
    [30, 66],
  ])('proposes beside eviction at %i %% a high threshold of %i, which then passes', (gib, high) => {
    const { fix } = failingOf(evictionBeforeImageGc, { imageGC: gc(95), thresholds: imagefs(gib) })
    expect(fix?.config).toEqual({
      imageGCHighThresholdPercent: high,
      imageGCLowThresholdPercent: high - 10,
    })
    expect(state(evictionBeforeImageGc, { imageGC: gc(high), thresholds: imagefs(gib) })).toBe(
      'pass',
    )
  })

  it('takes a threshold of three times the default for the cause, and restores the default', () => {
    const raised = hard('nodefs.available', 45)
    const signals = { 'nodefs.available': { capacityBytes: exampleCapacityBytes } }
    const judged = (threshold: EvaluatedThreshold) =>
      failingOf(evictionBeforeImageGc, {
        ...{ imageGC: gc(85), thresholds: [threshold], eviction: { signals } as never },
      })
    expect(judged(raised)).toMatchObject({
      cause: { kind: 'setting', fields: ['evictionHard.nodefs.available'] },
      fix: { config: { evictionHard: { 'nodefs.available': '10%' } } },
    })
    const patient = { ...raised, hard: false, gracePeriodMs: 30_000 }
    expect(judged(patient)).toMatchObject({
      cause: { kind: 'setting', fields: ['evictionSoft.nodefs.available'] },
      steps: [{ id: 'set-fields' }],
      fix: { config: { evictionSoft: { 'nodefs.available': '13%' } } },
    })
  })

  it('proposes nothing where image GC would have to run all the time', () => {
    expect(
      failingOf(evictionBeforeImageGc, { imageGC: gc(85), thresholds: imagefs(80) }).fix,
    ).toBeUndefined()
  })
})

describe('eviction-before-image-gc by a soft threshold', () => {
  it.each([
    ['behind the trigger, its grace longer than two rounds of image GC', 15, 600_000, 'pass'],
    ['behind the trigger, without much of a grace', 15, 30_000, 'fail'],
    ['before the trigger, however long it waits', 17, 3_600_000, 'fail'],
  ])('%s', (_, gib, gracePeriodMs, expected) => {
    expect(
      state(evictionBeforeImageGc, {
        imageGC: gc(85),
        thresholds: [soft('nodefs.available', gib, gracePeriodMs)],
      }),
    ).toBe(expected)
  })
})
