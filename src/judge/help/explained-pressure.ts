/** What explains disk pressure that is over: what pods hold now, or what an evicted pod had written. */
import { largestEvicted } from '#judge/events/evictions.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import type { DiskHolder, NodeLedger } from '#model/prediction.ts'
import { diskOf } from './holder-cause.ts'

/** Share of the disk, and of all that pods hold, from which on one holder explains a pressure that is over; of the disk, of a pod that is gone. */
const least = { ofDisk: 0.1, ofPods: 0.5, gone: 0.25 }

const ofPods: ReadonlySet<DiskHolder> = new Set([
  ...(['writable-layers', 'pod-volumes', 'container-logs'] as const),
])

/** Whether a holder or an evicted writer explains pressure that is over. */
export const isPassedExplained = ({ ledger, pods, at }: NodeSubject): boolean =>
  ledger !== null &&
  (largestPart(ledger) !== null || evictedWriter(pods ?? [], at, ledger) !== null)

export function evictedWriter(pods: readonly KubernetesPod[], at: string, ledger: NodeLedger) {
  const { capacityBytes = Number.POSITIVE_INFINITY } = diskOf(ledger, 'nodefs') ?? {}
  return largestEvicted('ephemeral-storage', pods, at, least.gone * capacityBytes)
}

/** The container or volume that holds at least half of all that pods write; null if none does. */
export function largestPart({ parts, filesystems, namespaces }: NodeLedger) {
  const [largest] = parts
    .filter(({ holder }) => ofPods.has(holder))
    .toSorted((a, b) => b.lowBytes - a.lowBytes)
  const disk = filesystems.find(({ filesystem }) => filesystem === largest?.filesystem)
  if (!largest || !disk) return null
  const share = largest.lowBytes / disk.capacityBytes
  const isMost =
    largest.lowBytes >= least.ofPods * namespaces.reduce((sum, one) => sum + one.bytes, 0)
  return share >= least.ofDisk && isMost ? { ...largest, share } : null
}
