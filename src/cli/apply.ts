/** `highwater apply` and `rollback`: change nodes by an approved plan, and take it back. */

import { Command } from 'commander'
import { remediate, takeBack } from '#pipeline/remediation/run/remediate.ts'
import { openedPersonsApproval, parsePlan } from '#remediate/plan/file.ts'
import { addPlaceOptions, exitAction, parseDeadline, parseText, textOf } from './options.ts'
import {
  addStoreOption,
  printRun,
  type RemediationOptions,
  withRemediation,
} from './remediation.ts'
import { keyFor } from './store.ts'

interface ApplyArguments extends RemediationOptions {
  approval: string
  resume?: boolean
  skipChanged?: boolean
}

export function applyCommand() {
  const command = new Command('apply')
    .argument('<plan>', 'the approved plan file')
    .requiredOption('--approval <file>', 'what highwater approve has written', parseText)
    .option('--resume', 'continue an unfinished run of this plan')
    .option(
      '--skip-changed',
      'skip nodes that changed since the plan; by default the run refuses them',
    )
  return addPlaceOptions(addStoreOption(command))
    .option(
      '--deadline <duration>',
      'pause after this long and send nothing more, e.g. 90m, 8h',
      parseDeadline,
    )
    .addHelpText(
      'after',
      `
One node of each cohort changes first, then the plan's waves, a few nodes of a
cluster at a time. Each node is verified before the next. If more nodes fail
than the policy allows (remediation.maxErrors, default 0), the run stops and
rolls back its wave. Ctrl-C pauses; --resume continues. A plan is applied once;
a second apply sends nothing. Instances need SSM agent 3.3.2746.0 or later, and
the stack's documents (--param='remediation=on').

Examples:
  highwater apply plan.json --approval plan.approval.json \\
    --store s3://BUCKET/highwater
  highwater apply plan.json --approval plan.approval.json \\
    --store s3://BUCKET/highwater --resume
  highwater rollback RUN --store s3://BUCKET/highwater

Exit codes: 0 every node is verified or pruned; 1 some failed, or the run
stopped and rolled back its wave; 2 refused before anything was sent, or bad
usage; 3 paused, or nodes were skipped; 4 the run broke off.`,
    )
    .action(exitAction(runApply))
}

async function runApply(file: string, options: ApplyArguments) {
  const plan = parsePlan(textOf(file, 'plan'), file)
  const run = await withRemediation({ ...options, plannedModes: plan.snapshot.modes }, async live =>
    remediate(plan, await approvalOf(options), {
      ...live,
      resume: options.resume === true,
      skipChanged: options.skipChanged === true,
    }),
  )
  return printRun(run, plan, options, 'verified')
}

const approvalOf = async ({ approval, store }: ApplyArguments) =>
  openedPersonsApproval(textOf(approval, 'approval'), approval, await keyFor('approvals', store))

/* `highwater rollback`: rolls back what a run has changed, by the run's journal. */

export function rollbackCommand() {
  const command = new Command('rollback')
    .argument('<run>', 'its name: the first 16 characters of its plan’s digest')
    .option(
      '--despite-errors',
      'continue although more nodes than the policy allows are not healthy after their rollback',
    )
  return addPlaceOptions(addStoreOption(command))
    .option('--deadline <duration>', 'stop waiting after this long, e.g. 90m', parseDeadline)
    .addHelpText(
      'after',
      `
Uses the journal only, and may run again: each node knows what it restored. A
node whose file was changed by another program since is not changed, and is
listed. Each node is read again until it runs as before. One node goes first,
then more, up to remediation.maxConcurrency. If more than remediation.maxErrors
nodes are not healthy, the rollback stops. It continues once they are healthy,
or with --despite-errors. Windows, alarms and disruption budgets do not block a
rollback.

Example:
  highwater rollback 5f2c0a9be1d34c77 --store s3://BUCKET/highwater

Exit codes: 0 every node is restored; 1 some could not be restored; 2 no such
run, or bad usage; 3 not finished, or not all nodes were seen restored; 4 the
rollback broke off.`,
    )
    .action(async (run: string, options: RemediationOptions & { despiteErrors?: boolean }) => {
      const ended = await withRemediation(options, live =>
        takeBack(run, { ...live, despiteErrors: options.despiteErrors === true }),
      )
      process.exitCode = printRun(ended, null, options, 'rolled-back')
    })
}
