/**
 * Fields that Bottlerocket's template of the kubelet's file sets, besides the settings in `bottlerocket-settings.ts`.
 * Source: bottlerocket-core-kit packages/kubernetes-1.28 to 1.35, kubelet-config; newer minors are assumed to equal the newest of these.
 */
import { featuresOf } from '#facts/kubelet/features.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { amiDefaults } from './ami-defaults.ts'

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
