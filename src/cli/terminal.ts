/** Writes to a terminal: lines that fit, colours if the terminal has any, and foreign text that cannot control the terminal. */

import { styleText } from 'node:util'
import { columnsOf, cut, wrap } from '#base/text.ts'
import { comparedNode } from '#judge/compare/delta/delta.ts'
import { type Severity, severities } from '#model/finding.ts'
import type { GateDocument } from '#model/gate.ts'
import type { RemediationRun, StepState, VerificationReport } from '#model/plan.ts'
import packageJson from '#package.json' with { type: 'json' }
import type { AuditResult } from '#pipeline/audit/audit.ts'
import { type DiffResult, type Unread, unreadOf } from '#pipeline/audit/diff.ts'
import type { FailOn, FailOptions, UnreadLimit } from './options.ts'

export type Style = Parameters<typeof styleText>[0]
/** Styles a text; without colours, returns the text unchanged. */
export type Paint = (style: Style, text: string) => string

export const severityStyles: Record<Severity, Style> = {
  critical: ['bold', 'red'],
  high: 'red',
  medium: 'yellow',
  low: 'cyan',
  info: 'dim',
}

export const painter =
  (hasColour: boolean): Paint =>
  (style, text) =>
    hasColour ? styleText(style, text, { validateStream: false }) : text

export interface Screen {
  hasColour: boolean
  /** Maximum columns of a line. */
  columns: number
}

export type Sheet = ReturnType<typeof sheetOf>

/** How a text is written to a screen: its colours, and lines of its width. @param widest maximum width in columns, for easy reading */
export function sheetOf({ hasColour, columns }: Screen, widest: number) {
  const paint = painter(hasColour)
  const width = Math.min(columns, widest)
  return {
    width,
    paint,
    bold: (text: string) => paint('bold', text),
    /** Breaks a text. The first line begins with `first`, the other lines with `rest`. */
    wrap: (text: string, first?: string, rest?: string) => wrap(text, width, first, rest),
    /** Each line after the first is indented by two more columns. */
    indented: (text: string, by = 2) => wrap(text, width, ' '.repeat(by), ' '.repeat(by + 2)),
  }
}

/** The lines of the first items, then a line with the number of the others. */
export function firstLines<Item>(
  items: readonly Item[],
  most: number,
  linesOf: (item: Item) => string[],
  more: (count: number) => string,
) {
  const lines = items.slice(0, most).flatMap(linesOf)
  return items.length > most ? [...lines, more(items.length - most)] : lines
}

/** The screen of standard output. A file or a pipe has no colours and no width of its own. */
export const screenOf = ({ isTTY, columns, hasColors }: NodeJS.WriteStream): Screen =>
  // A terminal that does not know its width reports 0.
  isTTY
    ? { hasColour: hasColors(), columns: columns > 0 ? Math.max(columns - 1, 40) : 80 }
    : { hasColour: false, columns: 80 }

export const jsonText = (value: object, indent = 2) => `${JSON.stringify(value, null, indent)}\n`

/** Prints a document as JSON, or as a text that fits this terminal. */
export function printDocument(
  format: string,
  document: object,
  textFor: (screen: Screen) => string,
  indent?: number,
) {
  const text = format === 'json' ? jsonText(document, indent) : textFor(screenOf(process.stdout))
  process.stdout.write(text)
}

/** Foreign text for a terminal: cut to a length, without control characters, so without escape sequences. No-break spaces stay for `wrap`. */
export function clean(text: string, maxLength = 200) {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, run => (run === '\u00a0' ? run : ' '))
  return cut(line.trim(), maxLength)
}

/** Cuts a text to a number of columns. A character of Han, Kana or Hangul takes two columns. */
export function cutToColumns(text: string, columns: number) {
  if (columnsOf(text) <= columns) return text
  let shown = ''
  for (const character of text) {
    if (columnsOf(shown + character) >= columns) break
    shown += character
  }
  return `${shown}…`
}

/** The first names of a sample, and how many nodes there are. */
export function nodeNames({ count, sample }: { count: number; sample: string[] }) {
  const names = sample.slice(0, 2).map(name => clean(name))
  return count > names.length ? `${count} nodes, ${names.join(', ')}, …` : names.join(', ')
}

/** Nodes grouped by reason, the most common reason first. */
const shownReasons = 10
export const shownNodes = 5

export const nodesOf = (count: number) => `${count} node${count === 1 ? '' : 's'}`

/** Names of the first nodes, and how many more there are. */
export function firstNodes(nodes: readonly string[]) {
  const more = nodes.length > shownNodes ? ` and ${nodes.length - shownNodes} more` : ''
  return `${clean(nodes.slice(0, shownNodes).join(', '), 600)}${more}`
}

/** Empty if there are no nodes. @param rest where the reasons that are not shown can be found */
export function reasonLines(
  title: string,
  nodes: readonly { cluster: string; node: string; why: string }[],
  { bold, indented }: Sheet,
  rest: string,
) {
  if (nodes.length === 0) return []
  const reasons = [...Map.groupBy(nodes, ({ why }) => why)].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  const linesOf = ([why, some]: (typeof reasons)[number]) => {
    const names = some.map(({ cluster, node }) => `${cluster}/${node}`)
    return indented(`${nodesOf(some.length)}: ${clean(why, 1000)} (${firstNodes(names)})`)
  }
  const moreReasons = (hidden: number) => `  and ${hidden} more reasons, all ${rest}`
  return ['', bold(title), ...firstLines(reasons, shownReasons, linesOf, moreReasons)]
}

/* The exit codes of all commands. If several codes apply, the first of 4, 2, 1, 3 is used. */

export const exitCode = { ok: 0, findings: 1, badInput: 2, unread: 3, failed: 4 } as const

export function auditExitCode(
  { document, nodes, deliveries, ruleErrors }: AuditResult,
  { failOn, failOnUnread }: FailOptions,
) {
  if (deliveries.length > 0 && deliveries.every(({ error }) => error !== null))
    return exitCode.failed
  if (isSnapshotOfNothing({ document, nodes })) return exitCode.badInput
  const { findings, delta } = document
  const counted = failOn?.isNew
    ? findings.filter(({ id }) => delta.new.includes(id) || delta.regressed?.includes(id))
    : findings
  if (isAnyAtLeast(failOn, counted)) return exitCode.findings
  const hasFailures = ruleErrors.length > 0 || deliveries.some(({ error }) => error !== null)
  const unread = unreadOf({ document, nodes: nodes.map(comparedNode), ruleErrors })
  return hasFailures || isUnread(unread, failOnUnread) ? exitCode.unread : exitCode.ok
}

const isUnread = (unread: Unread, limit: UnreadLimit) =>
  limit !== 'none' && (unread === limit || unread === 'cluster')

/** The snapshot has no node, and no cluster that was searched for garbage. */
export const isSnapshotOfNothing = ({
  document: { run, clusters },
  nodes,
}: Pick<AuditResult, 'document' | 'nodes'>) =>
  run.source === 'snapshot' &&
  nodes.length === 0 &&
  clusters.every(({ coverage }) => coverage.clusterGc === undefined)

/** Waived, fixed and unchanged findings do not fail a run. */
export function diffExitCode(
  { document, unread }: DiffResult,
  { failOn, failOnUnread }: FailOptions,
) {
  const { new: added, worse } = document.findings
  const found = [...added, ...worse].flatMap(({ after }) => after ?? [])
  if (isAnyAtLeast(failOn, found)) return exitCode.findings
  return isUnread(unread, failOnUnread) ? exitCode.unread : exitCode.ok
}

export function gateExitCode({ verdict }: GateDocument) {
  if (verdict === 'ok') return exitCode.ok
  return verdict === 'unread' ? exitCode.unread : exitCode.findings
}

/** `notYet` is not a failure: a later verification may pass. */
export function verificationExitCode(
  { counts }: VerificationReport,
  inputErrors: readonly string[],
) {
  if (counts.wrong > 0) return exitCode.findings
  return counts.notYet > 0 || inputErrors.length > 0 ? exitCode.unread : exitCode.ok
}

/** @param wanted final state of the nodes; skipped and pending nodes are not failures */
export function remediationExitCode({ state, endedAt, steps }: RemediationRun, wanted: StepState) {
  const has = (...states: StepState[]) => steps.some(step => states.includes(step.state))
  const isOver = endedAt !== null
  if (wanted === 'verified' && (state === 'stopped' || has('restored', 'rolled-back', 'failed')))
    return exitCode.findings
  if (has('broken')) return exitCode.findings
  if (steps.some(({ seenBack }) => seenBack === false)) return exitCode.unread
  return !isOver || (wanted === 'verified' && has('skipped')) ? exitCode.unread : exitCode.ok
}

function isAnyAtLeast(failOn: FailOn | null, found: { severity: Severity }[]) {
  if (!failOn) return false
  const least = severities.indexOf(failOn.severity)
  return found.some(({ severity }) => severities.indexOf(severity) <= least)
}

export const { version } = packageJson
