/** What came of a run, for the person who started it: how many nodes in which state, what became of the others and why, and what to do next. */
import type { Plan } from '#model/plan.ts'
import {
  type DeletionEntry,
  deletionStates,
  type RemediationRun,
  type StepEntry,
  type StepState,
  stepStates,
} from '#model/remediation.ts'
import { nodesOf, reasonLines } from './reason-lines.ts'
import { clean, painter, type Screen, wrap } from './terminal.ts'

const widest = 120

const shownObjects = 20

const objectTitles: Record<DeletionEntry['state'], string> = {
  pending: 'to come',
  deleting: 'begun, and not known to be gone',
  deleted: 'deleted',
  gone: 'gone before',
  changed: 'left alone',
  failed: 'refused',
}

const titles: Partial<Record<StepState, string>> = {
  broken: 'Not known to be well: these need a person',
  returning: 'Being put back, as planned',
  pruned: 'Pruned, and as before again',
  restored: 'Put back by the node itself',
  'rolled-back': 'Taken back',
  failed: 'Not changed',
  skipped: 'Passed over',
}

const goneOnText = ({ resumedBy = [] }: RemediationRun): string =>
  resumedBy.length === 0 ? '' : `, and to go on by ${clean(resumedBy.join(', '), 400)}`

/** Ends with a newline. @param plan null: cohorts are not shown separately @param store where the journal is */
export function remediationText(
  run: RemediationRun,
  plan: Plan | null,
  store: string,
  { hasColour, columns }: Screen,
): string {
  const paint = painter(hasColour)
  const width = Math.min(columns, widest)
  const { steps, deletions, leftAlone } = run
  const placed = { paint, width, rest: `in the journal (${clean(store, 200)})` }
  const whys = (some: readonly StepEntry[]) =>
    some.map(({ cluster, node, state, why }) => ({ cluster, node, why: why ?? state }))
  const lines = [
    paint('bold', `Run ${run.run}: ${stateText(run)}`),
    ...wrap(
      `${deletions === undefined ? `${nodesOf(steps.length)} planned: ${countsOf(steps)}` : objectCounts(deletions)}. Approved by ${clean(run.approvedBy)}${goneOnText(run)}.`,
      width,
      '',
    ),
    ...(plan === null
      ? []
      : plan.cohorts.flatMap(cohort => cohortLines(cohort, plan, steps, width))),
    ...Object.entries(titles).flatMap(([state, title]) =>
      reasonLines(title, whys(steps.filter(step => step.state === state)), placed),
    ),
    ...(run.unasked ?? []).flatMap(one => wrap(`Not asked: ${clean(one, 600)}.`, width, '')),
    ...backLines(steps, width),
    ...objectLines(deletions ?? [], width),
    ...reasonLines('Left alone by the plan', leftAlone, placed),
    ...nextLines(run, store, width),
  ]
  return `${lines.join('\n')}\n`
}

const stateText = ({ state, why, endedAt }: RemediationRun): string => {
  const isOpen = endedAt === null && state !== 'paused' ? ', not at its end' : ''
  return `${state}${isOpen}${why === null ? '' : `: ${clean(why, 1000)}`}`
}

const countsOf = (steps: readonly StepEntry[]): string =>
  stepStates
    .flatMap(state => {
      const count = steps.filter(step => step.state === state).length
      return count === 0 ? [] : [`${count} ${state}`]
    })
    .join(', ')

const objectCounts = (deletions: readonly DeletionEntry[]): string => {
  const counts = deletionStates.flatMap(state => {
    const count = deletions.filter(one => one.state === state).length
    return count === 0 ? [] : [`${count} ${objectTitles[state]}`]
  })
  return `${deletions.length} object${deletions.length === 1 ? '' : 's'} planned: ${counts.join(', ')}`
}

/** Those that are still there, or may be, and why. */
function objectLines(deletions: readonly DeletionEntry[], width: number): string[] {
  const left = deletions.filter(({ state }) => ['changed', 'failed', 'deleting'].includes(state))
  const lines = left
    .slice(0, shownObjects)
    .flatMap(({ cluster, resource, namespace, name, state, why }) => {
      const title = `${cluster}: ${resource} ${namespace === null ? name : `${namespace}/${name}`}`
      return wrap(
        clean(`${title}: ${objectTitles[state]}${why === null ? '' : `: ${why}`}`, 900),
        width,
        '  ',
        '    ',
      )
    })
  return left.length > shownObjects
    ? [...lines, `  and ${left.length - shownObjects} more, all in the journal`]
    : lines
}

/** The node's own word for it is one thing, what was read of it afterwards another. */
function backLines(steps: readonly StepEntry[], width: number): string[] {
  const seen = steps.filter(({ state, seenBack }) => state === 'rolled-back' && seenBack === true)
  if (seen.length === 0) return []
  return wrap(`Back and seen: ${nodesOf(seen.length)} read anew and running as before.`, width, '')
}

function cohortLines(
  { id, cluster, group, kubeletVersion }: Plan['cohorts'][number],
  plan: Plan,
  steps: readonly StepEntry[],
  width: number,
) {
  const nodes = new Set(
    plan.steps.filter(step => step.cohort === id).map(step => `${step.cluster}/${step.node}`),
  )
  const own = steps.filter(step => nodes.has(`${step.cluster}/${step.node}`))
  if (own.length === 0) return []
  return wrap(
    clean(
      `${cluster} ${group.kind} ${group.name}, kubelet ${kubeletVersion}: ${countsOf(own)}`,
      400,
    ),
    width,
    '  ',
    '    ',
  )
}

function nextLines(
  { run, state, endedAt, steps, deletions }: RemediationRun,
  store: string,
  width: number,
): string[] {
  const where = `--store ${clean(store, 200)}`
  if (state === 'rolled-back' && endedAt === null)
    return ['', ...wrap(`To go on: highwater rollback ${run} ${where}`, width, '')]
  if (deletions !== undefined)
    return endedAt === null ? ['', 'To go on: the same command with --resume.'] : []
  if (endedAt === null)
    return [
      '',
      ...wrap(
        `To go on: the same command with --resume. To take it back: highwater rollback ${run} ${where}`,
        width,
        '',
      ),
    ]
  if (steps.some(step => step.state === 'broken'))
    return ['', ...wrap(`To ask them again: highwater rollback ${run} ${where}`, width, '')]
  return steps.some(step => step.state === 'verified')
    ? ['', ...wrap(`To take it back: highwater rollback ${run} ${where}`, width, '')]
    : []
}
