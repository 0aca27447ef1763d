/** `highwater verify`: whether a plan's changes have arrived on its nodes, by highwater or by hand. The command changes nothing. */

import { Command } from 'commander'
import { OperatorError } from '#base/operator-error.ts'
import { pageOf } from '#base/text.ts'
import {
  everything,
  type MalformedLine,
  type Selection,
  type SnapshotRecord,
  selectsCluster,
  selectsNode,
} from '#model/input/record.ts'
import type { Plan, VerificationReport } from '#model/plan.ts'
import { verifyPlan } from '#pipeline/remediation/run/verify.ts'
import { parsePlan } from '#remediate/plan/file.ts'
import {
  addFleetOptions,
  addFormatOption,
  exitAction,
  policyOf,
  type ReadingOptions,
  selectionOf,
  snapshotOption,
  textOf,
} from './options.ts'
import { eksSelection, liveRecords, openReading, savedRecords } from './source.ts'
import {
  nodesOf,
  printDocument,
  reasonLines,
  type Screen,
  sheetOf,
  verificationExitCode,
} from './terminal.ts'

export function verifyCommand() {
  const command = new Command('verify')
    .argument('<plan>', 'the plan file')
    .addOption(snapshotOption('read nodes from a snapshot taken after the change, instead of live'))
  return addFormatOption(addFleetOptions(command))
    .addHelpText(
      'after',
      `
A node is verified if all of these hold: its kubelet runs with every setting of
its step (by configz, or by its files and a start after the plan); the node
stays Ready, without new pressure; its pods are ready again; the replay gives
the effect that the plan predicted. Unread nodes are not yet verified.

Examples:
  highwater verify plan.json
  highwater verify plan.json --mode both --cluster prod
  highwater collect --out after.ndjson.gz && highwater verify plan.json \\
    --snapshot after.ndjson.gz

Exit codes: 0 all are verified; 1 the change failed on some nodes; 2 bad usage
or bad input; 3 some nodes are not yet verified, or could not be read; 4 failed.`,
    )
    .action(exitAction(runVerify))
}

async function runVerify(file: string, given: ReadingOptions) {
  const plan = parsePlan(textOf(file, 'plan'), file)
  const options = { ...given, plannedModes: plan.snapshot.modes }
  const steps = chosenSteps(plan, selectionOf(options))
  const reading = openReading(options)
  const { signal } = reading
  const inputErrors: string[] = []
  const read = (selection: Selection) =>
    options.snapshot === undefined
      ? liveRecords(options, {
          ...reading.live,
          objects: 'none',
          selection: eksSelection(options, selection),
        })
      : wholeLines(
          savedRecords(
            options.snapshot,
            { ...options, cluster: selection.clusters, node: selection.nodes, nodegroup: [] },
            signal,
          ),
          inputErrors,
        )
  try {
    const report = await verifyPlan(
      plan,
      steps,
      { policy: policyOf(options), signal, read },
      reading.progress.nodeRead,
    )
    printDocument(options.format, report, screen => verificationText(plan, report, screen), 1)
    for (const error of inputErrors.slice(0, 10))
      process.stderr.write(`${options.snapshot}: ${error}\n`)
    return verificationExitCode(report, inputErrors)
  } finally {
    reading.end()
  }
}

/** @throws OperatorError if no step is left */
function chosenSteps({ id, steps, cohorts }: Plan, selection: Selection) {
  const groups = new Map(cohorts.map(({ id: cohort, group }) => [cohort, group]))
  const { nodes, nodegroups } = selection
  const chosen = steps.filter(({ cluster, node, cohort }) => {
    const group = groups.get(cohort)
    if (!selectsCluster(selection, cluster)) return false
    return group
      ? selectsNode({ ...everything, nodes, nodegroups }, { name: node, group })
      : nodes.length + nodegroups.length === 0
  })
  if (chosen.length === 0)
    throw new OperatorError(
      steps.length === 0
        ? `Plan ${id} changes no node: there is nothing to verify`
        : `Plan ${id} changes none of the nodes that were chosen`,
    )
  return chosen
}

/** Lines that are no records are reported; the other lines are still used. */
async function* wholeLines(
  records: AsyncIterable<SnapshotRecord | MalformedLine>,
  inputErrors: string[],
): AsyncGenerator<SnapshotRecord | MalformedLine> {
  for await (const record of records) {
    if (record.kind === 'Malformed') inputErrors.push(`line ${record.line}: ${record.message}`)
    else yield record
  }
}

const widest = 120

/** The text ends with a newline. */
function verificationText({ id }: Plan, { counts, nodes }: VerificationReport, screen: Screen) {
  const sheet = sheetOf(screen, widest)
  const { verified, notYet, wrong } = counts
  const states = `${verified} verified, ${notYet} not yet, ${wrong} wrong`
  const nodesIn = (state: 'wrong' | 'not-yet') =>
    nodes.flatMap(one => (one.state === state ? [one] : []))
  const rest = 'in --format json'
  return pageOf(
    sheet.bold(`Plan ${id}: ${nodesOf(nodes.length)}, ${states}`),
    reasonLines('Wrong', nodesIn('wrong'), sheet, rest),
    reasonLines('Not yet', nodesIn('not-yet'), sheet, rest),
    wrong === 0 &&
      notYet === 0 &&
      sheet.wrap('Each runs with what the plan says, is well, and does what the plan promised.'),
  )
}
