/**
 * How long an evicted pod gets to stop.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize, evictPod (gracePeriodOverride);
 *               pkg/kubelet/pod_workers.go  calculateEffectiveGracePeriod, killPodNow
 * Read at       1.29 to 1.37; 1 s for hard evictions since 1.31, and since then an override of 0 counts; soft evictions capped since 1.32, without
 *               a gate since 1.35
 * Kept exactly  up to 1.30 an override of 0 means the pod's own grace period, up to 1.31 `evictionMaxPodGracePeriod` can even exceed that period;
 *               the kubelet waits according to the override, not the effective grace period
 * Left out      the minimum of 2 s that the runtime gets for each container; a termination that the pod object does not show yet
 */
import type { Kubelet } from '#replay/kubelet.ts'
import type { Pod } from '#replay/pods/pod.ts'

/** The grace period that the eviction manager requests, in seconds. */
export function gracePeriodOverride(
  isHard: boolean,
  pod: Pod,
  maxPodGracePeriodSeconds: number,
  kubelet: Kubelet,
): number {
  if (isHard) return kubelet.features.has('immediateEviction') ? 1 : 0
  const ownSeconds = pod.terminationGracePeriodSeconds
  return ownSeconds !== null && isCapped(kubelet)
    ? Math.min(maxPodGracePeriodSeconds, ownSeconds)
    : maxPodGracePeriodSeconds
}

function isCapped({ features, isGateOn }: Kubelet): boolean {
  if (features.has('softGracePeriodCapUngated')) return true
  return (
    features.has('softGracePeriodCapped') &&
    !isGateOn('AllowOverwriteTerminationGracePeriodSeconds')
  )
}

/** The grace period that the pod gets, in seconds. */
export function calculateEffectiveGracePeriod(
  pod: Pod,
  overrideSeconds: number,
  { features }: Kubelet,
): number {
  const { deletionGracePeriodSeconds, terminationGracePeriodSeconds } = pod
  const deletionSeconds = deletionGracePeriodSeconds ?? 0
  const seconds =
    deletionSeconds === 0 ? overrideSeconds : Math.min(deletionSeconds, overrideSeconds)
  const isUnset = seconds === 0 && !features.has('immediateEviction')
  return Math.max(1, isUnset ? (terminationGracePeriodSeconds ?? 0) : seconds)
}

/** How long the pass waits for the pod to end, in ms. Even if the time runs out, the pod counts as evicted. */
export const killTimeoutMs = (overrideSeconds: number): number =>
  Math.max(10, overrideSeconds + Math.trunc(overrideSeconds / 2)) * 1000
