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
import type { FilesystemStats, MemoryStats, Summary } from '#model/input/record.ts'
import type { KubeletConfiguration, StringMap } from '#model/kubelet/configuration.ts'
import {
  type FilesystemLayout,
  type FilesystemState,
  type Filesystems,
  type Observation,
  type Signal,
  settableSignals,
  type Threshold,
  type ThresholdValue,
} from '#model/prediction.ts'
import { availableOf, countOf, type Kubelet } from '#replay/times.ts'

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

/*
 * The eviction manager's observations: the signals of one stats summary.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  makeSignalObservations, thresholdsUpdatedStats;  helpers_windows.go  makeMemoryAvailableSignalObservation
 * Read at       1.29 to 1.37; 1.29 brought containerfs, and imagefs.inodesFree even if the bytes of imagefs are missing; Windows (from 1.31 on): 1.34, 1.35
 * Kept exactly  a signal exists only if all its fields do; memory capacity is available + working set. On Windows memory means the global
 *               commit, page file included: available + usage; the available amount
 *               goes through an int64, so a wrapped amount is below zero
 * Left out      hugepages, which the summary of a kubelet from 1.37 on already excludes; pod statistics
 */

export type Observations = Partial<Record<Signal, Observation>>

/** A signal with absent or malformed statistics is omitted. */
export function makeSignalObservations(summary: Summary): Observations {
  const { node } = summary
  const { imageFs, containerFs } = node?.runtime ?? {}
  return withoutNulls({
    'memory.available': nodeMemory(node),
    'allocatableMemory.available': memory(podsMemory(node)),
    ...diskSignals([node?.fs, imageFs, containerFs], bytes, inodes),
    'pid.available': pids(node?.rlimit),
  })
}

/** Observations from the node's own measurements, if there is no summary. The filesystems are the same; memory and processes stay unobserved. */
export function diskObservations({ nodefs, imagefs, containerfs }: Filesystems): Observations {
  const observationOf = (capacity: number | null, available: number | null): Observation | null =>
    capacity === null || available === null ? null : { available, capacity, time: null }
  const bytes = (state: FilesystemState | null) =>
    observationOf(state?.capacityBytes ?? null, state?.availableBytes ?? null)
  const inodes = (state: FilesystemState | null) =>
    observationOf(state?.inodes ?? null, state?.inodesFree ?? null)
  return withoutNulls(diskSignals([nodefs, imagefs, containerfs], bytes, inodes))
}

const diskSignals = <Disk>(
  [nodefs, imagefs, containerfs]: readonly [Disk, Disk, Disk],
  bytes: (disk: Disk) => Observation | null,
  inodes: (disk: Disk) => Observation | null,
) => ({
  'nodefs.available': bytes(nodefs),
  'nodefs.inodesFree': inodes(nodefs),
  'imagefs.available': bytes(imagefs),
  'imagefs.inodesFree': inodes(imagefs),
  'containerfs.available': bytes(containerfs),
  'containerfs.inodesFree': inodes(containerfs),
})

function withoutNulls(all: Partial<Record<Signal, Observation | null>>) {
  const observed: Observations = {}
  for (const [signal, observation] of Object.entries(all))
    if (observation) observed[signal as Signal] = observation
  return observed
}

type NodeStats = Summary['node']

function nodeMemory(node: NodeStats): Observation | null {
  const ofWindows = commitMemory(node)
  return ofWindows ? memory(ofWindows.memory, 'usageBytes') : memory(node?.memory)
}

function memory(
  stats: MemoryStats | undefined,
  usedKey: 'workingSetBytes' | 'usageBytes' = 'workingSetBytes',
): Observation | null {
  const available = availableOf(stats?.availableBytes)
  const used = countOf(stats?.[usedKey])
  if (available === null || used === null) return null
  // No machine has less than 0 memory. A sum below 0 is a wrapped small counter that was rounded.
  return { available, capacity: Math.max(0, available + used), time: timeOf(stats) }
}

/**
 * Whether the kubelet itself cannot observe the signal, so never meets its threshold. A kubepods cgroup without a memory limit has no
 * available memory; a runtime might not report containerfs. The related statistics must be present; otherwise only this summary lacks the signal.
 */
export function isUnobservedUpstream(signal: Signal, summary: Summary): boolean {
  const { node } = summary
  if (signal === 'allocatableMemory.available') {
    const pods = podsMemory(node)
    return countOf(pods?.workingSetBytes) !== null && pods?.availableBytes === undefined
  }
  const runtime = node?.runtime
  return (
    signal.startsWith('containerfs.') &&
    runtime?.imageFs !== undefined &&
    runtime.containerFs === undefined
  )
}

/** Memory of the kubepods cgroup, which is listed among the system containers. */
const podsMemory = (node: NodeStats) => systemContainer(node, 'pods')?.memory

/** Reported only by Windows kubelets that use it: kubelet/pkg/apis/stats/v1alpha1 SystemContainerWindowsGlobalCommitMemory. */
const commitMemory = (node: NodeStats) => systemContainer(node, 'windows-global-commit-memory')

const systemContainer = (node: NodeStats, name: string) =>
  node?.systemContainers?.find(container => container.name === name)

const bytes = (stats: FilesystemStats | undefined) => pair(stats, 'availableBytes', 'capacityBytes')
const inodes = (stats: FilesystemStats | undefined) => pair(stats, 'inodesFree', 'inodes')

function pair(
  stats: FilesystemStats | undefined,
  availableKey: 'availableBytes' | 'inodesFree',
  capacityKey: 'capacityBytes' | 'inodes',
): Observation | null {
  const available = availableOf(stats?.[availableKey])
  const capacity = countOf(stats?.[capacityKey])
  return available === null || capacity === null
    ? null
    : { available, capacity, time: timeOf(stats) }
}

function pids(rlimit: NonNullable<NodeStats>['rlimit']): Observation | null {
  const capacity = countOf(rlimit?.maxpid)
  const running = countOf(rlimit?.curproc)
  return capacity === null || running === null
    ? null
    : { available: capacity - running, capacity, time: timeOf(rlimit) }
}

const timeForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

function timeOf(stats: { time?: string } | undefined) {
  const time = stats?.time
  if (time === undefined) return null
  return timeForm.test(time) && !Number.isNaN(Date.parse(time)) ? time : null
}

/** Whether statistics are newer than in the previous pass. Upstream takes statistics without a time as new. */
export function isUpdated(observed: Observation, last: Observation | undefined): boolean {
  if (!last || observed.time === null || observed.time === zeroTime) return true
  if (observed.time === last.time) return false
  const time = momentOf(observed.time)
  const before = momentOf(last.time ?? zeroTime)
  return time.ms > before.ms || (time.ms === before.ms && time.nanoseconds > before.nanoseconds)
}

/** Go's zero time: a time that was never set. */
const zeroTime = '0001-01-01T00:00:00Z'

/** The time up to its second in ms, and the nanoseconds beyond. */
function momentOf(time: string) {
  const [, second = '', fraction = '', zone = ''] = timeForm.exec(time) ?? []
  return { ms: Date.parse(second + zone), nanoseconds: Number(fraction.padEnd(9, '0')) }
}

/*
 * The layout of the kubelet's filesystems. The eviction manager determines it once.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize (the part that runs while dedicatedImageFs is nil)
 * Read at       1.29 to 1.37; split filesystems since 1.29
 * Left out      how the kubelet determines the layout: devices, CRI statistics, cAdvisor's labels
 */

export interface DiskLayout {
  dedicatedImageFs: boolean
  /** Writable layers are on another filesystem than images. */
  splitContainerImageFs: boolean
}

export const diskLayoutOf = (layout: FilesystemLayout): DiskLayout => ({
  dedicatedImageFs: layout !== 'shared',
  splitContainerImageFs: layout === 'split',
})

/** A kubelet that detects a split but has the feature off reports one error. From then on it neither collects nor evicts under pressure. */
export const isRefusedLayout = ({ splitContainerImageFs }: DiskLayout, kubelet: Kubelet): boolean =>
  splitContainerImageFs && !kubelet.isGateOn('KubeletSeparateDiskGC')

/** Whether images and containers share nodefs, share a disk of their own, or only images have a disk of their own. */
export function placementOf({
  dedicatedImageFs,
  splitContainerImageFs,
}: DiskLayout): FilesystemLayout {
  // Only the containers have a disk of their own: upstream treats that as one filesystem.
  if (!dedicatedImageFs) return 'shared'
  return splitContainerImageFs ? 'split' : 'imagefs'
}
