/**
 * What holds a disk, as causes. Ranked by bytes: those that nothing frees count more than those that an owner frees, and these more than
 * unused images, which image GC deletes.
 */
import { bytesText } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import { holders } from '#facts/holders.ts'
import type { Amount, Cause, FreedBy, HolderCause, StepAction } from '#model/finding.ts'
import {
  conditionOf,
  type DiskHolder,
  type FilesystemLedger,
  type HolderOwner,
  type HolderPart,
  type LedgerLine,
  type NodeLedger,
  type Signal,
} from '#model/prediction.ts'

export interface Reason {
  cause: Cause
  steps: StepAction[]
  /** What the step `set-fields` sets. */
  fix?: { config: Record<string, unknown> }
  seen?: string
}

const weights: Readonly<Record<FreedBy, number>> = {
  nothing: 1.5,
  'process-end': 1.5,
  'image-deletion': 1.5,
  'pod-deletion': 1.25,
  'container-gc': 1.25,
  'image-gc': 0.8,
}
/** Share of the disk below which a holder is no cause; of the usual contents of a node; of pods, before what was not read. */
const least = { share: 0.05, usual: 0.25, beforeUnread: 0.25 }
const ranked = 3
/** A second holder or owner counts as equal from this share of the first one's amount. */
const equal = 0.8
/** A second owner has a step of its own from this share of the first one's amount. */
const leastSecond = 0.5
/** The first of two equal owners has at least this share of the holder's amount. */
const leastHalf = 0.4
/** Share of a disk that is used at most where enough room is left. */
export const roomy = 0.7

type Unit = 'bytes' | 'inodes'

/** The causes of a disk that is full or nearly so, the first counts most. Empty: there is no ledger of it. */
export function heldBySignal(ledger: NodeLedger | null, signal: Signal): HolderCause[] {
  const unit: Unit = signal.endsWith('.inodesFree') ? 'inodes' : 'bytes'
  const name = signal.startsWith('nodefs.') || ledger?.isShared ? 'nodefs' : 'imagefs'
  const disk = ledger && diskOf(ledger, name)
  if (!ledger || !disk || conditionOf(signal) !== 'DiskPressure') return []
  const size = unit === 'bytes' ? disk.capacityBytes : (disk.usedInodes ?? 0)
  const lines = withUnmeasuredPods(disk.lines)
    .filter(line => {
      const isUsual = holders[line.holder].isUsual === true
      return expectedAmount(line, unit) >= size * (isUsual ? least.usual : least.share)
    })
    .toSorted((a, b) => lineWeight(b, unit) - lineWeight(a, unit))
  const first = mainLine(lines, disk, ledger, unit, size)
  return [...(first ? [first] : []), ...lines.filter(line => line !== first)]
    .slice(0, ranked)
    .map(line => holderCause(line, disk, ledger, unit))
    .map((cause, index, causes) =>
      index === 0 ? withEqualHolder(cause, causes.slice(1), disk) : cause,
    )
}

const isRoomyWithout = (spareBytes: number, { usedBytes, capacityBytes }: FilesystemLedger) =>
  usedBytes - spareBytes < roomy * capacityBytes

/** Another cause that holds about as much: a reader who ends the first alone ends half. */
function withEqualHolder(
  first: HolderCause,
  others: readonly HolderCause[],
  disk: FilesystemLedger,
): HolderCause {
  const { holder, amount, also } = first
  // Images that pods need are no second cause if the disk has room without the first.
  const areImagesNeeded = amount.unit === 'bytes' && isRoomyWithout(amount.low, disk)
  const other = others.find(
    one =>
      one.holder !== 'unread' &&
      !(one.holder === 'images-in-use' && areImagesNeeded) &&
      !holders[one.holder].isUsual &&
      one.amount.low >= equal * amount.low,
  )
  const isVague = holder === 'unread' || !isAmountKnown(amount)
  return isVague || also || !other ? first : { ...first, also: other }
}

/** Bounds far apart do not say which of two is larger. */
const isAmountKnown = ({ low, high }: Pick<Amount, 'low' | 'high'>) =>
  low > 0 && equal * (high ?? Infinity) <= low

/** @param lines by weight */
function mainLine(
  lines: LedgerLine[],
  disk: FilesystemLedger,
  ledger: NodeLedger,
  unit: Unit,
  size: number,
) {
  const [first] = lines
  if (!first) return undefined
  const large = lines.filter(line => expectedAmount(line, unit) >= size * least.beforeUnread)
  const unread = lines.find(({ holder }) => holder === 'unread')
  const systemBytes = isTinyDisk(disk) ? 0 : usualSystem.bytes
  const isLess = unit === 'bytes' && first.highBytes < (unread?.lowBytes ?? 0) - systemBytes
  // What is known comes before a measurement of the rest, unless the rest is larger for sure.
  if (unread && (first === unread || isLess)) return large.find(isOfOwner) ?? unread
  const hasRoomWithout = (spareBytes: number) =>
    unit === 'bytes' && isRoomyWithout(spareBytes, disk) && !isTinyDisk(disk)
  /** The first line, if the disk would have room without these lines. */
  const firstUnneeded = (spare: LedgerLine[]) =>
    hasRoomWithout(spare.reduce((sum, { lowBytes }) => sum + lowBytes, 0)) ? spare[0] : null
  const isUnusedImages = ({ holder }: LedgerLine) => holder === 'images-unused'
  if (first.holder === 'images-in-use')
    return (
      firstUnneeded(lines.filter(isUnusedImages)) ??
      // What one step frees, and no running pod writes again, comes before a larger disk.
      lines.find(line =>
        isOfOwner(line)
          ? hasRoomWithout(ofOneOwner(line, disk, ledger))
          : isUnusual(line) && firstUnneeded([line]),
      ) ??
      first
    )
  if (!holders[first.holder].isUsual) return first
  // What should not be there comes before the usual contents of a node.
  return (
    large.find(isUnusual) ??
    firstUnneeded(lines.filter(line => isUnusedImages(line) || isUnusual(line))) ??
    first
  )
}

/** What one owner alone holds of a line. */
function ofOneOwner(line: LedgerLine, disk: FilesystemLedger, ledger: NodeLedger): number {
  const { owner, amount, largestBytes = amount.low } = holderCause(line, disk, ledger)
  return owner ? largestBytes : 0
}

const isOfOwner = ({ holder }: LedgerLine) => holders[holder].actor === 'owner'

const isUnusual = ({ holder }: LedgerLine) =>
  holders[holder].isUsual !== true && !imageHolders.has(holder) && holder !== 'unread'

/** If pods have no statistics, what they hold is unread, too: as much as the bounds of images leave. */
function withUnmeasuredPods(lines: readonly LedgerLine[]): readonly LedgerLine[] {
  const isPartial = lines.some(
    ({ holder, bytes, highBytes }) => holder === 'writable-layers' && highBytes > bytes,
  )
  if (!isPartial) return lines
  return lines.map(line => (line.holder === 'unread' ? { ...line, bytes: line.highBytes } : line))
}

/** The middle of the bounds: of unread images, for example. */
function expectedAmount({ holder, bytes, lowBytes, highBytes, inodes }: LedgerLine, unit: Unit) {
  if (unit === 'inodes') return inodes ?? 0
  return holder === 'unread' ? bytes : (lowBytes + Math.min(highBytes, bytes)) / 2
}

/** Size of a node's system with its first logs. Unread bytes up to this size are no cause. */
const usualSystem: Readonly<Record<Unit, number>> = { bytes: 3 * gibibyte, inodes: 0 }

/** A disk of which the system alone takes a third or more. */
export const isTinyDisk = ({ capacityBytes }: FilesystemLedger): boolean =>
  capacityBytes < 3 * usualSystem.bytes

/** A disk that is smaller than what the system of a node takes: whatever holds it, it is too small. */
export const isBelowSystem = ({ capacityBytes }: FilesystemLedger): boolean =>
  capacityBytes < usualSystem.bytes

const lineWeight = (line: LedgerLine, unit: Unit) =>
  line.holder === 'unread'
    ? expectedAmount(line, unit) - usualSystem[unit]
    : expectedAmount(line, unit) * weights[holders[line.holder].freedBy]

export const diskOf = (
  { filesystems }: Pick<NodeLedger, 'filesystems'>,
  name: HolderCause['filesystem'],
) => filesystems.find(({ filesystem }) => filesystem === name)

export const lineOf = ({ lines }: FilesystemLedger, wanted: DiskHolder) =>
  lines.find(({ holder }) => holder === wanted)

/** What the kubelet counts of a pod. */
export const ofLocalStorage: ReadonlySet<DiskHolder> = new Set([
  'writable-layers',
  'pod-volumes',
  'container-logs',
])

/** What the kubelet counts of the pods of all namespaces. */
export const podBytesOf = ({ namespaces }: Pick<NodeLedger, 'namespaces'>) =>
  namespaces.reduce((sum, one) => sum + one.bytes, 0)

export const partCause = ({
  holder,
  filesystem,
  lowBytes: low,
  highBytes: high,
  owner,
  place,
  claims,
}: Omit<HolderPart, 'inodes'>): HolderCause => ({
  kind: 'holder',
  holder,
  filesystem,
  freedBy: holders[holder].freedBy,
  amount: { unit: 'bytes', low, high },
  owner,
  place,
  ...(claims && { claims }),
})

export function holderCause(
  { holder, lowBytes, highBytes, inodes }: LedgerLine,
  { filesystem, usedBytes }: FilesystemLedger,
  { parts, owners }: Pick<NodeLedger, 'parts' | 'owners'>,
  unit: Unit = 'bytes',
): HolderCause {
  // Where the users of some images are unknown, the line counts all images, and the parts tell them apart.
  const own = parts
    .filter(
      part =>
        part.filesystem === filesystem &&
        // Nothing counts the files of one image.
        (unit === 'bytes' || part.owner?.kind !== 'image') &&
        (holder === 'images' ? part.owner?.kind === 'image' : part.holder === holder),
    )
    .toSorted((a, b) =>
      unit === 'inodes' ? (b.inodes ?? 0) - (a.inodes ?? 0) : b.lowBytes - a.lowBytes,
    )
  const largestBytes = unit === 'bytes' ? largestOwnerBytes(own, owners) : null
  const [most] = own
  const isSmallImage =
    most?.owner?.kind === 'image' && (most.highBytes ?? 0) < largeImage * highBytes
  const isOfMany =
    (isSmallImage && holder === 'images-in-use') ||
    (largestBytes !== null && largestBytes < leastOwned * lowBytes && isPodPart(most))
  const largest = isOfMany || isSmallImage ? undefined : most
  const isHalf = largest !== undefined && lowBytes > 0 && largest.lowBytes >= leastHalf * lowBytes
  const second = unit === 'bytes' && isHalf && own.find(part => isOtherOwner(part, largest))
  const sharing = owners.filter(one => usedFor(one, holder) > 0).length
  const ownerCount = (largestBytes ?? 0) < lowBytes / 2 ? sharing : 0
  const isVolume = largest?.owner?.kind === 'pod' && largest.owner.volume !== null
  const ofVolume = isVolume ? own.filter(part => isOfVolume(part, largest)) : own
  // A volume that is named alone stands beside the bytes that the owner's pods have in it.
  const namedBytes =
    ownerCount === 0 && ofVolume.length < own.length
      ? ofVolume.reduce((sum, part) => sum + part.lowBytes, 0)
      : largestBytes
  const isLeft = holder === 'pod-folders' && isUnmounted(largest?.place ?? null)
  return {
    kind: 'holder',
    holder,
    filesystem,
    freedBy: isLeft ? 'nothing' : holders[holder].freedBy,
    amount:
      unit === 'inodes'
        ? { unit, low: inodes ?? 0, high: inodes }
        : { unit, low: lowBytes, high: Math.min(highBytes, usedBytes) },
    owner: largest?.owner ?? null,
    ...(largest?.claims && { claims: largest.claims }),
    ...(largest?.owner == null &&
      !largest?.claims &&
      (isOfMany || holders[holder].actor === 'owner') && { owners: isOfMany ? 'many' : 'unknown' }),
    // The root folder is no place to look into.
    place: !largest || largest.place === '/' ? null : largest.place,
    ...(largestBytes !== null &&
      namedBytes !== null &&
      !isOfMany &&
      bytesText(namedBytes) !== bytesText(lowBytes) && {
        largestBytes: Math.round(largestBytes),
        ...(namedBytes !== largestBytes && { volumeBytes: Math.round(namedBytes) }),
        ...(ownerCount && { ownerCount }),
      }),
    ...(second && { also: partCause(second) }),
  }
}

const isOfVolume = (part: HolderPart, { owner, ...largest }: HolderPart) =>
  owner?.kind === 'pod' &&
  part.owner?.kind === 'pod' &&
  (!ofFolders.has(part.holder) || part.place === largest.place) &&
  part.owner.volume === owner.volume &&
  ownerOf(part) === ownerOf({ owner, ...largest })

/** Whether the part is another owner's or lies elsewhere, and is about as large. One image beside another says nothing. */
function isOtherOwner(part: HolderPart, largest: HolderPart): boolean {
  const { owner, place, lowBytes: low, highBytes: high } = part
  if (
    owner?.kind === 'image' ||
    !isAmountKnown({ low, high }) ||
    low < leastSecond * largest.lowBytes
  )
    return false
  return !owner || !largest.owner
    ? owner !== largest.owner || place !== largest.place
    : nameOf(owner) !== nameOf(largest.owner)
}

const nameOf = (owner: HolderOwner) =>
  owner.kind === 'image'
    ? owner.kind
    : `${owner.namespace}/${('workload' in owner && owner.workload) || owner.pod}`

/**
 * In place of a volume that is not mounted: the kubelet deletes no such folder that has files.
 * Upstream: pkg/kubelet/kubelet_volumes.go removeOrphanedPodVolumeDirs
 */
export const isUnmounted = (place: string | null): boolean =>
  place?.includes('/volumes/kubernetes.io~') === true

/** Share of the images from which on the largest is named. */
const largeImage = 0.2
/** Share of a holder from which on its largest owner is the one to act. With less, many owners hold it together. */
export const leastOwned = 0.1

export const isPodPart = (part: HolderPart | undefined): boolean =>
  part?.owner?.kind === 'container' || part?.owner?.kind === 'pod'

/** Of folders on the node: each is a part. */
const ofFolders: ReadonlySet<DiskHolder> = new Set(['host-path', 'local-volumes'])

/** What the owner of the largest part holds together. Null: images, or unlisted parts may be of this owner, too. @param parts largest first */
function largestOwnerBytes(parts: readonly HolderPart[], owners: NodeLedger['owners']) {
  const [largest] = parts
  if (!largest || largest.owner?.kind === 'image') return null
  const key = ownerOf(largest)
  const same = parts.filter(part => ownerOf(part) === key)
  if (same.length === parts.length && parts.length > 1 && !ofFolders.has(largest.holder)) {
    const whole = owners.find(one => `${one.namespace}/${one.owner}` === key)
    return (whole && usedFor(whole, largest.holder)) || null
  }
  return same.reduce((sum, { lowBytes }) => sum + lowBytes, 0)
}

/** What the pods of an owner hold of this kind. 0: that is not counted. */
export function usedFor(use: NodeLedger['owners'][0], holder: DiskHolder): number {
  if (holder === 'pod-volumes') return use.volumeBytes
  if (holder === 'container-logs') return use.logBytes
  return holder === 'writable-layers' ? use.layerBytes : 0
}

function ownerOf({ owner, place }: HolderPart) {
  if (!owner || owner.kind === 'image') return `place ${place}`
  if (owner.kind === 'process') return `process ${owner.pid}`
  return `${owner.namespace}/${owner.workload ?? owner.pod}`
}

/** Whether a holder is neither of pods nor of images, and larger than on other nodes. What was not read has the system in it. */
export function isUnusuallyLarge(line: LedgerLine, capacityBytes: number): boolean {
  const { actor, isUsual } = holders[line.holder]
  if (actor === 'owner' || imageHolders.has(line.holder)) return false
  const share = isUsual === true || line.holder === 'unread' ? least.usual : least.share
  return expectedAmount(line, 'bytes') >= share * capacityBytes
}

/** Whether pods that were evicted here run most of the unused images. */
export function areOfEvicted(parts: readonly HolderPart[]): boolean {
  const signed = parts.map(({ owner, lowBytes }) => {
    const isUnused = owner?.kind === 'image' && owner.workloads.length === 0
    return isUnused && owner.isInUse !== true ? lowBytes * (owner.isEvicted ? 1 : -1) : 0
  })
  return signed.reduce((sum, one) => sum + one, 0) > 0
}

/** Whether the images of the node are known, and pods use each. */
export function areAllUsed(parts: readonly HolderPart[]): boolean {
  const images = parts.flatMap(({ owner }) => (owner?.kind === 'image' ? owner : []))
  return (
    images.length > 0 &&
    images.every(({ workloads, isInUse }) => isInUse === true || workloads.length > 0)
  )
}

const imageHolders: ReadonlySet<string> = new Set([
  'images',
  'images-unused',
  'images-in-use',
  'images-pinned',
])

/** Whether something else than images holds most of a disk, even if it is not known what. False: unknown, too. */
export function isHeldByOthers(ledger: NodeLedger | null, signal: Signal): boolean {
  const [first] = heldBySignal(ledger, signal)
  if (!first || imageHolders.has(first.holder)) return false
  if (first.holder !== 'unread') return true
  const disk = ledger && diskOf(ledger, first.filesystem)
  return !!disk && mostOf(disk, isOfImages) < disk.usedBytes / 2
}

/** The most that these holders have together. */
export const mostOf = ({ lines }: FilesystemLedger, isOf: (line: LedgerLine) => boolean): number =>
  lines.reduce((sum, line) => sum + (isOf(line) ? line.highBytes : 0), 0)

export const isOfImages = ({ holder }: LedgerLine) => imageHolders.has(holder)

/** If images and pods have less than this share of the used bytes, their deletion makes little room. */
const little = 0.1

/** Of a disk that no measurement explains, beside what pods have in layers, logs and emptyDirs. */
export const openFilesUnread = 'what pods hold open of deleted files is not known'

/** That images and pods have little. Null: they have much, or it is unknown. */
export function littleText(disk: FilesystemLedger, areOpenFilesRead: boolean): string | null {
  const [images, pods] = [mostOf(disk, isOfImages), mostOf(disk, isOfOwner)]
  if (images === 0 || pods === 0 || images + pods >= little * disk.usedBytes) return null
  const ofImages = `images are at most ${bytesText(images)} of ${bytesText(disk.usedBytes)}`
  return areOpenFilesRead
    ? `${ofImages}, and pods ${bytesText(pods)}: neither pruning images nor deleting pods makes much room.`
    : `${ofImages}, and layers, logs and volumes of pods ${bytesText(pods)}: to delete them makes little room; ${openFilesUnread}.`
}
