/**
 * Durations in Go's format: `2m0s`, `1h30m`, `1.5s`.
 *
 * Upstream     Go's package time: ParseDuration, Duration.String, quote
 * Kept exactly nanoseconds in an int64; a fraction goes through a float64; the error texts
 */

import { oncePerText } from '#base/once.ts'

/** `message` is upstream's text. */
export class DurationError extends Error {}

const unitNanoseconds = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])

const limit = 2n ** 63n
const wholeDigits = /\d*/y
const unitName = /[^.\d]*/y

/** Nanoseconds. @throws DurationError */
export const parseDuration = oncePerText(nanosecondsOf)

function nanosecondsOf(text: string) {
  const isNegative = text.startsWith('-')
  let at = isNegative || text.startsWith('+') ? 1 : 0
  if (text.slice(at) === '0') return 0n
  const invalid = () => new DurationError(`time: invalid duration ${quote(text)}`)
  if (at === text.length) throw invalid()

  const take = (part: RegExp) => {
    part.lastIndex = at
    const [found = ''] = part.exec(text) ?? []
    at += found.length
    return found
  }

  let total = 0n
  while (at < text.length) {
    const whole = take(wholeDigits)
    const hasPoint = text[at] === '.'
    if (hasPoint) at++
    const fraction = hasPoint ? take(wholeDigits) : ''
    // The number has no digits, or exceeds an int64 even without its unit.
    if ((whole === '' && fraction === '') || (whole !== '' && BigInt(whole) > limit))
      throw invalid()
    const name = take(unitName)
    if (name === '') throw new DurationError(`time: missing unit in duration ${quote(text)}`)
    const unit = unitNanoseconds.get(name)
    if (unit === undefined)
      throw new DurationError(`time: unknown unit ${quote(name)} in duration ${quote(text)}`)
    const part = BigInt(whole === '' ? '0' : whole) * unit + fractionOf(fraction, unit)
    total += part
    if (part > limit || total > limit) throw invalid()
  }
  if (isNegative) return -total
  if (total === limit) throw invalid()
  return total
}

/** Upstream: leadingFraction, which drops digits that an int64 cannot hold. */
function fractionOf(digits: string, unit: bigint) {
  const kept = digits.slice(0, 19)
  const fits = kept.length < 19 || BigInt(kept) <= limit ? kept : kept.slice(0, 18)
  if (fits === '') return 0n
  return BigInt(Math.trunc(Number(BigInt(fits)) * (Number(unit) / 10 ** fits.length)))
}

// Go's time package has its own quote function: it writes bytes outside ASCII as \x escapes.
function quote(text: string) {
  const quoted = Array.from(text, character => {
    if (character === '"' || character === '\\') return `\\${character}`
    if (character >= ' ' && character < '\u0080') return character
    return Array.from(
      new TextEncoder().encode(character),
      byte => `\\x${byte.toString(16).padStart(2, '0')}`,
    ).join('')
  })
  return `"${quoted.join('')}"`
}

/** Milliseconds of a duration in nanoseconds, with fractions. */
export const toMilliseconds = (nanoseconds: bigint) => Number(nanoseconds) / 1e6

/** Nanoseconds. Null: not a duration. */
export function durationOrNull(text: string): bigint | null {
  try {
    return parseDuration(text)
  } catch {
    return null
  }
}

/** Null: not a duration. */
export function durationMs(text: string): number | null {
  const nanoseconds = durationOrNull(text)
  return nanoseconds === null ? null : toMilliseconds(nanoseconds)
}

/** Upstream: Duration.String. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s'
  if (nanoseconds < 0n) return `-${formatDuration(-nanoseconds)}`
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`
  if (nanoseconds < 1_000_000n) return `${withFraction(nanoseconds, 3)}\u00b5s`
  if (nanoseconds < 1_000_000_000n) return `${withFraction(nanoseconds, 6)}ms`
  const minutes = nanoseconds / 60_000_000_000n
  const seconds = `${withFraction(nanoseconds % 60_000_000_000n, 9)}s`
  if (minutes === 0n) return seconds
  const hours = minutes / 60n
  return hours === 0n ? `${minutes}m${seconds}` : `${hours}h${minutes % 60n}m${seconds}`
}

function withFraction(value: bigint, digits: number) {
  const unit = 10n ** BigInt(digits)
  const fraction = String(value % unit)
    .padStart(digits, '0')
    .replace(/(?<!0)0+$/, '')
  return fraction === '' ? String(value / unit) : `${value / unit}.${fraction}`
}
