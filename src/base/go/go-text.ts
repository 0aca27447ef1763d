/**
 * Go's parsing and quoting functions on which the kubelet's answers and error texts depend.
 *
 * Replays       strconv  ParseFloat (32 bits), ParseInt, Atoi, Quote;  path/filepath Clean
 * Kept exactly  rounding to float32 in one step; hexadecimal floats and underscores; the error texts
 */

/** `message` is Go's text. */
class NumberError extends Error {}

const number = '\\d(?:_?\\d)*'
const hexNumber = '[\\da-f](?:_?[\\da-f])*'
const decimalForm = new RegExp(
  `^([+-]?)(${number})?(?:\\.(${number})?)?(?:e([+-]?${number}))?$`,
  'i',
)
const hexadecimalForm = new RegExp(
  `^([+-]?)0x(?:_?(${hexNumber}))?(?:\\.(${hexNumber})?)?p([+-]?${number})$`,
  'i',
)
const infiniteForm = /^([+-]?)inf(?:inity)?$/i

/** Numbers with a larger decimal order exceed float32; larger exponents are cut to `exponentCap`. */
const greatestOrder = 60
const exponentCap = 1_000_000

/** A float32, also NaN and infinities. @throws NumberError */
export function parseFloat32(text: string) {
  if (/^nan$/i.test(text)) return Number.NaN
  const infinite = infiniteForm.exec(text)
  if (infinite) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  const isHexadecimal = /^[+-]?0x/i.test(text)
  const [, sign, whole = '', fraction = '', exponentText = '0'] =
    (isHexadecimal ? hexadecimalForm : decimalForm).exec(text) ?? []
  const digits = withoutUnderscores(whole + fraction)
  if (sign === undefined || digits === '')
    throw new NumberError(`strconv.ParseFloat: parsing ${goQuote(text)}: invalid syntax`)
  const exponent = Math.max(
    -exponentCap,
    Math.min(exponentCap, Number(withoutUnderscores(exponentText))),
  )
  const fractionDigits = withoutUnderscores(fraction).length
  const magnitude = isHexadecimal
    ? scaledToFloat32(BigInt(`0x${digits}`), 2n, exponent - 4 * fractionDigits)
    : scaledToFloat32(BigInt(digits), 10n, exponent - fractionDigits)
  if (magnitude === Number.POSITIVE_INFINITY)
    throw new NumberError(`strconv.ParseFloat: parsing ${goQuote(text)}: value out of range`)
  return sign === '-' ? -magnitude : magnitude
}

const withoutUnderscores = (text: string) => text.replaceAll('_', '')

function scaledToFloat32(mantissa: bigint, base: bigint, exponent: number) {
  if (mantissa === 0n) return 0
  const order = String(mantissa).length - 1 + exponent * Math.log10(Number(base))
  if (order > greatestOrder) return Number.POSITIVE_INFINITY
  if (order < -greatestOrder) return 0
  const power = base ** BigInt(Math.abs(exponent))
  return exponent < 0 ? roundToFloat32(mantissa, power) : roundToFloat32(mantissa * power, 1n)
}

const lowestUnit = -149
const float32Bits = 24

/** numerator ÷ denominator, both positive, to the nearest float32, ties to even. */
function roundToFloat32(numerator: bigint, denominator: bigint): number {
  let unit = Math.max(bitLength(numerator) - bitLength(denominator) - float32Bits, lowestUnit)
  let [top, bottom] = dividedByPowerOf2(numerator, denominator, unit)
  if (top / bottom >= 1n << BigInt(float32Bits))
    [top, bottom] = dividedByPowerOf2(numerator, denominator, ++unit)
  const floor = top / bottom
  const twiceRest = (top % bottom) * 2n
  const isUp = twiceRest > bottom || (twiceRest === bottom && floor % 2n === 1n)
  const rounded = Number(isUp ? floor + 1n : floor) * 2 ** unit
  return rounded >= 2 ** 128 ? Number.POSITIVE_INFINITY : rounded
}

const dividedByPowerOf2 = (
  numerator: bigint,
  denominator: bigint,
  unit: number,
): [bigint, bigint] =>
  unit < 0 ? [numerator << BigInt(-unit), denominator] : [numerator, denominator << BigInt(unit)]

const bitLength = (value: bigint) => value.toString(2).length

/** Parses an int. @throws NumberError */
export function atoi(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text))
    throw new NumberError(`strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`)
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  if (BigInt.asIntN(64, value) !== value)
    throw new NumberError(`strconv.Atoi: parsing ${goQuote(text)}: value out of range`)
  return value
}

/** @throws NumberError. Upstream: ParseUint with base 0. */
export function parseUint32(text: string): bigint {
  const refuse = (why: string) =>
    new NumberError(`strconv.ParseUint: parsing ${goQuote(text)}: ${why}`)
  const isSigned = /^[+-]/.test(text)
  const value = isSigned ? null : parseInteger(text)
  if (value === null) throw refuse('invalid syntax')
  if (BigInt.asUintN(32, value) !== value) throw refuse('value out of range')
  return value
}

const basedForms: Readonly<Record<string, RegExp>> = {
  '0x': /^0x(?:_?[\da-f])+$/,
  '0o': /^0o(?:_?[0-7])+$/,
  '0b': /^0b(?:_?[01])+$/,
}

/** @throws NumberError. Upstream: ParseInt with base 0. */
export function parseInt64(text: string, bits: 32 | 64): bigint {
  const magnitude = parseInteger(text.replace(/^[+-]/, ''))
  if (magnitude === null)
    throw new NumberError(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`)
  const value = text.startsWith('-') ? -magnitude : magnitude
  if (BigInt.asIntN(bits, value) !== value)
    throw new NumberError(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`)
  return value
}

/** Parses digits as in source code: decimal, or with a prefix. */
function parseInteger(text: string): bigint | null {
  const digits = text.toLowerCase()
  const isOctal = /^0(?:_?[0-7])+$/.test(digits)
  const isBased = isOctal || basedForms[digits.slice(0, 2)]?.test(digits) === true
  if (!isBased && !/^(?:0|[1-9](?:_?\d)*)$/.test(digits)) return null
  const plain = withoutUnderscores(digits)
  return BigInt(isOctal ? `0o${plain.slice(1)}` : plain)
}

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/** Upstream: strconv.Quote, and the verb %q. */
export const goQuote = (text: string) => `"${Array.from(text, escapedRune).join('')}"`

function escapedRune(character: string): string {
  const short = escapes[character]
  if (short !== undefined) return short
  if (character === ' ' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character)) return character
  const code = (character.codePointAt(0) ?? 0).toString(16)
  if (code.length <= 2)
    return code.length === 2 && code >= '80'
      ? `\\u${code.padStart(4, '0')}`
      : `\\x${code.padStart(2, '0')}`
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}

/** Upstream: the verb %v of a float64. */
export function goFloat(value: number) {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const power = Number(exponent)
  if (value === 0 || (power >= -4 && power < 21)) return String(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** Upstream: filepath.Clean. */
export function cleanPath(path: string) {
  const isAbsolute = path.startsWith('/')
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') kept.push(part)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (!isAbsolute) kept.push(part)
  }
  return `${isAbsolute ? '/' : ''}${kept.join('/')}` || '.'
}

/** A JSON value as text for an error message. A value nested too deep is only indicated. */
export function jsonText(value: unknown) {
  try {
    return JSON.stringify(value)
  } catch {
    return '…'
  }
}
