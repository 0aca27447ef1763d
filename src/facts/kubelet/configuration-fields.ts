/**
 * The fields of a KubeletConfiguration file that decide whether the kubelet starts: types, and what an unset one becomes.
 *
 * Source  k8s.io/kubelet/config/v1beta1 types.go;  pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration
 */
import { configurationDefaults } from './configuration-defaults.ts'
import type { Feature } from './features.ts'

export interface FieldValues {
  int32: number
  int64: number
  float64: number
  bool: boolean
  string: string
  /** Nanoseconds; the default here is Go's text. */
  duration: bigint
  'map[string]string': Record<string, string>
  'map[string]bool': Record<string, boolean>
  '[]string': string[]
}

export interface FieldFacts {
  type: keyof FieldValues
  default?: string | number | boolean | readonly string[]
  /** Only an absent field is unset. Without this a zero (0, `""`, `0s`) is unset, too. */
  isPointer?: true
  /** Kubelets without it take the field for a misspelt one, and ignore it. */
  since?: Feature
}

export const configurationFields = {
  cgroupRoot: { type: 'string', default: '' },
  cgroupsPerQOS: { type: 'bool', default: true, isPointer: true },
  containerLogMaxFiles: { type: 'int32', default: configurationDefaults.containerLogMaxFiles, isPointer: true },
  containerLogMaxSize: { type: 'string', default: configurationDefaults.containerLogMaxSize },
  containerLogMaxWorkers: {
    type: 'int32',
    default: configurationDefaults.containerLogMaxWorkers,
    isPointer: true,
    since: 'containerLogWorkers',
  },
  containerLogMonitorInterval: {
    type: 'duration',
    default: configurationDefaults.containerLogMonitorInterval,
    isPointer: true,
    since: 'containerLogWorkers',
  },
  cpuCFSQuotaPeriod: { type: 'duration', default: '100ms', isPointer: true },
  enableSystemLogHandler: { type: 'bool', default: true, isPointer: true },
  enableSystemLogQuery: { type: 'bool', default: false, isPointer: true, since: 'enableSystemLogQuery' },
  enforceNodeAllocatable: { type: '[]string', default: configurationDefaults.enforceNodeAllocatable, isPointer: true },
  eventBurst: { type: 'int32', default: 100 },
  eventRecordQPS: { type: 'int32', default: 50, isPointer: true },
  evictionHard: { type: 'map[string]string' },
  evictionMaxPodGracePeriod: { type: 'int32', default: configurationDefaults.evictionMaxPodGracePeriod },
  evictionMinimumReclaim: { type: 'map[string]string' },
  evictionPressureTransitionPeriod: { type: 'duration', default: configurationDefaults.evictionPressureTransitionPeriod },
  evictionSoft: { type: 'map[string]string' },
  evictionSoftGracePeriod: { type: 'map[string]string' },
  /** The default depends on the version: feature `cgroupV1Refused`. */
  failCgroupV1: { type: 'bool', since: 'failCgroupV1' },
  featureGates: { type: 'map[string]bool' },
  hairpinMode: { type: 'string', default: 'promiscuous-bridge' },
  healthzPort: { type: 'int32', default: 10248, isPointer: true },
  imageGCHighThresholdPercent: { type: 'int32', default: configurationDefaults.imageGCHighThresholdPercent, isPointer: true },
  imageGCLowThresholdPercent: { type: 'int32', default: configurationDefaults.imageGCLowThresholdPercent, isPointer: true },
  imageMaximumGCAge: { type: 'duration', default: configurationDefaults.imageMaximumGCAge, since: 'imageMaximumGCAge' },
  imageMinimumGCAge: { type: 'duration', default: configurationDefaults.imageMinimumGCAge },
  iptablesDropBit: { type: 'int32', default: 15, isPointer: true },
  iptablesMasqueradeBit: { type: 'int32', default: 14, isPointer: true },
  kubeAPIBurst: { type: 'int32', default: 100 },
  kubeAPIQPS: { type: 'int32', default: 50, isPointer: true },
  kubeReserved: { type: 'map[string]string' },
  kubeReservedCgroup: { type: 'string', default: configurationDefaults.kubeReservedCgroup },
  maxOpenFiles: { type: 'int64', default: 1_000_000 },
  maxParallelImagePulls: { type: 'int32', isPointer: true, since: 'maxParallelImagePulls' },
  maxPods: { type: 'int32', default: configurationDefaults.maxPods },
  memoryThrottlingFactor: { type: 'float64', isPointer: true },
  mergeDefaultEvictionSettings: {
    type: 'bool',
    default: configurationDefaults.mergeDefaultEvictionSettings,
    isPointer: true,
    since: 'mergeDefaultEvictionSettings',
  },
  nodeLeaseDurationSeconds: { type: 'int32', default: 40 },
  nodeStatusMaxImages: { type: 'int32', default: 50, isPointer: true },
  oomScoreAdj: { type: 'int32', default: -999, isPointer: true },
  podLogsDir: { type: 'string', default: '/var/log/pods', since: 'podLogsDir' },
  podsPerCore: { type: 'int32', default: configurationDefaults.podsPerCore },
  port: { type: 'int32', default: 10250 },
  readOnlyPort: { type: 'int32', default: 0 },
  registryBurst: { type: 'int32', default: 10 },
  registryPullQPS: { type: 'int32', default: 5, isPointer: true },
  reservedSystemCPUs: { type: 'string', default: configurationDefaults.reservedSystemCPUs },
  runOnce: { type: 'bool', default: false },
  /** Unset, it follows maxParallelImagePulls. */
  serializeImagePulls: { type: 'bool' },
  serverTLSBootstrap: { type: 'bool', default: false },
  shutdownGracePeriod: { type: 'duration', default: '0s' },
  shutdownGracePeriodCriticalPods: { type: 'duration', default: '0s' },
  systemCgroups: { type: 'string', default: '' },
  systemReserved: { type: 'map[string]string' },
  systemReservedCgroup: { type: 'string', default: configurationDefaults.systemReservedCgroup },
  topologyManagerPolicy: { type: 'string', default: 'none' },
  topologyManagerScope: { type: 'string', default: 'container' },
} as const satisfies Record<string, FieldFacts>
