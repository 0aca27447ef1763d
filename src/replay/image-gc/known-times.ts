/** The times of a kubelet and its images that a record contains, in ms since 1970. */
import type { KnownImages, NodeInput } from '#model/input/node-input.ts'
import { plainUtcMs } from '#replay/plain-time.ts'

/** Go's zero time, before every other time. Means "never", or "before the first detection". */
export const zeroTimeMs = Number.NEGATIVE_INFINITY

/** Both bounds are inclusive. */
export interface TimeBounds {
  earliestMs: number
  latestMs: number
}

export const exactly = (ms: number): TimeBounds => ({ earliestMs: ms, latestMs: ms })

/** Null: the kubelet has not listed the image yet, or not seen it in use since its start. Undefined: not known. */
export interface KnownTimes {
  firstDetectedMs?: number | null
  lastUsedMs?: number | null
}

const form = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const goZeroTimeMs = Date.parse('0001-01-01T00:00:00Z')

/** Parses RFC 3339. Null: no valid time. Go's zero time becomes `zeroTimeMs`. */
function instantMs(text: string) {
  const plainMs = plainUtcMs(text)
  if (!Number.isNaN(plainMs)) return plainMs
  const matched = form.exec(text)
  if (!matched) return null
  const [, fraction = '', zone = ''] = matched
  const secondMs = Date.parse(text.slice(0, 19) + zone)
  if (Number.isNaN(secondMs)) return null
  // Finer than a Date: all images of one detection have the same time, to the nanosecond.
  return secondMs === goZeroTimeMs ? zeroTimeMs : secondMs + Number(`0${fraction}`) * 1000
}

/** @param raw an entry of `known.images` */
export const knownTimesOf = ({
  firstDetected,
  lastUsed,
}: NonNullable<KnownImages['images']>[number]): KnownTimes => ({
  firstDetectedMs: timeOf(firstDetected),
  lastUsedMs: timeOf(lastUsed),
})

function timeOf(given: string | null | undefined) {
  if (given === null || given === undefined) return given
  return instantMs(given) ?? undefined
}

/** The longest time in ms from the start of the process, or of its cgroup, to its loops. The real kubelet took 1 to 2 s. */
const startupMs = 20_000

/** When the kubelet's loops began. Null: unknown, or after the record, which is impossible. */
export function kubeletStartOf(
  { known, host, summary }: NodeInput,
  readAtMs: number,
): TimeBounds | null {
  const exact = startAt(known?.kubeletStartedAt, readAtMs)
  if (exact !== null) return exactly(exact)
  const ofSummary = summary?.node?.systemContainers?.find(({ name }) => name === 'kubelet')
  const process =
    startAt(host?.kubelet?.startedAt, readAtMs) ?? startAt(ofSummary?.startTime, readAtMs)
  return process === null
    ? null
    : { earliestMs: process, latestMs: Math.min(process + startupMs, readAtMs) }
}

function startAt(time: string | undefined, readAtMs: number) {
  const ms = instantMs(time ?? '')
  return ms !== null && ms !== zeroTimeMs && ms <= readAtMs ? ms : null
}
