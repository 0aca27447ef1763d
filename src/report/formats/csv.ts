/**
 * CSV by RFC 4180: one line for each finding, waived finding, unknown outcome and unread node or
 * cluster. The column `state` names this kind. Spreadsheets read no cell as a formula.
 */
import type { Finding } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Format } from '#report/format.ts'
import { evidenceLines, fixLines, lineText, nameText } from '#report/parts/findings.ts'

const columns = [
  'state',
  'severity',
  'confidence',
  'rule',
  'family',
  'cluster',
  'subjectKind',
  'subjectNamespace',
  'subjectName',
  'nodes',
  'nodeSample',
  'title',
  'consequence',
  'evidence',
  'fix',
  'since',
  'waivedUntil',
  'reason',
  'id',
] as const
type CsvRow = Partial<Record<(typeof columns)[number], string | number | null>>

export const csv: Format = {
  id: 'csv',
  name: 'findings.csv',
  contentType: 'text/csv; charset=utf-8; header=present',
  render: report =>
    [
      columns.map(cell),
      ...rowsOf(report).map(row => columns.map(column => cell(row[column] ?? ''))),
    ]
      .map(cells => `${cells.join(',')}\r\n`)
      .join(''),
}

/** Characters that start a formula, full-width forms included. Source: OWASP, CSV Injection. */
const formula = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u
/** Maximum characters of an Excel cell. Source: Microsoft, Excel specifications and limits. */
const cellMax = 32_767
const cutMark = '… (cut)'

function cell(value: string | number) {
  const text = String(value)
  const safe = typeof value === 'string' && formula.test(text) ? `'${text}` : text
  const shown =
    safe.length > cellMax ? `${safe.slice(0, cellMax - cutMark.length)}${cutMark}` : safe
  return `"${shown.toWellFormed().replaceAll('"', '""')}"`
}

const rowsOf = ({
  document: { findings, waived, unknowns, notAudited },
}: AuditReport): CsvRow[] => [
  ...findings.map(finding => findingRow(finding, 'open')),
  ...waived.map(finding => findingRow(finding, 'waived')),
  ...unknowns.map(({ rule, cluster, subject, nodes, reason }) => ({
    state: 'unknown',
    rule,
    ...whereOf({ cluster, subject, nodes }),
    reason: lineText(reason),
  })),
  ...notAudited.map(({ cluster, node, reason }) => ({
    state: 'notAudited',
    cluster: nameText(cluster),
    subjectKind: node === null ? 'Cluster' : 'Node',
    subjectName: nameText(node ?? cluster),
    reason: lineText(reason),
  })),
]

const findingRow = (finding: Finding, state: 'open' | 'waived'): CsvRow => ({
  state,
  severity: finding.severity,
  confidence: finding.confidence,
  rule: finding.rule,
  family: finding.family,
  ...whereOf(finding),
  title: lineText(finding.title),
  consequence: lineText(finding.consequence),
  evidence: evidenceLines(finding).join('; '),
  fix: fixLines(finding).join('; '),
  since: finding.since,
  waivedUntil: finding.waived && nameText(finding.waived.until),
  reason: finding.waived && lineText(finding.waived.reason),
  id: finding.id,
})

const whereOf = ({
  cluster,
  subject,
  nodes,
}: Pick<Finding, 'cluster' | 'subject' | 'nodes'>): CsvRow => ({
  cluster: nameText(cluster),
  subjectKind: subject.kind,
  subjectNamespace: subject.namespace === null ? null : nameText(subject.namespace),
  subjectName: nameText(subject.name),
  nodes: nodes.count,
  nodeSample: nodes.sample.map(nameText).join(' '),
})
