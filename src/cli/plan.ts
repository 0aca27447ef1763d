/** `highwater plan`: what would change on which nodes, and the effects. The command changes nothing. */

import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { OperatorError } from '#base/operator-error.ts'
import type { ConfigurationChange } from '#model/plan/what-if.ts'
import { keepFleet } from '#pipeline/audit/saved/kept-records.ts'
import type { PlanResult } from '#pipeline/remediation/plan/plan.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import type { PruneWish } from '#pipeline/remediation/plan/prune.ts'
import { planText } from '#remediate/plan/file.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { exitCode } from './exit-code.ts'
import { written } from './folder.ts'
import {
  addFleetOptions,
  addFormatOption,
  exiting,
  type FleetOptions,
  parseText,
  policyOf,
  repeatable,
  selectionOf,
  snapshotOption,
} from './options.ts'
import { planTextFor } from './plan-text.ts'
import { liveRecords, openReading } from './source.ts'
import { screenOf } from './terminal.ts'
import { version } from './version.ts'

interface PlanOptions extends FleetOptions {
  snapshot?: string
  rule: string[]
  finding: string[]
  set: ConfigurationChange[]
  pruneImages?: boolean
  to?: number
  allowActAtOnce?: boolean
  out: string
  force?: boolean
  format: 'text' | 'json'
}

export function planCommand(): Command {
  const command = new Command('plan')
    .addOption(snapshotOption('nodes of a saved snapshot instead of a live fleet'))
    .addOption(
      repeatable(
        '--rule <id>',
        'fix the findings of this rule; repeatable',
        'all that a plan may fix',
        parseText,
      ),
    )
    .addOption(repeatable('--finding <id>', 'fix this finding; repeatable', 'likewise', parseText))
    .addOption(
      repeatable(
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
    .option('--out <file>', 'where the plan is written', parseText, 'plan.json')
    .option('--force', 'overwrite a plan that is there and may be approved')
  return addFormatOption(addFleetOptions(command))
    .addHelpText(
      'after',
      `
A plan needs the files and flags of each node (mode ssm or both). It contains the exact
bytes of every file. A person approves its digest.

Examples:
  highwater plan --snapshot snapshot.ndjson.gz
  highwater plan --snapshot snapshot.ndjson.gz --rule eviction-before-image-gc --nodegroup general
  highwater plan --snapshot snapshot.ndjson.gz --rule log-rotation-drift
  highwater plan --snapshot snapshot.ndjson.gz --rule required-image-at-risk
  highwater plan --cluster prod --nodegroup general --prune-images --to 60
  highwater plan --cluster prod --set imageGCHighThresholdPercent=70 --set imageGCLowThresholdPercent=50
  highwater approve plan.json --digest DIGEST --by "Ada Lovelace"

Exit codes: 0 the plan is written; 2 bad usage, or no kubelet accepts the change; 3 the plan is written,
but some nodes or parts of the input could not be read; 4 failed.`,
    )
    .action(exiting(runPlan))
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
  rejectPlanInPlace(options)
  const { plan, inputErrors, unread } = await withSnapshot(options, planner)
  const text = planText(plan)
  written('The plan', () => writeFileSync(options.out, text))
  const place = { file: options.out, place: placeArguments(options) }
  process.stdout.write(
    options.format === 'json' ? text : planTextFor(plan, place, screenOf(process.stdout)),
  )
  for (const error of inputErrors.slice(0, 10))
    process.stderr.write(`${options.snapshot ?? 'the fleet'}: ${error}\n`)
  return inputErrors.length > 0 || unread > 0 ? exitCode.unread : exitCode.ok
}

/** An approval names the plan's digest. If the approved plan were overwritten, it would be lost. */
function rejectPlanInPlace({ out, force }: PlanOptions) {
  if (force !== true && existsSync(out) && statSync(out).isFile() && statSync(out).size > 0)
    throw new OperatorError(
      `${out} exists, and may be an approved plan: give another --out, or --force`,
    )
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
