/** The end of a mail: what was not audited and why, and where the report is. */
import type { NotAudited } from '#model/finding.ts'
import type { Delivery } from '#model/report.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { compareText, type Fold } from '#report/text.ts'

const shown = { reasons: 5, names: 2, channels: 6 }
const linkLimit = 1000

export interface MailNotAudited {
  list: { who: string; reason: string }[]
  leftOut: string | null
}

/** Equal reasons together: whole clusters first, then the reason that most nodes share. */
export function mailNotAuditedView(notAudited: NotAudited[], fold: Fold): MailNotAudited {
  const groups = [...Map.groupBy(notAudited, ({ node, reason }) => JSON.stringify([node === null, reason])).values()].toSorted(
    (a, b) => Number(a[0]!.node !== null) - Number(b[0]!.node !== null) || b.length - a.length || compareText(a[0]!.reason, b[0]!.reason),
  )
  const rest = groups.slice(shown.reasons)
  const entries = rest.reduce((sum, { length }) => sum + length, 0)
  return {
    list: groups
      .slice(0, shown.reasons)
      .map(group => ({ who: whoOf(group, fold), reason: fold(group[0]!.reason, 420) || 'no reason was recorded' })),
    leftOut:
      rest.length > 0
        ? `and ${counted(rest.length, 'more reason')} (${counted(entries, 'node or cluster', 'nodes or clusters')}) in the report.`
        : null,
  }
}

function whoOf(group: NotAudited[], fold: Fold): string {
  const clusters = distinct(group.map(({ cluster }) => cluster))
  const nodes = group.flatMap(({ node }) => node ?? [])
  if (nodes.length === 0)
    return clusters.length === 1 ? `Cluster ${fold(clusters[0]!, 80)}` : `${counted(clusters.length, 'cluster')}: ${some(clusters, fold)}`
  const of = clusters.length === 1 ? fold(clusters[0]!, 80) : counted(clusters.length, 'cluster')
  return `${counted(nodes.length, 'node')} of ${of}: ${some(nodes, fold)}`
}

const distinct = (names: string[]) => [...new Set(names)].toSorted(compareText)

function some(names: string[], fold: Fold): string {
  const sorted = names.toSorted(compareText)
  const rest = sorted.length - shown.names
  return `${sorted
    .slice(0, shown.names)
    .map(name => fold(name, 80))
    .join(', ')}${rest > 0 ? ` and ${formatCount(rest)} more` : ''}`
}

export interface MailDeliveriesView {
  link: string | null
  /** Stands where there is no link: then the mail carries the report. */
  attached: string | null
  places: string[]
  placesLeftOut: string | null
  failures: { channel: string; error: string }[]
  failuresLeftOut: string | null
}

const channelNames: Record<string, string> = { s3: 'S3', folder: 'Folder', ses: 'SES' }

export function mailDeliveriesView(deliveries: Delivery[], fold: Fold): MailDeliveriesView {
  const link = reportLink(deliveries)
  const name = (channel: string) => (Object.hasOwn(channelNames, channel) ? channelNames[channel]! : fold(channel, 30))
  const places = deliveries.flatMap(({ channel, location }) => (location === null ? [] : [`${name(channel)}: ${fold(location, 240)}`]))
  const failures = deliveries
    .filter(({ location, error }) => location === null || error !== null)
    .map(({ channel, error }) => ({ channel: name(channel), error: fold(error ?? '', 600) || 'It failed, and no reason was recorded.' }))
  return {
    link,
    attached: link === null ? `It is attached to this mail: report.html.${places.length > 0 ? '' : ' No store keeps it.'}` : null,
    places: places.slice(0, shown.channels),
    placesLeftOut: leftOut(places.length, 'place'),
    failures: failures.slice(0, shown.channels),
    failuresLeftOut: leftOut(failures.length, 'channel'),
  }
}

const leftOut = (count: number, noun: string) => (count > shown.channels ? `and ${counted(count - shown.channels, `more ${noun}`)}` : null)

/** Where a reader opens the report in a browser: the first http(s) address without credentials in it; null: the mail carries the report itself. */
export function reportLink(deliveries: Delivery[]): string | null {
  for (const { link } of deliveries) {
    if (link === null || link.length > linkLimit || !URL.canParse(link)) continue
    const { protocol, username, password, href } = new URL(link)
    if ((protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && href.length <= linkLimit) return href
  }
  return null
}
