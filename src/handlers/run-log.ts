/** One structured line for how a run went, and the metric whose absence raises the alarm. Powertools writes both as JSON that CloudWatch understands. */
import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics'
import type { RemediationAnswer } from '#model/remediation-request.ts'
import type { RunAnswer } from '#model/run.ts'

export interface RunLog {
  /** @param isScheduled  only a tick keeps the alarm quiet: somebody's own run is no daily report */
  ended(answer: RunAnswer, isScheduled: boolean): void
  remediated(answer: RemediationAnswer): void
  failed(error: unknown): void
  /** Lines in CloudWatch's embedded metric format: what stands in the function's log becomes metrics. */
  metrics(lines: string): void
}

const serviceName = process.env.HIGHWATER_SERVICE || 'highwater'
let isColdStart = true

export function openRunLog(requestId: string): RunLog {
  const startedMs = performance.now()
  const logger = new Logger({ serviceName })
  const figures = () => ({
    requestId,
    coldStart: isColdStart,
    durationMs: Math.round(performance.now() - startedMs),
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
  })
  return {
    ended(answer, isScheduled) {
      const { runId, state, findings, notAudited, deliveries } = answer
      logger.info('run ended', { runId, state, findings, notAudited, deliveries, ...figures() })
      isColdStart = false
      if (state !== 'published' || !isScheduled) return
      const metrics = new Metrics({ namespace: 'highwater', serviceName })
      metrics.addMetric('ReportsPublished', MetricUnit.Count, 1)
      metrics.publishStoredMetrics()
    },
    metrics(lines) {
      if (process.env.POWERTOOLS_METRICS_DISABLED !== 'true') process.stdout.write(lines)
    },
    remediated(answer) {
      logger.info('remediation answered', { ...answer, ...figures() })
      isColdStart = false
    },
    failed(error) {
      // Messages are made for people; a stack would only show the bundle's one line.
      logger.error('run failed', { reason: error instanceof Error ? error.message : String(error), ...figures() })
      isColdStart = false
    },
  }
}
