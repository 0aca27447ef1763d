import {
  daemonsOf,
  memoryThreshold,
  reservedMemory,
  reservedOf,
  unmeasuredMemory,
  unreadableReservation,
} from '#judge/help/reservations.ts'
import { bytes, bytesLine, nodeRule, reservations } from '#judge/rule.ts'

export const reservationWithoutEviction = nodeRule({
  id: 'reservation-without-eviction',
  family: 'reservations',
  severity: 'low',
  cause: reservations,
  needs: ['configuration', 'eviction', 'summary'],
  title: 'Memory reservations leave no room for the eviction threshold',
  why: 'Memory below the eviction threshold cannot be used: with 1 GiB for daemons and eviction below 500 MiB, the reservation has to be 1.5 GiB. Only hard thresholds are subtracted from allocatable. With a smaller reservation, a soft threshold or slightly larger daemons evict pods that stay within allocatable.',
  fix: "Set kubeReserved and systemReserved together to the daemons' memory plus the highest memory.available threshold.",
  sources: [
    'kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction "Node allocatable and eviction policies"',
    'pkg/kubelet/cm/helpers.go hardEvictionReservation',
  ],
  appliesTo: ({ identity, configuration, summary }) => {
    const total = configuration ? reservedOf(configuration, 'memory')?.total : undefined
    // reserved-below-real-usage or missing-system-reserved reports daemons above the reservation.
    return (
      identity.operatingSystem === 'linux' &&
      total !== 0 &&
      !(total !== undefined && daemonsOf(summary).bytes > total)
    )
  },

  *judge(subject) {
    const memory = reservedMemory(subject)
    if (!memory) return yield unreadableReservation
    const { reserved, daemons, threshold } = memory
    const kept = memoryThreshold(subject.eviction, 'hard')
    if (threshold === null || kept === null)
      yield { unknown: 'stats/summary does not tell the bytes of memory.available' }
    else if (threshold > 0) {
      const wanted = daemons.bytes + threshold
      if (reserved.total >= wanted && daemons.missing.length > 0)
        yield unmeasuredMemory(daemons.missing)
      if (reserved.total >= wanted) return
      const left = reserved.total + kept - daemons.bytes
      yield {
        severity: left < threshold ? 'medium' : 'low',
        confidence: 'likely',
        consequence: `When pods use all that the node offers them, ${bytes(left)} stay available beside the daemons as they are now, and pods are evicted below ${bytes(threshold)}${left < threshold ? ', although they took no more than was offered' : `: ${bytes(left - threshold)} more for the daemons, and pods are evicted that took no more than was offered`}. Sized for both, ${bytes(wanted)} would be reserved.`,
        evidence: [
          ...memory.evidence(),
          bytesLine('computed', 'memory.available is met below', threshold),
          bytesLine('computed', 'daemons and threshold', wanted),
        ],
        fix: memory.sizedFix(),
      }
    }
  },
})
