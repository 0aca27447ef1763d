/**
 * Determines the owner and the image of a node, by label, provider id and `osImage`.
 *
 * Sources  EKS user guide (managed node groups, Fargate, hybrid nodes, Auto Mode labels); karpenter.sh well-known labels; eksctl's
 *          `alpha.eksctl.io/*` labels; awslabs/amazon-eks-ami nodeadm getProviderId; kubernetes/cloud-provider-aws#223 (Fargate's provider id) and
 *          pkg/providers/v1/instances.go MapToAWSInstanceID (the last part of the path counts, with a zone before it or without; or the bare id).
 */

import { featuresOf } from '#facts/kubelet/features.ts'
import {
  type AmiFamily,
  groupLabels,
  type KubernetesNode,
  type NodeIdentity,
  type NodeOwner,
} from '#model/input/record.ts'

const providerInstance = /^(?:aws:\/\/[^?#]*\/)?(i-[0-9a-f]{8,17})\/*$/
/** Source: the service model `ssm`, ManagedInstanceId. */
const activatedName = /^mi-[0-9a-f]{17}$/
const providerHybrid = /^eks-hybrid:\/\/\//
const eksctlNodegroup = 'alpha.eksctl.io/nodegroup-name'
const providerFargate = /^aws:\/\/\/[^/]+\/[^/]+\/fargate-/

function groupOf(name: string, labels: Record<string, string | undefined>): NodeIdentity['group'] {
  for (const [label, kind] of groupLabels) {
    const group = labels[label]
    if (group !== undefined) return { kind, namespace: null, name: group }
  }
  return { kind: 'Node', namespace: null, name }
}

/** Whether the node is of GKE or AKS. Source: the providerID of their cloud providers. */
export const isOfOtherCloud = ({ spec }: KubernetesNode): boolean =>
  /^(?:azure|gce):/.test(spec?.providerID ?? '')

export function nodeIdentity(node: KubernetesNode): NodeIdentity {
  const name = node.metadata?.name ?? ''
  const labels = node.metadata?.labels ?? {}
  const providerId = node.spec?.providerID ?? ''
  const osImage = node.status?.nodeInfo?.osImage ?? ''
  const operatingSystem = node.status?.nodeInfo?.operatingSystem ?? labels['kubernetes.io/os']
  const isWindows = operatingSystem === 'windows' || osImage.startsWith('Windows')
  const owner = nodeOwner(labels, providerId)
  const ready = node.status?.conditions?.find(condition => condition.type === 'Ready')?.status
  return {
    name,
    group: groupOf(name, labels),
    owner,
    isEksctl: eksctlNodegroup in labels,
    amiFamily: isWindows ? 'Windows' : amiFamily(osImage),
    operatingSystem: isWindows ? 'windows' : 'linux',
    instanceType: labels['node.kubernetes.io/instance-type'] ?? null,
    instanceId: providerInstance.exec(providerId)?.[1] ?? activatedId(labels, name),
    bootId: node.status?.nodeInfo?.bootID || null,
    kubeletVersion: node.status?.nodeInfo?.kubeletVersion || null,
    ready: ready === 'True' || ready === 'False' || ready === 'Unknown' ? ready : null,
  }
}

/** A hybrid node that SSM activated has its id from SSM as name. Source: EKS user guide, hybrid nodes; aws/eks-hybrid internal/kubelet. */
function activatedId(labels: Record<string, string | undefined>, name: string) {
  return labels['eks.amazonaws.com/hybrid-credential-provider'] === 'ssm' &&
    activatedName.test(name)
    ? name
    : null
}

function nodeOwner(labels: Record<string, string | undefined>, providerId: string): NodeOwner {
  const computeType = labels['eks.amazonaws.com/compute-type']
  if (computeType === 'fargate' || providerFargate.test(providerId)) return 'fargate'
  if (computeType === 'hybrid' || providerHybrid.test(providerId)) return 'hybrid'
  if (computeType === 'auto') return 'auto-mode'
  if ('karpenter.sh/nodepool' in labels) return 'karpenter'
  if ('eks.amazonaws.com/nodegroup' in labels) return 'managed-nodegroup'
  if (eksctlNodegroup in labels) return 'eksctl'
  return 'self-managed'
}

export function amiFamily(osImage: string): AmiFamily {
  if (osImage.startsWith('Amazon Linux 2023')) return 'AL2023'
  if (osImage.startsWith('Amazon Linux 2')) return 'AL2'
  if (osImage.startsWith('Bottlerocket')) return 'Bottlerocket'
  if (osImage.startsWith('Windows')) return 'Windows'
  return 'other'
}

/* The image and kubelet of a node, and which of two releases is older. Sources: EKS user guide, labels of managed nodegroups; osImage as each image's os-release says it. */

export interface Release {
  /** The AMI's id, if a label has it (managed nodegroups); else `osImage`. */
  image: string
  /** `Amazon Linux 2023.9.20251117`. The numbers in it have an order. */
  osImage: string
  /** Minor version of the kubelet; null: unknown. */
  minor: number | null
}

export function releaseOf(node: KubernetesNode, kubeletVersion: string | null): Release {
  const osImage = node.status?.nodeInfo?.osImage ?? ''
  const image = node.metadata?.labels?.['eks.amazonaws.com/nodegroup-image'] ?? osImage
  return { image, osImage, minor: featuresOf(kubeletVersion).minor }
}

/**
 * Whether EKS publishes an AMI of the family for this minor. 1.32 is the last with Amazon Linux 2. Families that others publish count as
 * available. Source: EKS user guide, AL2 AMI deprecation FAQs.
 */
export const isAmiPublished = (family: AmiFamily, kubeletVersion: string): boolean =>
  family !== 'AL2' || (featuresOf(kubeletVersion).minor ?? 0) <= 32

export const isOneMinor = (releases: readonly Release[]): boolean =>
  new Set(releases.map(({ minor }) => minor)).size < 2

/** Below 0: `a` is older. 0: they have the same age, or the order is unknown. */
export function byAge(a: Release, b: Release): number {
  if (a.minor !== null && b.minor !== null && a.minor !== b.minor) return a.minor - b.minor
  const others = numbersOf(b.osImage)
  const differing = numbersOf(a.osImage)
    .map((number, index) => number - (others[index] ?? number))
    .find(difference => difference !== 0)
  return differing ?? 0
}

const numbersOf = (text: string) => (text.slice(0, 100).match(/\d{1,12}/g) ?? []).map(Number)

/** Below 0: the release `a` of a managed nodegroup is older. `1.34.2-20251120`, of Bottlerocket `1.51.0-a1b2c3d4`. */
export function byReleaseVersion(a: string, b: string): number {
  const [numbers, others] = [a, b].map(release =>
    (/^[\d.]{1,40}(?:-20\d{6}$)?/.exec(release)?.[0] ?? '').split(/[.-]/).map(Number),
  )
  return numbers?.map((number, index) => number - (others?.[index] ?? 0)).find(Boolean) ?? 0
}
