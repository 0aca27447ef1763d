/** The common part of the Lambda handlers: context, runtime and log. */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics'
import { messageOf } from '#base/operator-error.ts'
import { redact } from '#base/redaction/redact.ts'
import { severities } from '#model/finding.ts'
import type { RemediationAnswer } from '#model/plan.ts'
import type { RunAnswer } from '#model/run.ts'
import packageJson from '#package.json' with { type: 'json' }
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { keepHeapSmall } from '#pipeline/runtime/heap.ts'
import {
  type Audited,
  openRunWatch,
  type RunWatch,
  type ServiceRuntime,
  type SpentBefore,
  sumSpent,
} from '#pipeline/runtime/runtime.ts'
import { parsePolicy } from '#policy/parse.ts'

/** The used part of the Lambda context. Source: AWS Lambda developer guide, Node.js context object. */
export interface LambdaContext {
  awsRequestId: string
  getRemainingTimeInMillis(): number
  /** Clock that dates the run if a handler is called without Lambda. Default: the machine's clock. */
  now?: () => Date
  /** Waits before the second reading. Default: the machine's timer. */
  sleep?: ServiceRuntime['sleep']
}

/** Runs an invocation; logs its error and throws the error again. @param what the unit that failed, for the log */
export async function runLogged<T>(
  { awsRequestId, getRemainingTimeInMillis, now = () => new Date(), sleep }: LambdaContext,
  what: 'run' | 'step',
  run: (log: RunLog, runtime: ServiceRuntime) => Promise<T>,
) {
  keepHeapSmall()
  const log = openRunLog(awsRequestId)
  try {
    return await run(log, {
      version: packageJson.version,
      requestId: awsRequestId,
      remainingMs: getRemainingTimeInMillis(),
      folder: join(tmpdir(), `highwater-${awsRequestId}`),
      now,
      sleep,
      parsePolicy: (text, file) => parsePolicy(text, file, policyTerms),
      watch: log.watch,
    })
  } catch (error) {
    await log.writeFailure(error, what)
    throw error
  }
}

/*
 * Writes the log lines of a run, each with the run's id, and its metrics. Powertools writes both as JSON for CloudWatch.
 * CloudWatch bills each combination of metric and dimensions, so there are few metrics, whatever the fleet's size.
 */

interface RunLog {
  watch: RunWatch
  /** Marks the run as scheduled. Only scheduled runs write metrics: a run on demand often reads a part of the fleet. */
  markScheduled(): void
  writeRunEnd(answer: RunAnswer): Promise<void>
  writeRemediation(answer: RemediationAnswer): Promise<void>
  /** Adds keys to every later line of the step. */
  about(step: Record<string, unknown>): void
  /** A step of a fan-out has ended. @param lost why a part of the run is lost; null: nothing is lost */
  writeStep(message: string, details: object, lost: string | null): Promise<void>
  writeFailure(error: unknown, what: 'run' | 'step'): Promise<void>
}

const serviceName = process.env.HIGHWATER_SERVICE || 'highwater'
/** Maximum number of clusters listed in a log line; the other clusters are only counted. */
const mostClusters = 100
const longestReason = 4000
let isColdStart = true

const newMetrics = () => new Metrics({ namespace: 'highwater', serviceName })

export function openRunLog(requestId: string): RunLog {
  const logger = new Logger({ serviceName, persistentLogAttributes: { requestId } })
  let isScheduled = false
  let counted: Audited | null = null
  const watch = openRunWatch(
    runLines(logger, audited => {
      counted = audited
    }),
  )

  /** Ends the invocation's watch, writes the metrics of a scheduled audit, and returns the figures for the log. */
  async function endWatch(isFailed: boolean): Promise<object> {
    const { own, before } = await watch.close(isFailed)
    const { slowDowns } = before ? sumSpent([own, before]) : own
    const runMs = before
      ? Math.max(own.durationMs, Date.now() - Date.parse(before.startedAt))
      : own.durationMs
    if (isScheduled && counted)
      writeMetrics(
        counted,
        runMs,
        Object.values(slowDowns).reduce((total, count) => total + count, 0),
      )
    const coldStart = isColdStart
    isColdStart = false
    return {
      coldStart,
      durationMs: own.durationMs,
      peakRssBytes: own.peakRssBytes,
      slowDowns,
      ...(before && runFigures(before, runMs)),
    }
  }

  return {
    watch,
    markScheduled() {
      isScheduled = true
    },
    async writeRunEnd({ runId, state, findings, notAudited, deliveries }) {
      const isCounted = state === 'published' || state === 'dry-run'
      logger.info('run ended', {
        runId,
        state,
        ...(isCounted && { findings, notAudited }),
        deliveries,
        ...(await endWatch(false)),
      })
      if (state !== 'published' || !isScheduled) return
      const metrics = newMetrics()
      metrics.addMetric('ReportsPublished', MetricUnit.Count, 1)
      metrics.publishStoredMetrics()
    },
    async writeRemediation(answer) {
      logger.info('remediation answered', { ...answer, ...(await endWatch(false)) })
    },
    about: step => logger.appendKeys(step),
    async writeStep(message, details, lost) {
      const fields = { ...details, ...(await endWatch(false)) }
      if (lost === null) logger.info(message, fields)
      else logger.warn(message, { ...fields, reason: lost })
    },
    async writeFailure(error, what) {
      const reason = messageOf(error)
      // Error messages are written for people. A stack trace would only point to the bundle's single line.
      logger.error(`${what} failed`, {
        reason: redact(reason).slice(0, longestReason),
        ...(await endWatch(true)),
      })
    },
  }
}

const runLines = (
  logger: Logger,
  onAudited: (audited: Audited) => void,
): Parameters<typeof openRunWatch>[0] => ({
  began(runId) {
    logger.appendKeys({ runId })
    logger.info('run began')
  },
  isAbout: cluster => logger.appendKeys({ cluster }),
  stageEnded: (stage, durationMs) => logger.info('stage ended', { stage, durationMs }),
  audited(audited) {
    logger.info('audited', countsOf(audited))
    for (const { cluster, node, reason, places } of audited.reasons)
      logger.warn('not audited', {
        cluster,
        ...(node !== null && { node }),
        reason,
        ...(places > 1 && { places }),
      })
    onAudited(audited)
  },
})

function writeMetrics(audited: Audited, runMs: number, slowDowns: number) {
  const metrics = newMetrics()
  const { nodesRead, nodesPartlyRead, nodesNotRead } = nodesOf(audited.clusters)
  const counts = {
    SlowDowns: slowDowns,
    ClustersAudited: audited.clusters.length,
    NodesRead: nodesRead,
    NodesPartlyRead: nodesPartlyRead,
    NodesNotRead: nodesNotRead,
    NotAudited: audited.notAudited,
  }
  metrics.addMetric('RunDuration', MetricUnit.Milliseconds, runMs)
  for (const [name, count] of Object.entries(counts))
    metrics.addMetric(name, MetricUnit.Count, count)
  metrics.publishStoredMetrics()
  for (const severity of severities) {
    const ofSeverity = metrics.singleMetric()
    ofSeverity.addDimension('severity', severity)
    ofSeverity.addMetric('Findings', MetricUnit.Count, audited.findings[severity] ?? 0)
  }
}

function countsOf({ findings, clusters, notAudited }: Audited): Record<string, unknown> {
  const shown = clusters
    .slice(0, mostClusters)
    .map(({ name: cluster, grade, coverage: { nodes, read, partlyRead, notRead } }) => {
      return { cluster, grade, nodes, read, partlyRead, notRead }
    })
  const more = clusters.length - shown.length
  return {
    findings,
    notAudited,
    ...nodesOf(clusters),
    clusters: shown,
    ...(more > 0 && { moreClusters: more }),
  }
}

/** Figures of the run's earlier invocations, logged beside the figures of this invocation. */
const runFigures = (
  { invocations, failed, durationMs, peakRssBytes }: SpentBefore,
  runDurationMs: number,
) => ({ runDurationMs, before: { invocations, failed, durationMs, peakRssBytes } })

function nodesOf(clusters: Audited['clusters']) {
  const sum = (part: 'read' | 'partlyRead' | 'notRead') =>
    clusters.reduce((total, { coverage }) => total + coverage[part], 0)
  return {
    nodesRead: sum('read'),
    nodesPartlyRead: sum('partlyRead'),
    nodesNotRead: sum('notRead'),
  }
}
