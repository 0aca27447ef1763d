/** Whether image GC can make room: by the replay, which knows what may be deleted, and by the ledger. */

import { mostUnpacking } from '#facts/kubelet/unpacking.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { DiskHolder } from '#model/prediction.ts'
import { diskOf } from './holder-cause.ts'

/** Lines of a ledger that can be of images which image GC deletes. */
const ofImages: ReadonlySet<string> = new Set<DiskHolder>([
  'images',
  'images-unused',
  'image-content',
  'not-images',
  'unread',
])

const unusedOnly: ReadonlySet<string> = new Set<DiskHolder>(['images-unused'])

/** Whether image GC, with whatever thresholds, leaves less than this used of the disk of images. Null: unknown. */
export function freesBelow(
  usedPercent: number,
  { imageGC, ledger }: Partial<Pick<NodeSubject, 'imageGC'>> & Pick<NodeSubject, 'ledger'>,
): boolean | null {
  const name = ledger?.isShared ? 'nodefs' : 'imagefs'
  const disk = ledger && diskOf(ledger, name)
  if (!disk) return null
  const wantedBytes = disk.usedBytes - (usedPercent / 100) * disk.capacityBytes
  const sumOf = (bound: 'lowBytes' | 'highBytes', holders: ReadonlySet<string>) =>
    disk.lines.reduce((sum, line) => sum + (holders.has(line.holder) ? line[bound] : 0), 0)
  // Packed and unpacked layers.
  const listedBytes = (1 + mostUnpacking) * (imageGC?.deletableBytes ?? Infinity)
  if (Math.min(sumOf('highBytes', ofImages), listedBytes) < wantedBytes) return false
  return sumOf('lowBytes', unusedOnly) >= wantedBytes ? true : null
}

/** Thresholds with which image GC begins early. */
export const earlyGc = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 }

/** Whether `earlyGc` starts image GC earlier. */
export const startsLate = ({ configuration }: Pick<NodeSubject, 'configuration'>): boolean =>
  (configuration?.imageGCHighThresholdPercent ?? 100) > earlyGc.imageGCHighThresholdPercent
