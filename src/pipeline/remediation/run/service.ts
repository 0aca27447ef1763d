/** One call of the function `remediate`. It relies on the seals of the approval, of the run's journal, and of the policy in the bucket. */

import { OperatorError } from '#base/operator-error.ts'
import { kmsMacKey } from '#clients/aws/kms.ts'
import { type Store, TooLong } from '#clients/store/store.ts'
import type { RemediationAnswer, RemediationRequest } from '#model/plan.ts'
import { defaultPolicy, type PolicyGrants } from '#model/policy.ts'
import type { Settings } from '#model/run.ts'
import {
  functionRegion,
  type RunLimits,
  readPolicy,
  type ServiceRuntime,
  storeOf,
  withinLimits,
} from '#pipeline/runtime/runtime.ts'
import { keepNotices, namedPlaces } from '#remediate/notices.ts'
import { keptPolicyApproval } from '#remediate/plan/policy-approval.ts'
import { type SealKeys, sealedStore, Unsealed } from '#remediate/seal.ts'
import { actingPolicy, type RemediationService } from './options.ts'
import { applyApproved, plan, planFleet, resumeAll, resumeOne, rollBackRun } from './running.ts'

/** After reading come the replays and the writing of the plan. Sending ends early: a node takes minutes, and the function waits for it. */
const shares = { reading: 0.7, acting: 0.5, end: 0.93 }

/** The store, keys and limits of a call. */
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
  const work = async ({ reading, acting, end, remainingMs }: RunLimits) => {
    const region = await functionRegion()
    const bucket = storeOf(settings, region, remainingMs, end)
    if (!bucket)
      throw new OperatorError('Plans and approvals have no place to be kept: set HIGHWATER_BUCKET')
    const keys = keysOf(settings, region)
    const run = runOf(request)
    if (run !== null) runtime.watch.began(run)
    runtime.watch.enterStage('prepare')
    const stops = { readUntil: reading, stop: acting, end }
    return noteRefusals(sealedStore(bucket, keys.runs), runtime.now, async onUnsealed => {
      const store = sealedStore(bucket, keys.runs, onUnsealed)
      const { policyGrants } = settings
      const place = { store, keys, onUnsealed, runtime, policyGrants, planFleet, ...stops }
      const service = await serviceOf(place, request.action)
      runtime.watch.enterStage(request.action)
      return answerRequest(request, service)
    })
  }
  return withinLimits(runtime, work, shares)
}

/**
 * Writes the places of refused objects to the bucket. If the bucket refuses the list, only the notice is lost: error and log name the objects, too.
 * @param store of sealed objects
 */
export async function noteRefusals<Answer>(
  store: Store,
  now: () => Date,
  work: (onUnsealed: (error: Unsealed) => void) => Promise<Answer>,
) {
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

/** The run's id, which is the id of its plan; null: the plan has no run yet, or the call resumes several runs. */
function runOf(request: RemediationRequest) {
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

export function answerRequest(
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
 * Uses the policy file in the bucket. An audit by the defaults is better than none. A change by the defaults is not: the policy can forbid changes at
 * certain times. A rollback may use the defaults: the writer of the policy file must not be able to stop it. The right to write the file is not the
 * right to approve: without a separate approval, the file starts nothing.
 * @throws OperatorError if the policy cannot be used, unless for a rollback
 */
export async function serviceOf(
  place: RemediationPlace,
  action: RemediationRequest['action'],
): Promise<RemediationService> {
  const { store, keys, runtime } = place
  const { text, granted, mistake } = await policyIn(place)
  if (mistake && action !== 'rollback') throw mistake
  const approval = () => keptPolicyApproval(store, text, keys.approvals, runtime.now())
  const policyApproval = mistake ?? (await approval().catch(operatorErrorOf))
  const policy = actingPolicy(granted)
  if (policyApproval instanceof Unsealed && granted.remediation.auto)
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

/** `text`: of the policy file; null: there is none, or it cannot be read. `mistake`: why the policy cannot be used; null: it can. */
async function policyIn({ store, runtime, policyGrants }: RemediationPlace) {
  try {
    const found = await readPolicy(store, runtime, policyGrants)
    if (!found) return { text: null, granted: defaultPolicy, mistake: null }
    const { text, policy, mistakes } = found
    const mistake = mistakes.length > 0 ? new OperatorError(mistakes.join('. ')) : null
    return { text, granted: policy, mistake }
  } catch (error) {
    const mistake = error instanceof TooLong ? new OperatorError(error.message) : error
    return { text: null, granted: defaultPolicy, mistake: operatorErrorOf(mistake) }
  }
}

/** @throws the error if it is not a mistake of the operator */
function operatorErrorOf(error: unknown) {
  if (error instanceof OperatorError) return error
  throw error
}
