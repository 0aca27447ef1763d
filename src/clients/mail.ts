/** A mail, before it is sent. */
export interface MailAttachment {
  fileName: string
  contentType: string
  body: Buffer
}

/** ASCII, both. */
export interface MailHeader {
  name: string
  value: string
}

export interface Mail {
  from: string
  to: string[]
  /** Who hears of it when it comes back, a verified identity; null: the sender. */
  bouncesTo?: string | null
  headers?: MailHeader[]
  subject: string
  html: string
  text: string
  attachments: MailAttachment[]
}
