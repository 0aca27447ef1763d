/** What the commands that change nodes share: the place of the journal, the stop signals, and progress messages. */

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { Plan } from '#model/plan.ts'
import type { RemediationRun, StepEntry } from '#model/remediation.ts'
import { EksBehind } from '#pipeline/remediation/eks-behind.ts'
import type { RemediateOptions } from '#pipeline/remediation/options.ts'
import { sealedStore } from '#remediate/seal.ts'
import { remediationExitCode } from './exit-code.ts'
import { keyFor } from './keys.ts'
import { addFormatOption, type PlaceOptions, parseText, policyOf } from './options.ts'
import { remediationText } from './remediation-text.ts'
import { pausingSignals } from './signals.ts'
import { eksSelection, liveRecords, liveTargets } from './source.ts'
import { defaultStore, folderWarning, storeAt } from './store.ts'
import { clean, screenOf } from './terminal.ts'

export interface RemediationOptions extends PlaceOptions {
  store: string
  deadline?: number
  format: 'text' | 'json'
}

export const addStoreOption = (command: Command): Command =>
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
): number {
  process.stdout.write(
    format === 'json'
      ? `${JSON.stringify(run, null, 1)}\n`
      : remediationText(run, plan, store, screenOf(process.stdout)),
  )
  return remediationExitCode(run, aim)
}

/** Progress goes to standard error. @throws OperatorError */
export async function withRemediation(
  given: RemediationOptions,
  work: (live: RemediateOptions) => Promise<RemediationRun>,
): Promise<RemediationRun> {
  const options = { ...given, remediate: true }
  const policy = policyOf(options)
  const store = sealedStore(await storeAt(options.store), await keyFor('runs', options.store))
  if (!options.store.includes('://')) process.stderr.write(folderWarning(options.store))
  const { stop, end, close } = pausingSignals(options.deadline)
  const behind = new EksBehind(policy, end)
  const unselected = { ...options, cluster: [], nodegroup: [], node: [], deadline: 0 }
  try {
    return await work({
      ...{ policy, store, stop, end, holder: randomUUID() },
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
const entryLine = ({ cluster, node, state, why }: StepEntry): string =>
  `${clean(`${cluster}/${node}`, 300)} ${state}${why === null ? '' : `: ${clean(why, 600)}`}`
