/** The story of one call of the function `remediate`. What it is asked to do rests on the policy in the bucket, so without that it does nothing. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sdkRegion } from '#clients/eks.ts'
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'
import { actsAtOnce, type Plan } from '#model/plan.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { PlanAnswer, PlanAsked, RemediationAnswer, RemediationRequest } from '#model/remediation-request.ts'
import type { Settings } from '#model/run.ts'
import { approveToday } from '#remediate/approved-today.ts'
import { keepApproval, keepPlan, keptApproval } from '#remediate/plan-store.ts'
import { liveFleet } from './fleet.ts'
import { keepFleet } from './keep-fleet.ts'
import { makePlan, type PlanResult } from './plan.ts'
import { policyKey, remainingOf, type ServiceRuntime, storeOf, timeLimit } from './service-runtime.ts'

/** Kept free at the end for the replays, and to write the plan. */
const readingShare = 0.7
const endShare = 0.95

interface Service {
  store: Store
  policy: Policy
  runtime: ServiceRuntime
  readUntil: AbortSignal
}

/** @throws OperatorError when it cannot be done as asked; then nothing was written */
export async function runRemediation(request: RemediationRequest, settings: Settings, runtime: ServiceRuntime): Promise<RemediationAnswer> {
  const remainingMs = remainingOf(runtime)
  const reading = timeLimit(remainingMs * readingShare)
  const end = timeLimit(remainingMs * endShare)
  try {
    const region = await sdkRegion()
    if (region === null) throw new OperatorError('No AWS region is set for the function: AWS_REGION is missing')
    const store = storeOf(settings, region, remainingMs, end.signal)
    if (store === null) throw new OperatorError('Plans and approvals have no place to be kept: set HIGHWATER_BUCKET')
    await mkdir(runtime.folder, { recursive: true })
    return await plan(request, { store, policy: await policyOf(store, runtime), runtime, readUntil: reading.signal })
  } finally {
    reading.end()
    end.end()
    await rm(runtime.folder, { recursive: true, force: true })
  }
}

/** An audit by the defaults is better than none; a change by the defaults is not: the policy may say when nothing may be changed. */
async function policyOf(store: Store, { parsePolicy }: ServiceRuntime): Promise<Policy> {
  const found = await store.read(policyKey)
  return found === null ? defaultPolicy : parsePolicy(found.body.toString('utf8'), `${store.location}/${policyKey}`)
}

async function plan(asked: PlanAsked, service: Service): Promise<PlanAnswer> {
  const { store, policy, runtime } = service
  const { rules, findings, changes, allowActAtOnce, selection } = asked
  const file = join(runtime.folder, 'snapshot.ndjson.gz')
  if (asked.source === 'latest') await takeLatest(store, file)
  else await keepFleet(liveFleet({ policy, selection, signal: service.readUntil }), file)
  const result = await makePlan(file, { rules, findings, changes, allowActAtOnce, selection, policy, version: runtime.version })
  const location = await keepPlan(store, result.plan)
  return { action: 'plan', ...saidOf(result), location, ...(await approvalOf(result.plan, service)) }
}

function saidOf({ plan: { id, digest, cohorts, steps, waves, never, refused, unchanged }, inputErrors, unread }: PlanResult) {
  const counts = {
    cohorts: cohorts.length,
    nodes: steps.length,
    waves: waves.length,
    never: never.length,
    refused: refused.length,
    unchanged,
    unread,
  }
  return { id, digest, counts, inputErrors: inputErrors.slice(0, 20) }
}

async function approvalOf(plan: Plan, { store, policy, runtime }: Service): Promise<Pick<PlanAnswer, 'approvedBy' | 'next'>> {
  if (plan.steps.length === 0) return { approvedBy: null, next: 'No node would be changed, so there is nothing to approve.' }
  const before = await keptApproval(store, plan.digest)
  if (before !== null) return { approvedBy: before.by, next: `It is approved until ${before.until}.` }
  const answer = await approveToday(store, plan, policy.remediation.auto, runtime.now())
  if ('approval' in answer) {
    await keepApproval(store, answer.approval)
    return { approvedBy: answer.approval.by, next: `The policy approves it until ${answer.approval.until}.` }
  }
  const acting = plan.steps.some(actsAtOnce) ? ' --allow-act-at-once' : ''
  return {
    approvedBy: null,
    next: `The policy does not approve it: ${answer.why}. A person reads it, and approves it by highwater approve PLAN --digest ${plan.digest}${acting} --by NAME --store ${store.location}`,
  }
}

/** Runs of the schedule are named by their tick and nothing else: they are of the whole fleet. */
const tickForm = /^runs\/(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)\/snapshot\.ndjson\.gz$/

async function takeLatest(store: Store, file: string): Promise<void> {
  let latest: string | null = null
  for await (const key of store.list('runs/')) if (tickForm.test(key)) latest = key
  const found = latest === null ? null : await store.read(latest)
  if (found === null)
    throw new OperatorError(
      `There is no snapshot of a scheduled audit in ${store.location}/runs/: ask for source "live", or wait for the next tick`,
    )
  await writeFile(file, found.body)
}
