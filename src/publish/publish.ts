/** Delivers files to channels. A channel that fails does not stop the others. */

import { gzipSync } from 'node:zlib'
import { messageOf } from '#base/operator-error.ts'
import { isRawObject, parsedJson } from '#base/raw-object.ts'
import type { MailAttachment } from '#clients/send/mail.ts'
import { mailBytes } from '#clients/send/sesv2.ts'
import type { Store } from '#clients/store/store.ts'
import { sesMessageMaxBytes } from '#facts/aws/limits.ts'
import type { Delivery, RenderedFile, RenderedMail } from '#model/report.ts'

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
export const mergeDeliveries = (earlier: Delivery[], later: Delivery[]) =>
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

/* A channel stores the report's files, or sends its mail. */

/** A file too large for memory: the snapshot. */
export interface FileOnDisk {
  name: string
  contentType: string
  path: string
}

export type PublishedFile = RenderedFile | FileOnDisk

export interface Channel {
  id: string
  /**
   * Delivers every file. Returns the place of the files.
   * @param page the file that a link opens; default `report.html`
   * @throws Error with a message for people
   */
  deliver(files: PublishedFile[], page?: string): Promise<Pick<Delivery, 'location' | 'link'>>
}

/**
 * `sent-before`: an earlier delivery of this run sent it; `being-sent`: another delivery is
 * sending, or was killed a moment ago; `not-sent`: there was no news. `error` is null except for
 * `failed`; `location` is a sentence for people.
 */
export type MailState = 'sent' | 'sent-before' | 'being-sent' | 'not-sent' | 'failed'

export interface MailDelivery extends Delivery {
  state: MailState
  messageId: string | null
  /** Why the mail might arrive twice; null: it does not. */
  doubt: string | null
}

export interface MailChannel {
  id: string
  /**
   * Returns the recipients that get no mail, and why, for people; null: none known. Never throws.
   * Absent: the channel cannot determine them.
   */
  undeliverable?(): Promise<string | null>
  /** Never throws. */
  send(mail: RenderedMail, attachments: MailAttachment[]): Promise<MailDelivery>
}

/* The place of a run's files in a store, and the mark that the run is done. */

/** `runs/<runId>/<name>` */
export const runKey = (runId: string, name: string) => `runs/${runId}/${name}`

const doneSchema = 'highwater.done/1'
const doneName = 'done.json'

/**
 * The deliveries of an earlier, complete delivery of the same run; null: none.
 * @throws Error with a message for people if the store cannot be read
 */
export async function readDone(store: Store, runId: string): Promise<Delivery[] | null> {
  const found = await store.read(runKey(runId, doneName))
  const done = found && parsedJson(found.body)
  // If the mark has another format or a later version, the run counts as not done.
  return isRawObject(done) && done.schema === doneSchema && Array.isArray(done.deliveries)
    ? done.deliveries
    : null
}

/**
 * Writes the mark last, after every delivery: from then on this run id publishes and mails nothing.
 * @param done `finishedAt` as RFC 3339
 * @returns false if another delivery wrote the mark first
 * @throws Error with a message for people if the store cannot be written
 */
export const markDone = (
  store: Store,
  done: { runId: string; finishedAt: string; deliveries: Delivery[] },
) =>
  store.create(runKey(done.runId, doneName), `${JSON.stringify({ schema: doneSchema, ...done })}\n`)
