/** `highwater audit`: read a fleet or a snapshot, replay, judge, report. */

import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { rules } from '#judge/rules/index.ts'
import { messageOf } from '#model/error-message.ts'
import type { Severity } from '#model/finding.ts'
import { alwaysFormats, type FormatId, type MoreFormat, moreFormats } from '#model/format-id.ts'
import { type LanguageId, languageIds } from '#model/language.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Policy } from '#model/policy.ts'
import { selectsEverything } from '#model/selection.ts'
import { columnsOf, padTo } from '#model/text-width.ts'
import { type AuditResult, audit } from '#pipeline/audit.ts'
import { type History, openHistory, scopeOf } from '#pipeline/history/history.ts'
import { planBeside } from '#pipeline/plan/beside.ts'
import { audiencesOf } from '#pipeline/publication.ts'
import { rejectUnknownNames } from '#pipeline/selection-check.ts'
import { unmailed } from '#pipeline/service/ways.ts'
import { folder } from '#publish/channels/folder.ts'
import { formats, formatsWith } from '#report/formats/index.ts'
import { languages } from '#report/languages/index.ts'
import type { Language } from '#report/languages/language.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { auditExitCode, isSnapshotOfNothing } from './exit-code.ts'
import {
  addFleetOptions,
  type FleetOptions,
  failOnOption,
  parseText,
  policyOf,
  runSignal,
  selectionOf,
} from './options.ts'
import { openProgress } from './progress.ts'
import { liveRecords, savedRecords } from './source.ts'
import { storeAt } from './store.ts'
import { summaryText } from './summary.ts'
import { version } from './version.ts'

export interface AuditOptions extends FleetOptions {
  snapshot?: string
  out: string
  store?: string
  format: FormatId | 'text'
  outputs: MoreFormat[]
  failOn: Severity | 'none'
  allNodes?: boolean
  plan?: boolean
  language?: LanguageId
}

const snapshotName = 'snapshot.ndjson.gz'

export function auditCommand(): Command {
  const command = new Command('audit')
    .option('--snapshot <file>', 'audit a saved snapshot instead of a live fleet', parseText)
    .option(
      '--out <dir>',
      `folder for ${formats.map(({ name }) => name).join(', ')}, email.html, email.txt, ${snapshotName}`,
      'highwater-out',
    )
    .addOption(
      new Option('--format <format>', 'what to print')
        .choices(['text', ...alwaysFormats, ...moreFormats])
        .default('text'),
    )
    .addOption(
      new Option(
        '--outputs <formats>',
        `what to write beside page and findings, separated by commas: ${moreFormats.join(', ')}`,
      )
        .argParser(parseOutputs)
        .default([], "the policy's"),
    )
    .addOption(
      new Option(
        '--language <language>',
        "of page, e-mail and summary (default: the policy's)",
      ).choices(languageIds),
    )
    .option(
      '--store <place>',
      `remember this run there, and compare it with the one before: s3://bucket/prefix, or a folder`,
      parseText,
    )
    .addOption(failOnOption())
    .option('--plan', 'also make a plan of all that can be fixed, as plan.json; changes nothing')
    .option('--all-nodes', 'name every node of a finding, not only the first 20')
  return addFleetOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  highwater audit                                every EKS cluster of this account and region
  highwater audit --cluster prod --node ip-10-0-1-23.ec2.internal
  highwater audit --kubeconfig ~/.kube/config --context staging
  highwater audit --snapshot highwater-out/${snapshotName} --format json --fail-on high

Exit codes: 0 nothing at or above --fail-on; 1 findings at or above it; 2 bad usage or
bad input; 3 something could not be read; 4 failed, nothing published.`,
    )
    .action(async (options: AuditOptions) => {
      process.exitCode = await runAudit(options)
    })
}

function parseOutputs(text: string, before: MoreFormat[]): MoreFormat[] {
  const asked = text.split(',').map(id => id.trim())
  const strange = asked.filter(id => !isMoreFormat(id))
  if (strange.length > 0)
    throw new InvalidArgumentError(
      `There is no format ${strange.join(', ')}. There are ${moreFormats.join(', ')}.`,
    )
  return [...before, ...asked.filter(isMoreFormat)]
}

const isMoreFormat = (id: string): id is MoreFormat => moreFormats.some(format => format === id)

async function runAudit(options: AuditOptions): Promise<number> {
  const policy = auditPolicyOf(options)
  const result = await auditInto(options, policy)
  const language = languages[policy.report.language]
  const isForPeople = options.format === 'text'
  const file = result.files.find(
    ({ name }) =>
      isForPeople ||
      formatsWith(moreFormats).some(({ id, name: own }) => id === options.format && own === name),
  )
  process.stdout.write(
    isForPeople
      ? summaryText(result, process.stdout.isTTY && process.stdout.hasColors(), language)
      : (file?.body ?? ''),
  )
  for (const { channel, location, error } of result.deliveries) {
    if (error !== null)
      process.stderr.write(
        `The ${channel === 'folder' ? `folder ${options.out}` : channel} could not be written: ${error}\n`,
      )
    else if (isForPeople)
      process.stdout.write(placesText(location ?? '', options.snapshot, language))
  }
  return auditExitCode(result, options.failOn)
}

function auditPolicyOf(options: AuditOptions): Policy {
  const policy = policyOf(options)
  return {
    ...policy,
    report: { ...policy.report, language: options.language ?? policy.report.language },
  }
}

function placesText(
  folder: string,
  snapshot: string | undefined,
  { words: { terminal } }: Language,
): string {
  const places = {
    [terminal.report]: join(folder, 'report.html'),
    [terminal.snapshot]: snapshot ?? join(folder, snapshotName),
  }
  const wide = Math.max(...Object.keys(places).map(columnsOf))
  return Object.entries(places)
    .map(([name, place]) => `${padTo(name, wide)} ${place}\n`)
    .join('')
}

/** Audits as the options say and writes everything into `options.out`. @throws OperatorError and the errors of the sources. */
async function auditInto(options: AuditOptions, policy: Policy): Promise<AuditResult> {
  const { signal, end } = runSignal(options.deadline)
  const progress = openProgress(process.stderr)
  const isSaved = options.snapshot !== undefined
  try {
    const source = isSaved
      ? savedRecords(options.snapshot ?? '', options, signal)
      : liveRecords(options, {
          signal,
          onNodes: ({ cluster, nodes }) => progress.expect(cluster, nodes),
        })
    const result = await audit(source, {
      source: isSaved ? 'snapshot' : 'live',
      version,
      policy,
      rules,
      formats: formatsWith(
        [
          ...policy.report.formats,
          ...options.outputs,
          ...(options.format === 'text' ? [] : [options.format]),
        ],
        languages[policy.report.language],
      ),
      channels: [folder(options.out)],
      audiences: audiencesOf(policy.report, owner => unmailed(policy.report, owner)),
      snapshot: snapshotWriter(options),
      history: await historyOf(options, policy),
      options: { allNodes: options.allNodes },
      isPart: !selectsEverything(selectionOf(options)),
      plan: options.plan
        ? snapshot =>
            planBeside(snapshot ?? options.snapshot ?? null, {
              policy,
              selection: selectionOf(options),
              version,
              signal,
            })
        : undefined,
      verify: (nodes, areListsWhole) =>
        rejectUnknownNames(selectionOf(options), nodes, areListsWhole),
      onNode: isSaved ? undefined : () => progress.nodeRead(),
    })
    if (isSnapshotOfNothing(result))
      process.stderr.write(
        `${options.snapshot} has no node that could be audited${options.cluster.length > 0 ? ' in the chosen clusters' : ''}\n`,
      )
    return result
  } finally {
    progress.end()
    end()
  }
}

/** Runs are in the order in which their nodes were read, a saved one among the live ones. */
async function historyOf(options: AuditOptions, policy: Policy): Promise<History | null> {
  if (options.store === undefined) return null
  const { snapshot, kubeconfig, context, inCluster } = options
  const isEnumerated =
    snapshot === undefined &&
    kubeconfig === undefined &&
    context.length === 0 &&
    inCluster === undefined
  return openHistory({
    store: await storeAt(options.store),
    isWhole: selectsEverything(selectionOf(options)),
    scope: isEnumerated ? scopeOf(policy) : null,
    ...policy.history,
  })
}

/** Beside the report, unless the audit is of that very file. */
function snapshotWriter({ out, snapshot }: AuditOptions) {
  const target = join(out, snapshotName)
  if (
    snapshot !== undefined &&
    existsSync(target) &&
    existsSync(snapshot) &&
    realpathSync(target) === realpathSync(snapshot)
  )
    return null
  try {
    mkdirSync(out, { recursive: true })
  } catch (error) {
    throw new OperatorError(`The folder ${resolve(out)} cannot be made: ${messageOf(error)}`, {
      isBadInput: false,
    })
  }
  return openSnapshot(target)
}
