/** SendEmail's request, read from its JSON: only what the lab knows, anything else is 501. */
import { notImplemented, Refusal } from '#lab/api.ts'
import type { Simple } from './compose.ts'

export interface SendRequest {
  from: string | null
  to: string[]
  cc: string[]
  bcc: string[]
  replyTo: string[]
  /** To whom bounces go; null: the sender. */
  feedbackTo: string | null
  content: Simple | Buffer
}

export const badRequest = (message: string) => new Refusal(400, 'BadRequestException', message)

type Fields = Record<string, unknown>

/** @throws Refusal when it is not valid, or asks for what the lab does not know. */
export function readSendRequest(body: Buffer): SendRequest {
  const request = fields('the request', parse(body), [
    'FromEmailAddress',
    'Destination',
    'ReplyToAddresses',
    'FeedbackForwardingEmailAddress',
    'Content',
  ])
  const destination = fields('Destination', request.Destination ?? {}, [
    'ToAddresses',
    'CcAddresses',
    'BccAddresses',
  ])
  const content = fields('Content', request.Content, ['Simple', 'Raw'])
  if ((content.Simple === undefined) === (content.Raw === undefined))
    throw badRequest('Content must be either Simple or Raw.')
  return {
    from:
      request.FromEmailAddress === undefined
        ? null
        : text('FromEmailAddress', request.FromEmailAddress),
    to: list('ToAddresses', destination.ToAddresses).map(each => text('ToAddresses', each)),
    cc: list('CcAddresses', destination.CcAddresses).map(each => text('CcAddresses', each)),
    bcc: list('BccAddresses', destination.BccAddresses).map(each => text('BccAddresses', each)),
    replyTo: list('ReplyToAddresses', request.ReplyToAddresses).map(each =>
      text('ReplyToAddresses', each),
    ),
    feedbackTo:
      request.FeedbackForwardingEmailAddress === undefined
        ? null
        : text('FeedbackForwardingEmailAddress', request.FeedbackForwardingEmailAddress),
    content:
      content.Raw === undefined
        ? simple(content.Simple)
        : bytes('Raw.Data', fields('Raw', content.Raw, ['Data']).Data),
  }
}

function simple(value: unknown): Simple {
  const message = fields('Simple', value, ['Subject', 'Body', 'Headers', 'Attachments'])
  const body = fields('Body', message.Body, ['Html', 'Text'])
  if (body.Html === undefined && body.Text === undefined)
    throw badRequest('Body must have Html, Text or both.')
  const subject = content('Subject', message.Subject)
  if (/[\r\n]/.test(subject)) throw badRequest('Control characters are not allowed in the subject.')
  const headers = list('Headers', message.Headers).map(header)
  if (headers.length > 15) throw badRequest('Headers must have at most 15 entries.')
  return {
    subject,
    html: body.Html === undefined ? null : content('Html', body.Html),
    text: body.Text === undefined ? null : content('Text', body.Text),
    headers,
    attachments: list('Attachments', message.Attachments).map(attachment),
  }
}

function header(value: unknown): Simple['headers'][number] {
  const { Name, Value } = fields('Headers', value, ['Name', 'Value'])
  const [name, content] = [text('Name', Name), text('Value', Value)]
  if (!/^[!-9;-~]{1,126}$/.test(name) || !/^[ -~]{1,995}$/.test(content))
    throw badRequest(`Header ${name} is not valid.`)
  return { name, value: content }
}

function attachment(value: unknown): Simple['attachments'][number] {
  const known = [
    'RawContent',
    'FileName',
    'ContentType',
    'ContentDisposition',
    'ContentId',
    'ContentTransferEncoding',
  ]
  const {
    RawContent,
    FileName,
    ContentType,
    ContentDisposition,
    ContentId,
    ContentTransferEncoding,
  } = fields('Attachments', value, known)
  // The mailbox keeps the bytes, however they travel.
  if (
    ContentTransferEncoding !== undefined &&
    !['BASE64', 'QUOTED_PRINTABLE', 'SEVEN_BIT'].includes(
      text('ContentTransferEncoding', ContentTransferEncoding),
    )
  )
    throw badRequest('ContentTransferEncoding must be BASE64, QUOTED_PRINTABLE or SEVEN_BIT.')
  const fileName = text('FileName', FileName)
  if (fileName.length === 0 || fileName.length > 255)
    throw badRequest('FileName must have 1 to 255 characters.')
  return {
    fileName,
    contentType:
      ContentType === undefined ? 'application/octet-stream' : text('ContentType', ContentType),
    isInline: ContentDisposition === 'INLINE',
    contentId: ContentId === undefined ? null : text('ContentId', ContentId),
    content: bytes('RawContent', RawContent),
  }
}

function content(name: string, value: unknown): string {
  const { Data, Charset = 'UTF-8' } = fields(name, value, ['Data', 'Charset'])
  if (!/^utf-?8$/i.test(text('Charset', Charset)))
    throw notImplemented(`the lab's sesv2 knows no other charset than UTF-8`)
  return text(`${name}.Data`, Data)
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch (error) {
    throw new Refusal(
      400,
      'SerializationException',
      error instanceof Error ? error.message : String(error),
    )
  }
}

function fields(name: string, value: unknown, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest(`${name} is not a structure.`)
  const unknown = Object.keys(value).filter(key => !known.includes(key))
  if (unknown.length > 0)
    throw notImplemented(`the lab's sesv2 SendEmail does not know ${unknown.join(', ')} in ${name}`)
  return value as Fields
}

function list(name: string, value: unknown): unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw badRequest(`${name} is not a list.`)
  return value
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw badRequest(`${name} is not a string.`)
  return value
}

const bytes = (name: string, value: unknown) => Buffer.from(text(name, value), 'base64')
