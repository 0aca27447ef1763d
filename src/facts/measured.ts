/**
 * What a run takes, measured: the packaged function against generated fleets with 30 pods a node, read as fast as they answered (500 and 5,000 nodes), and at the
 * default pace (1,000). November 2026, Node 24, a server's x86-64 core. What was not measured is a pair of bounds.
 */
import type { Bounds } from '#model/cost.ts'

/** Processor time of reading, replaying and judging one node, and of everything that every run does. */
export const cpuMsPerNode = 6.1
export const cpuMsPerRun = 1_600
/** A virtual processor of Lambda on arm64 takes so many times as long: not measured there. */
export const cpuSlowness: Bounds = { least: 1, most: 2 }
/** From the last node read until the report is delivered. */
export const publishMsPerNode = 0.26
export const publishMsPerRun = 500
/** At 1,000 nodes the API server's pace made 60 of 62.9 s; the most is for servers that answer slowly. */
export const paceOverhead: Bounds = { least: 1.02, most: 1.3 }
/** Peak of resident memory, with the heap of a function of 1,024 MB (`npm run bench -- service`). */
export const peakMiBPerRun = 310
export const peakMiBPerNode = 0.05
/** What a run leaves in the bucket: its snapshot grows with the nodes and their pods, page, findings and mail hardly. */
export const snapshotBytesPerNode = 9_700
export const reportBytesPerRun = 450_000
export const reportBytesPerNode = 100
export const historyBytesPerNode = 130
/** The page, as it is attached. */
export const pageBytesPerRun = 300_000
export const pageBytesPerNode = 95
/** Lines of the log, Lambda's own among them. */
export const logBytesPerRun = 6_000
export const logBytesPerCluster = 150

/** Of many functions that share a run: of each its start, of each node what those do that read, judge and publish it (`npm run bench -- fan-out`, 400 and 2,000 nodes in 40 clusters). */
export const partCpuMsPerInvocation = 650
export const partCpuMsPerNode = 7
/** The largest of them is the one that publishes (2,000 and 20,000 nodes). */
export const publishPeakMiBPerRun = 290
export const publishPeakMiBPerNode = 0.01
/** What they leave for each other: a node as it was listed, as it was read and as it was judged (300 nodes). */
export const partBytesPerNode = 10_300
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
