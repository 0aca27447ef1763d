import { isLinux, line, nodeRule, reservations } from '#judge/rule.ts'

/** Upstream: pkg/kubelet/types/constants.go SystemReservedEnforcementKey, KubeReservedEnforcementKey and their compressible variants. */
const needed = [
  { enforced: ['system-reserved', 'system-reserved-compressible'], field: 'systemReservedCgroup' },
  { enforced: ['kube-reserved', 'kube-reserved-compressible'], field: 'kubeReservedCgroup' },
] as const

export const missingEnforcedCgroup = nodeRule({
  id: 'missing-enforced-cgroup',
  family: 'reservations',
  severity: 'high',
  cause: reservations,
  needs: ['configuration'],
  title: 'A reservation is enforced without the cgroup that it is enforced on',
  why: 'The kubelet refuses to start where enforceNodeAllocatable names system-reserved or kube-reserved and the cgroup of those daemons is not named.',
  fix: 'Name the cgroup in systemReservedCgroup or kubeReservedCgroup, one that exists, or enforce pods alone.',
  sources: [
    'pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration',
    'pkg/kubelet/cm/node_container_manager_linux.go enforceNodeAllocatableCgroups',
  ],
  appliesTo: isLinux,

  *judge({ configuration }) {
    for (const { enforced, field } of needed) {
      const names = enforced.filter(name => configuration.enforceNodeAllocatable?.includes(name))
      if (names.length === 0 || (configuration[field] ?? '') !== '') continue
      yield {
        consequence: `A kubelet exits at its start with this: ${field} must be specified when ${names.join(', ')} is enforced.`,
        evidence: [
          line('configz', 'enforceNodeAllocatable', names.join(', ')),
          line('configz', `${field}`, 'absent'),
        ],
        fix: { config: { enforceNodeAllocatable: ['pods'] } },
      }
    }
  },
})
