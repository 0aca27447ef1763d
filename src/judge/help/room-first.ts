/** A new hard eviction threshold above what is free: the kubelet evicts pods within seconds of its restart. So room comes first. */

import { mapOf } from '#base/raw-object.ts'
import type { Failing } from '#judge/rule.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { StepAction } from '#model/finding/cause.ts'
import { conditionOf, sisterOf } from '#model/kubelet/watched-signals.ts'
import type { Signal } from '#model/prediction/prediction.ts'
import { diskReason, withDeletion } from './holders.ts'
import { amountOf } from './thresholds.ts'

interface Shortage {
  signal: Signal
  /** Bytes or inodes that have to be free before the threshold is set. */
  missing: number
  share: number
}

/** The failing whose step says that its new threshold evicts at once. */
export function withRoomFirst(failing: Failing, subject: NodeSubject): Failing {
  const set = { id: 'set-fields' as const }
  const { fix, steps = [set] } = failing
  const [worst] = Object.entries(mapOf(fix?.config.evictionHard))
    .flatMap(([signal, value]) => shortageOf(signal as Signal, String(value), subject) ?? [])
    .toSorted((a, b) => b.share - a.share)
  if (worst === undefined || !steps.some(({ id }) => id === 'set-fields')) return failing
  const { signal, missing } = worst
  const isCount = signal.endsWith('.inodesFree') || signal === 'pid.available'
  const late: StepAction = isCount ? { ...set, isShort: true } : { ...set, bytes: missing }
  // Of memory and process ids, the rules order the steps.
  if (conditionOf(signal) !== 'DiskPressure')
    return { ...failing, steps: steps.map(step => (step.id === 'set-fields' ? late : step)) }
  const reason = diskReason(subject, signal)
  const isWatched = subject.eviction?.thresholds.some(
    one => one.signal === signal || one.signal === sisterOf(signal),
  )
  const freeing = reason && !isWatched ? withDeletion(reason, subject) : reason
  const room = freeing?.steps.filter(({ id }) => id !== 'set-fields') ?? []
  const others = steps.filter(({ id }) => id !== 'set-fields')
  return { ...failing, steps: [...room.slice(0, 1), late, ...others] }
}

/** Null: enough is free, a threshold of the signal is met already, or the node does not have the signal. */
function shortageOf(signal: Signal, value: string, { eviction }: NodeSubject): Shortage | null {
  const { capacityBytes, availableBytes } = eviction?.signals[signal] ?? {}
  if (!capacityBytes || availableBytes == null) return null
  const needed = amountOf(value, capacityBytes)
  const isMet = eviction?.thresholds.some(one => one.signal === signal && one.met === true)
  if (needed === null || isMet === true || needed <= availableBytes) return null
  return {
    signal,
    missing: needed - availableBytes,
    share: (needed - availableBytes) / capacityBytes,
  }
}
