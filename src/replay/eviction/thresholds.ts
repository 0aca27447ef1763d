/**
 * Eviction thresholds: how the kubelet parses them at its start, and which of them are met at one moment.
 *
 * Replays       pkg/kubelet/eviction/helpers.go    ParseThresholdConfig, parseThresholdStatement, parsePercentage, parseGracePeriods,
 *                                                  parseMinimumReclaims, addAllocatableThresholds, thresholdsMet
 *               pkg/kubelet/eviction/api/types.go  GetThresholdQuantity
 * Read at       1.29 to 1.37; alike except for the signals of containerfs
 * Kept exactly  percentages are float32, and of the observed capacity; exactly `0%` and `100%` drop a threshold, `0.0%` and `100.0%` do not;
 *               hard means a grace period of 0, in either map; met means below, not at; a signal without an observation is not met
 * Left out      the order of a map's entries, so which of several errors upstream returns: here the first by signal
 */

import { parseDuration, toMilliseconds } from '#base/go/duration.ts'
import { parseFloat32 } from '#base/go/go-text.ts'
import {
  addQuantities,
  binaryQuantity,
  canonicalText,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityNumber,
  signOf,
} from '#base/go/quantity.ts'
import { oncePerText } from '#base/once.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { KubeletConfiguration, StringMap } from '#model/kubelet/configuration.ts'
import {
  type Observation,
  type Signal,
  settableSignals,
  type Threshold,
  type ThresholdValue,
} from '#model/prediction.ts'
import type { DiskLayout } from './observations.ts'

const signals: ReadonlySet<string> = new Set<Signal>([
  ...settableSignals,
  'allocatableMemory.available',
  'containerfs.available',
  'containerfs.inodesFree',
])

export type ThresholdConfiguration = Pick<
  KubeletConfiguration,
  | 'enforceNodeAllocatable'
  | 'evictionHard'
  | 'evictionSoft'
  | 'evictionSoftGracePeriod'
  | 'evictionMinimumReclaim'
>

interface ThresholdFlags {
  /** `--experimental-allocatable-ignore-eviction`: the cgroup of all pods has no allocatable-memory threshold. */
  ignoresAllocatable?: boolean
}

/** Hard thresholds, then soft ones, each by signal, then the kubelet's own. @throws upstream's text */
export function parseThresholdConfig(
  {
    enforceNodeAllocatable,
    evictionHard,
    evictionSoft,
    evictionSoftGracePeriod,
    evictionMinimumReclaim,
  }: ThresholdConfiguration,
  { ignoresAllocatable = false }: ThresholdFlags = {},
): readonly Threshold[] {
  const isEnforced = !ignoresAllocatable && (enforceNodeAllocatable?.includes('pods') ?? false)
  const maps = { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim }
  const parsed = parsedThresholds(JSON.stringify({ ...maps, isEnforced }))
  if (parsed instanceof Error) throw parsed
  return parsed
}

const parsedThresholds = oncePerText(text => {
  try {
    return thresholdsOf(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error
  }
}, 1024)

function thresholdsOf({
  evictionHard,
  evictionSoft,
  evictionSoftGracePeriod,
  evictionMinimumReclaim,
  isEnforced,
}: ThresholdConfiguration & { isEnforced: boolean }) {
  const hardStatements = parseThresholdStatements(evictionHard)
  const softStatements = parseThresholdStatements(evictionSoft)
  const gracePeriods = new Map(
    entriesOf(evictionSoftGracePeriod).map(([signal, text]) => [signal, parseGracePeriod(text)]),
  )
  const minReclaims = new Map(
    entriesOf(evictionMinimumReclaim).map(([signal, text]) => [
      signal,
      parseMinimumReclaim(signal, text),
    ]),
  )

  const hard = hardStatements.map(({ signal, value }) => threshold(signal, value, 0))
  const soft = softStatements.map(({ signal, value }) => {
    const gracePeriodMs = gracePeriods.get(signal)
    if (gracePeriodMs === undefined)
      throw new Error(`grace period must be specified for the soft eviction threshold ${signal}`)
    return threshold(signal, value, gracePeriodMs)
  })
  const thresholds = [...hard, ...soft].map(parsed => ({
    ...parsed,
    minReclaim: minReclaims.get(parsed.signal) ?? null,
  }))
  return isEnforced ? [...thresholds, ...allocatableThresholds(thresholds)] : thresholds
}

const threshold = (signal: Signal, value: ThresholdValue, gracePeriodMs: number): Threshold => ({
  signal,
  operator: 'LessThan',
  value,
  gracePeriodMs,
  minReclaim: null,
})

/** Whether the kubelet acts on the threshold at once. Upstream: isHardEvictionThreshold. */
export const isHardThreshold = ({ gracePeriodMs }: Threshold): boolean => gracePeriodMs === 0

/** The hard memory.available thresholds, applied to all pods together. Upstream: addAllocatableThresholds. */
const allocatableThresholds = (thresholds: Threshold[]): Threshold[] =>
  thresholds
    .filter(parsed => parsed.signal === 'memory.available' && isHardThreshold(parsed))
    .map(parsed => ({ ...parsed, signal: 'allocatableMemory.available' }))

function entriesOf(map: StringMap | undefined) {
  const entries: [Signal, string][] = []
  for (const signal of Object.keys(map ?? {}).sort()) {
    if (!isSignal(signal)) throw new Error(`unsupported eviction signal ${signal}`)
    entries.push([signal, map?.[signal] ?? ''])
  }
  return entries
}

const isSignal = (text: string): text is Signal => signals.has(text)

function parseThresholdStatements(map: StringMap | undefined) {
  return entriesOf(map)
    .filter(([, text]) => text !== '0%' && text !== '100%')
    .map(([signal, text]) => ({ signal, value: parseThresholdValue(signal, text) }))
}

function parseThresholdValue(signal: Signal, text: string): ThresholdValue {
  if (text.endsWith('%')) {
    const percentage = parsePercentage(text)
    if (percentage < 0)
      throw new Error(`eviction percentage threshold ${signal} must be >= 0%: ${text}`)
    if (percentage > 1)
      throw new Error(`eviction percentage threshold ${signal} must be <= 100%: ${text}`)
    return { percentage, text }
  }
  const quantity = parseQuantity(text)
  if (signOf(quantity) <= 0)
    throw new Error(`eviction threshold ${signal} must be positive: ${canonicalText(quantity)}`)
  return { quantity, text }
}

function parsePercentage(text: string) {
  let end = text.length
  while (text[end - 1] === '%') end--
  return Math.fround(parseFloat32(text.slice(0, end)) / 100)
}

function parseGracePeriod(text: string) {
  const nanoseconds = parseDuration(text)
  if (nanoseconds < 0n)
    throw new Error(`invalid eviction grace period specified: ${text}, must be a positive value`)
  return toMilliseconds(nanoseconds)
}

function parseMinimumReclaim(signal: Signal, text: string): ThresholdValue {
  if (text.endsWith('%')) {
    const percentage = parsePercentage(text)
    if (percentage <= 0)
      throw new Error(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`)
    return { percentage, text }
  }
  const quantity = parseQuantity(text)
  if (signOf(quantity) < 0)
    throw new Error(`negative eviction minimum reclaim specified for ${signal}`)
  return { quantity, text }
}

/** Go's result on amd64 for converting a float that no int64 can hold, such as NaN. */
const overflowedInt64 = -(2n ** 63n)

/** A value at a capacity, in bytes or counts. Upstream: GetThresholdQuantity. */
export function getThresholdQuantity(value: ThresholdValue, capacity: number): Quantity {
  if ('quantity' in value) return value.quantity
  const share = Math.trunc(capacity * value.percentage)
  return binaryQuantity(Math.abs(share) < 2 ** 63 ? share : overflowedInt64)
}

/** The amount below which the threshold is met, plus the minimum reclaim if that is enforced. */
function requiredQuantity(
  { value, minReclaim }: Threshold,
  capacity: number,
  enforceMinReclaim: boolean,
) {
  const required = getThresholdQuantity(value, capacity)
  return enforceMinReclaim && minReclaim
    ? addQuantities(required, getThresholdQuantity(minReclaim, capacity))
    : required
}

/** Like `requiredQuantity` in doubles, which are nearly always exact and much faster. `NaN`: they might be inexact. */
const requiredNumber = (
  { value, minReclaim }: Threshold,
  capacity: number,
  enforceMinReclaim: boolean,
) =>
  enforceMinReclaim && minReclaim
    ? safeOrNaN(thresholdNumber(value, capacity) + thresholdNumber(minReclaim, capacity))
    : thresholdNumber(value, capacity)

const thresholdNumber = (value: ThresholdValue, capacity: number) =>
  'quantity' in value
    ? (value.quantity.safeInteger ?? Number.NaN)
    : safeOrNaN(Math.trunc(capacity * value.percentage))

const safeOrNaN = (value: number) => (Number.isSafeInteger(value) ? value : Number.NaN)

/** The amount below which the threshold is met, without its minimum reclaim; as a double. */
export function thresholdAmount({ value }: Threshold, capacity: number): number {
  const amount = thresholdNumber(value, capacity)
  return Number.isNaN(amount) ? quantityNumber(getThresholdQuantity(value, capacity)) : amount
}

export function isThresholdMet(
  threshold: Threshold,
  { available, capacity }: Observation,
  enforceMinReclaim: boolean,
): boolean {
  const required = requiredNumber(threshold, capacity, enforceMinReclaim)
  if (!Number.isNaN(required)) return required > available
  return (
    compareQuantities(
      requiredQuantity(threshold, capacity, enforceMinReclaim),
      binaryQuantity(available),
    ) > 0
  )
}

/** One shared empty list if no threshold is met, so that a calm pass allocates nothing. */
const none: readonly Threshold[] = []

export function thresholdsMet(
  thresholds: readonly Threshold[],
  observations: Partial<Record<Signal, Observation>>,
  enforceMinReclaim: boolean,
): readonly Threshold[] {
  const isMet = (candidate: Threshold) => {
    const observed = observations[candidate.signal]
    return observed !== undefined && isThresholdMet(candidate, observed, enforceMinReclaim)
  }
  return thresholds.some(isMet) ? thresholds.filter(isMet) : none
}

/** Both lists without duplicates; minimum reclaim is not compared. Upstream: mergeThresholds, hasThreshold. */
export function mergeThresholds(
  inputsA: readonly Threshold[],
  inputsB: readonly Threshold[],
): readonly Threshold[] {
  const missing = inputsB.filter(item => !inputsA.some(input => hasSameTerms(input, item)))
  return missing.length === 0 ? inputsA : [...inputsA, ...missing]
}

const hasSameTerms = (a: Threshold, b: Threshold) =>
  a === b ||
  (a.gracePeriodMs === b.gracePeriodMs &&
    a.signal === b.signal &&
    compareThresholdValue(a.value, b.value))

function compareThresholdValue(a: ThresholdValue, b: ThresholdValue) {
  if ('quantity' in a) return 'quantity' in b && compareQuantities(a.quantity, b.quantity) === 0
  return !('quantity' in b) && a.percentage === b.percentage
}

/** Whether upstream's maps treat both as one key: the same threshold, or two equal percentages without minimum reclaim. */
export const isSameKey = (a: Threshold, b: Threshold): boolean =>
  a === b ||
  (a.signal === b.signal &&
    a.gracePeriodMs === b.gracePeriodMs &&
    'percentage' in a.value &&
    'percentage' in b.value &&
    a.value.percentage === b.value.percentage &&
    a.minReclaim === null &&
    b.minReclaim === null)

/*
 * The eviction manager's configuration, read once.
 *
 * Replays       pkg/kubelet/kubelet.go  NewMainKubelet (eviction.Config)
 * Read at       1.29 to 1.37, alike
 */

export interface EvictionConfig {
  thresholds: readonly Threshold[]
  /** How long a condition stays after its last threshold was met. 0: no condition is reported. */
  pressureTransitionPeriodMs: number
  /** For soft evictions. */
  maxPodGracePeriodSeconds: number
  localStorageCapacityIsolation: boolean
}

export type EvictionConfiguration = ThresholdConfiguration &
  Pick<KubeletConfiguration, 'evictionPressureTransitionPeriod' | 'evictionMaxPodGracePeriod'> & {
    localStorageCapacityIsolation?: boolean
  }

/** @throws like parseThresholdConfig, with upstream's text; such a kubelet would not start */
export function parseEvictionConfig(
  configuration: EvictionConfiguration,
  flags?: ThresholdFlags,
): EvictionConfig {
  const period =
    configuration.evictionPressureTransitionPeriod ??
    configurationDefaults.evictionPressureTransitionPeriod
  return {
    thresholds: parseThresholdConfig(configuration, flags),
    pressureTransitionPeriodMs: toMilliseconds(parseDuration(period)),
    maxPodGracePeriodSeconds:
      configuration.evictionMaxPodGracePeriod ?? configurationDefaults.evictionMaxPodGracePeriod,
    localStorageCapacityIsolation: configuration.localStorageCapacityIsolation ?? true,
  }
}

/*
 * Thresholds of containerfs. The kubelet does not use configured ones: it copies those of the filesystem that holds containerfs.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  UpdateContainerFsThresholds
 * Read at       1.29 to 1.37, alike; not there before
 * Kept exactly  a configured threshold of containerfs is overwritten in place, so it acts at once; an added one acts from the next pass on;
 *               of several such thresholds only the last is overwritten
 * Left out      the empty thresholds for which nothing is configured: they have no operator and are never met
 */

interface ContainerFsThresholds {
  /** All configured thresholds, with containerfs replaced. The pass that determines the layout uses these. */
  configured: readonly Threshold[]
  /** Thresholds that every later pass uses in addition. */
  added: readonly Threshold[]
}

export function updateContainerFsThresholds(
  thresholds: readonly Threshold[],
  layout: DiskLayout,
): ContainerFsThresholds {
  const filesystem = containerfsSource(layout)
  if (filesystem === null) return { configured: thresholds, added: [] }
  const configured: (Threshold | null)[] = [...thresholds]
  const added: Threshold[] = []
  for (const measure of ['available', 'inodesFree'] as const) {
    for (const isHard of [true, false]) {
      const signal: Signal = `containerfs.${measure}`
      const source = thresholds.findLast(isThresholdOf(`${filesystem}.${measure}`, isHard))
      const copy = source ? { ...source, signal } : null
      const index = thresholds.findLastIndex(isThresholdOf(signal, isHard))
      if (index >= 0) configured[index] = copy
      else if (copy) added.push(copy)
    }
  }
  return { configured: configured.filter(threshold => threshold !== null), added }
}

/** Null: upstream has no rule if only the containers, not the images, have a disk of their own. */
function containerfsSource({ dedicatedImageFs, splitContainerImageFs }: DiskLayout) {
  if (dedicatedImageFs === splitContainerImageFs) return 'nodefs'
  return dedicatedImageFs ? 'imagefs' : null
}

const isThresholdOf = (signal: Signal, isHard: boolean) => (threshold: Threshold) =>
  threshold.signal === signal && isHardThreshold(threshold) === isHard
