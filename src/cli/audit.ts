/** `highwater audit`: read a fleet or a snapshot, replay, judge, report. */

import { createWriteStream, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Keep } from '#base/keep.ts'
import { OperatorError } from '#base/operator-error.ts'
import { columnsOf, didYouMean, matchesGlob, padTo } from '#base/text.ts'
import { rules } from '#judge/rules/index.ts'
import { type Severity, severities } from '#model/finding.ts'
import { alwaysFormats, type FormatId, type MoreFormat, moreFormats } from '#model/format-id.ts'
import { selectsEverything } from '#model/input/record.ts'
import { type LanguageId, languageIds } from '#model/language.ts'
import type { Policy } from '#model/policy.ts'
import { type AuditResult, audit } from '#pipeline/audit/audit.ts'
import { openSecondReading, rejectUnknownNames } from '#pipeline/audit/fleet.ts'
import { openKeptFile } from '#pipeline/audit/kept-file.ts'
import { audiencesOf } from '#pipeline/audit/publication.ts'
import { openHistory, scopeOf } from '#pipeline/history/history.ts'
import { planBeside } from '#pipeline/remediation/plan/plan.ts'
import { fileReaders } from '#pipeline/service/run-channels.ts'
import { folder } from '#publish/channels/into-store.ts'
import { formats, formatsWith } from '#report/formats/index.ts'
import { type Language, languages } from '#report/languages/language.ts'
import { firstStep } from '#report/parts/steps.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { makeFolder } from './folder.ts'
import { nodeTable, tableFormats } from './node-table.ts'
import {
  addFailOptions,
  addFleetOptions,
  addFormatOption,
  exitAction,
  type FailOptions,
  type FleetOptions,
  parseText,
  policyOf,
  repeatableOption,
  selectionOf,
  snapshotOption,
} from './options.ts'
import { openReading } from './source.ts'
import { storeAt } from './store.ts'
import { summaryText } from './summary.ts'
import { auditExitCode, clean, isSnapshotOfNothing, screenOf, version } from './terminal.ts'

export interface AuditOptions extends FleetOptions, FailOptions {
  snapshot?: string
  out: string
  store?: string
  format: FormatId | 'text' | (typeof tableFormats)[number]
  outputs: MoreFormat[]
  rule: string[]
  skipRule: string[]
  severity?: Severity
  allNodes?: boolean
  plan?: boolean
  growth?: boolean
  language?: LanguageId
}

const snapshotName = 'snapshot.ndjson.gz'

const help = `
Examples:
  highwater audit                                all EKS clusters of the region
  highwater audit --cluster prod --node ip-10-0-1-23.ec2.internal
  highwater audit --kubeconfig ~/.kube/config --context staging
  highwater audit --snapshot highwater-out/${snapshotName} --format json \\
    --fail-on high
  highwater audit -o wide                        one row per node

Exit codes: 0 nothing at or above --fail-on; 1 findings at or above it; 2 bad
usage or bad input; 3 something was not read (--fail-on-unread); 4 failed,
nothing published.`

export function auditCommand() {
  const command = new Command('audit')
    .optionsGroup('Output:')
    .addOption(
      snapshotOption('audit a saved snapshot instead of a live fleet; - reads it from stdin'),
    )
    .option(
      '--out <dir>',
      `folder for ${formats.map(({ name }) => name).join(', ')}, email.html, email.txt, ${snapshotName}`,
      'highwater-out',
    )
    .addOption(
      new Option(
        '--outputs <formats>',
        `formats to write beside page and findings, separated by commas: ${moreFormats.join(', ')}`,
      )
        .argParser(parseOutputs)
        .default([], "the policy's"),
    )
    .addOption(
      new Option(
        '--language <language>',
        "language of page, mail and summary (default: the policy's)",
      ).choices(languageIds),
    )
    .option(
      '--store <place>',
      `keep this run there and compare it with the last run: s3://bucket/prefix, or a folder`,
      parseText,
    )
  addJudgementOptions(command)
    .optionsGroup('Output:')
    .option('--plan', 'also make a plan of all that can be fixed, as plan.json; changes nothing')
    .addOption(
      new Option(
        '--growth',
        'read the nodes with the least headroom again after a minute, for a first rate of growth',
      ).conflicts('snapshot'),
    )
    .option('--all-nodes', 'name every node of a finding, not only the first 20')
  return addFormatOption(addFleetOptions(command), [
    'text',
    ...tableFormats,
    ...alwaysFormats,
    ...moreFormats,
  ])
    .addHelpText('after', help)
    .action(exitAction(runAudit))
}

/** Which findings count, and for which exit code. */
const addJudgementOptions = (command: Command) =>
  addFailOptions(command.optionsGroup('When to fail:'))
    .optionsGroup('Rules:')
    .addOption(
      ruleOption('--rule <id>', 'only this rule; repeatable, * stands for any characters', 'all'),
    )
    .addOption(
      ruleOption('--skip-rule <id>', 'all rules except this one; repeatable, with *', 'none'),
    )
    .addOption(
      new Option('--severity <severity>', 'only findings that are at least this severe').choices(
        severities,
      ),
    )

const ruleOption = (flags: string, description: string, preset: string) =>
  repeatableOption(flags, description, preset, parseRule)

function parseRule(pattern: string) {
  const ids = rules.map(({ id }) => id)
  if (!ids.some(id => matchesGlob(pattern, id)))
    throw new InvalidArgumentError(`There is no rule of this name.${didYouMean(pattern, ids)}`)
  return pattern
}

/** The rules that the options select. */
function chosenRules({ rule, skipRule }: AuditOptions) {
  const matchesAny = (patterns: string[], id: string) => patterns.some(one => matchesGlob(one, id))
  return rules.filter(
    ({ id }) => (rule.length === 0 || matchesAny(rule, id)) && !matchesAny(skipRule, id),
  )
}

/** Whether the run is partial: a partial run is not recorded, and only its nodes are compared. */
const isPartialRun = (options: AuditOptions) =>
  !selectsEverything(selectionOf(options)) ||
  options.rule.length + options.skipRule.length > 0 ||
  options.severity !== undefined

function parseOutputs(text: string, before: MoreFormat[]) {
  const asked = new Set(text.split(',').map(id => id.trim()))
  const strange = [...asked].filter(id => !moreFormats.some(format => format === id))
  if (strange.length > 0)
    throw new InvalidArgumentError(
      `There is no format ${strange.join(', ')}. There are ${moreFormats.join(', ')}.`,
    )
  return [...before, ...moreFormats.filter(id => asked.has(id))]
}

async function runAudit(given: AuditOptions) {
  const options = { ...given, snapshot: await snapshotFile(given.snapshot) }
  if (options.failOn?.isNew === true && options.store === undefined)
    throw new OperatorError(
      '--fail-on new:SEVERITY needs --store, where earlier runs are remembered',
    )
  const kept = openKeptFile()
  try {
    const policy = auditPolicyOf(options)
    const result = await auditInto(options, policy, kept.keep)
    show(result, given, languages[policy.report.language])
    return auditExitCode(result, options)
  } finally {
    kept.close()
  }
}

/** Writes what the options ask for to standard output. */
function show(result: AuditResult, options: AuditOptions, language: Language) {
  const { format, verbose, quiet } = options
  const isForPeople = format === 'text'
  if (format === 'table' || format === 'wide')
    process.stdout.write(nodeTable(result.report, format === 'wide', language))
  const file = result.files.find(({ name }) =>
    formatsWith(moreFormats).some(({ id, name: own }) => id === format && own === name),
  )
  const { hasColour } = screenOf(process.stdout)
  const text = isForPeople
    ? summaryText(result, { hasColour, isVerbose: verbose, isQuiet: quiet, language })
    : (file?.body ?? '')
  process.stdout.write(text)
  for (const { channel, location, error } of result.deliveries) {
    const failed = channel === 'history' ? 'could not be read or written' : 'could not be written'
    if (error !== null)
      process.stderr.write(
        `The ${channel === 'folder' ? `folder ${options.out}` : channel} ${failed}: ${error}\n`,
      )
    else if (isForPeople)
      process.stdout.write(
        placesText(
          location ?? '',
          options.snapshot === '-' ? undefined : options.snapshot,
          result,
          language,
          text,
        ),
      )
  }
}

function auditPolicyOf(options: AuditOptions): Policy {
  const policy = policyOf(options)
  const language = options.language ?? policy.report.language
  return { ...policy, report: { ...policy.report, language } }
}

/** A longer command is not printed twice. Nor is one that changes something: its step says what is lost. */
const longestTwice = 200

/** The report as a link that terminals open, the snapshot, and the first command of the worst cause. */
function placesText(
  folder: string,
  saved: string | undefined,
  { report: { document } }: AuditResult,
  { words }: Language,
  above: string,
) {
  const { report, snapshot, nextCommand, commandAbove } = words.terminal
  const wide = Math.max(...[report, snapshot, nextCommand].map(columnsOf))
  const command = firstStep(document.causes?.[0]?.steps ?? [])?.commands[0]
  const line = (name: string, place: string) => `${padTo(name, wide)} ${place}\n`
  const page = pathToFileURL(resolve(folder, 'report.html')).href
  const text = clean(command?.command ?? '', 1000)
  const isAlone = command?.effect === 'reads' || command?.effect === 'plans'
  const isShown = (text.length > longestTwice || !isAlone) && above.includes(text)
  const next = text === '' ? '' : line(nextCommand, isShown ? commandAbove : text)
  return `${line(report, page)}${line(snapshot, saved ?? join(folder, snapshotName))}${next}`
}

const isFileFormat = (format: AuditOptions['format']): format is FormatId =>
  format !== 'text' && format !== 'table' && format !== 'wide'

/** Audits by the options and writes all results into `options.out`. @throws OperatorError and the errors of the sources. */
async function auditInto(options: AuditOptions, policy: Policy, keep: Keep) {
  const reading = openReading(options)
  const { signal, progress } = reading
  const startMs = performance.now()
  const isSaved = options.snapshot !== undefined
  const secondReading = options.growth
    ? openSecondReading({
        policy,
        selection: selectionOf(options),
        signal,
        remainingMs: () => startMs + options.deadline - performance.now(),
        onWait: progress.wait,
      })
    : undefined
  try {
    const result = await audit(reading.records(secondReading?.expect), {
      source: isSaved ? 'snapshot' : 'live',
      version,
      policy,
      rules: chosenRules(options),
      leastSeverity: options.severity,
      formats: formatsWith(
        [
          ...policy.report.formats,
          ...options.outputs,
          ...(isFileFormat(options.format) ? [options.format] : []),
        ],
        languages[policy.report.language],
      ),
      channels: [folder(options.out)],
      audiences: audiencesOf(policy.report, owner => fileReaders(policy.report, owner)),
      snapshot: snapshotWriter(options),
      history: await historyOf(options, policy),
      options: { allNodes: options.allNodes, keep },
      isPart: isPartialRun(options),
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
      secondReading,
      onNode: reading.nodeRead,
    })
    if (isSnapshotOfNothing(result))
      process.stderr.write(
        `${options.snapshot} has no node that could be audited${options.cluster.length > 0 ? ' in the chosen clusters' : ''}\n`,
      )
    return result
  } finally {
    reading.end()
  }
}

/** Runs are in the order in which their nodes were read, a saved run among live runs. */
async function historyOf(options: AuditOptions, policy: Policy) {
  if (options.store === undefined) return null
  const { snapshot, kubeconfig, context, allContexts, inCluster } = options
  const others = [snapshot, kubeconfig, context[0], allContexts, inCluster]
  const isEnumerated = others.every(one => one === undefined)
  return openHistory({
    store: await storeAt(options.store),
    isWhole: !isPartialRun(options),
    isComparable: options.severity === undefined,
    scope: isEnumerated ? scopeOf(policy) : null,
    now: new Date(),
    ...policy.history,
  })
}

/** The snapshot is written beside the report, unless that file is the audited file itself. */
function snapshotWriter({ out, snapshot }: AuditOptions) {
  const target = join(out, snapshotName)
  const areThere = snapshot !== undefined && existsSync(target) && existsSync(snapshot)
  if (areThere && realpathSync(target) === realpathSync(snapshot)) return null
  makeFolder(out)
  return openSnapshot(target)
}

/** The path of the snapshot. For `-`: of a private copy of standard input, which exists until the process ends. */
async function snapshotFile<Path extends string | undefined>(path: Path) {
  if (path !== '-') return path
  const folder = mkdtempSync(join(tmpdir(), 'highwater-stdin-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'snapshot')
  await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }))
  return file
}
