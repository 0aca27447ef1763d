import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DurationError, formatDuration, parseDuration, toMilliseconds } from '#base/go/duration.ts'

function answer(text: string): string {
  try {
    return formatDuration(parseDuration(text))
  } catch (error) {
    if (!(error instanceof DurationError)) throw error
    return error.message
  }
}

describe('parseDuration and formatDuration', () => {
  it.each([
    ['0', '0s'],
    ['-0', '0s'],
    ['2m', '2m0s'],
    ['90s', '1m30s'],
    ['1.5h', '1h30m0s'],
    ['24h', '24h0m0s'],
    ['1h0.5s', '1h0m0.5s'],
    ['.5s', '500ms'],
    ['5.s', '5s'],
    ['1500ms', '1.5s'],
    ['0.1ms', '100\u00b5s'],
    ['1us', '1\u00b5s'],
    ['1\u03bcs', '1\u00b5s'],
    ['1ns', '1ns'],
    ['1.0000000001s', '1s'],
    ['-1h', '-1h0m0s'],
    ['2562047h47m16.854775807s', '2562047h47m16.854775807s'],
    ['-9223372036854775808ns', '-2562047h47m16.854775808s'],
  ])('reads %s as %s', (text, printed) => {
    expect(answer(text)).toBe(printed)
  })

  it.each([
    ['', 'time: invalid duration ""'],
    ['-', 'time: invalid duration "-"'],
    ['.s', 'time: invalid duration ".s"'],
    ['oops', 'time: invalid duration "oops"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['1m 30s', 'time: unknown unit "m " in duration "1m 30s"'],
    ['1\u00e9"', 'time: unknown unit "\\xc3\\xa9\\"" in duration "1\\xc3\\xa9\\""'],
    ['2562047h47m16.854775808s', 'time: invalid duration "2562047h47m16.854775808s"'],
    ['9223372036854775809ns', 'time: invalid duration "9223372036854775809ns"'],
  ])('refuses %s in the words of Go', (text, error) => {
    expect(answer(text)).toBe(error)
  })

  it('reads back what it prints', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), nanoseconds => {
        expect(parseDuration(formatDuration(nanoseconds))).toBe(nanoseconds)
      }),
    )
  })
})

describe('toMilliseconds', () => {
  it('keeps what is shorter as a fraction', () => {
    expect(toMilliseconds(parseDuration('1.5s'))).toBe(1500)
    expect(toMilliseconds(parseDuration('250us'))).toBe(0.25)
  })
})
