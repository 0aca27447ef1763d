/** Divides the nodes of a cluster into shards; one function reads one shard. */

import { by } from '#base/text.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import { commandInstancesMax } from '#facts/aws/limits.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { accountInArn, type NodeRecord, promisedSources } from '#model/input/record.ts'
import { type Policy, readModeOf } from '#model/policy.ts'
import { readingSeconds } from '#pipeline/runtime/runtime.ts'

/** Nodes of one group stay together if they fit. Shards do not depend on the order of the list. */
export function shardsOf(nodes: readonly NodeRecord[], mostNodes: number) {
  const groups = Map.groupBy(
    nodes.map(record => ({ record, identity: nodeIdentity(record.node) })),
    ({ identity: { group } }) => (group.kind === 'Node' ? '' : `${group.kind}/${group.name}`),
  )
  const shards: NodeRecord[][] = []
  for (const [, members] of [...groups].toSorted(by(([group]) => group))) {
    const sorted = members.toSorted(by(({ identity }) => identity.name)).map(({ record }) => record)
    const last = shards.at(-1)
    if (last && last.length + sorted.length <= mostNodes) last.push(...sorted)
    else
      for (let start = 0; start < sorted.length; start += mostNodes)
        shards.push(sorted.slice(start, start + mostNodes))
  }
  return shards
}

export interface SsmShare {
  /** SSM requests per second for one cluster. */
  requestsPerSecond: number
  nodesPerShard: number
}

/** Estimated SSM calls for one node: the output of each of two documents is one call, the other calls serve up to 50 nodes. */
export const ssmCallsPerNodeMax = 3

type ShardLimits = Pick<Policy, 'pace' | 'fanOut'>

/** Seconds before the first answer and after the last one: start, scripts, writing. */
const aroundSeconds = 60
const requestSeconds = readingSeconds - aroundSeconds

/** The clusters read by SSM, grouped by account and region. */
export function ssmGroups(targets: readonly ClusterTarget[], policy: Policy) {
  const isBySsm = ({ record, place }: ClusterTarget) =>
    place !== null && promisedSources[readModeOf(policy, record.cluster)].includes('host')
  const placeOf = ({ record: { eks }, place }: ClusterTarget) => {
    const account = typeof eks?.arn === 'string' ? accountInArn(eks.arn) : null
    return `${account ?? place?.roleArn ?? 'own'} ${place?.region}`
  }
  return [...Map.groupBy(targets.filter(isBySsm), placeOf).values()]
}

/** Nodes of one account and region that one function can read by SSM in its time: 1,100 at the default pace. */
export const ssmNodesMax = ({ pace }: Pick<Policy, 'pace'>) =>
  Math.floor((pace.ssmRequestsPerSecond * requestSeconds) / ssmCallsPerNodeMax)

/**
 * @param sharing per account and region, the number of clusters that are read by SSM
 * @returns clusters read at once, few enough that a shard has the nodes of at least one command
 */
export function clustersAtOnce(sharing: readonly number[], { pace, fanOut }: ShardLimits) {
  const most = Math.max(1, Math.floor(ssmNodesMax({ pace }) / commandInstancesMax))
  const isShared = sharing.some(clusters => clusters > most)
  return isShared ? Math.min(most, fanOut.clustersAtOnce) : fanOut.clustersAtOnce
}

/**
 * @param sharing number of clusters of its account and region that are read by SSM; 0: this cluster is not
 * @param atOnce clusters read at once, of all accounts
 */
export function ssmShare(sharing: number, atOnce: number, { pace, fanOut }: ShardLimits): SsmShare {
  if (sharing === 0)
    return { requestsPerSecond: pace.ssmRequestsPerSecond, nodesPerShard: fanOut.nodesPerShard }
  const requestsPerSecond = pace.ssmRequestsPerSecond / Math.min(sharing, atOnce)
  const mostNodes = Math.floor((requestsPerSecond * requestSeconds) / ssmCallsPerNodeMax)
  return {
    requestsPerSecond,
    nodesPerShard: Math.max(1, Math.min(fanOut.nodesPerShard, mostNodes)),
  }
}
