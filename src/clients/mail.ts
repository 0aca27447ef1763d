/** A mail, before it is sent. */
export interface MailAttachment {
  fileName: string
  contentType: string
  body: Buffer
}

/** Name and value are ASCII. */
export interface MailHeader {
  name: string
  value: string
}

export interface Mail {
  from: string
  to: string[]
  /** Address for bounces, a verified identity; null: the sender. */
  bouncesTo?: string | null
  headers?: MailHeader[]
  subject: string
  html: string
  text: string
  attachments: MailAttachment[]
}
