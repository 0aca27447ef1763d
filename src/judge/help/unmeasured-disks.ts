/** Disks of a node that the kubelet does not watch, and that no measurement reached. */
import { deviceCause, type NodeSubject } from '#judge/rule.ts'
import { disksBeside } from './disks-beside.ts'
import type { Reason } from './holder-cause.ts'
import { cutMounts, foldersElsewhere } from './host-mounts.ts'

/**
 * The largest, with what pods can write to that can be there. Null: there is none, or pods write to none.
 * @param place a folder of the node that has to be there. Null: any.
 */
export function unmeasuredReason(subject: NodeSubject, place: string | null = null) {
  const disks = disksBeside(subject).filter(({ isUsed }) => isUsed)
  const [largest] = disks
  const mounts = largest ? foldersElsewhere(subject, place) : []
  if (!largest || mounts.length === 0) return null
  const { device, size: actualBytes } = largest
  const reason: Reason = {
    cause: deviceCause('unmeasured', { device, actualBytes }),
    steps: [{ id: 'read-devices', place: device, ...cutMounts(foldersElsewhere(subject)) }],
  }
  return { disks, ...cutMounts(mounts), reason }
}
