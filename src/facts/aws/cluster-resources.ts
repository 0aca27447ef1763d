/** AWS resources that are listed to find what a cluster left behind in its account. Fields keep EC2's names. */
import type { ClusterNeed } from '#model/cluster-garbage.ts'

export interface AwsResource {
  /** Its name in the snapshot. Its failure is reported under the same name. */
  resource: string
  kind: ClusterNeed
  action: string
  /** What the list is read for: a noun phrase. */
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

/** A filter of EC2's lists. If a request has several filters, a resource must match all of them. */
export interface TagFilter {
  name: string
  values: string[]
}

/**
 * Filters for a cluster's resources; each resource matches at least one. Sources: EKS user guide, tagging (`aws:eks:cluster-name` on instances that join) and Auto
 * Mode (`eks:eks-cluster-name`); cloud-provider-aws pkg/providers/v1/tags.go TagNameKubernetesClusterPrefix; aws-ebs-csi-driver docs/tagging.md.
 */
export const clusterFilters = (cluster: string, resource: 'volumes' | 'instances'): TagFilter[] => [
  { name: `tag:kubernetes.io/cluster/${cluster}`, values: ['owned'] },
  {
    name: resource === 'instances' ? 'tag:aws:eks:cluster-name' : 'tag:eks:eks-cluster-name',
    values: [cluster],
  },
]

/** Filter for the volumes attached to these instances. Source: EC2 API reference, DescribeVolumes, filter attachment.instance-id. */
export const attachedFilter = (instances: string[]): TagFilter => ({
  name: 'attachment.instance-id',
  values: instances,
})
/** Maximum number of values in a filter. Source: EC2 user guide, filters. */
export const attachedInstancesMax = 200

/** States in which an instance exists and may cost money. Source: EC2 API reference, InstanceState. */
export const livingInstanceStates = ['pending', 'running', 'stopping', 'stopped']
/** The state of a volume without an attachment. Source: EC2 API reference, Volume. */
export const unattachedVolumeState = 'available'
/** Items per page, at most. Sources: EC2 API reference, DescribeVolumes and DescribeInstances. */
export const ec2PageMax = 500
