/** `highwater apply`: applies an approved plan wave by wave and verifies each node. */

import { Command, Option } from 'commander'
import type { OpenedApproval } from '#model/plan.ts'
import { remediate } from '#pipeline/remediation/remediate.ts'
import { openedPersonsApproval, parsePlan } from '#remediate/plan/file.ts'
import { remediationExitCode } from './exit-code.ts'
import { keyFor } from './keys.ts'
import { addPlaceOptions, parseDeadline, parseText, textOf } from './options.ts'
import { addStoreOption, type RemediationOptions, withRemediation } from './remediation.ts'
import { remediationText } from './remediation-text.ts'
import { screenOf } from './terminal.ts'

interface ApplyArguments extends RemediationOptions {
  approval: string
  resume?: boolean
  skipChanged?: boolean
}

export function applyCommand(): Command {
  const command = new Command('apply')
    .argument('<plan>', 'the plan that was approved')
    .requiredOption('--approval <file>', 'what highwater approve has written', parseText)
    .option('--resume', 'go on with a run of this plan that is not at its end')
    .option(
      '--skip-changed',
      'pass over nodes that have changed since the plan was made; else they refuse it',
    )
  return addPlaceOptions(addStoreOption(command))
    .addOption(
      new Option(
        '--deadline <duration>',
        'send nothing more after this long, and pause, e.g. 90m, 8h',
      ).argParser(parseDeadline),
    )
    .addHelpText(
      'after',
      `
One node of each cohort goes first; then the plan's waves, a few nodes of a cluster at a time. Each
is verified before more are sent. When more fail than the policy allows (remediation.maxErrors, by
default none), the run stops and its wave is taken back. Ctrl-C pauses; --resume goes on. A plan is
applied once: a second time nothing is sent. The nodes' instances need SSM agent 3.3.2746.0 or later,
and the stack's documents (--param='remediation=on').

Examples:
  highwater apply plan.json --approval plan.approval.json --store s3://BUCKET/highwater
  highwater apply plan.json --approval plan.approval.json --store s3://BUCKET/highwater --resume
  highwater rollback RUN --store s3://BUCKET/highwater

Exit codes: 0 every node is verified, or pruned, or every object deleted; 1 some failed, or the run was
stopped and its wave taken back; 2 refused before anything was sent, or bad usage; 3 it is paused, or
passed nodes or objects over; 4 it broke off.`,
    )
    .action(async (file: string, options: ApplyArguments) => {
      process.exitCode = await runApply(file, options)
    })
}

async function runApply(file: string, options: ApplyArguments): Promise<number> {
  const plan = parsePlan(textOf(file, 'plan'), file)
  const run = await withRemediation({ ...options, plannedModes: plan.snapshot.modes }, async live =>
    remediate(plan, await approvalOf(options), {
      ...live,
      resume: options.resume === true,
      skipChanged: options.skipChanged === true,
    }),
  )
  process.stdout.write(
    options.format === 'json'
      ? `${JSON.stringify(run, null, 1)}\n`
      : remediationText(run, plan, options.store, screenOf(process.stdout)),
  )
  return remediationExitCode(run, 'verified')
}

const approvalOf = async ({ approval, store }: ApplyArguments): Promise<OpenedApproval> =>
  openedPersonsApproval(textOf(approval, 'approval'), approval, await keyFor('approvals', store))
