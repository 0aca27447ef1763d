/**
 * When the eviction manager passes next.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  Start, waitForPodsCleanup
 * Read at       1.24 to 1.37; what counts as cleaned up changed in 1.27
 * Kept exactly  a pass that evicted is followed by the next as soon as the pods are cleaned up, without the usual pause
 * Left out      notifications of a memory cgroup of version 1, which make a pass come early
 */
import {
  evictionMonitoringPeriodMs,
  podCleanupPollMs,
  podCleanupTimeoutMs,
} from '#facts/kubelet/periods.ts'
import type { Eviction } from './synchronize.ts'

/** From the moment a pass decided to the next pass: the bounds, in ms. */
export function pauseAfter(evictions: readonly Pick<Eviction, 'killTimeoutMs'>[]): {
  shortestMs: number
  longestMs: number
} {
  if (evictions.length === 0)
    return { shortestMs: evictionMonitoringPeriodMs, longestMs: evictionMonitoringPeriodMs }
  const killingMs = evictions.reduce((total, { killTimeoutMs }) => total + killTimeoutMs, 0)
  return { shortestMs: podCleanupPollMs, longestMs: killingMs + podCleanupTimeoutMs }
}
