import { swollenDaemonReason } from '#judge/help/memory-reason.ts'
import {
  reservedMemory,
  reservedOf,
  swollenDaemons,
  unmeasuredMemory,
  unreadableReservation,
} from '#judge/help/reservations.ts'
import { bytes, bytesLine, nodeRule, reservations } from '#judge/rule.ts'

export const reservedBelowRealUsage = nodeRule({
  id: 'reserved-below-real-usage',
  family: 'reservations',
  severity: 'medium',
  cause: reservations,
  needs: ['configuration', 'summary'],
  title: 'The daemons use more memory than is reserved',
  why: 'What kubelet and runtime use beyond kubeReserved and systemReserved is taken from what pods were promised. On a full node memory.available falls below its threshold with every pod within its requests.',
  fix: 'Raise the reservations above what the daemons use, with room for the eviction threshold; or find out why they use so much.',
  sources: [
    'pkg/kubelet/server/stats/summary_sys_containers.go GetSystemContainersStats',
    'pkg/kubelet/cm/node_container_manager_linux.go GetNodeAllocatableReservation',
  ],
  // If nothing is reserved for the system, missing-system-reserved reports it.
  appliesTo: ({ identity, configuration }) =>
    identity.operatingSystem === 'linux' &&
    (configuration === null || reservedOf(configuration, 'memory')?.system !== 0),

  *judge(subject) {
    const memory = reservedMemory(subject)
    if (!memory) return yield unreadableReservation
    const { reserved, daemons } = memory
    if (daemons.bytes > reserved.total)
      yield swollenDaemons(subject) ?? {
        confidence: 'likely',
        consequence: `${daemons.used.map(({ name }) => name).join(', ')} use ${bytes(daemons.bytes)}, ${bytes(reserved.total)} are reserved: when pods use all that the node offers them, ${bytes(daemons.bytes - reserved.total)} are missing, and pods are evicted that took no more than was offered.`,
        evidence: [
          ...memory.evidence(),
          bytesLine('summary', 'used beyond the reservation', daemons.bytes - reserved.total),
        ],
        fix: memory.sizedFix(),
        ...swollenDaemonReason(subject),
      }
    else if (daemons.missing.length > 0) yield unmeasuredMemory(daemons.missing)
  },
})
