/**
 * KubeletConfiguration, kubelet.config.k8s.io/v1beta1: every field of every minor, with its type, its default and how `configz` shows it.
 *
 * Source  k8s.io/kubelet/config/v1beta1/types.go;  k8s.io/component-base logs/api/v1/types.go, tracing/api/v1/types.go;  k8s.io/api core/v1 Taint;
 *         pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration;  pkg/kubelet/apis/config/helpers.go KubeletConfigurationPathRefs
 */
import { configurationDefaults } from './configuration-defaults.ts'
import type { Gate } from './feature-gates.ts'
import type { KubeletFeatures } from './features.ts'

export interface FieldFacts {
  /**
   * As Go writes it: `*` is a pointer, nil while unset; without it a zero (0, `""`, `0s`, false) is unset, too. Structs are those below.
   * `FlushFrequency` is a duration in nanoseconds or, since 1.28, in text.
   */
  type: string
  /** What an unset field becomes; durations as Go writes them. */
  default?: unknown
  /** The default by the first minor that has it. */
  defaults?: Readonly<Record<number, unknown>>
  /** The default is given only where this gate is on. */
  gate?: Gate
  /** The first minor that knows the field: others take it for a misspelt one, and ignore it. */
  since?: number
  /** A path, relative to the folder of the file that names it. */
  isPath?: true
  /** Shown even where it is zero. Pointers, durations and structs always are, unless nil. */
  isAlwaysShown?: true
}

const outputRoutingOptions = {
  infoBufferSize: { type: 'Quantity', default: '0' },
  splitStream: { type: 'bool' },
} as const

export const configurationStructs = {
  KubeletConfiguration: {
    address: { type: 'string', default: '0.0.0.0' },
    allowedUnsafeSysctls: { type: '[]string' },
    authentication: { type: 'KubeletAuthentication' },
    authorization: { type: 'KubeletAuthorization' },
    cgroupDriver: { type: 'string', default: 'cgroupfs' },
    cgroupRoot: { type: 'string' },
    cgroupsPerQOS: { type: '*bool', default: true },
    clusterDNS: { type: '[]string' },
    clusterDomain: { type: 'string' },
    configMapAndSecretChangeDetectionStrategy: {
      type: 'ResourceChangeDetectionStrategy',
      default: 'Watch',
    },
    containerLogMaxFiles: { type: '*int32', default: configurationDefaults.containerLogMaxFiles },
    containerLogMaxSize: { type: 'string', default: configurationDefaults.containerLogMaxSize },
    containerLogMaxWorkers: {
      type: '*int32',
      default: configurationDefaults.containerLogMaxWorkers,
      since: 30,
    },
    containerLogMonitorInterval: {
      type: '*Duration',
      default: configurationDefaults.containerLogMonitorInterval,
      since: 30,
    },
    containerRuntimeEndpoint: {
      type: 'string',
      default: 'unix:///run/containerd/containerd.sock',
      since: 27,
      isAlwaysShown: true,
    },
    contentType: { type: 'string', default: 'application/vnd.kubernetes.protobuf' },
    cpuCFSQuota: { type: '*bool', default: true },
    cpuCFSQuotaPeriod: { type: '*Duration', default: '100ms' },
    cpuManagerPolicy: { type: 'string', default: 'none' },
    cpuManagerPolicyOptions: { type: 'map[string]string' },
    cpuManagerReconcilePeriod: { type: 'Duration', default: '10s' },
    crashLoopBackOff: { type: 'CrashLoopBackOffConfig', since: 32 },
    defaultPodSysctls: { type: 'map[string]string', since: 37 },
    enableContentionProfiling: { type: 'bool' },
    enableControllerAttachDetach: { type: '*bool', default: true },
    enableDebugFlagsHandler: { type: '*bool', default: true },
    enableDebuggingHandlers: { type: '*bool', default: true },
    enableProfilingHandler: { type: '*bool', default: true },
    enableServer: { type: '*bool', default: true },
    enableSystemLogHandler: { type: '*bool', default: true },
    enableSystemLogQuery: { type: '*bool', default: false, since: 27 },
    enforceNodeAllocatable: {
      type: '[]string',
      default: configurationDefaults.enforceNodeAllocatable,
    },
    eventBurst: { type: 'int32', defaults: { 24: 10, 27: 100 } },
    eventRecordQPS: { type: '*int32', defaults: { 24: 5, 27: 50 } },
    /** The default is not the field's: eviction-defaults.ts. */
    evictionHard: { type: 'map[string]string' },
    evictionMaxPodGracePeriod: { type: 'int32' },
    evictionMinimumReclaim: { type: 'map[string]string' },
    evictionPressureTransitionPeriod: {
      type: 'Duration',
      default: configurationDefaults.evictionPressureTransitionPeriod,
    },
    evictionSoft: { type: 'map[string]string' },
    evictionSoftGracePeriod: { type: 'map[string]string' },
    failCgroupV1: { type: '*bool', defaults: { 31: false, 35: true }, since: 31 },
    failSwapOn: { type: '*bool', default: true },
    featureGates: { type: 'map[string]bool' },
    fileCheckFrequency: { type: 'Duration', default: '20s' },
    hairpinMode: { type: 'string', default: 'promiscuous-bridge' },
    healthzBindAddress: { type: 'string', default: '127.0.0.1' },
    healthzPort: { type: '*int32', default: 10248 },
    httpCheckFrequency: { type: 'Duration', default: '20s' },
    imageGCHighThresholdPercent: {
      type: '*int32',
      default: configurationDefaults.imageGCHighThresholdPercent,
    },
    imageGCLowThresholdPercent: {
      type: '*int32',
      default: configurationDefaults.imageGCLowThresholdPercent,
    },
    imageMaximumGCAge: { type: 'Duration', since: 29 },
    imageMinimumGCAge: { type: 'Duration', default: configurationDefaults.imageMinimumGCAge },
    imagePullCredentialsVerificationPolicy: {
      type: 'ImagePullCredentialsVerificationPolicy',
      default: 'NeverVerifyPreloadedImages',
      gate: 'KubeletEnsureSecretPulledImages',
      since: 33,
    },
    imageServiceEndpoint: { type: 'string', since: 27 },
    iptablesDropBit: { type: '*int32', default: 15 },
    iptablesMasqueradeBit: { type: '*int32', default: 14 },
    kernelMemcgNotification: { type: 'bool' },
    kubeAPIBurst: { type: 'int32', defaults: { 24: 10, 27: 100 } },
    kubeAPIQPS: { type: '*int32', defaults: { 24: 5, 27: 50 } },
    kubeReserved: { type: 'map[string]string' },
    kubeReservedCgroup: { type: 'string' },
    kubeletCgroups: { type: 'string' },
    localStorageCapacityIsolation: { type: '*bool', default: true, since: 25 },
    logging: { type: 'LoggingConfiguration' },
    makeIPTablesUtilChains: { type: '*bool', default: true },
    maxOpenFiles: { type: 'int64', default: 1_000_000 },
    maxParallelImagePulls: { type: '*int32', since: 27 },
    maxPods: { type: 'int32', default: configurationDefaults.maxPods },
    memoryManagerPolicy: { type: 'string', default: 'None' },
    memoryReservationPolicy: { type: 'MemoryReservationPolicy', default: 'None', since: 36 },
    memorySwap: { type: 'MemorySwapConfiguration' },
    memoryThrottlingFactor: { type: '*float64', defaults: { 24: 0.8, 27: 0.9, 37: null } },
    mergeDefaultEvictionSettings: {
      type: '*bool',
      default: configurationDefaults.mergeDefaultEvictionSettings,
      since: 33,
    },
    nodeLeaseDurationSeconds: { type: 'int32', default: 40 },
    nodeStatusMaxImages: { type: '*int32', default: 50 },
    /** Where only nodeStatusUpdateFrequency is set, it is the default. */
    nodeStatusReportFrequency: { type: 'Duration', default: '5m0s' },
    nodeStatusUpdateFrequency: { type: 'Duration', default: '10s' },
    oomScoreAdj: { type: '*int32', default: -999 },
    podCIDR: { type: 'string' },
    podLogsDir: { type: 'string', default: '/var/log/pods', since: 30, isPath: true },
    /** Any negative number becomes -1. */
    podPidsLimit: { type: '*int64', default: -1 },
    podsPerCore: { type: 'int32' },
    port: { type: 'int32', default: 10250 },
    preloadedImagesVerificationAllowlist: { type: '[]string', since: 33 },
    protectKernelDefaults: { type: 'bool' },
    providerID: { type: 'string' },
    qosReserved: { type: 'map[string]string' },
    readOnlyPort: { type: 'int32' },
    registerNode: { type: '*bool', default: true },
    registerWithTaints: { type: '[]Taint' },
    registryBurst: { type: 'int32', default: 10 },
    registryPullQPS: { type: '*int32', default: 5 },
    reservedMemory: { type: '[]MemoryReservation' },
    reservedSystemCPUs: { type: 'string' },
    resolvConf: { type: '*string', default: '/etc/resolv.conf', isPath: true },
    rotateCertificates: { type: 'bool' },
    runOnce: { type: 'bool' },
    runtimeRequestTimeout: { type: 'Duration', default: '2m0s' },
    seccompDefault: { type: '*bool', default: false },
    /** Where maxParallelImagePulls is 2 or more, false is the default. */
    serializeImagePulls: { type: '*bool', default: true },
    serverTLSBootstrap: { type: 'bool' },
    showHiddenMetricsForVersion: { type: 'string' },
    shutdownGracePeriod: { type: 'Duration' },
    shutdownGracePeriodByPodPriority: { type: '[]ShutdownGracePeriodByPodPriority' },
    shutdownGracePeriodCriticalPods: { type: 'Duration' },
    singleProcessOOMKill: { type: '*bool', since: 32 },
    staticPodPath: { type: 'string', isPath: true },
    staticPodURL: { type: 'string' },
    staticPodURLHeader: { type: 'map[string][]string' },
    streamingConnectionIdleTimeout: { type: 'Duration', default: '4h0m0s' },
    syncFrequency: { type: 'Duration', default: '1m0s' },
    systemCgroups: { type: 'string' },
    systemReserved: { type: 'map[string]string' },
    systemReservedCgroup: { type: 'string' },
    tlsCertFile: { type: 'string', isPath: true },
    tlsCipherSuites: { type: '[]string' },
    tlsCurvePreferences: { type: '[]int32', since: 36 },
    tlsMinVersion: { type: 'string' },
    tlsPrivateKeyFile: { type: 'string', isPath: true },
    topologyManagerPolicy: { type: 'string', default: 'none' },
    topologyManagerPolicyOptions: { type: 'map[string]string', since: 26 },
    topologyManagerScope: { type: 'string', default: 'container' },
    tracing: { type: '*TracingConfiguration', since: 25 },
    userNamespaces: { type: '*UserNamespaces', since: 33 },
    volumePluginDir: {
      type: 'string',
      default: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
      isPath: true,
    },
    volumeStatsAggPeriod: { type: 'Duration', default: '1m0s' },
  },
  CrashLoopBackOffConfig: {
    maxContainerRestartPeriod: {
      type: '*Duration',
      default: '5m0s',
      gate: 'KubeletCrashLoopBackOffMax',
    },
  },
  FormatOptions: { json: { type: 'JSONOptions' }, text: { type: 'TextOptions', since: 30 } },
  JSONOptions: outputRoutingOptions,
  KubeletAnonymousAuthentication: { enabled: { type: '*bool', default: false } },
  KubeletAuthentication: {
    anonymous: { type: 'KubeletAnonymousAuthentication' },
    webhook: { type: 'KubeletWebhookAuthentication' },
    x509: { type: 'KubeletX509Authentication' },
  },
  KubeletAuthorization: {
    mode: { type: 'KubeletAuthorizationMode', default: 'Webhook' },
    webhook: { type: 'KubeletWebhookAuthorization' },
  },
  KubeletWebhookAuthentication: {
    cacheTTL: { type: 'Duration', default: '2m0s' },
    enabled: { type: '*bool', default: true },
  },
  KubeletWebhookAuthorization: {
    cacheAuthorizedTTL: { type: 'Duration', default: '5m0s' },
    cacheUnauthorizedTTL: { type: 'Duration', default: '30s' },
  },
  KubeletX509Authentication: { clientCAFile: { type: 'string', isPath: true } },
  LoggingConfiguration: {
    flushFrequency: { type: 'FlushFrequency', default: '5s', isAlwaysShown: true },
    format: { type: 'string', default: 'text' },
    options: { type: 'FormatOptions' },
    verbosity: { type: 'VerbosityLevel', isAlwaysShown: true },
    vmodule: { type: '[]VModuleItem' },
  },
  MemoryReservation: {
    limits: { type: 'map[string]Quantity', isAlwaysShown: true },
    numaNode: { type: 'int32', isAlwaysShown: true },
  },
  MemorySwapConfiguration: { swapBehavior: { type: 'string' } },
  ShutdownGracePeriodByPodPriority: {
    priority: { type: 'int32', isAlwaysShown: true },
    shutdownGracePeriodSeconds: { type: 'int64', isAlwaysShown: true },
  },
  Taint: {
    effect: { type: 'TaintEffect', isAlwaysShown: true },
    key: { type: 'string', isAlwaysShown: true },
    timeAdded: { type: '*Time' },
    value: { type: 'string' },
  },
  TextOptions: outputRoutingOptions,
  TracingConfiguration: {
    endpoint: { type: '*string' },
    samplingRatePerMillion: { type: '*int32' },
  },
  UserNamespaces: { idsPerPod: { type: '*int64' } },
  VModuleItem: {
    filePattern: { type: 'string', isAlwaysShown: true },
    verbosity: { type: 'VerbosityLevel', isAlwaysShown: true },
  },
} as const satisfies Record<string, Record<string, FieldFacts>>

type Structs = typeof configurationStructs
export type StructName = keyof Structs

export const isKnownField = (
  { since = 0 }: FieldFacts,
  { rulesOfMinor }: KubeletFeatures,
): boolean => since <= rulesOfMinor

/** What an unset field becomes in this minor, gates aside; undefined: nothing. */
export function fieldDefault(
  { default: single, defaults }: FieldFacts,
  { rulesOfMinor }: KubeletFeatures,
): unknown {
  const byMinor = Object.entries(defaults ?? {}).findLast(
    ([minor], index) => index === 0 || Number(minor) <= rulesOfMinor,
  )?.[1]
  return byMinor === undefined ? single : byMinor
}
