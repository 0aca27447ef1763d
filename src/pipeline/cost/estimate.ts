/** What running highwater costs a month: each line a quantity by a price. No line knows a price of its own. */
import { daysPerMonth, hoursPerMonth, type Price, prices, pricesAsOf, pricesRegion } from '#facts/aws/prices.ts'
import { vpcEndpoints } from '#facts/aws/vpc-endpoints.ts'
import {
  auditEventBytes,
  historyBytesPerNode,
  logBytesPerCluster,
  logBytesPerRun,
  pageBytesPerNode,
  pageBytesPerRun,
  reportBytesPerNode,
  reportBytesPerRun,
  snapshotBytesPerNode,
} from '#facts/measured.ts'
import type { Bounds, CostEstimate, CostLine, CostQuestion, RunEstimate } from '#model/cost.ts'
import { severities } from '#model/finding.ts'
import type { Policy } from '#model/policy.ts'
import { promisedSources } from '#model/read-mode.ts'
import { exactly, sum, times } from './bounds.ts'
import { estimateRun } from './run-estimate.ts'

const bytesPerGB = 1e9
/** Base64, with its line ends. */
const base64 = 4 / 3 + 2 / 76
/** Files of a run, markers and history of each cluster. */
const writesPerRun = 14
const writesPerCluster = 2
const readsPerRun = 20
/** The run's own, findings by severity, and the one that says that a report came. */
export const metricsOfRun = 7 + severities.length + 1
/** Those of the stack. */
export const stackAlarms = 4
const zonesOfEndpoints = 2

export function estimateCost(question: CostQuestion, policy: Pick<Policy, 'pace'>): CostEstimate {
  const run = estimateRun(question, policy)
  const lines = linesOf(question, run)
  return {
    schema: 'highwater.cost/1',
    question,
    run,
    lines,
    totalUsd: sum(...lines.map(({ usd }) => usd)),
    prices: { region: pricesRegion, asOf: pricesAsOf },
    notCounted: [
      'AWS’s free tiers (a million requests and 400,000 GB-seconds of Lambda a month, and others): less is paid where nothing else uses them',
      'remediation: the function `remediate` looks every 15 minutes whether something is left to do, which is some cents a month; SSM Run Command costs nothing on EC2 instances',
      'KMS keys, secrets, SNS topics, X-Ray traces and the metrics of each cluster (report.formats: [emf]), where you switch them on',
      `NAT gateways themselves ($${(prices.natHours.usd * hoursPerMonth).toFixed(2)} a month each): one that is made for highwater costs more than everything here`,
      'calls of EKS, EC2 and STS: they cost nothing',
    ],
  }
}

function linesOf(question: CostQuestion, run: RunEstimate): CostLine[] {
  const { nodes, clusters, recipients, retentionDays, runsPerDay, memoryMiB } = question
  const runs = runsPerDay * daysPerMonth
  const storedBytes = nodes * (snapshotBytesPerNode + reportBytesPerNode + historyBytesPerNode) + reportBytesPerRun
  const attachedBytes = (pageBytesPerRun + nodes * pageBytesPerNode) * base64
  return [
    line(prices.lambdaTime, 'time of the function', times(run.seconds, (runs * memoryMiB) / 1024)),
    line(prices.lambdaRequests, 'runs', exactly(runs)),
    line(prices.schedulerInvocations, 'ticks', exactly(runs)),
    line(prices.s3Storage, `reports of ${retentionDays} days`, exactly((storedBytes * runsPerDay * retentionDays) / bytesPerGB)),
    line(prices.s3Writes, 'files written', exactly(runs * (writesPerRun + writesPerCluster * clusters))),
    line(prices.s3Reads, 'files read', exactly(runs * (readsPerRun + writesPerCluster * clusters))),
    line(prices.sesMessages, 'mails', exactly(runs * recipients)),
    line(prices.sesAttachments, 'the page in each mail', exactly((runs * recipients * attachedBytes) / bytesPerGB)),
    line(prices.logsIngested, 'the function’s log', exactly((runs * (logBytesPerRun + clusters * logBytesPerCluster)) / bytesPerGB)),
    line(prices.metrics, 'metrics', exactly((metricsOfRun * Math.min(hoursPerMonth, runs)) / hoursPerMonth)),
    line(prices.alarms, 'alarms', exactly(stackAlarms)),
    auditLog(run, runs),
    ...networkLines(question, times(run.bytes, runs / bytesPerGB)),
  ]
}

/** Each request stands in the cluster's audit log, where that is switched on. */
function auditLog({ kubernetesRequests }: RunEstimate, runs: number): CostLine {
  const { most } = times(auditEventBytes, (runs * kubernetesRequests) / bytesPerGB)
  return line(prices.logsIngested, 'the clusters’ audit logs, where they are on', { least: 0, most })
}

function networkLines({ network, mode, recipients }: CostQuestion, gigabytes: Bounds): CostLine[] {
  // AWS does not say that what a cluster's public endpoint sends to a function of the region is free of charge, nor bills it as anything else.
  if (network === 'public')
    return [line(prices.betweenZones, 'answers of clusters, if they are billed', { least: 0, most: gigabytes.most })]
  if (network === 'nat') return [line(prices.natData, 'answers that come through the gateway', gigabytes)]
  const isNeeded = (of: string) =>
    of === 'always' || (of === 'ssm' && promisedSources[mode].includes('host')) || (of === 'mail' && recipients > 0)
  const interfaces = vpcEndpoints.filter(({ type, of }) => type === 'interface' && isNeeded(of))
  return [
    line(
      prices.endpointHours,
      `${interfaces.length} endpoints (${interfaces.map(({ name }) => name).join(', ')}) in ${zonesOfEndpoints} zones`,
      exactly(interfaces.length * zonesOfEndpoints * hoursPerMonth),
    ),
    // Clusters' private endpoints are not PrivateLink's: what comes from them stays in the VPC, or crosses a zone.
    line(prices.betweenZones, 'answers of clusters from another zone', { least: 0, most: gigabytes.most }),
  ]
}

const line = ({ service, usd, per }: Price, what: string, quantity: Bounds): CostLine => ({
  ...{ service, what, quantity, unit: per, usd: times(quantity, usd) },
})
