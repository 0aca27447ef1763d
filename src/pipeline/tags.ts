/** The EKS tags of a cluster and its nodegroups, and the labels of the latter, by which the policy matches owners. */
import type { ClusterInput } from '#model/cluster-input.ts'
import type { ResourceTags } from '#model/report.ts'

/** Unread clusters and nodegroups have no entry. */
export function tagsOf({ cluster, eks, nodegroups }: ClusterInput): ResourceTags[] {
  const ofGroups = (nodegroups ?? []).flatMap(({ nodegroupName: nodegroup, tags = {}, labels }) =>
    nodegroup === undefined ? [] : [{ cluster, nodegroup, tags, ...(labels && { labels }) }],
  )
  return eks === null ? ofGroups : [{ cluster, nodegroup: null, tags: eks.tags ?? {} }, ...ofGroups]
}
