/** A plan with its approval into the store that whoever applies it reads. */
import type { Store } from '#clients/store.ts'
import type { Approval, Plan } from '#model/plan.ts'
import { keepApproval, keepPlan } from '#remediate/plan/store.ts'

/** @returns where the approval lies @throws what the store throws */
export async function keepApproved(store: Store, plan: Plan, approval: Approval): Promise<string> {
  await keepPlan(store, plan)
  return keepApproval(store, approval)
}
