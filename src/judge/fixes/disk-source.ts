/** What declares the size of a node's volume, as far as it was read: the place where a larger one is written. */

import type { DeclaredNode } from '#judge/drift/drift.ts'
import type { ClusterContext } from '#judge/subject/node-subject.ts'
import { nameLength, shorten } from '#judge/text.ts'

export interface DiskSource {
  /** `EC2NodeClass default`. */
  name: string
  /** Of an EC2NodeClass. */
  className?: string
  /** Of an EC2NodeClass that has the device among its mappings. */
  mapping?: Mapping
  /** Its only mapping, which is of another device. */
  other?: Mapping
  /** Of the launch template that has the mapping. */
  template?: { id: string; version: string }
}

interface Mapping {
  index: number
  device: string
}

const classes = 'ec2nodeclasses.karpenter.k8s.aws'

/** @param device null: unknown */
export function diskSourceOf(
  node: DeclaredNode,
  device: string | null,
  context: ClusterContext,
): DiskSource | null {
  if (node.owner === 'karpenter') return sourceOfClass(node.nodeClass.name, device, context)
  const nodegroup = context.nodegroups?.find(({ nodegroupName }) => nodegroupName === node.group)
  if (node.owner !== 'managed-nodegroup') return null
  if (!nodegroup) return { name: 'the nodegroup (its launch template, or a new one)' }
  const { launchTemplate } = nodegroup
  // Source: EKS API reference, UpdateNodegroupConfig: it has no diskSize.
  const inPlace = `a new nodegroup in place of ${shorten(node.group, nameLength)}`
  if (!launchTemplate) return { name: `${inPlace} (its diskSize cannot be changed)` }
  const { id, version = '$Default' } = launchTemplate
  const name = launchTemplate.name || id
  if (!name) return null
  // Source: eksctl user guide, nodegroups are immutable; eksctl owns the template.
  if (name.startsWith('eksctl-'))
    return { name: `${inPlace} (volumeSize of the eksctl ClusterConfig)` }
  return {
    // Source: EC2 API reference, CreateLaunchTemplateVersion SourceVersion: what is specified overwrites what is inherited.
    name: `a new version of launch template ${shorten(name, nameLength)} (with all of its mappings: encryption, KMS key, type, IOPS, throughput)`,
    ...(id && { template: { id, version } }),
  }
}

function sourceOfClass(
  className: string | null,
  device: string | null,
  context: ClusterContext,
): DiskSource | null {
  if (className === null) return null
  const name = `EC2NodeClass ${shorten(className, nameLength)}`
  const found = context.objects(classes)?.find(({ metadata }) => metadata?.name === className)
  const mappings = found?.spec?.blockDeviceMappings ?? []
  const sized = mappings.flatMap(({ deviceName, ebs }, index) =>
    deviceName !== undefined && ebs?.volumeSize !== undefined
      ? [{ index, device: deviceName }]
      : [],
  )
  const mapping = sized.find(one => one.device === device)
  const source = { name, className }
  if (device === null || (!mapping && sized.length !== 1)) return source
  return { ...source, ...(mapping ? { mapping } : { other: sized[0]! }) }
}
