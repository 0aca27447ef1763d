import { describe, expect, it } from 'vitest'
import {
  calculateEffectiveGracePeriod,
  gracePeriodOverride,
  killTimeoutMs,
} from '#replay/eviction/synchronize.ts'
import { kubeletOf } from '#replay/times.ts'
import { pod } from '#test/eviction-builder.ts'

const own = (terminationGracePeriodSeconds?: number) => pod('a', { terminationGracePeriodSeconds })
const deleting = (deletionGracePeriodSeconds: number, terminationGracePeriodSeconds = 30) =>
  pod(
    'a',
    { terminationGracePeriodSeconds },
    { metadata: { deletionTimestamp: '2026-11-21T00:00:00Z', deletionGracePeriodSeconds } },
  )

describe('gracePeriodOverride', () => {
  it.each([
    { version: 'v1.30.14', hard: 0, none: 0, long: 120, short: 120, unset: 120 },
    { version: 'v1.31.14', hard: 1, none: 0, long: 120, short: 120, unset: 120 },
    { version: 'v1.32.0', hard: 1, none: 0, long: 120, short: 30, unset: 120 },
    { version: 'v1.37.0', hard: 1, none: 0, long: 120, short: 30, unset: 120 },
  ])(
    'trap 28: $version asks for $hard s where it is hard',
    ({ version, hard, none, long, short, unset }) => {
      const kubelet = kubeletOf(version)
      expect({
        hard: gracePeriodOverride(true, own(30), 120, kubelet),
        none: gracePeriodOverride(false, own(30), 0, kubelet),
        long: gracePeriodOverride(false, own(300), 120, kubelet),
        short: gracePeriodOverride(false, own(30), 120, kubelet),
        unset: gracePeriodOverride(false, own(), 120, kubelet),
      }).toEqual({ hard, none, long, short, unset })
    },
  )
})

describe('the gate that lets a soft eviction last longer than the pod allows', () => {
  it.each([
    { version: 'v1.32.0', seconds: 120 },
    { version: 'v1.34.4', seconds: 120 },
    { version: 'v1.35.0', seconds: 30 },
  ])('$version gives $seconds s', ({ version, seconds }) => {
    const kubelet = kubeletOf(version, { AllowOverwriteTerminationGracePeriodSeconds: true })
    expect(gracePeriodOverride(false, own(30), 120, kubelet)).toBe(seconds)
  })
})

describe('calculateEffectiveGracePeriod', () => {
  it.each([
    { what: 'the own period', pod: own(30), overrideSeconds: 0, to130: 30, from131: 1 },
    { what: 'no own period', pod: own(), overrideSeconds: 0, to130: 1, from131: 1 },
    { what: 'an own period of 0', pod: own(0), overrideSeconds: 0, to130: 1, from131: 1 },
    { what: 'an override', pod: own(30), overrideSeconds: 5, to130: 5, from131: 5 },
    { what: 'a longer override', pod: own(30), overrideSeconds: 90, to130: 90, from131: 90 },
    { what: 'a negative override', pod: own(30), overrideSeconds: -5, to130: 1, from131: 1 },
    { what: 'a shorter deletion', pod: deleting(3), overrideSeconds: 90, to130: 3, from131: 3 },
    { what: 'a longer deletion', pod: deleting(60), overrideSeconds: 1, to130: 1, from131: 1 },
    {
      what: 'a deletion and an override of 0',
      pod: deleting(10),
      overrideSeconds: 0,
      to130: 30,
      from131: 1,
    },
    { what: 'a deletion at once', pod: deleting(0), overrideSeconds: 20, to130: 20, from131: 20 },
  ])(
    'trap 28: $what: $to130 s up to 1.30, $from131 s after',
    ({ pod: given, overrideSeconds, to130, from131 }) => {
      const seconds = (version: string) =>
        calculateEffectiveGracePeriod(given, overrideSeconds, kubeletOf(version))
      expect([seconds('v1.30.14'), seconds('v1.31.0')]).toEqual([to130, from131])
    },
  )
})

describe('how long a pass waits', () => {
  it.each([
    { seconds: 0, ms: 10_000 },
    { seconds: 1, ms: 10_000 },
    { seconds: 6, ms: 10_000 },
    { seconds: 7, ms: 10_000 }, // 7 and half of it, cut
    { seconds: 8, ms: 12_000 },
    { seconds: 31, ms: 46_000 },
  ])('an override of $seconds s: $ms ms for the pod', ({ seconds, ms }) => {
    expect(killTimeoutMs(seconds)).toBe(ms)
  })
})
