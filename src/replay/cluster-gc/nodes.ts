/**
 * Nodes: when the control plane gives one up, when it deletes it, and when its pods go.
 *
 * Replays       pkg/controller/nodelifecycle/node_lifecycle_controller.go                tryUpdateNodeHealth, nodeConditionToTaintKeyStatusMap
 *               cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go    MonitorNodes
 *               pkg/controller/tainteviction/taint_eviction.go                           processPodOnNode, getMinTolerationTime
 * Read at       1.24 to 1.37; the grace period is longer since 1.32
 * Kept exactly  a lease that is renewed counts as well as a condition that is; a node that never posted one gets the startup grace; only a node that is
 *               not Ready is looked up in the cloud; of a taint's tolerations the first counts, of all taints the shortest
 * Left out      the controller's own clock: it counts from when it saw a sign of life, and anew when it restarts; zones in disruption
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import {
  nodeMonitorGracePeriodMs,
  nodeMonitorPeriodMs,
  nodeStartupGracePeriodMs,
} from '#facts/kubernetes/controllers.ts'
import type {
  KubernetesNode,
  KubernetesPod,
  Lease,
  NodeCondition,
  Taint,
  Toleration,
} from '#model/kubernetes.ts'
import { conditionOf, parseMetadata, timeOf } from './metadata.ts'

/** Of the instance behind the node, as the cloud would say. */
export type InstanceState = 'exists' | 'stopped' | 'gone' | 'unknown'

export interface NodeLife {
  node: string
  ready: 'True' | 'False' | 'Unknown' | null
  gracePeriodMs: number
  /** The last sign of life that the objects show: heartbeat, lease, creation. */
  lastSeenMs: number | null
  /** From when on the node counts as unreachable if there is no other sign: no earlier than `fromMs`, no later than `byMs` while the controller runs on. */
  unreachable: { fromMs: number; byMs: number } | null
  /** Taints by which the node's Ready condition should show. */
  taints: { key: string; effect: 'NoSchedule' | 'NoExecute' }[]
  /** What the cloud's node lifecycle controller does. */
  cloud: 'keep' | 'remove-shutdown-taint' | 'add-shutdown-taint' | 'delete' | 'unknown'
}

/** @param lease of the node; null or undefined: none. Null where this is no node. */
export function nodeLife(
  node: KubernetesNode,
  lease: Lease | null | undefined,
  instance: InstanceState,
  features: KubeletFeatures,
): NodeLife | null {
  const metadata = parseMetadata(node)
  if (!metadata) return null
  const condition = conditionOf(node, 'Ready')
  const ready = condition ? readyOf(condition) : null
  const gracePeriodMs = condition ? nodeMonitorGracePeriodMs(features) : nodeStartupGracePeriodMs
  const seen = [
    condition ? timeOf(condition.lastHeartbeatTime) : metadata.createdMs,
    timeOf(lease?.spec?.renewTime),
  ]
  const known = seen.filter(time => time !== null)
  const lastSeenMs = known.length === 0 ? null : Math.max(...known)
  return {
    node: metadata.name,
    ready,
    gracePeriodMs,
    lastSeenMs,
    unreachable: lastSeenMs === null ? null : unreachableSpan(lastSeenMs + gracePeriodMs),
    taints: taintsOf(ready),
    cloud: monitorNode(
      ready,
      hasTaint(node, 'node.cloudprovider.kubernetes.io/shutdown'),
      instance,
    ),
  }
}

/** The controller sees a sign up to one period late, and looks again up to one period after the grace is over. */
const unreachableSpan = (fromMs: number) => ({ fromMs, byMs: fromMs + 2 * nodeMonitorPeriodMs })

const readyOf = ({ status }: NodeCondition): NodeLife['ready'] =>
  status === 'True' || status === 'False' ? status : 'Unknown'

function taintsOf(ready: NodeLife['ready']): NodeLife['taints'] {
  if (ready === 'True' || ready === null) return []
  const key = ready === 'False' ? 'node.kubernetes.io/not-ready' : 'node.kubernetes.io/unreachable'
  return [
    { key, effect: 'NoSchedule' },
    { key, effect: 'NoExecute' },
  ]
}

function monitorNode(
  ready: NodeLife['ready'],
  hasShutdownTaint: boolean,
  instance: InstanceState,
): NodeLife['cloud'] {
  if (ready === 'True') return hasShutdownTaint ? 'remove-shutdown-taint' : 'keep'
  if (instance === 'gone') return 'delete'
  if (instance === 'stopped') return hasShutdownTaint ? 'keep' : 'add-shutdown-taint'
  return instance === 'unknown' ? 'unknown' : 'keep'
}

const taintsIn = (node: KubernetesNode): Taint[] => node.spec?.taints ?? []

const hasTaint = (node: KubernetesNode, key: string): boolean =>
  taintsIn(node).some(taint => taint.key === key)

/** After how long a pod is deleted for its node's NoExecute taints, in ms: 0 at once, infinite never. */
export function taintEvictionDelayMs(pod: KubernetesPod, node: KubernetesNode): number {
  const taints = taintsIn(node).filter(({ effect }) => effect === 'NoExecute')
  const tolerations = pod.spec?.tolerations ?? []
  const used = taints.map(taint => tolerations.find(toleration => tolerates(toleration, taint)))
  const delays = used.map(toleration => {
    if (!toleration) return 0
    const seconds = toleration.tolerationSeconds ?? null
    return seconds === null ? Number.POSITIVE_INFINITY : Math.max(0, seconds) * 1000
  })
  return Math.min(Number.POSITIVE_INFINITY, ...delays)
}

/** Upstream: core/v1 ToleratesTaint. An empty effect or key tolerates every one. */
function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { effect = '', key = '', operator = '', value = '' } = toleration
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== (taint.key ?? '')) return false
  if (operator === 'Exists') return true
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '')
}
