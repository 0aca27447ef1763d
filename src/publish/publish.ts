/** Delivers files to channels. A channel that fails does not stop the others. */

import { gzipSync } from 'node:zlib'
import { messageOf } from '#base/operator-error.ts'
import type { MailAttachment } from '#clients/send/mail.ts'
import { mailBytes } from '#clients/send/sesv2.ts'
import { sesMessageMaxBytes } from '#facts/aws/limits.ts'
import type { Delivery, RenderedFile } from '#model/report.ts'
import type { Channel, PublishedFile } from './channel.ts'

/** Returns deliveries in the order of the channels. @param page the file that a link opens */
export const publish = async (
  files: PublishedFile[],
  channels: Channel[],
  page?: string,
): Promise<Delivery[]> =>
  Promise.all(
    channels.map(async channel => {
      try {
        return { channel: channel.id, ...(await channel.deliver(files, page)), error: null }
      } catch (error) {
        return { channel: channel.id, location: null, link: null, error: messageOf(error) }
      }
    }),
  )

/**
 * Merges two steps. A channel that failed in one of the steps has failed: the first error and the
 * first link are kept.
 */
export const mergeDeliveries = (earlier: Delivery[], later: Delivery[]): Delivery[] =>
  earlier.map((delivery, index) =>
    delivery.error === null && later[index] && later[index].error !== null
      ? later[index]
      : delivery,
  )

/**
 * A larger page is gzipped: phones open a page but no archive, and many mail servers refuse more
 * than 10 MB.
 */
const plainMaxBytes = 5 * 1024 ** 2
/** Reserve for the HTML and text of the mail. */
const mailRoomBytes = 512 * 1024

/**
 * Equal reports give equal bytes. Null: too large for SES even gzipped, so only a link is possible.
 */
export function reportAttachment({ name, contentType, body }: RenderedFile): MailAttachment | null {
  const plain = Buffer.from(body)
  const attachment =
    plain.length <= plainMaxBytes
      ? // The page itself declares its charset.
        { fileName: name, contentType: contentType.replace(/;.*/, ''), body: plain }
      : { fileName: `${name}.gz`, contentType: 'application/gzip', body: gzipSync(plain) }
  return mailBytes({ html: '', text: '', attachments: [attachment] }) + mailRoomBytes <=
    sesMessageMaxBytes
    ? attachment
    : null
}
