/** How long one run takes and what it asks for, from what was measured and from the pace that is kept. */
import { memoryMiBOfOneCpu } from '#facts/aws/prices.ts'
import {
  configzBytes,
  cpuMsPerNode,
  cpuMsPerRun,
  cpuSlowness,
  inspectBytes,
  listedBytesPerPod,
  nodeBytes,
  paceOverhead,
  peakMiBPerNode,
  peakMiBPerRun,
  publishMsPerNode,
  publishMsPerRun,
  ssmCallsPerNode,
  summaryBytesPerNode,
  summaryBytesPerPod,
} from '#facts/measured.ts'
import type { Bounds, CostQuestion, RunEstimate } from '#model/cost.ts'
import type { Policy } from '#model/policy.ts'
import { promisedSources, type ReadMode } from '#model/read-mode.ts'
import { exactly, latest, sum, times } from './bounds.ts'

/** Of the API server for one node: its pods, and through the node proxy its configuration and its summary. Kubelets that are asked themselves have a pace of their own. */
const requestsPerNode: Readonly<Record<ReadMode, number>> = { proxy: 3, ssm: 1, both: 3, kubelet: 1 }
/** Lists of a cluster's own objects, and the pages of its nodes. */
const listsPerCluster = 22
const nodesPerPage = 500
/** What a function may take in all, and the share of it that is for reading. */
const functionSeconds = 900
const readingShare = 0.8

export function estimateRun(question: CostQuestion, { pace }: Pick<Policy, 'pace'>): RunEstimate {
  const { nodes, clusters, accounts, mode, memoryMiB } = question
  const kubernetesRequests = nodes * requestsPerNode[mode] + clusters * listsPerCluster + Math.ceil(nodes / nodesPerPage)
  const isBySsm = promisedSources[mode].includes('host')
  const ssmCalls = isBySsm ? times(ssmCallsPerNode, nodes) : exactly(0)

  const processor = (ms: number): Bounds => times(cpuSlowness, ms / 1000 / Math.min(1, memoryMiB / memoryMiBOfOneCpu))
  // So many clusters at a time, each at its own pace; clusters of one size.
  const paced = times(paceOverhead, (Math.ceil(clusters / pace.clusters) * kubernetesRequests) / clusters / pace.requestsPerSecond)
  const bySsm = times(ssmCalls, 1 / accounts / pace.ssmRequestsPerSecond)
  const computing = processor(nodes * cpuMsPerNode)
  const reading = latest(paced, bySsm, computing)
  const seconds = sum(reading, processor(cpuMsPerRun + publishMsPerRun + nodes * publishMsPerNode))
  const longest = Math.max(paced.most, bySsm.most, computing.most)
  const peakMiB = Math.round(peakMiBPerRun + nodes * peakMiBPerNode)
  return {
    seconds,
    boundBy: longest === computing.most ? 'the processor' : longest === paced.most ? 'the pace of the API servers' : 'the pace of SSM',
    peakMiB,
    kubernetesRequests,
    ssmCalls,
    bytes: times(bytesPerNode(question), nodes),
    remarks: remarksOf(reading, peakMiB, memoryMiB),
  }
}

function bytesPerNode({ mode, podsPerNode }: CostQuestion): Bounds {
  const pods = times(listedBytesPerPod, podsPerNode)
  const summary = sum(exactly(summaryBytesPerNode), times(summaryBytesPerPod, podsPerNode))
  const ofKubelet = mode === 'ssm' ? [] : [configzBytes, summary]
  return sum(nodeBytes, pods, ...ofKubelet, promisedSources[mode].includes('host') ? inspectBytes : exactly(0))
}

function remarksOf(reading: Bounds, peakMiB: number, memoryMiB: number): string[] {
  const remarks: string[] = []
  const limit = functionSeconds * readingShare
  if (reading.most > limit)
    remarks.push(
      `One function reads for ${limit} s at most; this fleet takes ${reading.least > limit ? '' : 'up to '}${Math.round(reading.most)} s. What it does not reach is listed as not audited: raise the pace in the policy, or split the fleet.`,
    )
  if (peakMiB > memoryMiB)
    remarks.push(`A function of ${memoryMiB} MiB is too small: at its peak the run takes about ${peakMiB} MiB. Deploy it with more.`)
  return remarks
}
