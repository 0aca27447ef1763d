import { describe, expect, it } from 'vitest'
import {
  atoi,
  cleanPath,
  goFloat,
  goQuote,
  jsonText,
  parseFloat32,
  parseInt64,
  parseUint32,
} from '#base/go/go-text.ts'

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

  it.each([
    '',
    ' 1',
    '1 ',
    '.',
    'e5',
    '1e',
    '1__0',
    '_1',
    '1_',
    '0x1',
    '0xp1',
    '+nan',
    'infinit',
    '1,5',
  ])('refuses %j', text => {
    expect(errorOf(() => parseFloat32(text))).toBe(
      `strconv.ParseFloat: parsing "${text}": invalid syntax`,
    )
  })

  it.each(['3.4028235677973367e38', '1e999999999999', '0x1p128'])(
    'says that %s is out of range',
    text => {
      expect(errorOf(() => parseFloat32(text))).toBe(
        `strconv.ParseFloat: parsing "${text}": value out of range`,
      )
    },
  )
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

describe('parseInt64', () => {
  it.each([
    ['5', 5n],
    ['+5', 5n],
    ['-5', -5n],
    ['0', 0n],
    ['0x1F', 31n],
    ['0b1_1', 3n],
    ['0o17', 15n],
    ['017', 15n],
    ['1_000', 1000n],
    ['0x_f', 15n],
    ['2147483647', 2_147_483_647n],
    ['-2147483648', -2_147_483_648n],
  ])('reads %s as %d', (text, value) => {
    expect(parseInt64(text, 32)).toBe(value)
  })

  it.each([
    '',
    '-',
    'x',
    '1.5',
    ' 1',
    '1 ',
    '_1',
    '1_',
    '1__0',
    '08',
    '0x',
    '0xg',
    '0b2',
    '0o8',
    '--1',
  ])('finds no number in %j', text => {
    expect(errorOf(() => parseInt64(text, 64))).toBe(
      `strconv.ParseInt: parsing "${text}": invalid syntax`,
    )
  })

  it('knows how far 32 and 64 bits go', () => {
    expect(errorOf(() => parseInt64('2147483648', 32))).toMatchSnapshot()
    expect(errorOf(() => parseInt64('-2147483649', 32))).toMatchSnapshot()
    expect(parseInt64('2147483648', 64)).toBe(2_147_483_648n)
    expect(parseInt64('9223372036854775807', 64)).toBe(2n ** 63n - 1n)
    expect(errorOf(() => parseInt64('9223372036854775808', 64))).toContain('value out of range')
  })
})

describe('parseUint32', () => {
  it.each([
    ['0', 'read 0'],
    ['4294967295', 'read 4294967295'],
    ['0xff', 'read 255'],
    ['4294967296', 'strconv.ParseUint: parsing "4294967296": value out of range'],
    ['-1', 'strconv.ParseUint: parsing "-1": invalid syntax'],
    ['+1', 'strconv.ParseUint: parsing "+1": invalid syntax'],
    ['x', 'strconv.ParseUint: parsing "x": invalid syntax'],
  ])('%s: %s', (text, answer) => {
    expect(errorOf(() => parseUint32(text))).toBe(answer)
  })
})

describe('cleanPath', () => {
  it.each([
    ['/var/log/pods', '/var/log/pods'],
    ['/var/log/pods/', '/var/log/pods'],
    ['/var//log/./pods', '/var/log/pods'],
    ['/var/x/../log', '/var/log'],
    ['/../a', '/a'],
    ['../a', '../a'],
    ['a/../../b', '../b'],
    ['../../a', '../../a'],
    ['a/..', '.'],
    ['', '.'],
    ['/', '/'],
  ])('%s is %s', (path, clean) => {
    expect(cleanPath(path)).toBe(clean)
  })
})

describe('jsonText', () => {
  it('does not mind how deep a value lies', () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    expect(jsonText(deep)).toBe('\u2026')
    expect(jsonText({ a: [1] })).toBe('{"a":[1]}')
  })
})
