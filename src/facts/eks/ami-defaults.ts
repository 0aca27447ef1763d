/**
 * Kubelet configuration that an EKS image writes by default.
 *
 * Sources  awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go (AL2023), templates/al2/runtime/bootstrap.sh and kubelet-config.json (AL2);
 *          bottlerocket-core-kit packages/kubernetes-*, kubelet-config (evictionHard only where the user sets it).
 */
import { featuresOf } from '#facts/kubelet/features.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'

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
