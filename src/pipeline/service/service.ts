/** One run of the service: an audit, published to the places and recipients of stack and policy, once per scheduled time. */
import { join } from 'node:path'
import { OperatorError } from '#base/operator-error.ts'
import type { Store } from '#clients/store/store.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import {
  type AuditRequest,
  type RunAnswer,
  runIdOf,
  type Settings,
  unauditedAnswer,
} from '#model/run.ts'
import { audit } from '#pipeline/audit/audit.ts'
import { type LiveOptions, liveFleet } from '#pipeline/audit/fleet.ts'
import { judgeRecords, unknownTime } from '#pipeline/audit/judge-records.ts'
import { openSecondReading } from '#pipeline/audit/second-reading.ts'
import { rejectUnknownNames } from '#pipeline/audit/selection-check.ts'
import { fanOut } from '#pipeline/fan-out/start.ts'
import { openHistory, scopeOf } from '#pipeline/history/history.ts'
import {
  functionRegion,
  policyOf,
  type RunLimits,
  type ServiceRuntime,
  storeOf,
  withinLimits,
} from '#pipeline/runtime/runtime.ts'
import { noticesIn } from '#remediate/notices.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { earlierAnswer, openServiceReport } from './report.ts'

export interface AuditRuntime extends ServiceRuntime {
  /** Default: every EKS cluster that the policy names. */
  fleet?: (options: LiveOptions) => AsyncIterable<SnapshotRecord>
}

/**
 * @throws OperatorError if nothing could be audited
 * @throws IncompleteRun if the report exists but a delivery failed, or nothing was read
 */
export const runService = (
  request: AuditRequest,
  settings: Settings,
  runtime: AuditRuntime,
): Promise<RunAnswer> =>
  withinLimits(runtime, limits => runUntil(request, settings, runtime, limits))

async function runUntil(
  request: AuditRequest,
  settings: Settings,
  runtime: AuditRuntime,
  limits: RunLimits,
): Promise<RunAnswer> {
  const region = await functionRegion()
  const { scheduledTime, selection } = request
  const runId =
    scheduledTime === null
      ? `${runIdOf(runtime.now().toISOString())}-${runtime.requestId}`
      : runIdOf(scheduledTime)
  runtime.watch.began(runId)
  runtime.watch.enterStage('prepare')
  const store = storeOf(settings, region, limits.remainingMs, limits.end)
  const before = store && scheduledTime !== null ? await earlierAnswer(store, runId) : null
  if (before) return before

  const { policy, mistakes } = await policyOf(store, runtime, settings)
  const live = { policy, selection, signal: limits.reading, now: runtime.now }
  if (request.isObservation) return observeFleet(store, runId, live, runtime)
  const { answer, targets, mistake } = await fanOut(
    { runId, request, store, settings, isOwnFleet: runtime.fleet !== undefined, runtime },
    live,
  )
  if (answer) return answer
  const run = {
    runId,
    request,
    settings,
    region,
    store,
    policy,
    mistakes: mistake === null ? mistakes : [...mistakes, mistake],
    notices: store ? await noticesIn(store, runtime.now()) : undefined,
  }
  const report = openServiceReport(run, runtime, limits)
  const secondReading = openSecondReading({
    ...live,
    remainingMs: limits.readingLeftMs,
    sleep: runtime.sleep,
  })
  const result = await audit(
    (runtime.fleet ?? liveFleet)({ ...live, targets, onTarget: secondReading.expect }),
    {
      ...report.conclusion,
      inputErrors: report.inputErrors,
      secondReading,
      snapshot: openSnapshot(join(runtime.folder, 'snapshot.ndjson.gz')),
      verify: (nodes, areListsWhole) => rejectUnknownNames(selection, nodes, areListsWhole),
    },
  )
  return report.end(result)
}

/**
 * A light run between two audits: pods, events, conditions, image lists and disk usage, for the history only.
 * @throws OperatorError if there is no bucket, or its history cannot be read or written
 */
async function observeFleet(
  store: Store | null,
  runId: string,
  live: LiveOptions,
  { fleet = liveFleet, watch }: AuditRuntime,
): Promise<RunAnswer> {
  if (!store) throw new OperatorError('An observation is kept in the bucket: set HIGHWATER_BUCKET')
  const { policy } = live
  const history = openHistory({
    store,
    runId,
    isWhole: true,
    scope: scopeOf(policy),
    ...policy.history,
  })
  const judged = await judgeRecords(fleet({ ...live, depth: 'summary', objects: 'events' }), {
    policy,
    rules: [],
    isEveryNodeNamed: true,
    onStage: watch.enterStage,
    snapshot: { write: async () => undefined },
    earlier: history.earlier,
  })
  const { header, result, nodes, inputErrors } = judged
  const run = {
    version: '',
    source: 'live' as const,
    rules: [],
    inputErrors,
    takenAt: header?.takenAt ?? unknownTime,
    account: header?.account ?? null,
    region: header?.region ?? null,
  }
  watch.enterStage('publish')
  const document = { schema: 'highwater.findings/1' as const, run, ...result }
  const failures = await history.observe({ document, nodes, ruleErrors: [] })
  if (failures.length > 0)
    throw new OperatorError(
      `Observation ${runId} is incomplete. ${failures.map(({ error }) => error).join('. ')}`,
    )
  const clusters = result.clusters.map(({ name, coverage }) => ({ name, grade: null, coverage }))
  const notAudited = result.notAudited.length
  return { runId, state: 'observed', ...unauditedAnswer, clusters, notAudited }
}
