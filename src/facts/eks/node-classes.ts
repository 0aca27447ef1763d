/** Custom resources of Karpenter and EKS Auto Mode, which create nodes without a nodegroup. Sources: karpenter.sh API reference; EKS user guide, node class. */
export interface CustomResource {
  group: string
  plural: string
  kind: string
  /** API versions, newest first. */
  versions: readonly string[]
}

export const nodeClasses: readonly CustomResource[] = [
  { group: 'karpenter.sh', plural: 'nodepools', kind: 'NodePool', versions: ['v1', 'v1beta1'] },
  {
    group: 'karpenter.k8s.aws',
    plural: 'ec2nodeclasses',
    kind: 'EC2NodeClass',
    versions: ['v1', 'v1beta1'],
  },
  { group: 'eks.amazonaws.com', plural: 'nodeclasses', kind: 'NodeClass', versions: ['v1'] },
]
