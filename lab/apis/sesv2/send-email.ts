/** SendEmail: what SES refuses, and what becomes of the rest. Limits: Amazon SES developer guide, "Service quotas". */
import { randomUUID } from 'node:crypto'
import { Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import { labAccount, type World } from '#lab/world.ts'
import { compose, type Simple } from './compose.ts'
import type { Mail } from './mailbox.ts'
import { leaves, type MimePart, parseMessage, textOf } from './mime.ts'
import { badRequest, readSendRequest, type SendRequest } from './request.ts'
import { suppressionOf } from './state.ts'

const maxMessageBytes = 40 * 1024 ** 2
const maxRecipients = 50
/** RFC 5321 4.5.3.1.6, without the line's end. */
const maxLineBytes = 998
export const sandboxMessagesPerDay = 200

/** @throws Refusal when SES would not send it. */
export function sendEmail(world: World, caller: Caller, body: Buffer): { MessageId: string } {
  const request = readSendRequest(body)
  const sentAt = new Date(world.now())
  const messageId = `${sentAt.getTime().toString(16).padStart(16, '0')}-${randomUUID()}-000000`
  const raw = Buffer.isBuffer(request.content)
    ? request.content
    : composed(request, request.content, messageId, sentAt)
  if (raw.length > maxMessageBytes) {
    throw badRequest(`Message length is more than ${maxMessageBytes} bytes long: '${raw.length}'.`)
  }
  const message = read(raw)
  const mail = mailOf(request, message, raw, messageId, sentAt)
  const recipients = [...mail.to, ...mail.cc, ...mail.bcc]
  if (recipients.length === 0)
    throw badRequest('The message must include at least one recipient email address.')
  if (recipients.length > maxRecipients)
    throw badRequest(`Recipient count exceeds ${maxRecipients}.`)
  checkAccount(world, recipients.length)
  const senders = new Set([mail.from, ...addresses(message.headers.get('from') ?? '')])
  if (request.feedbackTo !== null) senders.add(bareAddress(request.feedbackTo))
  checkIdentities(world, caller, [...senders], recipients)
  world.ses.sent += recipients.length
  const reached = (list: string[]) => list.filter(address => !suppressionOf(world.ses, address))
  const { to, cc, bcc } = mail
  if (reached(recipients).length > 0)
    world.ses.mailbox.take({ ...mail, to: reached(to), cc: reached(cc), bcc: reached(bcc) })
  return { MessageId: messageId }
}

function composed(
  { from, to, cc, replyTo }: SendRequest,
  content: Simple,
  messageId: string,
  sentAt: Date,
): Buffer {
  if (from === null) throw badRequest('FromEmailAddress is required.')
  for (const address of [from, ...to, ...cc, ...replyTo]) bareAddress(address)
  return compose(content, { from, to, cc, replyTo }, messageId, sentAt)
}

/** @throws Refusal when it is no message that SES takes. */
function read(raw: Buffer): MimePart {
  if (
    raw
      .toString('latin1')
      .split('\n')
      .some(line => line.replace(/\r$/, '').length > maxLineBytes)
  ) {
    throw badRequest(`A line of the message is longer than ${maxLineBytes} characters.`)
  }
  try {
    return parseMessage(raw)
  } catch (error) {
    throw badRequest(
      `The message is not valid: ${error instanceof Error ? error.message : String(error)}.`,
    )
  }
}

/** The envelope is what the request says; for a raw message that it says nothing of, the message's own headers. */
function mailOf(
  request: SendRequest,
  message: MimePart,
  raw: Buffer,
  messageId: string,
  sentAt: Date,
): Mail {
  const header = (name: string) => addresses(message.headers.get(name) ?? '')
  const isNamed =
    [request.to, request.cc, request.bcc].some(list => list.length > 0) ||
    !Buffer.isBuffer(request.content)
  const from = request.from ?? message.headers.get('from')
  if (!from) throw badRequest("Missing required header 'From'.")
  const parts = leaves(message)
  const body = (type: string) => parts.find(part => part.contentType === type && !part.isAttachment)
  const [html, text] = [body('text/html'), body('text/plain')]
  return {
    messageId,
    at: sentAt.toISOString(),
    from: bareAddress(from),
    to: isNamed ? request.to.map(bareAddress) : header('to'),
    cc: isNamed ? request.cc.map(bareAddress) : header('cc'),
    bcc: isNamed ? request.bcc.map(bareAddress) : header('bcc'),
    bouncesTo: bareAddress(request.feedbackTo ?? from),
    subject: message.headers.get('subject') ?? '',
    html: html ? textOf(html) : null,
    text: text ? textOf(text) : null,
    attachments: parts
      .filter(part => part !== html && part !== text)
      .map(({ fileName, contentType, content }) => ({
        fileName: fileName ?? 'attachment',
        contentType,
        content,
      })),
    raw,
  }
}

function checkAccount({ ses }: World, recipients: number): void {
  const { sendingPaused, refuseFirst, sandbox } = ses.scenario
  if (refuseFirst && ses.refusalsLeft > 0) {
    ses.refusalsLeft -= 1
    if (refuseFirst.error === 'TooManyRequestsException')
      throw new Refusal(429, refuseFirst.error, 'Maximum sending rate exceeded.')
    throw new Refusal(400, refuseFirst.error, 'Daily message quota exceeded.')
  }
  if (sendingPaused) {
    const message =
      'Sending paused for this account. For more information, please check the inbox of the email address associated with your AWS account.'
    throw new Refusal(400, 'SendingPausedException', message)
  }
  if (sandbox && ses.sent + recipients > sandboxMessagesPerDay) {
    throw new Refusal(400, 'LimitExceededException', 'Daily message quota exceeded.')
  }
}

/** Identities are verified in one account and one region; the sandbox asks for the recipients' too. */
function checkIdentities(
  { ses, region }: World,
  caller: Caller,
  senders: string[],
  recipients: string[],
): void {
  const isHome = caller.principal.account === labAccount && caller.region === region
  const identities = isHome ? ses.scenario.identities : []
  const asked = [...senders, ...(ses.scenario.sandbox || !isHome ? recipients : [])]
  const failed = asked.filter(address => !isVerified(address, identities))
  if (failed.length === 0) return
  const message = `Email address is not verified. The following identities failed the check in region ${caller.region.toUpperCase()}: ${failed.join(', ')}`
  throw new Refusal(400, 'MessageRejected', message)
}

function isVerified(address: string, identities: readonly string[]): boolean {
  const lower = address.toLowerCase()
  const domain = lower.slice(lower.lastIndexOf('@') + 1)
  // The mailbox simulator takes mail from everybody.
  if (domain === 'simulator.amazonses.com') return true
  return identities.some(
    identity =>
      [lower, domain].includes(identity.toLowerCase()) ||
      domain.endsWith(`.${identity.toLowerCase()}`),
  )
}

/** `"A, B" <a@b>, c@d` as bare addresses. */
const addresses = (header: string) =>
  [...header.matchAll(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g)].map(([one]) => bareAddress(one))

/** @throws Refusal when it is no address in ASCII. */
function bareAddress(text: string): string {
  const address = (/<([^<>]*)>\s*$/.exec(text)?.[1] ?? text).trim()
  if (/^[!-;=?A-~]+@[\w-]+(\.[\w-]+)+$/.test(address) && !/[\r\n]/.test(text)) return address
  throw badRequest(`Invalid email address ${address}.`)
}
