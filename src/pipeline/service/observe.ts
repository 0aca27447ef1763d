/** A light run between two audits: pods, events, conditions, image lists and disk usage, for the history only. */
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { SnapshotRecord } from '#model/record.ts'
import type { RunAnswer } from '#model/run.ts'
import { type LiveOptions, liveFleet } from '#pipeline/fleet.ts'
import { openHistory, scopeOf } from '#pipeline/history/history.ts'
import { judgeRecords, unknownTime } from '#pipeline/judge-records.ts'
import type { RunWatch } from './run-watch.ts'

interface LightRun {
  runId: string
  live: LiveOptions
  fleet?: (options: LiveOptions) => AsyncIterable<SnapshotRecord>
  watch: Pick<RunWatch, 'enters'>
}

/** @throws OperatorError if there is no bucket, or its history cannot be read or written */
export async function observed(
  store: Store | null,
  { runId, live, fleet = liveFleet, watch }: LightRun,
): Promise<RunAnswer> {
  if (store === null)
    throw new OperatorError('An observation is kept in the bucket: set HIGHWATER_BUCKET')
  const { policy } = live
  const history = openHistory({
    ...{ store, runId, isWhole: true, scope: scopeOf(policy) },
    ...policy.history,
  })
  const judged = await judgeRecords(fleet({ ...live, depth: 'summary', objects: 'events' }), {
    ...{ policy, rules: [], isEveryNodeNamed: true, onStage: watch.enters },
    snapshot: { write: async () => undefined },
    earlier: history.earlier,
  })
  const { header, result, nodes, inputErrors } = judged
  const run = {
    ...{ version: '', source: 'live' as const, rules: [], inputErrors },
    takenAt: header?.takenAt ?? unknownTime,
    account: header?.account ?? null,
    region: header?.region ?? null,
  }
  watch.enters('publish')
  const document = { schema: 'highwater.findings/1' as const, run, ...result }
  const failures = await history.observe({ document, nodes, ruleErrors: [] })
  if (failures.length > 0)
    throw new OperatorError(
      `Observation ${runId} is incomplete. ${failures.map(({ error }) => error).join('. ')}`,
    )
  const clusters = result.clusters.map(({ name, coverage }) => ({ name, grade: null, coverage }))
  return {
    ...{ runId, state: 'observed', findings: {}, clusters, deliveries: [] },
    ...{ notAudited: result.notAudited.length, summary: null, link: null },
  }
}
