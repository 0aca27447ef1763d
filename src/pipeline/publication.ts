/** The end of the story: files to places, then the mail, which can say where they lie and which place could not be reached. */
import type { AuditReport, Delivery, RenderedFile } from '#model/report.ts'
import { reportAttachment } from '#publish/attachment.ts'
import type { Channel, FileOnDisk, MailChannel, MailDelivery } from '#publish/channel.ts'
import { mergeDeliveries, publish } from '#publish/publish.ts'
import { renderMail, reportLink } from '#report/mail.ts'

export interface PublicationContext {
  channels: Channel[]
  /** Null: the mail is only kept as a file. */
  mail: MailChannel | null
  /** Null: no snapshot was written. */
  snapshotPath: string | null
}

/** One answer a channel, the mail's last. Never throws: what failed says so. */
export async function publishReport(report: AuditReport, files: RenderedFile[], context: PublicationContext): Promise<Delivery[]> {
  const { channels, snapshotPath } = context
  const snapshot: FileOnDisk[] =
    snapshotPath === null ? [] : [{ name: 'snapshot.ndjson.gz', contentType: 'application/gzip', path: snapshotPath }]
  const delivered = await publish([...files, ...snapshot], channels)
  const mail = renderMail(report, delivered)
  const sent = context.mail === null ? [] : [await send(context.mail, mail, files, delivered)]
  const kept = await publish(
    [
      { name: 'email.html', contentType: 'text/html; charset=utf-8', body: mail.html },
      { name: 'email.txt', contentType: 'text/plain; charset=utf-8', body: mail.text },
    ],
    channels,
  )
  return [...mergeDeliveries(delivered, kept), ...sent]
}

function send(
  channel: MailChannel,
  mail: ReturnType<typeof renderMail>,
  files: RenderedFile[],
  delivered: Delivery[],
): Promise<MailDelivery> {
  const page = files.find(({ name }) => name === 'report.html')
  const attachment = reportLink(delivered) === null && page ? reportAttachment(page) : null
  return channel.send(mail, attachment === null ? [] : [attachment])
}
