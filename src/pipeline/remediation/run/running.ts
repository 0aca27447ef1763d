/** Starts, resumes and rolls back runs for the function. A plan has one run, so the same event twice causes one run. */

import { randomUUID } from 'node:crypto'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { dayMs } from '#base/units.ts'
import type { Store } from '#clients/store/store.ts'
import { everything } from '#model/input/record.ts'
import {
  type ApplyRequest,
  approverOf,
  type HeldApproval,
  type Plan,
  type RanOne,
  type RemediationRun,
  type ResumedAnswer,
  type RollbackRequest,
  type RunAnswered,
  type StepState,
} from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { eksTargets } from '#pipeline/audit/fleet.ts'
import { byPolicy, longestMs } from '#remediate/plan/approve.ts'
import { sealedApproval } from '#remediate/plan/file.ts'
import {
  keepApproval,
  keptApproval,
  keptPlan,
  keptRun,
  openRuns,
  parsePlanAt,
} from '#remediate/plan/store.ts'
import { isWorldFailure } from '#remediate/run/pausing.ts'
import { Unsealed } from '#remediate/seal.ts'
import { eksNames } from './fresh.ts'
import type { PlanWanted, RemediateOptions, RemediationService } from './options.ts'
import { approvedByPolicy, latestOfSchedule } from './planning.ts'
import { remediate, takeBack } from './remediate.ts'

/** Longest wait in milliseconds: a waiting function costs money. */
const patienceMs = 10_000

/** Applies a plan by its approval in the bucket: an event cannot prove its sender. @throws OperatorError before anything is sent */
export async function applyApproved(
  request: ApplyRequest,
  service: RemediationService,
): Promise<RunAnswered> {
  const { store, keys } = service
  const plan = await keptPlan(store, request.plan)
  const approval = await keptApproval(store, plan.digest, keys)
  if (!approval)
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
export async function resumeOne(run: string, service: RemediationService): Promise<RunAnswered> {
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
export async function resumeAll(service: RemediationService): Promise<ResumedAnswer> {
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
    runs.push(refusedRun('policy', error, note))
    return null
  })
  if (approved) {
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
  if (!policy.remediation.auto) return null
  const tick = await latestOfSchedule(store, 'plan.json', runtime.now())
  // An audit older than a day does not show the present fleet.
  if (!tick || runtime.now().getTime() - tick.atMs > dayMs) return null
  const mark = `remediation/begun/${tick.name}.json`
  if (await isBegun(mark, store)) return null
  const seen = await parsePlanAt(store, tick.key)
  if (!seen || !('approval' in approvedByPolicy(seen, service))) return null
  const { plan } = await service.planFleet(asAudited, service)
  const answer = approvedByPolicy(plan, service)
  if (!('approval' in answer)) return null
  const { approval } = answer
  await keepApproval(store, approval, keys.runs)
  await store.write(mark, `${JSON.stringify({ run: plan.id })}\n`, 'application/json')
  return { plan, approval: { ...approval, sealed: await sealedApproval(approval, keys.runs) } }
}

const asAudited: PlanWanted = {
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
  if (!found) return false
  const { run } = JSON.parse(found.body.toString('utf8'))
  return (await store.read(`remediation/runs/${run}/run.json`)) !== null
}

/** @throws OperatorError */
export async function rollBackRun(
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
    return { ...refusedRun(run, error, onUnsealed), next }
  }
}

/** @throws the error if it is a bug of highwater */
function refusedRun(id: string, error: unknown, onUnsealed: (error: Unsealed) => void): RanOne {
  if (!isWorldFailure(error)) throw error
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
