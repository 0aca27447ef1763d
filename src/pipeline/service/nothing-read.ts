/** Whether a run has read nothing though there was something to read: a report of that is no success. */
import { isListBroken } from '#judge/delta/run-knowledge.ts'
import { bounded, counted } from '#judge/text.ts'
import type { AuditedNode } from '#model/report.ts'
import type { AuditResult } from '#pipeline/audit.ts'

/**
 * Why, for people; null: something was read, or there is nothing that anybody could read. A cluster whose list of nodes is empty has none, and a Fargate node
 * cannot be read by anyone.
 */
export function nothingRead({
  document: { notAudited },
  nodes,
}: Pick<AuditResult, 'document' | 'nodes'>): string | null {
  if (!nodes.every(isSilent)) return null
  const unread = nodes.filter(({ identity }) => identity.owner !== 'fargate')
  const unlisted = notAudited.filter(isListBroken)
  if (unread.length === 0 && unlisted.length === 0) return null
  const clusters = new Set(unlisted.map(({ cluster }) => cluster)).size
  const what = [
    ...(unread.length > 0 ? [`${counted(unread.length, 'node')} could not be read`] : []),
    ...(clusters > 0
      ? [`of ${counted(clusters, 'cluster')} it is not known which nodes there are`]
      : []),
  ]
  const [first] = [
    ...unlisted.map(({ cluster, reason }) => `cluster ${cluster}: ${reason}`),
    ...unread.map(whyUnread),
  ]
  return `no node was read: ${what.join(', and ')}. The report names each with its reason, as that of ${first}`
}

/** Neither its settings nor its disks are known: what an API server tells of its pods is no word of the node. */
const isSilent = ({
  coverage,
  prediction: { eviction, imageGC, filesystems },
}: AuditedNode): boolean =>
  coverage === 'notRead' ||
  (coverage === 'partlyRead' &&
    eviction === null &&
    imageGC === null &&
    filesystems.nodefs === null)

const whyUnread = ({ cluster, identity, errors }: AuditedNode): string =>
  bounded(
    `node ${identity.name} of cluster ${cluster}: ${errors.map(({ what, message }) => `${what}: ${message}`).join('; ')}`,
  )
