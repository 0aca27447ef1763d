/** The end of a mail: what was not audited and why, and where the report is. */

import { byText } from '#base/text/text-order.ts'
import type { NotAudited } from '#model/finding/finding.ts'
import type { Delivery } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { Fold } from '#report/text.ts'

const shown = { reasons: 5, names: 2, channels: 6 }
const linkLimit = 1000

/** Entries by reason: whole clusters come first, then the reasons with most nodes. Null: all are nodes of Fargate. */
export function mailNotAuditedView(
  title: string,
  notAudited: NotAudited[],
  fold: Fold,
  { words }: Language,
) {
  // AWS runs the kubelets of Fargate: they are counted, and the page names them.
  const unaudited = notAudited.filter(({ cause }) => cause !== 'fargate')
  const groups = [
    ...Map.groupBy(unaudited, ({ node, reason }) =>
      JSON.stringify([node === null, reason]),
    ).values(),
  ].toSorted(
    (a, b) =>
      Number(a[0]!.node !== null) - Number(b[0]!.node !== null) ||
      b.length - a.length ||
      byText(a[0]!.reason, b[0]!.reason),
  )
  const rest = groups.slice(shown.reasons)
  const entries = rest.reduce((sum, { length }) => sum + length, 0)
  if (groups.length === 0) return null
  return {
    title,
    list: groups
      .slice(0, shown.reasons)
      .map(group => ({
        who: whoOf(group, fold, words.notAudited),
        reason: fold(group[0]!.reason, 420) || words.noReason,
      })),
    leftOut: rest.length > 0 ? words.notAudited.more(rest.length, entries) : null,
  }
}

type Words = Language['words']['notAudited']

function whoOf(group: NotAudited[], fold: Fold, words: Words) {
  const clusters = distinctNames(group.map(({ cluster }) => cluster))
  const nodes = group.flatMap(({ node }) => node ?? [])
  if (nodes.length === 0)
    return clusters.length === 1
      ? words.cluster(fold(clusters[0]!, 80))
      : words.clusters(clusters.length, someNames(clusters, fold, words))
  const of = clusters.length === 1 ? fold(clusters[0]!, 80) : words.clusterCount(clusters.length)
  return words.nodes(nodes.length, of, someNames(nodes, fold, words))
}

const distinctNames = (names: string[]) => [...new Set(names)].toSorted(byText)

function someNames(names: string[], fold: Fold, words: Words) {
  const sorted = names.toSorted(byText)
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
