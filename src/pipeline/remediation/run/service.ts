/** One call of the function `remediate`. It relies on the seals of the approval, of the run's journal, and of the policy in the bucket. */

import { randomUUID } from 'node:crypto'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { kmsMacKey } from '#clients/aws/kms.ts'
import { type Store, TooLong } from '#clients/store/store.ts'
import { everything } from '#model/input/record.ts'
import {
  approverOf,
  type HeldApproval,
  type Plan,
  type RemediationRun,
  type StepState,
} from '#model/plan/plan.ts'
import type {
  ApplyRequest,
  PlanningRequest,
  RanOne,
  RemediationAnswer,
  RemediationRequest,
  ResumedAnswer,
  RollbackRequest,
  RunAnswered,
} from '#model/plan/remediation-request.ts'
import { defaultPolicy, type PolicyGrants } from '#model/policy.ts'
import type { Settings } from '#model/run.ts'
import { eksTargets } from '#pipeline/audit/fleet.ts'
import {
  functionRegion,
  type RunLimits,
  readPolicy,
  type ServiceRuntime,
  storeOf,
  withinLimits,
} from '#pipeline/service/runtime.ts'
import { keepNotices, namedPlaces } from '#remediate/notices.ts'
import { byPolicy, longestMs } from '#remediate/plan/approve.ts'
import { keptPolicyApproval, sealedApproval } from '#remediate/plan/file.ts'
import {
  keepApproval,
  keptApproval,
  keptPlan,
  keptRun,
  openRuns,
  parsePlanAt,
} from '#remediate/plan/store.ts'
import { isOfTheWorld } from '#remediate/run/pausing.ts'
import { type SealKeys, sealedStore, Unsealed } from '#remediate/seal.ts'
import { eksNames } from './fresh.ts'
import { actingPolicy, type RemediateOptions, type RemediationService } from './options.ts'
import { approvedByPolicy, latestOfSchedule, plan, planFleet } from './planning.ts'
import { remediate, takeBack } from './remediate.ts'

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
    if (bucket === null)
      throw new OperatorError('Plans and approvals have no place to be kept: set HIGHWATER_BUCKET')
    const keys = keysOf(settings, region)
    const run = runOf(request)
    if (run !== null) runtime.watch.began(run)
    runtime.watch.enters('prepare')
    const stops = { readUntil: reading, stop: acting, end }
    return noteRefusals(sealedStore(bucket, keys.runs), runtime.now, async onUnsealed => {
      const store = sealedStore(bucket, keys.runs, onUnsealed)
      const { policyGrants } = settings
      const place = { store, keys, onUnsealed, runtime, policyGrants, ...stops }
      const service = await serviceOf(place, request.action)
      runtime.watch.enters(request.action)
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
  if (mistake !== null && action !== 'rollback') throw mistake
  const approval = () => keptPolicyApproval(store, text, keys.approvals, runtime.now())
  const policyApproval = mistake ?? (await approval().catch(operatorErrorOf))
  const policy = actingPolicy(granted)
  if (policyApproval instanceof Unsealed && granted.remediation.auto !== null)
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
    if (found === null) return { text: null, granted: defaultPolicy, mistake: null }
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

/* Starts, resumes and rolls back runs for the function. A plan has one run, so the same event twice causes one run. */

const dayMs = 24 * 3_600_000
/** Longest wait in milliseconds: a waiting function costs money. */
const patienceMs = 10_000

/** Applies a plan by its approval in the bucket: an event cannot prove its sender. @throws OperatorError before anything is sent */
async function applyApproved(
  request: ApplyRequest,
  service: RemediationService,
): Promise<RunAnswered> {
  const { store, keys } = service
  const plan = await keptPlan(store, request.plan)
  const approval = await keptApproval(store, plan.digest, keys)
  if (approval === null)
    throw new OperatorError(
      `Plan ${plan.id} is not approved: highwater approve PLAN --digest ${plan.digest} --by NAME --store ${store.location}`,
    )
  return {
    action: 'apply',
    ...answerOf(await startOrResume(plan, approval, service, request.skipChanged)),
  }
}

/** Starts the plan's run, or continues it. @throws OperatorError if no approver has approved the policy */
async function startOrResume(
  plan: Plan,
  approval: HeldApproval,
  service: RemediationService,
  skipChanged = false,
) {
  const { policyApproval } = service
  if (policyApproval instanceof OperatorError) throw policyApproval
  // The key of approvals proves who approved the policy. The key that seals the policy's approval of a plan does not.
  const proved =
    approval.by === byPolicy ? { ...approval, identity: approverOf(policyApproval) } : approval
  return remediate(plan, proved, { ...optionsOf(service), resume: true, skipChanged })
}

/** @throws OperatorError */
async function resumeOne(run: string, service: RemediationService): Promise<RunAnswered> {
  const { plan, approval } = await keptRun(service.store, run, service.keys)
  return {
    action: 'resume',
    ...answerOf(await startOrResume(plan, await renewApproval(plan, approval, service), service)),
  }
}

/** Renews the policy's approval of a plan: a plan with more nodes than the policy allows per day outlives its approval. */
async function renewApproval(
  plan: Plan,
  approval: HeldApproval,
  service: RemediationService,
): Promise<HeldApproval> {
  const { store, keys, runtime } = service
  const now = runtime.now()
  const isOld = now.getTime() - Date.parse(plan.createdAt) > longestMs
  if (approval.by !== byPolicy || now.getTime() < Date.parse(approval.until) || isOld)
    return approval
  const answer = approvedByPolicy(plan, service)
  if (!('approval' in answer)) return approval
  await keepApproval(store, answer.approval, keys.runs)
  return answer.approval
}

/** The scheduled work: every unfinished run, then plans that the policy approves. A blocked run does not stop the others. */
async function resumeAll(service: RemediationService): Promise<ResumedAnswer> {
  const runs: RanOne[] = []
  const unsealed: string[] = []
  const note = (error: Unsealed) => {
    if (!service.named.has(error.place)) unsealed.push(error.message)
    service.onUnsealed(error)
  }
  for (const run of await openRuns(service.store)) {
    // The next call resumes the remaining runs.
    if (service.stop.aborted) return { action: 'resume', runs, unsealed }
    runs.push(await runOrReason(run, () => resumeOne(run, service), note))
  }
  const approved = await policyPlan(service).catch(error => {
    runs.push(refusedFor('policy', error, note))
    return null
  })
  if (approved !== null) {
    const { plan, approval } = approved
    const work = async () => answerOf(await startOrResume(plan, approval, service))
    runs.push(await runOrReason(plan.id, work, note))
  }
  return { action: 'resume', runs, unsealed }
}

/**
 * Plans for the present fleet, if the last scheduled audit made a plan that the policy approves. The policy must approve the new plan, too.
 * The audit's plan only decides when to read: audit roles can write it, so it supplies no value. Each audit starts one run.
 */
async function policyPlan(
  service: RemediationService,
): Promise<{ plan: Plan; approval: HeldApproval } | null> {
  const { store, keys, policy, runtime } = service
  if (policy.remediation.auto === null) return null
  const tick = await latestOfSchedule(store, 'plan.json', runtime.now())
  // An audit older than a day does not show the present fleet.
  if (tick === null || runtime.now().getTime() - tick.atMs > dayMs) return null
  const mark = `remediation/begun/${tick.name}.json`
  if (await isBegun(mark, store)) return null
  const seen = await parsePlanAt(store, tick.key)
  if (seen === null || !('approval' in approvedByPolicy(seen, service))) return null
  const plan = (await service.planNow?.()) ?? (await planFleet(asAudited, service)).plan
  const answer = approvedByPolicy(plan, service)
  if (!('approval' in answer)) return null
  const { approval } = answer
  await keepApproval(store, approval, keys.runs)
  await store.write(mark, `${JSON.stringify({ run: plan.id })}\n`, 'application/json')
  return { plan, approval: { ...approval, sealed: await sealedApproval(approval, keys.runs) } }
}

const asAudited: Omit<PlanningRequest, 'action'> = {
  rules: [],
  findings: [],
  changes: [],
  allowActAtOnce: false,
  selection: everything,
  source: 'live',
}

/** Whether the audit's run has begun. If the run was refused before it began, the fleet is read again. @throws Unsealed */
async function isBegun(mark: string, store: Store) {
  const found = await store.read(mark)
  if (found === null) return false
  const { run } = JSON.parse(found.body.toString('utf8'))
  return (await store.read(`remediation/runs/${run}/run.json`)) !== null
}

/** @throws OperatorError */
async function rollBackRun(
  { run, despiteErrors }: RollbackRequest,
  service: RemediationService,
): Promise<RunAnswered> {
  return {
    action: 'rollback',
    ...answerOf(await takeBack(run, { ...optionsOf(rollbackService(service)), despiteErrors })),
  }
}

/** A rollback needs no approved policy. An unapproved policy must not set how many nodes may fail: the defaults apply. */
const rollbackService = (service: RemediationService) =>
  service.policyApproval instanceof OperatorError
    ? { ...service, policy: { ...service.policy, remediation: defaultPolicy.remediation } }
    : service

function optionsOf({ store, policy, stop, end, effects }: RemediationService): RemediateOptions {
  return {
    store,
    policy,
    stop,
    end,
    patienceMs,
    holder: randomUUID(),
    ...(effects && { effects }),
    targets: clusters =>
      eksTargets({
        policy,
        selection: { ...everything, clusters: eksNames(clusters) },
        signal: end,
      }),
  }
}

async function runOrReason(
  run: string,
  work: () => Promise<RanOne>,
  onUnsealed: (error: Unsealed) => void,
): Promise<RanOne> {
  try {
    const { id, state, why, nodes, next } = await work()
    return { id, state, why, nodes, next }
  } catch (error) {
    const next = `It is tried again with the next {"action":"resume"}; {"action":"rollback","run":"${run}"} takes back what it has changed.`
    return { ...refusedFor(run, error, onUnsealed), next }
  }
}

/** @throws the error if it is a bug of highwater */
function refusedFor(id: string, error: unknown, onUnsealed: (error: Unsealed) => void): RanOne {
  if (!isOfTheWorld(error)) throw error
  if (error instanceof Unsealed) onUnsealed(error)
  const next = 'It is tried again with the next {"action":"resume"}.'
  return { id, state: 'refused', why: messageOf(error), nodes: {}, next }
}

function answerOf(ended: RemediationRun): Omit<RunAnswered, 'action'> {
  const { run: id, plan: digest, approvedBy, state, why, steps } = ended
  const nodes: Partial<Record<StepState, number>> = {}
  for (const { state: each } of steps) nodes[each] = (nodes[each] ?? 0) + 1
  return { id, digest, approvedBy, state, why, nodes, next: nextOf(ended) }
}

function nextOf({ run, state, endedAt }: RemediationRun) {
  const back = `{"action":"rollback","run":"${run}"}`
  if (endedAt === null) {
    const onward = `the next {"action":"resume"} of the schedule, or at once by {"action":"resume","run":"${run}"}`
    return state === 'rolled-back'
      ? `It goes on being taken back with ${onward}.`
      : `It goes on with ${onward}; ${back} takes it back.`
  }
  return state === 'rolled-back'
    ? 'Nothing more is to be done.'
    : `It is at its end; ${back} takes back what it has changed.`
}
