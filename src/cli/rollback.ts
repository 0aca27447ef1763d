/** `highwater rollback`: what a run has changed is put back, by its journal. */
import { Command, Option } from 'commander'
import { takeBack } from '#pipeline/remediation/remediate.ts'
import { remediationExitCode } from './exit-code.ts'
import { addPlaceOptions, parseDeadline } from './options.ts'
import { addStoreOption, type RemediationOptions, withRemediation } from './remediation.ts'
import { remediationText } from './remediation-text.ts'
import { screenOf } from './terminal.ts'

export function rollbackCommand(): Command {
  const command = new Command('rollback')
    .argument('<run>', 'its name: the first 16 characters of its plan’s digest')
    .option(
      '--despite-errors',
      'go on though more nodes than the policy allows are not well since they were put back',
    )
  return addPlaceOptions(addStoreOption(command))
    .addOption(
      new Option('--deadline <duration>', 'wait for nothing after this long, e.g. 90m').argParser(
        parseDeadline,
      ),
    )
    .addHelpText(
      'after',
      `
Works from the journal alone, and may be called again: each node knows what it has put back. A node
that somebody else has written to since is left alone, and named. Each node is read anew until it is
seen to run as before. One goes first, then more and more, up to remediation.maxConcurrency; where more
than remediation.maxErrors are not well since they were put back, it stops, and goes on when those are
well, or with --despite-errors. Windows, alarms and budgets hold nothing back: what is being taken back
is worse.

Example:
  highwater rollback 5f2c0a9be1d34c77 --store s3://BUCKET/highwater

Exit codes: 0 nothing of the run is left on any node; 1 some could not be put back; 2 there is no such
run, or bad usage; 3 it is not at its end, or not all was seen to be back; 4 it broke off.`,
    )
    .action(async (run: string, options: RemediationOptions & { despiteErrors?: boolean }) => {
      const ended = await withRemediation(options, live =>
        takeBack(run, { ...live, despiteErrors: options.despiteErrors === true }),
      )
      process.stdout.write(
        options.format === 'json'
          ? `${JSON.stringify(ended, null, 1)}\n`
          : remediationText(ended, null, options.store, screenOf(process.stdout)),
      )
      process.exitCode = remediationExitCode(ended, 'rolled-back')
    })
}
