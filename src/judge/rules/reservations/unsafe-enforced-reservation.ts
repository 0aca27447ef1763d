import { daemonEvidence, daemonsOf } from '#judge/help/reservations.ts'
import { isLinux, line, nodeRule, reservations as reservationFields, shorten } from '#judge/rule.ts'

const reservations = [
  {
    name: 'system-reserved',
    map: 'systemReserved',
    cgroup: 'systemReservedCgroup',
    whose: "the system's daemons (sshd, udev, the kubelet's own unit where it lies there)",
  },
  {
    name: 'kube-reserved',
    map: 'kubeReserved',
    cgroup: 'kubeReservedCgroup',
    whose: 'the kubelet and the runtime',
  },
] as const

export const unsafeEnforcedReservation = nodeRule({
  id: 'unsafe-enforced-reservation',
  family: 'reservations',
  severity: 'medium',
  cause: reservationFields,
  needs: ['configuration'],
  title: "The daemons' reservation is a hard limit on their memory or processes",
  why: 'Enforcing system-reserved or kube-reserved makes the reservation the limit of that cgroup. Daemons that need more are killed by the kernel, or cannot fork, while the node has memory left; with the runtime or the kubelet in it the whole node fails.',
  fix: 'Enforce pods alone; from kubelet 1.32 on system-reserved-compressible and kube-reserved-compressible limit only cpu.',
  sources: [
    'pkg/kubelet/cm/node_container_manager_linux.go enforceExistingCgroup, getCgroupConfig',
    'kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources "General Guidelines"',
  ],
  appliesTo: isLinux,

  *judge({ configuration, summary }) {
    const enforced = configuration.enforceNodeAllocatable ?? []
    for (const { name, map, cgroup, whose } of reservations) {
      // Reserved cpu is a share, not a limit. Cgroups do not control ephemeral-storage.
      const limits = ['memory', 'pid'].flatMap(resource => {
        const amount = configuration[map]?.[resource]
        return amount === undefined ? [] : [{ resource, amount: shorten(amount) }]
      })
      if (!enforced.includes(name) || limits.length === 0) continue
      yield {
        consequence: `${shorten(configuration[cgroup] ?? 'That cgroup')} is held to ${limits.map(({ resource, amount }) => `${resource} ${amount}`).join(' and ')}: when ${whose} in it need more, the kernel kills in it or refuses to fork, however much the node has left.`,
        evidence: [
          line('configz', 'enforceNodeAllocatable', enforced.join(', ')),
          ...limits.map(({ resource, amount }) => line('configz', `${map}.${resource}`, amount)),
          line('configz', `${cgroup}`, configuration[cgroup] ?? 'absent'),
          ...daemonEvidence(daemonsOf(summary)),
        ],
        fix: { config: { enforceNodeAllocatable: ['pods'] } },
      }
    }
  },
})
