/** A mail to send, and its parts. */
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
  /** Address for bounces; it must be a verified identity. Null: the sender's address. */
  bouncesTo?: string | null
  headers?: MailHeader[]
  subject: string
  html: string
  text: string
  attachments: MailAttachment[]
}
