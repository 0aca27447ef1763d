/** The story of one run of the service: the same audit, once for each tick, to the places and people that the stack names. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sdkRegion } from '#clients/eks.ts'
import { s3Store } from '#clients/s3.ts'
import type { Store } from '#clients/store.ts'
import type { Severity } from '#model/finding.ts'
import { notReached } from '#model/not-reached.ts'
import { OperatorError } from '#model/operator-error.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { type AuditRequest, type RunAnswer, runIdOf } from '#model/run.ts'
import { s3 } from '#publish/channels/s3.ts'
import { ses } from '#publish/channels/ses.ts'
import { markDone, readDone } from '#publish/run.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { type AuditResult, audit } from './audit.ts'
import { liveFleet } from './fleet.ts'
import { formats, rules } from './shelves.ts'

export interface ServiceSettings {
  bucket: string | null
  prefix: string
  kmsKeyId: string | null
  sender: string | null
  recipients: string[]
  reportBaseUrl: string | null
}

export interface ServiceRuntime {
  version: string
  /** Tells this run from others that were asked for in the same second. */
  requestId: string
  /** How long the run may take in all, before it is killed. */
  remainingMs: number
  /** A folder of its own, for the snapshot on its way. */
  folder: string
  now: () => Date
  parsePolicy: (text: string, file: string) => Policy
}

/** Kept free at the end for judging, rendering and publishing. */
const publishingShare = 0.2
const policyKey = 'highwater.yaml'

/** Everything was done that could be, but a channel failed or a rule broke: the run ends red, and a retry does what is left. */
class IncompleteRun extends Error {}

/**
 * @throws OperatorError when nothing could be audited as asked
 * @throws IncompleteRun when the report exists and something of it could not be delivered
 */
export async function runService(request: AuditRequest, settings: ServiceSettings, runtime: ServiceRuntime): Promise<RunAnswer> {
  const region = await sdkRegion()
  if (region === null) throw new OperatorError('No AWS region is set for the function: AWS_REGION is missing')
  const runId =
    request.scheduledTime === null ? `${runIdOf(runtime.now().toISOString())}-${runtime.requestId}` : runIdOf(request.scheduledTime)
  const store = settings.bucket === null ? null : s3Store({ ...settings, bucket: settings.bucket, region })
  const before = store && request.scheduledTime !== null ? await doneBefore(store, runId) : null
  if (before !== null) return before

  const { policy, mistake } = await policyOf(store, runtime)
  const deadline = deadlineSignal(runtime.remainingMs * (1 - publishingShare))
  const snapshotPath = join(runtime.folder, 'snapshot.ndjson.gz')
  await mkdir(runtime.folder, { recursive: true })
  try {
    const { isDryRun, isMailed, selection } = request
    const { sender, recipients, reportBaseUrl } = settings
    const result = await audit(liveFleet({ policy, selection, signal: deadline.signal }), {
      source: 'live',
      inputErrors: mistake === null ? [] : [mistake],
      version: runtime.version,
      policy,
      rules,
      formats,
      channels: store === null || isDryRun ? [] : [s3({ store, runId, reportBaseUrl })],
      mail: sender === null || !isMailed ? null : ses({ from: sender, to: recipients, region, runId, store, now: runtime.now }),
      snapshot: openSnapshot(snapshotPath),
    })
    const failures = failuresOf(result)
    if (failures.length === 0 && store !== null && !isDryRun) failures.push(...(await markedDone(store, runId, runtime.now(), result)))
    if (failures.length > 0) throw new IncompleteRun(`Run ${runId} is incomplete. ${failures.join('. ')}`)
    return answerOf(runId, isDryRun ? 'dry-run' : 'published', result)
  } finally {
    deadline.end()
    await rm(runtime.folder, { recursive: true, force: true })
  }
}

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

/** The policy lies beside the reports, so that it changes without a deployment. @throws OperatorError when it is there and wrong */
async function policyOf(store: Store | null, { parsePolicy }: ServiceRuntime): Promise<{ policy: Policy; mistake: string | null }> {
  if (store === null) return { policy: defaultPolicy, mistake: null }
  let found: Awaited<ReturnType<Store['read']>>
  try {
    found = await store.read(policyKey)
  } catch (error) {
    // An audit by the defaults is better than none, as long as it says so.
    const reason = error instanceof Error ? error.message : String(error)
    return {
      policy: defaultPolicy,
      mistake: `the policy ${store.location}/${policyKey} could not be read, the defaults were used: ${reason}`,
    }
  }
  const text = found?.body.toString('utf8')
  return { policy: text === undefined ? defaultPolicy : parsePolicy(text, `${store.location}/${policyKey}`), mistake: null }
}

function deadlineSignal(durationMs: number): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new Error(notReached(`run's deadline of ${Math.round(durationMs / 1000)} s`))),
    durationMs,
  )
  return { signal: controller.signal, end: () => clearTimeout(timer) }
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
