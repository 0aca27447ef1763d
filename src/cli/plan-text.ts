/** A plan for the person who approves it: what changes on how many nodes, what that does, whom it leaves alone, and the exact words to approve it. */
import { actsAtOnce, type Plan, type PlanCohort } from '#model/plan.ts'
import { approvalFileOf } from './approve.ts'
import { nodesOf, reasonLines, shownNodes } from './reason-lines.ts'
import { clean, cut, type Paint, painter, type Screen, wrap } from './terminal.ts'

const widest = 120
const shownSnippetLines = 40

/** Ends with a newline. @param file where the plan was written */
export function planTextFor(plan: Plan, file: string, { hasColour, columns }: Screen): string {
  const paint = painter(hasColour)
  const width = Math.min(columns, widest)
  const { cohorts, steps, never, refused, unchanged, waves } = plan
  const untouched = [counted(never.length, 'never touched'), counted(refused.length, 'refused'), counted(unchanged, 'as wanted already')]
  const lines = [
    paint('bold', `Plan ${plan.id}: ${nodesOf(steps.length)} to change in ${waves.length} wave${waves.length === 1 ? '' : 's'}`),
    ...wrap(`Of the snapshot of ${plan.createdAt}. Beside them: ${untouched.join(', ')}.`, width, ''),
    ...cohorts.flatMap(cohort => ['', ...cohortLines(cohort, plan, paint, width)]),
    ...reasonLines('Refused', refused, { paint, width, rest: 'in the plan' }),
    ...reasonLines('Never touched: the lasting fix is all there is', never, { paint, width, rest: 'in the plan' }),
    ...(waves.length === 0 ? [] : ['', paint('bold', 'Waves'), ...waves.map((wave, index) => `  ${index + 1}. ${waveOf(wave, index)}`)]),
    '',
    ...approvalLines(plan, file, width),
  ]
  return `${lines.join('\n')}\n`
}

const counted = (count: number, what: string): string => `${count} ${what}`

function cohortLines(cohort: PlanCohort, { steps }: Plan, paint: Paint, width: number): string[] {
  const own = steps.filter(step => step.cohort === cohort.id)
  const places = [...new Set(own.map(({ path }) => path))]
  const title = `${cohort.cluster} ${cohort.group.kind} ${cohort.group.name}, ${cohort.amiFamily}, kubelet ${cohort.kubeletVersion}: ${cohort.planned} of ${nodesOf(cohort.nodes)}`
  const text = (label: string, body: string) => wrap(clean(body, 2000), width, `  ${label.padEnd(8)}`, ' '.repeat(10))
  return [
    paint('bold', clean(title, 400)),
    ...settingLines(cohort).flatMap(setting => text('set', setting)),
    ...(own.length === 0 ? [] : text('in', places.join(', '))),
    ...(own.length === 0 ? [] : text('effect', cohort.effect.text)),
    ...(own.length === 0 ? [] : text('restart', cohort.blast.text)),
    ...(cohort.findings.length === 0 ? [] : text('for', `findings ${cut(cohort.findings.join(', '), 300)}`)),
    ...(cohort.durable.length > 0 && cohort.planned > 0
      ? text('lasting', 'What a plan writes is gone with the node. For the nodes that come after:')
      : []),
    ...cohort.durable.flatMap(({ target, snippet }) => [`  ${paint('dim', `── ${target}`)}`, ...snippetLines(snippet)]),
  ]
}

const settingLines = ({ fields }: PlanCohort): string[] =>
  Object.entries(fields).map(([field, value]) => `${field}: ${value === null ? 'taken away' : JSON.stringify(value)}`)

function snippetLines(snippet: string): string[] {
  const lines = snippet.trimEnd().split('\n')
  const shown = lines.slice(0, shownSnippetLines).map(line => `    ${line.replace(/[\p{Cc}\p{Cf}]+/gu, ' ')}`.trimEnd())
  return lines.length > shownSnippetLines ? [...shown, '    …'] : shown
}

function waveOf(wave: readonly string[], index: number): string {
  if (index > 0 && wave.length > shownNodes) return nodesOf(wave.length)
  const more = wave.length > shownNodes ? ` and ${wave.length - shownNodes} more` : ''
  return `${nodesOf(wave.length)}: ${clean(wave.slice(0, shownNodes).join(', '), 600)}${more}`
}

function approvalLines(plan: Plan, file: string, width: number): string[] {
  if (plan.steps.length === 0)
    return wrap(`No node would be changed, so there is nothing to approve. All of it stands in ${file}.`, width, '')
  const acting = plan.steps.some(actsAtOnce) ? ' --allow-act-at-once' : ''
  return [
    `Plan:   ${file}`,
    `Digest: ${plan.digest}`,
    'Nothing is changed by it. To approve exactly this, and to do it:',
    `  highwater approve ${quoted(file)} --digest ${plan.digest}${acting} --by "YOUR NAME"`,
    `  highwater apply ${quoted(file)} --approval ${quoted(approvalFileOf(file))} --store s3://BUCKET/PREFIX`,
  ]
}

const quoted = (file: string): string => (/^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`)
