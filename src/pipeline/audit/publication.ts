/** The end of an audit: stores the files, then sends the mails, which name the places of the files and the places that failed. First the general mail, then each owner's. */

import { causesOf } from '#judge/causes.ts'
import type { LanguageId } from '#model/language.ts'
import type { Attach, ReportOwner, ReportPolicy } from '#model/policy.ts'
import type { AuditReport, Delivery, RenderedFile } from '#model/report.ts'
import {
  type Channel,
  type FileOnDisk,
  type MailChannel,
  type MailDelivery,
  mergeDeliveries,
  publish,
  reportAttachment,
} from '#publish/publish.ts'
import { htmlIn, pageName } from '#report/formats/html.ts'
import { languages } from '#report/languages/language.ts'
import { hasNews, renderMail, reportLink } from '#report/mail/mail.ts'
import { shareOf } from '#report/share.ts'
import { withNewerReleases } from './newer-releases.ts'

/** The recipients of an audience with one language. */
export interface Readers {
  language: LanguageId
  /** Empty: the mail is only written as a file. */
  channels: MailChannel[]
}

/** The audiences of a run. */
export interface Audience extends Readers {
  /** Null: the general audience of the whole report. Else the owner gets a share of it. */
  owner: ReportOwner | null
  /** The first language of this owner, or of the general audience: page and mail have the usual names. */
  isFirst: boolean
  /** Sends nothing if nothing has changed. */
  onlyOnChange: boolean
}

export interface PublicationContext {
  channels: Channel[]
  audiences: Audience[]
  /** Addresses to unsubscribe, for the mail. */
  unsubscribe: string[]
  /** Null: no snapshot was written. */
  snapshotPath: string | null
  /** Whether there are pages beside the mails. */
  hasPage: boolean
  /** Whether a mail without a link carries the page. */
  attach: Attach
  /** The run covers a part of the fleet. */
  isPart: boolean
}

/** Unsubscribe addresses for the text of the mail. */
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

/** `report.html` for the first language, and for example `report.ko.html` for another. */
const nameOf = ({ language, isFirst }: Audience, name: string) =>
  isFirst ? name : name.replace('.', `.${language}.`)

/** Returns one delivery per channel, those of the audiences last. Never throws: a failed delivery has an error. */
export async function publishReport(
  report: AuditReport,
  files: RenderedFile[],
  context: PublicationContext,
) {
  const { channels, snapshotPath, audiences } = context
  const snapshot: FileOnDisk[] =
    snapshotPath === null
      ? []
      : [{ name: 'snapshot.ndjson.gz', contentType: 'application/gzip', path: snapshotPath }]
  let stored = await publish([...files, ...snapshot], channels)
  const sent: Delivery[] = []
  for (const audience of audiences) {
    const { owner, isFirst } = audience
    const page = files.find(({ name }) => name === pageName)
    let deliveries: Deliveries
    if (owner) deliveries = await sendToOwner(report, owner, audience, context)
    else if (isFirst)
      deliveries = await send({ report, page, stored, folder: '' }, audience, context)
    else deliveries = await sendWithPage(report, '', audience, context)
    stored = mergeDeliveries(stored, deliveries.stored)
    sent.push(...deliveries.sent)
  }
  return [...stored, ...sent]
}

interface Deliveries {
  stored: Delivery[]
  sent: MailDelivery[]
}

/** The report and the files that a mail shows or links to. */
interface MailContent {
  report: AuditReport
  page: RenderedFile | undefined
  /** Deliveries of the page. */
  stored: Delivery[]
  /** Folder of the mail's own files in the store. */
  folder: string
}

async function sendToOwner(
  report: AuditReport,
  owner: ReportOwner,
  audience: Audience,
  context: PublicationContext,
): Promise<Deliveries> {
  const others = context.audiences.flatMap(({ owner: other }) =>
    !other || other.fallback ? [] : [other.match],
  )
  const share = shareOf(report, owner, owner.fallback ? others : [])
  if (share)
    return sendWithPage(
      {
        ...share,
        nodes: withNewerReleases(share.nodes),
        document: { ...share.document, causes: causesOf(share) },
      },
      `owners/${owner.name}/`,
      audience,
      context,
    )
  const why = `nothing that this run met is of the owner ${owner.name}`
  return { stored: [], sent: audience.channels.map(channel => notSent(channel, why)) }
}

/** Sends to an audience with a separate page. The page is published first, so that the mail can link to it. */
async function sendWithPage(
  report: AuditReport,
  folder: string,
  audience: Audience,
  context: PublicationContext,
): Promise<Deliveries> {
  const { contentType, render } = htmlIn(languages[audience.language])
  const page = context.hasPage
    ? { name: `${folder}${nameOf(audience, pageName)}`, contentType, body: render(report) }
    : undefined
  const stored = page ? await publish([page], context.channels, page.name) : []
  const { stored: kept, sent } = await send({ report, page, stored, folder }, audience, context)
  return { stored: mergeDeliveries(stored, kept), sent }
}

async function send(
  { report, page, stored, folder }: MailContent,
  audience: Audience,
  { channels, unsubscribe, attach, isPart }: PublicationContext,
): Promise<Deliveries> {
  const { owner, language, onlyOnChange, channels: mailChannels } = audience
  const isSilent = onlyOnChange && !hasNews(report, stored)
  const lost = isSilent ? [] : await mailFailures(mailChannels)
  const isAttached = attach === 'report' && reportLink(stored) === null && page !== undefined
  const attachment = isAttached ? reportAttachment({ ...page, name: pageName }) : null
  const mail = renderMail(report, [...stored, ...lost], {
    owner: owner?.name ?? null,
    unsubscribe,
    language: languages[language],
    isAttached: attachment !== null,
    isPart,
  })
  const sent = await Promise.all(
    mailChannels.map(channel =>
      isSilent
        ? notSent(channel, `nothing has changed since the run of ${report.before?.takenAt}`)
        : channel.send(mail, attachment ? [attachment] : []),
    ),
  )
  const fileOf = (name: string, type: string, body: string) => ({
    name: `${folder}${nameOf(audience, name)}`,
    contentType: `${type}; charset=utf-8`,
    body,
  })
  const files = [
    fileOf('email.html', 'text/html', mail.html),
    fileOf('email.txt', 'text/plain', mail.text),
  ]
  return { stored: await publish(files, channels, page?.name), sent }
}

/** The mail names the recipients that could not be reached. */
async function mailFailures(channels: MailChannel[]): Promise<Delivery[]> {
  const errors = await Promise.all(
    channels.map(async ({ id, undeliverable }) => ({ id, error: await undeliverable?.() })),
  )
  return errors.flatMap(({ id, error }) =>
    error == null ? [] : [{ channel: id, location: null, link: null, error }],
  )
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
