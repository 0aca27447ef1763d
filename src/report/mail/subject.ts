/** The subject of a mail: the verdict, what changed, and where, in one line. */
import type { Finding, FindingsDocument } from '#model/finding.ts'
import type { Language } from '#report/languages/language.ts'
import { tallyTexts, worstFirst } from '#report/parts/findings.ts'
import type { MailChanges } from './changes.ts'

const limit = 120
/** Mail programs cut a longer subject. */
const roomyLimit = 90
const shownCounts = 3

interface SubjectParts {
  headline: string
  scope: string
  /** Number of nodes that evict now. */
  evicting: number
  /** The node that is nearest to eviction, and its cluster. */
  first: { name: string; cluster: string }
  isCutShort: boolean
  owner: string | null
}

export function mailSubject(
  document: FindingsDocument,
  changes: MailChanges,
  { headline, scope, evicting, first, isCutShort, owner }: SubjectParts,
  language: Language,
) {
  const { words: all, fold } = language
  const words = all.subject
  const { run, clusters, findings } = document
  const day = language.utc(run.takenAt).slice(0, 10)
  const from = ['highwater', owner === null ? '' : fold(owner, 40), /^\d/.test(day) ? day : '']
    .filter(Boolean)
    .join(' ')
  const signedSubject = (shown: number) => {
    const verdict =
      findings.length > 0
        ? verdictOf(findings, clusters.length, changes, { evicting, first, shown, language })
        : words.empty(
            headline,
            shortList(changes.counts, Math.min(shown, shownCounts), language) || null,
            scope,
          )
    const signed = words.signed(verdict, from)
    return (isCutShort ? words.cutShort(signed) : signed).replace(/\s+/g, ' ')
  }
  // A subject that is too long shows fewer counts, so that its date is not cut. Nodes that evict need none.
  const least = evicting > 0 && findings.length > 0 ? 0 : 1
  const shown = [5, 4, 3, 2, 1, 0].filter(count => count >= least)
  const subject =
    shown.map(signedSubject).find(({ length }) => length <= roomyLimit) ?? signedSubject(least)
  return subject.length > limit ? `${subject.slice(0, limit - 3)}...` : subject
}

interface VerdictOptions extends Pick<SubjectParts, 'evicting' | 'first'> {
  /** Number of counts to show. */
  shown: number
  language: Language
}

function verdictOf(
  findings: Finding[],
  clusterCount: number,
  { since, counts }: MailChanges,
  { evicting, first, shown, language }: VerdictOptions,
) {
  const { subject: words, severities } = language.words
  const word = severities[findings.toSorted(worstFirst)[0]!.severity]
  if (evicting > 0) {
    const { changes, clauses, list } = language.words
    const known = since === null ? tallyTexts(findings, language) : counts
    const texts = known.length > 0 ? known : [changes.none]
    const verdict = words.evicting(evicting, first.name, first.cluster)
    return shown === 0 ? verdict : clauses([verdict, list(texts.slice(0, shown))])
  }
  const where = clustersText(findings, clusterCount, language)
  if (since !== null && counts.length > 0)
    return words.changed(
      word,
      shortList(counts, Math.min(shown, shownCounts), language),
      findings.length,
      where,
    )
  return (since === null ? words.first : words.nothingNew)(
    word,
    [shortList(tallyTexts(findings, language), shown, language)],
    where,
  )
}

const shortList = (counts: string[], shown: number, { words }: Language) =>
  counts.length > shown ? words.subject.andSo(counts.slice(0, shown)) : words.list(counts)

/** The name of the affected cluster if there is only one with a short name; else their number. */
function clustersText(findings: Finding[], clusterCount: number, { words, fold }: Language) {
  const affected = [...new Set(findings.map(({ cluster }) => cluster))]
  const name = affected.length === 1 && affected[0]!.length <= 40 ? fold(affected[0]!, 40) : ''
  if (name !== '') return name
  return words.subject.someClusters(
    affected.length,
    clusterCount > affected.length ? clusterCount : null,
  )
}
