/** A check-up for a terminal: problems first, then the texts that fix them. */
import { type Check, type CheckState, type ClusterCheckup, checkStates } from '#model/checkup.ts'
import { clean, type Screen, type Style, sheetOf, wrap } from './terminal.ts'
import { verbosity } from './verbosity.ts'

const stateStyles: Record<CheckState, Style> = {
  missing: ['bold', 'red'],
  failed: 'red',
  unchecked: 'yellow',
  note: 'cyan',
  ok: 'green',
}
const stateTells: Record<Exclude<ClusterCheckup['state'], 'ok'>, string> = {
  missing: 'not everything can be read',
  unreachable: 'it cannot be reached',
}
const indent = '             '
/** Longer lines of prose are hard to read. */
const widestProse = 110
/** Maximum length: enough for place, reason and advice. */
const longestDetail = 700

/** With unchecked rights the headline does not say that all is well. */
function headline({ state, checks }: Pick<ClusterCheckup, 'state' | 'checks'>): string {
  if (state !== 'ok') return stateTells[state]
  const untried = checks.flatMap(({ what, state: found }) =>
    found === 'unchecked' ? [clean(what)] : [],
  )
  return untried.length === 0
    ? 'all is well'
    : `no checked right is missing; unchecked: ${[...new Set(untried)].join(', ')}`
}

/** The text ends with an empty line. */
export function checkupText(
  { cluster, mode, state, checks, fixes }: ClusterCheckup,
  screen: Screen,
): string {
  const { paint, width } = sheetOf(screen, widestProse)
  const row = ({ what, state: found, detail, without }: Check) => {
    const [first = '', ...rest] = wrap(
      `${clean(what)}: ${clean(detail, longestDetail)}`,
      width,
      `  ${found.padEnd(9)}  `,
      indent,
    )
    const lost =
      without === null
        ? []
        : wrap(`unknown without it: ${without}`, width, indent).map(line => paint('dim', line))
    return [first.replace(found, text => paint(stateStyles[found], text)), ...rest, ...lost]
  }
  const bySeverity = checks.toSorted(
    (left, right) => checkStates.indexOf(left.state) - checkStates.indexOf(right.state),
  )
  const isShown = (found: CheckState) => found !== 'ok' || verbosity.isVerbose
  const hidden = checks.filter(({ state: found }) => !isShown(found)).length
  const lines = [
    ...wrap(`${clean(cluster)} (mode ${mode}): ${headline({ state, checks })}`, width, '').map(
      line => paint('bold', line),
    ),
    ...bySeverity.filter(({ state: found }) => isShown(found)).flatMap(row),
    ...(hidden > 0 ? [`  ${hidden} checks ok (--verbose lists them)`] : []),
    // Text to paste is not wrapped. Names of AWS and Kubernetes contain no control characters.
    ...fixes.flatMap(({ target, text }) => [
      '',
      ...wrap(`To mend it: ${clean(target, longestDetail)}`, width, '  '),
      '',
      text.trimEnd(),
    ]),
  ]
  return `${lines.join('\n')}\n\n`
}
