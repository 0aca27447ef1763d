/**
 * Local storage that Karpenter counts for nodes of an EC2NodeClass, and its words for pods that it cannot place.
 *
 * Sources  karpenter-provider-aws pkg/providers/instancetype/types.go ephemeralStorage, KubeReservedResources, evictionThreshold;
 *          website/content/en/v1.14/reference/instance-types.md (instance-local-nvme);
 *          pkg/providers/amifamily/resolver.go DefaultEBS; kubernetes-sigs/karpenter pkg/controllers/provisioning/scheduling/nodeclaim.go
 */

import { amountOrNull } from '#base/go/quantity.ts'
import { gibibyte } from '#base/units.ts'
import type { AmiFamily, NodeClass, NodePool } from '#model/input/record.ts'

/** Volume of a node class without mappings, what is reserved of it, and the share that eviction keeps. */
const presets = { volumeBytes: 20 * gibibyte, reservedBytes: gibibyte, evictionShare: 0.1 }

/** The NodePools of which no instance type has the resources of a pod, and the storage that it needs with the DaemonSets. Empty: the message says something else. */
export const poolsWithoutRoom = (message: string): { pool: string; neededBytes: number }[] =>
  message.split(/incompatible with (?=(?:nodepool|provisioner) ")/).flatMap(part => {
    const [, pool = ''] = /^\w+ "([^"]{1,253})"/.exec(part) ?? []
    if (pool === '' || !part.includes('no instance type')) return []
    const [, needed] = /resources \{[^{}]*"ephemeral-storage":"([^"]{1,40})"/.exec(part) ?? []
    return [{ pool, neededBytes: amountOrNull(needed) ?? 0 }]
  })

export function familyOfClass({ spec }: NodeClass): AmiFamily {
  const [first] = spec?.amiSelectorTerms ?? []
  const name = (spec?.amiFamily ?? first?.alias?.split('@')[0] ?? '').toLowerCase()
  if (name.startsWith('bottlerocket')) return 'Bottlerocket'
  return name.startsWith('windows') ? 'Windows' : 'AL2023'
}

/** Families whose types have NVMe disks of their own, and categories with such a family. */
const nvme = {
  family:
    /^(?:[cmrxz]\d[a-ce-z]*d[a-z]*|i(?!2$)\d\w*|i[ms]\d\w*|d3\w*|f2|g4\w+|g5|g[67]\w*|gr6f?|hpc6id|p3dn|p[4-9].*|trn\d\w*)$/,
  category: /^(?:[cmrxzidfgp]|im|is|gr|hpc|trn)$/,
}
type Requirements = NonNullable<
  NonNullable<NonNullable<NodePool['spec']>['template']>['spec']
>['requirements']

/** How many of the instance types that a NodePool can start have NVMe disks. Null: unknown. */
export function nvmeTypes(requirements: Requirements): 'all' | 'some' | 'none' | null {
  if (!requirements) return null
  const answers = requirements.map(({ key = '', operator, values = [] }) => {
    const [name] = key.split('/').slice(-1)
    if (name === 'instance-local-nvme' && operator !== 'In')
      return { DoesNotExist: 'none', Exists: 'all', Gt: 'all' }[operator ?? ''] ?? 'some'
    const form = name === 'instance-category' ? nvme.category : nvme.family
    if (operator !== 'In' || !/^instance-(?:category|family|type)$/.test(name ?? '')) return 'some'
    const have = values.filter(value => form.test(value.split('.')[0] ?? ''))
    if (have.length === 0) return 'none'
    return have.length < values.length || form === nvme.category ? 'some' : 'all'
  })
  return (['none', 'all'] as const).find(one => answers.includes(one)) ?? 'some'
}

/** The smallest volume of which pods get so much. */
export const volumeForPods = (podBytes: number): number =>
  (podBytes + presets.reservedBytes) / (1 - presets.evictionShare)

/** What pods get of a volume, as Karpenter counts. */
export const podBytesOf = (volumeBytes: number): number =>
  Math.max(0, (1 - presets.evictionShare) * volumeBytes - presets.reservedBytes)

/** An own image without a family: Karpenter does not know which device holds its data. */
const isCustom = ({ amiFamily, amiSelectorTerms = [] }: NonNullable<NodeClass['spec']>) =>
  amiFamily === undefined
    ? amiSelectorTerms.every(({ alias }) => alias === undefined)
    : amiFamily === 'Custom'

/** Whether amounts of its own take the place of the presets. */
const changesPresets = (kubelet: Record<string, unknown> = {}) =>
  Object.values(kubelet).some(
    amounts =>
      typeof amounts === 'object' &&
      amounts !== null &&
      ('ephemeral-storage' in amounts || 'nodefs.available' in amounts),
  )

/** Mappings with a size that do not count, because none has `rootVolume: true` and none is of the device of the family. */
export const uncountedVolumes = ({ spec }: NodeClass, countedDevice: string) =>
  (spec?.blockDeviceMappings ?? []).flatMap(({ deviceName: device, rootVolume, ebs }) => {
    const bytes = amountOrNull(ebs?.volumeSize)
    return device === undefined || device === countedDevice || rootVolume || bytes === null
      ? []
      : [{ device, bytes }]
  })

/** The own image of a class may have another root device than its family. */
export const hasOwnImage = ({ spec }: NodeClass): boolean =>
  spec?.amiSelectorTerms?.some(({ alias }) => alias === undefined) === true

/** Size of the volume that counts, and what pods get of it. Null: the instance store counts, the size is no quantity, or one of both is not known. */
export function storageOfClass(
  { spec = {} }: NodeClass,
  dataDevice: string,
): { volumeBytes: number; podBytes: number; rootDevice: string | null } | null {
  if (spec.instanceStorePolicy === 'RAID0' || isCustom(spec) || changesPresets(spec.kubelet))
    return null
  const mappings = spec.blockDeviceMappings ?? []
  const root = mappings.find(({ rootVolume, ebs }) => rootVolume && ebs?.volumeSize)
  const counted = root ?? mappings.find(({ deviceName }) => deviceName === dataDevice)
  const volumeBytes =
    counted?.ebs?.volumeSize === undefined
      ? presets.volumeBytes
      : amountOrNull(counted.ebs.volumeSize)
  if (volumeBytes === null) return null
  return { volumeBytes, podBytes: podBytesOf(volumeBytes), rootDevice: root?.deviceName ?? null }
}
