/**
 * What each image writes for the kubelet, and what a kubelet runs that was given nothing else. Neither lab nor replay has a hand in it.
 *
 * Sources  test/fixtures/kubelet-configuration: what upstream's own kubelet shows of an empty file;  amazon-eks-ami templates/al2, nodeadm
 *          internal/kubelet/config.go;  bottlerocket-core-kit packages/kubernetes-*, kubelet-config;  eks-hybrid internal/kubelet/config.go
 */
import { readFileSync } from 'node:fs'
import { isRawObject, type RawObject } from '#base/raw-object.ts'

export const suiteFamilies = ['AL2', 'AL2023', 'Bottlerocket', 'Auto Mode', 'Hybrid'] as const
export type SuiteFamily = (typeof suiteFamilies)[number]
export type SuiteMinor = 29 | 31 | 33 | 34 | 35

/** Source: amazon-eks-ami eni-max-pods.txt */
export const instanceTypes = {
  't3.medium': { cores: 2, memoryMiB: 4096, maxPods: 17, reservedCpu: '70m' },
  'm5.large': { cores: 2, memoryMiB: 8192, maxPods: 29, reservedCpu: '70m' },
  'm5.xlarge': { cores: 4, memoryMiB: 16_384, maxPods: 58, reservedCpu: '80m' },
  'c6i.4xlarge': { cores: 16, memoryMiB: 32_768, maxPods: 234, reservedCpu: '110m' },
} as const
export type SuiteInstance = keyof typeof instanceTypes

export interface Image {
  family: SuiteFamily
  minor: SuiteMinor
  instanceType: SuiteInstance
  /** `old` is the release before: of 1.34 the one that did not yet give pods time at shutdown. */
  release: 'old' | 'new'
}

export const trio = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
} as const

export const kubeletVersions: Readonly<Record<SuiteMinor, string>> = {
  29: 'v1.29.15-eks-473151a',
  31: 'v1.31.13-eks-113cf36',
  33: 'v1.33.5-eks-113cf36',
  34: 'v1.34.2-eks-113cf36',
  35: 'v1.35.0-eks-113cf36',
}

const upstream = new Map<SuiteMinor, RawObject>()

function upstreamDefaults(minor: SuiteMinor): RawObject {
  const known = upstream.get(minor)
  if (known) return known
  const recorded: unknown = JSON.parse(
    readFileSync(
      new URL(`../../fixtures/kubelet-configuration/v1.${minor}.json`, import.meta.url),
      'utf8',
    ),
  )
  if (!isRawObject(recorded) || !isRawObject(recorded.defaults))
    throw new Error(`no defaults were recorded of 1.${minor}`)
  upstream.set(minor, recorded.defaults)
  return recorded.defaults
}

const everyImage: RawObject = {
  address: '0.0.0.0',
  authentication: {
    anonymous: { enabled: false },
    webhook: { cacheTTL: '2m0s', enabled: true },
    x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
  },
  authorization: {
    mode: 'Webhook',
    webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' },
  },
  cgroupDriver: 'systemd',
  cgroupRoot: '/',
  clusterDNS: ['10.100.0.10'],
  clusterDomain: 'cluster.local',
  hairpinMode: 'hairpin-veth',
  protectKernelDefaults: true,
  serializeImagePulls: false,
  serverTLSBootstrap: true,
}

export const reservedFor = (instanceType: SuiteInstance): Record<string, string> => {
  const { maxPods, reservedCpu } = instanceTypes[instanceType]
  return { cpu: reservedCpu, 'ephemeral-storage': '1Gi', memory: `${255 + 11 * maxPods}Mi` }
}

const amazonLinux = ({ instanceType }: Image): RawObject => ({
  ...everyImage,
  evictionHard: trio,
  featureGates: { RotateKubeletServerCertificate: true },
  kubeReserved: reservedFor(instanceType),
  kubeReservedCgroup: '/runtime',
  maxPods: instanceTypes[instanceType].maxPods,
  systemReservedCgroup: '/system',
  tlsCipherSuites: [
    'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  ],
})

const nodeadm = (image: Image): RawObject => ({
  ...amazonLinux(image),
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  featureGates: {
    RotateKubeletServerCertificate: true,
    ...(image.minor >= 33 && { DynamicResourceAllocation: true }),
    ...(image.minor >= 34 && { MutableCSINodeAllocatableCount: true }),
  },
  logging: { verbosity: 2 },
  ...(image.minor >= 34 &&
    image.release === 'new' && {
      shutdownGracePeriod: '2m30s',
      shutdownGracePeriodCriticalPods: '30s',
    }),
})

const bottlerocket = ({ minor, instanceType }: Image): RawObject => ({
  ...everyImage,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  cpuCFSQuota: true,
  featureGates: { RotateKubeletServerCertificate: true },
  kubeReserved: reservedFor(instanceType),
  kubeReservedCgroup: '/runtime',
  maxPods: instanceTypes[instanceType].maxPods,
  podPidsLimit: 1_048_576,
  resolvConf: '/run/netdog/resolv.conf',
  runtimeRequestTimeout: '15m0s',
  seccompDefault: false,
  staticPodPath: '/etc/kubernetes/static-pods/',
  volumePluginDir: '/var/lib/kubelet/plugins/volume/exec',
  ...(minor >= 35 && { failCgroupV1: false }),
})

/** 25 % of the first 4 GiB of memory, 20 % of the next 4, 10 % of the next 8; of 16 GiB that is 2662 MiB. */
const hybrid = ({ minor }: Image): RawObject => ({
  ...everyImage,
  evictionHard: trio,
  featureGates: {
    RotateKubeletServerCertificate: true,
    ...(minor >= 33 && { DynamicResourceAllocation: true }),
  },
  kubeReserved: { cpu: '80m', 'ephemeral-storage': '1Gi', memory: '2662Mi' },
  kubeReservedCgroup: '/runtime',
  logging: { verbosity: 2 },
  maxPods: 110,
})

const ofFamily: Readonly<Record<SuiteFamily, (image: Image) => RawObject>> = {
  AL2: amazonLinux,
  AL2023: nodeadm,
  Bottlerocket: bottlerocket,
  'Auto Mode': bottlerocket,
  Hybrid: hybrid,
}

/** The fields of the main file as the image's bootstrap leaves it. */
export const imageFile = (image: Image, providerID: string): RawObject => ({
  ...ofFamily[image.family](image),
  providerID,
})

/** What `/configz` shows where nobody asked for anything. */
export function imageConfiguration(image: Image, providerID: string): RawObject {
  const defaults = upstreamDefaults(image.minor)
  const { logging, ...file } = imageFile(image, providerID)
  // AL2's image asks for the same verbosity by a flag.
  const verbosity = logging !== undefined || image.family === 'AL2' ? 2 : 0
  return {
    ...defaults,
    ...file,
    logging: { ...(isRawObject(defaults.logging) && defaults.logging), verbosity },
  }
}
