/** Eviction thresholds as rules read them: which signal watches which disk, and the distance to image GC. */

import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { Evidence } from '#model/finding.ts'
import { highStartingBelow, startsAboveUsedPercent } from '#model/image-gc-trigger.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { Policy } from '#model/policy.ts'
import type {
  EvaluatedThreshold,
  EvictionPrediction,
  Filesystems,
  RankedPod,
  Signal,
} from '#model/prediction.ts'
import { isWatched, sisterOf } from '#model/watched-signals.ts'
import type { NodeSubject } from './node-subject.ts'
import { line, type Satisfied } from './rule.ts'
import { bounded, bytes, exactBytes, percent } from './text.ts'

/** Upstream: pkg/kubelet/eviction/helpers.go signalToNodeCondition. */
export function conditionOf(signal: Signal): 'MemoryPressure' | 'DiskPressure' | 'PIDPressure' {
  if (signal === 'memory.available' || signal === 'allocatableMemory.available')
    return 'MemoryPressure'
  return signal === 'pid.available' ? 'PIDPressure' : 'DiskPressure'
}

/** The threshold where it is configured. A soft one with grace 0 acts as hard; some the kubelet adds by itself. */
export function configuredAt(
  { signal, value, hard }: EvaluatedThreshold,
  configuration: KubeletConfiguration | null,
): Evidence {
  const isIn = (map: 'evictionHard' | 'evictionSoft') => configuration?.[map]?.[signal] === value
  const shown = bounded(value)
  if (isIn('evictionHard') && hard) return line('configz', `evictionHard.${signal}`, shown)
  if (isIn('evictionSoft')) return line('configz', `evictionSoft.${signal}`, shown)
  return line('computed', `${hard ? 'hard' : 'soft'} threshold ${signal}`, shown)
}

/** What a hard threshold does to pods. */
export const hardEviction = ({
  kubeletVersion,
}: Pick<NodeSubject['identity'], 'kubeletVersion'>): string =>
  featuresOf(kubeletVersion).has('immediateEviction')
    ? 'killed at once, whatever their own grace period'
    : 'evicted without waiting, each with its own terminationGracePeriodSeconds to end'

interface Defaults {
  /** Of this kubelet that its `evictionHard` leaves out, by signal: nothing watches in their place. */
  lost: [signal: string, value: string][]
  /** Left out as well; whether something watches in their place depends on the layout, which is not known. */
  open: string[]
}

/** Null: the kubelet's version is unknown. */
export function lostDefaults({
  identity,
  configuration,
  eviction,
  filesystems,
}: Satisfied<'configuration' | 'eviction'>): Defaults | null {
  if (featuresOf(identity.kubeletVersion).minor === null) return null
  const present = configuration.evictionHard ?? {}
  const absent = Object.entries(
    evictionHardDefaults(identity.kubeletVersion, identity.operatingSystem),
  ).filter(
    // A key that is there but off (0%, 100%) was switched off on purpose; where there is no count of inodes, none can run out.
    ([signal]) =>
      !Object.hasOwn(present, signal) &&
      !(signal.endsWith('.inodesFree') && inodesOf(signal, filesystems) === 0),
  )
  const isSeen = (signal: string) => isWatched(signal, eviction.thresholds, filesystems.layout)
  // Inodes of one disk that were switched off under its other name are unwatched-inodes'.
  const isOff = (signal: string) =>
    filesystems.layout === 'shared' &&
    signal.endsWith('.inodesFree') &&
    Object.hasOwn(present, sisterOf(signal) ?? signal)
  return {
    lost: absent.filter(([signal]) => isSeen(signal) === false && !isOff(signal)),
    open: absent.filter(([signal]) => isSeen(signal) === null).map(([signal]) => signal),
  }
}

const inodesOf = (signal: string, { nodefs, imagefs }: Filesystems) =>
  (signal.startsWith('imagefs.') ? imagefs : nodefs)?.inodes

/** What the policy takes a filesystem of that capacity, in bytes or inodes, to grow by within `ms`. */
export const assumedGrowth = (
  ms: number,
  capacity: number,
  { assumedGrowthPercent }: Policy,
): number => (assumedGrowthPercent * capacity * ms) / (100 * imageGcPeriodMs)

export const growthLine = ({ assumedGrowthPercent }: Policy): Evidence =>
  line(
    'computed',
    `growth assumed in ${imageGcPeriodMs / 60_000} min`,
    `${percent(assumedGrowthPercent)} of the capacity`,
  )

/** How long that growth takes to fill `amount`; infinite where nothing grows. */
export const fillMs = (amount: number, capacity: number, policy: Policy): number =>
  amount / assumedGrowth(1, capacity, policy)

/** Pods of a ranking that may be evicted, in its order. */
export const evictable = (
  pods: readonly RankedPod[],
  { protected: spared }: EvictionPrediction,
): RankedPod[] =>
  pods.filter(
    pod => !spared?.some(({ namespace, name }) => pod.namespace === namespace && pod.name === name),
  )

/** Signals that count inodes or pids, not bytes. */
const isCount = ({ signal }: { signal: Signal }): boolean =>
  signal.endsWith('.inodesFree') || signal === 'pid.available'

/** containerfs follows the filesystem it lies on: the same numbers, said once. */
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

/** For sentences. */
export const shownAmount = (of: { signal: Signal }, amount: number): string =>
  isCount(of) ? `${Math.round(amount)}` : bytes(amount)

/** For evidence. */
export const exactAmount = (of: { signal: Signal }, amount: number): string =>
  isCount(of) ? String(amount) : exactBytes(amount)

/** Why something of the summary is not known. */
export function whyUnobserved(
  { unread, summary, mode }: Pick<NodeSubject, 'unread' | 'summary' | 'mode'>,
  what: string,
): string {
  if (unread.summary !== undefined) return `summary: ${unread.summary}`
  return summary === null
    ? `mode ${mode} does not read stats/summary, which tells ${bounded(what)}`
    : `stats/summary does not tell ${bounded(what)}`
}

export interface ImageGcPercentages {
  imageGCHighThresholdPercent: number
  imageGCLowThresholdPercent: number
}

/** Below this a high threshold would have image GC run all the time; the eviction threshold is what is wrong then. */
const lowestSoundHigh = 20
const bandPercent = 10

/**
 * The highest image-GC percentages whose trigger comes before eviction at `evictionPercent` with twice the
 * growth of one GC period between them, and not above the team's alert. Null where there is none worth setting.
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

/** The image-GC percentages to set along with a new `imagefs.available` threshold in percent; nothing where the running ones are sound beside it. */
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
