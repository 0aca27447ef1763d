import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  formatRange,
  formatUtc,
  plural,
} from '#report/text.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1,023 B'],
    [1024, '1.0 KiB'],
    [1024 ** 3 - 1, '1.0 GiB'], // never 1024.0 MiB
    [85_886_742_528, '80.0 GiB'],
    [-(1024 ** 3), '-1.0 GiB'],
    [2 ** 60, '1024.0 PiB'],
  ])('%d bytes read %s', (bytes, text) => expect(plain(formatBytes(bytes))).toBe(text))

  it('keeps the unit on the line of its number', () =>
    expect(formatBytes(1024)).toBe('1.0\u00a0KiB'))
  it.each([null, Number.NaN, Number.POSITIVE_INFINITY])('%s reads unknown, not 0', value => {
    expect(formatBytes(value)).toBe('unknown')
    expect(formatCount(value)).toBe('unknown')
    expect(formatPercent(value)).toBe('unknown')
    expect(formatDuration(value)).toBe('unknown')
  })
})

describe('formatPercent', () => {
  it.each([
    [0, '0 %'],
    [0.01, '<0.1 %'],
    [84, '84 %'],
    [84.25, '84.3 %'],
    [99.97, '99.9 %'], // something is free
    [100, '100 %'],
  ])('%d reads %s', (percent, text) => expect(plain(formatPercent(percent))).toBe(text))
})

describe('formatDuration', () => {
  it.each([
    [0, '0 s'],
    [500, '500 ms'],
    [90_000, '1 min 30 s'],
    [300_000, '5 min'],
    [3_600_000, '1 h'],
    [90_061_000, '1 d 1 h'],
    [-1, 'unknown'],
  ])('%d ms reads %s', (durationMs, text) => expect(plain(formatDuration(durationMs))).toBe(text))
})

describe('formatUtc', () => {
  it('says the zone, whatever zone the time was written in', () => {
    expect(formatUtc('2026-11-21T09:05:59+02:00')).toBe('2026-11-21 07:05 UTC')
  })
  it.each([null, '', 'yesterday'])('%j is unknown', time => expect(formatUtc(time)).toBe('unknown'))
})

it('counts in singular and plural', () => {
  expect([plural(1, 'node'), plural(0, 'node'), plural(5000, 'node')]).toEqual([
    '1 node',
    '0 nodes',
    '5,000 nodes',
  ])
})

describe('formatRange', () => {
  const GiB = 1024 ** 3
  it.each([
    [10 * GiB, 40 * GiB, '10.0–40.0 GiB'],
    [10 * GiB, 10 * GiB + 1, '10.0 GiB'], // alike as shown
    [512 * 1024 ** 2, 2 * GiB, '512.0 MiB–2.0 GiB'],
    [0, 2 * GiB, '0 B–2.0 GiB'],
  ])('%d to %d bytes read %s', (low, high, text) =>
    expect(plain(formatRange(low, high, formatBytes))).toBe(text),
  )

  it('has no unit where there is none', () =>
    expect(formatRange(1, 2000, formatCount)).toBe('1–2,000'))
})
