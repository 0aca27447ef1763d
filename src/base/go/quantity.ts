/**
 * resource.Quantity: reads, compares and prints thresholds, reservations and log sizes exactly as Kubernetes does.
 *
 * Upstream     k8s.io/apimachinery/pkg/api/resource  quantity.go ParseQuantity, String, AsInt64, ScaledValue;  suffix.go;  amount.go
 * Kept exactly the int64 fast path, because AsInt64 fails beside it; rounding up to 1n; the cap of binary suffixes at 2^63 − 1; the wrap of
 *              Value() above it; a text that is already canonical is printed as written; no suffix is printed above E
 */
import { oncePerText } from '#base/once.ts'

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

/** The value is `unscaled` × 10^`exponent`. */
export interface Quantity {
  readonly format: QuantityFormat
  readonly unscaled: bigint
  readonly exponent: number
  /** Upstream holds it as an int64 (`fast`) or as a decimal; a capped decimal has another scale. */
  readonly held: 'fast' | 'decimal' | 'capped'
  /** The written text, if it is canonical; else null. */
  readonly written: string | null
  /** The value, if a double holds it exactly as a whole number; else null. */
  readonly safeInteger: number | null
}

/** `message` is upstream's text. */
export class QuantityError extends Error {}

const wrongFormat =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const wrongNumber = 'unable to parse numeric part of quantity'
const wrongSuffix = "unable to parse quantity's suffix"

const maxInt64 = 2n ** 63n - 1n
const nanoExponent = -9
/** Decimal digits that fit into an int64. Upstream: math.go maxInt64Factors. */
const fastDigits = 18

const binaryExponents: Readonly<Record<string, number>> = {
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
}
const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}
const decimalSuffixes = new Map(
  Object.entries(decimalExponents).map(([suffix, exponent]) => [exponent, suffix]),
)
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

// Upstream's scanner accepts more than its regular expression: the number or the suffix can be missing.
const sign = /[+-]?/y
const zeros = /0*/y
const digits = /\d*/y
const suffixForm = /^[eEinumkKMGTP]*[+-]?\d*$/

// Scans part by part, so that no text can make a regular expression backtrack.
function scan(text: string) {
  let at = 0
  const take = (part: RegExp) => {
    part.lastIndex = at
    const [found = ''] = part.exec(text) ?? []
    at += found.length
    return found
  }
  const scanned = { sign: take(sign), zeros: take(zeros), digits: take(digits) }
  const hasPoint = text[at] === '.'
  if (hasPoint) at++
  return { ...scanned, fraction: hasPoint ? take(digits) : '', suffix: text.slice(at) }
}

interface Suffix {
  format: QuantityFormat
  exponent: number
}

function interpret(suffix: string): Suffix | null {
  const binary = Object.hasOwn(binaryExponents, suffix) ? binaryExponents[suffix] : undefined
  if (binary !== undefined) return { format: 'BinarySI', exponent: binary }
  const decimal = Object.hasOwn(decimalExponents, suffix) ? decimalExponents[suffix] : undefined
  if (decimal !== undefined) return { format: 'DecimalSI', exponent: decimal }
  if (!/^[eE][+-]?\d+$/.test(suffix)) return null
  const digits = suffix.slice(1)
  const parsed = BigInt(digits.startsWith('+') ? digits.slice(1) : digits)
  if (BigInt.asIntN(64, parsed) !== parsed) return null
  // Upstream narrows to int32 without a range check.
  return { format: 'DecimalExponent', exponent: Number(BigInt.asIntN(32, parsed)) }
}

/** @throws QuantityError */
export const parseQuantity = oncePerText(parse, 40)

/** Null if the text is missing or is not a quantity. */
export function quantityOrNull(text: string | undefined): Quantity | null {
  try {
    return text === undefined ? null : parseQuantity(text)
  } catch {
    return null
  }
}

/** The quantity as a number. Null if the text is missing or is not a quantity. */
export function amountOrNull(text: string | undefined): number | null {
  const quantity = quantityOrNull(text)
  return quantity && quantityNumber(quantity)
}

function parse(text: string): Quantity {
  const { sign, zeros, digits, fraction, suffix } = scan(text)
  if (text === '' || !suffixForm.test(suffix)) throw new QuantityError(wrongFormat)
  const suffixed = interpret(suffix)
  if (!suffixed) throw new QuantityError(wrongSuffix)
  const { format, exponent } = suffixed
  const isNegative = sign === '-'
  const whole = digits === '' ? '0' : digits

  const fast = parseFastPath(text, { isNegative, whole, fraction, format, exponent })
  if (fast) return fast
  if (zeros === '' && digits === '' && fraction === '') throw new QuantityError(wrongNumber)
  const magnitude = BigInt(whole + fraction)
  return format === 'BinarySI'
    ? makeBinary(isNegative, magnitude << BigInt(exponent), -fraction.length)
    : makeDecimal(
        isNegative,
        roundUpToNano(magnitude, exponent - fraction.length),
        format,
        'decimal',
      )
}

interface QuantityParts extends Suffix {
  isNegative: boolean
  whole: string
  fraction: string
}

function parseFastPath(
  text: string,
  { isNegative, whole, fraction, format, exponent }: QuantityParts,
): Quantity | null {
  const isBinary = format === 'BinarySI'
  if (isBinary && fraction !== '') return null
  const spare = isBinary
    ? 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1
    : fastDigits - whole.length - fraction.length
  const scale = isBinary ? 0 : exponent - fraction.length
  if (spare < 0 || scale < nanoExponent) return null
  const shifted = whole + fraction
  const value = BigInt(shifted)
  const magnitude = isBinary ? value << BigInt(exponent) : value
  const isCanonical = isBinary
    ? (value & 7n) !== 0n
    : scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0')
  return quantity({
    format,
    unscaled: isNegative ? -magnitude : magnitude,
    exponent: scale,
    held: 'fast',
    written: isCanonical || text === '0' ? text : null,
  })
}

function makeBinary(isNegative: boolean, magnitude: bigint, exponent: number): Quantity {
  const rounded = roundUpToNano(magnitude, exponent)
  const nanos = rounded.unscaled * 10n ** BigInt(rounded.exponent - nanoExponent)
  if (nanos > maxInt64 * 10n ** 9n)
    return makeDecimal(isNegative, { unscaled: maxInt64, exponent: 0 }, 'BinarySI', 'capped')
  // Upstream prints values below 1 in decimal, "to avoid confusion".
  return makeDecimal(
    isNegative,
    rounded,
    nanos > 0n && nanos < 10n ** 9n ? 'DecimalSI' : 'BinarySI',
    'decimal',
  )
}

interface QuantityAmount {
  unscaled: bigint
  exponent: number
}

const makeDecimal = (
  isNegative: boolean,
  { unscaled, exponent }: QuantityAmount,
  format: QuantityFormat,
  held: Quantity['held'],
): Quantity =>
  quantity({ format, unscaled: isNegative ? -unscaled : unscaled, exponent, held, written: null })

function roundUpToNano(magnitude: bigint, exponent: number): QuantityAmount {
  if (magnitude === 0n || exponent >= nanoExponent)
    return { unscaled: magnitude, exponent: magnitude === 0n ? 0 : exponent }
  const dropped = nanoExponent - exponent
  // A magnitude with no more digits than are dropped is below 1n: no power of ten is needed.
  if (String(magnitude).length <= dropped) return { unscaled: 1n, exponent: nanoExponent }
  const divisor = 10n ** BigInt(dropped)
  return { unscaled: (magnitude + divisor - 1n) / divisor, exponent: nanoExponent }
}

const quantity = (parts: Omit<Quantity, 'safeInteger'>): Quantity => ({
  ...parts,
  safeInteger: safeIntegerOf(parts),
})

function safeIntegerOf({ unscaled, exponent }: QuantityAmount) {
  if (exponent > 15 || exponent < -64) return unscaled === 0n ? 0 : null
  if (exponent < 0) {
    const divisor = 10n ** BigInt(-exponent)
    return unscaled % divisor === 0n ? safeNumber(unscaled / divisor) : null
  }
  return safeNumber(unscaled * 10n ** BigInt(exponent))
}

const safeNumber = (value: bigint) => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : null
}

/** A whole number of bytes or counts in the format that the eviction manager uses. Upstream: NewQuantity(value, BinarySI). */
export const binaryQuantity = (value: number | bigint): Quantity =>
  quantity({
    format: 'BinarySI',
    unscaled: BigInt(value),
    exponent: 0,
    held: 'fast',
    written: null,
  })

/** The canonical BinarySI text of a whole number of bytes or counts: `107374182400` is `100Gi`. */
export const formatBytes = (bytes: number | bigint) => canonicalText(binaryQuantity(bytes))

/** Upstream: AsInt64. Null: the fast path fails, for fractions and most large numbers even where the value is a whole int64. */
export function asInt64({ held, unscaled, exponent }: Quantity): bigint | null {
  if (held !== 'fast' || exponent < 0) return null
  if (unscaled === 0n) return 0n
  if (exponent > fastDigits) return null
  const value = unscaled * 10n ** BigInt(exponent)
  return BigInt.asIntN(64, value) === value ? value : null
}

/** Upstream: Value(), the whole number rounded away from zero. It wraps if it exceeds an int64. */
export const quantityValue = (q: Quantity): bigint => scaledValue(q, 0)

/** Upstream: MilliValue(). */
export const milliValue = (q: Quantity): bigint => scaledValue(q, 3)

function scaledValue({ held, unscaled, exponent }: Quantity, digits: number) {
  const shift = exponent + digits
  if (held === 'fast')
    return shift < 0 ? dividedAwayFromZero(unscaled, -shift) : positiveScaleInt64(unscaled, shift)
  if (held === 'capped') return BigInt.asIntN(64, unscaled * 10n ** BigInt(digits))
  if (unscaled >= 0n)
    return BigInt.asIntN(
      64,
      shift < 0 ? dividedAwayFromZero(unscaled, -shift) : timesPowerOfTen(unscaled, shift),
    )
  // Upstream cuts a negative decimal to 64 bits of nanos, then divides and rounds up.
  const nanos = BigInt.asIntN(64, timesPowerOfTen(unscaled, exponent - nanoExponent))
  const divisor = 10n ** BigInt(-nanoExponent - digits)
  return nanos / divisor + (nanos % divisor === 0n ? 0n : 1n)
}

/** From 10^64 on, powers of ten are multiples of 2^64, so the low 64 bits are 0. */
const timesPowerOfTen = (value: bigint, power: number) =>
  power >= 64 ? 0n : value * 10n ** BigInt(power)

function dividedAwayFromZero(value: bigint, power: number) {
  const divisor = 10n ** BigInt(power)
  const truncated = value / divisor
  const rest = value % divisor
  if (rest === 0n) return truncated
  return rest > 0n ? truncated + 1n : truncated - 1n
}

/** Upstream: positiveScaleInt64. It multiplies once for these powers (and wraps), and step by step for others (and gives 0). */
function positiveScaleInt64(value: bigint, power: number) {
  if (value === 0n) return 0n
  const product = timesPowerOfTen(value, power)
  const isAtOnce = power <= 3 || power === 6 || power === 9
  if (isAtOnce) return BigInt.asIntN(64, product)
  return power <= fastDigits && BigInt.asIntN(64, product) === product ? product : 0n
}

/** The whole number, rounded away from zero, as the nearest double; infinite if too large for a double. */
export function quantityNumber({ safeInteger, unscaled, exponent }: Quantity) {
  if (safeInteger !== null) return safeInteger
  if (exponent < 0) return Number(dividedAwayFromZero(unscaled, -exponent))
  if (exponent > 400) return unscaled < 0n ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return Number(unscaled * 10n ** BigInt(exponent))
}

export const signOf = ({ unscaled }: Quantity): -1 | 0 | 1 => signum(unscaled)

function signum(value: bigint): -1 | 0 | 1 {
  if (value === 0n) return 0
  return value < 0n ? -1 : 1
}

/** Compares exactly in all formats (`1Gi` equals `1024Mi`). Returns a negative number, 0 or a positive number. Upstream: Cmp. */
export function compareQuantities(a: Quantity, b: Quantity) {
  if (a.safeInteger !== null && b.safeInteger !== null) return a.safeInteger - b.safeInteger
  const sign = signOf(a)
  if (sign !== signOf(b)) return sign - signOf(b)
  if (sign === 0) return 0
  // Compare orders of magnitude first, so that no power of ten longer than the numbers is built.
  const magnitude = orderOf(a) - orderOf(b)
  if (magnitude !== 0) return magnitude * sign
  const exponent = Math.min(a.exponent, b.exponent)
  const difference =
    a.unscaled * 10n ** BigInt(a.exponent - exponent) -
    b.unscaled * 10n ** BigInt(b.exponent - exponent)
  return signum(difference)
}

const orderOf = ({ unscaled, exponent }: Quantity) =>
  String(unscaled < 0n ? -unscaled : unscaled).length + exponent

/** The exact sum. If one part is more than 10^400 times the other, the sum is the greater part. Upstream: Add. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const format = signOf(a) === 0 ? b.format : a.format
  if (signOf(a) === 0 || signOf(b) === 0)
    return { ...(signOf(a) === 0 ? b : a), format, written: null }
  if (Math.abs(orderOf(a) - orderOf(b)) > 400)
    return { ...(orderOf(a) > orderOf(b) ? a : b), format, written: null }
  const exponent = Math.min(a.exponent, b.exponent)
  const unscaled =
    a.unscaled * 10n ** BigInt(a.exponent - exponent) +
    b.unscaled * 10n ** BigInt(b.exponent - exponent)
  // Upstream also holds a sum in decimal if it exceeds an int64.
  const isFast = a.held === 'fast' && b.held === 'fast' && BigInt.asIntN(64, unscaled) === unscaled
  return quantity({ format, unscaled, exponent, held: isFast ? 'fast' : 'decimal', written: null })
}

/** Upstream: String(). */
export function canonicalText({ written, format, unscaled, exponent }: Quantity) {
  if (written !== null) return written
  if (unscaled === 0n) return '0'
  const whole = format === 'BinarySI' ? wholeFrom1024(unscaled, exponent) : null
  return whole === null ? decimalText(unscaled, exponent, format) : binaryText(whole)
}

/** The value, if it is a whole number of at least 1024; else null. Upstream prints other values in decimal. */
function wholeFrom1024(unscaled: bigint, exponent: number) {
  const divisor = exponent < 0 ? 10n ** BigInt(-exponent) : 1n
  if (unscaled % divisor !== 0n) return null
  const whole = exponent < 0 ? unscaled / divisor : unscaled * 10n ** BigInt(exponent)
  return whole > -1024n && whole < 1024n ? null : whole
}

function binaryText(whole: bigint) {
  let mantissa = whole
  let power = 0
  for (; mantissa % 1024n === 0n; power++) mantissa /= 1024n
  return `${mantissa}${binarySuffixes[power] ?? ''}`
}

function decimalText(unscaled: bigint, exponent: number, format: QuantityFormat) {
  const digits = String(unscaled)
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const trimmed = exponent + digits.length - end
  const power = Math.floor(trimmed / 3) * 3
  const mantissa = digits.slice(0, end) + '0'.repeat(trimmed - power)
  if (format === 'DecimalExponent') return power === 0 ? mantissa : `${mantissa}e${power}`
  return mantissa + (decimalSuffixes.get(power) ?? '')
}
