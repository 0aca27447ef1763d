/** The end of the story: files to places, then the mails, which can say where they lie and which place could not be reached: everybody's, then each owner's. */
import type { LanguageId } from '#model/language.ts'
import type { Attach, ReportOwner, ReportPolicy } from '#model/policy.ts'
import type { AuditReport, Delivery, RenderedFile } from '#model/report.ts'
import { reportAttachment } from '#publish/attachment.ts'
import type { Channel, FileOnDisk, MailChannel, MailDelivery } from '#publish/channel.ts'
import { mergeDeliveries, publish } from '#publish/publish.ts'
import { htmlIn, pageName } from '#report/formats/html.ts'
import { languages } from '#report/languages/index.ts'
import { hasNews, renderMail, reportLink } from '#report/mail.ts'
import { shareOf } from '#report/share.ts'
import type { Readers } from './service/ways.ts'

/** The audiences of a run. */
export interface Audience {
  /** Null: everybody, of the whole report; else of the owner's share. */
  owner: ReportOwner | null
  language: LanguageId
  /** Their page and mail have the usual names: it is the first language of this owner, or of everybody. */
  isFirst: boolean
  /** Nothing goes where nothing changed. */
  onlyOnChange: boolean
  /** Empty: the mail is only kept as a file. */
  channels: MailChannel[]
}

export interface PublicationContext {
  channels: Channel[]
  audiences: Audience[]
  /** What a mail says of how not to get it any more. */
  unsubscribe: string[]
  /** Null: no snapshot was written. */
  snapshotPath: string | null
  /** Whether there are pages beside the mails. */
  hasPage: boolean
  /** Whether a mail without a link carries the page. */
  attach: Attach
}

/** As a reader sees them. */
export const unsubscribeAddresses = ({ unsubscribe: { url, mailto } }: ReportPolicy) =>
  [url, mailto].filter(address => address !== null)

/** The general audience, then each owner, in each language of their recipients. @param ways the channels of an audience */
export const audiencesOf = (
  { onlyOnChange, owners }: ReportPolicy,
  ways: (owner: ReportOwner | null) => Readers[],
): Audience[] =>
  [
    { owner: null, onlyOnChange },
    ...owners.map(owner => ({ owner, onlyOnChange: owner.onlyOnChange })),
  ].flatMap(audience =>
    ways(audience.owner).map((readers, index) => ({
      ...audience,
      ...readers,
      isFirst: index === 0,
    })),
  )

/** `report.html`, and `report.ko.html` beside it. */
const nameOf = ({ language, isFirst }: Audience, name: string) =>
  isFirst ? name : name.replace('.', `.${language}.`)

/** One answer a channel, those of the audiences last. Never throws: what failed says so. */
export async function publishReport(
  report: AuditReport,
  files: RenderedFile[],
  context: PublicationContext,
): Promise<Delivery[]> {
  const { channels, snapshotPath, audiences } = context
  const snapshot: FileOnDisk[] =
    snapshotPath === null
      ? []
      : [{ name: 'snapshot.ndjson.gz', contentType: 'application/gzip', path: snapshotPath }]
  let stored = await publish([...files, ...snapshot], channels)
  const sent: Delivery[] = []
  for (const audience of audiences) {
    const deliveries =
      audience.owner === null
        ? await tellAll(report, files, stored, audience, context)
        : await tellOwner(report, audience, context)
    stored = mergeDeliveries(stored, deliveries.stored)
    sent.push(...deliveries.sent)
  }
  return [...stored, ...sent]
}

interface Deliveries {
  stored: Delivery[]
  sent: MailDelivery[]
}

function tellAll(
  report: AuditReport,
  files: RenderedFile[],
  stored: Delivery[],
  audience: Audience,
  context: PublicationContext,
): Promise<Deliveries> {
  if (!audience.isFirst) return tellWithPage(report, audience, context, '')
  return tell(
    report,
    { page: files.find(({ name }) => name === pageName), stored, folder: '' },
    audience,
    context,
  )
}

/** Those who get a page of their own: it is published first, so that the mail can lead to it. */
async function tellWithPage(
  report: AuditReport,
  audience: Audience,
  context: PublicationContext,
  folder: string,
): Promise<Deliveries> {
  const { contentType, render } = htmlIn(languages[audience.language])
  const page = context.hasPage
    ? { name: `${folder}${nameOf(audience, pageName)}`, contentType, body: render(report) }
    : undefined
  const stored = page ? await publish([page], context.channels, page.name) : []
  const deliveries = await tell(report, { page, stored, folder }, audience, context)
  return { stored: mergeDeliveries(stored, deliveries.stored), sent: deliveries.sent }
}

async function tellOwner(
  report: AuditReport,
  audience: Audience,
  context: PublicationContext,
): Promise<Deliveries> {
  const { name } = audience.owner!
  const others = context.audiences.flatMap(({ owner }) =>
    owner === null || owner.fallback ? [] : [owner.match],
  )
  const share = shareOf(report, audience.owner!, audience.owner!.fallback ? others : [])
  if (share === null)
    return {
      stored: [],
      sent: audience.channels.map(channel =>
        notSent(channel, `nothing that this run met is of the owner ${name}`),
      ),
    }
  return tellWithPage(share, audience, context, `owners/${name}/`)
}

async function tell(
  report: AuditReport,
  { page, stored, folder }: { page: RenderedFile | undefined; stored: Delivery[]; folder: string },
  audience: Audience,
  { channels, unsubscribe, attach }: PublicationContext,
): Promise<Deliveries> {
  const { owner, language, onlyOnChange, channels: ways } = audience
  const isSilent = onlyOnChange && !hasNews(report, stored)
  const lost = isSilent ? [] : await undelivered(ways)
  const isCarried = attach === 'report' && reportLink(stored) === null && page !== undefined
  const attachment = isCarried ? reportAttachment({ ...page, name: pageName }) : null
  const mail = renderMail(report, [...stored, ...lost], {
    owner: owner?.name ?? null,
    unsubscribe,
    language: languages[language],
    isAttached: attachment !== null,
  })
  const sent = await Promise.all(
    ways.map(way =>
      isSilent
        ? notSent(way, `nothing has changed since the run of ${report.before?.takenAt}`)
        : way.send(mail, attachment === null ? [] : [attachment]),
    ),
  )
  const kept = await publish(
    [
      {
        name: `${folder}${nameOf(audience, 'email.html')}`,
        contentType: 'text/html; charset=utf-8',
        body: mail.html,
      },
      {
        name: `${folder}${nameOf(audience, 'email.txt')}`,
        contentType: 'text/plain; charset=utf-8',
        body: mail.text,
      },
    ],
    channels,
    page?.name,
  )
  return { stored: kept, sent }
}

/** The mail names the recipients that could not be reached. */
async function undelivered(ways: MailChannel[]): Promise<Delivery[]> {
  const deliveries = await Promise.all(
    ways.map(async ({ id: channel, undeliverable }) => ({
      channel,
      error: (await undeliverable?.()) ?? null,
    })),
  )
  return deliveries
    .filter(({ error }) => error !== null)
    .map(({ channel, error }) => ({ channel, location: null, link: null, error }))
}

const notSent = ({ id }: MailChannel, why: string): MailDelivery => ({
  channel: id,
  state: 'not-sent',
  location: `not sent: ${why}`,
  link: null,
  error: null,
  messageId: null,
  doubt: null,
})
