/** What explains disk pressure that is over: what pods hold now, or what an evicted pod had written. */
import { amountOrNull } from '#base/go/quantity.ts'
import { weekMs } from '#base/units.ts'
import { diskEvictions, largestEvicted, placeOf } from '#judge/events/evictions.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { NodeLedger } from '#model/prediction.ts'
import { diskOf, ofLocalStorage, podBytesOf } from './holder-cause.ts'
import { watchingThresholds } from './thresholds.ts'

/** A holder explains a pressure that is over if it has these shares of the disk, and of all that pods hold. */
const least = { ofDisk: 0.1, ofPods: 0.5 }

/** An evicted pod explains the pressure if it had written `ofDisk` of the disk. Less explains it, too: `atLeast` of the disk, and `ofLeft` of what is left before eviction. */
const leastWritten = { ofDisk: 0.25, ofLeft: 0.5, atLeast: 0.05 }

/** Whether a holder or an evicted writer explains pressure that is over. */
export const isPassedExplained = (subject: NodeSubject): boolean =>
  subject.ledger !== null &&
  (largestPart(subject.ledger) !== null || evictedWriter(subject, subject.ledger) !== null)

/** Of the pods that were evicted within a week: who wrote most, and what is left of the disk before the next eviction. */
export function evictedWriter(subject: NodeSubject, ledger: NodeLedger) {
  const { pods, at, eviction, filesystems } = subject
  const name = filesystems.layout === 'imagefs' ? 'imagefs' : 'nodefs'
  const disk = diskOf(ledger, name)
  if (!disk) return null
  const { capacityBytes, usedBytes } = disk
  const watching = eviction ? watchingThresholds(`${name}.available`, { ...subject, eviction }) : []
  const leftBytes = Math.min(
    capacityBytes - usedBytes,
    ...watching.flatMap(({ margin }) => margin ?? []),
  )
  const leastBytes = Math.max(
    leastWritten.atLeast * capacityBytes,
    Math.min(leastWritten.ofDisk * capacityBytes, leastWritten.ofLeft * leftBytes),
  )
  const largest = largestEvicted('ephemeral-storage', pods ?? [], at, leastBytes, weekMs)
  if (!largest) return null
  const { request, ...writer } = largest
  const requestBytes = amountOrNull(request) ?? 0
  const { namespace, pod, workload } = writer.owner
  const times = diskEvictions(pods ?? [], at, weekMs)
    .filter(one => one.namespace === namespace)
    .filter(one => (workload === null ? one.name === pod : placeOf(one).workload === workload))
    .flatMap(({ time }) => time ?? [])
  return {
    writer,
    times: times.toSorted(),
    capacityBytes,
    leftBytes,
    // Alone it would fit: the scheduler, which counts requests, put others beside it.
    requestBytes:
      requestBytes > 0 &&
      requestBytes < writer.bytes &&
      writer.bytes < leftBytes + podBytesOf(ledger)
        ? requestBytes
        : null,
  }
}

/** The container or volume that holds at least half of all that pods write; null if none does. */
export function largestPart({ parts, filesystems, namespaces }: NodeLedger) {
  const [largest] = parts
    .filter(({ holder }) => ofLocalStorage.has(holder))
    .toSorted((a, b) => b.lowBytes - a.lowBytes)
  const disk = filesystems.find(({ filesystem }) => filesystem === largest?.filesystem)
  if (!largest || !disk) return null
  const share = largest.lowBytes / disk.capacityBytes
  const isMost = largest.lowBytes >= least.ofPods * podBytesOf({ namespaces })
  return share >= least.ofDisk && isMost ? { ...largest, share } : null
}
