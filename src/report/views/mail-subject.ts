/** The subject of a mail: the verdict, what changed, and where, in one line. */
import type { Finding, FindingsDocument } from '#model/finding.ts'
import type { Language } from '#report/languages/language.ts'
import { tallyTexts, worstFirst } from './findings.ts'
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
  language: Language,
): string {
  const { words: all, fold } = language
  const words = all.subject
  const { run, clusters, findings } = document
  const day = language.utc(run.takenAt).slice(0, 10)
  const from = ['highwater', owner === null ? '' : fold(owner, 40), /^\d/.test(day) ? day : ''].filter(Boolean).join(' ')
  const verdict =
    findings.length > 0
      ? verdictOf(findings, clusters.length, changes, language)
      : words.empty(headline, someOf(changes.counts, language), scope)
  const signed = words.signed(verdict, from)
  const subject = (isCutShort ? words.cutShort(signed) : signed).replace(/\s+/g, ' ')
  return subject.length > limit ? `${subject.slice(0, limit - 3)}...` : subject
}

function verdictOf(findings: Finding[], clusterCount: number, { since, counts }: MailChanges, language: Language): string {
  const { subject: words, severities } = language.words
  const word = severities[findings.toSorted(worstFirst)[0]!.severity]
  const where = whereOf(findings, clusterCount, language)
  if (since !== null && counts.length > 0) return words.changed(word, someOf(counts, language), findings.length, where)
  return (since === null ? words.first : words.nothingNew)(word, tallyTexts(findings, language), where)
}

const someOf = (counts: string[], { words }: Language) =>
  counts.length > shownCounts ? words.subject.andSo(counts.slice(0, shownCounts)) : words.list(counts)

/** The one cluster by name while that is short, else how many. */
function whereOf(findings: Finding[], clusterCount: number, { words, fold }: Language): string {
  const affected = [...new Set(findings.map(({ cluster }) => cluster))]
  const name = affected.length === 1 && affected[0]!.length <= 40 ? fold(affected[0]!, 40) : ''
  if (name !== '') return name
  return words.subject.someClusters(affected.length, clusterCount)
}
