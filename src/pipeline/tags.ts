/** The EKS tags of a cluster and its nodegroups, by which the policy matches owners. */
import type { ClusterInput } from '#model/cluster-input.ts'
import type { ResourceTags } from '#model/report.ts'

/** Unread clusters and nodegroups have no entry. */
export function tagsOf({ cluster, eks, nodegroups }: ClusterInput): ResourceTags[] {
  const ofGroups = (nodegroups ?? []).flatMap(({ nodegroupName: nodegroup, tags = {} }) =>
    nodegroup === undefined ? [] : [{ cluster, nodegroup, tags }],
  )
  return eks === null ? ofGroups : [{ cluster, nodegroup: null, tags: eks.tags ?? {} }, ...ofGroups]
}
