import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { formatDuration } from '#model/duration.ts'
import type { Observation, Signal, Threshold, ThresholdValue } from '#model/prediction.ts'
import { canonical, quantityValue } from '#model/quantity.ts'
import {
  getThresholdQuantity,
  isHardThreshold,
  isThresholdMet,
  parseThresholdConfig,
  type ThresholdConfiguration,
  thresholdsMet,
} from '#replay/eviction/thresholds.ts'
import { vectors } from '#test/vectors.ts'

const GiB = 1024 ** 3
const newest = featuresOf('v1.37.0')

const hard = (signal: string, text: string, features = newest) => parseThresholdConfig({ evictionHard: { [signal]: text } }, features)

function errorOf(configuration: ThresholdConfiguration, features = newest): string {
  try {
    parseThresholdConfig(configuration, features)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

const bySignalAndGrace = (a: Threshold, b: Threshold) =>
  a.signal < b.signal ? -1 : a.signal > b.signal ? 1 : a.gracePeriodMs - b.gracePeriodMs

const shownValue = (value: ThresholdValue) =>
  'quantity' in value
    ? { quantity: canonical(value.quantity), value: String(quantityValue(value.quantity)) }
    : { percentage: Number.isNaN(value.percentage) ? 'NaN' : value.percentage }

const shownGrace = ({ gracePeriodMs }: Threshold) => formatDuration(BigInt(Math.round(gracePeriodMs * 1e6)))

describe.each(vectors<ThresholdConfiguration, { ok: boolean; error?: string }>('thresholds'))('%s', (version, cases) => {
  it.each(cases)('thresholds: $name', ({ input, expected }) => {
    if (!expected.ok) {
      expect(errorOf(input, featuresOf(version))).toBe(expected.error)
      return
    }
    const thresholds = parseThresholdConfig(input, featuresOf(version)).sort(bySignalAndGrace)
    expect({
      ok: true,
      thresholds: thresholds.map(threshold => ({
        signal: threshold.signal,
        operator: threshold.operator,
        value: shownValue(threshold.value),
        gracePeriod: shownGrace(threshold),
        gracePeriodMs: threshold.gracePeriodMs,
        minReclaim: threshold.minReclaim && shownValue(threshold.minReclaim),
      })),
    }).toEqual(expected)
  })
})

interface MetInput {
  config: ThresholdConfiguration
  observations: Partial<Record<Signal, Omit<Observation, 'time'>>>
  enforceMinReclaim: boolean
}

describe.each(vectors<MetInput, unknown>('thresholds-met'))('%s', (version, cases) => {
  it.each(cases)('thresholds-met: $name', ({ input: { config, observations, enforceMinReclaim }, expected }) => {
    const shownQuantity = (value: ThresholdValue, capacity: number) => {
      const quantity = getThresholdQuantity(value, capacity)
      return { canonical: canonical(quantity), value: String(quantityValue(quantity)) }
    }
    const thresholds = parseThresholdConfig(config, featuresOf(version)).sort(bySignalAndGrace)
    expect({
      thresholds: thresholds.map(threshold => {
        const { signal, value, minReclaim } = threshold
        const observed = observations[signal]
        return {
          signal,
          gracePeriod: shownGrace(threshold),
          observed: observed !== undefined,
          quantity: observed === undefined ? null : shownQuantity(value, observed.capacity),
          minReclaim: observed === undefined || !minReclaim ? null : shownQuantity(minReclaim, observed.capacity),
          met: observed !== undefined && isThresholdMet(threshold, { ...observed, time: null }, enforceMinReclaim),
        }
      }),
    }).toEqual(expected)
  })
})

describe('parseThresholdConfig', () => {
  it.each([
    { text: '0%', kept: 0 },
    { text: '100%', kept: 0 },
    { text: '0.0%', kept: 1 },
    { text: '00%', kept: 1 },
    { text: '100.0%', kept: 1 },
  ])('drops exactly 0% and 100%: $text leaves $kept', ({ text, kept }) => {
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
    { text: '10MB', error: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
  ])('refuses $text in the words of upstream', ({ text, error }) => {
    expect(errorOf({ evictionHard: { 'nodefs.available': text } })).toBe(error)
  })

  it('knows the signals of containerfs from 1.29 on', () => {
    expect(hard('containerfs.available', '10%', featuresOf('v1.29.0'))).toHaveLength(1)
    expect(errorOf({ evictionHard: { 'containerfs.available': '10%' } }, featuresOf('v1.28.15'))).toBe(
      'unsupported eviction signal containerfs.available',
    )
  })

  it('takes no name of the language itself for a signal', () => {
    expect(errorOf({ evictionHard: { constructor: '10%' } })).toBe('unsupported eviction signal constructor')
  })

  it('holds pods to allocatable memory by the hard threshold, and by a soft one without grace', () => {
    const thresholds = parseThresholdConfig(
      {
        enforceNodeAllocatable: ['pods'],
        evictionSoft: { 'memory.available': '1Gi' },
        evictionSoftGracePeriod: { 'memory.available': '0s' },
      },
      newest,
    )
    expect(thresholds.map(threshold => [threshold.signal, isHardThreshold(threshold)])).toEqual([
      ['memory.available', true],
      ['allocatableMemory.available', true],
    ])
  })
})

describe('getThresholdQuantity', () => {
  it('takes a percentage as float32, as the kubelet does: 640 bytes more than plain arithmetic', () => {
    const [threshold] = hard('imagefs.available', '15%')
    expect(quantityValue(getThresholdQuantity(threshold!.value, 100 * GiB))).toBe(16_106_128_000n)
  })

  it('keeps 1 % of 6553600 inodes just below 65536', () => {
    const [threshold] = hard('nodefs.inodesFree', '1%')
    expect(quantityValue(getThresholdQuantity(threshold!.value, 6_553_600))).toBe(65_535n)
  })
})

describe('thresholdsMet', () => {
  it.each([
    { available: 2 * GiB, met: false },
    { available: 1 * GiB, met: false }, // exactly at the threshold
    { available: 1 * GiB - 1, met: true },
  ])('memory.available<1Gi with $available bytes left: $met', ({ available, met }) => {
    const thresholds = hard('memory.available', '1Gi')
    const observations = { 'memory.available': { available, capacity: 8 * GiB, time: null } }
    expect(thresholdsMet(thresholds, observations, false)).toEqual(met ? thresholds : [])
  })

  it('never meets a signal that is not observed, nor a threshold that is not a number', () => {
    expect(thresholdsMet(hard('pid.available', '10%'), {}, false)).toEqual([])
    expect(thresholdsMet(hard('pid.available', 'nan%'), { 'pid.available': { available: 0, capacity: 100, time: null } }, false)).toEqual(
      [],
    )
  })

  it('adds fractions before it compares, not after rounding each', () => {
    const thresholds = parseThresholdConfig(
      { evictionHard: { 'pid.available': '500m' }, evictionMinimumReclaim: { 'pid.available': '500m' } },
      newest,
    )
    expect(thresholdsMet(thresholds, { 'pid.available': { available: 1, capacity: 100, time: null } }, true)).toEqual([])
    expect(thresholdsMet(thresholds, { 'pid.available': { available: 0, capacity: 100, time: null } }, true)).toEqual(thresholds)
  })
})
