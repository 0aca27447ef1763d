import { milliValue } from '#base/go/quantity.ts'
import { mebibyte } from '#base/units.ts'
import { isOfOtherCloud } from '#facts/eks/node-identity.ts'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { feasibleFix, reservedOf, unreadableReservation } from '#judge/help/reservations.ts'
import { line, nodeRule, reservations, shorten } from '#judge/rule.ts'

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
  appliesTo: ({ identity, configuration, node }) =>
    identity.operatingSystem === 'linux' &&
    !isOfOtherCloud(node) &&
    (identity.owner !== 'self-managed' || identity.instanceId !== null) &&
    (configuration === null || reservedOf(configuration, 'memory')?.total !== 0),

  *judge(subject) {
    const { configuration, node } = subject
    const memory = reservedOf(configuration, 'memory')
    const cpu = reservedOf(configuration, 'cpu', quantity => Number(milliValue(quantity)))
    if (!memory || !cpu) return yield unreadableReservation
    const cores = Number(node.status?.capacity?.cpu ?? NaN)
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
      fix: feasibleFix({ kubeReserved: { ...configuration.kubeReserved, ...lacking } }, subject, 0),
    }
  },
})
