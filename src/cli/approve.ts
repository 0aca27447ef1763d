/** `highwater approve`: approves one plan by its digest. */

import { writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { dayMs } from '#base/units.ts'
import { approverOf, parseMoment } from '#model/plan.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { parsePolicy } from '#policy/parse.ts'
import { approve } from '#remediate/plan/approve.ts'
import { parsePlan, sealedApproval } from '#remediate/plan/file.ts'
import { approvePolicy, keepPolicyApproval } from '#remediate/plan/policy-approval.ts'
import { keepApproval, keepPlan } from '#remediate/plan/store.ts'
import { attemptWrite } from './folder.ts'
import { parseText, textOf } from './options.ts'
import { keyFor, storeAt } from './store.ts'
import { clean } from './terminal.ts'

interface ApproveOptions {
  digest: string
  by: string
  until?: string
  allowActAtOnce?: boolean
  out?: string
  store?: string
}

/** Default path of a plan's approval. */
export const approvalFileOf = (plan: string) => `${plan.replace(/\.json$/, '')}.approval.json`

export function approveCommand() {
  return new Command('approve')
    .argument('<plan>', 'the plan file')
    .requiredOption(
      '--digest <digest>',
      'digest of the plan that you read: all 64 characters',
      parseText,
    )
    .requiredOption('--by <name>', 'name of the approver', parseText)
    .option(
      '--until <time>',
      'when the approval ends, RFC 3339, at most 7 days ahead (default: in 24 h)',
      parseMoment,
    )
    .option('--allow-act-at-once', 'also approve steps after which kubelets evict at once')
    .option(
      '--out <file>',
      'where the approval is written (default: beside the plan, PLAN.approval.json)',
      parseText,
    )
    .option(
      '--store <place>',
      'also keep plan and approval there: s3://bucket/prefix or a folder',
      parseText,
    )
    .addHelpText(
      'after',
      `
Examples:
  highwater approve plan.json --digest 5f2c… --by "Ada Lovelace" \\
    --until 2026-11-22T18:00:00Z
  highwater approve plan.json --digest 5f2c… --by "Ada Lovelace" \\
    --store s3://reports/eks

Exit codes: 0 approved; 2 the digest is of another plan, the time has passed, or
bad usage; 4 the approval could not be written.`,
    )
    .action(async (file: string, options: ApproveOptions) => {
      const plan = parsePlan(textOf(file, 'plan'), file)
      const now = new Date()
      const store = options.store === undefined ? null : await storeAt(options.store)
      const key = await keyFor('approvals', options.store)
      const approval = approve(plan, {
        digest: options.digest,
        by: options.by,
        identity: await key.identity(),
        at: now.toISOString(),
        until: options.until ?? new Date(now.getTime() + dayMs).toISOString(),
        options: { allowActAtOnce: options.allowActAtOnce === true },
      })
      const sealed = await sealedApproval(approval, key)
      const out = options.out ?? approvalFileOf(file)
      attemptWrite('The approval', () => writeFileSync(out, sealed))
      process.stdout.write(
        `Plan ${plan.id} is approved by ${clean(approverOf(approval))} until ${approval.until}: ${out}\n`,
      )
      if (!store) return
      await keepPlan(store, plan)
      process.stdout.write(`Kept with its plan: ${await keepApproval(store, approval, key)}\n`)
    })
}

/* `highwater approve-policy`: approves one text of the policy, under which the function `remediate` may change nodes. */

interface ApprovePolicyOptions {
  by: string
  store: string
  until?: string
}

const defaultDays = 90

export function approvePolicyCommand() {
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
