/** Disks that are too small for what has to be on them, and images that lie on the wrong one. */

import { bytes, deviceCause, shortName } from '#judge/rule.ts'
import type { HolderCause, StepAction } from '#model/finding.ts'
import { repositoryOf } from '#model/input/image-reference.ts'
import type { FilesystemLedger, NodeLedger } from '#model/prediction.ts'
import { podDeletion } from './deletion.ts'
import { largerVolume, volumeToWrite } from './disk-size.ts'
import {
  areAllUsed,
  diskOf,
  isBelowSystem,
  isTinyDisk,
  lineOf,
  mostOf,
  type Reason,
  roomy,
} from './holder-cause.ts'
import type { DiskSubject } from './holder-steps.ts'
import { hasFreeAge } from './thresholds.ts'

const usualOfTiny: ReadonlySet<HolderCause['holder']> = new Set([
  'unread',
  'system',
  'images',
  'images-in-use',
  'images-unused',
])

export const smallKubeletDisk = ({ capacityBytes }: FilesystemLedger, roomyBytes: number | null) =>
  `the kubelet's folder is on a disk of ${bytes(capacityBytes)}${roomyBytes === null ? '' : `; that of the images has ${bytes(roomyBytes)} free`}.`

const manyOwners = 4
/** Times the size of a disk that another one has free. */
const muchLarger = 2

/** A disk that is too small whatever holds it: for the system and its first images, or for the kubelet's folder. Null: any other disk, or one that holds something unusual. */
export function tooSmallDisk(first: HolderCause, subject: DiskSubject): Reason | null {
  const { ledger } = subject
  const disk = ledger && diskOf(ledger, first.filesystem)
  if (!disk || first.amount.unit !== 'bytes') return null
  const isOfKubelet = !ledger.isShared && first.filesystem === 'nodefs'
  const roomyBytes = isOfKubelet ? imageDiskFreeBytes(ledger) : null
  // Many owners fill it together, and none of them writes much.
  const isForMany =
    isTinyDisk(disk) &&
    (first.ownerCount ?? 0) >= manyOwners &&
    (roomyBytes ?? 0) >= muchLarger * disk.capacityBytes
  if (!isBelowSystem(disk) && !isForMany) return null
  if (isOfKubelet) {
    const deletion = podDeletion(first, subject)
    return {
      cause: deviceCause('too-small'),
      steps: [
        ...(deletion ? [deletion] : []),
        { id: 'move-kubelet-root', ...(roomyBytes !== null && { bytes: roomyBytes }) },
      ],
      seen: smallKubeletDisk(disk, roomyBytes),
    }
  }
  if (!usualOfTiny.has(first.holder)) return null
  return {
    cause: deviceCause('too-small'),
    steps: [withSize({ id: 'larger-disk' }, subject, first), { id: 'look-on-node' }],
    seen: `${bytes(disk.capacityBytes)} in all is less than a node's system and its first images need.`,
  }
}

/** Holders of images' disk that a larger one ends. */
const ofImageDisk: ReadonlySet<HolderCause['holder']> = new Set([
  'images-in-use',
  'image-content',
  'unread',
])

/** Images on a disk of their own, while another of the node has much more room. Null: any other disk. */
export function smallImageDisk({ holder, filesystem, amount }: HolderCause, subject: DiskSubject) {
  const { ledger, host } = subject
  const [disk, nodefs] = [
    ledger?.isShared === false && diskOf(ledger, 'imagefs'),
    ledger && diskOf(ledger, 'nodefs'),
  ]
  if (!disk || !nodefs || filesystem !== 'imagefs' || amount.unit !== 'bytes') return null
  const freeBytes = nodefs.capacityBytes - nodefs.usedBytes
  const isRoomy = nodefs.usedBytes <= roomy * nodefs.capacityBytes
  if (!ofImageDisk.has(holder) || !isRoomy || freeBytes < 2 * disk.capacityBytes) return null
  const { device, mount: place } = host?.filesystems?.find(({ role }) => role === 'imagefs') ?? {}
  const name = device === undefined ? '' : `, ${shortName(`${device} at ${place}`)},`
  return {
    cause: deviceCause('too-small'),
    steps: [
      {
        id: 'move-kubelet-root' as const,
        variant: 'image' as const,
        bytes: freeBytes,
        ...(place !== undefined && { place }),
      },
      ...packedLayerSteps(disk, subject),
    ],
    seen: `images have a disk of their own${name} with ${bytes(disk.capacityBytes)} in all; the node's other disk has ${bytes(freeBytes)} free.`,
  }
}

/** Share of a disk from which on packed layers are worth a setting. */
const leastPacked = 0.2

export function packedLayerSteps(disk: FilesystemLedger, { host }: DiskSubject): StepAction[] {
  const packed = lineOf(disk, 'image-content')?.lowBytes ?? 0
  return host?.containerd?.discardUnpackedLayers === false &&
    packed >= leastPacked * disk.capacityBytes
    ? [{ id: 'set-discard-unpacked' }]
    : []
}

/**
 * Images hold most files of the disk, or may hold those that were not counted: unused images go first, and then by age. Of images in use, fewer or
 * a disk with more inodes. Null: another disk.
 */
export function filesOfImages(
  { holder, filesystem, amount: { unit } }: HolderCause,
  subject: DiskSubject,
): Pick<Reason, 'steps' | 'seen' | 'fix'> | null {
  const { ledger, node } = subject
  const disk = ledger && diskOf(ledger, filesystem)
  const canHold =
    holder === 'unread' &&
    disk &&
    2 * mostOf(disk, one => one.holder === 'images' || one.holder === 'images-unused') >=
      disk.usedBytes
  if (unit !== 'inodes' || !(canHold || holder === 'images' || holder === 'images-unused'))
    return null
  const unused = subject.unusedImages?.() ?? null
  const names = (node?.status?.images ?? []).flatMap(image => repositoryOf(image.names?.[0] ?? ''))
  const [[largest, alike] = ['', []], [, next] = ['', []]] = [
    ...Map.groupBy(names, name => name),
  ].toSorted(([, a], [, b]) => b.length - a.length)
  if (areAllUsed(ledger?.parts ?? []))
    return {
      steps: [{ id: 'larger-disk', unit }],
      seen: 'pods use every image that is known here: image GC frees none of these files.',
    }
  // Image GC starts by bytes, not by inodes: only its age deletes images earlier.
  const isFree = !canHold && hasFreeAge(subject)
  const lasting: StepAction = isFree ? { id: 'set-fields' } : { id: 'larger-disk', unit }
  const reason = {
    steps: [
      { id: 'prune-images' as const },
      canHold ? { id: 'look-on-node' as const, unit } : lasting,
    ],
    ...(isFree && { fix: { config: { imageMaximumGCAge: '168h0m0s' } } }),
  }
  if (unused !== null) return { ...reason, seen: `N${unused.slice(1)}.` }
  if (alike.length <= Math.max(1, next.length)) return reason
  return {
    ...reason,
    seen: `${alike.length} of the ${names.length} images that the node lists are of ${shortName(largest)}.`,
  }
}

/** What the images' own disk has free. Null: images have none, or it has no room for the kubelet's folder. */
export function imageDiskFreeBytes(ledger: NodeLedger | null): number | null {
  const [nodefs, imagefs] = [
    ledger && diskOf(ledger, 'nodefs'),
    ledger?.isShared === false && diskOf(ledger, 'imagefs'),
  ]
  if (!nodefs || !imagefs || imagefs.usedBytes > roomy * imagefs.capacityBytes) return null
  const free = imagefs.capacityBytes - imagefs.usedBytes
  return free < 2 * nodefs.capacityBytes ? null : free
}

export function withSize(
  step: StepAction,
  { ledger, identity, imageGC, host }: DiskSubject,
  { filesystem }: HolderCause,
): StepAction {
  const disk = ledger && diskOf(ledger, filesystem)
  if (step.id !== 'larger-disk' || step.unit || step.variant === 'needed' || !ledger || !disk)
    return step
  const { mount } = host?.filesystems?.find(({ role }) => role === filesystem) ?? {}
  const low = imageGC?.lowThresholdPercent
  return largerVolume(identity, volumeToWrite(disk, ledger, identity.amiFamily, low, mount))
}
