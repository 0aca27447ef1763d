/** A plan for the person who approves it: changes, number of nodes, effects, nodes left alone, and the exact command to approve the plan. */

import { isRawObject } from '#base/raw-object.ts'
import { linesOf } from '#base/text/lines.ts'
import {
  actsAtOnce,
  type ManualChange,
  type Plan,
  type PlanCohort,
  type PlanStep,
} from '#model/plan/plan.ts'
import { approvalFileOf } from './approve.ts'
import {
  clean,
  cut,
  firstLines,
  firstNodes,
  nodesOf,
  quoted,
  reasonLines,
  type Screen,
  type Sheet,
  sheetOf,
  shownNodes,
} from './terminal.ts'

const widest = 120
const shownSnippetLines = 40
/** Maximum lines shown of a text that is sent to a node. A kubelet file has about sixty lines. */
const shownContentLines = 400

export interface PrintedPlan {
  /** Path of the written plan. */
  file: string
  /** The options by which the clusters were found, as the user gave them: `--region eu-west-1`. */
  place: string[]
}

/** The text ends with a newline. */
export function planTextFor(plan: Plan, { file, place }: PrintedPlan, screen: Screen): string {
  const sheet = sheetOf(screen, widest)
  const { bold, wrap } = sheet
  const { cohorts, steps, never, refused, later = [], manual = [], unchanged, waves } = plan
  const waveCount = `${waves.length} wave${waves.length === 1 ? '' : 's'}`
  const untouched = `${never.length} never touched, ${refused.length} refused, ${unchanged} as wanted already`
  const rest = 'in the plan'
  const lines = linesOf(
    bold(`Plan ${plan.id}: ${nodesOf(steps.length)} to change in ${waveCount}`),
    wrap(`Of the snapshot of ${plan.createdAt}. Beside them: ${untouched}.`),
    cohorts.map(cohort => ['', cohortLines(cohort, plan, sheet)]),
    reasonLines('Refused', refused, sheet, rest),
    reasonLines('For the plan after this one', later, sheet, rest),
    reasonLines('Never touched: the lasting fix is all there is', never, sheet, rest),
    manual.map(change => ['', manualLines(change, sheet)]),
    waves.length > 0 && ['', bold('Waves')],
    waves.map((wave, index) => `  ${index + 1}. ${waveText(wave, index)}`),
    '',
    approvalLines(plan, { file, place }, sheet),
  )
  return `${lines.join('\n')}\n`
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
  if (first === undefined || file !== undefined || image !== undefined) return null
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
    if (one === null || other === null) return 'its text'
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
      if (JSON.stringify(one[name]) !== JSON.stringify(other[name])) names.add(name)
  }
  return names.size === 0 ? 'how it is written' : cut([...names].sort().join(', '), 600)
}

function contentOf({ content }: PlanStep) {
  try {
    const found: unknown = JSON.parse(content)
    return isRawObject(found) ? found : null
  } catch {
    return null
  }
}

/** Printed in full, because the operator carries out these steps by hand. */
function manualLines(
  { cluster, group, amiFamily, title, nodes, steps, durable }: ManualChange,
  { bold, wrap, indented }: Sheet,
) {
  const place = `${cluster} ${group.kind} ${group.name}, ${amiFamily}, ${nodesOf(nodes.length)}`
  return [
    bold(clean(`By hand, never by a plan: ${place}`, 400)),
    wrap(`${clean(title, 500)}. Nodes: ${firstNodes(nodes)}.`, '  '),
    steps.map(step => indented(clean(step, 500), 4)),
    wrap(`For good: ${clean(durable, 1000)}`, '  '),
  ]
}

function snippetLines(snippet: string, most = shownSnippetLines) {
  return firstLines(
    snippet.trimEnd().split('\n'),
    most,
    line => [`    ${line.replace(/[\p{Cc}\p{Cf}]+/gu, ' ')}`.trimEnd()],
    more => `    … and ${more} lines more, in the plan`,
  )
}

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
    `  highwater approve ${quoted(file)} --digest ${plan.digest}${acting} --by "YOUR NAME"`,
    `  highwater ${['apply', file, '--approval', approvalFileOf(file), ...place].map(quoted).join(' ')}`,
    wrap(
      'The journal is then kept in a folder here. If several people or machines apply plans, add --store s3://BUCKET/PREFIX to both.',
    ),
  ]
}
