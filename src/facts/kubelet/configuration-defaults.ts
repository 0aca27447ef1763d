/**
 * What `configz` shows for a field that nobody set. Eviction maps stand in eviction-defaults.ts, because they depend on the version.
 *
 * Source  pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration; alike in all supported minors that know the field.
 */
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'

type Replayed = Pick<
  KubeletConfiguration,
  | 'imageGCHighThresholdPercent'
  | 'imageGCLowThresholdPercent'
  | 'evictionPressureTransitionPeriod'
  | 'evictionMaxPodGracePeriod'
>

export const configurationDefaults: KubeletConfiguration & Required<Replayed> = {
  imageMinimumGCAge: '2m0s',
  imageMaximumGCAge: '0s',
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  evictionPressureTransitionPeriod: '5m0s',
  evictionMaxPodGracePeriod: 0,
  mergeDefaultEvictionSettings: false,
  containerLogMaxSize: '10Mi',
  containerLogMaxFiles: 5,
  containerLogMaxWorkers: 1,
  containerLogMonitorInterval: '10s',
  kubeReservedCgroup: '',
  systemReservedCgroup: '',
  reservedSystemCPUs: '',
  enforceNodeAllocatable: ['pods'],
  maxPods: 110,
  podsPerCore: 0,
  nodeStatusMaxImages: 50,
  serializeImagePulls: true,
  registryPullQPS: 5,
  registryBurst: 10,
  podPidsLimit: -1,
  shutdownGracePeriod: '0s',
  shutdownGracePeriodCriticalPods: '0s',
  cpuCFSQuota: true,
  cpuManagerPolicy: 'none',
  memoryManagerPolicy: 'None',
  topologyManagerPolicy: 'none',
}
