/** Disks of a node that the kubelet does not watch, and that no measurement reached. */
import { deviceCause, type NodeSubject, shorten } from '#judge/rule.ts'
import { hasVolumeSize } from '#model/prediction.ts'
import type { Reason } from './holder-cause.ts'
import { foldersElsewhere } from './host-mounts.ts'

/** A disk or a partition of one, with the name of the disk. Logical volumes and arrays do not show theirs. */
const plainDisk = /^\/dev\/(nvme\d+n\d+|(?:s|v|xv)d[a-z]+|mmcblk\d+)(?:p?\d+)?$/

/**
 * The largest, with what pods can write to that can be there. Null: there is none, or pods write to none.
 * @param place a folder of the node that has to be there. Null: any.
 */
export function unmeasuredReason(subject: NodeSubject, place: string | null = null) {
  const disks = unmeasuredDisks(subject)
  const [largest] = disks
  const measured = (subject.host?.diskUse?.folders ?? []).map(({ path = '' }) => path)
  const mounts = largest ? foldersElsewhere(subject, measured, place) : []
  if (!largest || mounts.length === 0) return null
  const { device, size: actualBytes } = largest
  const reason: Reason = {
    cause: deviceCause('unmeasured', { device, actualBytes }),
    steps: [{ id: 'read-devices', place: device, mounts: foldersElsewhere(subject, measured) }],
  }
  return { disks, mounts, reason }
}

/** Disks in use that hold neither of the kubelet's filesystems and no claim of its pods, the largest first. */
function unmeasuredDisks({ host, summary }: NodeSubject) {
  const known = (host?.filesystems ?? []).map(({ device = '' }) => plainDisk.exec(device)?.[1])
  if (known.length === 0 || known.includes(undefined)) return []
  const claims = (summary?.pods ?? []).flatMap(({ volume = [] }) =>
    volume.flatMap(({ pvcRef, capacityBytes }) => (pvcRef ? (capacityBytes ?? []) : [])),
  )
  return (host?.diskUse?.devices ?? [])
    .filter(
      ({ name = '', bytes: size = 0, isUsed }) =>
        isUsed === true &&
        size > 0 &&
        !known.includes(name) &&
        !claims.some(capacity => hasVolumeSize(capacity, size)),
    )
    .map(({ name = '', bytes: size = 0 }) => ({ device: `/dev/${shorten(name, 60)}`, size }))
    .toSorted((a, b) => b.size - a.size)
}
