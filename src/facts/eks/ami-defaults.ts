/**
 * What an EKS image writes into the kubelet's configuration where nobody asked for anything.
 *
 * Sources  awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go (AL2023), templates/al2/runtime/bootstrap.sh and kubelet-config.json (AL2);
 *          bottlerocket-core-kit packages/kubernetes-*, kubelet-config (evictionHard only where the user sets it).
 */
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { AmiFamily } from '#model/node-identity.ts'

const amazonLinux: KubeletConfiguration = {
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
  kubeReservedCgroup: '/runtime',
  systemReservedCgroup: '/system',
}

/** Fields that differ from the kubelet's own defaults; empty where the image sets none. */
export function amiDefaults(family: AmiFamily): KubeletConfiguration {
  if (family === 'AL2' || family === 'AL2023') return amazonLinux
  return family === 'Bottlerocket' ? { kubeReservedCgroup: '/runtime' } : {}
}

/** Fields that bootstrap.sh of AL2 writes into the kubelet's file each time it runs, over what was there: only a flag outlives it. */
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
