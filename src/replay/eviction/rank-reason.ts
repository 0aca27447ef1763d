/** The reason for a pod's rank in the order of eviction, for people. */
import type { Signal } from '#model/prediction.ts'
import type { PodRank } from './ranking.ts'
import { resourceOf } from './signals.ts'

export function rankReason(
  signal: Signal,
  { pod: { priority }, usage, request, exceedsRequest }: PodRank,
): string {
  const resource = resourceOf(signal)
  if (resource === 'pids')
    return `priority ${priority}, ${usage === null ? 'no statistics: none of its containers runs' : `${usage} processes`}`
  if (usage === null)
    return 'no statistics, because none of its containers runs: such pods go first'
  if (resource === 'inodes')
    return `priority ${priority}, ${usage} inodes${request === 0 ? '' : `, less ${request} bytes of storage that it requests`}`
  const name = resource === 'memory' ? 'memory' : 'disk'
  const asked =
    request === 0
      ? 'and requests none'
      : `${exceedsRequest ? 'above' : 'within'} its request of ${mebibytes(request)}`
  return `priority ${priority}, uses ${mebibytes(usage)} of ${name} ${asked}`
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`
