/** Plans and approvals in a store, by digest: what a person approved on one machine is what another one applies. */
import type { MacKey } from '#clients/mac-key.ts'
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Approval, OpenedApproval, Plan } from '#model/plan.ts'
import { Journal } from '#remediate/run/journal.ts'
import type { SealKeys } from '#remediate/seal.ts'
import { openedApproval, parsePlan, planText, sealedApproval } from './file.ts'

const planKey = (digest: string): string => `remediation/plans/${digest}.json`
const approvalKey = (digest: string): string => `remediation/approvals/${digest}.json`

/** The same plan twice is one file. @returns where it lies, for people */
export async function keepPlan(store: Store, plan: Plan): Promise<string> {
  const key = planKey(plan.digest)
  await store.create(key, planText(plan), 'application/json')
  return `${store.location}/${key}`
}

/** @throws OperatorError when it is not there, or not as it was made */
export async function keptPlan(store: Store, digest: string): Promise<Plan> {
  const place = `${store.location}/${planKey(digest)}`
  const plan = await parsePlanAt(store, planKey(digest))
  if (plan === null)
    throw new OperatorError(
      `There is no plan ${digest.slice(0, 16)}: ${place} is not there. Make the plan anew`,
    )
  if (plan.digest !== digest)
    throw new OperatorError(
      `${place} holds another plan: its digest is ${plan.digest}. Make the plan anew`,
    )
  return plan
}

/** A plan that lies elsewhere in the store; null: there is none. @throws OperatorError when it is not as it was made */
export async function parsePlanAt(store: Store, key: string): Promise<Plan | null> {
  const found = await store.read(key)
  return found === null ? null : parsePlan(found.body.toString('utf8'), `${store.location}/${key}`)
}

/**
 * The plan of a run, and the last approval of that plan: the journal's own key approves nothing.
 * @param store that of sealed journals
 * @throws Unsealed, or OperatorError when there is no such run
 */
export async function keptRun(
  store: Store,
  run: string,
  keys: SealKeys,
): Promise<{ plan: Plan; approval: OpenedApproval }> {
  const folder = `remediation/runs/${run}`
  const plan = await parsePlanAt(store, `${folder}/plan.json`)
  const begunBy = await store.read(`${folder}/approval.json`)
  if (plan === null || begunBy === null)
    throw new OperatorError(`There is no run ${run} in ${store.location}/remediation/runs/`)
  const place = `${store.location}/${folder}/approval.json`
  const approval =
    (await keptApproval(store, plan.digest, keys)) ??
    (await openedApproval(begunBy.body.toString('utf8'), place, keys))
  return { plan, approval }
}

const headForm = /^remediation\/runs\/([a-f0-9]{16})\/run\.json$/

/** Runs that are not at their end, those that are being taken back among them; by name. @param store that of sealed journals */
export async function openRuns(store: Store): Promise<string[]> {
  const open: string[] = []
  for await (const key of store.list('remediation/runs/')) {
    const run = headForm.exec(key)?.[1]
    if (run !== undefined && (await isToGoOn(new Journal(store, run, 'no writer')))) open.push(run)
  }
  return open
}

/** A run that cannot be read counts as open: the attempt to resume it reports the error. */
async function isToGoOn(journal: Journal): Promise<boolean> {
  const head = await journal.head().catch((error: unknown) => {
    if (error instanceof OperatorError) return 'unreadable' as const
    throw error
  })
  return head === 'unreadable' || (head !== null && head.endedAt === null)
}

/** A later approval of the same plan stands in place of an earlier one. @param sealKey as `sealedApproval` takes it @returns where it lies, for people */
export async function keepApproval(
  store: Store,
  approval: Approval,
  sealKey: MacKey,
): Promise<string> {
  const key = approvalKey(approval.plan)
  await store.write(key, await sealedApproval(approval, sealKey), 'application/json')
  return `${store.location}/${key}`
}

/** Null: it is not approved. @throws Unsealed, or OperatorError when what lies there is no approval of this plan */
export async function keptApproval(
  store: Store,
  digest: string,
  keys: SealKeys,
): Promise<OpenedApproval | null> {
  const place = `${store.location}/${approvalKey(digest)}`
  const found = await store.read(approvalKey(digest))
  if (found === null) return null
  const approval = await openedApproval(found.body.toString('utf8'), place, keys)
  if (approval.plan !== digest)
    throw new OperatorError(`${place} is the approval of another plan: ${approval.plan}`)
  return approval
}
