/**
 * Fields of a KubeletConfiguration that `spec.kubelet` of a kops InstanceGroup has by the same name. It writes maps of eviction as flags do.
 * Source: kubernetes/kops pkg/apis/kops/v1alpha2/componentconfig.go KubeletConfigSpec
 */
export const instanceGroupFields: ReadonlySet<string> = new Set([
  ...['containerLogMaxFiles', 'containerLogMaxSize', 'evictionHard', 'evictionMaxPodGracePeriod'],
  ...['evictionMinimumReclaim', 'evictionPressureTransitionPeriod', 'evictionSoft'],
  ...['evictionSoftGracePeriod', 'imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'],
  ...['kubeReserved', 'kubeReservedCgroup', 'maxPods', 'podPidsLimit', 'registryBurst'],
  ...['registryPullQPS', 'serializeImagePulls', 'systemReserved', 'systemReservedCgroup'],
])
