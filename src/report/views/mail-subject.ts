/** The subject of a mail: the verdict, what changed, and where, in one line. */
import type { Finding, FindingsDocument } from '#model/finding.ts'
import { counted, formatCount, formatUtc } from '#report/numbers.ts'
import { foldedLine } from '#report/text.ts'
import { severityWords, tally, worstFirst } from './findings.ts'
import type { MailChanges } from './mail-changes.ts'

const limit = 120
const shownCounts = 3

interface SubjectParts {
  headline: string
  scope: string
  isCutShort: boolean
  owner: string | null
}

export function mailSubject(
  document: FindingsDocument,
  changes: MailChanges,
  { headline, scope, isCutShort, owner }: SubjectParts,
): string {
  const { run, clusters, findings } = document
  const day = formatUtc(run.takenAt).slice(0, 10)
  const from = ['highwater', owner === null ? '' : foldedLine(owner, 40), /^\d/.test(day) ? day : ''].filter(Boolean).join(' ')
  const verdict = findings.length > 0 ? verdictOf(findings, clusters.length, changes) : emptyVerdict(headline, scope, changes)
  const subject = `${isCutShort ? 'Cut short. ' : ''}${verdict} - ${from}`.replace(/\s+/g, ' ')
  return subject.length > limit ? `${subject.slice(0, limit - 3)}...` : subject
}

function verdictOf(findings: Finding[], clusterCount: number, { since, counts }: MailChanges): string {
  const word = severityWords[findings.toSorted(worstFirst)[0]!.severity]
  const where = whereOf(findings, clusterCount)
  if (since !== null && counts.length > 0) return `${word}: ${someOf(counts)}; ${counted(findings.length, 'finding')} in ${where}`
  const tallied = tally(findings).map(({ count, word: severity }) => `${count} ${severity.toLowerCase()}`)
  return `${word}${since === null ? '' : ', nothing new'}: ${tallied.join(', ')} in ${where}`
}

const emptyVerdict = (headline: string, scope: string, { counts }: MailChanges) =>
  `${headline}: ${counts.length === 0 ? '' : `${someOf(counts)}; `}${scope}`

const someOf = (counts: string[]) => `${counts.slice(0, shownCounts).join(', ')}${counts.length > shownCounts ? ', …' : ''}`

/** The one cluster by name while that is short, else how many. */
function whereOf(findings: Finding[], clusterCount: number): string {
  const affected = [...new Set(findings.map(({ cluster }) => cluster))]
  const name = affected.length === 1 && affected[0]!.length <= 40 ? foldedLine(affected[0]!, 40) : ''
  if (name !== '') return name
  return clusterCount > affected.length
    ? `${formatCount(affected.length)} of ${counted(clusterCount, 'cluster')}`
    : counted(affected.length, 'cluster')
}
