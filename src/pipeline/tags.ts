/** The tags that EKS has of a cluster and its nodegroups: by them the policy says who owns what. */
import type { ClusterInput } from '#model/cluster-input.ts'
import type { ResourceTags } from '#model/report.ts'

/** What was not read has no entry. */
export function tagsOf({ cluster, eks, nodegroups }: ClusterInput): ResourceTags[] {
  const ofGroups = (nodegroups ?? []).flatMap(({ nodegroupName: nodegroup, tags = {} }) =>
    nodegroup === undefined ? [] : [{ cluster, nodegroup, tags }],
  )
  return eks === null ? ofGroups : [{ cluster, nodegroup: null, tags: eks.tags ?? {} }, ...ofGroups]
}
