/**
 * The audit in one screen of a terminal: causes with their steps, and the verdict last.
 * Foreign text is folded to one line of printable text.
 */

import { columnsOf, linesOf, padTo, wrap as wrapTo } from '#base/text.ts'
import { type Finding, type FindingsDocument, severities } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { AuditResult } from '#pipeline/audit/audit.ts'
import type { Language } from '#report/languages/language.ts'
import { changeRows, mailChanges } from '#report/mail/changes.ts'
import {
  answersOf,
  causesAndOutlook,
  causeView,
  moreCauses,
  stepWithCount,
} from '#report/parts/causes.ts'
import { policyNotices, worstFirst } from '#report/parts/findings.ts'
import { isClusterRead, worstClusterFirst } from '#report/parts/fleet.ts'
import { ledgersView } from '#report/parts/ledger.ts'
import { type TitleOf, titlesOf } from '#report/parts/rule-words.ts'
import { withNote } from '#report/parts/steps.ts'
import { verdictView } from '#report/parts/verdict.ts'
import { clean, cutToColumns, firstLines, type Paint, painter, severityStyles } from './terminal.ts'

const width = 78
const shown = { clusters: 12, causes: 6, notAudited: 5, next: 3, changes: 8, ledgers: 30 }
const everything = 1000

const wrap = (text: string, first = '', rest = first) => wrapTo(text, width, first, rest)

export interface SummaryOptions {
  /** Whether to write terminal escapes. */
  hasColour: boolean
  /** Whether to show all causes, findings and reasons, and the effect of each finding. */
  isVerbose?: boolean
  /** Whether to show the verdict only. */
  isQuiet?: boolean
  language: Language
}

interface CliSummary extends Required<SummaryOptions> {
  report: AuditReport
  paint: Paint
  titleOf: TitleOf
  words: Language['words']['terminal']
  limit(of: keyof typeof shown): number
  found: ReturnType<typeof causesAndOutlook>
}

/** The verdict comes last, where the reader of a terminal looks. The text ends with a newline. */
export function summaryText(
  { report, ruleErrors }: Pick<AuditResult, 'report' | 'ruleErrors'>,
  { hasColour, isVerbose = false, isQuiet = false, language }: SummaryOptions,
) {
  const { document } = report
  const { terminal: words } = language.words
  const on: CliSummary = {
    report,
    hasColour,
    isVerbose,
    isQuiet,
    language,
    words,
    paint: painter(hasColour),
    titleOf: titlesOf(report, language),
    limit: of => (isVerbose ? everything : shown[of]),
    found: causesAndOutlook(report, language),
  }
  const notes = [
    ...policyNotices(report, language),
    ...document.run.inputErrors.map(message => words.input(clean(message))),
    ...ruleErrors.map(({ rule, node, message }) =>
      words.ruleFailed(rule, clean(node), clean(message)),
    ),
  ]
  const lines = linesOf(
    '',
    !isQuiet && [
      isVerbose && ledgerLines(on),
      findingLines(on),
      clusterLines(on),
      notAuditedLines(on),
      changeLines(on),
      causeLines(on),
      notes.slice(0, on.limit('notAudited')).map(note => wrap(note, '! ', '  ')),
      verdictLines(on),
    ],
    isQuiet && quietVerdict(on, notes),
  )
  return `${lines.join('\n').trimEnd()}\n`
}

function verdictParts({ report, language, found: { outlook, causes } }: CliSummary) {
  const verdict = verdictView(report, { outlook, causeCount: causes.length, language })
  const { severity, headline, scope } = verdict
  const gaps = verdict.gaps.map(({ text }) => text)
  const style = severity === 'none' || severity === 'unread' ? 'bold' : severityStyles[severity]
  const [row] = outlook.rows
  const answers = row ? answersOf(row, causes, language) : []
  return {
    rows: outlook.rows,
    first: [
      row?.basis ?? '',
      ...answers.map(({ key, ...answer }) =>
        language.words.said(key, clean(withNote(answer, language), 1000)),
      ),
    ].filter(Boolean),
    headline,
    style,
    scope,
    gaps:
      gaps.length > 0 ? [`${language.words.verdict.notCovered} ${language.words.list(gaps)}`] : [],
  } as const
}

function verdictLines(on: CliSummary) {
  const { rows, first, headline, style, scope, gaps } = verdictParts(on)
  const { report, language, words, paint, limit } = on
  const waived = report.document.waived.length
  return [
    wrap(headline).map(line => paint(style, line)),
    scope,
    waived > 0 && wrap(language.words.mail.waived(waived)),
    gaps.map(text => wrap(text)),
    rows
      .slice(0, Math.min(limit('next'), shown.next))
      .flatMap(({ name, state, where }, index) => [
        wrap(words.next(name, state, where), '  ', '    '),
        ...(index === 0 ? first : []).map(text => wrap(text, '    ', '      ')),
      ]),
    '',
  ]
}

/** Five lines, the worst node first. Report, snapshot and next command follow. */
function quietVerdict(on: CliSummary, notes: readonly string[]) {
  const { rows, headline, style, scope, gaps } = verdictParts(on)
  return [
    ...rows.slice(0, 1).map(({ name, state, where }) => on.words.next(name, state, where)),
    headline,
    scope,
    ...gaps,
    ...notes.slice(0, 1).map(note => `! ${note}`),
  ].map((line, index) =>
    index === 0 ? on.paint(style, cutToColumns(line, width)) : cutToColumns(line, width),
  )
}

function clusterLines({ report, language, words, paint, limit }: CliSummary) {
  const { clusters, findings } = report.document
  if (clusters.length < 2 && clusters.every(isClusterRead)) return null
  const { columns } = words
  const sorted = clusters.toSorted(worstClusterFirst)
  const wide = Math.min(
    30,
    Math.max(...[columns.cluster, ...sorted.map(({ name }) => clean(name))].map(columnsOf)),
  )
  const row = (name: string, grade: string, read: string, rest: string) => {
    const first = `${padTo(cutToColumns(clean(name), wide), wide)}  ${padTo(grade, 5)}  ${padTo(read, 18)}  `
    return wrap(rest, first, ' '.repeat(columnsOf(first)))
  }
  const rowOf = (cluster: FindingsDocument['clusters'][number]) => {
    const { name, grade, coverage } = cluster
    const read = `${coverage.read}/${coverage.nodes}`
    const tally = tallyOf(
      findings.filter(finding => finding.cluster === name),
      language,
    )
    return row(
      name,
      grade ?? '–',
      coverage.partlyRead > 0 ? words.partly(read, coverage.partlyRead) : read,
      isClusterRead(cluster) ? tally : paint('bold', language.words.clusterTable.notRead),
    )
  }
  return [
    row(columns.cluster, columns.grade, columns.read, columns.findings),
    firstLines(sorted, limit('clusters'), rowOf, words.moreClusters),
    '',
  ]
}

const tallyOf = (findings: Finding[], { words }: Language) =>
  words.list(
    severities.flatMap(severity => {
      const count = findings.filter(finding => finding.severity === severity).length
      return count > 0 ? [words.terminal.tallied(count, words.severityNames[severity])] : []
    }),
  ) || words.none

/** What changed since the last run. */
function changeLines({ report, language, words, titleOf, limit }: CliSummary) {
  const { changes, list } = language.words
  const found = mailChanges(report, language)
  const { counts, absent, since } = found
  if (since === null) return null
  const placeText = ({ cluster, subject }: Pick<Finding, 'cluster' | 'subject'>) =>
    list([clean(cluster), `${subject.kind.toLowerCase()} ${clean(subject.name)}`])
  const rows = changeRows(found, language)
  const rowOf = ({ finding, label }: (typeof rows)[number]) => {
    const title = clean(titleOf(finding).title)
    return wrap(words.changedFinding(label.toLowerCase(), title, placeText(finding)), '  ', '    ')
  }
  return [
    words.since(counts.length > 0 ? counts : [changes.none]),
    absent !== null && wrap(clean(absent, 1000)),
    firstLines(rows, limit('changes'), rowOf, more => `  ${words.more(more)}`),
    '',
  ]
}

const indent = ' '.repeat(10)

function causeLines({ found: { causes }, language, paint, titleOf, words, limit }: CliSummary) {
  const { causes: labels } = language.words
  if (causes.length === 0) return null
  const lines = causes.slice(0, limit('causes')).map((cause, index) => {
    const view = causeView(cause, index, { titleOf, language })
    const head = wrap(
      `${padTo(view.severityWord.toUpperCase(), 8)}  ${clean(view.title)}`,
      '',
      indent,
    )
    const ends = view.ends === null ? '' : `. ${view.ends}`
    return [
      head.map((line, row) => (row === 0 ? paint(severityStyles[cause.severity], line) : line)),
      wrap(clean(view.where, 1000), indent),
      view.statement !== null &&
        wrap(`${view.statementLabel} ${clean(view.statement, 1000)}`, indent),
      wrap(`${labels.step} ${clean(stepWithCount(view), 1000)}${ends}`, indent),
      // Commands stay on one line, so that they can be copied.
      view.commands
        .slice(0, view.leading)
        .map(({ command }) => `${indent}  ${clean(command, 1000)}`),
      '',
    ]
  })
  const rest = causes.slice(limit('causes'))
  return [lines, rest.length > 0 && [wrap(words.verbose(moreCauses(rest, language))), '']]
}

/** Each finding with its effect, if `isVerbose`: the causes below say the same in fewer lines. */
function findingLines({ report, language, paint, titleOf, words, isVerbose }: CliSummary) {
  const findings = report.document.findings.toSorted(worstFirst)
  if (findings.length === 0) {
    const { noFindings } = words
    const isAnyRead = report.document.clusters.some(isClusterRead)
    return [isAnyRead ? noFindings : language.words.clusterTable.notRead, '']
  }
  if (!isVerbose) return null
  const findingText = (finding: Finding) => {
    const { severity, cluster, subject, rule, consequence } = finding
    const title = `${clean(cluster)}/${clean(subject.name)}: ${clean(titleOf(finding).title)}`
    const first = `${padTo(language.words.severityNames[severity], 8)}  `
    return [
      ...wrap(title, first, indent).map(line => paint(severityStyles[severity], line)),
      ...wrap(`${clean(consequence, 420)} (${rule})`, indent),
    ]
  }
  return [firstLines(findings, everything, findingText, words.moreFindings), '']
}

/** What holds each disk of each node with a disk finding. */
function ledgerLines({ report, language, paint, limit }: CliSummary) {
  const view = ledgersView(report, limit('ledgers'), language)
  if (!view) return null
  const wrapLine = (text: string) => wrap(clean(text, 300), '    ', '      ')
  return [
    paint('bold', language.words.ledger.title),
    view.nodes.map(({ name, brief }) => [
      `  ${cutToColumns(clean(name), width - 2)}`,
      brief.map(wrapLine),
    ]),
    view.leftOut.map(text => wrap(clean(text, 400), '  ', '    ')),
    '',
  ]
}

function notAuditedLines({ report, words, limit }: CliSummary) {
  const { notAudited } = report.document
  // Equal reasons are shown once, with the number of places.
  const groups = [...Map.groupBy(notAudited, ({ reason }) => reason).values()]
  if (groups.length === 0) return null
  const reasonText = (places: typeof notAudited) => {
    const { cluster, node, reason } = places[0]!
    const who =
      node === null ? words.cluster(clean(cluster)) : words.node(clean(cluster), clean(node))
    const others = places.length > 1 ? words.andOthers(places.length - 1) : ''
    return wrap(`${who}${others}: ${clean(reason, 420)}`, '  ', '    ')
  }
  return [
    words.notAudited(notAudited.length),
    firstLines(groups, limit('notAudited'), reasonText, more => `  ${words.more(more)}`),
    '',
  ]
}
