/** AWS resources that are listed to find what a cluster has left in its account. Fields keep EC2's names. */
import type { ClusterNeed } from '#model/cluster-garbage.ts'

export interface AwsResource {
  /** Its name in the snapshot, and under which its failure is reported. */
  resource: string
  kind: ClusterNeed
  action: string
  /** A noun phrase, as of lists. */
  purpose: string
}

export const volumesResource: AwsResource = {
  resource: 'volumes.ec2.amazonaws.com',
  kind: 'disks',
  action: 'ec2:DescribeVolumes',
  purpose: 'EBS volumes of nodes; unused disks of a cluster, and their cost',
}
export const instancesResource: AwsResource = {
  resource: 'instances.ec2.amazonaws.com',
  kind: 'instances',
  action: 'ec2:DescribeInstances',
  purpose: 'instances that never became nodes, and nodes without an instance',
}

export const awsResources: readonly AwsResource[] = [volumesResource, instancesResource]

/** A filter of EC2's lists; filters of one request all have to fit. */
export interface TagFilter {
  name: string
  values: string[]
}

/**
 * Filters: each resource of a cluster matches one. Sources: EKS user guide, tagging (`aws:eks:cluster-name` on instances that join) and Auto
 * Mode (`eks:eks-cluster-name`); cloud-provider-aws pkg/providers/v1/tags.go TagNameKubernetesClusterPrefix; aws-ebs-csi-driver docs/tagging.md.
 */
export const clusterFilters = (cluster: string, resource: 'volumes' | 'instances'): TagFilter[] => [
  { name: `tag:kubernetes.io/cluster/${cluster}`, values: ['owned'] },
  {
    name: resource === 'instances' ? 'tag:aws:eks:cluster-name' : 'tag:eks:eks-cluster-name',
    values: [cluster],
  },
]

/** Volumes of these instances. Source: EC2 API reference, DescribeVolumes, filter attachment.instance-id. */
export const attachedFilter = (instances: string[]): TagFilter => ({
  name: 'attachment.instance-id',
  values: instances,
})
/** Source: EC2 user guide, filters: at most 200 values. */
export const attachedInstancesMax = 200

/** States in which there is an instance, and it may cost money. Source: EC2 API reference, InstanceState. */
export const livingInstanceStates = ['pending', 'running', 'stopping', 'stopped']
/** Attached to nothing. Source: EC2 API reference, Volume. */
export const unattachedVolumeState = 'available'
/** Items in a page. Sources: EC2 API reference, DescribeVolumes and DescribeInstances. */
export const ec2PageMax = 500
