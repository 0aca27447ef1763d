/**
 * Determines the owner and the image of a node, by label, provider id and `osImage`.
 *
 * Sources  EKS user guide (managed node groups, Fargate, hybrid nodes, Auto Mode labels); karpenter.sh well-known labels; eksctl's
 *          `alpha.eksctl.io/*` labels; awslabs/amazon-eks-ami nodeadm getProviderId; kubernetes/cloud-provider-aws#223 (Fargate's provider id) and
 *          pkg/providers/v1/instances.go MapToAWSInstanceID (the last part of the path counts, with a zone before it or without; or the bare id).
 */
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import type { AmiFamily, NodeIdentity, NodeOwner } from '#model/input/record.ts'

const providerInstance = /^(?:aws:\/\/[^?#]*\/)?(i-[0-9a-f]{8,17})\/*$/
/** Source: the service model `ssm`, ManagedInstanceId. */
const activatedName = /^mi-[0-9a-f]{17}$/
const providerHybrid = /^eks-hybrid:\/\/\//
const eksctlNodegroup = 'alpha.eksctl.io/nodegroup-name'
const providerFargate = /^aws:\/\/\/[^/]+\/[^/]+\/fargate-/

function groupOf(
  name: string,
  nodePool: string | undefined,
  nodegroup: string | undefined,
): NodeIdentity['group'] {
  if (nodePool !== undefined) return { kind: 'NodePool', namespace: null, name: nodePool }
  if (nodegroup !== undefined) return { kind: 'Nodegroup', namespace: null, name: nodegroup }
  return { kind: 'Node', namespace: null, name }
}

export function nodeIdentity(node: KubernetesNode): NodeIdentity {
  const name = node.metadata?.name ?? ''
  const labels = node.metadata?.labels ?? {}
  const providerId = node.spec?.providerID ?? ''
  const osImage = node.status?.nodeInfo?.osImage ?? ''
  const operatingSystem = node.status?.nodeInfo?.operatingSystem ?? labels['kubernetes.io/os']
  const owner = nodeOwner(labels, providerId)
  const nodePool = labels['karpenter.sh/nodepool']
  const nodegroup = labels['eks.amazonaws.com/nodegroup'] ?? labels[eksctlNodegroup]
  const ready = node.status?.conditions?.find(condition => condition.type === 'Ready')?.status
  return {
    name,
    group: groupOf(name, nodePool, nodegroup),
    owner,
    isEksctl: eksctlNodegroup in labels,
    amiFamily: amiFamily(osImage),
    operatingSystem: operatingSystem === 'windows' ? 'windows' : 'linux',
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
