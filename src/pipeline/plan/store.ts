/** Writes a plan with its approval into the store from which remediation reads. */
import type { MacKey } from '#clients/mac-key.ts'
import type { Store } from '#clients/store.ts'
import type { Approval, Plan } from '#model/plan.ts'
import { keepApproval, keepPlan } from '#remediate/plan/store.ts'

/** @returns where the approval lies @throws what the store throws */
export async function keepApproved(
  store: Store,
  plan: Plan,
  approval: Approval,
  key: MacKey,
): Promise<string> {
  await keepPlan(store, plan)
  return keepApproval(store, approval, key)
}
