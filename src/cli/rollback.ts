/** `highwater rollback`: rolls back what a run has changed, by the run's journal. */
import { Command } from 'commander'
import { takeBack } from '#pipeline/remediation/run/remediate.ts'
import { addPlaceOptions, parseDeadline } from './options.ts'
import {
  addStoreOption,
  printRun,
  type RemediationOptions,
  withRemediation,
} from './remediation.ts'

export function rollbackCommand(): Command {
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
