/**
 * Kubelet configuration that an EKS image writes by default.
 *
 * Sources  awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go (AL2023), templates/al2/runtime/bootstrap.sh and kubelet-config.json (AL2);
 *          bottlerocket-core-kit packages/kubernetes-*, kubelet-config (evictionHard only where the user sets it).
 */

import { isRawObject, mapOf } from '#base/raw-object.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { isPlannable, nearestName } from '#facts/kubelet/fields.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { settableSignals } from '#model/prediction.ts'

/*
 * The KubeletConfiguration field that each of Bottlerocket's `settings.kubernetes.*` sets.
 * Source: bottlerocket-core-kit packages/kubernetes-1.34/kubelet-config. A setting that is not listed sets no field that this product reads.
 */

type SettingKind = 'number' | 'text' | 'boolean' | 'map' | 'list'

export const bottlerocketSettings: Readonly<
  Record<string, readonly [field: string, kind: SettingKind]>
> = {
  'allowed-unsafe-sysctls': ['allowedUnsafeSysctls', 'list'],
  'container-log-max-files': ['containerLogMaxFiles', 'number'],
  'container-log-max-size': ['containerLogMaxSize', 'text'],
  'container-log-max-workers': ['containerLogMaxWorkers', 'number'],
  'container-log-monitor-interval': ['containerLogMonitorInterval', 'text'],
  'cpu-cfs-quota-enforced': ['cpuCFSQuota', 'boolean'],
  'cpu-manager-policy': ['cpuManagerPolicy', 'text'],
  'event-burst': ['eventBurst', 'number'],
  'event-qps': ['eventRecordQPS', 'number'],
  'eviction-hard': ['evictionHard', 'map'],
  'eviction-max-pod-grace-period': ['evictionMaxPodGracePeriod', 'number'],
  'eviction-soft': ['evictionSoft', 'map'],
  'eviction-soft-grace-period': ['evictionSoftGracePeriod', 'map'],
  'image-gc-high-threshold-percent': ['imageGCHighThresholdPercent', 'number'],
  'image-gc-low-threshold-percent': ['imageGCLowThresholdPercent', 'number'],
  'image-maximum-gc-age': ['imageMaximumGCAge', 'text'],
  'image-minimum-gc-age': ['imageMinimumGCAge', 'text'],
  'kube-api-burst': ['kubeAPIBurst', 'number'],
  'kube-api-qps': ['kubeAPIQPS', 'number'],
  'kube-reserved': ['kubeReserved', 'map'],
  'max-parallel-image-pulls': ['maxParallelImagePulls', 'number'],
  'max-pods': ['maxPods', 'number'],
  'memory-manager-policy': ['memoryManagerPolicy', 'text'],
  'pod-pids-limit': ['podPidsLimit', 'number'],
  'registry-burst': ['registryBurst', 'number'],
  'registry-qps': ['registryPullQPS', 'number'],
  'reserved-cpus': ['reservedSystemCPUs', 'text'],
  'seccomp-default': ['seccompDefault', 'boolean'],
  'shutdown-grace-period': ['shutdownGracePeriod', 'text'],
  'shutdown-grace-period-for-critical-pods': ['shutdownGracePeriodCriticalPods', 'text'],
  'single-process-oom-kill': ['singleProcessOOMKill', 'boolean'],
  'system-reserved': ['systemReserved', 'map'],
  'topology-manager-policy': ['topologyManagerPolicy', 'text'],
  'topology-manager-scope': ['topologyManagerScope', 'text'],
}

/** The only settings that a plan may set. A plan is bound to their canonical JSON. */
export const plannableSettings: readonly string[] = Object.entries(bottlerocketSettings).flatMap(
  ([setting, [field]]) => (isPlannable(field) ? [setting] : []),
)

/**
 * Percentages. Bottlerocket takes them as text and, since 1.14, as a number; text is right for every release.
 * Source: bottlerocket#2939; bottlerocket-settings-sdk, IntegerPercent
 */
export const bottlerocketTexts: ReadonlySet<string> = new Set([
  'image-gc-high-threshold-percent',
  'image-gc-low-threshold-percent',
])

/**
 * The first Bottlerocket release with a setting. All releases still in use have the settings that are not listed.
 * Source: bottlerocket#4544, bottlerocket-project-website#559
 */
export const bottlerocketSince: Readonly<Record<string, string>> = {
  'container-log-max-workers': '1.39',
  'container-log-monitor-interval': '1.39',
  'image-maximum-gc-age': '1.51',
  'image-minimum-gc-age': '1.51',
  'max-parallel-image-pulls': '1.51',
  'single-process-oom-kill': '1.39',
}

const resources = ['cpu', 'memory', 'ephemeral-storage']

/** Keys that a map may contain. Source: bottlerocket-settings-sdk, KubernetesEvictionKey, KubernetesReservedResourceKey */
export const bottlerocketKeys: Readonly<Record<string, readonly string[]>> = {
  'eviction-hard': settableSignals,
  'eviction-soft': settableSignals,
  'eviction-soft-grace-period': settableSignals,
  'kube-reserved': resources,
  'system-reserved': resources,
}
/** Keys of later releases, here since 1.50. No plan sets them. */
const laterKeys: Readonly<Record<string, readonly string[]>> = {
  'kube-reserved': ['pid'],
  'system-reserved': ['pid'],
}

/** Settings that set no field of `bottlerocketSettings`. Source: bottlerocket-settings-sdk, KubernetesSettingsV1 */
const otherSettings: ReadonlySet<string> = new Set([
  'api-server',
  'authentication-mode',
  'bootstrap-token',
  'cloud-provider',
  'cluster-certificate',
  'cluster-dns-ip',
  'cluster-domain',
  'cluster-name',
  'cpu-manager-policy-options',
  'cpu-manager-reconcile-period',
  'credential-providers',
  'device-ownership-from-security-context',
  'fail-cgroup-v1',
  'hostname-override',
  'hostname-override-source',
  'ids-per-pod',
  'log-level',
  'memory-manager-reserved-memory',
  'memory-swap-behavior',
  'node-ip',
  'node-labels',
  'node-taints',
  'nvidia',
  'pod-infra-container-image',
  'provider-id',
  'server-certificate',
  'server-key',
  'server-tls-bootstrap',
  'standalone-mode',
  'static-pods',
  'static-pods-enabled',
  'topology-manager-policy-options',
])

const hasType: Readonly<Record<SettingKind, (value: unknown) => boolean>> = {
  number: Number.isInteger,
  text: value => typeof value === 'string',
  boolean: value => typeof value === 'boolean',
  list: Array.isArray,
  map: isRawObject,
}
const typeNames: Readonly<Record<SettingKind, string>> = {
  number: 'a number',
  text: 'a text',
  boolean: 'true or false',
  list: 'a list',
  map: 'a table',
}

export interface BottlerocketMistake {
  setting: string
  /** Of a map; null: the setting itself is wrong. */
  key: string | null
  why: string
  /** It may be a setting of a later release. */
  isUnknown?: true
}

/** Why Bottlerocket refuses `settings.kubernetes`. Source: bottlerocket-settings-sdk, model: unknown fields are denied */
export function bottlerocketMistakes(
  settings: Readonly<Record<string, unknown>>,
): BottlerocketMistake[] {
  return Object.entries(settings).flatMap(([setting, value]) => {
    if (!Object.hasOwn(bottlerocketSettings, setting)) return unknownSetting(setting)
    const why = valueMistake(setting, value)
    return why === null ? mapMistakes(setting, value) : [{ setting, key: null, why }]
  })
}

function unknownSetting(setting: string): BottlerocketMistake[] {
  if (otherSettings.has(setting)) return []
  const known = [...Object.keys(bottlerocketSettings), ...otherSettings]
  // The kubelet's name, in letters of either.
  const plain = setting.replaceAll('-', '').toLowerCase()
  const ofField = [...bottlerocketSettingOf].find(([field]) => field.toLowerCase() === plain)
  const meant = ofField?.[1] ?? nearestName(setting, known)
  return meant === null
    ? [{ setting, key: null, why: 'unknown field', isUnknown: true }]
    : [{ setting, key: null, why: `unknown field, did you mean ${meant}` }]
}

/** Null: none. */
function valueMistake(setting: string, value: unknown) {
  const kind = bottlerocketSettings[setting]?.[1] ?? 'text'
  if (!bottlerocketTexts.has(setting))
    return hasType[kind](value) ? null : `it takes ${typeNames[kind]}, not ${shownType(value)}`
  const isWhole =
    Number.isInteger(value) || (typeof value === 'string' && /^-?\d{1,9}$/.test(value))
  if (!isWhole) return `it takes a whole number of percent, not ${shownType(value)}`
  return Number(value) >= 0 && Number(value) <= 100 ? null : 'must be between 0 and 100 (inclusive)'
}

function mapMistakes(setting: string, value: unknown): BottlerocketMistake[] {
  const keys = bottlerocketKeys[setting]
  if (!keys) return []
  return Object.entries(mapOf(value)).flatMap(([key, entry]) => {
    const isKey = keys.includes(key) || laterKeys[setting]?.includes(key) === true
    if (!isKey) return [{ setting, key, why: `it has no key ${key.slice(0, 60)}` }]
    return typeof entry === 'string'
      ? []
      : [{ setting, key, why: `${key} takes a text, not ${shownType(entry)}` }]
  })
}

function shownType(value: unknown) {
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Date) return 'a date'
  return isRawObject(value) ? 'a table' : `${JSON.stringify(value)}`.slice(0, 60)
}

/** The field that a setting sets, and the kind of its value. Empty: it sets none. */
export const fieldOfSetting = (
  setting: string,
): readonly [field: string, kind: SettingKind] | readonly [] =>
  (Object.hasOwn(bottlerocketSettings, setting) && bottlerocketSettings[setting]) || []

/** The setting that sets each field. */
export const bottlerocketSettingOf: ReadonlyMap<string, string> = new Map(
  Object.entries(bottlerocketSettings).map(([setting, [field]]) => [field, setting]),
)

/** Whether a release has the setting. @param release `1.51.0`; null: unknown, so only settings of every release count */
export function hasBottlerocketRelease(setting: string, release: string | null): boolean {
  const since = Object.hasOwn(bottlerocketSince, setting) ? bottlerocketSince[setting] : undefined
  if (since === undefined) return true
  const [major = 0, minor = 0] = numbers(release ?? '')
  const [sinceMajor = 0, sinceMinor = 0] = numbers(since)
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor)
}

const numbers = (text: string) =>
  (/^\d{1,6}(\.\d{1,6})*/.exec(text)?.[0] ?? '').split('.').map(Number)

/*
 * Fields that Bottlerocket's template of the kubelet's file sets, besides the settings.
 * Source: bottlerocket-core-kit packages/kubernetes-1.28 to 1.35, kubelet-config; newer minors are assumed to equal the newest of these.
 */

export const bottlerocketFile = '/etc/kubernetes/kubelet/config'

/** Settings that the template writes even if they are 0: `includeZero`. */
export const bottlerocketZeros: ReadonlySet<string> = new Set([
  'container-log-max-files',
  'container-log-max-size',
  'container-log-max-workers',
  'event-burst',
  'event-qps',
  'image-gc-high-threshold-percent',
  'image-gc-low-threshold-percent',
  'kube-api-burst',
  'kube-api-qps',
  'registry-burst',
  'registry-qps',
])

/** Values that the template writes for unset settings. */
const unset: KubeletConfiguration = { maxPods: 110, cpuCFSQuota: true, cpuManagerPolicy: 'none' }
export const bottlerocketEphemeralReservation = '1Gi'
export const bottlerocketSystemCgroup = '/system'

/** Fields by the first minor that has them. Each row replaces the row before. */
const ofMinors: readonly { since: number; fields: KubeletConfiguration }[] = [
  { since: 29, fields: { featureGates: { ImageMaximumGCAge: true } } },
  { since: 30, fields: {} },
  { since: 33, fields: { featureGates: { DynamicResourceAllocation: true } } },
  {
    since: 34,
    fields: {
      featureGates: { DynamicResourceAllocation: true, MutableCSINodeAllocatableCount: true },
    },
  },
  {
    since: 35,
    fields: {
      failCgroupV1: false,
      featureGates: { DynamicResourceAllocation: true, MutableCSINodeAllocatableCount: true },
    },
  },
]

/** Fields of the file if no setting changes them, without reservations. */
export function bottlerocketTemplate(kubeletVersion: string | null): KubeletConfiguration {
  const { rulesOfMinor } = featuresOf(kubeletVersion)
  return {
    ...amiDefaults('Bottlerocket', kubeletVersion),
    ...unset,
    ...ofMinors.findLast(({ since }) => since <= rulesOfMinor)?.fields,
  }
}

const amazonLinux: KubeletConfiguration = {
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
  },
  kubeReservedCgroup: '/runtime',
  systemReservedCgroup: '/system',
  serializeImagePulls: false,
}
const bottlerocket: KubeletConfiguration = {
  kubeReservedCgroup: '/runtime',
  serializeImagePulls: false,
  podPidsLimit: 1_048_576,
}
// In images since AMI v20250920.
const gracefulShutdown: KubeletConfiguration = {
  shutdownGracePeriod: '2m30s',
  shutdownGracePeriodCriticalPods: '30s',
}

/** Fields that an image sets to other values than the kubelet's defaults. Empty if it sets none. */
export function amiDefaults(
  family: AmiFamily,
  kubeletVersion: string | null,
): KubeletConfiguration {
  if (family === 'AL2') return amazonLinux
  if (family === 'AL2023')
    return featuresOf(kubeletVersion).has('amiShutsDownGracefully')
      ? { ...amazonLinux, ...gracefulShutdown }
      : amazonLinux
  return family === 'Bottlerocket' ? bottlerocket : {}
}

/**
 * The cgroup version of an EKS image; null: it depends on the image. Sources: EKS user guide, Upgrade from Amazon Linux 2 to AL2023; Bottlerocket
 * release notes, 1.13 (variants of Kubernetes 1.26 and later).
 */
export function cgroupVersionOfFamily(family: AmiFamily): 1 | 2 | null {
  if (family === 'AL2') return 1
  return family === 'AL2023' || family === 'Bottlerocket' ? 2 : null
}

/** Whether EKS publishes these images for managed nodegroups, and their settings are known. */
export const isFamilyOfEks = (family: AmiFamily): boolean =>
  family === 'AL2' || family === 'AL2023' || family === 'Bottlerocket'

/** Fields of the kubelet's file that AL2's bootstrap.sh overwrites at each run. Only a flag keeps another value. */
export const al2BootstrapFields: ReadonlySet<string> = new Set([
  'cgroupDriver',
  'clusterDNS',
  'evictionHard',
  'kubeReserved',
  'kubeReservedCgroup',
  'maxPods',
  'providerID',
  'systemReservedCgroup',
])

/**
 * Whether all images of the family have the same known default in this field. Feature gates and the
 * shutdown grace period differ between releases. Bottlerocket sets a system cgroup only together
 * with a reservation.
 */
export function isAmiDefaultKnown(family: AmiFamily, field: string): boolean {
  if (field === 'featureGates' || field === 'maxParallelImagePulls') return false
  return family !== 'Bottlerocket' || !/^(shutdown|systemReservedCgroup$)/.test(field)
}

/** Fields that older images of the same minor leave at the kubelet's default. */
export const isNewInAmi = (field: string): boolean => Object.hasOwn(gracefulShutdown, field)
