/** The story of one run of the service: the same audit, once for each tick, to the places and people that the stack names. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sdkRegion } from '#clients/eks.ts'
import type { Store } from '#clients/store.ts'
import type { Severity } from '#model/finding.ts'
import { OperatorError } from '#model/operator-error.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { SnapshotRecord } from '#model/record.ts'
import { type AuditRequest, type RunAnswer, runIdOf, type Settings } from '#model/run.ts'
import { isWhole } from '#model/selection.ts'
import { s3 } from '#publish/channels/s3.ts'
import { markDone, readDone } from '#publish/run.ts'
import { keepPlan } from '#remediate/plan-store.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { type AuditResult, audit } from './audit.ts'
import { type LiveOptions, liveFleet } from './fleet.ts'
import { openHistory } from './history/history.ts'
import { type PlanBesideOptions, planBeside } from './plan-beside.ts'
import { audiencesOf } from './publication.ts'
import { rejectUnknownNames } from './selection-check.ts'
import { policyKey, remainingOf, type ServiceRuntime, storeOf, timeLimit } from './service-runtime.ts'
import { embeddedMetricsName, formatsWith, rules } from './shelves.ts'
import { waysOf } from './ways.ts'

export interface AuditRuntime extends ServiceRuntime {
  /** Where metrics go that the policy asks for (`report.formats`: emf). */
  logMetrics: (lines: string) => void
  /** Default: every EKS cluster that the policy names. */
  fleet?: (options: LiveOptions) => AsyncIterable<SnapshotRecord>
}

/** Kept free at the end for judging, rendering and publishing. */
const publishingShare = 0.2
/** A plan takes what reading has left, and no more than this of the time for publishing. */
const planningShare = 0.9
/** The very last moment at which something may still be under way. */
const endShare = 0.95

/** Everything was done that could be, but a channel failed or a rule broke: the run ends red. */
class IncompleteRun extends Error {}

/**
 * @throws OperatorError when nothing could be audited as asked
 * @throws IncompleteRun when the report exists and something of it could not be delivered
 */
export async function runService(request: AuditRequest, settings: Settings, runtime: AuditRuntime): Promise<RunAnswer> {
  const remainingMs = remainingOf(runtime)
  const reading = timeLimit(remainingMs * (1 - publishingShare))
  const planning = timeLimit(remainingMs * planningShare)
  const end = timeLimit(remainingMs * endShare)
  try {
    return await runUntil(request, settings, { ...runtime, remainingMs }, reading.signal, planning.signal, end.signal)
  } finally {
    reading.end()
    planning.end()
    end.end()
    await rm(runtime.folder, { recursive: true, force: true })
  }
}

async function runUntil(
  request: AuditRequest,
  settings: Settings,
  runtime: AuditRuntime,
  readUntil: AbortSignal,
  planUntil: AbortSignal,
  endAt: AbortSignal,
): Promise<RunAnswer> {
  const region = await sdkRegion()
  if (region === null) throw new OperatorError('No AWS region is set for the function: AWS_REGION is missing')
  const { scheduledTime, selection, isDryRun } = request
  const runId = scheduledTime === null ? `${runIdOf(runtime.now().toISOString())}-${runtime.requestId}` : runIdOf(scheduledTime)
  runtime.watch.began(runId)
  runtime.watch.enters('prepare')
  const store = storeOf(settings, region, runtime.remainingMs, endAt)
  const before = store && scheduledTime !== null ? await doneBefore(store, runId) : null
  if (before !== null) return before

  const { policy, mistakes } = await policyOf(store, runtime)
  const ways = waysOf(request, settings, policy.report, { region, runId, store, now: runtime.now, signal: endAt })
  const audiences = isDryRun ? [] : audiencesOf(policy.report, ways.to)
  if (!isDryRun && store === null && audiences.every(({ channels }) => channels.length === 0))
    throw new OperatorError(
      'The report would reach nobody: set HIGHWATER_BUCKET, or HIGHWATER_SENDER and HIGHWATER_RECIPIENTS, or HIGHWATER_TOPIC_ARN',
    )
  await mkdir(runtime.folder, { recursive: true })
  const result = await audit((runtime.fleet ?? liveFleet)({ policy, selection, signal: readUntil }), {
    source: 'live',
    inputErrors: [...mistakes, ...ways.mistakes],
    version: runtime.version,
    policy,
    rules,
    formats: formatsWith(policy.report.formats),
    channels: store === null || isDryRun ? [] : [s3({ store, runId, reportBaseUrl: settings.reportBaseUrl })],
    audiences,
    snapshot: openSnapshot(join(runtime.folder, 'snapshot.ndjson.gz')),
    history: store === null || isDryRun ? null : openHistory({ store, runId, isWhole: isWhole(selection), ...policy.history }),
    verify: nodes => rejectUnknownNames(selection, nodes),
    onStage: runtime.watch.enters,
    plan:
      isDryRun || policy.remediation.mode === 'off'
        ? undefined
        : planInto(store, { policy, selection, version: runtime.version, signal: planUntil }),
  })
  const answer = answerOf(runId, isDryRun ? 'dry-run' : 'published', result)
  runtime.watch.audited(answer)
  const metrics = result.files.find(({ name }) => name === embeddedMetricsName)
  if (metrics !== undefined && !isDryRun) runtime.logMetrics(metrics.body)
  const failures = [...mistakes, ...ways.mistakes, ...failuresOf(result)]
  if (failures.length === 0 && store !== null && !isDryRun) failures.push(...(await markedDone(store, runId, runtime.now(), result)))
  if (failures.length > 0) throw new IncompleteRun(`Run ${runId} is incomplete. ${failures.join('. ')}`)
  return answer
}

/** Kept by its digest, too, where whoever applies it looks. */
const planInto = (store: Store | null, options: PlanBesideOptions) => (snapshot: string | null) =>
  planBeside(
    snapshot,
    store === null ? options : { ...options, approveOptions: ` --store ${store.location}`, keep: plan => keepPlan(store, plan) },
  )

async function doneBefore(store: Store, runId: string): Promise<RunAnswer | null> {
  try {
    const done = await readDone(store, runId)
    if (done === null) return null
    return { runId, state: 'published-before', findings: {}, clusters: [], notAudited: 0, deliveries: done.deliveries }
  } catch {
    // A store that does not answer now: the channel meets the same trouble later, and the mail says it.
    return null
  }
}

/** One that is broken or cannot be read costs the waivers, not the report: an audit by the defaults that says so is better than silence. */
async function policyOf(store: Store | null, { parsePolicy }: ServiceRuntime): Promise<{ policy: Policy; mistakes: string[] }> {
  if (store === null) return { policy: defaultPolicy, mistakes: [] }
  try {
    const found = await store.read(policyKey)
    const policy = found === null ? defaultPolicy : parsePolicy(found.body.toString('utf8'), `${store.location}/${policyKey}`)
    return { policy, mistakes: [] }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { policy: defaultPolicy, mistakes: [`the policy ${store.location}/${policyKey} is not in force, the defaults are: ${reason}`] }
  }
}

async function markedDone(store: Store, runId: string, at: Date, { deliveries }: AuditResult): Promise<string[]> {
  try {
    await markDone(store, { runId, finishedAt: at.toISOString(), deliveries })
    return []
  } catch (error) {
    return [`everything was delivered, but not the mark that it was: ${error instanceof Error ? error.message : error}`]
  }
}

function failuresOf({ deliveries, ruleErrors }: AuditResult): string[] {
  const channels = deliveries.flatMap(delivery => {
    // Whoever holds the mail may have been killed with it: a retry finds it sent, or takes over.
    const isHeldByAnother = 'state' in delivery && delivery.state === 'being-sent'
    return delivery.error === null && !isHeldByAnother ? [] : `${delivery.channel}: ${delivery.error ?? delivery.location}`
  })
  const broken = [...new Set(ruleErrors.map(({ rule, message }) => `rule ${rule} broke: ${message}`))]
  return [...channels, ...broken]
}

function answerOf(runId: string, state: RunAnswer['state'], { document, deliveries }: AuditResult): RunAnswer {
  const findings: Partial<Record<Severity, number>> = {}
  for (const { severity } of document.findings) findings[severity] = (findings[severity] ?? 0) + 1
  const clusters = document.clusters.map(({ name, grade, coverage }) => ({ name, grade, coverage }))
  return { runId, state, findings, clusters, notAudited: document.notAudited.length, deliveries }
}
