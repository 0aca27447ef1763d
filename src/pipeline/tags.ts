/** The tags that EKS has of a cluster and its nodegroups: by them the policy says who owns what. */
import { type ClusterRecord, isRawObject } from '#model/record.ts'
import type { ResourceTags } from '#model/report.ts'

/** What was not read has no entry. */
export function tagsOf({ cluster, eks, nodegroups }: ClusterRecord): ResourceTags[] {
  const ofGroups = (Array.isArray(nodegroups) ? nodegroups : [])
    .filter(isRawObject)
    .flatMap(({ nodegroupName, tags }) => {
      return typeof nodegroupName === 'string'
        ? [{ cluster, nodegroup: nodegroupName, tags: textsOf(tags) }]
        : []
    })
  return isRawObject(eks)
    ? [{ cluster, nodegroup: null, tags: textsOf(eks.tags) }, ...ofGroups]
    : ofGroups
}

const textsOf = (tags: unknown): Record<string, string> =>
  isRawObject(tags)
    ? Object.fromEntries(
        Object.entries(tags).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string',
        ),
      )
    : {}
