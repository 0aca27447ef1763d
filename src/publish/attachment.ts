/** The report as an attachment of its mail. */

import { gzipSync } from 'node:zlib'
import type { MailAttachment } from '#clients/mail.ts'
import { mailBytes } from '#clients/sesv2.ts'
import { sesMessageMaxBytes } from '#facts/aws/limits.ts'
import type { RenderedFile } from '#model/report.ts'

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
