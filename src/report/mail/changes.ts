/**
 * The findings of a mail: changes since the last run, and urgent unchanged findings. All findings
 * if there is no earlier run.
 */

import { by } from '#base/text.ts'
import type { Change, Ending } from '#model/delta.ts'
import { type Finding, type NotAudited, type Severity, severities } from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { AuditReport, Delivery, HiddenFinding, ReportedRun, RunBefore } from '#model/report.ts'
import { english, type Language } from '#report/languages/language.ts'
import { nodeCountText, subjectText, tallyTexts, worstFirst } from '#report/parts/findings.ts'
import type { TitleOf } from '#report/parts/rule-words.ts'
import type { Fold } from '#report/text.ts'
import { severityMark } from './picture.ts'

type ChangeKind = keyof Language['words']['changes']['labels']

const isLabelled = (change: Change | 'unchanged'): change is Change & ChangeKind =>
  Object.hasOwn(english.words.changes.labels, change)

export interface ListedFinding {
  finding: Finding
  /** What is new about the finding; null: no earlier run. */
  kind: ChangeKind | null
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

const lastKinds: ListedFinding['kind'][] = ['unchanged', 'better', 'waivedSince']
const kindRank = ({ kind }: ListedFinding): number => lastKinds.indexOf(kind) + 1

export function mailChanges(
  { document: { findings, waived, delta }, before }: AuditReport,
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
  const changed = new Map(before.delta.findings.map(each => [each.id, each]))
  const returned = new Map([...returnedTexts(before, language)].map(([id, text]) => [id, [text]]))
  const kindOf = ({ id }: Finding): ChangeKind => {
    if (regressed.has(id)) return 'regressed'
    const change = changed.get(id)?.change ?? 'unchanged'
    if (change === 'waiverExpired') return 'worse'
    // A finding of this run has not ended.
    return isLabelled(change) ? change : 'unchanged'
  }
  const isListed = (finding: Finding) =>
    kindOf(finding) !== 'unchanged' || finding.severity === 'critical'
  const ended = before.ended.toSorted(by(...pastKeys))
  const hidden = before.hidden.toSorted(by<HiddenFinding>(({ isNew }) => !isNew, ...pastKeys))
  const waivedSince = waived
    .filter(({ id }) => changed.get(id)?.change === 'waivedSince')
    .toSorted(worstFirst)
  return {
    listed: [...sorted.filter(isListed), ...waivedSince]
      .map(finding => ({
        finding,
        kind: kindOf(finding),
        why: [...(returned.get(finding.id) ?? []), ...(changed.get(finding.id)?.why ?? [])],
      }))
      .toSorted((a, b) => kindRank(a) - kindRank(b)),
    ended,
    hidden,
    absent: absentText(before, language),
    counts: countsOf([...sorted, ...waivedSince].map(kindOf), ended, before, language),
    since: before.takenAt,
  }
}

/** All changes: new or worse, unclear, ended. An id of null: the finding is not in this run. */
export const changeRows = (
  { listed, hidden, ended }: MailChanges,
  { words: { changes, returned } }: Language,
) => [
  ...listed
    .filter(({ kind }) => kind !== 'unchanged')
    .map(({ finding, kind, why }) => {
      return { finding, label: changes.labels[kind ?? 'new'], why, id: finding.id }
    }),
  ...hidden.map(finding => {
    return { finding, label: changes.labels.cannotTell, why: finding.why, id: null }
  }),
  ...ended.map(finding => {
    return { finding, label: returned.endings[finding.ended], why: [], id: null }
  }),
]

const pastKeys: ((past: Pick<PastFinding, 'id' | 'severity'>) => number | string)[] = [
  ({ severity }) => severities.indexOf(severity),
  ({ id }) => id,
]

function countsOf(
  found: ChangeKind[],
  ended: PastFinding[],
  { unread, hidden, absent }: RunBefore,
  { words: { changes } }: Language,
): string[] {
  const texts = changes.counts
  const kindCount = (wanted: ChangeKind) => found.filter(kind => kind === wanted).length
  const endedAs = (...ways: Ending[]) => ended.filter(({ ended: how }) => ways.includes(how)).length
  const lost = hidden.filter(({ isNew }) => isNew)
  const critical = lost.filter(({ severity }) => severity === 'critical').length
  const come = unread.filter(({ hasCome }) => hasCome).length
  type Count = [keyof typeof texts, number]
  const count = (of: ChangeKind & keyof typeof texts): Count => [of, kindCount(of)]
  const unclear: Count = ['cannotTell', kindCount('cannotTell') + lost.length]
  const counts: Count[] = [
    // The subject shows only the first counts, so unclear critical findings come first.
    ...(critical > 0 ? [unclear] : []),
    count('new'),
    count('regressed'),
    count('worse'),
    ...(critical > 0 ? [] : [unclear]),
    count('newlySeen'),
    ['moved', kindCount('moved') + endedAs('moved')],
    count('better'),
    ['resolved', endedAs('fixed', 'replaced')],
    ['gone', endedAs('gone')],
    count('waivedSince'),
    ['absent', absent.filter(({ isNew }) => isNew).length],
    ['unread', unread.length - come],
    ['unreadNewcomers', come],
  ]
  return counts.flatMap(([of, number]) => (number > 0 ? texts[of](number, critical) : []))
}

const shownAbsent = 3

/**
 * `Not in this run: prod, staging. 3 findings there are as last seen: 1 high, 2 low.` Null: every
 * cluster is in this run.
 */
function absentText({ absent }: RunBefore, language: Language): string | null {
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
export function hasNews(report: AuditReport, deliveries: Delivery[]) {
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

/** Texts by the finding's id, such as `fixed on 2026-11-03, there before since 2026-10-20`. */
const returnedTexts = ({ returned }: RunBefore, { words: { returned: words }, line }: Language) =>
  new Map(
    returned.map(({ id, since, ended, on }) => [
      id,
      words.ended(words.endings[ended], line(on, 20), line(since, 20)),
    ]),
  )

/* Findings of the last run in a mail: those that ended, and those that could not be checked. */

const shown = { ended: 3, hidden: 3, hiddenReasons: 2, reasons: 5, names: 2, channels: 6 }

/** Rows of a list, for a share of its usual number. */
export type MostRows = (rows: number) => number

export interface MailWords {
  report: AuditReport
  fold: Fold
  most: MostRows
  titleOf: TitleOf
  language: Language
}

const foldedTitle = ({ title, ownTitle }: ReturnType<TitleOf>, fold: Fold) => ({
  title: fold(title, 200),
  ownTitle: ownTitle === null ? null : fold(ownTitle, 200),
})

const markOf = (severity: Severity, { words }: Language) => ({
  ...severityMark(severity),
  severityWord: words.severities[severity],
})

/** Null: no finding ended. */
export function mailEndedView(
  { ended }: MailChanges,
  { fold, most, titleOf, language }: MailWords,
) {
  const { changes: words, list: join } = language.words
  if (ended.length === 0) return null
  const list = ended
    .slice(0, most(shown.ended))
    .map((past: PastFinding) => ({
      ...markOf(past.severity, language),
      ...foldedTitle(titleOf(past), fold),
      where: join([fold(past.cluster, 80), subjectText(past.subject, language)]),
      how: language.words.returned.endings[past.ended],
    }))
  const rest = ended.length - list.length
  return { title: words.ended, list, leftOut: rest > 0 ? words.moreEnded(rest) : null }
}

/** Null: every known finding could be checked. */
export function mailHiddenView(
  { hidden }: MailChanges,
  { fold, most, titleOf, language }: MailWords,
) {
  const { changes: words, clauses, list: join, since } = language.words
  if (hidden.length === 0) return null
  const list = hidden
    .slice(0, most(shown.hidden))
    .map(({ severity, why, nodes, ...finding }) => ({
      ...markOf(severity, language),
      ...foldedTitle(titleOf(finding), fold),
      where: join(
        [
          fold(finding.cluster, 80),
          subjectText(finding.subject, language),
          nodeCountText(nodes, language),
          since(fold(finding.since, 20)),
          words.lastSeen(fold(finding.lastSeen, 20)),
        ].filter(Boolean),
      ),
      why:
        why.length === 0
          ? null
          : clauses(why.slice(0, shown.hiddenReasons).map(reason => fold(reason, 200))),
    }))
  const rest = hidden.slice(list.length)
  return {
    title: words.hidden(hidden.length),
    list,
    leftOut: rest.length > 0 ? words.moreHidden(rest.length, tallyTexts(rest, language)) : null,
  }
}

/* The end of a mail: what was not audited and why, and where the report is. */

const linkLimit = 1000

/** Entries by reason: whole clusters come first, then the reasons with most nodes. Null: all are nodes of Fargate. */
export function mailNotAuditedView(
  title: string,
  notAudited: NotAudited[],
  { fold, most, language: { words } }: Omit<MailWords, 'titleOf'>,
) {
  // AWS runs the kubelets of Fargate: they are counted, and the page names them.
  const unaudited = notAudited.filter(({ cause }) => cause !== 'fargate')
  const groups = [
    ...Map.groupBy(unaudited, ({ node, reason }) =>
      JSON.stringify([node === null, reason]),
    ).values(),
  ].toSorted(
    by(
      ([first]) => first!.node !== null,
      ({ length }) => -length,
      ([first]) => first!.reason,
    ),
  )
  const rest = groups.slice(most(shown.reasons))
  const entries = rest.reduce((sum, { length }) => sum + length, 0)
  if (groups.length === 0) return null
  return {
    title,
    list: groups
      .slice(0, most(shown.reasons))
      .map(group => ({
        who: unreadPlacesText(group, fold, words.notAudited),
        reason: fold(group[0]!.reason, 420) || words.noReason,
      })),
    leftOut: rest.length > 0 ? words.notAudited.more(rest.length, entries) : null,
  }
}

type Words = Language['words']['notAudited']

function unreadPlacesText(group: NotAudited[], fold: Fold, words: Words) {
  const clusters = [...new Set(group.map(({ cluster }) => cluster))].toSorted()
  const nodes = group.flatMap(({ node }) => node ?? [])
  if (nodes.length === 0)
    return clusters.length === 1
      ? words.cluster(fold(clusters[0]!, 80))
      : words.clusters(clusters.length, someNames(clusters, fold, words))
  const of = clusters.length === 1 ? fold(clusters[0]!, 80) : words.clusterCount(clusters.length)
  return words.nodes(nodes.length, of, someNames(nodes, fold, words))
}

function someNames(names: string[], fold: Fold, words: Words) {
  const sorted = names.toSorted()
  return words.names(
    sorted.slice(0, shown.names).map(name => fold(name, 80)),
    Math.max(sorted.length - shown.names, 0),
  )
}

interface DeliveriesContext {
  fold: Fold
  language: Language
  isAttached: boolean
  /** The command that opens the report; null: none. */
  open: string | null
}

export function mailDeliveriesView(
  deliveries: Delivery[],
  { fold, language, isAttached, open }: DeliveriesContext,
) {
  const words = language.words.report
  const link = reportLink(deliveries)
  const names: Partial<Record<string, string>> = words.channels
  const name = (channel: string) => names[channel] ?? fold(channel, 30)
  const kept = deliveries.filter(({ location }) => location !== null)
  // The command that opens the report names the bucket.
  const listed =
    open === null || link !== null ? kept : kept.filter(({ channel }) => channel !== 's3')
  const places = listed.map(({ channel, location }) =>
    words.place(name(channel), fold(location ?? '', 240)),
  )
  const failures = deliveries
    .filter(({ location, error }) => location === null || error !== null)
    .map(({ channel, error }) => ({
      channel: name(channel),
      what: words.notDelivered(name(channel)),
      error: fold(error ?? '', 600) || words.failed,
    }))
  return {
    link,
    // A run is two folders below the list.
    runs: link && new URL('../../index.html', link).href,
    attached: isAttached && link === null ? words.attached(kept.length > 0) : null,
    open: link === null ? open : null,
    places: places.slice(0, shown.channels),
    placesLeftOut: leftOut(places.length, words.morePlaces),
    failures: failures.slice(0, shown.channels),
    failuresLeftOut: leftOut(failures.length, words.moreChannels),
  }
}

/**
 * The command that opens the report with the reader's own credentials. A URL that a function signs
 * would expire with the function's credentials, within hours.
 * @param isPart the run has no place in `latest/`
 */
export function openCommandOf(
  deliveries: Delivery[],
  region: string | null,
  isPart: boolean,
): string | null {
  const place = deliveries.find(({ channel, location }) => channel === 's3' && location !== null)
  const { bucket, run } =
    /^s3:\/\/(?<bucket>[\w./-]+)\/runs\/(?<run>[\w.-]+)\/$/.exec(place?.location ?? '')?.groups ??
    {}
  if (bucket === undefined) return null
  const inRegion = region !== null && /^[a-z0-9-]+$/.test(region) ? ` --region ${region}` : ''
  return `highwater open ${isPart ? run : 'latest'} --bucket ${bucket}${inRegion}`
}

const leftOut = (count: number, text: (count: number) => string) =>
  count > shown.channels ? text(count - shown.channels) : null

/**
 * The report's address for a browser: the first http(s) address without credentials.
 */
export function reportLink(deliveries: Delivery[]): string | null {
  for (const { link } of deliveries) {
    if (link === null || link.length > linkLimit || !URL.canParse(link)) continue
    const { protocol, username, password, href } = new URL(link)
    if (
      (protocol === 'https:' || protocol === 'http:') &&
      username === '' &&
      password === '' &&
      href.length <= linkLimit
    )
      return href
  }
  return null
}
