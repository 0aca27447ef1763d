import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addQuantities,
  binaryQuantity,
  compareQuantities,
  quantityValue,
} from '#base/go/quantity.ts'
import type { Threshold } from '#model/prediction.ts'
import {
  getThresholdQuantity,
  isHardThreshold,
  isSameKey,
  isThresholdMet,
  mergeThresholds,
  parseThresholdConfig,
  type ThresholdConfiguration,
  thresholdsMet,
} from '#replay/eviction/thresholds.ts'

const GiB = 1024 ** 3

const hard = (signal: string, text: string) =>
  parseThresholdConfig({ evictionHard: { [signal]: text } })

function errorOf(configuration: ThresholdConfiguration): string {
  try {
    parseThresholdConfig(configuration)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

describe('parseThresholdConfig', () => {
  it.each([
    { text: '0%', kept: 0 },
    { text: '100%', kept: 0 },
    { text: '0.0%', kept: 1 },
    { text: '00%', kept: 1 },
    { text: '100.0%', kept: 1 },
  ])('trap 15: drops exactly 0% and 100%: $text leaves $kept', ({ text, kept }) => {
    expect(hard('nodefs.available', text)).toHaveLength(kept)
  })

  it.each([
    { text: '10%%', percentage: Math.fround(0.1) },
    { text: '1e1%', percentage: Math.fround(0.1) },
    { text: '0x1p3%', percentage: Math.fround(0.08) },
    { text: '1_0%', percentage: Math.fround(0.1) },
    { text: 'nan%', percentage: Number.NaN },
  ])('reads $text as Go does', ({ text, percentage }) => {
    expect(hard('nodefs.available', text)[0]?.value).toEqual({ percentage, text })
  })

  it.each([
    { text: '%', error: 'strconv.ParseFloat: parsing "": invalid syntax' },
    { text: ' 10%', error: 'strconv.ParseFloat: parsing " 10": invalid syntax' },
    { text: '1e50%', error: 'strconv.ParseFloat: parsing "1e50": value out of range' },
    { text: 'inf%', error: 'eviction percentage threshold nodefs.available must be <= 100%: inf%' },
    { text: '-1%', error: 'eviction percentage threshold nodefs.available must be >= 0%: -1%' },
    { text: '0Gi', error: 'eviction threshold nodefs.available must be positive: 0' },
    {
      text: '10MB',
      error:
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    },
  ])('refuses $text in the words of upstream', ({ text, error }) => {
    expect(errorOf({ evictionHard: { 'nodefs.available': text } })).toBe(error)
  })

  it('trap 15: a quantity of nothing is no way to switch a threshold off', () => {
    expect(errorOf({ evictionHard: { 'memory.available': '0' } })).toMatchSnapshot()
  })

  it('trap 16: takes the map for the whole truth, where one signal has taken the defaults of the others away', () => {
    expect(hard('memory.available', '100Mi').map(({ signal }) => signal)).toEqual([
      'memory.available',
    ])
  })

  it('trap 17: without evictionHard there are no hard thresholds, and trap 45: none of pid.available either', () => {
    expect(parseThresholdConfig({ enforceNodeAllocatable: ['pods'] })).toEqual([])
  })

  it.each([
    {
      what: 'a threshold',
      configuration: { evictionHard: { 'a.b': '1' } },
      error: 'unsupported eviction signal a.b',
    },
    {
      what: 'a soft threshold',
      configuration: { evictionSoft: { 'a.b': '1' } },
      error: 'unsupported eviction signal a.b',
    },
    {
      what: 'a grace period',
      configuration: { evictionSoftGracePeriod: { 'a.b': '1s' } },
      error: 'unsupported eviction signal a.b',
    },
    {
      what: 'a minimum reclaim',
      configuration: { evictionMinimumReclaim: { 'a.b': '1' } },
      error: 'unsupported eviction signal a.b',
    },
    {
      what: 'a negative grace period',
      configuration: { evictionSoftGracePeriod: { 'memory.available': '-1s' } },
      error: 'invalid eviction grace period specified: -1s, must be a positive value',
    },
    {
      what: 'a soft threshold without grace period',
      configuration: { evictionSoft: { 'memory.available': '1Gi' } },
      error: 'grace period must be specified for the soft eviction threshold memory.available',
    },
    {
      what: 'a minimum reclaim of no percent',
      configuration: { evictionMinimumReclaim: { 'memory.available': '0%' } },
      error: 'eviction percentage minimum reclaim memory.available must be positive: 0%',
    },
    {
      what: 'a negative minimum reclaim',
      configuration: { evictionMinimumReclaim: { 'memory.available': '-1' } },
      error: 'negative eviction minimum reclaim specified for memory.available',
    },
    {
      what: 'a percentage above 100',
      configuration: { evictionHard: { 'memory.available': '100.1%' } },
      error: 'eviction percentage threshold memory.available must be <= 100%: 100.1%',
    },
  ] as { what: string; configuration: ThresholdConfiguration; error: string }[])(
    'refuses $what',
    ({ configuration, error }) => {
      expect(errorOf(configuration)).toBe(error)
    },
  )

  it('gives the minimum reclaim to hard and soft alike, and takes more than 100 % of it', () => {
    const thresholds = parseThresholdConfig({
      evictionHard: { 'nodefs.available': '5%' },
      evictionSoft: { 'nodefs.available': '10%' },
      evictionSoftGracePeriod: { 'nodefs.available': '1m30s', 'pid.available': '1s' },
      evictionMinimumReclaim: { 'nodefs.available': '150%', 'pid.available': '0' },
    })
    expect(thresholds.map(({ gracePeriodMs, minReclaim }) => [gracePeriodMs, minReclaim])).toEqual([
      [0, { percentage: 1.5, text: '150%' }],
      [90_000, { percentage: 1.5, text: '150%' }],
    ])
  })

  it('takes no name of the language itself for a signal', () => {
    expect(errorOf({ evictionHard: { constructor: '10%' } })).toBe(
      'unsupported eviction signal constructor',
    )
  })

  it('holds pods to allocatable memory by the hard threshold, and by a soft one without grace', () => {
    const thresholds = parseThresholdConfig({
      enforceNodeAllocatable: ['pods'],
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '0s' },
    })
    expect(thresholds.map(threshold => [threshold.signal, isHardThreshold(threshold)])).toEqual([
      ['memory.available', true],
      ['allocatableMemory.available', true],
    ])
  })
})

describe('the allocatable memory of pods', () => {
  const configuration = (enforceNodeAllocatable: string[] | undefined): ThresholdConfiguration => ({
    enforceNodeAllocatable,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1Gi' },
    evictionSoft: { 'memory.available': '1Gi' },
    evictionSoftGracePeriod: { 'memory.available': '1m' },
    evictionMinimumReclaim: { 'memory.available': '10Mi' },
  })
  const ofPods = (enforced: string[] | undefined, flags?: { ignoresAllocatable?: boolean }) =>
    parseThresholdConfig(configuration(enforced), flags).filter(
      ({ signal }) => signal === 'allocatableMemory.available',
    )

  it('has the value and the minimum reclaim of the hard threshold', () => {
    expect(ofPods(['pods', 'kube-reserved'])).toMatchObject([
      {
        gracePeriodMs: 0,
        value: { text: '100Mi' },
        minReclaim: { text: '10Mi' },
        operator: 'LessThan',
      },
    ])
  })

  it.each([
    { enforced: undefined, flags: undefined },
    { enforced: [], flags: undefined },
    { enforced: ['none'], flags: undefined },
    { enforced: ['system-reserved'], flags: undefined },
    { enforced: ['pods'], flags: { ignoresAllocatable: true } },
  ])('has no threshold where $enforced is enforced, with $flags', ({ enforced, flags }) => {
    expect(ofPods(enforced, flags)).toEqual([])
  })
})

describe('getThresholdQuantity', () => {
  it('trap 13: takes a percentage as float32, as the kubelet does: 640 bytes more than plain arithmetic', () => {
    const [threshold] = hard('imagefs.available', '15%')
    expect(quantityValue(getThresholdQuantity(threshold!.value, 100 * GiB))).toBe(16_106_128_000n)
  })

  it('trap 13: keeps 1 % of 6553600 inodes just below 65536', () => {
    const [threshold] = hard('nodefs.inodesFree', '1%')
    expect(quantityValue(getThresholdQuantity(threshold!.value, 6_553_600))).toBe(65_535n)
  })
})

describe('thresholdsMet', () => {
  it.each([
    { available: 2 * GiB, met: false },
    { available: 1 * GiB, met: false }, // exactly at the threshold
    { available: 1 * GiB - 1, met: true },
  ])('trap 14: memory.available<1Gi with $available bytes left: $met', ({ available, met }) => {
    const thresholds = hard('memory.available', '1Gi')
    const observations = { 'memory.available': { available, capacity: 8 * GiB, time: null } }
    expect(thresholdsMet(thresholds, observations, false)).toEqual(met ? thresholds : [])
  })

  it('never meets a signal that is not observed, nor a threshold that is not a number', () => {
    expect(thresholdsMet(hard('pid.available', '10%'), {}, false)).toEqual([])
    expect(
      thresholdsMet(
        hard('pid.available', 'nan%'),
        { 'pid.available': { available: 0, capacity: 100, time: null } },
        false,
      ),
    ).toEqual([])
  })

  it('adds fractions before it compares, not after rounding each', () => {
    const thresholds = parseThresholdConfig({
      evictionHard: { 'pid.available': '500m' },
      evictionMinimumReclaim: { 'pid.available': '500m' },
    })
    expect(
      thresholdsMet(
        thresholds,
        { 'pid.available': { available: 1, capacity: 100, time: null } },
        true,
      ),
    ).toEqual([])
    expect(
      thresholdsMet(
        thresholds,
        { 'pid.available': { available: 0, capacity: 100, time: null } },
        true,
      ),
    ).toEqual(thresholds)
  })
})

describe('the minimum reclaim', () => {
  // The example of https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#minimum-eviction-reclaim
  const thresholds = parseThresholdConfig({
    evictionHard: {
      'memory.available': '500Mi',
      'nodefs.available': '1Gi',
      'imagefs.available': '100Gi',
    },
    evictionMinimumReclaim: {
      'memory.available': '0Mi',
      'nodefs.available': '500Mi',
      'imagefs.available': '2Gi',
    },
  })

  it.each([
    { signal: 'memory.available', until: 500 * 1024 ** 2 },
    { signal: 'nodefs.available', until: 1524 * 1024 ** 2 },
    { signal: 'imagefs.available', until: 102 * GiB },
  ] as const)('reclaims $signal until $until bytes are available', ({ signal, until }) => {
    const met = (available: number) =>
      thresholdsMet(thresholds, { [signal]: { available, capacity: 200 * GiB, time: null } }, true)
    expect(met(until - 1).map(threshold => threshold.signal)).toEqual([signal])
    expect(met(until)).toEqual([])
  })

  it('is of the observed capacity where it is a percentage, and counts only where it is asked for', () => {
    const [threshold] = parseThresholdConfig({
      evictionHard: { 'nodefs.available': '10' },
      evictionMinimumReclaim: { 'nodefs.available': '50%' },
    })
    const isMet = (available: number, isEnforced: boolean) =>
      isThresholdMet(threshold!, { available, capacity: 100, time: null }, isEnforced)
    expect([isMet(59, true), isMet(60, true), isMet(10, false), isMet(9, false)]).toEqual([
      true,
      false,
      false,
      true,
    ])
  })
})

describe('numbers that a double does not hold', () => {
  it.each([
    { text: '9007199254740993', available: 9_007_199_254_740_992, met: true },
    { text: '8Ei', available: 2 ** 62, met: true },
    { text: '1e300', available: 2 ** 62, met: true },
    { text: '1500m', available: 1, met: true },
    { text: '1500m', available: 2, met: false },
  ])('$text against $available: $met', ({ text, available, met }) => {
    expect(
      isThresholdMet(
        hard('nodefs.available', text)[0]!,
        { available, capacity: 2 ** 62, time: null },
        false,
      ),
    ).toBe(met)
  })

  it('are reclaimed beyond only where that is asked for', () => {
    const thresholds = parseThresholdConfig({
      evictionHard: { 'pid.available': '500m' },
      evictionMinimumReclaim: { 'pid.available': '5' },
    })
    expect(
      thresholdsMet(
        thresholds,
        { 'pid.available': { available: 1, capacity: 100, time: null } },
        false,
      ),
    ).toEqual([])
  })

  it('are added exactly, too', () => {
    const thresholds = parseThresholdConfig({
      evictionHard: { 'nodefs.available': '9007199254740991' },
      evictionMinimumReclaim: { 'nodefs.available': '2' },
    })
    expect(
      thresholdsMet(
        thresholds,
        { 'nodefs.available': { available: 2 ** 53, capacity: 2 ** 60, time: null } },
        true,
      ),
    ).toHaveLength(1)
  })

  it('decide as they do where a double holds them', () => {
    const value = fc.oneof(
      fc.integer({ min: 1, max: 2 ** 31 }).map(String),
      fc.integer({ min: 1, max: 99 }).map(percent => `${percent}%`),
      fc.constantFrom('1.5Gi', '100m', '3.7%', '16Ei', '9007199254740991'),
    )
    const natural = fc.maxSafeNat()
    fc.assert(
      fc.property(
        value,
        fc.option(value),
        fc.oneof(natural, fc.integer()),
        natural,
        fc.boolean(),
        (text, reclaim, available, capacity, isEnforced) => {
          const evictionMinimumReclaim: Record<string, string> =
            reclaim === null ? {} : { 'nodefs.available': reclaim }
          const [threshold] = parseThresholdConfig({
            evictionHard: { 'nodefs.available': text },
            evictionMinimumReclaim,
          })
          const { value: of, minReclaim } = threshold!
          const required = getThresholdQuantity(of, capacity)
          const all =
            isEnforced && minReclaim
              ? addQuantities(required, getThresholdQuantity(minReclaim, capacity))
              : required
          return (
            isThresholdMet(threshold!, { available, capacity, time: null }, isEnforced) ===
            compareQuantities(all, binaryQuantity(available)) > 0
          )
        },
      ),
    )
  })
})

describe('thresholds that are alike', () => {
  const of = (
    evictionHard: Record<string, string>,
    rest: ThresholdConfiguration = {},
  ): Threshold => {
    const [threshold] = parseThresholdConfig({ evictionHard, ...rest })
    if (!threshold) throw new Error('there is none')
    return threshold
  }
  const soft = (text: string, gracePeriod: string, minReclaim?: string): Threshold => {
    const [threshold] = parseThresholdConfig({
      evictionSoft: { 'nodefs.available': text },
      evictionSoftGracePeriod: { 'nodefs.available': gracePeriod },
      evictionMinimumReclaim: minReclaim === undefined ? {} : { 'nodefs.available': minReclaim },
    })
    if (!threshold) throw new Error('there is none')
    return threshold
  }
  const base = of({ 'nodefs.available': '1Gi' })

  it.each([
    { what: 'itself', other: base, added: 0 },
    {
      what: 'the same value written otherwise',
      other: of({ 'nodefs.available': '1024Mi' }),
      added: 0,
    },
    { what: 'a soft one without grace', other: soft('1Gi', '0s', '5Mi'), added: 0 },
    { what: 'one with grace', other: soft('1Gi', '1s'), added: 1 },
    { what: 'another value', other: of({ 'nodefs.available': '2Gi' }), added: 1 },
    { what: 'a percentage', other: of({ 'nodefs.available': '1%' }), added: 1 },
    { what: 'another signal', other: of({ 'imagefs.available': '1Gi' }), added: 1 },
  ])('are merged: $what adds $added', ({ other, added }) => {
    expect(mergeThresholds([base], [other])).toHaveLength(1 + added)
  })

  it('are merged as percentages, too', () => {
    const percent = of({ 'nodefs.available': '10%' })
    expect(mergeThresholds([percent], [of({ 'nodefs.available': '10.0%' })])).toHaveLength(1)
    expect(mergeThresholds([percent], [of({ 'nodefs.available': '11%' }), base])).toHaveLength(3)
  })

  it.each([
    { what: 'itself', a: base, b: base, is: true },
    {
      what: 'a quantity of two thresholds, which upstream holds by pointer',
      a: base,
      b: { ...base },
      is: false,
    },
    {
      what: 'one percentage',
      a: of({ 'nodefs.available': '10%' }),
      b: soft('10%', '0s'),
      is: true,
    },
    {
      what: 'two percentages',
      a: of({ 'nodefs.available': '10%' }),
      b: of({ 'nodefs.available': '11%' }),
      is: false,
    },
    {
      what: 'a percentage with grace',
      a: of({ 'nodefs.available': '10%' }),
      b: soft('10%', '1s'),
      is: false,
    },
    {
      what: 'a percentage and a quantity',
      a: of({ 'nodefs.available': '10%' }),
      b: base,
      is: false,
    },
    {
      what: 'one percentage with a minimum reclaim',
      a: of({ 'nodefs.available': '10%' }),
      b: soft('10%', '0s', '1Gi'),
      is: false,
    },
    {
      what: 'the same the other way round',
      a: soft('10%', '0s', '1Gi'),
      b: of({ 'nodefs.available': '10%' }),
      is: false,
    },
    {
      what: 'percentages of two signals',
      a: of({ 'nodefs.available': '10%' }),
      b: of({ 'imagefs.available': '10%' }),
      is: false,
    },
  ])('are one key: $what: $is', ({ a, b, is }) => {
    expect(isSameKey(a, b)).toBe(is)
  })
})
