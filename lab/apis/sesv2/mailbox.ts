/** What SES took: kept in memory, and, where there is a folder for it, as files that a browser or a mail program opens. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Mail {
  messageId: string
  /** When it was taken, RFC 3339. */
  at: string
  /** The envelope: bare addresses. */
  from: string
  to: string[]
  cc: string[]
  bcc: string[]
  /** Who would hear that it came back. */
  bouncesTo: string
  subject: string
  html: string | null
  text: string | null
  attachments: Attachment[]
  /** The message as it goes over the wire; for a raw one, as it came. */
  raw: Buffer
}

export interface Attachment {
  fileName: string
  contentType: string
  content: Buffer
}

export interface Mailbox {
  take(mail: Mail): void
  mails(): readonly Mail[]
}

export function openMailbox(folder: string | undefined): Mailbox {
  const taken: Mail[] = []
  return {
    mails: () => taken,
    take(mail) {
      if (folder !== undefined) writeMail(folder, mail)
      taken.push(mail)
    },
  }
}

/** `<n>-<subject>/` with email.html, email.txt, message.eml, envelope.json and attachments/, numbered on from what is there. */
function writeMail(folder: string, mail: Mail): void {
  mkdirSync(folder, { recursive: true })
  const numbers = readdirSync(folder).map(name => Number(/^(\d+)-/.exec(name)?.[1] ?? 0))
  const own = join(folder, `${Math.max(0, ...numbers) + 1}-${slug(mail.subject)}`)
  mkdirSync(own)
  const { html, text, attachments, raw, ...envelope } = mail
  if (html !== null) writeFileSync(join(own, 'email.html'), html)
  if (text !== null) writeFileSync(join(own, 'email.txt'), text)
  writeFileSync(join(own, 'message.eml'), raw)
  writeFileSync(join(own, 'envelope.json'), `${JSON.stringify(envelope, null, 2)}\n`)
  if (attachments.length > 0) mkdirSync(join(own, 'attachments'))
  for (const [index, { fileName, content }] of attachments.entries()) {
    const isTwin = attachments
      .slice(0, index)
      .some(other => safeName(other.fileName) === safeName(fileName))
    writeFileSync(
      join(own, 'attachments', `${isTwin ? `${index + 1}-` : ''}${safeName(fileName)}`),
      content,
    )
  }
}

const slug = (subject: string) =>
  subject
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-|-$/g, '') || 'no-subject'

/** A name from the outside as one file's name in one folder. */
const safeName = (name: string) =>
  name
    .replace(/[^\w.@+=-]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(-120) || 'attachment'
