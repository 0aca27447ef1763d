/**
 * The feature gates that decide whether a configuration is valid, and those that ordinary EKS nodes set, with their defaults by minor. Every other
 * gate is not known here, and whether a kubelet takes it must stay open; so must AllAlpha and AllBeta, which change the defaults of others.
 *
 * Sources  pkg/features/kube_features.go defaultVersionedKubernetesFeatureGates;  test/compatibility_lifecycle/reference/versioned_feature_list.yaml;
 *          the same of every release as gardener/gardener pkg/utils/validation/features/featuregates.go lists it (additions, locks, removals);
 *          kubernetes/website content/en/docs/reference/command-line-tools-reference/feature-gates (stages, removals);
 *          who sets them: awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go withVersionToggles, files/kubelet-config.json (AL2);
 *          bottlerocket-core-kit packages/kubernetes-*, kubelet-config
 */
import type { KubeletFeatures } from './features.ts'

export interface GateState {
  isOn: boolean
  /** A gate that has graduated cannot be set to anything else. */
  isLocked: boolean
}

interface Stage {
  since: number
  /** `removed`: the kubelet refuses it; `unchecked`: not settled here whether it does. */
  state: GateState | 'removed' | 'unchecked'
}

const off = (since: number): Stage => ({ since, state: { isOn: false, isLocked: false } })
const on = (since: number): Stage => ({ since, state: { isOn: true, isLocked: false } })
const locked = (since: number): Stage => ({ since, state: { isOn: true, isLocked: true } })
const removed = (since: number): Stage => ({ since, state: 'removed' })
const unchecked = (since: number): Stage => ({ since, state: 'unchecked' })

const gates = {
  // These decide in the replays, so none of them may be unchecked in any minor.
  CustomCPUCFSQuotaPeriod: [off(12), on(36)],
  GracefulNodeShutdown: [off(20), on(21)],
  GracefulNodeShutdownBasedOnPodPriority: [off(23), on(24)],
  ImageMaximumGCAge: [off(29), on(30), locked(35)],
  KubeletCrashLoopBackOffMax: [off(32), on(35)],
  MemoryQoS: [off(22)],
  NodeLogQuery: [off(27), locked(36)],
  NodeSwap: [off(22), on(30), locked(34)],
  RotateKubeletServerCertificate: [off(7), on(12)],

  CPUManager: [off(8), on(10), locked(26), removed(33)],
  CPUManagerPolicyAlphaOptions: [off(23)],
  CPUManagerPolicyBetaOptions: [on(23)],
  CPUManagerPolicyOptions: [off(22), on(23), locked(33), unchecked(37)],
  CSIMigration: [off(14), on(17), locked(25), removed(27)],
  CSIMigrationAWS: [off(14), on(23), locked(25), removed(27)],
  CSIMigrationvSphere: [off(18), on(25), locked(26), unchecked(28), removed(29)],
  CSIServiceAccountToken: [off(20), on(21), locked(22), unchecked(24), removed(25)],
  ContainerCheckpoint: [off(25), on(30)],
  DisableCloudProviders: [off(22), on(29), locked(31), removed(33)],
  DisableKubeletCloudCredentialProviders: [off(23), on(29), locked(31), removed(33)],
  DynamicResourceAllocation: [off(26), on(34), locked(35)],
  EventedPLEG: [off(26)],
  ExpandCSIVolumes: [off(14), on(16), unchecked(26), removed(27)],
  HugepageAwareEviction: [on(37)],
  ImageVolume: [off(31), on(35), locked(36)],
  InPlacePodVerticalScaling: [off(27), on(33), locked(35)],
  KubeletCgroupDriverFromCRI: [off(28), on(31), locked(34), unchecked(37)],
  KubeletCredentialProviders: [off(20), on(24), locked(26), unchecked(28), removed(29)],
  KubeletEnsureSecretPulledImages: [off(33), on(35)],
  KubeletFineGrainedAuthz: [off(32), on(33), locked(36)],
  KubeletPSI: [off(33), on(34), locked(36)],
  KubeletSeparateDiskGC: [off(29), on(31)],
  KubeletServiceAccountTokenForCredentialProviders: [off(33), on(34)],
  KubeletTracing: [off(25), on(27), locked(34), unchecked(37)],
  LocalStorageCapacityIsolationFSQuotaMonitoring: [off(15)],
  MemoryManager: [off(21), on(22), locked(32), removed(36)],
  MutableCSINodeAllocatableCount: [off(33), on(35), locked(36)],
  PodAndContainerStatsFromCRI: [off(23)],
  PodLevelResources: [off(32), on(34)],
  RecursiveReadOnlyMounts: [off(30), on(31), locked(33), unchecked(37)],
  SeccompDefault: [off(22), on(25), locked(27), unchecked(28), removed(29)],
  SidecarContainers: [off(28), on(29), locked(33), unchecked(37)],
  SupplementalGroupsPolicy: [off(31), on(33), locked(35)],
  UserNamespacesSupport: [off(28), on(33), locked(36)],
} as const satisfies Record<string, readonly Stage[]>

export type Gate = keyof typeof gates

const isGate = (name: string): name is Gate => Object.hasOwn(gates, name)

const stageOf = (gate: Gate, { rulesOfMinor }: KubeletFeatures) => gates[gate].findLast(({ since }) => since <= rulesOfMinor)

/** Whether it is known here what this minor does with a gate of that name: take it, or refuse it. */
export const isGateKnown = (name: string, features: KubeletFeatures): boolean =>
  isGate(name) && stageOf(name, features)?.state !== 'unchecked'

/** Null: this minor does not know the gate, or nothing is known of it here. */
export function gateState(name: string, features: KubeletFeatures): GateState | null {
  const state = isGate(name) ? stageOf(name, features)?.state : undefined
  return typeof state === 'object' ? state : null
}
