/** A channel stores the report's files, or sends its mail. */
import type { MailAttachment } from '#clients/send/mail.ts'
import type { Delivery, RenderedFile, RenderedMail } from '#model/report.ts'

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
