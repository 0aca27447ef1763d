import { describe, expect, it } from 'vitest'
import { outcomeOf } from '#judge/outcome.ts'
import type { NodeRule } from '#judge/rule.ts'
import { alertBeforeImageGc } from '#judge/rules/image-gc/alert-before-image-gc.ts'
import { evictionBeforeImageGc } from '#judge/rules/image-gc/eviction-before-image-gc.ts'
import { imageGcDisabled } from '#judge/rules/image-gc/image-gc-disabled.ts'
import { imageGcDue } from '#judge/rules/image-gc/image-gc-due.ts'
import { unreachableGcLowThreshold } from '#judge/rules/image-gc/unreachable-gc-low-threshold.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { EvaluatedThreshold, ImageDeletion } from '#model/prediction.ts'
import {
  exampleCapacityBytes,
  exampleSubject,
  hard,
  type NodeExample,
  soft,
} from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const gibibyte = 1024 ** 3

const judge = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  outcomeOf(rule, exampleSubject(example), policy)
const state = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  judge(rule, example, policy).state
const failingOf = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) => {
  const outcome = judge(rule, example, policy)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

const gc = (high: number, low = high - 5) => ({
  enabled: high < 100,
  highThresholdPercent: high,
  lowThresholdPercent: low,
})
const imagefs = (gib: number) => [hard('imagefs.available', gib)]
const nodefs = (gib: number) => [hard('nodefs.available', gib)]
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
    ['a threshold that is never met', gc(100), imagefs(0), 'pass'],
    ['image GC switched off, eviction at 5 %', gc(100), imagefs(5), 'fail'],
    ['image GC switched off, nothing evicts', gc(100), [], 'pass'],
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
    const outcome = judge(evictionBeforeImageGc, {
      imageGC: gc(85),
      thresholds,
      unread: { summary: 'HTTP 500' },
    })
    expect(outcome).toEqual({ state: 'unknown', reason: 'summary: HTTP 500' })
  })

  it('fails without bytes where image GC is off: any threshold comes first', () => {
    const outcome = failingOf(evictionBeforeImageGc, {
      imageGC: gc(100),
      thresholds: unresolved(imagefs(15)),
      filesystems: { imagefs: null },
    })
    expect(outcome.title).toContain('switched off')
    expect(outcome.fix).toBeUndefined()
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

  it('takes the growth from the policy', () => {
    const policy = { ...defaultPolicy, assumedGrowthPercent: 7 }
    expect(state(evictionBeforeImageGc, { imageGC: gc(85), thresholds: nodefs(10) }, policy)).toBe(
      'fail',
    )
  })

  it('names how far one is from the other, and no time at assumed growth', () => {
    const told = (high: number, growth = 2) => {
      const outcome = judge(
        evictionBeforeImageGc,
        { imageGC: gc(high), thresholds: imagefs(15) },
        { ...defaultPolicy, assumedGrowthPercent: growth },
      )
      if (outcome.state !== 'fail') throw new Error(outcome.state)
      return outcome.failing.consequence
    }
    expect(told(85)).toContain('(1 % of the disk)')
    expect(told(90)).toContain('4.0 GiB later')
    expect(told(86)).not.toContain('later')
    expect(told(90, 0)).toContain('4.0 GiB later')
  })

  it('tells the bytes, who acts first and by how much', () => {
    const { evidence } = failingOf(evictionBeforeImageGc, {
      imageGC: gc(85),
      thresholds: [asPercent('imagefs.available', 15)],
    })
    expect(evidence).toEqual(
      expect.arrayContaining([
        { kind: 'computed', what: 'image GC starts below', value: '17179869184 bytes (16.0 GiB)' },
        {
          kind: 'computed',
          what: 'imagefs.available is met below',
          value: '16106128000 bytes (15.0 GiB)',
        },
        {
          kind: 'computed',
          what: 'acts first',
          value: 'image GC, unless the margin fills within its period',
        },
        {
          kind: 'computed',
          what: 'margin',
          value: '1073741184 bytes (1024.0 MiB), 1 % of the capacity',
        },
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

describe('alert-before-image-gc', () => {
  it.each([
    [79, 'pass'],
    [80, 'pass'],
    [81, 'pass'],
    [82, 'fail'],
    [85, 'fail'],
    [100, 'notApplicable'],
  ])('with an alert at 80 and a high threshold of %i: %s', (high, expected) => {
    expect(state(alertBeforeImageGc, { imageGC: gc(high) })).toBe(expected)
  })

  it('does not repeat image-gc-disabled, and speaks where a maximum age keeps image GC running', () => {
    expect(state(imageGcDisabled, { imageGC: gc(100) })).toBe('fail')
    expect(state(alertBeforeImageGc, { imageGC: { ...gc(100), enabled: true } })).toBe('fail')
  })

  it('takes the alert from the policy', () => {
    expect(
      state(alertBeforeImageGc, { imageGC: gc(85) }, { ...defaultPolicy, alertPercent: 84 }),
    ).toBe('pass')
    expect(
      failingOf(alertBeforeImageGc, { imageGC: gc(85) }, { ...defaultPolicy, alertPercent: 83.5 })
        .evidence[0]?.value,
    ).toBe('83.5')
  })

  it('proposes percentages that are sound beside eviction, too', () => {
    expect(
      failingOf(alertBeforeImageGc, { imageGC: gc(85), thresholds: nodefs(10) }).fix?.config
        .imageGCHighThresholdPercent,
    ).toBe(80)
    expect(
      failingOf(alertBeforeImageGc, { imageGC: gc(85), thresholds: nodefs(30) }).fix?.config
        .imageGCHighThresholdPercent,
    ).toBe(66)
  })
})

describe('image-gc-due', () => {
  it.each([
    [true, 'fail'],
    [false, 'pass'],
    [null, 'unknown'],
  ])('with triggered %s: %s', (triggered, expected) => {
    expect(state(imageGcDue, { imageGC: { triggered } })).toBe(expected)
  })

  const going = (
    name: string,
    gib: number,
    rank: number,
    certainty: 'certain' | 'possible' = 'certain',
  ): ImageDeletion => ({
    image: `sha256:${name}`,
    names: [`docker.io/library/${name}:1`],
    sizeBytes: gib * gibibyte,
    rank,
    reason: 'space',
    certainty,
  })
  const due = { triggered: true, bytesToFree: 8 * gibibyte }

  it('deletes nothing where nothing can go, and leaves what follows to unreachable-gc-low-threshold', () => {
    const imageGC = { ...due, deletions: [], reachesLow: false, freedBytes: 0, error: 'too little' }
    const { title, consequence } = failingOf(imageGcDue, { imageGC })
    expect(title).toMatchSnapshot()
    expect(consequence).toContain('deletes none')
    expect(consequence).not.toContain('freed')
    expect(outcomeFor(unreachableGcLowThreshold, { imageGC }).state).toBe('fail')
  })

  it('names what goes, by replay: first what goes first', () => {
    const imageGC = {
      ...due,
      deletions: [going('redis', 20, 1), going('nginx', 2, 0)],
      reachesLow: true,
      freedBytes: 22 * gibibyte,
    }
    const failing = failingOf(imageGcDue, { imageGC })
    expect(failing).toMatchObject({ confidence: 'certain' })
    expect(failing.consequence).toMatchSnapshot()
    expect(failing.evidence).toContainEqual({
      kind: 'computed',
      what: 'image GC deletes',
      value: 'docker.io/library/nginx:1, 2147483648 bytes (2.0 GiB)',
    })
  })

  it('is only likely where which image goes, or whether one does, is not fixed', () => {
    const unsure = {
      ...due,
      deletions: [going('redis', 20, 0, 'possible')],
      reachesLow: null,
      freedBytes: null,
    }
    expect(failingOf(imageGcDue, { imageGC: unsure })).toMatchObject({
      confidence: 'likely',
      consequence: expect.stringContaining(
        'may delete 1 image, docker.io/library/redis:1 (20.0 GiB), until it has counted 8.0 GiB freed',
      ),
    })
    expect(failingOf(imageGcDue, { imageGC: { ...due, deletions: null } })).toMatchObject({
      confidence: 'likely',
      consequence: expect.stringContaining('which they are is not known'),
    })
  })

  it('does not apply where image GC is off', () => {
    expect(state(imageGcDue, { imageGC: { ...gc(100), triggered: null } })).toBe('notApplicable')
  })

  it("passes on upstream's own words where there are any", () => {
    const outcome = judge(imageGcDue, {
      imageGC: { triggered: null, error: 'invalid capacity 0 on image filesystem' },
    })
    expect(outcome).toMatchSnapshot()
    expect(
      judge(imageGcDue, {
        imageGC: { triggered: false, error: 'invalid capacity 0 on image filesystem' },
      }),
    ).toEqual(outcome)
  })
})
