/** Times in ms since 1970: of a kubelet and its images in a record, of the kubelet's periodic loops, and of texts. */

import { type Gate, type GateSettings, isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import type { KnownImages, NodeInput } from '#model/input/record.ts'

/** Go's zero time, before every other time. Means "never", or "before the first detection". */
export const zeroTimeMs = Number.NEGATIVE_INFINITY

/** Both bounds are inclusive. */
export interface TimeBounds {
  earliestMs: number
  latestMs: number
}

export const exactTime = (ms: number): TimeBounds => ({ earliestMs: ms, latestMs: ms })

/** Null: the kubelet has not listed the image yet, or not seen it in use since its start. Undefined: not known. */
export interface KnownTimes {
  firstDetectedMs?: number | null
  lastUsedMs?: number | null
}

const form = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const goZeroTimeMs = Date.parse('0001-01-01T00:00:00Z')

/** Parses RFC 3339. Null: no valid time. Go's zero time becomes `zeroTimeMs`. */
function instantMs(text: string) {
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
  if (exact !== null) return exactTime(exact)
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

/*
 * The phase of the kubelet's periodic loops.
 *
 * Replays       pkg/kubelet/kubelet.go  StartGarbageCollection, initializeModules;  apimachinery util/wait  Until
 * Read at       1.29 to 1.37
 * Kept exactly  the first round runs at the start; a period begins when the round before it has ended, so the phase drifts by the length of the rounds
 */

/** From the start of the loops to the runtime's first answer, which starts the detection loop and the eviction manager. */
export const modulesStartMs = 15_000

/** The longest time of a round without a deletion, in ms. Rounds of the real kubelet took 5 to 20 ms. */
const roundMs = 20

interface Loop {
  start: TimeBounds
  periodMs: number
}

/** Bounds of the start of round `index`; the first round has index 0. */
export const roundOf = ({ start, periodMs }: Loop, index: number): TimeBounds => ({
  earliestMs: start.earliestMs + index * periodMs,
  latestMs: start.latestMs + index * (periodMs + roundMs),
})

/** Index of the last round that might have started by `ms`; negative: none. */
export const lastRoundBy = ({ start, periodMs }: Loop, ms: number): number =>
  Math.floor((ms - start.earliestMs) / periodMs)

/** Width in ms of the interval in which a round starts at about `ms`. It grows by 5 s a day. */
export function roundWidthMs(loop: Loop, ms: number): number {
  const { earliestMs, latestMs } = roundOf(loop, Math.max(0, lastRoundBy(loop, ms)))
  return latestMs - earliestMs
}

/* The kubelet's uint64 counters, as JSON carries them. */

/** A counter wraps if a subtraction falls below zero. No machine has a real count above this. */
const wrapsFrom = 2 ** 63
const wrapsBy = 2 ** 64

/** A counter of capacity or usage. Null: absent, not a count, or wrapped below zero. */
export const countOf = (value: number | undefined): number | null =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value < wrapsFrom ? value : null

/**
 * A counter of free amounts. Null: absent or not a count. A wrapped counter is negative, as upstream's int64(…).
 * JSON parsing has rounded such a number to a multiple of 1024 or more: its sign is certain, its amount only approximate.
 */
export const availableOf = (value: number | undefined): number | null => {
  const isWrapped =
    value !== undefined && Number.isInteger(value) && value >= wrapsFrom && value <= wrapsBy
  return isWrapped ? Math.min(value - wrapsBy, -1) : countOf(value)
}

/* The kubelet whose decisions are replayed: the behavior of its version, with the feature gates that its configuration sets. */

export interface Kubelet {
  features: KubeletFeatures
  isGateOn(gate: Gate): boolean
}

/**
 * @param kubeletVersion as the node reports it; null: the newest rules
 * @param featureGates gates in the configuration, including AllAlpha and AllBeta; null: every gate at its default
 */
export function kubeletOf(
  kubeletVersion: string | null,
  featureGates: GateSettings = null,
): Kubelet {
  const features = featuresOf(kubeletVersion)
  return { features, isGateOn: gate => isGateOn(gate, featureGates, features) }
}
