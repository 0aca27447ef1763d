/** Whether containers are started and ready after their kubelet was started anew. */

import { isRawObject } from '#base/raw-object.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { keepsContainerStatus } from '#facts/kubelet/restart.ts'
import type { ContainerProfile, PodProfile } from './pod-profile.ts'
import type { NodeProfile } from './profile.ts'
import { restartTimes } from './restart-times.ts'

export interface Readiness {
  isStarted: boolean
  isReady: boolean
  /** When it became so, by the node's clock; null: it has been so all along. */
  sinceMs: number | null
}

const asEver: Readiness = { isStarted: true, isReady: true, sinceMs: null }

/** It is what it was, or nothing until it has been probed: by minor. */
export function readinessOf(node: NodeProfile, { probes = [] }: ContainerProfile): Readiness {
  const { started, silent } = node
  if (!started) return asEver
  const { start, nowMs } = started
  // Upstream: pkg/controller/nodelifecycle MarkPodsNotReady
  if (start.downSinceMs !== null)
    return silent
      ? { isStarted: true, isReady: false, sinceMs: start.downSinceMs + restartTimes.unheardMs }
      : asEver
  if (probes.length === 0 || keepsStatus(node)) return asEver
  const startedAtMs =
    start.atMs + restartTimes.readyMs + (probes.includes('startup') ? restartTimes.probeMs : 0)
  const readyAtMs = startedAtMs + (probes.includes('readiness') ? restartTimes.probeMs : 0)
  const isReady = nowMs >= readyAtMs
  return {
    isStarted: !probes.includes('startup') || nowMs >= startedAtMs,
    isReady,
    sinceMs: isReady ? readyAtMs : start.atMs,
  }
}

/** All of its containers together. */
export function podReadiness(
  node: NodeProfile,
  { containers }: PodProfile,
): Pick<Readiness, 'isReady' | 'sinceMs'> {
  const all = containers.map(container => readinessOf(node, container))
  const isReady = all.every(one => one.isReady)
  const moments = all.flatMap(({ isReady: isOneReady, sinceMs }) =>
    isOneReady === isReady && sinceMs !== null ? [sinceMs] : [],
  )
  return { isReady, sinceMs: moments.length > 0 ? Math.max(...moments) : null }
}

function keepsStatus({ version, started }: NodeProfile): boolean {
  const { featureGates } = started?.start.configuration ?? {}
  return keepsContainerStatus(
    featuresOf(`v${version}`),
    isRawObject(featureGates) ? featureGates : {},
  )
}
