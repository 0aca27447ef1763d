/** Containers that ended, and what they wrote to. */

import { dayMs } from '#base/units.ts'
import { isWithinWindow } from '#judge/events/events.ts'
import { type Failing, line, type NodeSubject, percent } from '#judge/rule.ts'
import {
  type ContainerSpec,
  type KubernetesPod,
  statusesOf,
  type VolumeSource,
} from '#model/input/record.ts'
import type { FilesystemState, Signal } from '#model/prediction.ts'
import { diskReason } from './disk-reason.ts'
import { diskOf, heldBySignal } from './holder-cause.ts'
import { isShortOfInodes } from './thresholds.ts'

/** Free share of bytes and of inodes of a disk above which a file can be written. */
const least = { bytes: 0.1, inodes: 0.05 }

export function hasRoom({
  availableBytes,
  capacityBytes,
  inodesFree,
  inodes,
}: FilesystemState): boolean {
  if (availableBytes === null || capacityBytes === null) return false
  if (availableBytes < least.bytes * capacityBytes) return false
  return inodesFree === null || inodes === null || inodesFree >= least.inodes * inodes
}

/** Of containers that ended within a day, or are started again after that, those with such a message. */
export function endedContainers(
  pods: readonly KubernetesPod[],
  at: string,
  isMeant: (message: string, reason: string) => boolean,
) {
  const ended: { pod: KubernetesPod; name: string; message: string }[] = []
  for (const pod of pods)
    for (const { name = '', state, lastState } of statusesOf(pod))
      for (const end of [state?.terminated, lastState?.terminated]) {
        if (!end) continue
        const { message = '', reason = '', finishedAt = null } = end
        if (isMeant(message, reason) && isWithinWindow(finishedAt, at, dayMs))
          ended.push({ pod, name, message })
      }
  return ended
}

export const containerOf = ({ spec }: KubernetesPod, name: string): ContainerSpec | undefined =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find(one => one.name === name)

export const volumeOf = ({ spec }: KubernetesPod, name: string | undefined) =>
  spec?.volumes?.find(volume => volume.name === name)

/** How a volume in memory gets larger. Null: another volume, or one that ends at the node's memory. Upstream: pkg/volume/emptydir/empty_dir.go calculateEmptyDirMemorySize */
export function memoryVolumeStep({ spec }: KubernetesPod, { emptyDir }: VolumeSource) {
  if (emptyDir?.medium !== 'Memory') return null
  if (emptyDir.sizeLimit !== undefined) return 'raise-memory-volume'
  // Without a sizeLimit it ends at the pod's limits of memory.
  const isLimited = spec?.containers?.every(({ resources }) => resources?.limits?.memory) === true
  return isLimited ? 'set-memory' : null
}

/* Disks with few inodes left, and who holds these. */

/** The first disk with few inodes that the signals observe: what is left, and the steps against its largest holder. Null: there is none. */
export function shortInodes(
  subject: NodeSubject,
  signals: readonly string[],
): Required<Pick<Failing, 'seen' | 'steps' | 'evidence'>> | null {
  const { filesystems, ledger } = subject
  for (const name of ['nodefs', 'imagefs'] as const) {
    const signal: Signal = `${name}.inodesFree`
    const { inodes, inodesFree } = filesystems[name] ?? {}
    if (!signals.includes(signal) || !isShortOfInodes(filesystems[name]) || !inodes) continue
    const held = ledger && diskOf(ledger, name)?.lines
    const [most] = (held ?? []).toSorted((a, b) => (b.inodes ?? 0) - (a.inodes ?? 0))
    const reason = heldBySignal(ledger, signal).length > 0 ? diskReason(subject, signal) : null
    return {
      seen: `${inodesFree} of ${inodes} inodes of ${name} are left (${percent((100 * (inodesFree ?? 0)) / inodes)}).`,
      steps: [...(reason?.steps ?? []), { id: 'set-fields' }],
      evidence: most?.inodes ? [line('computed', `most inodes: ${most.holder}`, most.inodes)] : [],
    }
  }
  return null
}
