/** Which findings a mail tells of: what changed since the run before, and what is urgent though it did not. Where no run before is known, all of them. */
import { type Change, changesById } from '#model/delta.ts'
import { type Finding, severities } from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { AuditReport, Delivery, RunBefore } from '#model/report.ts'
import { counted, formatCount, formatUtc } from '#report/numbers.ts'
import { compareText } from '#report/text.ts'
import { severityWords, tally, worstFirst } from './findings.ts'
import { returnedTexts } from './returned.ts'

export interface ToldFinding {
  finding: Finding
  /** What is new about it; null: no run before is known. */
  label: string | null
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
  /** The time of the run before; null: none is known. */
  since: string | null
}

type Kind = 'new' | 'back' | 'worse' | 'seen' | 'better'

/** As a label, and in a count. */
const words: Record<Kind, [label: string, counted: string]> = {
  new: ['New', 'new'],
  back: ['Back again', 'back again'],
  worse: ['Worse', 'worse'],
  // Its nodes were not read before.
  seen: ['Seen for the first time', 'seen for the first time'],
  better: ['Better', 'better'],
}
const kinds = Object.keys(words) as Kind[]
/** The label of what is only told because it is urgent. */
export const unchanged = 'Unchanged'
const place = (kind: Kind | null) => (kind === null ? 1 : kind === 'better' ? 2 : 0)

export function mailChanges({ document: { findings, delta }, before }: AuditReport): MailChanges {
  const sorted = findings.toSorted(worstFirst)
  if (!before) return { told: sorted.map(finding => ({ finding, label: null, why: [] })), standing: [], ended: [], counts: [], since: null }
  const regressed = new Set(delta.regressed)
  const changed = changesById(before.delta)
  const returned = new Map([...returnedTexts(before)].map(([id, text]) => [id, [text]]))
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
        label: kind === null ? unchanged : words[kind][0],
        why: kind === null ? [] : [...(returned.get(finding.id) ?? []), ...(changed.get(finding.id)?.why ?? [])],
      })),
    standing: sorted.filter(finding => !isTold(finding)),
    ended,
    counts: countsOf(sorted.map(kindOf), ended, before),
    since: formatUtc(before.takenAt),
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

function countsOf(found: (Kind | null)[], ended: PastFinding[], { unread }: RunBefore): string[] {
  const gone = ended.filter(({ ended: how }) => how === 'gone').length
  const counts: [number, string][] = [
    ...kinds.map((kind): [number, string] => [found.filter(each => each === kind).length, words[kind][1]]),
    [ended.length - gone, 'resolved'],
    [gone, 'gone with its nodes'],
  ]
  const said = counts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`)
  if (unread.length > 0) said.push(`${counted(unread.length, 'node or cluster', 'nodes or clusters')} no longer wholly read`)
  return said
}

/** How findings stand that a mail does not tell of one by one: `7 findings stand as they were: 4 high, 3 low`. Null: there is none. */
export function standingText(standing: Finding[]): string | null {
  if (standing.length === 0) return null
  const counts = tally(standing).map(({ severity, count }) => `${count} ${severityWords[severity].toLowerCase()}`)
  const how = standing.length === 1 ? 'stands as it was' : 'stand as they were'
  return `${counted(standing.length, 'finding')} ${how}: ${counts.join(', ')}. The report tells of them.`
}

/**
 * Whether a run has anything to tell to somebody who only wants to hear of changes: a change, something that was not read as before, or trouble of the
 * run itself. A run without one before it always has.
 */
export function hasNews(report: AuditReport, deliveries: Delivery[]): boolean {
  const { before, document, plan } = report
  if (!before || document.run.inputErrors.length > 0 || plan?.state === 'failed') return true
  if (deliveries.some(({ error, location }) => error !== null || location === null)) return true
  return mailChanges(report).counts.length > 0 || document.clusters.some(({ outcomes }) => outcomes.error > 0)
}
