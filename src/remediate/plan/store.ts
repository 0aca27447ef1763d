/** Plans and approvals in a store, by digest: one machine applies exactly the plan that a person approved on another machine. */

import { OperatorError } from '#base/operator-error.ts'
import type { MacKey, Store } from '#clients/store/store.ts'
import type { Approval, OpenedApproval, Plan } from '#model/plan.ts'
import { Journal } from '#remediate/run/journal.ts'
import type { SealKeys } from '#remediate/seal.ts'
import { openedApproval, parsePlan, planText, sealedApproval } from './file.ts'

const planKey = (digest: string) => `remediation/plans/${digest}.json`
const approvalKey = (digest: string) => `remediation/approvals/${digest}.json`

/** Equal plans are one file. @returns where the plan lies, for people */
export async function keepPlan(store: Store, plan: Plan) {
  const key = planKey(plan.digest)
  await store.create(key, planText(plan))
  return `${store.location}/${key}`
}

/** @throws OperatorError if the plan is missing, or was changed since it was made */
export async function keptPlan(store: Store, digest: string): Promise<Plan> {
  const place = `${store.location}/${planKey(digest)}`
  const plan = await parsePlanAt(store, planKey(digest))
  if (!plan)
    throw new OperatorError(
      `There is no plan ${digest.slice(0, 16)}: ${place} is not there. Make the plan anew`,
    )
  if (plan.digest !== digest)
    throw new OperatorError(
      `${place} holds another plan: its digest is ${plan.digest}. Make the plan anew`,
    )
  return plan
}

/** A plan at another key of the store; null: there is none. @throws OperatorError if the plan was changed since it was made */
export async function parsePlanAt(store: Store, key: string): Promise<Plan | null> {
  const found = await store.read(key)
  return found ? parsePlan(found.body.toString('utf8'), `${store.location}/${key}`) : null
}

/**
 * The plan of a run, and the last approval of that plan: the key of journals cannot approve a plan.
 * @param store the store of sealed journals
 * @throws Unsealed, or OperatorError if there is no such run
 */
export async function keptRun(
  store: Store,
  run: string,
  keys: SealKeys,
): Promise<{ plan: Plan; approval: OpenedApproval }> {
  const folder = `remediation/runs/${run}`
  const plan = await parsePlanAt(store, `${folder}/plan.json`)
  const begunBy = await store.read(`${folder}/approval.json`)
  if (!plan || !begunBy)
    throw new OperatorError(`There is no run ${run} in ${store.location}/remediation/runs/`)
  const place = `${store.location}/${folder}/approval.json`
  const approval =
    (await keptApproval(store, plan.digest, keys)) ??
    (await openedApproval(begunBy.body.toString('utf8'), place, keys))
  return { plan, approval }
}

const headForm = /^remediation\/runs\/([a-f0-9]{16})\/run\.json$/

/** Names of the runs that have not ended, including runs that are being rolled back. @param store the store of sealed journals */
export async function openRuns(store: Store) {
  const open: string[] = []
  for await (const key of store.list('remediation/runs/')) {
    const run = headForm.exec(key)?.[1]
    if (run === undefined) continue
    const head = await new Journal(store, run, 'no writer').head().catch((error: unknown) => {
      // A run that cannot be read counts as open: the attempt to resume it reports the error.
      if (error instanceof OperatorError) return { endedAt: null }
      throw error
    })
    if (head?.endedAt === null) open.push(run)
  }
  return open
}

/** A later approval of a plan replaces an earlier one. @param sealKey as `sealedApproval` takes it @returns where the approval lies, for people */
export async function keepApproval(store: Store, approval: Approval, sealKey: MacKey) {
  const key = approvalKey(approval.plan)
  await store.write(key, await sealedApproval(approval, sealKey))
  return `${store.location}/${key}`
}

/** Null: the plan is not approved. @throws Unsealed, or OperatorError if the stored text is no approval of this plan */
export async function keptApproval(
  store: Store,
  digest: string,
  keys: SealKeys,
): Promise<OpenedApproval | null> {
  const place = `${store.location}/${approvalKey(digest)}`
  const found = await store.read(approvalKey(digest))
  if (!found) return null
  const approval = await openedApproval(found.body.toString('utf8'), place, keys)
  if (approval.plan !== digest)
    throw new OperatorError(`${place} is the approval of another plan: ${approval.plan}`)
  return approval
}
