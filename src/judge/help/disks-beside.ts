/** Disks of a node on which neither the kubelet's folder nor the images are. */

import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { shorten } from '#judge/text.ts'
import { hasVolumeSize } from '#model/prediction.ts'

/** A disk or a partition of one, with the name of the disk. Logical volumes and arrays do not show theirs. */
const plainDisk = /^\/dev\/(nvme\d+n\d{1,4}|(?:s|v|xv)d[a-z]+|mmcblk\d{1,4})(?:p?\d+)?$/

type OfDisks = Partial<Pick<NodeSubject, 'host' | 'summary'>>

/** Largest first, without disks of the size of a mounted claim. Empty: none, or the kubelet's disk is unknown. */
export function disksBeside({ host, summary }: OfDisks) {
  const known = (host?.filesystems ?? []).map(({ device = '' }) => plainDisk.exec(device)?.[1])
  if (known.length === 0 || known.includes(undefined)) return []
  const claims = (summary?.pods ?? []).flatMap(({ volume = [] }) =>
    volume.flatMap(({ pvcRef, capacityBytes }) => (pvcRef ? (capacityBytes ?? []) : [])),
  )
  return (host?.diskUse?.devices ?? [])
    .flatMap(({ name = '', bytes: size = 0, isUsed }) => {
      const isOther = isUsed !== undefined && size > 0 && !known.includes(name)
      return isOther && !claims.some(capacity => hasVolumeSize(capacity, size))
        ? [{ device: `/dev/${shorten(name, 60)}`, size, isUsed }]
        : []
    })
    .toSorted((a, b) => b.size - a.size)
}

/** Model of the NVMe device: `Amazon EC2 NVMe Instance Storage`. Source: EC2 user guide, instance store volumes. */
const instanceStore = /instance storage/i

/** Instance-store disks on which nothing is. */
export const idleInstanceStores = (host: OfDisks['host']) =>
  (host?.diskUse?.devices ?? []).flatMap(({ name = '', bytes: size = 0, model = '', isUsed }) =>
    isUsed === false && instanceStore.test(model)
      ? [{ device: `/dev/${shorten(name, 60)}`, size }]
      : [],
  )
