/** Rankings without repeats: signals of one resource on one disk put pods in the same order. */
import type { RankedPod, Ranking, Signal } from '#model/prediction/prediction.ts'

const derived: readonly string[] = [
  'allocatableMemory.available',
  'containerfs.available',
  'containerfs.inodesFree',
]

const resourceOf = (signal: Signal) =>
  signal === 'allocatableMemory.available'
    ? 'memory.available'
    : signal.replace(/^(?:nodefs|imagefs|containerfs)\./, 'disk ')

/** The first ranking per resource and order. Signals that can be set precede derived ones. */
export function ownRankings(rankings: readonly Ranking[]): Ranking[] {
  const settableFirst = rankings.toSorted(
    (a, b) => Number(derived.includes(a.signal)) - Number(derived.includes(b.signal)),
  )
  return settableFirst.filter(
    ({ signal, pods }, index) =>
      !settableFirst
        .slice(0, index)
        .some(
          other => resourceOf(other.signal) === resourceOf(signal) && isSameOrder(other.pods, pods),
        ),
  )
}

const isSameOrder = (a: readonly RankedPod[], b: readonly RankedPod[]) =>
  a === b || (a.length === b.length && a.every((pod, index) => isSamePlace(pod, b[index])))

const isSamePlace = (a: RankedPod, b: RankedPod | undefined) =>
  a.rank === b?.rank && a.name === b.name && a.namespace === b.namespace
