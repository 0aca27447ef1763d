/** Mounted PersistentVolumeClaims, as the kubelet measured them. Upstream: pkg/kubelet/server/stats/volume_stat_calculator.go */

import { bytes, counted, type NodeSubject, podName } from '#judge/rule.ts'
import type { FilesystemStats } from '#model/input/record.ts'
import type { Filesystems } from '#model/prediction.ts'

/** Claims with less than this share free, of bytes or of inodes, with the pod and its volume. Those without statistics are left out. */
export const scarceClaims = (summary: NodeSubject['summary'], mostFree: number) =>
  (summary?.pods ?? []).flatMap(({ podRef = {}, volume: volumes = [] }) =>
    volumes.flatMap(({ name: volume = '', pvcRef, ...stats }) => {
      const claim = pvcRef?.name
      const room = claim === undefined ? null : roomOf(stats)
      return claim !== undefined && room && room.freeShare < mostFree
        ? [{ claim, volume, podRef, stats, ...room }]
        : []
    }),
  )

/** `namespace/claim`. */
export const claimName = ({ claim, podRef }: ReturnType<typeof scarceClaims>[number]) =>
  podName({ namespace: podRef.namespace ?? '', name: claim })

/** Of bytes or inodes, whichever are scarcer. Null: the volume has no statistics. A filesystem without a table of inodes has none of them. */
function roomOf({
  capacityBytes = 0,
  usedBytes,
  availableBytes = usedBytes === undefined ? -1 : capacityBytes - usedBytes,
  inodesFree = -1,
  inodes = 0,
}: FilesystemStats) {
  if (capacityBytes <= 0 || availableBytes < 0) return null
  const ofBytes = availableBytes / capacityBytes
  const ofInodes = inodes > 0 && inodesFree >= 0 ? inodesFree / inodes : 1
  return ofInodes < ofBytes
    ? {
        unit: 'inodes' as const,
        freeShare: ofInodes,
        free: `${counted(inodesFree)} of ${counted(inodes)} inodes`,
      }
    : { freeShare: ofBytes, free: `${bytes(availableBytes)} of ${bytes(capacityBytes)}` }
}

/** Share of a disk by which two readings of it differ at most. */
const alike = 0.01

/** Whether it is a folder on the node's own disk: a local volume, or one that is not mounted. */
export const isOnNodeDisk = (
  disk: Filesystems['nodefs'] | undefined,
  { capacityBytes = 0, availableBytes = 0 }: FilesystemStats,
): boolean =>
  disk?.capacityBytes === capacityBytes &&
  Math.abs((disk.availableBytes ?? 0) - availableBytes) < alike * capacityBytes
