/**
 * The pods that the kubelet never evicts and always admits.
 *
 * Replays       pkg/kubelet/types/pod_update.go  IsCriticalPod, IsStaticPod, IsMirrorPod, IsCriticalPodBasedOnPriority
 * Read at       1.29 to 1.37, alike
 * Kept exactly  the priority number decides, not its class; DaemonSet pods have no protection
 */
import type { Pod } from '#replay/pods/pod.ts'

/** Source: pkg/apis/scheduling/types.go SystemCriticalPriority. */
const systemCriticalPriority = 2_000_000_000

/** Null: the pod may be evicted. */
export function protectionOf({
  source,
  isMirror,
  priority,
}: Pod): 'static' | 'mirror' | 'critical' | null {
  // The API server's mirror pod also carries the source of its static pod.
  if (source !== 'api') return 'static'
  if (isMirror) return 'mirror'
  return priority >= systemCriticalPriority ? 'critical' : null
}

export const isCriticalPod = (pod: Pod): boolean => protectionOf(pod) !== null
