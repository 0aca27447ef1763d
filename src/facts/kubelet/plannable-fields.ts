/** KubeletConfiguration fields that a plan may change, and why each can be changed under running pods. No other field is ever written. */

const reasons = {
  imageGC: 'decides when unused images go; no running container loses anything',
  eviction: 'decides when pods are evicted; replayed on what is there before it is written',
  logs: 'the kubelet rotates by it from its next look at the files',
  reservations:
    'moves what pods may use; pods are admitted anew by it at the restart, which is checked before',
} as const

/**
 * By field. Left out on purpose: enforceNodeAllocatable and the reserved cgroups (a wrong name keeps the kubelet from starting, a right one may kill
 * daemons), reservedSystemCPUs and the managers' policies (their state files stop the next start), maxPods, gates, paths, and everything of security.
 */
export const plannableFields: Readonly<Record<string, string>> = {
  imageGCHighThresholdPercent: reasons.imageGC,
  imageGCLowThresholdPercent: reasons.imageGC,
  imageMinimumGCAge: reasons.imageGC,
  imageMaximumGCAge: reasons.imageGC,
  evictionHard: reasons.eviction,
  evictionSoft: reasons.eviction,
  evictionSoftGracePeriod: reasons.eviction,
  evictionMinimumReclaim: reasons.eviction,
  evictionPressureTransitionPeriod: reasons.eviction,
  evictionMaxPodGracePeriod: reasons.eviction,
  mergeDefaultEvictionSettings: reasons.eviction,
  containerLogMaxSize: reasons.logs,
  containerLogMaxFiles: reasons.logs,
  containerLogMaxWorkers: reasons.logs,
  containerLogMonitorInterval: reasons.logs,
  kubeReserved: reasons.reservations,
  systemReserved: reasons.reservations,
}

export const isPlannable = (field: string): boolean => Object.hasOwn(plannableFields, field)

/** Fields that move node allocatable. Upstream: pkg/kubelet/cm/node_container_manager_linux.go getNodeAllocatableAbsolute, hardEvictionReservation */
export const allocatableFields: ReadonlySet<string> = new Set([
  'evictionHard',
  'kubeReserved',
  'systemReserved',
  'mergeDefaultEvictionSettings',
])
