/** Taints that say of a node what passes, and that somebody takes away when it has. */

/** Those that nothing but their own end explains on a Ready node. */
const passing: ReadonlySet<string> = new Set([
  // pkg/controller/nodelifecycle, cloud-provider/controllers/nodelifecycle
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.cloudprovider.kubernetes.io/shutdown',
  // KEP-2268: removed by the user who set it
  'node.kubernetes.io/out-of-service',
  // cloud-provider/controllers/node/node_controller.go syncNode: once the cloud knows the node
  'node.cloudprovider.kubernetes.io/uninitialized',
  // aws-ebs-csi-driver pkg/driver/node.go removeNotReadyTaint; likewise aws-efs-csi-driver
  'ebs.csi.aws.com/agent-not-ready',
  'efs.csi.aws.com/agent-not-ready',
  // karpenter pkg/controllers/nodeclaim/lifecycle/registration.go
  'karpenter.sh/unregistered',
])

/**
 * Those by which an autoscaler announces that a node goes: it then deletes the node, or takes the taint back.
 * Sources: autoscaler cluster-autoscaler/utils/taints ToBeDeletedTaint, DeletionCandidateTaint; karpenter pkg/apis/v1/taints.go (before 1.0 `disruption`).
 */
const announcing: ReadonlySet<string> = new Set([
  'ToBeDeletedByClusterAutoscaler',
  'DeletionCandidateOfClusterAutoscaler',
  'karpenter.sh/disrupted',
  'karpenter.sh/disruption',
])

/** Those that the control plane keeps as a condition of the node is. Source: pkg/controller/nodelifecycle nodeConditionToTaintKeyStatusMap, doNoScheduleTaintingPass. */
const ofConditions: ReadonlyMap<string, string> = new Map([
  ['node.kubernetes.io/network-unavailable', 'NetworkUnavailable'],
  ['node.kubernetes.io/memory-pressure', 'MemoryPressure'],
  ['node.kubernetes.io/disk-pressure', 'DiskPressure'],
  ['node.kubernetes.io/pid-pressure', 'PIDPressure'],
])

/** The one that it keeps as the node's `spec.unschedulable` is, with this effect. Source: as above. */
const ofCordon = 'node.kubernetes.io/unschedulable'
export const cordonEffect = 'NoSchedule'

/** Conditions of a Node that decide whether one of its taints was left behind. */
export const taintingConditions: ReadonlySet<string> = new Set(ofConditions.values())

/** Empty where no condition decides. */
export const conditionOfTaint = (key: string): string => ofConditions.get(key) ?? ''

/** What makes a taint on a Ready node one that was left behind; null: it may well stay. `condition`, `cordon`: it may as long as that holds. */
export function passingTaint(
  key: string,
): 'passing' | 'announcing' | 'condition' | 'cordon' | null {
  if (key === ofCordon) return 'cordon'
  if (passing.has(key)) return 'passing'
  if (announcing.has(key)) return 'announcing'
  return ofConditions.has(key) ? 'condition' : null
}
