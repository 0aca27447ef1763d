/**
 * Events on garbage collection, eviction, image pulls, cgroup memory and node conditions.
 *
 * Sources  pkg/kubelet/events/event.go; pkg/kubelet/eviction (Evicted, EvictionThresholdMet, ExceededGracePeriod); pkg/kubelet/nodestatus/setters.go
 *          (NodeHas…); pkg/kubelet/oom (SystemOOM); kubernetes/node-problem-detector config/kernel-monitor.json (OOMKilling);
 *          pkg/controller/nodelifecycle (NodeNotReady);
 *          aws/eks-node-monitoring-agent pkg/manager/node_exporter.go (KernelReady, StorageReady), docs/node-health-issues.adoc
 */
const ofNodes = [
  'CgroupV1',
  'ContainerGCFailed',
  'EvictionThresholdMet',
  'FailedNodeAllocatableEnforcement',
  'FreeDiskSpaceFailed',
  'ImageGCFailed',
  'InvalidDiskCapacity',
  'KernelReady',
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
  // The start of the kubelet: a GC that fails right after the start means nothing.
  'Starting',
  'StorageReady',
  'SystemOOM',
] as const
const ofPods = [
  'BackOff',
  'ErrImageNeverPull',
  'Evicted',
  'ExceededGracePeriod',
  'Failed',
  'FailedAttachVolume',
  'FailedCreatePodContainer',
  'FailedCreatePodSandBox',
  'FailedKillPod',
  'FailedMapVolume',
  'FailedMount',
  'InspectFailed',
  'Killing',
  'OutOfephemeral-storage',
  'Preempting',
  'Pulled',
] as const
const nodeReasons = new Set<unknown>(ofNodes)
const podReasons = new Set<unknown>(ofPods)

/** What the node monitoring agent of EKS reports of disks, processes and memory. Its events have the condition's type as their reason. */
const agentReports =
  /^(?:BlockDeviceIOError|EBS(?:Instance|Volume)(?:IOPS|Throughput)Exceeded|EtcHostsMountFailed|IODelays|KubeletDiskUsageSlow|XFSSmallAverageClusterSize|ApproachingKernelPidMax|ApproachingMaxOpenFiles|ExcessiveZombieProcesses|ForkFailedOutOfPIDs|ZramHighUsage)(?=:|$)/
export const agentConditions: readonly string[] = ['KernelReady', 'StorageReady']

/** Conditions of a problem detector that are True when something is wrong: `DiskFullVarLog`, `KernelDeadlock`, `KubeletUnhealthy`, `FrequentKubeletRestart`. Source: kubernetes/node-problem-detector config. */
export const isProblem = (type: string): boolean =>
  !kubeletConditions.has(type) &&
  /Disk|File ?[sS]ystem|Inode|Overlay|Xfs|Unhealthy$|Deadlock$|Problem$|^Frequent[A-Z]/.test(
    type,
  ) &&
  !/(?:Ready|Healthy|Available|Sufficient)$|^No[A-Z]/.test(type)
/** Of the kubelet, the runtime or the kernel: no folder of the node shows it. */
export const isOfDaemon = (type: string): boolean =>
  /Unhealthy$|Deadlock$|^Frequent[A-Z]/.test(type)
/** Of the health checker of node-problem-detector. Source: config/health-checker-kubelet.json */
export const isOfKubelet = (type: string): boolean => type === 'KubeletUnhealthy'
/** `ReadonlyFilesystem` of node-problem-detector. */
export const isReadOnly = (type: string): boolean => /^Read-?Only/i.test(type)

const kubeletConditions: ReadonlySet<string> = new Set(['DiskPressure', 'OutOfDisk'])

/** `IODelays`. Null: the agent reports something else. */
export const agentReportOf = (message: string): string | null =>
  agentReports.exec(message)?.[0] ?? null

/** For reasons with several meanings: the messages with the relevant meaning. Upstream: pkg/kubelet/images/image_manager.go, kuberuntime_container.go. */
const meant: Readonly<Record<string, RegExp>> = {
  BackOff: /pulling image/i,
  FailedCreatePodContainer:
    /cannot allocate memory|no space left|too many open files|read-only file system/i,
  FailedKillPod: /DeadlineExceeded/,
  Failed:
    /pull|ErrImage|InvalidImageName|inspect image|cannot allocate memory|no space left|too many open files|read-only file system/i,
  Pulled: /^Successfully pulled/,
}

/** Components write events of nodes there. Sources: client-go tools/record/event.go makeEvent; pkg/apis/core/validation/events.go */
export const isNamespaceOfNodeEvents = (namespace: unknown): boolean =>
  namespace === 'default' || namespace === 'kube-system'

/** No rule reads an event of a pod with it. */
export const isReasonOfNodes = (reason: unknown): boolean => nodeReasons.has(reason)

/** Whether a rule may read an event with this reason about this kind of object. */
export function isReadByRules(reason: unknown, kind: unknown, message: unknown): boolean {
  if (kind === 'Node')
    return agentConditions.some(one => one === reason)
      ? typeof message === 'string' && agentReportOf(message) !== null
      : nodeReasons.has(reason)
  if (kind !== 'Pod' || !podReasons.has(reason)) return false
  const words =
    typeof reason === 'string' && Object.hasOwn(meant, reason) ? meant[reason] : undefined
  return words === undefined || (typeof message === 'string' && words.test(message))
}

/** Reasons of most events in a cluster. No rule reads these events. */
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

/** Number of events that are kept per reason and cluster. The others are only counted. */
export const eventsKeptPerReason = 5000
