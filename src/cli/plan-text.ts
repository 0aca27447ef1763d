/** A plan for the person who approves it: changes, number of nodes, effects, nodes left alone, and the exact command to approve the plan. */

import { isRawObject } from '#base/raw-object.ts'
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
  indented,
  nodesOf,
  type Paint,
  quoted,
  reasonLines,
  type Screen,
  sheetOf,
  shownNodes,
  wrap,
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
  const { paint, width } = sheetOf(screen, widest)
  const { cohorts, steps, never, refused, later = [], manual = [], unchanged, waves } = plan
  const waveCount = `${waves.length} wave${waves.length === 1 ? '' : 's'}`
  const untouched = `${never.length} never touched, ${refused.length} refused, ${unchanged} as wanted already`
  const placed = { paint, width, rest: 'in the plan' }
  const lines = [
    paint('bold', `Plan ${plan.id}: ${nodesOf(steps.length)} to change in ${waveCount}`),
    ...wrap(`Of the snapshot of ${plan.createdAt}. Beside them: ${untouched}.`, width, ''),
    ...cohorts.flatMap(cohort => ['', ...cohortLines(cohort, plan, paint, width)]),
    ...reasonLines('Refused', refused, placed),
    ...reasonLines('For the plan after this one', later, placed),
    ...reasonLines('Never touched: the lasting fix is all there is', never, placed),
    ...manual.flatMap(change => ['', ...manualLines(change, paint, width)]),
    ...(waves.length === 0
      ? []
      : [
          '',
          paint('bold', 'Waves'),
          ...waves.map((wave, index) => `  ${index + 1}. ${waveOf(wave, index)}`),
        ]),
    '',
    ...approvalLines(plan, { file, place }, width),
  ]
  return `${lines.join('\n')}\n`
}

function cohortLines(cohort: PlanCohort, { steps }: Plan, paint: Paint, width: number) {
  const own = steps.filter(step => step.cohort === cohort.id)
  const places = [...new Set(own.map(({ path }) => path))]
  const title = `${cohort.cluster} ${cohort.group.kind} ${cohort.group.name}, ${cohort.amiFamily}, kubelet ${cohort.kubeletVersion}: ${cohort.planned} of ${nodesOf(cohort.nodes)}`
  const text = (label: string, body: string) =>
    wrap(clean(body, 2000), width, `  ${label.padEnd(8)}`, ' '.repeat(10))
  return [
    paint('bold', clean(title, 400)),
    ...settingLines(cohort, own).flatMap(setting => text('set', setting)),
    ...(cohort.file === undefined
      ? []
      : text('write', `${cohort.file.path}, whole (SHA-256 ${cohort.file.sha256.slice(0, 12)}…)`)),
    ...(cohort.file === undefined ? [] : snippetLines(own[0]?.content ?? '')),
    ...(cohort.image === undefined
      ? []
      : text('image', `${cohort.image.name}, pinned; from ${cohort.image.source} if missing`)),
    ...(own.length === 0 || cohort.image !== undefined ? [] : text('in', places.join(', '))),
    ...sentLines(cohort, own, text),
    ...(own.length === 0 ? [] : text('effect', cohort.effect.text)),
    ...(own.length === 0 ? [] : text('restart', cohort.blast.text)),
    ...(cohort.findings.length === 0
      ? []
      : text('for', `findings ${cut(cohort.findings.join(', '), 300)}`)),
    ...(cohort.durable.length > 0 && cohort.planned > 0
      ? text('lasting', 'What a plan writes is gone with the node. For the nodes that come after:')
      : []),
    ...cohort.durable.flatMap(({ target, snippet }) => [
      `  ${paint('dim', `── ${target}`)}`,
      ...snippetLines(snippet),
    ]),
  ]
}

function settingLines({ fields }: PlanCohort, own: readonly PlanStep[]) {
  const passing = own.some(({ until }) => until !== undefined) ? ', for a while' : ''
  return Object.entries(fields).map(
    ([field, value]) =>
      `${field}: ${value === null ? 'taken away' : JSON.stringify(value)}${passing}`,
  )
}

/** The whole content for the first node: the approval covers all of the content, not only the fields that the cohort names. */
function sentLines(
  { file, image }: PlanCohort,
  own: readonly PlanStep[],
  text: (label: string, body: string) => string[],
) {
  const [first, ...rest] = own
  if (first === undefined || file !== undefined || image !== undefined) return []
  const others = rest.filter(({ content }) => content !== first.content)
  const same =
    rest.length === others.length ? '' : `, and the same on ${rest.length - others.length} more`
  const heading = `on ${first.node}, whole (SHA-256 ${first.newSha256.slice(0, 12)}…)${same}:`
  return [
    ...text('sends', heading),
    ...snippetLines(first.content, shownContentLines),
    ...(others.length === 0
      ? []
      : text(
          '',
          `On ${others.length} more it differs in ${differing(first, others)}; all of it stands in the plan.`,
        )),
  ]
}

/** Names of the top-level fields that differ. */
function differing(first: PlanStep, others: readonly PlanStep[]) {
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
  paint: Paint,
  width: number,
) {
  const more = nodes.length > shownNodes ? ` and ${nodes.length - shownNodes} more` : ''
  return [
    paint(
      'bold',
      clean(
        `By hand, never by a plan: ${cluster} ${group.kind} ${group.name}, ${amiFamily}, ${nodesOf(nodes.length)}`,
        400,
      ),
    ),
    ...wrap(
      `${clean(title, 500)}. Nodes: ${clean(nodes.slice(0, shownNodes).join(', '), 600)}${more}.`,
      width,
      '  ',
    ),
    ...steps.flatMap(step => indented(clean(step, 500), width, 4)),
    ...wrap(`For good: ${clean(durable, 1000)}`, width, '  '),
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

function waveOf(wave: readonly string[], index: number) {
  if (index > 0 && wave.length > shownNodes) return nodesOf(wave.length)
  const more = wave.length > shownNodes ? ` and ${wave.length - shownNodes} more` : ''
  return `${nodesOf(wave.length)}: ${clean(wave.slice(0, shownNodes).join(', '), 600)}${more}`
}

function approvalLines(plan: Plan, { file, place }: PrintedPlan, width: number) {
  if (plan.steps.length === 0)
    return wrap(
      `Nothing would be changed, so there is nothing to approve. All of it stands in ${file}.`,
      width,
    )
  const acting = plan.steps.some(actsAtOnce) ? ' --allow-act-at-once' : ''
  return [
    `Plan:   ${file}`,
    `Digest: ${plan.digest}`,
    'Nothing is changed by it. To approve exactly this, and to do it:',
    `  highwater approve ${quoted(file)} --digest ${plan.digest}${acting} --by "YOUR NAME"`,
    `  highwater ${['apply', file, '--approval', approvalFileOf(file), ...place].map(quoted).join(' ')}`,
    ...wrap(
      'The journal is then kept in a folder here. If several people or machines apply plans, add --store s3://BUCKET/PREFIX to both.',
      width,
      '',
    ),
  ]
}
