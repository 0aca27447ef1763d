/** Plans that the function makes: of the fleet as it is now, or as the last scheduled audit saw it. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'
import { actsAtOnce, approverOf, type Plan } from '#model/plan.ts'
import type { PlanAnswer, PlanAsked } from '#model/remediation-request.ts'
import { liveFleet } from '#pipeline/fleet.ts'
import { makePlan } from '#pipeline/plan/plan.ts'
import type { PlanResult } from '#pipeline/plan/result.ts'
import { keepFleet } from '#pipeline/saved/keep-fleet.ts'
import { type AutoApproved, autoApprove } from '#remediate/plan/auto-approve.ts'
import { keepApproval, keepPlan, keptApproval } from '#remediate/plan/store.ts'
import type { RemediationService } from './options.ts'

/** Reads, plans, keeps the plan by its digest; approves it where the policy does. @throws OperatorError; then nothing was written */
export async function plan(asked: PlanAsked, service: RemediationService): Promise<PlanAnswer> {
  const { store, policy, runtime } = service
  const { rules, findings, changes, allowActAtOnce, selection } = asked
  const file = join(runtime.folder, 'snapshot.ndjson.gz')
  if (asked.source === 'latest') await takeLatest(store, file)
  else await keepFleet(liveFleet({ policy, selection, signal: service.readUntil }), file)
  const result = await makePlan(file, {
    rules,
    findings,
    changes,
    allowActAtOnce,
    selection,
    policy,
    version: runtime.version,
  })
  const location = await keepPlan(store, result.plan)
  return {
    action: 'plan',
    ...saidOf(result),
    location,
    ...(await approvalOf(result.plan, service)),
  }
}

function saidOf({
  plan: { id, digest, cohorts, steps, waves, never, refused, unchanged },
  inputErrors,
  unread,
}: PlanResult) {
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

async function approvalOf(
  plan: Plan,
  service: RemediationService,
): Promise<Pick<PlanAnswer, 'approvedBy' | 'next'>> {
  if (plan.steps.length === 0)
    return { approvedBy: null, next: 'No node would be changed, so there is nothing to approve.' }
  const { store, keys } = service
  const before = await keptApproval(store, plan.digest, keys)
  if (before !== null)
    return { approvedBy: approverOf(before), next: `It is approved until ${before.until}.` }
  const answer = approvedByPolicy(plan, service)
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

/** By a policy that an approver has approved. */
export function approvedByPolicy(
  plan: Plan,
  { policy, policyApproval, runtime }: RemediationService,
): AutoApproved {
  if (policyApproval instanceof OperatorError) return { why: policyApproval.message }
  return autoApprove(plan, policy.remediation.auto, runtime.now(), approverOf(policyApproval))
}

async function takeLatest(store: Store, file: string): Promise<void> {
  const key = await latestOfSchedule(store, 'snapshot.ndjson.gz')
  const found = key === null ? null : await store.read(key)
  if (found === null)
    throw new OperatorError(
      `There is no snapshot of a scheduled audit in ${store.location}/runs/: ask for source "live", or wait for the next tick`,
    )
  await writeFile(file, found.body)
}

/** Runs of the schedule are named by their tick and nothing else: they are of the whole fleet. */
const tickForm = /^runs\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\/(.+)$/

/** The key of that file of the last scheduled audit that has one; null: none has. */
export async function latestOfSchedule(store: Store, name: string): Promise<string | null> {
  let latest: string | null = null
  for await (const key of store.list('runs/')) if (tickForm.exec(key)?.[1] === name) latest = key
  return latest
}
