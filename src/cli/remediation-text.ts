/** The result of a run, for the person who started it: nodes by state, why nodes were not changed, and what to do next. */
import type { Plan } from '#model/plan.ts'
import {
  type RemediationRun,
  type StepEntry,
  type StepState,
  stepStates,
} from '#model/remediation.ts'
import { nodesOf, reasonLines } from './reason-lines.ts'
import { clean, indented, type Screen, sheetOf, wrap } from './terminal.ts'

const widest = 120

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

/** The text ends with a newline. @param plan null: cohorts are not shown separately @param store where the journal is */
export function remediationText(
  run: RemediationRun,
  plan: Plan | null,
  store: string,
  screen: Screen,
): string {
  const { paint, width } = sheetOf(screen, widest)
  const { steps, leftAlone } = run
  const placed = { paint, width, rest: `in the journal (${clean(store, 200)})` }
  const whys = (some: readonly StepEntry[]) =>
    some.map(({ cluster, node, state, why }) => ({ cluster, node, why: why ?? state }))
  const lines = [
    paint('bold', `Run ${run.run}: ${stateText(run)}`),
    ...wrap(
      `${nodesOf(steps.length)} planned: ${countsOf(steps)}. Approved by ${clean(run.approvedBy)}${goneOnText(run)}.`,
      width,
      '',
    ),
    ...(plan === null
      ? []
      : plan.cohorts.flatMap(cohort => cohortLines(cohort, plan, steps, width))),
    ...Object.entries(titles).flatMap(([state, title]) =>
      reasonLines(title, whys(steps.filter(step => step.state === state)), placed),
    ),
    ...(run.unasked ?? []).flatMap(one => wrap(`Not asked: ${clean(one, 600)}.`, width)),
    ...backLines(steps, width),
    ...reasonLines('Left alone by the plan', leftAlone, placed),
    ...nextLines(run, store, width),
  ]
  return `${lines.join('\n')}\n`
}

const stateText = ({ state, why, endedAt }: RemediationRun): string => {
  const isOpen = endedAt === null && state !== 'paused' ? ', not at its end' : ''
  return `${state}${isOpen}${why === null ? '' : `: ${clean(why, 1000)}`}`
}

/** `3 verified, 1 failed`, in the order of the states. */
function countsOf(steps: readonly StepEntry[]): string {
  const counts = Map.groupBy(steps, ({ state }) => state)
  return stepStates
    .flatMap(state => (counts.has(state) ? [`${counts.get(state)?.length} ${state}`] : []))
    .join(', ')
}

/** Rolled-back nodes that a later reading confirmed: a node's own answer is not enough. */
function backLines(steps: readonly StepEntry[], width: number): string[] {
  const seen = steps.filter(({ state, seenBack }) => state === 'rolled-back' && seenBack === true)
  if (seen.length === 0) return []
  return wrap(`Back and seen: ${nodesOf(seen.length)} read anew and running as before.`, width)
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
  return indented(
    clean(
      `${cluster} ${group.kind} ${group.name}, kubelet ${kubeletVersion}: ${countsOf(own)}`,
      400,
    ),
    width,
  )
}

function nextLines(
  { run, state, endedAt, steps }: RemediationRun,
  store: string,
  width: number,
): string[] {
  const where = `highwater rollback ${run} --store ${clean(store, 200)}`
  const next = (text: string) => ['', ...wrap(text, width)]
  if (state === 'rolled-back' && endedAt === null) return next(`To go on: ${where}`)
  if (endedAt === null)
    return next(`To go on: the same command with --resume. To take it back: ${where}`)
  if (steps.some(step => step.state === 'broken')) return next(`To ask them again: ${where}`)
  return steps.some(step => step.state === 'verified') ? next(`To take it back: ${where}`) : []
}
