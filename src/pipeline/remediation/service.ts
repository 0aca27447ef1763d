/** One call of the function `remediate`. What it does rests on seals: of the approval, of the run's journal, and of the policy in the bucket. */

import { mkdir, rm } from 'node:fs/promises'
import { sdkRegion } from '#clients/eks.ts'
import { kmsMacKey } from '#clients/kms.ts'
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { PolicyGrants } from '#model/policy-grants.ts'
import type { RemediationAnswer, RemediationRequest } from '#model/remediation-request.ts'
import type { Settings } from '#model/run.ts'
import { grantedPolicy } from '#pipeline/service/granted-policy.ts'
import {
  policyKey,
  remainingOf,
  type ServiceRuntime,
  storeOf,
  timeLimit,
} from '#pipeline/service/runtime.ts'
import { keepNotices, namedPlaces } from '#remediate/notices.ts'
import { keptPolicyApproval } from '#remediate/plan/policy-approval.ts'
import { type SealKeys, sealedStore, Unsealed } from '#remediate/seal.ts'
import { actingPolicy, type RemediationService } from './options.ts'
import { plan } from './planning.ts'
import { applyApproved, resumeAll, resumeOne, rollBackRun } from './running.ts'

/** Kept free at the end for the replays, and to write the plan. */
const readingShare = 0.7
/** Nothing is sent after it: a node takes minutes, and is waited for. */
const sendingShare = 0.5
const endShare = 0.93

/** Where a call finds everything. */
export type RemediationPlace = Omit<
  RemediationService,
  'policy' | 'policyApproval' | 'runtime' | 'named'
> & {
  runtime: RemediationService['runtime'] & Pick<ServiceRuntime, 'parsePolicy'>
  policyGrants: PolicyGrants
}

/** @throws OperatorError if the request cannot be carried out */
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
    const bucket = storeOf(settings, region, remainingMs, end.signal)
    if (bucket === null)
      throw new OperatorError('Plans and approvals have no place to be kept: set HIGHWATER_BUCKET')
    const keys = keysOf(settings, region)
    await mkdir(runtime.folder, { recursive: true })
    const run = runOf(request)
    if (run !== null) runtime.watch.began(run)
    runtime.watch.enters('prepare')
    const stops = { readUntil: reading.signal, stop: sending.signal, end: end.signal }
    return await noting(sealedStore(bucket, keys.runs), runtime.now, async onUnsealed => {
      const store = sealedStore(bucket, keys.runs, onUnsealed)
      const { policyGrants } = settings
      const service = await serviceOf({
        ...{ store, keys, onUnsealed, runtime, policyGrants },
        ...stops,
      })
      runtime.watch.enters(request.action)
      return answered(request, service)
    })
  } finally {
    for (const limit of [reading, sending, end]) limit.end()
    await rm(runtime.folder, { recursive: true, force: true })
  }
}

/**
 * Names in the bucket what was refused meanwhile. A bucket that takes no list costs the notice alone: error and log name the objects, too.
 * @param store of sealed objects
 */
export async function noting<Answer>(
  store: Store,
  now: () => Date,
  work: (onUnsealed: (error: Unsealed) => void) => Promise<Answer>,
): Promise<Answer> {
  const places = new Set<string>()
  try {
    return await work(({ place }) => places.add(place))
  } catch (error) {
    if (error instanceof Unsealed) places.add(error.place)
    throw error
  } finally {
    await keepNotices(store, { refused: places }, now()).catch(() => undefined)
  }
}

/** A run has the id of its plan; null: a plan has no run yet, or several are taken up. */
function runOf(request: RemediationRequest): string | null {
  if (request.action === 'plan') return null
  return request.action === 'apply' ? request.plan.slice(0, 16) : request.run
}

/** @throws OperatorError when a key is missing */
function keysOf({ runKeyId, approvalKeyId }: Settings, region: string): SealKeys {
  if (runKeyId === null || approvalKeyId === null)
    throw new OperatorError(
      'Forged approvals and runs cannot be detected: set HIGHWATER_RUN_KEY_ID and HIGHWATER_APPROVAL_KEY_ID',
    )
  return {
    runs: kmsMacKey({ keyId: runKeyId, region }),
    approvals: kmsMacKey({ keyId: approvalKeyId, region }),
  }
}

export function answered(
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

/**
 * With the policy as it lies there. An audit by the defaults is better than none; a change by the defaults is not: the policy may say when nothing
 * may be changed. The right to write that file is not the right to approve: without an approval of its own the file starts nothing.
 */
export async function serviceOf(place: RemediationPlace): Promise<RemediationService> {
  const { store, keys, runtime } = place
  const found = await store.read(policyKey)
  const text = found === null ? null : found.body.toString('utf8')
  const parsed =
    text === null ? defaultPolicy : runtime.parsePolicy(text, `${store.location}/${policyKey}`)
  const { refused } = grantedPolicy(parsed, place.policyGrants)
  if (refused.length > 0) throw new OperatorError(refused.join('. '))
  const policyApproval = await keptPolicyApproval(store, text, keys.approvals, runtime.now()).catch(
    (error: unknown) => {
      if (error instanceof OperatorError) return error
      throw error
    },
  )
  const policy = actingPolicy(parsed)
  if (policyApproval instanceof Unsealed && parsed.remediation.auto !== null)
    place.onUnsealed(policyApproval)
  return {
    ...place,
    named: await namedPlaces(store),
    policyApproval,
    policy:
      policyApproval instanceof OperatorError
        ? { ...policy, remediation: { ...policy.remediation, auto: null } }
        : policy,
  }
}
