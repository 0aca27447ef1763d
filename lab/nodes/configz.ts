/**
 * A full `/configz` of each family and kubelet minor: upstream's defaults, then what the family's image writes, then what a user changed.
 *
 * Sources  pkg/kubelet/apis/config/v1beta1/defaults.go; awslabs/amazon-eks-ami (templates/al2, nodeadm/internal/kubelet/config.go);
 *          bottlerocket-core-kit kubelet-config; EKS user guide, Auto Mode
 */

import type { RawObject } from '#base/raw-object.ts'
import { configurationFlags } from '#facts/kubelet/fields.ts'
import type { StringMap } from '#model/kubelet/configuration.ts'
import { instanceTypes } from './instance-types.ts'
import { minorOf } from './minors.ts'
import { type Family, MiB, memoryCapacityBytes, type NodeProfile } from './profile.ts'

/** What the Amazon images write; it takes imagefs away. */
const evictionTrio: StringMap = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
}

/** Upstream: pkg/kubelet/apis/config/v1beta1/defaults_linux.go DefaultEvictionHard. */
const upstreamEvictionHard: StringMap = {
  ...evictionTrio,
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
}

export function configzOf(profile: NodeProfile): { kubeletconfig: RawObject } {
  return { kubeletconfig: configurationOf(profile) }
}

/** The running configuration: what its kubelet read when it was started anew, else what the profile says; a field of the profile that is undefined is absent. */
export function configurationOf(profile: NodeProfile): RawObject {
  const started = profile.started?.start.configuration
  if (started) return started
  const fields = {
    ...upstreamDefaults(profile),
    ...ofFamily[profile.family](profile),
    ...profile.configuration,
    ...ofFlags(profile),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** What of upstream's fields the images write, too. */
const alsoWritten = [
  ...[
    'address',
    'authentication',
    'authorization',
    'cgroupDriver',
    'cgroupRoot',
    'clusterDNS',
    'clusterDomain',
    'containerRuntimeEndpoint',
  ],
  ...['maxPods', 'providerID'],
]

/** What Bottlerocket's kubelet runs with where nothing is set. */
export const bottlerocketDefaults = (profile: NodeProfile): RawObject => ({
  ...upstreamDefaults(profile),
  ...bottlerocketFields(profile),
})

/** What the image's own set-up writes into the kubelet's main file. */
export function imageFields(profile: NodeProfile): RawObject {
  const upstream = Object.entries(upstreamDefaults(profile)).filter(([name]) =>
    alsoWritten.includes(name),
  )
  return { ...Object.fromEntries(upstream), ...ofFamily[profile.family](profile) }
}

/** Of the flags that set a field of the configuration; those of a number or a text are enough here. */
function ofFlags({ flags = {} }: NodeProfile): RawObject {
  const known = Object.entries(flags).flatMap(([flag, value]) => {
    const field = configurationFlags[flag]?.field
    return field === undefined ? [] : [[field, /^\d+$/.test(value ?? '') ? Number(value) : value]]
  })
  return Object.fromEntries(known)
}

/** What an empty file comes to. */
export function upstreamDefaults(profile: NodeProfile): RawObject {
  return {
    enableServer: true,
    syncFrequency: '1m0s',
    fileCheckFrequency: '20s',
    httpCheckFrequency: '20s',
    address: '0.0.0.0',
    port: 10_250,
    authentication: {
      x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
      webhook: { enabled: true, cacheTTL: '2m0s' },
      anonymous: { enabled: false },
    },
    authorization: {
      mode: 'Webhook',
      webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' },
    },
    registryPullQPS: 5,
    registryBurst: 10,
    eventRecordQPS: 50,
    eventBurst: 100,
    enableDebuggingHandlers: true,
    healthzPort: 10_248,
    healthzBindAddress: '127.0.0.1',
    oomScoreAdj: -999,
    clusterDomain: 'cluster.local',
    clusterDNS: ['10.100.0.10'],
    streamingConnectionIdleTimeout: '4h0m0s',
    nodeStatusUpdateFrequency: '10s',
    nodeStatusReportFrequency: '5m0s',
    nodeLeaseDurationSeconds: 40,
    imageMinimumGCAge: '2m0s',
    imageGCHighThresholdPercent: 85,
    imageGCLowThresholdPercent: 80,
    volumeStatsAggPeriod: '1m0s',
    cgroupRoot: '/',
    cgroupsPerQOS: true,
    cgroupDriver: 'systemd',
    cpuManagerPolicy: 'none',
    cpuManagerReconcilePeriod: '10s',
    memoryManagerPolicy: 'None',
    topologyManagerPolicy: 'none',
    topologyManagerScope: 'container',
    runtimeRequestTimeout: '2m0s',
    hairpinMode: 'promiscuous-bridge',
    maxPods: instanceTypes[profile.instanceType].maxPods,
    podPidsLimit: -1,
    resolvConf: '/etc/resolv.conf',
    cpuCFSQuota: true,
    cpuCFSQuotaPeriod: '100ms',
    nodeStatusMaxImages: 50,
    maxOpenFiles: 1_000_000,
    contentType: 'application/vnd.kubernetes.protobuf',
    kubeAPIQPS: 50,
    kubeAPIBurst: 100,
    serializeImagePulls: true,
    evictionHard: upstreamEvictionHard,
    evictionPressureTransitionPeriod: '5m0s',
    enableControllerAttachDetach: true,
    makeIPTablesUtilChains: true,
    iptablesMasqueradeBit: 14,
    iptablesDropBit: 15,
    failSwapOn: true,
    memorySwap: {},
    containerLogMaxSize: '10Mi',
    containerLogMaxFiles: 5,
    configMapAndSecretChangeDetectionStrategy: 'Watch',
    enforceNodeAllocatable: ['pods'],
    volumePluginDir: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
    ...(profile.providerId && { providerID: profile.providerId }),
    logging: {
      format: 'text',
      flushFrequency: '5s',
      verbosity: 2,
      options: { text: { infoBufferSize: '0' }, json: { infoBufferSize: '0' } },
    },
    enableSystemLogHandler: true,
    shutdownGracePeriod: '0s',
    shutdownGracePeriodCriticalPods: '0s',
    enableProfilingHandler: true,
    enableDebugFlagsHandler: true,
    seccompDefault: false,
    memoryThrottlingFactor: 0.9,
    registerNode: true,
    localStorageCapacityIsolation: true,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    ...minorOf(profile).configuration,
  }
}

function amazonReservation({ instanceType }: NodeProfile): StringMap {
  const { vcpus, maxPods } = instanceTypes[instanceType]
  return {
    cpu: `${reservedCpuMillis(vcpus)}m`,
    'ephemeral-storage': '1Gi',
    memory: `${255 + 11 * maxPods}Mi`,
  }
}

/** 6 % of the first core, 1 % of the second, 0.5 % of two more, 0.25 % of the rest. */
function reservedCpuMillis(vcpus: number): number {
  const cores = [
    Math.min(vcpus, 1),
    Math.min(Math.max(vcpus - 1, 0), 1),
    Math.min(Math.max(vcpus - 2, 0), 2),
    Math.max(vcpus - 4, 0),
  ]
  return [60, 10, 5, 2.5].reduce(
    (sum, millis, index) => sum + Math.trunc(millis * cores[index]!),
    0,
  )
}

/** 25 % of the first 4 GiB, 20 % of the next 4, 10 % of the next 8, 6 % of the next 112. Source: aws/eks-hybrid internal/kubelet/config.go. */
function hybridReservedMemory(profile: NodeProfile): string {
  const mebibytes = memoryCapacityBytes(profile) / MiB
  const steps: [upTo: number, share: number][] = [
    [4096, 0.25],
    [8192, 0.2],
    [16_384, 0.1],
    [131_072, 0.06],
  ]
  const shares = steps.map(
    ([upTo, share], index) =>
      share * Math.max(0, Math.min(mebibytes, upTo) - (steps[index - 1]?.[0] ?? 0)),
  )
  return `${Math.trunc(shares.reduce((sum, one) => sum + one, 0))}Mi`
}

const amazonFields = (profile: NodeProfile): RawObject => ({
  serverTLSBootstrap: true,
  protectKernelDefaults: true,
  hairpinMode: 'hairpin-veth',
  serializeImagePulls: false,
  evictionHard: evictionTrio,
  featureGates: { RotateKubeletServerCertificate: true },
  kubeReserved: amazonReservation(profile),
  kubeReservedCgroup: '/runtime',
  systemReservedCgroup: '/system',
})

const bottlerocketFields = (profile: NodeProfile): RawObject => ({
  serverTLSBootstrap: true,
  protectKernelDefaults: true,
  hairpinMode: 'hairpin-veth',
  serializeImagePulls: false,
  podPidsLimit: 1_048_576,
  resolvConf: '/run/netdog/resolv.conf',
  runtimeRequestTimeout: '15m0s',
  kubeReserved: amazonReservation(profile),
  kubeReservedCgroup: '/runtime',
})

const ofFamily: Record<Family, (profile: NodeProfile) => RawObject> = {
  AL2: amazonFields,
  AL2023: profile => ({ ...amazonFields(profile), ...minorOf(profile).al2023 }),
  Bottlerocket: bottlerocketFields,
  'Auto Mode': bottlerocketFields,
  Ubuntu: () => ({ rotateCertificates: true }),
  // nodeadm's, but for what an instance type would tell.
  Hybrid: profile => ({
    ...amazonFields(profile),
    kubeReserved: { cpu: '80m', 'ephemeral-storage': '1Gi', memory: hybridReservedMemory(profile) },
    systemReservedCgroup: undefined,
  }),
  Fargate: () => ({}),
  Windows: () => ({
    // Upstream: defaults_windows.go: no inode signals, and more memory.
    evictionHard: {
      'imagefs.available': '15%',
      'memory.available': '500Mi',
      'nodefs.available': '10%',
    },
    cgroupsPerQOS: false,
    enforceNodeAllocatable: undefined,
    resolvConf: '',
    containerRuntimeEndpoint: 'npipe:////./pipe/containerd-containerd',
    volumePluginDir: 'C:\\usr\\libexec\\kubernetes\\kubelet-plugins\\volume\\exec',
  }),
}
