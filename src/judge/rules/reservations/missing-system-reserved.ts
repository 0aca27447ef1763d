import { amountOrNull } from '#base/go/quantity.ts'
import { dayMs, mebibyte } from '#base/units.ts'
import { eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { evictionCause } from '#facts/kubelet/event-messages.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { recordedEvictions } from '#judge/events/evictions.ts'
import { swollenDaemonReason } from '#judge/help/memory-reason.ts'
import {
  feasibleFix,
  reservedMemory,
  swollenDaemons,
  unmeasuredMemory,
  unreadableReservation,
} from '#judge/help/reservations.ts'
import { hasMuchMemory, unobserved } from '#judge/help/thresholds.ts'
import { bytes, isLinux, type NodeSubject, nodeRule, reservations } from '#judge/rule.ts'

export const missingSystemReserved = nodeRule({
  id: 'missing-system-reserved',
  family: 'reservations',
  severity: 'high',
  cause: reservations,
  needs: ['configuration'],
  title: 'No memory is reserved for the system',
  why: 'The scheduler fills a node up to its allocatable memory. The kubelet, the runtime and the system then use memory that pods have requested. The node gets memory pressure, or the kernel kills processes, although all pods stay within their requests. The severity is medium while half of the memory is available and no pressure is reported: then nothing depends on it yet.',
  fix: 'Reserve memory in kubeReserved and systemReserved: what the daemons use at most, and the eviction threshold. EKS images reserve 255 Mi + 11 Mi for each pod in kubeReserved.',
  sources: [
    'pkg/kubelet/cm/node_container_manager_linux.go GetNodeAllocatableReservation',
    'awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go',
    'kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources',
  ],
  appliesTo: isLinux,

  *judge(subject) {
    const { configuration, summary, node } = subject
    const memory = reservedMemory(subject)
    if (!memory) return yield unreadableReservation
    const { reserved, daemons, evidence } = memory
    if (reserved.system > 0) return
    if (reserved.total === 0) {
      const pods = configuration.maxPods ?? configurationDefaults.maxPods ?? 110
      const reported = amountOrNull(node.status?.allocatable?.memory)
      const allocatable = reported === null ? 'not reported' : bytes(reported)
      yield {
        ...((hasMuchMemory(subject) || isOfPod(subject, eksReservedMemoryMiB(pods) * mebibyte)) && {
          severity: 'medium',
        }),
        consequence: `Nothing is kept for kubelet, runtime and system: pods are scheduled, and may grow, into all memory but the eviction threshold (allocatable ${allocatable}).${daemons.bytes > 0 ? ` The daemons use ${bytes(daemons.bytes)} of it now.` : ''}`,
        evidence: evidence(),
        fix: feasibleFix(
          {
            kubeReserved: {
              ...configuration.kubeReserved,
              memory: `${eksReservedMemoryMiB(pods)}Mi`,
            },
          },
          subject,
          memory.threshold ?? 0,
        ),
      }
    } else if (daemons.bytes > reserved.kube)
      yield swollenDaemons(subject) ?? {
        confidence: 'likely',
        consequence: `The daemons use ${bytes(daemons.bytes)}, kubeReserved holds ${bytes(reserved.kube)}, and nothing is reserved for the system: ${bytes(daemons.bytes - reserved.kube)} come out of what pods were promised.`,
        evidence: evidence(),
        fix: memory.sizedFix(),
        ...swollenDaemonReason(subject),
      }
    else if (!summary) yield unobserved(subject, 'what the daemons use of memory')
    else if (daemons.missing.length > 0) yield unmeasuredMemory(daemons.missing)
  },
})

/** A container used more above its request than a reservation would have kept, until its pod was evicted. */
const isOfPod = ({ pods, at }: NodeSubject, reservedBytes: number): boolean =>
  recordedEvictions(pods ?? [], at, dayMs).some(({ message }) => {
    const { resource, containers } = evictionCause(message)
    return (
      resource === 'memory' &&
      containers.some(
        ({ used, request }) =>
          (amountOrNull(used) ?? 0) - (amountOrNull(request) ?? 0) > reservedBytes,
      )
    )
  })
