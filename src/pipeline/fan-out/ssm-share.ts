/**
 * How nodes are read by SSM within its limits, which are those of an account and region together. The clusters of one place that are read at
 * the same time share them, and a shard is no larger than one function can read at that share.
 */
import type { ClusterTarget } from '#discover/discover.ts'
import { commandInstancesMax } from '#facts/aws/limits.ts'
import { accountInArn } from '#model/arn.ts'
import { type Policy, readModeOf } from '#model/policy.ts'
import { promisedSources } from '#model/read-mode.ts'
import { readingSeconds } from '#pipeline/service/function-time.ts'

export interface SsmShare {
  /** What one cluster may ask. */
  requestsPerSecond: number
  nodesPerShard: number
}

/** Estimated SSM calls for one node: its output is one call, the other calls serve up to 50 nodes. */
export const ssmCallsPerNodeMax = 1.5

type Limits = Pick<Policy, 'pace' | 'fanOut'>

/** Until the first node's answer can be asked for, and after the last was: a start, the scripts, what is written. */
const aroundSeconds = 60
const askingSeconds = readingSeconds - aroundSeconds

/** The clusters that are read by SSM, by account and region. */
export function ssmGroups(targets: readonly ClusterTarget[], policy: Policy): ClusterTarget[][] {
  const isBySsm = ({ record, place }: ClusterTarget) =>
    place !== null && promisedSources[readModeOf(policy, record.cluster)].includes('host')
  const placeOf = ({ record: { eks }, place }: ClusterTarget) => {
    const account = typeof eks?.arn === 'string' ? accountInArn(eks.arn) : null
    return `${account ?? place?.roleArn ?? 'own'} ${place?.region}`
  }
  return [...Map.groupBy(targets.filter(isBySsm), placeOf).values()]
}

/** Nodes of one account and region that one function can read by SSM in its time: 2,200 at the default pace. */
export const ssmNodesMax = ({ pace }: Pick<Policy, 'pace'>): number =>
  Math.floor((pace.ssmRequestsPerSecond * askingSeconds) / ssmCallsPerNodeMax)

/** @param sharing of each account and region, how many clusters are read by SSM @returns clusters read at once: so many that a shard is one command's nodes at least */
export function clustersAtOnce(sharing: readonly number[], { pace, fanOut }: Limits): number {
  const most = Math.max(
    1,
    Math.floor(
      (pace.ssmRequestsPerSecond * askingSeconds) / (ssmCallsPerNodeMax * commandInstancesMax),
    ),
  )
  return sharing.some(clusters => clusters > most)
    ? Math.min(most, fanOut.clustersAtOnce)
    : fanOut.clustersAtOnce
}

/** @param sharing clusters of its account and region that are read by SSM; 0: it is not @param atOnce clusters read at once, of all */
export function ssmShare(sharing: number, atOnce: number, { pace, fanOut }: Limits): SsmShare {
  if (sharing === 0)
    return { requestsPerSecond: pace.ssmRequestsPerSecond, nodesPerShard: fanOut.nodesPerShard }
  const requestsPerSecond = pace.ssmRequestsPerSecond / Math.min(sharing, atOnce)
  const mostNodes = Math.floor((requestsPerSecond * askingSeconds) / ssmCallsPerNodeMax)
  return {
    requestsPerSecond,
    nodesPerShard: Math.max(1, Math.min(fanOut.nodesPerShard, mostNodes)),
  }
}
