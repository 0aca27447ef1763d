/** What has to hold each time that something new is to be sent. What was begun is ended whether it holds or not. */
import type { Approval } from '#model/plan.ts'
import type { AutoApproval } from '#model/policy.ts'
import { byPolicy } from '#remediate/plan/auto-approve.ts'
import { isOpen, windowText } from './window.ts'

/** Why the approval lets nothing new be sent now, for people; null: it does. @param auto what the policy approves by itself now */
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
