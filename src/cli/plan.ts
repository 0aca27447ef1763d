/** `highwater plan`: what would change on which nodes, and the effects. The command changes nothing. */

import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { OperatorError } from '#base/operator-error.ts'
import { isRawObject, parsedJson } from '#base/raw-object.ts'
import { cut, pageOf, shellWord } from '#base/text.ts'
import {
  actsAtOnce,
  type ConfigurationChange,
  type Plan,
  type PlanCohort,
  type PlanStep,
} from '#model/plan.ts'
import { keepFleet } from '#pipeline/audit/saved/kept-records.ts'
import { makePlan, type PlanResult } from '#pipeline/remediation/plan/plan.ts'
import type { PruneWish } from '#pipeline/remediation/plan/prune.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { approvalFileOf } from './approve.ts'
import { attemptWrite } from './folder.ts'
import {
  addFleetOptions,
  addFormatOption,
  exitAction,
  parseText,
  policyOf,
  type ReadingOptions,
  repeatableOption,
  selectionOf,
  snapshotOption,
  textOf,
} from './options.ts'
import { liveRecords, openReading } from './source.ts'
import {
  clean,
  exitCode,
  firstLines,
  firstNodes,
  nodesOf,
  reasonLines,
  type Screen,
  type Sheet,
  screenOf,
  sheetOf,
  shownNodes,
  version,
} from './terminal.ts'

interface PlanOptions extends ReadingOptions {
  rule: string[]
  finding: string[]
  set: ConfigurationChange[]
  pruneImages?: boolean
  to?: number
  allowActAtOnce?: boolean
  out: string
  force?: boolean
}

export function planCommand() {
  const command = new Command('plan')
    .optionsGroup('What to plan:')
    .addOption(snapshotOption())
    .addOption(
      repeatableOption(
        '--rule <id>',
        'fix the findings of this rule; repeatable',
        'all that a plan may fix',
        parseText,
      ),
    )
    .addOption(
      repeatableOption('--finding <id>', 'fix this finding; repeatable', 'likewise', parseText),
    )
    .addOption(
      repeatableOption(
        '--set <path=value>',
        'set this field; null takes it away; alone it plans nothing else',
        'none',
        parseChange,
      ),
    )
    .option(
      '--prune-images',
      'lower thresholds for a while, so that kubelets delete unused images; a separate plan',
    )
    .option(
      '--to <percent>',
      'with --prune-images: usage of the image filesystem to reach (default: imageGCLowThresholdPercent)',
      parsePercent,
    )
    .option('--allow-act-at-once', 'also plan changes after which a kubelet acts at once')
    .optionsGroup('Output:')
    .option('--out <file>', 'where the plan is written', parseText, 'plan.json')
    .option('--force', 'overwrite a plan that is there and may be approved')
  return addFormatOption(addFleetOptions(command))
    .addHelpText(
      'after',
      `
A plan needs the files and flags of each node (mode ssm or both). It contains
the exact bytes of every file. A person approves its digest.

Examples:
  highwater plan --snapshot snapshot.ndjson.gz
  highwater plan --snapshot snapshot.ndjson.gz \\
    --rule eviction-before-image-gc --nodegroup general
  highwater plan --snapshot snapshot.ndjson.gz --rule log-rotation-drift
  highwater plan --snapshot snapshot.ndjson.gz --rule required-image-at-risk
  highwater plan --cluster prod --nodegroup general --prune-images --to 60
  highwater plan --cluster prod --set imageGCHighThresholdPercent=70 \\
    --set imageGCLowThresholdPercent=50
  highwater approve plan.json --digest DIGEST --by "Ada Lovelace"

Exit codes: 0 the plan is written; 2 bad usage, or no kubelet accepts the
change; 3 the plan is written, but some nodes or parts of the input could not be
read; 4 failed.`,
    )
    .action(exitAction(runPlan))
}

/** The high threshold is one percent above; a high threshold of 100 would switch image GC off. */
function parsePercent(text: string) {
  const percent = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (percent < 1 || percent > 98)
    throw new InvalidArgumentError('It takes a whole number from 1 to 98.')
  return percent
}

function pruneOf({ pruneImages, to }: PlanOptions): PruneWish | null {
  if (pruneImages !== true && to !== undefined)
    throw new OperatorError('--to says how far images are pruned: it goes with --prune-images')
  return pruneImages === true ? { toPercent: to ?? null } : null
}

/** Makes the plan from a snapshot file. */
type Planner = (file: string, signal?: AbortSignal) => Promise<PlanResult>

function planOf(options: PlanOptions): Planner {
  const { rule: rules, finding: findings, set: changes } = options
  const [policy, selection, prune] = [policyOf(options), selectionOf(options), pruneOf(options)]
  const { allowActAtOnce = false } = options
  const wanted = { rules, findings, changes, prune, allowActAtOnce, selection, policy, version }
  return (file, signal) => makePlan(file, { ...wanted, signal })
}

async function runPlan(options: PlanOptions): Promise<number> {
  const planner = planOf(options)
  const made = await withSnapshot(options, planner)
  const { inputErrors, unread } = made
  const plan = planInPlace(options, made.plan) ?? made.plan
  const text = planText(plan)
  attemptWrite('The plan', () => writeFileSync(options.out, text))
  const printed = { file: options.out, place: placeArguments(options) }
  process.stdout.write(
    options.format === 'json' ? text : planTextFor(plan, printed, screenOf(process.stdout)),
  )
  for (const error of inputErrors.slice(0, 10))
    process.stderr.write(`${options.snapshot ?? 'the fleet'}: ${error}\n`)
  return inputErrors.length > 0 || unread > 0 ? exitCode.unread : exitCode.ok
}

/**
 * An approval names the plan's digest. If the approved plan were overwritten, it would be lost. Null: nothing is lost.
 * @returns the plan that is there, if it does the same: one command can stand twice in a report
 * @throws OperatorError if another file is there
 */
function planInPlace({ out, force }: PlanOptions, plan: Plan) {
  if (force === true || !existsSync(out) || !statSync(out).isFile() || statSync(out).size === 0)
    return null
  const present = presentPlan(out)
  if (present && isSamePlan(present, plan)) return present
  throw new OperatorError(
    `${out} exists, and may be an approved plan: give another --out, or --force`,
  )
}

function presentPlan(file: string) {
  try {
    return parsePlan(textOf(file, 'plan'), file)
  } catch (error) {
    if (error instanceof OperatorError) return null
    throw error
  }
}

/** Whether two plans differ only in when they were made. */
function isSamePlan(a: Plan, b: Plan) {
  const textWithoutTimes = (plan: Plan) =>
    planText({
      ...plan,
      id: '',
      digest: '',
      createdAt: '',
      snapshot: { ...plan.snapshot, takenAt: '' },
    })
  return textWithoutTimes(a) === textWithoutTimes(b)
}

/** The command that applies the plan needs the same options to find its clusters. */
function placeArguments(options: PlanOptions) {
  const { region, tag, kubeconfig, context, inCluster, policy } = options
  const tags = Object.entries(tag).map(([key, value]) => `${key}=${value}`)
  const given = { region, tag: tags, kubeconfig, context, 'in-cluster': inCluster, policy }
  return Object.entries(given).flatMap(([name, values = []]) =>
    [values].flat().flatMap(value => [`--${name}`, value]),
  )
}

/** A plan reads its nodes more than once, so a live fleet is kept in a temporary file. */
async function withSnapshot(options: PlanOptions, then: Planner) {
  const reading = openReading(options)
  const folder = mkdtempSync(join(tmpdir(), 'highwater-plan-'))
  try {
    if (options.snapshot !== undefined) return await then(options.snapshot, reading.signal)
    const file = join(folder, 'snapshot.ndjson.gz')
    await keepFleet(liveRecords(options, reading.live), file, reading.nodeRead)
    return await then(file)
  } finally {
    reading.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

/* A plan for the person who approves it: changes, number of nodes, effects, nodes left alone, and the exact command to approve the plan. */

const widest = 120
const shownSnippetLines = 40
/** Maximum lines shown of a text that is sent to a node. A kubelet file has about sixty lines. */
const shownContentLines = 400

interface PrintedPlan {
  /** Path of the written plan. */
  file: string
  /** The options by which the clusters were found, as the user gave them: `--region eu-west-1`. */
  place: string[]
}

/** The text ends with a newline. */
function planTextFor(plan: Plan, printed: PrintedPlan, screen: Screen) {
  const sheet = sheetOf(screen, widest)
  const { bold, wrap } = sheet
  const { cohorts, steps, never, refused, later = [], unchanged, waves } = plan
  const waveCount = `${waves.length} wave${waves.length === 1 ? '' : 's'}`
  const untouched = `${never.length} never touched, ${refused.length} refused, ${unchanged} as wanted already`
  const rest = 'in the plan'
  return pageOf(
    bold(`Plan ${plan.id}: ${nodesOf(steps.length)} to change in ${waveCount}`),
    wrap(`Of the snapshot of ${plan.createdAt}. Beside them: ${untouched}.`),
    cohorts.map(cohort => ['', cohortLines(cohort, plan, sheet)]),
    reasonLines('Refused', refused, sheet, rest),
    reasonLines('For the plan after this one', later, sheet, rest),
    reasonLines('Never touched: the lasting fix is all there is', never, sheet, rest),
    waves.length > 0 && ['', bold('Waves')],
    waves.map((wave, index) => `  ${index + 1}. ${waveText(wave, index)}`),
    '',
    approvalLines(plan, printed, sheet),
  )
}

function cohortLines(cohort: PlanCohort, { steps: all }: Plan, { bold, paint, wrap }: Sheet) {
  const { file, image, findings, durable } = cohort
  const steps = all.filter(step => step.cohort === cohort.id)
  const places = [...new Set(steps.map(({ path }) => path))]
  const title = `${cohort.cluster} ${cohort.group.kind} ${cohort.group.name}, ${cohort.amiFamily}, kubelet ${cohort.kubeletVersion}: ${cohort.planned} of ${nodesOf(cohort.nodes)}`
  const text = (label: string, body: string) =>
    wrap(clean(body, 2000), `  ${label.padEnd(8)}`, ' '.repeat(10))
  const hasSteps = steps.length > 0
  return [
    bold(clean(title, 400)),
    settingLines(cohort, steps).map(setting => text('set', setting)),
    file && [
      text('write', `${file.path}, whole (SHA-256 ${file.sha256.slice(0, 12)}…)`),
      snippetLines(steps[0]?.content ?? ''),
    ],
    image && text('image', `${image.name}, pinned; from ${image.source} if missing`),
    hasSteps && !image && text('in', places.join(', ')),
    sentLines(cohort, steps, text),
    hasSteps && [text('effect', cohort.effect.text), text('restart', cohort.blast.text)],
    findings.length > 0 && text('for', `findings ${cut(findings.join(', '), 300)}`),
    durable.length > 0 &&
      cohort.planned > 0 &&
      text('lasting', 'What a plan writes is gone with the node. For the nodes that come after:'),
    durable.map(({ target, snippet }) => [
      `  ${paint('dim', `── ${target}`)}`,
      snippetLines(snippet),
    ]),
  ]
}

function settingLines({ fields }: PlanCohort, steps: readonly PlanStep[]) {
  const passing = steps.some(({ until }) => until !== undefined) ? ', for a while' : ''
  return Object.entries(fields).map(
    ([field, value]) =>
      `${field}: ${value === null ? 'taken away' : JSON.stringify(value)}${passing}`,
  )
}

/** The whole content for the first node: the approval covers all of the content, not only the fields that the cohort names. */
function sentLines(
  { file, image }: PlanCohort,
  [first, ...rest]: readonly PlanStep[],
  text: (label: string, body: string) => string[],
) {
  if (!first || file || image) return null
  const others = rest.filter(({ content }) => content !== first.content)
  const same =
    rest.length === others.length ? '' : `, and the same on ${rest.length - others.length} more`
  const heading = `on ${first.node}, whole (SHA-256 ${first.newSha256.slice(0, 12)}…)${same}:`
  return [
    text('sends', heading),
    snippetLines(first.content, shownContentLines),
    others.length > 0 &&
      text(
        '',
        `On ${others.length} more it differs in ${differenceOf(first, others)}; all of it stands in the plan.`,
      ),
  ]
}

/** Names of the top-level fields that differ, or in what else the contents differ. */
function differenceOf(first: PlanStep, others: readonly PlanStep[]) {
  const one = contentOf(first)
  const names = new Set<string>()
  for (const other of others.map(contentOf)) {
    if (!one || !other) return 'its text'
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
      if (JSON.stringify(one[name]) !== JSON.stringify(other[name])) names.add(name)
  }
  return names.size === 0 ? 'how it is written' : cut([...names].sort().join(', '), 600)
}

function contentOf({ content }: PlanStep) {
  const found = parsedJson(content)
  return isRawObject(found) ? found : null
}

const snippetLines = (snippet: string, most = shownSnippetLines) =>
  firstLines(
    snippet.trimEnd().split('\n'),
    most,
    line => [`    ${line.replace(/[\p{Cc}\p{Cf}]+/gu, ' ')}`.trimEnd()],
    more => `    … and ${more} lines more, in the plan`,
  )

const waveText = (wave: readonly string[], index: number) =>
  index > 0 && wave.length > shownNodes
    ? nodesOf(wave.length)
    : `${nodesOf(wave.length)}: ${firstNodes(wave)}`

function approvalLines(plan: Plan, { file, place }: PrintedPlan, { wrap }: Sheet) {
  if (plan.steps.length === 0)
    return wrap(
      `Nothing would be changed, so there is nothing to approve. All of it stands in ${file}.`,
    )
  const acting = plan.steps.some(actsAtOnce) ? ' --allow-act-at-once' : ''
  return [
    `Plan:   ${file}`,
    `Digest: ${plan.digest}`,
    'Nothing is changed by it. To approve exactly this, and to do it:',
    `  highwater approve ${shellWord(file)} --digest ${plan.digest}${acting} --by "YOUR NAME"`,
    `  highwater ${['apply', file, '--approval', approvalFileOf(file), ...place].map(shellWord).join(' ')}`,
    wrap(
      'The journal is then kept in a folder here. If several people or machines apply plans, add --store s3://BUCKET/PREFIX to both.',
    ),
  ]
}
