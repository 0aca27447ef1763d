/**
 * What a run takes, measured: the packaged function against generated fleets, read as fast as they answered (400 and 1,600 nodes, each with 12 and 110 pods, 400 with 30:
 * `npm run bench -- service --nodes N --pods P`), and at the default pace (1,000). November 2026, Node 24, a server's x86-64 core. What was not measured is a pair of bounds.
 */
import type { Bounds } from '#model/cost.ts'

/** Processor time of reading, replaying and judging one node without its pods, one of its pods, and of everything that every run does. */
export const cpuMsPerNode = 3.1
export const cpuMsPerPod = 0.115
export const cpuMsPerRun = 1_100
/** A virtual processor of Lambda on arm64 takes so many times as long: not measured there. */
export const cpuSlowness: Bounds = { least: 1, most: 2 }
/** From the last node read until the report is delivered. */
export const publishMsPerNode = 0.26
export const publishMsPerRun = 500
/** At 1,000 nodes the API server's pace made 60 of 62.9 s; the most is for servers that answer slowly. */
export const paceOverhead: Bounds = { least: 1.02, most: 1.3 }
/** Peak of resident memory, with the heap of a function of 1,024 MB. As many nodes as are read at once hold their pods, whatever the fleet. */
export const peakMiBPerRun = 310
export const peakMiBPerPodOfNode = 0.15
export const peakMiBPerNode = 0.05
/** What a run leaves in the bucket: its snapshot grows with the nodes and their pods (a seventh more or less than this), page, findings and mail hardly. */
export const snapshotBytesPerNode = 4_400
export const snapshotBytesPerPod = 150
export const reportBytesPerRun = 450_000
export const reportBytesPerNode = 100
export const historyBytesPerNode = 130
/** The page, as it is attached. */
export const pageBytesPerRun = 300_000
export const pageBytesPerNode = 95
/** Lines of the log, Lambda's own among them. */
export const logBytesPerRun = 6_000
export const logBytesPerCluster = 150

/**
 * Of many functions that share a run: of each its start, of each node and its pods what those do that read, judge and publish it (`npm run bench -- fan-out`, 400 and
 * 2,000 nodes in 40 clusters; of pods 400 nodes in one cluster, with 12, 30 and 110 each).
 */
export const partCpuMsPerInvocation = 650
export const partCpuMsPerNode = 5
export const partCpuMsPerPod = 0.165
/** Peaks of who reads and judges one cluster, beside the node's of that cluster, and of who publishes, which no pods reach (2,000 and 20,000 nodes). */
export const judgePeakMiBPerRun = 210
export const judgePeakMiBPerPodOfNode = 0.8
export const publishPeakMiBPerRun = 222
export const publishPeakMiBPerNode = 0.011
/** What they leave for each other beside what was read, which has a snapshot's size: a node as it was listed and as it was judged. */
export const partBytesPerNode = 410
export const logBytesPerInvocation = 1_300

/** Not measured: what answers weigh on the wire, by the API server's compression and the pods. Lists above 128 KB are compressed, what comes through the node proxy is not. */
export const nodeBytes: Bounds = { least: 3_000, most: 20_000 }
export const configzBytes: Bounds = { least: 3_000, most: 4_000 }
export const summaryBytesPerNode = 3_000
export const summaryBytesPerPod: Bounds = { least: 2_000, most: 4_300 }
export const listedBytesPerPod: Bounds = { least: 900, most: 10_000 }
export const inspectBytes: Bounds = { least: 8_000, most: 24_000 }
/** Not measured: a request in a cluster's audit log, where that is on. */
export const auditEventBytes: Bounds = { least: 1_000, most: 2_500 }
/** Calls of SSM for one node: its answer is asked for by itself, the rest is shared by up to 50. */
export const ssmCallsPerNode: Bounds = { least: 1.1, most: 1.5 }
