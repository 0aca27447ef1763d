/**
 * What `spec.kubelet` of Karpenter's EC2NodeClass accepts up to v1.14: these fields and, in maps, these keys. Later releases accept any field.
 * Source: karpenter-provider-aws pkg/apis/v1 KubeletConfiguration; pkg/providers/amifamily/bootstrap/bottlerocket.go (fields that become settings there).
 */
const signals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
]
const resources = ['cpu', 'memory', 'ephemeral-storage', 'pid']

interface NodeClassField {
  /** Keys that the map may contain; undefined: the field is no map. */
  keys?: readonly string[]
  isIgnoredOnBottlerocket?: true
}

export const nodeClassKubeletFields: Readonly<Record<string, NodeClassField>> = {
  clusterDNS: {},
  cpuCFSQuota: {},
  evictionHard: { keys: signals },
  evictionMaxPodGracePeriod: {},
  evictionSoft: { keys: signals },
  evictionSoftGracePeriod: { keys: signals },
  imageGCHighThresholdPercent: {},
  imageGCLowThresholdPercent: {},
  kubeReserved: { keys: resources },
  maxPods: {},
  podsPerCore: { isIgnoredOnBottlerocket: true },
  systemReserved: { keys: resources },
}

export const isTranslatedForBottlerocket = (field: string): boolean =>
  Object.hasOwn(nodeClassKubeletFields, field) &&
  nodeClassKubeletFields[field]?.isIgnoredOnBottlerocket === undefined
