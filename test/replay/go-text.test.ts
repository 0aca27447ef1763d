import { describe, expect, it } from 'vitest'
import { atoi, goFloat, goQuote, parseFloat32 } from '#replay/go-text.ts'

const errorOf = (read: () => unknown): string => {
  try {
    return `read ${String(read())}`
  } catch (error) {
    return (error as Error).message
  }
}

describe('parseFloat32', () => {
  it.each([
    ['10', 10],
    ['-0.5', -0.5],
    ['1e1', 10],
    ['0x1p3', 8],
    ['0x.8p1', 1],
    ['0x_1p1_0', 1024],
    ['1_000.5', 1000.5],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-inf', Number.NEGATIVE_INFINITY],
    ['nan', Number.NaN],
    ['3.4028235677973366e38', 3.4028234663852886e38],
    ['1e-46', 0],
    ['0e99999999', 0],
    // Between two floats, just above the middle: by way of a double it would be rounded down.
    ['1.00000017881393432617187501', Math.fround(1.000000238418579)],
    ['1.00000017881393432617187499', Math.fround(1.0000001192092896)],
  ])('reads %s as %d', (text, value) => {
    expect(parseFloat32(text)).toBe(value)
  })

  it.each(['', ' 1', '1 ', '.', 'e5', '1e', '1__0', '_1', '1_', '0x1', '0xp1', '+nan', 'infinit', '1,5'])('refuses %j', text => {
    expect(errorOf(() => parseFloat32(text))).toBe(`strconv.ParseFloat: parsing "${text}": invalid syntax`)
  })

  it.each(['3.4028235677973367e38', '1e999999999999', '0x1p128'])('says that %s is out of range', text => {
    expect(errorOf(() => parseFloat32(text))).toBe(`strconv.ParseFloat: parsing "${text}": value out of range`)
  })
})

describe('atoi', () => {
  it.each([
    ['+5', 'read 5'],
    ['-5', 'read -5'],
    ['a', 'strconv.Atoi: parsing "a": invalid syntax'],
    ['', 'strconv.Atoi: parsing "": invalid syntax'],
    ['9223372036854775808', 'strconv.Atoi: parsing "9223372036854775808": value out of range'],
  ])('%j: %s', (text, answer) => {
    expect(errorOf(() => atoi(text))).toBe(answer)
  })
})

describe('goQuote', () => {
  it.each([
    ['plain \u00e9', '"plain \u00e9"'],
    ['"\\', '"\\"\\\\"'],
    ['\n\t\u0000\u007f', '"\\n\\t\\x00\\x7f"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['\u{e0001}', '"\\U000e0001"'],
  ])('%j is %s', (text, quoted) => {
    expect(goQuote(text)).toBe(quoted)
  })
})

describe('goFloat', () => {
  it.each([
    [0, '0'],
    [1.5, '1.5'],
    [-0.1, '-0.1'],
    [0.00001, '1e-05'],
    [1e21, '1e+21'],
    [123_456, '123456'],
  ])('%d is %s', (value, text) => {
    expect(goFloat(value)).toBe(text)
  })
})
