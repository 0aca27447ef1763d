/** Whether image GC can make room: by the replay, which knows what may be deleted, and by the ledger. */

import { mostUnpacking } from '#facts/kubelet/unpacking.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { DiskHolder, NodeLedger } from '#model/prediction.ts'

/** Lines of a ledger that can be of images which image GC deletes. */
const ofImages: ReadonlySet<string> = new Set<DiskHolder>([
  ...(['images', 'images-unused', 'image-content', 'not-images', 'unread'] as const),
])

const unusedOnly: ReadonlySet<string> = new Set<DiskHolder>(['images-unused'])

interface ImageDisk {
  imageGC?: Pick<NonNullable<NodeSubject['imageGC']>, 'deletableBytes'> | null
  ledger: Pick<NodeLedger, 'filesystems' | 'isShared'> | null
}

/** Whether image GC, with whatever thresholds, leaves less than this used of the disk of images. Null: unknown. */
export function freesBelow(usedPercent: number, { imageGC, ledger }: ImageDisk): boolean | null {
  const name = ledger?.isShared ? 'nodefs' : 'imagefs'
  const disk = ledger?.filesystems.find(({ filesystem }) => filesystem === name)
  if (!disk) return null
  const wantedBytes = disk.usedBytes - (usedPercent / 100) * disk.capacityBytes
  const sumOf = (bound: 'lowBytes' | 'highBytes', holders: ReadonlySet<string>) =>
    disk.lines.reduce((sum, line) => sum + (holders.has(line.holder) ? line[bound] : 0), 0)
  // Packed and unpacked layers.
  const listedBytes = (1 + mostUnpacking) * (imageGC?.deletableBytes ?? Number.POSITIVE_INFINITY)
  if (Math.min(sumOf('highBytes', ofImages), listedBytes) < wantedBytes) return false
  return sumOf('lowBytes', unusedOnly) >= wantedBytes ? true : null
}

/** Thresholds with which image GC begins early. */
export const earlyGc = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 }

/** Whether `earlyGc` starts image GC earlier. */
export const startsLate = ({ configuration }: Pick<NodeSubject, 'configuration'>): boolean =>
  (configuration?.imageGCHighThresholdPercent ?? 100) > earlyGc.imageGCHighThresholdPercent
