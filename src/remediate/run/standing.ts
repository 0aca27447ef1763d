/** The conditions for sending anything new. Begun steps are ended even if the conditions fail. */
import type { Approval } from '#model/plan/plan.ts'
import type { AutoApproval } from '#model/policy.ts'
import { byPolicy } from '#remediate/plan/auto-approve.ts'
import { isOpen, windowText } from './window.ts'

/** Why the approval allows nothing new now, for people; null: new steps are allowed. @param auto the policy's automatic approval now */
export function whyNothingNew(
  { by, until }: Approval,
  auto: AutoApproval | null,
  now: Date,
): string | null {
  if (now.getTime() >= Date.parse(until)) return `the approval ended at ${until}`
  if (by !== byPolicy) return null
  if (auto === null)
    return 'the policy has approved it, and approves nothing by itself any more (remediation.auto)'
  return isOpen(auto.windows, now)
    ? null
    : `the policy approves only ${auto.windows.slice(0, 3).map(windowText).join('; or ')}`
}
