/**
 * The KubeletConfiguration field that each of Bottlerocket's `settings.kubernetes.*` sets.
 * Source: bottlerocket-core-kit packages/kubernetes-1.34/kubelet-config. A setting that is not listed sets no field that this product reads.
 */
import { isPlannable } from '#facts/kubelet/fields.ts'

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

/** Numbers that Bottlerocket accepts only as text. Source: bottlerocket-settings-sdk, IntegerPercent */
export const bottlerocketTexts: ReadonlySet<string> = new Set([
  'image-gc-high-threshold-percent',
  'image-gc-low-threshold-percent',
])

/** The first Bottlerocket release with a setting. All releases still in use have the settings that are not listed. */
export const bottlerocketSince: Readonly<Record<string, string>> = {
  'container-log-max-workers': '1.39',
  'container-log-monitor-interval': '1.39',
  'single-process-oom-kill': '1.39',
}

const signals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
]
const resources = ['cpu', 'memory', 'ephemeral-storage']

/** Keys that a map may contain. Source: bottlerocket-settings-sdk, KubernetesEvictionKey, KubernetesReservedResourceKey */
export const bottlerocketKeys: Readonly<Record<string, readonly string[]>> = {
  'eviction-hard': signals,
  'eviction-soft': signals,
  'eviction-soft-grace-period': signals,
  'kube-reserved': resources,
  'system-reserved': resources,
}

const settable = new Set(Object.values(bottlerocketSettings).map(([field]) => field))
export const hasBottlerocketSetting = (field: string): boolean => settable.has(field)

/** Whether a release has the setting. @param release `1.51.0`; null: unknown, so only settings of every release count */
export function hasBottlerocketRelease(setting: string, release: string | null): boolean {
  const since = Object.hasOwn(bottlerocketSince, setting) ? bottlerocketSince[setting] : undefined
  if (since === undefined) return true
  const [major = 0, minor = 0] = numbers(release ?? '')
  const [sinceMajor = 0, sinceMinor = 0] = numbers(since)
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor)
}

const numbers = (text: string): number[] =>
  (/^\d{1,6}(\.\d{1,6})*/.exec(text)?.[0] ?? '').split('.').map(Number)
