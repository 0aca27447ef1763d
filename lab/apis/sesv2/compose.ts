/** The message that SES makes of a Simple one: a multipart with text, HTML and attachments, all in base64. */
import { randomUUID } from 'node:crypto'

export interface Simple {
  subject: string
  text: string | null
  html: string | null
  headers: { name: string; value: string }[]
  attachments: {
    fileName: string
    contentType: string
    isInline: boolean
    contentId: string | null
    content: Buffer
  }[]
}

export interface Addressed {
  from: string
  to: string[]
  cc: string[]
  replyTo: string[]
}

export function compose(
  simple: Simple,
  { from, to, cc, replyTo }: Addressed,
  messageId: string,
  sentAt: Date,
): Buffer {
  const lists = Object.entries({ To: to, Cc: cc, 'Reply-To': replyTo }).filter(
    ([, addresses]) => addresses.length > 0,
  )
  const headers = [
    `From: ${from}`,
    ...lists.map(([name, addresses]) => `${name}: ${addresses.join(',\r\n ')}`),
    `Subject: ${encodeWords(simple.subject)}`,
    `Message-ID: <${messageId}@email.amazonses.com>`,
    `Date: ${sentAt.toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
    ...simple.headers.map(({ name, value }) => `${name}: ${value}`),
  ]
  const bodies = [
    ...(simple.text === null ? [] : [textPart('text/plain', simple.text)]),
    ...(simple.html === null ? [] : [textPart('text/html', simple.html)]),
  ]
  const attachments = simple.attachments.map(attachmentPart)
  const alternative = bodies.length === 1 ? bodies[0]! : multipart('alternative', bodies)
  const content =
    attachments.length === 0 ? alternative : multipart('mixed', [alternative, ...attachments])
  return Buffer.from(`${headers.join('\r\n')}\r\n${content}`)
}

const textPart = (type: string, text: string) =>
  part([`Content-Type: ${type}; charset=UTF-8`], Buffer.from(text))

function attachmentPart({
  fileName,
  contentType,
  isInline,
  contentId,
  content,
}: Simple['attachments'][number]): string {
  const name = `filename*=UTF-8''${encodeURIComponent(fileName).replace(/['()*]/g, char => `%${char.charCodeAt(0).toString(16)}`)}`
  const headers = [
    `Content-Type: ${contentType}`,
    `Content-Disposition: ${isInline ? 'inline' : 'attachment'};\r\n ${name}`,
  ]
  return part([...headers, ...(contentId === null ? [] : [`Content-ID: <${contentId}>`])], content)
}

const part = (headers: string[], content: Buffer) =>
  [
    ...headers,
    'Content-Transfer-Encoding: base64',
    '',
    content.toString('base64').replace(/.{76}/g, '$&\r\n'),
    '',
  ].join('\r\n')

function multipart(kind: 'mixed' | 'alternative', parts: string[]): string {
  const boundary = `lab-${randomUUID()}`
  return `Content-Type: multipart/${kind};\r\n boundary="${boundary}"\r\n\r\n${parts.map(each => `--${boundary}\r\n${each}`).join('')}--${boundary}--\r\n`
}

/** Encoded words of at most 75 characters, none of which splits a character. */
function encodeWords(text: string): string {
  if (/^[ -~]*$/.test(text) && text.length < 900) return text
  const words: string[] = []
  let word = ''
  for (const char of text) {
    if (Buffer.byteLength(word + char) > 45) {
      words.push(word)
      word = ''
    }
    word += char
  }
  return [...words, word]
    .map(each => `=?UTF-8?B?${Buffer.from(each).toString('base64')}?=`)
    .join('\r\n ')
}
