/** Which findings a mail tells of: what changed since the run before, and what is urgent though it did not. Where no run before is known, all of them. */
import { type Change, changesById } from '#model/delta.ts'
import { type Finding, severities } from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { AuditReport, Delivery, RunBefore } from '#model/report.ts'
import { english, type Language } from '#report/languages/language.ts'
import { compareText } from '#report/text.ts'
import { tallyTexts, worstFirst } from './findings.ts'
import { returnedTexts } from './returned.ts'

export interface ToldFinding {
  finding: Finding
  /** What is new about it; null: no run before is known. */
  kind: Kind | 'unchanged' | null
  /** `severity high → critical`; empty where the label says it all. */
  why: string[]
}

export interface MailChanges {
  /** What changed, then what is urgent, then what is better; each worst first. */
  told: ToldFinding[]
  /** As they were, and not urgent: only counted. */
  standing: Finding[]
  ended: PastFinding[]
  /** `1 new`, `2 resolved`; empty: nothing changed. */
  counts: string[]
  /** The time of the run before, RFC 3339; null: none is known. */
  since: string | null
}

/** `seen`: for the first time, as its nodes were not read before. */
const kinds = ['new', 'back', 'worse', 'seen', 'better'] as const
type Kind = (typeof kinds)[number]

const place = (kind: Kind | null) => (kind === null ? 1 : kind === 'better' ? 2 : 0)

export function mailChanges({ document: { findings, delta }, before }: AuditReport, language: Language): MailChanges {
  const sorted = findings.toSorted(worstFirst)
  if (!before) return { told: sorted.map(finding => ({ finding, kind: null, why: [] })), standing: [], ended: [], counts: [], since: null }
  const regressed = new Set(delta.regressed)
  const changed = changesById(before.delta)
  const returned = new Map([...returnedTexts(before, language)].map(([id, text]) => [id, [text]]))
  const kindOf = ({ id }: Finding) => (regressed.has(id) ? 'back' : kindOfChange(changed.get(id)?.change))
  const isTold = (finding: Finding) => kindOf(finding) !== null || finding.severity === 'critical'
  const ended = before.ended.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity) || compareText(a.id, b.id))
  return {
    told: sorted
      .filter(isTold)
      .map(finding => ({ finding, kind: kindOf(finding) }))
      .toSorted((a, b) => place(a.kind) - place(b.kind))
      .map(({ finding, kind }) => ({
        finding,
        kind: kind ?? 'unchanged',
        why: kind === null ? [] : [...(returned.get(finding.id) ?? []), ...(changed.get(finding.id)?.why ?? [])],
      })),
    standing: sorted.filter(finding => !isTold(finding)),
    ended,
    counts: countsOf(sorted.map(kindOf), ended, before, language),
    since: before.takenAt,
  }
}

function kindOfChange(change: Change | undefined): Kind | null {
  switch (change) {
    case 'new':
      return 'new'
    case 'worse':
    case 'waiverExpired':
      return 'worse'
    case 'newlySeen':
      return 'seen'
    case 'better':
      return 'better'
    default:
      return null
  }
}

function countsOf(found: (Kind | null)[], ended: PastFinding[], { unread }: RunBefore, language: Language): string[] {
  const words = language.words.changes.counts
  const gone = ended.filter(({ ended: how }) => how === 'gone').length
  const counts: [number, (count: number) => string][] = [
    ...kinds.map((kind): [number, (count: number) => string] => [found.filter(each => each === kind).length, words[kind]]),
    [ended.length - gone, words.resolved],
    [gone, words.gone],
    [unread.length, words.unread],
  ]
  return counts.filter(([count]) => count > 0).map(([count, text]) => text(count))
}

/** How findings stand that a mail does not tell of one by one: `7 findings stand as they were: 4 high, 3 low`. Null: there is none. */
export function standingText(standing: Finding[], language: Language): string | null {
  if (standing.length === 0) return null
  return language.words.changes.standing(standing.length, tallyTexts(standing, language))
}

/**
 * Whether a run has anything to tell to somebody who only wants to hear of changes: a change, something that was not read as before, or trouble of the
 * run itself. A run without one before it always has.
 */
export function hasNews(report: AuditReport, deliveries: Delivery[]): boolean {
  const { before, document, plan } = report
  if (!before || document.run.inputErrors.length > 0 || plan?.state === 'failed') return true
  if (deliveries.some(({ error, location }) => error !== null || location === null)) return true
  return mailChanges(report, english).counts.length > 0 || document.clusters.some(({ outcomes }) => outcomes.error > 0)
}
