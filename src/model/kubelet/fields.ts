/**
 * KubeletConfiguration, kubelet.config.k8s.io/v1beta1: the one table of its fields. Types, defaults, flags, bounds, comparison and plannable
 * fields derive from it.
 *
 * Source  k8s.io/kubelet/config/v1beta1/types.go;  k8s.io/component-base logs/api/v1/types.go, tracing/api/v1/types.go;  k8s.io/api core/v1 Taint;
 *         pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration;  pkg/kubelet/apis/config/helpers.go KubeletConfigurationPathRefs;
 *         cmd/kubelet/app/options/options.go AddKubeletConfigFlags;  component-base/logs/api/v1/options.go AddFlags;
 *         pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 */

export interface KubeletField {
  /**
   * Type in Go's syntax. `*` is a pointer: nil means unset. Without `*`, a zero (0, `""`, `0s`, false) also means unset. Structs are defined below.
   * `FlushFrequency` is a duration in nanoseconds or in text.
   */
  type: string
  /** The value of an unset field; durations as Go writes them. */
  default?: unknown
  /** Defaults by the first minor that has each default. */
  defaults?: Readonly<Record<number, unknown>>
  /** The default is given only if this feature gate is on. */
  gate?: string
  /** The first minor that knows the field. Older kubelets ignore it, like a misspelt one. */
  since?: number
  /** The value is a path, relative to the folder of its configuration file. */
  isPath?: true
  /** configz shows the field even if it is zero. configz always shows pointers, durations and structs unless nil. */
  isAlwaysShown?: true
  /** The command-line flag that sets the field; true: the field's name in lower case with dashes. */
  flag?: string | true
  /** How the flag's value is written if the type does not say it: pairs of `signal<value`; one pair per flag; an IP address. */
  flagForm?: 'less-than' | 'one-pair' | 'ip'
  /** Bounds within which a kubelet of the newest minor starts. A number, or a duration as Go writes it. */
  least?: number | string
  most?: number
  /** A duration of zero is also valid, although it is below `least`. */
  orZero?: true
  /** The only valid values of a text, or of the items of a list. */
  oneOf?: readonly string[]
  /** How two values are compared. Only these fields take part in drift. */
  compare?: Comparison
  /** The value differs between instance types by design, so only nodes of one type are compared. No default is known. */
  dependsOnSize?: true
  /** Group of plannable fields that the field belongs to. Plans write only fields with a group. */
  plannable?: 'imageGC' | 'eviction' | 'logs' | 'reservations'
  /** Rules or replays read the field, although it is not compared. */
  isRead?: true
}

export type Comparison =
  | 'plain'
  | 'duration'
  | 'quantity'
  | 'set'
  | 'durations'
  | 'quantities'
  | 'gates'

/** Upstream: pkg/kubelet/types constants.go NodeAllocatableEnforcementKey and its neighbours */
const enforcements = [
  'pods',
  'system-reserved',
  'kube-reserved',
  'system-reserved-compressible',
  'kube-reserved-compressible',
  'none',
] as const

const outputRoutingOptions = {
  infoBufferSize: { type: 'Quantity', default: '0' },
  splitStream: { type: 'bool' },
} as const

export const configurationStructs = {
  KubeletConfiguration: {
    address: { type: 'string', default: '0.0.0.0', flag: true, flagForm: 'ip' },
    allowedUnsafeSysctls: { type: '[]string', flag: true },
    authentication: { type: 'KubeletAuthentication' },
    authorization: { type: 'KubeletAuthorization' },
    cgroupDriver: { type: 'string', default: 'cgroupfs', flag: true },
    cgroupRoot: { type: 'string', flag: true },
    cgroupsPerQOS: { type: '*bool', default: true, flag: true },
    clusterDNS: { type: '[]string', flag: true },
    clusterDomain: { type: 'string', flag: true },
    configMapAndSecretChangeDetectionStrategy: {
      type: 'ResourceChangeDetectionStrategy',
      default: 'Watch',
    },
    containerLogMaxFiles: {
      type: '*int32',
      default: 5,
      flag: true,
      least: 2,
      compare: 'plain',
      plannable: 'logs',
    },
    containerLogMaxSize: {
      type: 'string',
      default: '10Mi',
      flag: true,
      compare: 'quantity',
      plannable: 'logs',
    },
    containerLogMaxWorkers: {
      type: '*int32',
      default: 1,
      since: 30,
      least: 1,
      compare: 'plain',
      plannable: 'logs',
    },
    containerLogMonitorInterval: {
      type: '*Duration',
      default: '10s',
      since: 30,
      least: '3s',
      compare: 'duration',
      plannable: 'logs',
    },
    containerRuntimeEndpoint: {
      type: 'string',
      default: 'unix:///run/containerd/containerd.sock',
      isAlwaysShown: true,
      flag: true,
    },
    contentType: {
      type: 'string',
      default: 'application/vnd.kubernetes.protobuf',
      flag: 'kube-api-content-type',
    },
    cpuCFSQuota: { type: '*bool', default: true, flag: true, compare: 'plain' },
    cpuCFSQuotaPeriod: { type: '*Duration', default: '100ms', flag: true },
    cpuManagerPolicy: {
      type: 'string',
      default: 'none',
      flag: true,
      oneOf: ['none', 'static'],
      compare: 'plain',
    },
    cpuManagerPolicyOptions: { type: 'map[string]string', flag: true, flagForm: 'one-pair' },
    cpuManagerReconcilePeriod: { type: 'Duration', default: '10s', flag: true },
    crashLoopBackOff: { type: 'CrashLoopBackOffConfig', since: 32 },
    defaultPodSysctls: { type: 'map[string]string', since: 37 },
    enableContentionProfiling: { type: 'bool', flag: 'contention-profiling' },
    enableControllerAttachDetach: { type: '*bool', default: true, flag: true },
    enableDebugFlagsHandler: { type: '*bool', default: true },
    enableDebuggingHandlers: { type: '*bool', default: true, flag: true },
    enableProfilingHandler: { type: '*bool', default: true },
    enableServer: { type: '*bool', default: true, flag: true },
    enableSystemLogHandler: { type: '*bool', default: true },
    enableSystemLogQuery: { type: '*bool', default: false },
    enforceNodeAllocatable: {
      type: '[]string',
      default: ['pods'],
      flag: true,
      oneOf: enforcements,
      compare: 'set',
    },
    eventBurst: { type: 'int32', default: 100, flag: true, least: 0 },
    eventRecordQPS: { type: '*int32', default: 50, flag: 'event-qps', least: 0 },
    /** The default depends on the map's keys: `evictionHardDefaults` computes it. */
    evictionHard: {
      type: 'map[string]string',
      flag: true,
      flagForm: 'less-than',
      compare: 'quantities',
      plannable: 'eviction',
    },
    evictionMaxPodGracePeriod: {
      type: 'int32',
      flag: true,
      least: 0,
      compare: 'plain',
      plannable: 'eviction',
    },
    evictionMinimumReclaim: {
      type: 'map[string]string',
      flag: true,
      compare: 'quantities',
      plannable: 'eviction',
    },
    evictionPressureTransitionPeriod: {
      type: 'Duration',
      default: '5m0s',
      flag: true,
      least: '0s',
      compare: 'duration',
      plannable: 'eviction',
    },
    evictionSoft: {
      type: 'map[string]string',
      flag: true,
      flagForm: 'less-than',
      compare: 'quantities',
      plannable: 'eviction',
    },
    evictionSoftGracePeriod: {
      type: 'map[string]string',
      flag: true,
      compare: 'durations',
      plannable: 'eviction',
    },
    failCgroupV1: {
      type: '*bool',
      defaults: { 31: false, 35: true },
      since: 31,
      flag: 'fail-cgroupv1',
      isRead: true,
    },
    failSwapOn: { type: '*bool', default: true, flag: true },
    featureGates: { type: 'map[string]bool', flag: true, compare: 'gates' },
    fileCheckFrequency: { type: 'Duration', default: '20s', flag: true },
    hairpinMode: { type: 'string', default: 'promiscuous-bridge', flag: true },
    healthzBindAddress: { type: 'string', default: '127.0.0.1', flag: true, flagForm: 'ip' },
    healthzPort: { type: '*int32', default: 10248, flag: true },
    httpCheckFrequency: { type: 'Duration', default: '20s', flag: true },
    imageGCHighThresholdPercent: {
      type: '*int32',
      default: 85,
      flag: 'image-gc-high-threshold',
      least: 0,
      most: 100,
      compare: 'plain',
      plannable: 'imageGC',
    },
    imageGCLowThresholdPercent: {
      type: '*int32',
      default: 80,
      flag: 'image-gc-low-threshold',
      least: 0,
      most: 100,
      compare: 'plain',
      plannable: 'imageGC',
    },
    imageMaximumGCAge: { type: 'Duration', least: '0s', compare: 'duration', plannable: 'imageGC' },
    imageMinimumGCAge: {
      type: 'Duration',
      default: '2m0s',
      flag: 'minimum-image-ttl-duration',
      least: '0s',
      compare: 'duration',
      plannable: 'imageGC',
    },
    imagePullCredentialsVerificationPolicy: {
      type: 'ImagePullCredentialsVerificationPolicy',
      default: 'NeverVerifyPreloadedImages',
      gate: 'KubeletEnsureSecretPulledImages',
      since: 33,
    },
    imageServiceEndpoint: { type: 'string', flag: true },
    iptablesDropBit: { type: '*int32', default: 15, flag: true },
    iptablesMasqueradeBit: { type: '*int32', default: 14, flag: true },
    kernelMemcgNotification: { type: 'bool', flag: true },
    kubeAPIBurst: { type: 'int32', default: 100, flag: true, least: 0 },
    kubeAPIQPS: { type: '*int32', default: 50, flag: 'kube-api-qps', least: 0 },
    kubeReserved: {
      type: 'map[string]string',
      flag: true,
      compare: 'quantities',
      dependsOnSize: true,
      plannable: 'reservations',
    },
    kubeReservedCgroup: { type: 'string', flag: true, compare: 'plain' },
    kubeletCgroups: { type: 'string', flag: true },
    localStorageCapacityIsolation: { type: '*bool', default: true, flag: true, isRead: true },
    logging: { type: 'LoggingConfiguration' },
    makeIPTablesUtilChains: { type: '*bool', default: true, flag: 'make-iptables-util-chains' },
    maxOpenFiles: { type: 'int64', default: 1_000_000, flag: true, least: 0 },
    maxParallelImagePulls: { type: '*int32', least: 1, compare: 'plain' },
    maxPods: {
      type: 'int32',
      default: 110,
      flag: true,
      least: 0,
      compare: 'plain',
      dependsOnSize: true,
    },
    memoryManagerPolicy: {
      type: 'string',
      default: 'None',
      flag: true,
      oneOf: ['None', 'Static'],
      compare: 'plain',
    },
    memoryReservationPolicy: { type: 'MemoryReservationPolicy', default: 'None', since: 36 },
    memorySwap: { type: 'MemorySwapConfiguration' },
    memoryThrottlingFactor: { type: '*float64', defaults: { 29: 0.9, 37: null } },
    mergeDefaultEvictionSettings: {
      type: '*bool',
      default: false,
      since: 33,
      compare: 'plain',
      plannable: 'eviction',
    },
    nodeLeaseDurationSeconds: { type: 'int32', default: 40, least: 1 },
    nodeStatusMaxImages: { type: '*int32', default: 50, flag: true, least: -1, compare: 'plain' },
    /** If only nodeStatusUpdateFrequency is set, this is the default. */
    nodeStatusReportFrequency: { type: 'Duration', default: '5m0s' },
    nodeStatusUpdateFrequency: { type: 'Duration', default: '10s', flag: true, isRead: true },
    oomScoreAdj: { type: '*int32', default: -999, flag: true, least: -1000, most: 1000 },
    podCIDR: { type: 'string', flag: true },
    podLogsDir: { type: 'string', default: '/var/log/pods', since: 30, isPath: true, isRead: true },
    /** Any negative number becomes -1. */
    podPidsLimit: { type: '*int64', default: -1, flag: 'pod-max-pids', compare: 'plain' },
    podsPerCore: { type: 'int32', flag: true, least: 0, compare: 'plain', dependsOnSize: true },
    port: { type: 'int32', default: 10250, flag: true, least: 1, most: 65_535 },
    preloadedImagesVerificationAllowlist: { type: '[]string', since: 33 },
    protectKernelDefaults: { type: 'bool', flag: true },
    providerID: { type: 'string', flag: true },
    qosReserved: { type: 'map[string]string', flag: true },
    readOnlyPort: { type: 'int32', flag: true, least: 0, most: 65_535 },
    registerNode: { type: '*bool', default: true, flag: true },
    registerWithTaints: { type: '[]Taint' },
    registryBurst: { type: 'int32', default: 10, flag: true, least: 0, compare: 'plain' },
    registryPullQPS: {
      type: '*int32',
      default: 5,
      flag: 'registry-qps',
      least: 0,
      compare: 'plain',
    },
    reservedMemory: { type: '[]MemoryReservation' },
    reservedSystemCPUs: {
      type: 'string',
      flag: 'reserved-cpus',
      compare: 'plain',
      dependsOnSize: true,
    },
    resolvConf: { type: '*string', default: '/etc/resolv.conf', isPath: true, flag: true },
    rotateCertificates: { type: 'bool', flag: true },
    runOnce: { type: 'bool', flag: 'runonce' },
    runtimeRequestTimeout: { type: 'Duration', default: '2m0s', flag: true },
    seccompDefault: { type: '*bool', default: false },
    /** If maxParallelImagePulls is 2 or more, the default is false. */
    serializeImagePulls: { type: '*bool', default: true, flag: true, compare: 'plain' },
    serverTLSBootstrap: { type: 'bool', flag: 'rotate-server-certificates' },
    showHiddenMetricsForVersion: { type: 'string' },
    shutdownGracePeriod: { type: 'Duration', least: '1s', orZero: true, compare: 'duration' },
    shutdownGracePeriodByPodPriority: { type: '[]ShutdownGracePeriodByPodPriority' },
    shutdownGracePeriodCriticalPods: {
      type: 'Duration',
      least: '1s',
      orZero: true,
      compare: 'duration',
    },
    singleProcessOOMKill: { type: '*bool', since: 32 },
    staticPodPath: { type: 'string', isPath: true, flag: 'pod-manifest-path' },
    staticPodURL: { type: 'string', flag: 'manifest-url' },
    staticPodURLHeader: { type: 'map[string][]string' },
    streamingConnectionIdleTimeout: { type: 'Duration', default: '4h0m0s', flag: true },
    syncFrequency: { type: 'Duration', default: '1m0s', flag: true },
    systemCgroups: { type: 'string', flag: true },
    systemReserved: {
      type: 'map[string]string',
      flag: true,
      compare: 'quantities',
      dependsOnSize: true,
      plannable: 'reservations',
    },
    systemReservedCgroup: { type: 'string', flag: true, compare: 'plain' },
    tlsCertFile: { type: 'string', isPath: true, flag: true },
    tlsCipherSuites: { type: '[]string', flag: true },
    tlsCurvePreferences: { type: '[]int32', since: 36 },
    tlsMinVersion: { type: 'string', flag: true },
    tlsPrivateKeyFile: { type: 'string', isPath: true, flag: true },
    topologyManagerPolicy: {
      type: 'string',
      default: 'none',
      flag: true,
      oneOf: ['none', 'best-effort', 'restricted', 'single-numa-node'],
      compare: 'plain',
    },
    topologyManagerPolicyOptions: { type: 'map[string]string', flag: true },
    topologyManagerScope: {
      type: 'string',
      default: 'container',
      flag: true,
      oneOf: ['container', 'pod'],
    },
    tracing: { type: '*TracingConfiguration' },
    userNamespaces: { type: '*UserNamespaces', since: 33 },
    volumePluginDir: {
      type: 'string',
      default: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
      isPath: true,
      flag: true,
    },
    volumeStatsAggPeriod: { type: 'Duration', default: '1m0s', flag: true },
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
  KubeletAnonymousAuthentication: {
    enabled: { type: '*bool', default: false, flag: 'anonymous-auth' },
  },
  KubeletAuthentication: {
    anonymous: { type: 'KubeletAnonymousAuthentication' },
    webhook: { type: 'KubeletWebhookAuthentication' },
    x509: { type: 'KubeletX509Authentication' },
  },
  KubeletAuthorization: {
    mode: { type: 'KubeletAuthorizationMode', default: 'Webhook', flag: 'authorization-mode' },
    webhook: { type: 'KubeletWebhookAuthorization' },
  },
  KubeletWebhookAuthentication: {
    cacheTTL: { type: 'Duration', default: '2m0s', flag: 'authentication-token-webhook-cache-ttl' },
    enabled: { type: '*bool', default: true, flag: 'authentication-token-webhook' },
  },
  KubeletWebhookAuthorization: {
    cacheAuthorizedTTL: {
      type: 'Duration',
      default: '5m0s',
      flag: 'authorization-webhook-cache-authorized-ttl',
    },
    cacheUnauthorizedTTL: {
      type: 'Duration',
      default: '30s',
      flag: 'authorization-webhook-cache-unauthorized-ttl',
    },
  },
  KubeletX509Authentication: { clientCAFile: { type: 'string', isPath: true, flag: true } },
  LoggingConfiguration: {
    flushFrequency: {
      type: 'FlushFrequency',
      default: '5s',
      isAlwaysShown: true,
      flag: 'log-flush-frequency',
    },
    format: { type: 'string', default: 'text', flag: 'logging-format' },
    options: { type: 'FormatOptions' },
    verbosity: { type: 'VerbosityLevel', isAlwaysShown: true, flag: 'v' },
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
} as const satisfies Record<string, Record<string, KubeletField>>

export type StructName = keyof typeof configurationStructs

/** Every field of a KubeletConfiguration, in upstream's order of names. */
export const configurationFields: Readonly<Record<string, KubeletField>> =
  configurationStructs.KubeletConfiguration
