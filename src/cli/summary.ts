/** The audit in one screen of a terminal. Everything foreign in it is folded to one line of printable text. */
import { type Finding, type FindingsDocument, severities } from '#model/finding.ts'
import type { AuditResult } from '#pipeline/audit.ts'
import { clean, cut, type Paint, painter, severityStyles, wrap as wrapTo } from './terminal.ts'

const shownFindings = 10
const shownNotAudited = 8
const width = 78

const wrap = (text: string, first: string, rest = first) => wrapTo(text, width, first, rest)

/** Ends with a newline. @param hasColour whether to write terminal escapes */
export function summaryText({ document, ruleErrors }: Pick<AuditResult, 'document' | 'ruleErrors'>, hasColour: boolean): string {
  const paint = painter(hasColour)
  const lines = ['', ...clusterLines(document), '']
  lines.push(...changeLines(document))
  for (const finding of worst(document.findings)) lines.push(...findingLines(finding, paint))
  const more = document.findings.length - shownFindings
  if (more > 0) lines.push(`… and ${more} more findings, in the report.`, '')
  if (document.findings.length === 0) lines.push('No findings.', '')
  lines.push(...notAuditedLines(document))
  for (const message of document.run.inputErrors.slice(0, shownNotAudited)) lines.push(...wrap(`input ${clean(message)}`, '! '))
  for (const { rule, node, message } of ruleErrors.slice(0, shownNotAudited))
    lines.push(...wrap(`rule ${rule} failed on ${clean(node)}: ${clean(message)}. That is a mistake in highwater: please report it`, '! '))
  return `${lines.join('\n').trimEnd()}\n`
}

function clusterLines({ clusters, findings }: FindingsDocument): string[] {
  const names = clusters.map(({ name }) => clean(name))
  const wide = Math.min(32, Math.max(7, ...names.map(name => name.length)))
  const row = (cells: string[]) => `${cells[0]?.padEnd(wide)}  ${cells.slice(1).join('  ')}`.trimEnd()
  const rows = clusters.map(({ grade, coverage }, index) => {
    const own = findings.filter(finding => finding.cluster === clusters[index]?.name)
    const counts = severities.map(severity => [severity, own.filter(finding => finding.severity === severity).length] as const)
    const read = `${coverage.read}/${coverage.nodes}`.padStart(9)
    const partly = coverage.partlyRead > 0 ? `, ${coverage.partlyRead} partly` : ''
    const said = counts.filter(([, number]) => number > 0).map(([severity, number]) => `${number} ${severity}`)
    return row([
      cut(names[index] ?? '', wide).padEnd(wide),
      (grade ?? '–').padEnd(5),
      `${read}${partly}`.padEnd(20),
      said.join(', ') || 'nothing found',
    ])
  })
  return [row(['cluster'.padEnd(wide), 'grade', '    nodes read'.padEnd(20), 'findings']), ...rows]
}

/** Nothing where nothing changed, or no run before is known. */
function changeLines({ delta, findings, waived }: FindingsDocument): string[] {
  const back = new Set(delta.regressed)
  const fresh = delta.new.filter(id => !back.has(id))
  const counts = [
    [fresh.length, 'new'],
    [back.size, 'back again'],
    [delta.worse?.length ?? 0, 'worse'],
    [delta.resolved.length, 'resolved'],
  ] as const
  const said = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  if (said.length === 0) return []
  const words = new Map([
    ...fresh.map(id => [id, 'new'] as const),
    ...(delta.worse ?? []).map(id => [id, 'worse'] as const),
    ...[...back].map(id => [id, 'back again'] as const),
  ])
  const changed = worst([...findings, ...waived].filter(({ id }) => words.has(id)))
  const rows = changed.flatMap(({ id, severity, title, cluster, subject }) =>
    wrap(
      `${(words.get(id) ?? '').padEnd(10)}  ${severity}: ${clean(title)} (${clean(cluster)}, ${subject.kind.toLowerCase()} ${clean(subject.name)})`,
      '  ',
      '              ',
    ),
  )
  const more = words.size - changed.length
  return [`Since the run before: ${said.join(', ')}`, ...rows, ...(more > 0 ? [`  … and ${more} more, in the report`] : []), '']
}

const worst = (findings: Finding[]) =>
  findings.toSorted((left, right) => severities.indexOf(left.severity) - severities.indexOf(right.severity)).slice(0, shownFindings)

function findingLines(finding: Finding, paint: Paint): string[] {
  const { severity, title, rule, cluster, subject, nodes, consequence } = finding
  const head = wrap(`${severity.toUpperCase().padEnd(8)}  ${clean(title)}`, '', '          ')
  const where = `${clean(cluster)}, ${subject.kind.toLowerCase()} ${clean(subject.name)}${subject.kind === 'Node' || nodes.count === 0 ? '' : `: ${nodeNames(nodes)}`} (${rule})`
  return [
    ...head.map((line, index) => (index === 0 ? paint(severityStyles[severity], line) : line)),
    ...wrap(where, '          '),
    ...wrap(clean(consequence, 420), '          ').map(line => paint('dim', line)),
    '',
  ]
}

function nodeNames({ count, sample }: Finding['nodes']): string {
  const names = sample.slice(0, 2).map(name => clean(name))
  return count > names.length ? `${count} nodes, ${names.join(', ')}, …` : names.join(', ')
}

function notAuditedLines({ notAudited }: FindingsDocument): string[] {
  if (notAudited.length === 0) return []
  const lines = notAudited.slice(0, shownNotAudited).flatMap(({ cluster, node, reason }) => {
    const who = node === null ? `cluster ${clean(cluster)}` : `${clean(cluster)}, node ${clean(node)}`
    return wrap(`${who}: ${clean(reason, 420)}`, '  ', '    ')
  })
  const more = notAudited.length - shownNotAudited
  return [`Not audited (${notAudited.length}):`, ...lines, ...(more > 0 ? [`  … and ${more} more, in the report`] : []), '']
}
