/** `highwater doctor`: checks whether an audit can read what its mode promises, and lists what is missing. */
import { Command } from 'commander'
import { pageOf } from '#base/text.ts'
import {
  type Check,
  type CheckState,
  type Checkup,
  type ClusterCheckup,
  checkStates,
  checkupSchema,
} from '#model/checkup.ts'
import { addFleetOptions, addFormatOption, exitAction, type FleetOptions } from './options.ts'
import { runSignal } from './signals.ts'
import { liveCheckups } from './source.ts'
import {
  clean,
  exitCode,
  jsonText,
  type Screen,
  type Style,
  screenOf,
  sheetOf,
} from './terminal.ts'

interface DoctorArguments extends FleetOptions {
  format: 'text' | 'json'
  remediate?: boolean
}

export function doctorCommand() {
  const command = new Command('doctor').option(
    '--remediate',
    'also check what applying plans needs',
  )
  return addFormatOption(addFleetOptions(command))
    .addHelpText(
      'after',
      `
It sends list and describe calls, queries the API server for its rights, and
reads one node as an audit does. It sends no command to a node.

Examples:
  highwater doctor                               all EKS clusters of the region
  highwater doctor --cluster prod --mode ssm
  highwater doctor --cluster prod --remediate    also the rights to apply plans
  highwater doctor --kubeconfig ~/.kube/config --context staging

Exit codes: 0 nothing is missing; 2 bad usage or bad input; 3 something is
missing or failed; 4 nothing could be reached.`,
    )
    .action(exitAction(runDoctor))
}

async function runDoctor(options: DoctorArguments): Promise<number> {
  const { signal, end } = runSignal(options.deadline)
  const screen = screenOf(process.stdout)
  const clusters: ClusterCheckup[] = []
  try {
    for await (const checkup of liveCheckups(options, {
      signal,
      isRemediating: options.remediate === true,
    })) {
      clusters.push(checkup)
      if (options.format === 'text')
        process.stdout.write(checkupText(checkup, screen, options.verbose))
    }
  } finally {
    end()
  }
  const checkup: Checkup = { schema: checkupSchema, at: new Date().toISOString(), clusters }
  if (options.format === 'json') process.stdout.write(jsonText(checkup))
  if (clusters.every(({ state }) => state === 'unreachable')) return exitCode.failed
  return clusters.every(({ state }) => state === 'ok') ? exitCode.ok : exitCode.unread
}

/** A check-up for a terminal: problems first, then the texts that fix them. */
const stateStyles: Record<CheckState, Style> = {
  missing: ['bold', 'red'],
  failed: 'red',
  unchecked: 'yellow',
  note: 'cyan',
  ok: 'green',
}
const stateWords: Record<Exclude<ClusterCheckup['state'], 'ok'>, string> = {
  missing: 'not everything can be read',
  unreachable: 'it cannot be reached',
}
const indent = '             '
/** Longer lines of prose are hard to read. */
const widestProse = 110
/** Maximum length: enough for place, reason and advice. */
const longestDetail = 700

/** With unchecked rights the headline does not say that all is well. */
function headline({ state, checks }: Pick<ClusterCheckup, 'state' | 'checks'>) {
  if (state !== 'ok') return stateWords[state]
  const untried = checks.flatMap(({ what, state: found }) =>
    found === 'unchecked' ? [clean(what)] : [],
  )
  return untried.length === 0
    ? 'all is well'
    : `no checked right is missing; unchecked: ${[...new Set(untried)].join(', ')}`
}

/** The text ends with an empty line. */
function checkupText(
  { cluster, mode, state, checks, fixes }: ClusterCheckup,
  screen: Screen,
  isVerbose = false,
) {
  const { paint, bold, wrap } = sheetOf(screen, widestProse)
  const row = ({ what, state: found, detail, without }: Check) => {
    const [first = '', ...rest] = wrap(
      `${clean(what)}: ${clean(detail, longestDetail)}`,
      `  ${found.padEnd(9)}  `,
      indent,
    )
    const lost = without === null ? [] : wrap(`unknown without it: ${without}`, indent)
    return [
      first.replace(found, text => paint(stateStyles[found], text)),
      ...rest,
      ...lost.map(line => paint('dim', line)),
    ]
  }
  const bySeverity = checks.toSorted(
    (left, right) => checkStates.indexOf(left.state) - checkStates.indexOf(right.state),
  )
  const isShown = (found: CheckState) => found !== 'ok' || isVerbose
  const hidden = checks.filter(({ state: found }) => !isShown(found)).length
  const page = pageOf(
    wrap(`${clean(cluster)} (mode ${mode}): ${headline({ state, checks })}`).map(bold),
    bySeverity.filter(({ state: found }) => isShown(found)).map(row),
    hidden > 0 && `  ${hidden} checks ok (--verbose lists them)`,
    // Text to paste is not wrapped. Names of AWS and Kubernetes contain no control characters.
    fixes.map(({ target, text }) => [
      '',
      wrap(`To mend it: ${clean(target, longestDetail)}`, '  '),
      '',
      text.trimEnd(),
    ]),
  )
  return `${page}\n`
}
