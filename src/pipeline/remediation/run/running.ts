/** Starts, resumes and rolls back runs for the function. A plan has one run, so the same event twice causes one run. */

import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { dayMs } from '#base/units.ts'
import type { Store } from '#clients/store/store.ts'
import { everything } from '#model/input/record.ts'
import {
  type ApplyRequest,
  actsAtOnce,
  approverOf,
  type HeldApproval,
  type Plan,
  type PlanAnswer,
  type PlanningRequest,
  type RanOne,
  type RemediationRun,
  type ResumedAnswer,
  type RollbackRequest,
  type RunAnswered,
  type StepState,
} from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { eksTargets, liveFleet } from '#pipeline/audit/fleet.ts'
import { keepFleet } from '#pipeline/audit/saved/kept-records.ts'
import { makePlan, type PlanResult } from '#pipeline/remediation/plan/plan.ts'
import { type AutoApproved, autoApprove, byPolicy, longestMs } from '#remediate/plan/approve.ts'
import { sealedApproval } from '#remediate/plan/file.ts'
import {
  keepApproval,
  keepPlan,
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
import { remediate, takeBack } from './remediate.ts'

/* Makes the plans of the function `remediate`: for the fleet as it is now, or as the last scheduled audit saw it. */

export const planFleet: RemediationService['planFleet'] = async (
  { source, ...options },
  { store, policy, runtime, readUntil },
) => {
  const file = join(runtime.folder, 'snapshot.ndjson.gz')
  if (source === 'latest') await takeLatest(store, file, runtime.now())
  else await keepFleet(liveFleet({ policy, selection: options.selection, signal: readUntil }), file)
  return makePlan(file, { ...options, policy, version: runtime.version })
}

/** Makes a plan and stores it by its digest; approves it if the policy does. @throws OperatorError; then nothing was stored */
export async function plan(
  request: PlanningRequest,
  service: RemediationService,
): Promise<PlanAnswer> {
  const { action, ...options } = request
  const result = await service.planFleet(options, service)
  const location = await keepPlan(service.store, result.plan)
  return {
    action,
    ...summaryOf(result),
    location,
    ...(await approvalOf(result.plan, request.source, service)),
  }
}

function summaryOf({ plan, inputErrors, unread }: PlanResult) {
  const { id, digest, cohorts, steps, waves, never, refused, unchanged } = plan
  const counts = {
    cohorts: cohorts.length,
    nodes: steps.length,
    waves: waves.length,
    unchanged,
    unread,
    never: never.length,
    refused: refused.length,
  }
  return { id, digest, counts, inputErrors: inputErrors.slice(0, 20) }
}

async function approvalOf(
  plan: Plan,
  source: PlanningRequest['source'],
  service: RemediationService,
): Promise<Pick<PlanAnswer, 'approvedBy' | 'next'>> {
  if (plan.steps.length === 0)
    return { approvedBy: null, next: 'No node would be changed, so there is nothing to approve.' }
  const { store, keys } = service
  const before = await keptApproval(store, plan.digest, keys)
  if (before)
    return { approvedBy: approverOf(before), next: `It is approved until ${before.until}.` }
  const answer =
    source === 'live'
      ? approvedByPolicy(plan, service)
      : { why: 'it approves only a plan of the fleet as it is now (source "live")' }
  if ('approval' in answer) {
    await keepApproval(store, answer.approval, keys.runs)
    return {
      approvedBy: approverOf(answer.approval),
      next: `The policy approves it until ${answer.approval.until}.`,
    }
  }
  const acting = plan.steps.some(actsAtOnce) ? ' --allow-act-at-once' : ''
  return {
    approvedBy: null,
    next: `The policy does not approve it: ${answer.why}. A person reads it, and approves it by highwater approve PLAN --digest ${plan.digest}${acting} --by NAME --store ${store.location}`,
  }
}

/** Approves the plan by the policy, if an approver has approved the policy. */
function approvedByPolicy(
  plan: Plan,
  { policy, policyApproval, runtime }: RemediationService,
): AutoApproved {
  if (policyApproval instanceof OperatorError) return { why: policyApproval.message }
  return autoApprove(plan, policy.remediation.auto, runtime.now(), approverOf(policyApproval))
}

async function takeLatest(store: Store, file: string, now: Date) {
  const tick = await latestOfSchedule(store, 'snapshot.ndjson.gz', now)
  const found = tick ? await store.read(tick.key) : null
  if (!found)
    throw new OperatorError(
      `There is no snapshot of a scheduled audit in ${store.location}/runs/: ask for source "live", or wait for the next tick`,
    )
  await writeFile(file, found.body)
}

/** Only scheduled runs have exactly their tick as name. They read the whole fleet. */
const tickForm = /^runs\/((\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\dZ))\/(.+)$/

export interface Tick {
  name: string
  atMs: number
  /** Key of the file in the store. */
  key: string
}

/** The last scheduled audit that has the file; null: none. An audit with a future time is ignored: no audit wrote it. */
async function latestOfSchedule(store: Store, file: string, now: Date): Promise<Tick | null> {
  let latest: Tick | null = null
  for await (const key of store.list('runs/')) {
    const [, name = '', hour, minute, second, rest] = tickForm.exec(key) ?? []
    const atMs = Date.parse(`${hour}:${minute}:${second}`)
    if (rest === file && atMs <= now.getTime()) latest = { name, atMs, key }
  }
  return latest
}

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
  const begun = await store.read(mark)
  // If the run was refused before it began, the fleet is read again.
  if (begun) {
    const { run } = JSON.parse(begun.body.toString('utf8'))
    if (await store.read(`remediation/runs/${run}/run.json`)) return null
  }
  const seen = await parsePlanAt(store, tick.key)
  if (!seen || !('approval' in approvedByPolicy(seen, service))) return null
  const { plan } = await service.planFleet(asAudited, service)
  const answer = approvedByPolicy(plan, service)
  if (!('approval' in answer)) return null
  const { approval } = answer
  await keepApproval(store, approval, keys.runs)
  await store.write(mark, `${JSON.stringify({ run: plan.id })}\n`)
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

/** @throws OperatorError */
export async function rollBackRun(
  { run, despiteErrors }: RollbackRequest,
  service: RemediationService,
): Promise<RunAnswered> {
  return {
    action: 'rollback',
    ...answerOf(
      await takeBack(run, {
        ...optionsOf(
          service.policyApproval instanceof OperatorError
            ? // A rollback needs no approved policy. An unapproved one must not set how many nodes may fail: the defaults apply.
              { ...service, policy: { ...service.policy, remediation: defaultPolicy.remediation } }
            : service,
        ),
        despiteErrors,
      }),
    ),
  }
}

function optionsOf({ store, policy, stop, end, effects }: RemediationService): RemediateOptions {
  return {
    store,
    policy,
    stop,
    end,
    patienceMs,
    holder: randomUUID(),
    effects,
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
