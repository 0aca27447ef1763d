/** `highwater approve-policy`: approves one text of the policy, under which the function `remediate` may change nodes. */

import { Command } from 'commander'
import { approverOf } from '#model/plan/plan.ts'
import { parseMoment } from '#model/plan/what-if.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { parsePolicy } from '#policy/parse.ts'
import { approvePolicy, keepPolicyApproval } from '#remediate/plan/policy-approval.ts'
import { parseText, textOf } from './options.ts'
import { keyFor, storeAt } from './store.ts'
import { clean } from './terminal.ts'

interface ApprovePolicyOptions {
  by: string
  store: string
  until?: string
}

const defaultDays = 90
const dayMs = 24 * 3_600_000

export function approvePolicyCommand(): Command {
  return new Command('approve-policy')
    .argument('<policy>', 'highwater.yaml as it was read')
    .requiredOption('--by <name>', 'name of the approver', parseText)
    .requiredOption('--store <place>', 'where the service keeps it: s3://bucket/prefix', parseText)
    .option(
      '--until <time>',
      'when the approval ends, RFC 3339, at most 366 days ahead (default: in 90 days)',
      parseMoment,
    )
    .addHelpText(
      'after',
      `
With an unapproved policy the function remediate starts and resumes no run, and
remediation.auto approves no plan. Each change of the file needs a new approval.

Example:
  highwater approve-policy highwater.yaml --by "Ada Lovelace" \\
    --store s3://BUCKET/highwater

Exit codes: 0 approved; 2 the file is not a policy, or bad usage; 4 the approval
could not be written.`,
    )
    .action(async (file: string, { by, store: place, until }: ApprovePolicyOptions) => {
      const text = textOf(file, 'policy')
      parsePolicy(text, file, policyTerms)
      const store = await storeAt(place)
      const key = await keyFor('approvals', place)
      const now = new Date()
      const approval = approvePolicy(text, {
        by,
        identity: await key.identity(),
        at: now.toISOString(),
        until: until ?? new Date(now.getTime() + defaultDays * dayMs).toISOString(),
      })
      const kept = await keepPolicyApproval(store, approval, key)
      process.stdout.write(
        `Policy ${approval.policy.slice(0, 16)} is approved by ${clean(approverOf(approval))} until ${approval.until}: ${kept}\n`,
      )
    })
}
