/** The story of one call of the function `remediate`. What it is asked to do rests on the policy in the bucket, so without that it does nothing. */
import { mkdir, rm } from 'node:fs/promises'
import { sdkRegion } from '#clients/eks.ts'
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { RemediationAnswer, RemediationRequest } from '#model/remediation-request.ts'
import type { Settings } from '#model/run.ts'
import {
  policyKey,
  remainingOf,
  type ServiceRuntime,
  storeOf,
  timeLimit,
} from '#pipeline/service/runtime.ts'
import { actingPolicy } from './acting-policy.ts'
import { plan } from './planning.ts'
import { applyApproved, resumeAll, resumeOne, rollBackRun } from './running.ts'

/** Kept free at the end for the replays, and to write the plan. */
const readingShare = 0.7
/** Nothing is sent after it: a node takes minutes, and is waited for. */
const sendingShare = 0.5
const endShare = 0.93

/** What each action works with. */
export interface RemediationService {
  store: Store
  policy: Policy
  runtime: ServiceRuntime
  /** Until when a fleet may be read. */
  readUntil: AbortSignal
  /** Nothing more is sent. */
  stop: AbortSignal
  /** Nothing is waited for any more. */
  end: AbortSignal
}

/** @throws OperatorError when it cannot be done as asked */
export async function runRemediation(
  request: RemediationRequest,
  settings: Settings,
  runtime: ServiceRuntime,
): Promise<RemediationAnswer> {
  const remainingMs = remainingOf(runtime)
  const [reading, sending, end] = [
    timeLimit(remainingMs * readingShare),
    timeLimit(remainingMs * sendingShare),
    timeLimit(remainingMs * endShare),
  ]
  try {
    const region = await sdkRegion()
    if (region === null)
      throw new OperatorError('No AWS region is set for the function: AWS_REGION is missing')
    const store = storeOf(settings, region, remainingMs, end.signal)
    if (store === null)
      throw new OperatorError('Plans and approvals have no place to be kept: set HIGHWATER_BUCKET')
    await mkdir(runtime.folder, { recursive: true })
    const run = runOf(request)
    if (run !== null) runtime.watch.began(run)
    runtime.watch.enters('prepare')
    const policy = actingPolicy(await policyOf(store, runtime))
    runtime.watch.enters(request.action)
    return await answered(request, {
      store,
      policy,
      runtime,
      readUntil: reading.signal,
      stop: sending.signal,
      end: end.signal,
    })
  } finally {
    for (const limit of [reading, sending, end]) limit.end()
    await rm(runtime.folder, { recursive: true, force: true })
  }
}

/** A run has the id of its plan; null: a plan has no run yet, or several are taken up. */
function runOf(request: RemediationRequest): string | null {
  if (request.action === 'plan') return null
  return request.action === 'apply' ? request.plan.slice(0, 16) : request.run
}

function answered(
  request: RemediationRequest,
  service: RemediationService,
): Promise<RemediationAnswer> {
  switch (request.action) {
    case 'plan':
      return plan(request, service)
    case 'apply':
      return applyApproved(request, service)
    case 'resume':
      return request.run === null ? resumeAll(service) : resumeOne(request.run, service)
    case 'rollback':
      return rollBackRun(request, service)
  }
}

/** An audit by the defaults is better than none; a change by the defaults is not: the policy may say when nothing may be changed. */
async function policyOf(store: Store, { parsePolicy }: ServiceRuntime): Promise<Policy> {
  const found = await store.read(policyKey)
  return found === null
    ? defaultPolicy
    : parsePolicy(found.body.toString('utf8'), `${store.location}/${policyKey}`)
}
