/** The audit in one screen of a terminal. Everything foreign in it is folded to one line of printable text. */

import { type Finding, type FindingsDocument, severities } from '#model/finding.ts'
import { columnsOf, padTo } from '#model/text-width.ts'
import type { AuditResult } from '#pipeline/audit.ts'
import { idleWaiverText } from '#report/idle-waivers.ts'
import type { Language } from '#report/languages/language.ts'
import { type TitleOf, titlesOf } from '#report/rule-words.ts'
import { mostUrgentFirst } from '#report/statements.ts'
import { freeableText, ledgersView } from '#report/views/ledger.ts'
import { mailChanges } from '#report/views/mail-changes.ts'
import { clean, cut, type Paint, painter, severityStyles, wrap as wrapTo } from './terminal.ts'

const shownFindings = 10
const shownNotAudited = 8
const shownLedgers = 12
const width = 78

const wrap = (text: string, first: string, rest = first) => wrapTo(text, width, first, rest)

/** Ends with a newline. @param hasColour whether to write terminal escapes */
export function summaryText(
  {
    document,
    ruleErrors,
    before,
    ruleTitles,
    nodes,
  }: Pick<AuditResult, 'document' | 'ruleErrors'> &
    Partial<Pick<AuditResult, 'before' | 'ruleTitles' | 'nodes'>>,
  hasColour: boolean,
  language: Language,
): string {
  const { terminal: words } = language.words
  const titleOf = titlesOf({ document, ruleTitles }, language)
  const paint = painter(hasColour)
  const lines = ['', ...clusterLines(document, language), '']
  lines.push(
    ...(before
      ? sinceLines({ document, before }, language, titleOf)
      : changeLines(document, language, titleOf)),
  )
  for (const finding of worst(document.findings))
    lines.push(...findingLines(finding, paint, language, titleOf))
  const more = document.findings.length - shownFindings
  if (more > 0) lines.push(words.moreFindings(more), '')
  if (document.findings.length === 0) lines.push(words.noFindings, '')
  if (nodes !== undefined) lines.push(...ledgerLines({ document, nodes }, language))
  lines.push(...notAuditedLines(document, words))
  for (const waiver of (document.idleWaivers ?? []).slice(0, shownNotAudited))
    lines.push(...wrap(idleWaiverText(waiver, language), '! ', '  '))
  for (const message of document.run.inputErrors.slice(0, shownNotAudited))
    lines.push(...wrap(words.input(clean(message)), '! '))
  for (const { rule, node, message } of ruleErrors.slice(0, shownNotAudited))
    lines.push(...wrap(words.ruleFailed(rule, clean(node), clean(message)), '! '))
  return `${lines.join('\n').trimEnd()}\n`
}

/** What can be freed, and what holds the disks of the worst nodes. */
function ledgerLines(report: Pick<AuditResult, 'document' | 'nodes'>, language: Language) {
  const ledgers = ledgersView(report, shownLedgers, language)
  const freeable = freeableText(report.nodes, language)
  if (ledgers === null) return freeable === null ? [] : [freeable, '']
  return [
    ...(freeable === null ? [] : [clean(freeable)]),
    ...ledgers.nodes.flatMap(({ name, consumer, brief }) => [
      ...wrap(clean(name), '- ', '  '),
      ...[...(consumer === null ? [] : [consumer]), ...brief].flatMap(text =>
        wrap(clean(text), '  ', '    '),
      ),
    ]),
    ...(ledgers.leftOut === null ? [] : [ledgers.leftOut]),
    '',
  ]
}

function clusterLines(
  { clusters, findings }: FindingsDocument,
  { words: all }: Language,
): string[] {
  const words = all.terminal
  const { columns } = words
  const names = clusters.map(({ name }) => clean(name))
  const wide = Math.min(
    32,
    names.reduce((most, name) => Math.max(most, columnsOf(name)), columnsOf(columns.cluster)),
  )
  const gradeWide = Math.max(5, columnsOf(columns.grade))
  const row = (cells: string[]) =>
    `${padTo(cells[0] ?? '', wide)}  ${cells.slice(1).join('  ')}`.trimEnd()
  const rows = clusters.map(({ grade, coverage }, index) => {
    const own = findings.filter(finding => finding.cluster === clusters[index]?.name)
    const counts = severities.map(
      severity => [severity, own.filter(finding => finding.severity === severity).length] as const,
    )
    const read = `${coverage.read}/${coverage.nodes}`.padStart(9)
    const said = counts
      .filter(([, number]) => number > 0)
      .map(([severity, number]) => words.tallied(number, all.severityNames[severity]))
    return row([
      cut(names[index] ?? '', wide),
      padTo(grade ?? '–', gradeWide),
      padTo(coverage.partlyRead > 0 ? words.partly(read, coverage.partlyRead) : read, 20),
      all.list(said) || words.nothingFound,
    ])
  })
  return [
    row([
      columns.cluster,
      padTo(columns.grade, gradeWide),
      padTo(`    ${columns.read}`, 20),
      columns.findings,
    ]),
    ...rows,
  ]
}

/** What the mail tells of the run before, and of each finding that is worse or cannot be listed a line. Nothing where nothing changed. */
function sinceLines(
  run: Required<Pick<AuditResult, 'document' | 'before'>>,
  language: Language,
  titleOf: TitleOf,
): string[] {
  const { terminal: words, changes } = language.words
  const { listed, hidden, counts, absent } = mailChanges(run, language)
  const rows = [
    ...listed
      .filter(({ kind }) => kind !== 'unchanged' && kind !== 'better')
      .map(({ finding, kind }) => ({ finding, label: kind && changes.labels[kind] })),
    ...hidden.map(finding => ({ finding, label: changes.labels.unclear })),
  ]
  const wide = columnsIn(rows.slice(0, shownFindings).map(({ label }) => label ?? ''))
  const lines = rows
    .slice(0, shownFindings)
    .flatMap(({ finding, label }) => changedLine(finding, label ?? '', wide, language, titleOf))
  const more = rows.length - shownFindings
  const said = [
    ...(counts.length > 0 ? [words.since(counts)] : []),
    ...(absent === null ? [] : wrap(clean(absent, 1000), '')),
  ]
  return said.length + lines.length === 0
    ? []
    : [...said, ...lines, ...(more > 0 ? [`  ${words.moreNotAudited(more)}`] : []), '']
}

/** @param wide how many columns the longest label of the block takes */
function changedLine(
  finding: ChangedFinding,
  label: string,
  wide: number,
  { words: all }: Language,
  titleOf: TitleOf,
): string[] {
  const { severity, cluster, subject } = finding
  const where = all.list([clean(cluster), `${subject.kind.toLowerCase()} ${clean(subject.name)}`])
  const listed = all.terminal.changedFinding(
    all.severityNames[severity],
    clean(titleOf(finding).title),
    where,
  )
  return wrap(`${padTo(label.toLowerCase(), wide)}  ${listed}`, '  ', ' '.repeat(wide + 4))
}

const columnsIn = (labels: string[]) =>
  labels.reduce((most, label) => Math.max(most, columnsOf(label)), 0)

type ChangedFinding = Pick<Finding, 'rule' | 'title' | 'severity' | 'cluster' | 'subject'>

/** As far as a findings document says it. Nothing where nothing changed, or no run before is known. */
function changeLines(
  { delta, findings, waived }: FindingsDocument,
  language: Language,
  titleOf: TitleOf,
): string[] {
  const { terminal: words, changes } = language.words
  const back = new Set(delta.regressed)
  const fresh = delta.new.filter(id => !back.has(id))
  const worse = delta.worse ?? []
  const counts = [
    [fresh.length, changes.counts.new],
    [back.size, changes.counts.back],
    [worse.length, changes.counts.worse],
    [delta.resolved.length, changes.counts.resolved],
  ] as const
  const said = counts.filter(([count]) => count > 0).map(([count, text]) => text(count))
  if (said.length === 0) return []
  const how = new Map([
    ...fresh.map(id => [id, changes.labels.new] as const),
    ...worse.map(id => [id, changes.labels.worse] as const),
    ...[...back].map(id => [id, changes.labels.back] as const),
  ])
  const changed = worst([...findings, ...waived].filter(({ id }) => how.has(id)))
  const rows = changed.flatMap(finding =>
    changedLine(
      finding,
      how.get(finding.id) ?? '',
      columnsIn([...how.values()]),
      language,
      titleOf,
    ),
  )
  const more = how.size - changed.length
  return [words.since(said), ...rows, ...(more > 0 ? [`  ${words.moreNotAudited(more)}`] : []), '']
}

const worst = (findings: Finding[]) => findings.toSorted(mostUrgentFirst).slice(0, shownFindings)

function findingLines(
  finding: Finding,
  paint: Paint,
  { words }: Language,
  titleOf: TitleOf,
): string[] {
  const { severity, rule, cluster, subject, nodes, consequence } = finding
  const { title, ownTitle } = titleOf(finding)
  const head = wrap(
    `${padTo(words.severities[severity].toUpperCase(), 8)}  ${clean(title)}`,
    '',
    '          ',
  )
  const where = `${clean(cluster)}, ${subject.kind.toLowerCase()} ${clean(subject.name)}${subject.kind === 'Node' || nodes.count === 0 ? '' : `: ${nodeNames(nodes, words.terminal)}`} (${rule})`
  return [
    ...head.map((line, index) => (index === 0 ? paint(severityStyles[severity], line) : line)),
    ...(ownTitle === null ? [] : wrap(clean(ownTitle), '          ')),
    ...wrap(where, '          '),
    ...wrap(clean(consequence, 420), '          ').map(line => paint('dim', line)),
    '',
  ]
}

function nodeNames({ count, sample }: Finding['nodes'], words: Words): string {
  const names = sample.slice(0, 2).map(name => clean(name))
  return count > names.length ? words.nodes(count, names) : names.join(', ')
}

type Words = Language['words']['terminal']

function notAuditedLines({ notAudited }: FindingsDocument, words: Words): string[] {
  if (notAudited.length === 0) return []
  const lines = notAudited.slice(0, shownNotAudited).flatMap(({ cluster, node, reason }) => {
    const who =
      node === null ? words.cluster(clean(cluster)) : words.node(clean(cluster), clean(node))
    return wrap(`${who}: ${clean(reason, 420)}`, '  ', '    ')
  })
  const more = notAudited.length - shownNotAudited
  return [
    words.notAudited(notAudited.length),
    ...lines,
    ...(more > 0 ? [`  ${words.moreNotAudited(more)}`] : []),
    '',
  ]
}
