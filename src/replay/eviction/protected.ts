/**
 * The pods that the kubelet never evicts and always admits.
 *
 * Replays       pkg/kubelet/types/pod_update.go  IsCriticalPod, IsStaticPod, IsMirrorPod, IsCriticalPodBasedOnPriority
 * Read at       1.24 to 1.37, alike
 * Kept exactly  the number decides, not the class's name; a DaemonSet is nothing special
 */
import type { Pod } from '#replay/pods/pod.ts'

/** Source: pkg/apis/scheduling/types.go SystemCriticalPriority. */
const systemCriticalPriority = 2_000_000_000

/** Null: it may be evicted. */
export function protectionOf({
  source,
  isMirror,
  priority,
}: Pod): 'static' | 'mirror' | 'critical' | null {
  // The mirror pod that an API server shows of a static one carries the static one's source, too.
  if (source !== 'api') return 'static'
  if (isMirror) return 'mirror'
  return priority >= systemCriticalPriority ? 'critical' : null
}

export const isCriticalPod = (pod: Pod): boolean => protectionOf(pod) !== null
