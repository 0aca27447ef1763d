/** One run of the service: an audit, published to the places and recipients of stack and policy, once per scheduled time. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sdkRegion } from '#clients/eks.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { SnapshotRecord } from '#model/record.ts'
import { type AuditRequest, type RunAnswer, runIdOf, type Settings } from '#model/run.ts'
import { audit } from '#pipeline/audit.ts'
import { fanOut } from '#pipeline/fan-out/start.ts'
import { type LiveOptions, liveFleet } from '#pipeline/fleet.ts'
import { openSecondReading } from '#pipeline/second-reading.ts'
import { rejectUnknownNames } from '#pipeline/selection-check.ts'
import { noticesIn } from '#remediate/notices.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { observed } from './observe.ts'
import { doneBefore, openServiceReport } from './report.ts'
import { policyOf, type RunLimits, type ServiceRuntime, storeOf, withinLimits } from './runtime.ts'

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
  const region = await sdkRegion()
  if (region === null)
    throw new OperatorError('No AWS region is set for the function: AWS_REGION is missing')
  const { scheduledTime, selection } = request
  const runId =
    scheduledTime === null
      ? `${runIdOf(runtime.now().toISOString())}-${runtime.requestId}`
      : runIdOf(scheduledTime)
  runtime.watch.began(runId)
  runtime.watch.enters('prepare')
  const store = storeOf(settings, region, limits.remainingMs, limits.end)
  const before = store && scheduledTime !== null ? await doneBefore(store, runId) : null
  if (before !== null) return before

  const { policy, mistakes } = await policyOf(store, runtime, settings)
  const live = { policy, selection, signal: limits.reading, now: runtime.now }
  if (request.isObservation)
    return observed(store, { runId, live, fleet: runtime.fleet, watch: runtime.watch })
  const { answer, targets, mistake } = await fanOut(
    { runId, request, store, settings, isOwnFleet: runtime.fleet !== undefined, runtime },
    live,
  )
  if (answer !== null) return answer
  const run = {
    runId,
    request,
    settings,
    region,
    store,
    policy,
    mistakes: mistake === null ? mistakes : [...mistakes, mistake],
    notices: store === null ? undefined : await noticesIn(store, runtime.now()),
  }
  const report = openServiceReport(run, runtime, limits)
  const secondReading = openSecondReading({
    ...live,
    remainingMs: limits.readingLeftMs,
    sleep: runtime.sleep,
  })
  await mkdir(runtime.folder, { recursive: true })
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
