/** What a channel is: a place that the report's files go to, or the way that its mail goes. */
import type { MailAttachment } from '#clients/sesv2.ts'
import type { Delivery, RenderedFile, RenderedMail } from '#model/report.ts'

/** A file that is too large to be held: the snapshot. */
export interface FileOnDisk {
  name: string
  contentType: string
  path: string
}

export type PublishedFile = RenderedFile | FileOnDisk

export interface Channel {
  id: string
  /**
   * Delivers every file and says where they lie.
   * @param page the name of the file that a link leads to; default `report.html`
   * @throws Error with a message for people
   */
  deliver(files: PublishedFile[], page?: string): Promise<Pick<Delivery, 'location' | 'link'>>
}

/**
 * `sent`; `sent-before`: an earlier delivery of this run has sent it; `being-sent`: another one is at it, or was killed a moment ago; `not-sent`: there
 * was nothing to tell; `failed`. With all but `failed`, `error` is null and `location` a sentence for people.
 */
export type MailState = 'sent' | 'sent-before' | 'being-sent' | 'not-sent' | 'failed'

export interface MailDelivery extends Delivery {
  state: MailState
  messageId: string | null
  /** Why the mail may come twice; null where it does not. */
  doubt: string | null
}

export interface MailChannel {
  id: string
  /** Who of its recipients gets nothing whatever is sent, and why, for people; null: nobody, as far as is known. Never throws. Absent: it cannot know. */
  undeliverable?(): Promise<string | null>
  /** Never throws. */
  send(mail: RenderedMail, attachments: MailAttachment[]): Promise<MailDelivery>
}
