/** What the commands that change nodes share: the place of the journal, the stop signals, and progress messages. */

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { pageOf } from '#base/text.ts'
import {
  type Plan,
  type RemediationRun,
  type StepEntry,
  type StepState,
  stepKey,
  stepStates,
} from '#model/plan.ts'
import { openEksLookup } from '#pipeline/remediation/run/eks-behind.ts'
import type { RemediateOptions } from '#pipeline/remediation/run/options.ts'
import { sealedStore } from '#remediate/seal.ts'
import { addFormatOption, type PlaceOptions, parseText, policyOf } from './options.ts'
import { pausingSignals } from './signals.ts'
import { eksSelection, liveRecords, liveTargets } from './source.ts'
import { defaultStore, folderWarning, keyFor, storeAt } from './store.ts'
import {
  clean,
  nodesOf,
  printDocument,
  reasonLines,
  remediationExitCode,
  type Screen,
  type Sheet,
  sheetOf,
} from './terminal.ts'

export interface RemediationOptions extends PlaceOptions {
  store: string
  deadline?: number
  format: 'text' | 'json'
}

export const addStoreOption = (command: Command) =>
  addFormatOption(command).option(
    '--store <place>',
    'where the journal and the lease are: s3://bucket/prefix, or a folder',
    parseText,
    defaultStore,
  )

/** @returns the exit code @param plan null: cohorts are not shown separately */
export function printRun(
  run: RemediationRun,
  plan: Plan | null,
  { format, store }: RemediationOptions,
  aim: Parameters<typeof remediationExitCode>[1],
) {
  printDocument(format, run, screen => remediationText(run, plan, store, screen), 1)
  return remediationExitCode(run, aim)
}

/** Progress goes to standard error. @throws OperatorError */
export async function withRemediation(
  given: RemediationOptions,
  work: (live: RemediateOptions) => Promise<RemediationRun>,
) {
  const options = { ...given, remediate: true }
  const policy = policyOf(options)
  const store = sealedStore(await storeAt(options.store), await keyFor('runs', options.store))
  if (!options.store.includes('://')) process.stderr.write(folderWarning(options.store))
  const { stop, end, close } = pausingSignals(options.deadline)
  const behind = openEksLookup(policy, end)
  const unselected = { ...options, cluster: [], nodegroup: [], node: [], deadline: 0 }
  try {
    return await work({
      policy,
      store,
      stop,
      end,
      holder: randomUUID(),
      read: (selection, depth) =>
        liveRecords(unselected, {
          signal: end,
          objects: depth === 'pods' ? 'budgets' : 'none',
          depth,
          behind,
          selection: eksSelection(options, selection),
        }),
      targets: clusters => liveTargets(options, clusters, end),
      onEntry: entry => process.stderr.write(`${entryLine(entry)}\n`),
      onWait: text => process.stderr.write(`${clean(text, 600)}\n`),
    })
  } finally {
    close()
  }
}

/** `prod/ip-10-0-1-23 restored: the kubelet does not stay` */
const entryLine = ({ cluster, node, state, why }: StepEntry) =>
  `${clean(`${cluster}/${node}`, 300)} ${state}${why === null ? '' : `: ${clean(why, 600)}`}`

/** The result of a run, for the person who started it: nodes by state, why nodes were not changed, and what to do next. */
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

const resumedText = ({ resumedBy = [] }: RemediationRun) =>
  resumedBy.length === 0 ? '' : `, and to go on by ${clean(resumedBy.join(', '), 400)}`

/** The text ends with a newline. @param plan null: cohorts are not shown separately @param store where the journal is */
export function remediationText(
  run: RemediationRun,
  plan: Plan | null,
  store: string,
  screen: Screen,
) {
  const sheet = sheetOf(screen, widest)
  const { bold, wrap } = sheet
  const { steps, leftAlone } = run
  const rest = `in the journal (${clean(store, 200)})`
  const reasonsOf = (some: readonly StepEntry[]) =>
    some.map(({ cluster, node, state, why }) => ({ cluster, node, why: why ?? state }))
  const next = nextText(run, store)
  return pageOf(
    bold(`Run ${run.run}: ${stateText(run)}`),
    wrap(
      `${nodesOf(steps.length)} planned: ${countsOf(steps)}. Approved by ${clean(run.approvedBy)}${resumedText(run)}.`,
    ),
    plan?.cohorts.map(cohort => cohortLines(cohort, plan, steps, sheet)),
    Object.entries(titles).map(([state, title]) =>
      reasonLines(title, reasonsOf(steps.filter(step => step.state === state)), sheet, rest),
    ),
    run.unasked?.map(one => wrap(`Not asked: ${clean(one, 600)}.`)),
    rolledBackLines(steps, sheet),
    reasonLines('Left alone by the plan', leftAlone, sheet, rest),
    next !== null && ['', wrap(next)],
  )
}

const stateText = ({ state, why, endedAt }: RemediationRun) => {
  const isOpen = endedAt === null && state !== 'paused' ? ', not at its end' : ''
  return `${state}${isOpen}${why === null ? '' : `: ${clean(why, 1000)}`}`
}

/** `3 verified, 1 failed`, in the order of the states. */
function countsOf(steps: readonly StepEntry[]) {
  const counts = Map.groupBy(steps, ({ state }) => state)
  return stepStates
    .flatMap(state => (counts.has(state) ? [`${counts.get(state)?.length} ${state}`] : []))
    .join(', ')
}

/** Rolled-back nodes that a later reading confirmed: a node's own answer is not enough. */
function rolledBackLines(steps: readonly StepEntry[], { wrap }: Sheet) {
  const seen = steps.filter(({ state, seenBack }) => state === 'rolled-back' && seenBack === true)
  return (
    seen.length > 0 &&
    wrap(`Back and seen: ${nodesOf(seen.length)} read anew and running as before.`)
  )
}

function cohortLines(
  { id, cluster, group, kubeletVersion }: Plan['cohorts'][number],
  plan: Plan,
  steps: readonly StepEntry[],
  { indented }: Sheet,
) {
  const nodes = new Set(plan.steps.filter(step => step.cohort === id).map(stepKey))
  const changed = steps.filter(step => nodes.has(stepKey(step)))
  const place = `${cluster} ${group.kind} ${group.name}, kubelet ${kubeletVersion}`
  return changed.length > 0 && indented(clean(`${place}: ${countsOf(changed)}`, 400))
}

/** What to do next; null: nothing. */
function nextText({ run, state, endedAt, steps }: RemediationRun, store: string) {
  const rollback = `highwater rollback ${run} --store ${clean(store, 200)}`
  if (state === 'rolled-back' && endedAt === null) return `To go on: ${rollback}`
  if (endedAt === null)
    return `To go on: the same command with --resume. To take it back: ${rollback}`
  if (steps.some(step => step.state === 'broken')) return `To ask them again: ${rollback}`
  return steps.some(step => step.state === 'verified') ? `To take it back: ${rollback}` : null
}
