/** Makes the plans of the function `remediate`: for the fleet as it is now, or as the last scheduled audit saw it. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '#base/operator-error.ts'
import type { Store } from '#clients/store/store.ts'
import {
  actsAtOnce,
  approverOf,
  type Plan,
  type PlanAnswer,
  type PlanningRequest,
} from '#model/plan.ts'
import { liveFleet } from '#pipeline/audit/fleet.ts'
import { keepFleet } from '#pipeline/audit/saved/kept-records.ts'
import { makePlan, type PlanResult } from '#pipeline/remediation/plan/plan.ts'
import { type AutoApproved, autoApprove } from '#remediate/plan/approve.ts'
import { keepApproval, keepPlan, keptApproval } from '#remediate/plan/store.ts'
import type { RemediationService } from './options.ts'

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
export function approvedByPolicy(
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
export async function latestOfSchedule(
  store: Store,
  file: string,
  now: Date,
): Promise<Tick | null> {
  let latest: Tick | null = null
  for await (const key of store.list('runs/')) {
    const [, name = '', hour, minute, second, rest] = tickForm.exec(key) ?? []
    const atMs = Date.parse(`${hour}:${minute}:${second}`)
    if (rest === file && atMs <= now.getTime()) latest = { name, atMs, key }
  }
  return latest
}
