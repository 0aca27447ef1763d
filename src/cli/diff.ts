/** `highwater diff`: what changed between two saved audits. */
import { Command } from 'commander'
import { diff } from '#pipeline/diff.ts'
import { diffText } from './diff-text.ts'
import { diffExitCode } from './exit-code.ts'
import {
  addFormatOption,
  addPolicyOption,
  addSelectionOptions,
  type FailOn,
  failOnOption,
  failOnUnreadOption,
  jsonText,
  policyFile,
  type SelectionOptions,
  selectionOf,
  type UnreadLimit,
} from './options.ts'
import { screenOf } from './terminal.ts'
import { version } from './version.ts'

interface DiffOptions extends SelectionOptions {
  policy?: string
  format: 'text' | 'json'
  failOn: FailOn | null
  failOnUnread: UnreadLimit
}

export function diffCommand(): Command {
  const command = new Command('diff')
    .argument('<old>', 'snapshot.ndjson.gz or findings.json of an earlier audit')
    .argument('<new>', 'likewise, of a later one')
    .addOption(failOnOption())
    .addOption(failOnUnreadOption())
  return addFormatOption(addPolicyOption(addSelectionOptions(command)))
    .addHelpText(
      'after',
      `
Snapshots are judged by today's rules and policy, so two snapshots differ only in their
data. A findings.json keeps the rules and policy of its day. It lists at most 20 nodes
of a finding (all with audit --all-nodes); the output names what stays open because of
this. --fail-on counts new and worse findings.

Examples:
  highwater diff yesterday.ndjson.gz today.ndjson.gz
  highwater diff yesterday/findings.json today/snapshot.ndjson.gz --fail-on high
  highwater diff before.ndjson.gz after.ndjson.gz --nodegroup general --format json

Exit codes: 0 nothing new or worse at or above --fail-on; 1 something is; 2 bad usage or
bad input; 3 a part of either audit was not read (--fail-on-unread); 4 failed.`,
    )
    .action(async (oldFile: string, newFile: string, options: DiffOptions) => {
      const result = await diff(oldFile, newFile, {
        policy: policyFile(options.policy),
        selection: selectionOf(options),
        version,
      })
      process.stdout.write(
        options.format === 'json'
          ? jsonText(result.document)
          : diffText(result.document, screenOf(process.stdout)),
      )
      process.exitCode = diffExitCode(result, options)
    })
}
