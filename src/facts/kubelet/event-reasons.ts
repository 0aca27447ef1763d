/**
 * Events on garbage collection, eviction, image pulls, cgroup memory and node conditions.
 *
 * Sources  pkg/kubelet/events/event.go; pkg/kubelet/eviction (Evicted, EvictionThresholdMet, ExceededGracePeriod); pkg/kubelet/nodestatus/setters.go
 *          (NodeHas…); pkg/kubelet/oom (SystemOOM); kubernetes/node-problem-detector config/kernel-monitor.json (OOMKilling);
 *          pkg/controller/nodelifecycle (NodeNotReady)
 */
const ofNodes = [
  'CgroupV1',
  'ContainerGCFailed',
  'EvictionThresholdMet',
  'FailedNodeAllocatableEnforcement',
  'FreeDiskSpaceFailed',
  'ImageGCFailed',
  'InvalidDiskCapacity',
  'NodeHasDiskPressure',
  'NodeHasInsufficientMemory',
  'NodeHasInsufficientPID',
  'NodeHasNoDiskPressure',
  'NodeHasSufficientMemory',
  'NodeHasSufficientPID',
  'NodeNotReady',
  'NodeReady',
  'OOMKilling',
  'Rebooted',
  // When the kubelet started: a first GC that fails right after it means nothing.
  'Starting',
  'SystemOOM',
] as const
const ofPods = [
  'BackOff',
  'ErrImageNeverPull',
  'Evicted',
  'ExceededGracePeriod',
  'Failed',
  'FailedCreatePodContainer',
  'FailedCreatePodSandBox',
  'InspectFailed',
  'Killing',
  'Preempting',
  'Pulled',
] as const
const nodeReasons = new Set<unknown>(ofNodes)
const podReasons = new Set<unknown>(ofPods)

/** Reasons with several meanings, and the messages of the meaning that counts here. Upstream: pkg/kubelet/images/image_manager.go, kuberuntime_container.go. */
const meant: Readonly<Record<string, RegExp>> = {
  BackOff: /pulling image/i,
  FailedCreatePodContainer: /cannot allocate memory|no space left/i,
  Failed: /pull|ErrImage|InvalidImageName|inspect image|cannot allocate memory|no space left/i,
  Pulled: /^Successfully pulled/,
}

/** Whether a rule may read an event of this reason about such an object. */
export function isReadByRules(reason: unknown, kind: unknown, message: unknown): boolean {
  if (kind === 'Node') return nodeReasons.has(reason)
  if (kind !== 'Pod' || !podReasons.has(reason)) return false
  const words =
    typeof reason === 'string' && Object.hasOwn(meant, reason) ? meant[reason] : undefined
  return words === undefined || (typeof message === 'string' && words.test(message))
}

/** Most of a cluster's events. No rule reads them. */
export const routineReasons = [
  'Completed',
  'Created',
  'FailedScheduling',
  'LeaderElection',
  'Pulling',
  'SawCompletedJob',
  'ScalingReplicaSet',
  'Scheduled',
  'Started',
  'SuccessfulCreate',
  'SuccessfulDelete',
  'SuccessfulRescale',
  'Unhealthy',
] as const

/** Events of one reason that are kept of a cluster; the others are counted. */
export const eventsKeptPerReason = 5000
