import { amountOrNull, milliValue } from '#base/go/quantity.ts'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import {
  daemonsOf,
  memoryThreshold,
  reservedMemory,
  reservedOf,
  unmeasuredMemory,
  unreadableReservation,
  whereItFits,
} from '#judge/help/reservations.ts'
import { whyUnobserved } from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  isLinux,
  line,
  mebibyte,
  nodeRule,
  reservations,
  shorten,
} from '#judge/rule.ts'

export const missingSystemReserved = nodeRule({
  id: 'missing-system-reserved',
  family: 'reservations',
  severity: 'high',
  cause: reservations,
  needs: ['configuration'],
  title: 'No memory is reserved for the system',
  why: 'The scheduler fills a node up to its allocatable memory. The kubelet, the runtime and the system then use memory that pods have requested. The node gets memory pressure, or the kernel kills processes, although all pods stay within their requests.',
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
    if (memory === null) return yield unreadableReservation
    const { reserved, daemons, evidence } = memory
    if (reserved.system > 0) return
    if (reserved.total === 0) {
      const pods = configuration.maxPods ?? configurationDefaults.maxPods ?? 110
      const reported = amountOrNull(node.status?.allocatable?.memory)
      const allocatable = reported === null ? 'not reported' : bytes(reported)
      yield {
        consequence: `Nothing is kept for kubelet, runtime and system: pods are scheduled, and may grow, into all memory but the eviction threshold (allocatable ${allocatable}).${daemons.bytes > 0 ? ` The daemons use ${bytes(daemons.bytes)} of it now.` : ''}`,
        evidence: evidence(),
        fix: whereItFits(
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
      yield {
        confidence: 'likely',
        consequence: `The daemons use ${bytes(daemons.bytes)}, kubeReserved holds ${bytes(reserved.kube)}, and nothing is reserved for the system: ${bytes(daemons.bytes - reserved.kube)} come out of what pods were promised.`,
        evidence: evidence(),
        fix: memory.sizedFix(),
      }
    else if (summary === null)
      yield { unknown: whyUnobserved(subject, 'what the daemons use of memory') }
    else if (daemons.missing.length > 0) yield unmeasuredMemory(daemons.missing)
  },
})

export const reservedBelowEksFormula = nodeRule({
  id: 'reserved-below-eks-formula',
  family: 'reservations',
  severity: 'low',
  cause: reservations,
  needs: ['configuration'],
  title: 'Less is reserved than EKS images reserve for as many pods and cores',
  why: 'EKS images reserve 255 Mi + 11 Mi for each pod, and 6 %, 1 %, 0.5 % and 0.25 % of the first, the second, the next two and the other cores: about what kubelet and runtime need when the node is full of pods. A node whose maxPods was raised keeps the reservation of the old number.',
  fix: 'Raise kubeReserved to the formula, or lower maxPods to what is reserved for.',
  sources: [
    'awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go getMemoryMebibytesToReserve, getCPUMillicoresToReserve',
    'awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh',
  ],
  // If no memory is reserved at all, missing-system-reserved reports it.
  appliesTo: ({ identity, configuration }) =>
    identity.operatingSystem === 'linux' &&
    (configuration === null || reservedOf(configuration, 'memory')?.total !== 0),

  *judge(subject) {
    const { configuration, node } = subject
    const memory = reservedOf(configuration, 'memory')
    const cpu = reservedOf(configuration, 'cpu', quantity => Number(milliValue(quantity)))
    if (memory === null || cpu === null) return yield unreadableReservation
    const cores = Number(node.status?.capacity?.cpu ?? Number.NaN)
    const hasCores = Number.isSafeInteger(cores) && cores > 0
    if (!hasCores) yield { unknown: 'node: its status reports no whole number of cores' }
    const {
      maxPods = configurationDefaults.maxPods ?? 110,
      podsPerCore = 0,
      reservedSystemCPUs = '',
    } = configuration
    const pods = podsPerCore > 0 && hasCores ? Math.min(podsPerCore * cores, maxPods) : maxPods
    const lacksMemory = memory.total < eksReservedMemoryMiB(pods) * mebibyte
    // reservedSystemCPUs replaces the cpu of kubeReserved and systemReserved.
    const lacksCpu =
      hasCores && reservedSystemCPUs === '' && cpu.total < eksReservedCpuMillis(cores)
    const lacking = {
      ...(lacksMemory && { memory: `${eksReservedMemoryMiB(pods)}Mi` }),
      ...(lacksCpu && { cpu: `${eksReservedCpuMillis(cores)}m` }),
    }
    if (!lacksMemory && !lacksCpu) return
    const names = Object.entries(lacking)
    const reservedText = (resource: string) =>
      [configuration.kubeReserved, configuration.systemReserved]
        .flatMap(map => (map?.[resource] ? [shorten(map[resource])] : []))
        .join(' + ')
    yield {
      confidence: 'likely',
      consequence: `For ${pods} pods EKS keeps more for the kubelet and the runtime: ${names.map(([name, wanted]) => `${name} ${wanted}, here ${reservedText(name) || 'none'}`).join('; ')}. On a node full of pods, what they need beyond that is taken from the requests of pods.`,
      evidence: [
        line('configz', 'maxPods', maxPods),
        ...names.flatMap(([name, wanted]) => [
          line('configz', `kubeReserved and systemReserved ${name}`, reservedText(name) || 'none'),
          line('computed', `EKS reserves ${name}`, wanted),
        ]),
      ],
      fix: whereItFits({ kubeReserved: { ...configuration.kubeReserved, ...lacking } }, subject, 0),
    }
  },
})

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
    if (memory === null) return yield unreadableReservation
    const { reserved, daemons } = memory
    if (daemons.bytes > reserved.total)
      yield {
        confidence: 'likely',
        consequence: `${daemons.used.map(({ name }) => name).join(', ')} use ${bytes(daemons.bytes)}, ${bytes(reserved.total)} are reserved: when pods use all that the node offers them, ${bytes(daemons.bytes - reserved.total)} are missing, and pods are evicted that took no more than was offered.`,
        evidence: [
          ...memory.evidence(),
          bytesLine('summary', 'used beyond the reservation', daemons.bytes - reserved.total),
        ],
        fix: memory.sizedFix(),
      }
    else if (daemons.missing.length > 0) yield unmeasuredMemory(daemons.missing)
  },
})

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
    const total = configuration === null ? undefined : reservedOf(configuration, 'memory')?.total
    // reserved-below-real-usage or missing-system-reserved reports daemons above the reservation.
    return (
      identity.operatingSystem === 'linux' &&
      total !== 0 &&
      !(total !== undefined && daemonsOf(summary).bytes > total)
    )
  },

  *judge(subject) {
    const memory = reservedMemory(subject)
    if (memory === null) return yield unreadableReservation
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
