/** Eviction thresholds as rules read them: which signal watches which disk, and the distance to image GC. */

import { durationMs } from '#base/go/duration.ts'
import { amountOrNull } from '#base/go/quantity.ts'
import { by } from '#base/text.ts'
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
import { freesBelow } from './freed-by-image-gc.ts'
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

/** Undecided, because a part of the summary is unknown. */
export const unobserved = (subject: NodeSubject, what: string) => ({
  unknown: whyUnobserved(subject, what),
})

/** Bytes or inodes that a signal of nodefs or imagefs observes. */
export function amountsOf(signal: Signal, filesystems: Filesystems) {
  const disk = filesystems[signal.startsWith('nodefs.') ? 'nodefs' : 'imagefs']
  return signal.endsWith('.inodesFree')
    ? { capacity: disk?.inodes, free: disk?.inodesFree }
    : { capacity: disk?.capacityBytes, free: disk?.availableBytes }
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
export const imageGcFix = (subject: NodeSubject, policy: Policy): Failing['fix'] => {
  const sound = soundImageGc(diskEvictionPercent(subject) ?? 0, policy)
  return sound ? { config: { ...sound } } : undefined
}

/** Percent of the image disk below which pods are evicted. A threshold that is itself the mistake counts as mended. Null: the size of the disk is unknown. */
export function diskEvictionPercent(subject: ThresholdSubject): number | null {
  const { imagefs, layout } = subject.filesystems
  if (!imagefs?.capacityBytes) return null
  const { capacityBytes } = imagefs
  const isSplit = layout !== null && layout !== 'shared'
  const own = (subject.eviction?.thresholds ?? []).filter(
    ({ signal }) => signal === 'imagefs.available' || (!isSplit && signal === 'nodefs.available'),
  )
  return Math.max(
    0,
    ...own.map(
      threshold =>
        mendedPercent(threshold, subject) ?? ((threshold.resolved ?? 0) / capacityBytes) * 100,
    ),
  )
}

/** What to set in place of a threshold that is itself the mistake. Undefined: it is sound. */
function mendedPercent(threshold: EvaluatedThreshold, subject: ThresholdSubject) {
  const [raised] = raisedThresholds([threshold], subject)
  return raised && Number.parseFloat(raised.to)
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
    (availableBytes ?? 0) >= muchMemory * (capacityBytes ?? Infinity)
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
export function distinctRankings(rankings: readonly Ranking[]) {
  const distinct: Ranking[] = []
  for (const ranking of rankings.toSorted(by(({ signal }) => derived.includes(signal))))
    if (
      !distinct.some(
        ({ signal, pods }) =>
          resourceOf(signal) === resourceOf(ranking.signal) && isSameOrder(pods, ranking.pods),
      )
    )
      distinct.push(ranking)
  return distinct
}

const isSameOrder = (a: readonly RankedPod[], b: readonly RankedPod[]) =>
  a === b ||
  (a.length === b.length &&
    a.every(({ rank, name, namespace }, index) => {
      const other = b[index]
      return rank === other?.rank && name === other.name && namespace === other.namespace
    }))

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

type ThresholdSubject = Pick<
  NodeSubject,
  'identity' | 'eviction' | 'filesystems' | 'imageGC' | 'ledger' | 'unusedImages'
>

/** The default of the signal, and what is left, in one unit. Null: unknown, or the default is no percentage. */
export function defaultAmounts(
  { signal, resolved, margin }: EvaluatedThreshold,
  { identity, eviction }: Pick<NodeSubject, 'identity' | 'eviction'>,
) {
  const preset = hardDefaults(identity)[signal]
  const capacity = eviction?.signals[signal]?.capacityBytes
  if (!preset?.endsWith('%') || !capacity || resolved === null || margin === null) return null
  const byDefault = (capacity * Number.parseFloat(preset)) / 100
  return { preset, byDefault, capacity, resolved, left: resolved + margin }
}

/** Times the default from which on a threshold is the mistake: if it is met, and if it is not. */
export const raisedBy = { met: 2, unmet: 3 }
/** Percent of a disk between a hard and a soft threshold, where image GC leaves no room for less. */
const softAboveHard = 5

interface RaisedThreshold extends Pick<EvaluatedThreshold, 'signal' | 'hard' | 'value' | 'met'> {
  /** What to set. */
  to: string
  /** Percent of the disk that it keeps free. */
  share: number
}

/**
 * Those of the thresholds that are the mistake themselves: they keep much more of the disk free than the default, and the disk has that much.
 * In bytes, too. Of soft ones, which have no default, those that image GC cannot stay clear of.
 */
export const raisedThresholds = (
  thresholds: readonly EvaluatedThreshold[],
  subject: ThresholdSubject,
): RaisedThreshold[] =>
  thresholds.flatMap(threshold => {
    const { signal, hard, value, met } = threshold
    const found = defaultAmounts(threshold, subject)
    if (!found || (hard && found.preset === value)) return []
    const { preset, byDefault, capacity, resolved, left } = found
    const times = raisedBy[met === true ? 'met' : 'unmet']
    if (resolved + float32Rounding(value, resolved) < times * byDefault) return []
    // The disk is short of space by the default, too.
    if (left < (hard ? byDefault : 2 * byDefault)) return []
    const share = (100 * resolved) / capacity
    const one = { signal, hard, value, met, share }
    if (hard) return [{ ...one, to: preset }]
    const isPast = subject.eviction?.thresholds.some(
      other => other.hard && other.signal === signal && other.met,
    )
    return isPast || isEndedByImageGc(one, subject)
      ? []
      : [{ ...one, to: soundSoft(signal, Number.parseFloat(preset), subject) }]
  })

/** Whether image GC below a soft threshold frees the unused images, so that the threshold can stay. */
function isEndedByImageGc(
  { signal, share }: Pick<RaisedThreshold, 'signal' | 'share'>,
  subject: ThresholdSubject,
): boolean {
  const high = 100 - share - bandPercent
  if (!signal.endsWith('.available') || high < lowestSoundHigh) return false
  const used = subject.filesystems.imagefs?.usedPercent ?? 100
  return (
    subject.unusedImages() !== null ||
    freesBelow(Math.min(high, used - bandPercent), subject) === true
  )
}

/** Halfway between the hard threshold of the disk and the start of image GC. */
function soundSoft(signal: Signal, preset: number, subject: ThresholdSubject): string {
  const { imageGC, filesystems } = subject
  const hard = watchingThresholds(signal, subject).flatMap(one => {
    const found = one.hard ? defaultAmounts(one, subject) : null
    if (!found) return []
    return mendedPercent(one, subject) ?? (100 * found.resolved) / found.capacity
  })
  const above = Math.round(Math.max(...(hard.length > 0 ? hard : [preset])))
  const isOfImages =
    signal === 'imagefs.available' ||
    (signal === 'nodefs.available' && filesystems.layout === 'shared')
  const start =
    isOfImages && imageGC?.enabled ? 100 - startsAboveUsedPercent(imageGC.highThresholdPercent) : 0
  const between = Math.floor((above + start) / 2)
  return `${between > above ? between : above + softAboveHard}%`
}

/** Sound values in their place. Null: none is raised. */
export function raisedReason(
  raised: readonly RaisedThreshold[],
  { configuration }: Pick<NodeSubject, 'configuration'>,
): Reason | null {
  const first = raised.find(({ hard }) => hard) ?? raised[0]
  if (!first) return null
  const map = first.hard ? 'evictionHard' : 'evictionSoft'
  const alike = raised.filter(({ hard }) => hard === first.hard)
  const { to, share, value } = first
  const met = first.hard
    ? `with the default, ${to} free, this node would not evict`
    : `with ${to} free, this node would not be under pressure`
  const usual = first.hard
    ? `the default is ${to}`
    : 'a soft threshold belongs just above the hard one'
  const unmet = value.endsWith('%') ? usual : `that is ${percent(share)} of the disk; ${usual}`
  return {
    cause: kubeletSetting(`${map}.${first.signal}`),
    steps: [{ id: 'set-fields' }],
    seen: first.met === true ? met : unmet,
    fix: withEntries(
      map,
      configuration,
      Object.fromEntries(alike.map(({ signal, to }) => [signal, to])),
    ),
  }
}

/** The thresholds of the filesystem of a signal. */
export const watchingThresholds = (
  signal: Signal,
  { eviction, filesystems: { layout } }: Pick<NodeSubject, 'eviction' | 'filesystems'>,
): EvaluatedThreshold[] =>
  (eviction?.thresholds ?? []).filter(
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
