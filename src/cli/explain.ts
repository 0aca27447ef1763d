/** `highwater explain`: what a rule means, why it matters, and how to fix its findings. */

import { Command } from 'commander'
import { OperatorError } from '#base/operator-error.ts'
import { didYouMean, pageOf, wrap } from '#base/text.ts'
import type { RuleExplanation } from '#judge/run/explanation.ts'
import { families } from '#model/finding.ts'
import { explainedRules, ruleNames } from '#pipeline/audit/shelves.ts'
import { addFormatOption } from './options.ts'
import { painter, printDocument, type Screen, severityStyles, sheetOf } from './terminal.ts'

interface ExplainOptions {
  format: 'text' | 'json'
}

export function explainCommand() {
  const command = new Command('explain').argument(
    '[rule]',
    'its id, as a finding names it, or a family; without it, a table of all rules',
  )
  return addFormatOption(command)
    .addHelpText(
      'after',
      `
Examples:
  highwater explain                              every rule, by family
  highwater explain eviction-before-image-gc
  highwater explain image-gc                     the rules of one family
  highwater explain --format json                all rules, as highwater.rules/1

Exit codes: 0 the rule is explained; 2 there is no such rule, or bad usage.`,
    )
    .action((name: string | undefined, { format }: ExplainOptions) => {
      const asked = explainedRules(name)
      if (name !== undefined && asked.length === 0) throw noSuchRule(name)
      const only = asked.find(({ id }) => id === name)
      printDocument(format, { schema: 'highwater.rules/1', rules: asked }, screen =>
        only ? explanationText(only, screen) : rulesTable(asked, screen),
      )
    })
}

function noSuchRule(name: string) {
  const shown = JSON.stringify(name.slice(0, 80))
  return new OperatorError(
    `No rule is called ${shown}.${didYouMean(name, ruleNames)} highwater explain lists them all.`,
  )
}

/** Rules for a terminal: one in full, or all in a table. */
const label = 10
/** Longer lines of prose are hard to read. */
const widestProse = 100

/** The text ends with a newline. */
export function explanationText(rule: RuleExplanation, screen: Screen) {
  const { id, family, severity, comparesNodes, docs, needs, policy } = rule
  const sheet = sheetOf(screen, widestProse)
  const section = (title: string, ...texts: string[]) =>
    texts.flatMap((text, index) =>
      sheet.wrap(text, (index === 0 ? title : '').padEnd(label), ' '.repeat(label)),
    )
  const keys = policy.map(({ key, default: value }) => `${key} (by default ${shownDefault(value)})`)
  return pageOf(
    sheet.bold(id),
    sheet.wrap(docs.title),
    '',
    section('Severity', `${severity.toUpperCase()}, of the family ${family}`).map(line =>
      line.replace(severity.toUpperCase(), text => sheet.paint(severityStyles[severity], text)),
    ),
    section('Why', docs.why),
    section('Fix', docs.fix),
    section('Needs', needs.length === 0 ? 'nothing' : needs.join(', ').replaceAll('`', '')),
    comparesNodes && section('', 'It compares the nodes of a nodegroup or nodepool.'),
    section('Policy', ...keys, `severities: { ${id}: … } and waivers, as for every rule`),
    section('Sources', ...docs.sources),
    docs.sources.some(source => /^(?:pkg|cmd|staging)\//.test(source)) &&
      section('', 'Paths are in https://github.com/kubernetes/kubernetes/tree/master'),
  )
}

function shownDefault(value: unknown) {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A table by family, in the order of the report. Ends with a newline. */
export function rulesTable(rules: RuleExplanation[], { hasColour, columns }: Screen) {
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
  const shelves = families.map(family => {
    const shelf = rules.filter(rule => rule.family === family)
    return shelf.length > 0 && [paint('bold', family), shelf.map(row), '']
  })
  return pageOf(shelves, 'highwater explain RULE explains one rule in full.')
}
