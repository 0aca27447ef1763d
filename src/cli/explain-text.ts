/** Rules for a terminal: one in full, or all in a table. */
import type { RuleExplanation } from '#judge/explanation.ts'
import { families } from '#model/finding.ts'
import { painter, type Screen, severityStyles, sheetOf, wrap } from './terminal.ts'

const label = 10
/** Longer lines of prose are hard to read. */
const widestProse = 100

/** The text ends with a newline. */
export function explanationText(rule: RuleExplanation, screen: Screen): string {
  const { id, family, severity, comparesNodes, docs, needs, policy } = rule
  const { paint, width } = sheetOf(screen, widestProse)
  const section = (title: string, ...texts: string[]) =>
    texts.flatMap((text, index) =>
      wrap(text, width, index === 0 ? title.padEnd(label) : ' '.repeat(label), ' '.repeat(label)),
    )
  const keys = policy.map(({ key, default: value }) => `${key} (by default ${shownDefault(value)})`)
  const lines = [
    paint('bold', id),
    ...wrap(docs.title, width, ''),
    '',
    ...section('Severity', `${severity.toUpperCase()}, of the family ${family}`).map(line =>
      line.replace(severity.toUpperCase(), text => paint(severityStyles[severity], text)),
    ),
    ...section('Why', docs.why),
    ...section('Fix', docs.fix),
    ...section('Needs', needs.length === 0 ? 'nothing' : needs.join(', ').replaceAll('`', '')),
    ...(comparesNodes ? section('', 'It compares the nodes of a nodegroup or nodepool.') : []),
    ...section('Policy', ...keys, `severities: { ${id}: … } and waivers, as for every rule`),
    ...section('Sources', ...docs.sources),
    ...(docs.sources.some(source => /^(?:pkg|cmd|staging)\//.test(source))
      ? section('', 'Paths are in https://github.com/kubernetes/kubernetes/tree/master')
      : []),
  ]
  return `${lines.join('\n')}\n`
}

function shownDefault(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A table by family, in the order of the report. Ends with a newline. */
export function rulesTable(rules: RuleExplanation[], { hasColour, columns }: Screen): string {
  const paint = painter(hasColour)
  const wide = Math.max(0, ...rules.map(({ id }) => id.length))
  const row = ({ id, severity, docs }: RuleExplanation) => {
    const head = `  ${severity.padEnd(8)}  ${id.padEnd(wide)}  `
    // The text stands beside the names if there is room for a sentence, else below them.
    const lines =
      columns - head.length >= 50
        ? wrap(docs.title, columns, head, ' '.repeat(head.length))
        : [head.trimEnd(), ...wrap(docs.title, columns, ' '.repeat(12))]
    return lines.map((line, index) =>
      index === 0 ? line.replace(severity, text => paint(severityStyles[severity], text)) : line,
    )
  }
  const shelves = families.map(family => ({
    family,
    shelf: rules.filter(rule => rule.family === family),
  }))
  const lines = shelves
    .filter(({ shelf }) => shelf.length > 0)
    .flatMap(({ family, shelf }) => [paint('bold', family), ...shelf.flatMap(row), ''])
  return `${lines.join('\n')}\nhighwater explain RULE explains one rule in full.\n`
}
