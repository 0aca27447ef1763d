/** Eviction thresholds as rules read them: which signal watches which disk, and the distance to image GC. */

import { durationMs } from '#base/go/duration.ts'
import { amountOrNull } from '#base/go/quantity.ts'
import { isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { configurationDefaults, evictionHardDefaults } from '#facts/kubelet/fields.ts'
import { gcMinutes, imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import {
  bytes,
  bytesLine,
  counted,
  type Failing,
  imageGcThresholds,
  kubeletSetting,
  line,
  type NodeSubject,
  percent,
  type Satisfied,
  shorten,
} from '#judge/rule.ts'
import type { EvidenceKind } from '#model/finding.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { highStartingBelow, startsAboveUsedPercent } from '#model/kubelet/image-gc-trigger.ts'
import type { Policy } from '#model/policy.ts'
import {
  type EvaluatedThreshold,
  type EvictionPrediction,
  type FilesystemState,
  type Filesystems,
  isWatched,
  type RankedPod,
  type Ranking,
  type Signal,
  sisterSignal,
} from '#model/prediction.ts'
import type { Reason } from './holder-cause.ts'

/** The place where a threshold is configured. A soft threshold with grace 0 acts as hard. The kubelet adds some thresholds itself. */
export function thresholdEvidence(
  { signal, value, hard }: EvaluatedThreshold,
  configuration: KubeletConfiguration | null,
) {
  const isSetIn = (map: 'evictionHard' | 'evictionSoft') => configuration?.[map]?.[signal] === value
  const shown = shorten(value)
  if (isSetIn('evictionHard') && hard) return line('configz', `evictionHard.${signal}`, shown)
  if (isSetIn('evictionSoft')) return line('configz', `evictionSoft.${signal}`, shown)
  return line('computed', `${hard ? 'hard' : 'soft'} threshold ${signal}`, shown)
}

/** The kubelet reports its status every few minutes. */
const reportedMs = 1_200_000

/** Age from which on a condition does not end by itself. Null: evictionPressureTransitionPeriod is no duration. */
export function staleConditionMs(configuration: KubeletConfiguration | null): number | null {
  const { evictionPressureTransitionPeriod } = { ...configurationDefaults, ...configuration }
  const transitionMs = durationMs(evictionPressureTransitionPeriod)
  return transitionMs === null ? null : transitionMs + reportedMs
}

/** The entry of a signal as it is configured. */
export const entryLine = (
  map: 'evictionHard' | 'evictionMinimumReclaim',
  signal: string,
  configuration: KubeletConfiguration,
) => line('configz', `${map}.${signal}`, configuration[map]?.[signal] ?? 'absent')

/** What a hard threshold does to pods. */
export const hardEviction = ({ kubeletVersion }: NodeSubject['identity']) =>
  featuresOf(kubeletVersion).has('immediateEviction')
    ? 'killed at once, whatever their own grace period'
    : 'evicted without waiting, each with its own terminationGracePeriodSeconds to end'

/** `evictionHard` by signal, as this kubelet has it if its files set none. */
export const hardDefaults = ({ kubeletVersion, operatingSystem }: NodeSubject['identity']) =>
  evictionHardDefaults(kubeletVersion, operatingSystem)

/** Null: the kubelet's version is unknown. */
export function lostDefaults({
  identity,
  configuration,
  eviction,
  filesystems,
}: Satisfied<'configuration' | 'eviction'>) {
  if (featuresOf(identity.kubeletVersion).minor === null) return null
  const present = configuration.evictionHard ?? {}
  const absent = Object.entries(hardDefaults(identity)).filter(
    // A key with 0% or 100% was switched off on purpose. On filesystems without inode counts, inodes cannot run out.
    ([signal]) =>
      !Object.hasOwn(present, signal) &&
      !(
        signal.endsWith('.inodesFree') &&
        (signal.startsWith('imagefs.') ? filesystems.imagefs : filesystems.nodefs)?.inodes === 0
      ),
  )
  const isSignalWatched = (signal: string) =>
    isWatched(signal, eviction.thresholds, filesystems.layout)
  // If a shared disk's inodes are off under the other name, unwatched-inodes reports them.
  const isSisterOff = (signal: string) =>
    filesystems.layout === 'shared' &&
    signal.endsWith('.inodesFree') &&
    Object.hasOwn(present, sisterSignal(signal) ?? signal)
  return {
    /** The kubelet's defaults that `evictionHard` omits, by signal. Nothing watches in their place. */
    lost: absent.filter(([signal]) => isSignalWatched(signal) === false && !isSisterOff(signal)),
    /** Omitted defaults for which the unknown disk layout decides whether another signal watches. */
    open: absent.filter(([signal]) => isSignalWatched(signal) === null).map(([signal]) => signal),
  }
}

/** Growth in bytes or inodes within `ms` that the policy assumes for a filesystem of that capacity. */
export const assumedGrowth = (ms: number, capacity: number, { assumedGrowthPercent }: Policy) =>
  (assumedGrowthPercent * capacity * ms) / (100 * imageGcPeriodMs)

export const growthLine = ({ assumedGrowthPercent }: Policy) =>
  line(
    'computed',
    `growth assumed in ${gcMinutes} min`,
    `${percent(assumedGrowthPercent)} of the capacity`,
  )

/** Milliseconds until the assumed growth fills `amount`. Infinite if growth is 0. */
export const fillMs = (amount: number, capacity: number, policy: Policy) =>
  amount / assumedGrowth(1, capacity, policy)

/** The threshold that is met first as a disk fills. */
export const highestThreshold = (
  thresholds: readonly EvaluatedThreshold[],
): EvaluatedThreshold | undefined =>
  thresholds.toSorted((a, b) => (b.resolved ?? 0) - (a.resolved ?? 0))[0]

export const isEvictable = (pod: RankedPod, { protected: spared }: EvictionPrediction) =>
  !spared?.some(({ namespace, name }) => pod.namespace === namespace && pod.name === name)

/** Pods of a ranking that can be evicted, in the ranking's order. */
export const evictablePods = (
  pods: readonly RankedPod[],
  eviction: EvictionPrediction,
): RankedPod[] => pods.filter(pod => isEvictable(pod, eviction))

/** Disk signals whose thresholds can be set. The kubelet derives those of containerfs. */
export const isSettableDisk = (signal: Signal) => /^(nodefs|imagefs)\./.test(signal)

/** Signals that count inodes or pids, not bytes. */
const isCount = ({ signal }: { signal: Signal }) =>
  signal.endsWith('.inodesFree') || signal === 'pid.available'

/** Whether a containerfs threshold repeats that of its filesystem, and is reported only once. */
export const isTwin = (
  { signal, resolved, margin }: EvaluatedThreshold,
  all: readonly EvaluatedThreshold[],
) =>
  signal.startsWith('containerfs.') &&
  all.some(
    other =>
      !other.signal.startsWith('containerfs.') &&
      other.resolved === resolved &&
      other.margin === margin,
  )

/** An amount in the format for sentences. */
export const shownAmount = (threshold: { signal: Signal }, amount: number) =>
  isCount(threshold) ? counted(Math.round(amount)) : bytes(amount)

/** A line of evidence with an amount of a signal: inodes, process ids, or bytes. */
export const amountLine = (
  kind: EvidenceKind,
  { signal }: { signal: Signal },
  what: string,
  amount: number,
) =>
  isCount({ signal })
    ? line(kind, `${signal} ${what}`, amount)
    : bytesLine(kind, `${signal} ${what}`, amount)

/** Why a part of the summary is unknown. */
export function whyUnobserved({ unread, summary, mode }: NodeSubject, what: string) {
  if (unread.summary !== undefined) return `summary: ${unread.summary}`
  return summary
    ? `stats/summary does not tell ${shorten(what)}`
    : `mode ${mode} does not read stats/summary, which tells ${shorten(what)}`
}

export interface ImageGcPercentages {
  imageGCHighThresholdPercent: number
  imageGCLowThresholdPercent: number
}

/** With a high threshold below this, image GC would run all the time. The eviction threshold is the mistake then. */
const lowestSoundHigh = 50
const bandPercent = 10

/**
 * The highest image-GC percentages that trigger before eviction at `evictionPercent`, with twice the growth of one GC
 * period in between. Never above the team's alert. Null: none is worth setting.
 */
export function soundImageGc(
  evictionPercent: number,
  { assumedGrowthPercent, alertPercent }: Policy,
): ImageGcPercentages | null {
  const beforeEviction =
    Math.ceil(highStartingBelow(evictionPercent + 2 * assumedGrowthPercent)) - 1
  const high = Math.min(beforeEviction, Math.floor(alertPercent))
  return high < lowestSoundHigh
    ? null
    : { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: high - bandPercent }
}

/** The fix of image GC that suits the thresholds of a node's disks. */
export const imageGcFix = (
  { eviction, filesystems }: NodeSubject,
  policy: Policy,
): Failing['fix'] => {
  const sound = soundImageGc(diskEvictionPercent(eviction, filesystems) ?? 0, policy)
  return sound ? { config: { ...sound } } : undefined
}

/** Percent of the image disk below which pods are evicted. Null: the size of the disk is unknown. */
export function diskEvictionPercent(
  eviction: NodeSubject['eviction'],
  { imagefs, layout }: Filesystems,
): number | null {
  if (!imagefs?.capacityBytes) return null
  const isSplit = layout !== null && layout !== 'shared'
  const amounts = (eviction?.thresholds ?? [])
    .filter(
      ({ signal }) => signal === 'imagefs.available' || (!isSplit && signal === 'nodefs.available'),
    )
    .map(({ resolved }) => resolved ?? 0)
  return (Math.max(0, ...amounts) / imagefs.capacityBytes) * 100
}

/** Image-GC percentages to set with a new `imagefs.available` threshold in percent. Empty if the running ones are sound beside the threshold. */
export function imageGcBeside(
  threshold: string,
  {
    imageGCHighThresholdPercent: highPercent = configurationDefaults.imageGCHighThresholdPercent,
  }: KubeletConfiguration,
  policy: Policy,
): Partial<ImageGcPercentages> {
  const evictionPercent = Number.parseFloat(threshold)
  if (
    !threshold.endsWith('%') ||
    100 - startsAboveUsedPercent(highPercent) - evictionPercent >= policy.assumedGrowthPercent
  )
    return {}
  return soundImageGc(evictionPercent, policy) ?? {}
}

/** Percentage of free inodes below which it is urgent. */
const leastFreePercent = 5

export const isShortOfInodes = (disk: FilesystemState | null) =>
  disk?.inodes != null &&
  disk.inodesFree !== null &&
  disk.inodesFree < (leastFreePercent / 100) * disk.inodes

/** How much of an unwatched disk is free, in percent: below the first it fills soon, from the second on there is time. */
const unwatchedFree = { little: 15, much: 50 }

const muchMemory = 0.5

/** Whether half of the memory is available, and no pressure is reported: nothing depends on its settings yet. */
export function hasMuchMemory({
  conditions,
  eviction,
}: Pick<NodeSubject, 'conditions' | 'eviction'>): boolean {
  const { capacityBytes, availableBytes } = eviction?.signals['memory.available'] ?? {}
  return (
    conditions.MemoryPressure === 'False' &&
    (availableBytes ?? 0) >= muchMemory * (capacityBytes ?? Number.POSITIVE_INFINITY)
  )
}

/** The severity of a disk that no threshold watches, by the space or the inodes that are left. */
export function unwatchedSeverity(disk: FilesystemState | null): 'critical' | 'high' | 'medium' {
  const free = percentOf(disk?.availableBytes, disk?.capacityBytes)
  if (isShortOfInodes(disk) || (free !== null && free < unwatchedFree.little)) return 'critical'
  if (free === null) return 'high'
  return free < unwatchedFree.much ? 'high' : 'medium'
}

/** Whether half of the inodes are free; a filesystem without a table of them has enough. */
export const hasManyInodes = (disk: FilesystemState | null) =>
  disk !== null && (percentOf(disk.inodesFree, disk.inodes) ?? 100) >= unwatchedFree.much

const percentOf = (part: number | null | undefined, whole: number | null | undefined) =>
  part == null || !whole ? null : (100 * part) / whole

/* Rankings without repeats: signals of one resource on one disk put pods in the same order. */

const derived: readonly string[] = [
  'allocatableMemory.available',
  'containerfs.available',
  'containerfs.inodesFree',
]

const resourceOf = (signal: Signal) =>
  signal === 'allocatableMemory.available'
    ? 'memory.available'
    : signal.replace(/^(?:nodefs|imagefs|containerfs)\./, 'disk ')

/** The first ranking per resource and order. Signals that can be set precede derived ones. */
export function distinctRankings(rankings: readonly Ranking[]): Ranking[] {
  const settableFirst = rankings.toSorted(
    (a, b) => Number(derived.includes(a.signal)) - Number(derived.includes(b.signal)),
  )
  return settableFirst.filter(
    ({ signal, pods }, index) =>
      !settableFirst
        .slice(0, index)
        .some(
          other => resourceOf(other.signal) === resourceOf(signal) && isSameOrder(other.pods, pods),
        ),
  )
}

const isSameOrder = (a: readonly RankedPod[], b: readonly RankedPod[]) =>
  a === b || (a.length === b.length && a.every((pod, index) => isSamePlace(pod, b[index])))

const isSamePlace = (a: RankedPod, b: RankedPod | undefined) =>
  a.rank === b?.rank && a.name === b.name && a.namespace === b.namespace

/** A threshold or minimum reclaim in bytes or counts; null: invalid. Upstream: eviction/api/types.go GetThresholdQuantity, percentages are float32. */
export function amountOf(text: string, capacity: number): number | null {
  if (!text.endsWith('%')) return amountOrNull(text)
  const part = Math.fround(Math.fround(Number.parseFloat(text)) / 100)
  return Number.isFinite(part) ? Math.trunc(capacity * part) : null
}

/** The kubelet stores percentages as float32. Amounts that differ by at most this much are equal. */
export const float32Rounding = (text: string, amount: number) =>
  text.endsWith('%') ? amount * 2 ** -23 + 1 : 0

type ThresholdTexts =
  | 'evictionHard'
  | 'evictionSoft'
  | 'evictionSoftGracePeriod'
  | 'evictionMinimumReclaim'

/** The fix that changes some entries of a running map: the kubelet replaces maps as a whole. */
export const withEntries = (
  map: ThresholdTexts,
  configuration: KubeletConfiguration | null,
  entries: Record<string, string>,
) => ({ config: { [map]: { ...configuration?.[map], ...entries } } })

/** The default of the signal, and what is left, in one unit. Null: unknown, or the default is no percentage. */
export function defaultAmounts(
  { signal, resolved, margin }: EvaluatedThreshold,
  { identity, eviction }: Satisfied<'eviction'>,
) {
  const preset = hardDefaults(identity)[signal]
  const capacity = eviction.signals[signal]?.capacityBytes
  if (!preset?.endsWith('%') || !capacity || resolved === null || margin === null) return null
  const byDefault = (capacity * Number.parseFloat(preset)) / 100
  return { preset, byDefault, resolved, left: resolved + margin }
}

/** Hard thresholds of at least twice their default, of those that are met, if the default is not met. */
export const raisedThresholds = (
  met: readonly EvaluatedThreshold[],
  subject: Satisfied<'eviction'>,
) =>
  met.flatMap(threshold => {
    const { signal, hard, value } = threshold
    const found = defaultAmounts(threshold, subject)
    if (!hard || !found || found.preset === value) return []
    const { preset, byDefault, resolved, left } = found
    return left < byDefault || resolved < 2 * byDefault ? [] : [{ signal, preset }]
  })

/** The defaults in their place. Null: none is raised. */
export function raisedReason(
  raised: ReturnType<typeof raisedThresholds>,
  { configuration }: Pick<NodeSubject, 'configuration'>,
): Reason | null {
  const [first] = raised
  if (!first) return null
  const presets = Object.fromEntries(raised.map(({ signal, preset }) => [signal, preset]))
  return {
    cause: kubeletSetting(`evictionHard.${first.signal}`),
    steps: [{ id: 'set-fields' }],
    seen: `with the default, ${first.preset} free, this node would not evict`,
    fix: withEntries('evictionHard', configuration, presets),
  }
}

/** The thresholds of the filesystem of a signal. */
export const watchingThresholds = (
  signal: Signal,
  { eviction, filesystems: { layout } }: Satisfied<'eviction'>,
): EvaluatedThreshold[] =>
  eviction.thresholds.filter(
    one => one.signal === signal || (layout === 'shared' && one.signal === sisterSignal(signal)),
  )

/** Why it is not known whether image GC begins. */
export const whyNoRound = (subject: Satisfied<'imageGC'>) =>
  subject.imageGC.error === null
    ? whyUnobserved(subject, 'the image filesystem')
    : shorten(subject.imageGC.error)

/** Whether the kubelet can delete images by age, and does not. */
export const hasFreeAge = ({
  configuration,
  identity: { kubeletVersion = null },
}: Partial<Pick<NodeSubject, 'configuration'>> & {
  identity: Partial<Pick<NodeSubject['identity'], 'kubeletVersion'>>
}): boolean =>
  configuration != null &&
  (configuration.imageMaximumGCAge ?? '0s') === '0s' &&
  isGateOn('ImageMaximumGCAge', configuration.featureGates ?? null, featuresOf(kubeletVersion))

/** Percentages that are above what most disks have in use, the lowest first. */
const soundThresholds = [
  { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 70 },
  { imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 },
]

/** The thresholds, where only they make a round due: the disk has room. Null: it has not. */
export function lowThresholds({
  imageGC,
  filesystems,
}: Satisfied<'imageGC'>): Partial<Failing> | null {
  const high = imageGC.highThresholdPercent
  const used = filesystems.imagefs?.usedPercent ?? 100
  const sound = soundThresholds.find(one => used < one.imageGCLowThresholdPercent)
  if (!sound || high >= sound.imageGCHighThresholdPercent) return null
  return {
    cause: imageGcThresholds,
    steps: [{ id: 'set-fields' }],
    fix: { config: { ...sound } },
    seen: `at imageGCHighThresholdPercent ${sound.imageGCHighThresholdPercent} no round would be due (${percent(used)} is used); what is in use does not fit below the low threshold of ${imageGC.lowThresholdPercent} %.`,
  }
}
