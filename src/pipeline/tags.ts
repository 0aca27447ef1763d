/** Tags and labels by which the policy matches owners. */
import type { ClusterInput } from '#model/cluster-input.ts'
import type { Policy } from '#model/policy.ts'
import type { ResourceTags } from '#model/report.ts'
import type { Subject } from '#model/subject.ts'

/** Unread clusters and nodegroups have no entry. */
export function tagsOf({ cluster, eks, nodegroups }: ClusterInput): ResourceTags[] {
  const ofGroups = (nodegroups ?? []).flatMap(({ nodegroupName: nodegroup, tags = {}, labels }) =>
    nodegroup === undefined ? [] : [{ cluster, nodegroup, tags, ...(labels && { labels }) }],
  )
  return eks === null ? ofGroups : [{ cluster, nodegroup: null, tags: eks.tags ?? {} }, ...ofGroups]
}

/** Labels that the policy's owners name. A nodepool has the labels that all its nodes have; a node without a group has its own. */
export function openNodeLabels({ report: { owners } }: Policy) {
  const wanted = [...new Set(owners.flatMap(({ match }) => Object.keys(match.labels ?? {})))]
  const found = new Map<string, ResourceTags & { labels: Record<string, string> }>()
  return {
    take(cluster: string, { kind, name }: Subject, labels: Record<string, string | undefined>) {
      if (wanted.length === 0 || kind === 'Nodegroup') return
      const key = JSON.stringify([cluster, kind, name])
      const before = found.get(key)?.labels ?? labels
      const common = wanted.filter(
        label => Object.hasOwn(labels, label) && before[label] === labels[label],
      )
      found.set(key, {
        ...{ cluster, nodegroup: null, tags: {}, group: { kind, name } },
        labels: Object.fromEntries(common.map(label => [label, labels[label]!])),
      })
    },
    list: (): ResourceTags[] => [...found.values()],
  }
}
