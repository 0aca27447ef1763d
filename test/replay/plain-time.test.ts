import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainUtcMs } from '#replay/times.ts'

describe('plainUtcMs', () => {
  it.each([
    '2026-11-20T23:00:00Z',
    '2026-11-20T23:00:00.123Z',
    '1970-01-01T00:00:00Z',
    '0100-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '2024-02-29T00:00:00.000Z',
    '2023-02-31T09:19:10.001Z',
  ])('reads %s as Date.parse does', text => {
    expect(plainUtcMs(text)).toBe(Date.parse(text))
  })

  it.each([
    '',
    '2026-11-20',
    '2026-11-20T23:00:00',
    '2026-11-20T23:00:00z',
    '2026-11-20t23:00:00Z',
    '2026-11-20 23:00:00Z',
    '2026/11-20T23:00:00Z',
    '2026-11/20T23:00:00Z',
    '2026-11-20T23.00:00Z',
    '2026-11-20T23:00.00Z',
    '2026-11-20T23:00:00.1Z',
    '2026-11-20T23:00:00.1234Z',
    '2026-11-20T23:00:00,123Z',
    '2026-11-20T23:00:00.12xZ',
    '2026-11-20T23:00:00.12/Z',
    '2026-11-20T23:00:00.12:Z',
    '2026-11-20T23:00:00+00:00',
    '2026-11-20T23:00:00.1230',
    '0001-01-01T00:00:00Z',
    '0099-12-31T23:59:59Z',
    '2026-00-20T23:00:00Z',
    '2026-13-20T23:00:00Z',
    '2026-11-00T23:00:00Z',
    '2026-11-32T23:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T23:60:00Z',
    '2026-11-20T23:00:60Z',
  ])('leaves %j to others', text => {
    expect(plainUtcMs(text)).toBeNaN()
  })

  it('agrees with Date on every moment from the year 100 on', () => {
    const date = fc.date({
      min: new Date('0100-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(fc.property(date, moment => plainUtcMs(moment.toISOString()) === moment.getTime()))
  })
})
