/** What one run takes of many functions: how often they are invoked and how long, and what the state machine and the bucket are asked for. */
import {
  judgePeakMiBPerPodOfNode,
  judgePeakMiBPerRun,
  logBytesPerCluster,
  logBytesPerInvocation,
  logBytesPerRun,
  partBytesPerNode,
  partCpuMsPerInvocation,
  partCpuMsPerNode,
  partCpuMsPerPod,
  peakMiBPerNode,
  publishPeakMiBPerNode,
  publishPeakMiBPerRun,
} from '#facts/measured.ts'
import type { Bounds, CostQuestion, RunEstimate } from '#model/cost.ts'
import type { Policy } from '#model/policy.ts'
import { promisedSources } from '#model/read-mode.ts'
import { clustersAtOnce, ssmShare } from '#pipeline/fan-out/ssm-share.ts'
import stateMachine from '#pipeline/fan-out/state-machine.json' with { type: 'json' }
import { readingSeconds } from '#pipeline/service/function-time.ts'
import { exactly, sum, times } from './bounds.ts'
import {
  asked,
  cutOff,
  processor,
  publishing,
  slowest,
  snapshotBytes,
  type Taken,
  takenAlone,
  tooLittleMemory,
} from './run-estimate.ts'

/** What the functions ask of the bucket beside what one alone would: for each shard, each cluster, and once. A list is paid for as a write. */
export const moreWrites = { ofShard: 4, ofCluster: 5, ofRun: 7 }
export const moreReads = { ofShard: 6, ofCluster: 6, ofRun: 8 }
/** Who hands over, finds the clusters, and publishes. */
const functionsOfRun = 3

/** Null: the service hands no fleet over that is so small. */
export function estimateFanOut(
  question: CostQuestion,
  { pace, fanOut }: Pick<Policy, 'pace' | 'fanOut'>,
): { run: RunEstimate; taken: Taken } | null {
  const { nodes, clusters, accounts, mode, podsPerNode, memoryMiB } = question
  const { aboveNodes, acrossPlaces } = fanOut
  if (!((aboveNodes !== null && nodes > aboveNodes) || (acrossPlaces && accounts > 1))) return null
  const inCluster = nodes / clusters
  // Of a cluster one shard after the other, at its own pace; of SSM it has its part beside the others of its account.
  const sharing = promisedSources[mode].includes('host') ? Math.ceil(clusters / accounts) : 0
  const atOnce = clustersAtOnce([sharing], { pace, fanOut })
  const { requestsPerSecond: ssmRequestsPerSecond, nodesPerShard } = ssmShare(sharing, atOnce, {
    pace,
    fanOut,
  })
  // Groups stay together where they fit, so a shard may be half empty.
  const shardsInCluster: Bounds = {
    least: Math.ceil(inCluster / nodesPerShard),
    most: Math.max(1, Math.min(Math.floor(inCluster), Math.ceil((2 * inCluster) / nodesPerShard))),
  }
  const shards = times(shardsInCluster, clusters)
  const invocations = sum(shards, exactly(clusters + functionsOfRun))
  const start = processor(question, partCpuMsPerInvocation)
  const startOf = (count: Bounds): Bounds => ({
    least: count.least * start.least,
    most: count.most * start.most,
  })

  const all = asked(question)
  const ofCluster = {
    kubernetesRequests: all.kubernetesRequests / clusters,
    ssmCalls: times(all.ssmCalls, 1 / clusters),
    ssmRequestsPerSecond,
    computing: processor(question, inCluster * (partCpuMsPerNode + podsPerNode * partCpuMsPerPod)),
  }
  const { seconds: whole, boundBy } = slowest({
    ...ofCluster,
    requestsPerSecond: pace.requestsPerSecond,
  })
  const end = publishing(question)
  const shardSeconds = (whole.most * Math.min(nodesPerShard, inCluster)) / inCluster
  const reading = cutOff(whole, Math.max(1, inCluster / nodesPerShard))
  const peakMiB = Math.round(
    Math.max(
      publishPeakMiBPerRun + nodes * publishPeakMiBPerNode,
      judgePeakMiBPerRun + podsPerNode * judgePeakMiBPerPodOfNode + inCluster * peakMiBPerNode,
    ),
  )
  const oneAfterTheOther = Math.ceil(clusters / atOnce)
  const ofShards = (more: { ofShard: number; ofCluster: number; ofRun: number }): Bounds =>
    sum(times(shards, more.ofShard), exactly(more.ofCluster * clusters + more.ofRun))
  const alone = takenAlone(question, exactly(0))
  return {
    run: {
      ...{
        seconds: sum(
          times(sum(startOf(sum(shardsInCluster, exactly(1))), reading), oneAfterTheOther),
          times(start, functionsOfRun),
          end,
        ),
      },
      ...{ boundBy, peakMiB, ...all },
      remarks: [
        ...tooSlow(shardSeconds),
        ...tooLittleMemory(peakMiB, memoryMiB, 'split it among stacks'),
      ],
    },
    taken: {
      functionSeconds: sum(startOf(invocations), times(reading, clusters), end),
      invocations,
      stateTransitions: transitions(shards, clusters),
      writes: sum(alone.writes, ofShards(moreWrites)),
      reads: sum(alone.reads, ofShards(moreReads)),
      storedBytes: alone.storedBytes + snapshotBytes(question) + nodes * partBytesPerNode,
      logBytes: sum(
        times(invocations, logBytesPerInvocation),
        exactly(logBytesPerRun + clusters * logBytesPerCluster),
      ),
    },
  }
}

function tooSlow(shardSeconds: number): string[] {
  if (shardSeconds <= readingSeconds) return []
  return [
    `One function reads for ${readingSeconds} s at most; a shard of this fleet takes up to ${Math.round(shardSeconds)} s. What it does not reach is listed as not audited: lower fanOut.nodesPerShard in the policy, or raise pace.requestsPerSecond.`,
  ]
}

interface Machine {
  StartAt: string
  States: Readonly<Record<string, { Type: string; Next?: string; ItemProcessor?: Machine }>>
}

/** The states that an execution goes through where nothing fails; the most counts where executions and iterations begin and end, too. */
function transitions(shards: Bounds, clusters: number): Bounds {
  const root: Machine = stateMachine
  const cluster = mapIn(root)
  const states = sum(
    exactly(way(root).length + clusters * way(cluster).length),
    times(shards, way(mapIn(cluster)).length),
  )
  return { least: states.least, most: states.most + 2 * (1 + clusters) + shards.most }
}

function way({ StartAt, States }: Machine): Machine['States'][string][] {
  const states = []
  for (let state = States[StartAt]; state !== undefined; state = States[state.Next ?? ''])
    states.push(state)
  return states
}

const mapIn = (machine: Machine): Machine =>
  way(machine).flatMap(({ ItemProcessor }) => ItemProcessor ?? [])[0] ?? { StartAt: '', States: {} }
