/** How long one run takes and what it asks for, from what was measured and from the pace that is kept. */
import { lambdaMemoryMaxMiB } from '#facts/aws/limits.ts'
import { memoryMiBOfOneCpu } from '#facts/aws/prices.ts'
import {
  configzBytes,
  cpuMsPerNode,
  cpuMsPerPod,
  cpuMsPerRun,
  cpuSlowness,
  historyBytesPerNode,
  inspectBytes,
  listedBytesPerPod,
  logBytesPerCluster,
  logBytesPerRun,
  nodeBytes,
  paceOverhead,
  peakMiBPerNode,
  peakMiBPerPodOfNode,
  peakMiBPerRun,
  publishMsPerNode,
  publishMsPerRun,
  reportBytesPerNode,
  reportBytesPerRun,
  snapshotBytesPerNode,
  snapshotBytesPerPod,
  ssmCallsPerNode,
  summaryBytesPerNode,
  summaryBytesPerPod,
} from '#facts/measured.ts'
import type { Bounds, CostQuestion, RunEstimate } from '#model/cost.ts'
import type { Policy } from '#model/policy.ts'
import { promisedSources, type ReadMode } from '#model/read-mode.ts'
import { readingSeconds } from '#pipeline/service/function-time.ts'
import { exactly, latest, sum, times } from './bounds.ts'

/** Of the API server for one node: its pods, and through the node proxy its configuration and its summary. Kubelets that are asked themselves have a pace of their own. */
const requestsPerNode: Readonly<Record<ReadMode, number>> = {
  proxy: 3,
  ssm: 1,
  both: 3,
  kubelet: 1,
}
/** Lists of a cluster's own objects, and the pages of its nodes. */
const listsPerCluster = 22
const nodesPerPage = 500
/** Files of a run, markers and history of each cluster. */
const writesPerRun = 14
const writesPerCluster = 2
const readsPerRun = 20

/** What a run takes of what is paid for. */
export interface Taken {
  /** Of all functions together. */
  functionSeconds: Bounds
  invocations: Bounds
  stateTransitions: Bounds
  /** Of the bucket. */
  writes: Bounds
  reads: Bounds
  storedBytes: number
  logBytes: Bounds
}

type Asked = Pick<RunEstimate, 'kubernetesRequests' | 'ssmCalls' | 'bytes'>

/** By one function. */
export function estimateRun(
  question: CostQuestion,
  { pace }: Pick<Policy, 'pace'>,
): { run: RunEstimate; taken: Taken } {
  const { nodes, clusters, accounts, podsPerNode, memoryMiB } = question
  const all = asked(question)
  // So many clusters at a time, each at its own pace; clusters of one size.
  const { seconds: reading, boundBy } = slowest({
    kubernetesRequests: (Math.ceil(clusters / pace.clusters) * all.kubernetesRequests) / clusters,
    ssmCalls: times(all.ssmCalls, 1 / accounts),
    computing: processor(question, nodes * (cpuMsPerNode + podsPerNode * cpuMsPerPod)),
    ...pace,
  })
  const seconds = sum(cutOff(reading, 1), publishing(question))
  const peakMiB = Math.round(
    peakMiBPerRun + podsPerNode * peakMiBPerPodOfNode + nodes * peakMiBPerNode,
  )
  return {
    run: {
      seconds,
      boundBy,
      peakMiB,
      ...all,
      remarks: [
        ...tooSlow(reading),
        ...tooLittleMemory(
          peakMiB,
          memoryMiB,
          'let many functions read it (fanOut=on), or split it among stacks',
        ),
      ],
    },
    taken: takenAlone(question, seconds),
  }
}

/** Of all nodes, with their pods. */
export const snapshotBytes = ({ nodes, podsPerNode }: CostQuestion): number =>
  nodes * (snapshotBytesPerNode + podsPerNode * snapshotBytesPerPod)

export const takenAlone = (question: CostQuestion, seconds: Bounds): Taken => ({
  functionSeconds: seconds,
  invocations: exactly(1),
  stateTransitions: exactly(0),
  writes: exactly(writesPerRun + writesPerCluster * question.clusters),
  reads: exactly(readsPerRun + writesPerCluster * question.clusters),
  storedBytes:
    snapshotBytes(question) +
    question.nodes * (reportBytesPerNode + historyBytesPerNode) +
    reportBytesPerRun,
  logBytes: exactly(logBytesPerRun + question.clusters * logBytesPerCluster),
})

/** The same whoever asks. */
export function asked(question: CostQuestion): Asked {
  const { nodes, clusters, mode } = question
  return {
    kubernetesRequests:
      nodes * requestsPerNode[mode] + clusters * listsPerCluster + Math.ceil(nodes / nodesPerPage),
    ssmCalls: promisedSources[mode].includes('host') ? times(ssmCallsPerNode, nodes) : exactly(0),
    bytes: times(bytesPerNode(question), nodes),
  }
}

/** So much of a processor's time, in seconds of a function of that memory. */
export const processor = ({ memoryMiB }: CostQuestion, ms: number): Bounds =>
  times(cpuSlowness, ms / 1000 / Math.min(1, memoryMiB / memoryMiBOfOneCpu))

/** What every run does once, and what comes after reading. */
export const publishing = (question: CostQuestion): Bounds =>
  processor(question, cpuMsPerRun + publishMsPerRun + question.nodes * publishMsPerNode)

interface Reading extends Omit<Asked, 'bytes'> {
  computing: Bounds
  requestsPerSecond: number
  ssmRequestsPerSecond: number
}

/** What goes on side by side is done when the slowest of it is. */
export function slowest(reading: Reading): { seconds: Bounds; boundBy: RunEstimate['boundBy'] } {
  const { computing } = reading
  const paced = times(paceOverhead, reading.kubernetesRequests / reading.requestsPerSecond)
  const bySsm = times(reading.ssmCalls, 1 / reading.ssmRequestsPerSecond)
  const longest = Math.max(paced.most, bySsm.most, computing.most)
  return {
    seconds: latest(paced, bySsm, computing),
    boundBy:
      longest === computing.most
        ? 'the processor'
        : longest === paced.most
          ? 'the pace of the API servers'
          : 'the pace of SSM',
  }
}

function bytesPerNode({ mode, podsPerNode }: CostQuestion): Bounds {
  const pods = times(listedBytesPerPod, podsPerNode)
  const summary = sum(exactly(summaryBytesPerNode), times(summaryBytesPerPod, podsPerNode))
  const ofKubelet = mode === 'ssm' ? [] : [configzBytes, summary]
  return sum(
    nodeBytes,
    pods,
    ...ofKubelet,
    promisedSources[mode].includes('host') ? inspectBytes : exactly(0),
  )
}

/** Who reads stops in time, and is paid for no longer. @param functions which do so one after the other */
export const cutOff = ({ least, most }: Bounds, functions: number): Bounds => ({
  least: Math.min(least, functions * readingSeconds),
  most: Math.min(most, functions * readingSeconds),
})

function tooSlow({ least, most }: Bounds): string[] {
  if (most <= readingSeconds) return []
  return [
    `One function reads for ${readingSeconds} s at most; this fleet takes ${least > readingSeconds ? '' : 'up to '}${Math.round(most)} s. What it does not reach is listed as not audited, and all but its time is reckoned here as if it were read: let many functions read it (fanOut=on), raise the pace in the policy, or split the fleet.`,
  ]
}

/** @param instead what to do where no function has so much */
export function tooLittleMemory(peakMiB: number, memoryMiB: number, instead: string): string[] {
  if (peakMiB <= memoryMiB) return []
  const taken = `at its peak the run takes about ${peakMiB.toLocaleString('en-US')} MiB`
  if (peakMiB <= lambdaMemoryMaxMiB)
    return [`A function of ${memoryMiB} MiB is too small: ${taken}. Deploy it with more.`]
  return [
    `No function can hold this fleet: ${taken}, and Lambda ends at ${lambdaMemoryMaxMiB.toLocaleString('en-US')}. No such run can be made: ${instead}.`,
  ]
}
