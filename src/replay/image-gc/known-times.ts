/** The times that a record tells of a kubelet and its images, in ms since 1970. */
import type { NodeRecord, RawObject } from '#model/record.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'
import { zeroTimeMs } from './records.ts'

/** Both bounds belong to it. */
export interface TimeBounds {
  earliestMs: number
  latestMs: number
}

/** Null: that the kubelet has not listed it yet, or not seen it in use since its start. Undefined: not known. */
export interface KnownTimes {
  firstDetectedMs?: number | null
  lastUsedMs?: number | null
}

const form = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const goZeroTimeMs = Date.parse('0001-01-01T00:00:00Z')

/** RFC 3339; null: it is none. Go's zero time is `zeroTimeMs`. */
function instantMs(text: string): number | null {
  const plainMs = plainUtcMs(text)
  if (!Number.isNaN(plainMs)) return plainMs
  const [, fraction = '', zone = ''] = form.exec(text) ?? []
  const secondMs = Date.parse(text.slice(0, 19) + zone)
  if (Number.isNaN(secondMs)) return null
  // Finer than a Date: what one detection found has one time, to the nanosecond.
  return secondMs === goZeroTimeMs ? zeroTimeMs : secondMs + Number(`0${fraction}`) * 1000
}

/**
 * `2026-11-20T23:00:00Z` or `…00.123Z`, without a regular expression: a node tells hundreds of times, and nearly all so.
 * NaN: in another form, or none.
 */
function plainUtcMs(text: string): number {
  const hasMs = text.length === 24 && text[19] === '.'
  const isPlain = text[4] === '-' && text[7] === '-' && text[10] === 'T' && text[13] === ':' && text[16] === ':' && text.endsWith('Z')
  if (!isPlain || (text.length !== 20 && !hasMs)) return Number.NaN
  const secondMs = Date.UTC(
    numberAt(text, 0, 4, 100, 9999),
    numberAt(text, 5, 7, 1, 12) - 1,
    numberAt(text, 8, 10, 1, 31),
    numberAt(text, 11, 13, 0, 23),
    numberAt(text, 14, 16, 0, 59),
    numberAt(text, 17, 19, 0, 59),
  )
  return hasMs ? secondMs + numberAt(text, 20, 23, 0, 999) : secondMs
}

const zeroDigit = '0'.charCodeAt(0)

/** NaN: not of digits alone, or not between the two. */
function numberAt(text: string, from: number, to: number, least: number, most: number): number {
  let number = 0
  for (let index = from; index < to; index++) {
    const digit = text.charCodeAt(index) - zeroDigit
    if (digit < 0 || digit > 9) return Number.NaN
    number = number * 10 + digit
  }
  return number >= least && number <= most ? number : Number.NaN
}

/** @param raw an entry of `known.images` */
export const knownTimesOf = ({ firstDetected, lastUsed }: RawObject): KnownTimes => ({
  firstDetectedMs: timeOf(firstDetected),
  lastUsedMs: timeOf(lastUsed),
})

function timeOf(given: unknown): number | null | undefined {
  if (given === null) return null
  return typeof given === 'string' ? (instantMs(given) ?? undefined) : undefined
}

/** From the process, or the control group that is made for it, to its loops. */
const startupMs = 60_000

/** When the kubelet's loops began. Null: not known, or not before the record was read, which cannot be. */
export function kubeletStartOf({ known, host, summary }: NodeRecord, readAtMs: number): TimeBounds | null {
  const exact = startAt(known, 'kubeletStartedAt', readAtMs)
  if (exact !== null) return { earliestMs: exact, latestMs: exact }
  const ofSummary = listAt(objectAt(summary, 'node'), 'systemContainers').find(raw => textAt(raw, 'name') === 'kubelet')
  const process = startAt(objectAt(host, 'kubelet'), 'startedAt', readAtMs) ?? startAt(ofSummary, 'startTime', readAtMs)
  return process === null ? null : { earliestMs: process, latestMs: Math.min(process + startupMs, readAtMs) }
}

function startAt(raw: unknown, key: string, readAtMs: number): number | null {
  const ms = instantMs(textAt(raw, key) ?? '')
  return ms !== null && ms !== zeroTimeMs && ms <= readAtMs ? ms : null
}
