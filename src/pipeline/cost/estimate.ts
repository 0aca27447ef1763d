/** What running highwater costs a month: each line a quantity by a price. No line knows a price of its own. */
import {
  daysPerMonth,
  hoursPerMonth,
  type Price,
  prices,
  pricesAsOf,
  pricesRegion,
} from '#facts/aws/prices.ts'
import { vpcEndpoints } from '#facts/aws/vpc-endpoints.ts'
import { auditEventBytes, pageBytesPerNode, pageBytesPerRun } from '#facts/measured.ts'
import type {
  Bounds,
  CostEstimate,
  CostLine,
  CostQuestion,
  FanOutEstimate,
  RunEstimate,
} from '#model/cost.ts'
import { severities } from '#model/finding.ts'
import type { Policy } from '#model/policy.ts'
import { promisedSources } from '#model/read-mode.ts'
import { exactly, sum, times } from './bounds.ts'
import { estimateFanOut } from './fan-out-estimate.ts'
import { estimateRun, type Taken } from './run-estimate.ts'

const bytesPerGB = 1e9
/** Base64, with its line ends. */
const base64 = 4 / 3 + 2 / 76
/** The run's own, findings by severity, and the one that says that a report came. */
export const metricsOfRun = 7 + severities.length + 1
/** Those of the stack. */
export const stackAlarms = 4
const zonesOfEndpoints = 2

export function estimateCost(
  question: CostQuestion,
  policy: Pick<Policy, 'pace' | 'fanOut'>,
): CostEstimate {
  const { run, taken } = estimateRun(question, policy)
  const fanOut = estimateFanOut(question, policy)
  return {
    schema: 'highwater.cost/1',
    question,
    run,
    ...billed(linesOf(question, run, taken)),
    fanOut: fanOut && fanOutOf(question, fanOut),
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

const billed = (lines: CostLine[]): Pick<CostEstimate, 'lines' | 'totalUsd'> => ({
  lines,
  totalUsd: sum(...lines.map(({ usd }) => usd)),
})

function fanOutOf(
  question: CostQuestion,
  { run, taken }: NonNullable<ReturnType<typeof estimateFanOut>>,
): FanOutEstimate {
  const { invocations, functionSeconds, stateTransitions } = taken
  return {
    run,
    invocations,
    functionSeconds,
    stateTransitions,
    ...billed(linesOf(question, run, taken)),
  }
}

function linesOf(question: CostQuestion, run: RunEstimate, taken: Taken): CostLine[] {
  const { nodes, recipients, retentionDays, runsPerDay, memoryMiB } = question
  const runs = runsPerDay * daysPerMonth
  const attachedBytes = (pageBytesPerRun + nodes * pageBytesPerNode) * base64
  const isByMany = taken.stateTransitions.most > 0
  return [
    line(
      prices.lambdaTime,
      isByMany ? 'time of the functions' : 'time of the function',
      times(taken.functionSeconds, (runs * memoryMiB) / 1024),
    ),
    line(prices.lambdaRequests, isByMany ? 'invocations' : 'runs', times(taken.invocations, runs)),
    ...(isByMany
      ? [
          line(
            prices.stateTransitions,
            'states of the state machine, and of each cluster',
            times(taken.stateTransitions, runs),
          ),
        ]
      : []),
    line(prices.schedulerInvocations, 'ticks', exactly(runs)),
    line(
      prices.s3Storage,
      `reports ${isByMany ? 'and their parts ' : ''}of ${retentionDays} days`,
      exactly((taken.storedBytes * runsPerDay * retentionDays) / bytesPerGB),
    ),
    line(prices.s3Writes, 'files written', times(taken.writes, runs)),
    line(prices.s3Reads, 'files read', times(taken.reads, runs)),
    line(prices.sesMessages, 'mails', exactly(runs * recipients)),
    line(
      prices.sesAttachments,
      'the page in each mail',
      exactly((runs * recipients * attachedBytes) / bytesPerGB),
    ),
    line(
      prices.logsIngested,
      isByMany ? 'the functions’ logs' : 'the function’s log',
      times(taken.logBytes, runs / bytesPerGB),
    ),
    line(
      prices.metrics,
      'metrics',
      exactly((metricsOfRun * Math.min(hoursPerMonth, runs)) / hoursPerMonth),
    ),
    line(prices.alarms, 'alarms', exactly(stackAlarms)),
    auditLog(run, runs),
    ...networkLines(question, times(run.bytes, runs / bytesPerGB), isByMany),
  ]
}

/** Each request stands in the cluster's audit log, where that is switched on. */
function auditLog({ kubernetesRequests }: RunEstimate, runs: number): CostLine {
  const { most } = times(auditEventBytes, (runs * kubernetesRequests) / bytesPerGB)
  return line(prices.logsIngested, 'the clusters’ audit logs, where they are on', {
    least: 0,
    most,
  })
}

function networkLines(
  { network, mode, recipients }: CostQuestion,
  gigabytes: Bounds,
  isByMany: boolean,
): CostLine[] {
  // AWS does not say that what a cluster's public endpoint sends to a function of the region is free of charge, nor bills it as anything else.
  if (network === 'public')
    return [
      line(prices.betweenZones, 'answers of clusters, if they are billed', {
        least: 0,
        most: gigabytes.most,
      }),
    ]
  if (network === 'nat')
    return [line(prices.natData, 'answers that come through the gateway', gigabytes)]
  const needs = {
    always: true,
    ssm: promisedSources[mode].includes('host'),
    mail: recipients > 0,
    'fan-out': isByMany,
    topic: false,
    alarms: false,
  }
  const interfaces = vpcEndpoints.filter(({ type, of }) => type === 'interface' && needs[of])
  return [
    line(
      prices.endpointHours,
      `${interfaces.length} endpoints (${interfaces.map(({ name }) => name).join(', ')}) in ${zonesOfEndpoints} zones`,
      exactly(interfaces.length * zonesOfEndpoints * hoursPerMonth),
    ),
    // Clusters' private endpoints are not PrivateLink's: what comes from them stays in the VPC, or crosses a zone.
    line(prices.betweenZones, 'answers of clusters from another zone', {
      least: 0,
      most: gigabytes.most,
    }),
  ]
}

const line = ({ service, usd, per }: Price, what: string, quantity: Bounds): CostLine => ({
  ...{ service, what, quantity, unit: per, usd: times(quantity, usd) },
})
