/**
 * The findings of a mail: changes since the last run, and urgent unchanged findings. All findings
 * if there is no earlier run.
 */

import { type Change, changesById } from '#model/delta.ts'
import { type Finding, severities } from '#model/finding.ts'
import type { Ending, PastFinding } from '#model/history.ts'
import type { AuditReport, Delivery, HiddenFinding, ReportedRun, RunBefore } from '#model/report.ts'
import { byText } from '#model/text-order.ts'
import { english, type Language } from '#report/languages/language.ts'
import { tallyTexts, worstFirst } from './findings.ts'
import { returnedTexts } from './returned.ts'

export interface ListedFinding {
  finding: Finding
  /** What is new about the finding; null: no earlier run. */
  kind: ChangeKind | 'unchanged' | null
  /** `severity high → critical`; empty if the label says everything. */
  why: string[]
}

export interface MailChanges {
  /** Changed findings, then urgent unchanged ones, then better ones; each part worst first. */
  listed: ListedFinding[]
  ended: PastFinding[]
  /**
   * Findings open in earlier runs that could not be checked in this run. Those that the last run
   * could check come first; each part is worst first.
   */
  hidden: HiddenFinding[]
  /** Clusters that are not in this run, with their open findings; null: none. */
  absent: string | null
  /** `1 new`, `2 resolved`; empty: nothing changed. */
  counts: string[]
  /** Time of the last run, RFC 3339; null: no earlier run. */
  since: string | null
}

/**
 * `seen`: first seen now, because its nodes were not read before; `unclear`: data that could not be
 * read hides the change; `moved`: as bad, on other nodes; `waived`: waived since the last run.
 */
const kinds = ['new', 'back', 'worse', 'seen', 'unclear', 'moved', 'better', 'waived'] as const
type ChangeKind = (typeof kinds)[number]

const last: readonly ChangeKind[] = ['better', 'waived']
function place(kind: ChangeKind | null): number {
  if (kind === null) return 1
  return last.includes(kind) ? 2 + last.indexOf(kind) : 0
}

export function mailChanges(
  { document: { findings, waived, delta }, before }: Pick<AuditReport, 'document' | 'before'>,
  language: Language,
): MailChanges {
  const sorted = findings.toSorted(worstFirst)
  if (!before)
    return {
      listed: sorted.map(finding => ({ finding, kind: null, why: [] })),
      ended: [],
      hidden: [],
      absent: null,
      counts: [],
      since: null,
    }
  const regressed = new Set(delta.regressed)
  const changed = changesById(before.delta)
  const returned = new Map([...returnedTexts(before, language)].map(([id, text]) => [id, [text]]))
  const kindOf = ({ id }: Finding) =>
    regressed.has(id) ? 'back' : kindOfChange(changed.get(id)?.change)
  const isListed = (finding: Finding) => kindOf(finding) !== null || finding.severity === 'critical'
  const ended = before.ended.toSorted(byPastSeverity)
  const hidden = before.hidden.toSorted(
    (a, b) => Number(b.isNew) - Number(a.isNew) || byPastSeverity(a, b),
  )
  const waivedSince = waived
    .filter(({ id }) => changed.get(id)?.change === 'waivedSince')
    .toSorted(worstFirst)
  return {
    listed: [...sorted.filter(isListed), ...waivedSince]
      .map(finding => ({ finding, kind: kindOf(finding) }))
      .toSorted((a, b) => place(a.kind) - place(b.kind))
      .map(({ finding, kind }) => ({
        finding,
        kind: kind ?? 'unchanged',
        why:
          kind === null
            ? []
            : [...(returned.get(finding.id) ?? []), ...(changed.get(finding.id)?.why ?? [])],
      })),
    ended,
    hidden,
    absent: absentText(before, language),
    counts: countsOf([...sorted, ...waivedSince].map(kindOf), ended, before, language),
    since: before.takenAt,
  }
}

type Past = Pick<PastFinding, 'id' | 'severity'>
const byPastSeverity = (a: Past, b: Past) =>
  severities.indexOf(a.severity) - severities.indexOf(b.severity) || byText(a.id, b.id)

function kindOfChange(change: Change | undefined): ChangeKind | null {
  switch (change) {
    case 'new':
      return 'new'
    case 'worse':
    case 'waiverExpired':
      return 'worse'
    case 'newlySeen':
      return 'seen'
    case 'cannotTell':
      return 'unclear'
    case 'moved':
      return 'moved'
    case 'better':
      return 'better'
    case 'waivedSince':
      return 'waived'
    default:
      return null
  }
}

function countsOf(
  found: (ChangeKind | null)[],
  ended: PastFinding[],
  { unread, hidden, absent }: RunBefore,
  language: Language,
): string[] {
  const words = language.words.changes.counts
  const kindCount = (of: ChangeKind) => found.filter(kind => kind === of).length
  const endedAs = (...ways: Ending[]) => ended.filter(({ ended: how }) => ways.includes(how)).length
  const lost = hidden.filter(({ isNew }) => isNew)
  const critical = lost.filter(({ severity }) => severity === 'critical').length
  const count = (of: Exclude<ChangeKind, 'unclear' | 'moved'>): [number, string] => [
    kindCount(of),
    words[of](kindCount(of)),
  ]
  const unclear = kindCount('unclear') + lost.length
  const moved = kindCount('moved') + endedAs('moved')
  const repaired = endedAs('fixed', 'replaced')
  const away = absent.filter(({ isNew }) => isNew).length
  const come = unread.filter(({ hasCome }) => hasCome).length
  const unclearCount: [number, string] = [unclear, words.unclear(unclear, critical)]
  const counts: [number, string][] = [
    // The subject shows only the first counts, so unclear critical findings come first.
    ...(critical > 0 ? [unclearCount] : []),
    count('new'),
    count('back'),
    count('worse'),
    ...(critical > 0 ? [] : [unclearCount]),
    count('seen'),
    [moved, words.moved(moved)],
    count('better'),
    [repaired, words.resolved(repaired)],
    [endedAs('gone'), words.gone(endedAs('gone'))],
    count('waived'),
    [away, words.absent(away)],
    [unread.length - come, words.unread(unread.length - come)],
    [come, words.unreadNewcomers(come)],
  ]
  return counts.filter(([number]) => number > 0).map(([, text]) => text)
}

const shownAbsent = 3

/**
 * `Not in this run: prod, staging. 3 findings there are as last seen: 1 high, 2 low.` Null: every
 * cluster is in this run.
 */
export function absentText(
  { absent }: Pick<RunBefore, 'absent'>,
  language: Language,
): string | null {
  if (absent.length === 0) return null
  const findings = absent.flatMap(({ severities: each }) => each.map(severity => ({ severity })))
  const names = absent.slice(0, shownAbsent).map(({ cluster }) => language.line(cluster, 80))
  return language.words.changes.absent(
    names,
    absent.length - names.length,
    findings.length,
    tallyTexts(findings, language),
  )
}

/**
 * Whether a run has news for readers who only want changes: a change, something that is no longer
 * read, or a failure of the run. A first run always has news.
 */
export function hasNews(report: AuditReport, deliveries: Delivery[]): boolean {
  const { before, document, plan, notices } = report
  if (!before || document.run.inputErrors.length > 0 || plan?.state === 'failed') return true
  if (deliveries.some(({ error, location }) => error !== null || location === null)) return true
  const since = before.takenAt
  const isNewer = ({ at }: ReportedRun) => Date.parse(at) > Date.parse(since)
  return (
    (notices?.refused.length ?? 0) > 0 ||
    (notices?.runs.some(isNewer) ?? false) ||
    mailChanges(report, english).counts.length > 0 ||
    document.clusters.some(({ outcomes }) => outcomes.error > 0)
  )
}
