/** Amazon SES: one mail, sent at most once for each call. */
import { SESv2Client, SendEmailCommand, type SendEmailCommandInput } from '@aws-sdk/client-sesv2'
import { sesMessageMaxBytes, sesRecipientsMax } from '#facts/aws/limits.ts'
import { OperatorError } from '#model/operator-error.ts'
import { awsError, awsFailure, isThrottling, requestFailure } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'
import { oneLine, RequestFailure } from './failure.ts'
import { sleep } from './pace.ts'
import { tellingSlowDowns } from './slow-downs.ts'

/** What this file calls, for the function's role: on the sender's identity; in the sandbox SES asks it for the recipients' identities, too. */
export const sesPermissions = ['ses:SendEmail']

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

export interface SendOptions {
  region: string
  /** Absent: the SDK's own chain. */
  credentials?: CredentialSource
  signal?: AbortSignal
  /** For all tries together; default 60 s. Then nothing is on its way any more. */
  timeLimitMs?: number
  /** First wait before a try again; doubled each time. Default 300 ms. */
  backoffMs?: number
}

export const sendTimeLimitMs = 60_000
const connectionTimeoutMs = 5_000
const tries = 4
const defaultBackoffMs = 300
const maxSubjectLength = 200

/**
 * The message id. Throttling, an answered 5xx and a connection that never came about are tried again, up to three times; a connection that broke is
 * not: SES may have taken the mail.
 * @throws OperatorError when the mail cannot be sent as it is, RequestFailure with a message for people, or the signal's reason
 */
export async function sendMail(mail: Mail, options: SendOptions): Promise<string> {
  checkMail(mail)
  const { region, credentials, timeLimitMs = sendTimeLimitMs, backoffMs = defaultBackoffMs } = options
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeLimitMs)
  const signal = options.signal === undefined ? limit.signal : AbortSignal.any([options.signal, limit.signal])
  const requestHandler = { connectionTimeout: connectionTimeoutMs }
  const client = tellingSlowDowns('SES', new SESv2Client({ region, credentials, maxAttempts: 1, requestHandler }))
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const { MessageId } = await client.send(new SendEmailCommand(request(mail)), { abortSignal: signal })
        return MessageId ?? ''
      } catch (error) {
        signal.throwIfAborted()
        if (attempt >= tries || !wasNotTaken(error)) throw error
        await sleep(backoffMs * 2 ** (attempt - 1), signal)
      }
    }
  } catch (error) {
    options.signal?.throwIfAborted()
    const inTime = !limit.signal.aborted
    throw inTime ? sesFailure(error, mail, region) : overdue(region, timeLimitMs, error)
  } finally {
    clearTimeout(timer)
    client.destroy()
  }
}

/** What SES counts of a mail with that content against its limit, at most. */
export const mailBytes = ({ html, text, attachments }: Pick<Mail, 'html' | 'text' | 'attachments'>) =>
  [html, text, ...attachments.map(({ body }) => body)].reduce((sum, part) => sum + encodedBytes(part), headerBytes)

// Base64 in lines of 76 characters and a line end.
const encodedBytes = (part: string | Buffer) => Math.ceil((Math.ceil(Buffer.byteLength(part) / 3) * 4 * 78) / 76)
const headerBytes = 16_384

/** `name@host`, or `Name <name@host>` on one line. */
const isAddress = (text: string) => /^[^\s@<>,;]+@[^\s@<>,;]+$/.test(bare(text)) && !/[\r\n]/.test(text)

function checkMail(mail: Mail): void {
  const { from, to, bouncesTo } = mail
  if (to.length === 0) throw new OperatorError('The mail has no recipient. Name at least one in the settings')
  if (to.length > sesRecipientsMax)
    throw new OperatorError(`The mail has ${to.length} recipients, SES takes ${sesRecipientsMax}. Use the address of a distribution list`)
  const wrong = [from, ...to, ...(bouncesTo ? [bouncesTo] : [])].filter(address => !isAddress(address))
  if (wrong.length > 0) throw new OperatorError(`No e-mail address: ${wrong.map(address => `"${oneLine(address, 100)}"`).join(', ')}`)
  const bytes = mailBytes(mail)
  if (bytes > sesMessageMaxBytes)
    throw new OperatorError(`The mail would have ${bytes} bytes, SES takes ${sesMessageMaxBytes}. Send a link instead of the attachment`)
}

function request({ from, to, bouncesTo, headers = [], subject, html, text, attachments }: Mail): SendEmailCommandInput {
  const content = (data: string) => ({ Data: data, Charset: 'UTF-8' })
  return {
    FromEmailAddress: from,
    Destination: { ToAddresses: to },
    ...(bouncesTo && { FeedbackForwardingEmailAddress: bouncesTo }),
    Content: {
      Simple: {
        Subject: content(oneLine(subject, maxSubjectLength)),
        Body: { Html: content(html), Text: content(text) },
        ...(headers.length > 0 && { Headers: headers.map(({ name, value }) => ({ Name: name, Value: value })) }),
        ...(attachments.length === 0
          ? {}
          : {
              Attachments: attachments.map(({ fileName, contentType, body }) => ({
                FileName: fileName,
                ContentType: contentType,
                ContentDisposition: 'ATTACHMENT',
                // By default SES sends it as 7 bit, and a page has longer lines and other letters than that. Source: SES developer guide, Attachments.
                ContentTransferEncoding: 'BASE64',
                RawContent: body,
              })),
            }),
      },
    },
  }
}

/** SES said no, or never heard of it: then a second try cannot make a second mail. */
function wasNotTaken(error: unknown): boolean {
  const { text, status, code } = awsError(error)
  if (isTooMuch(error)) return !isDailyQuota(text)
  if (status !== null) return [500, 502, 503, 504].includes(status)
  if (/did not establish a connection/.test(text)) return true
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN'
}

/** Source: SES API reference, SendEmail: LimitExceededException for the quotas. */
const isTooMuch = (error: unknown) => isThrottling(error) || awsError(error).name === 'LimitExceededException'
const isDailyQuota = (text: string) => /daily/i.test(text)

const overdue = (region: string, timeLimitMs: number, cause: unknown) =>
  new RequestFailure(
    'timeout',
    `SES SendEmail in ${region}: no answer within ${timeLimitMs / 1000} s. Whether the mail went is not known`,
    {
      cause,
    },
  )

function sesFailure(error: unknown, mail: Mail, region: string): RequestFailure {
  const { from, to } = mail
  const { name, text, status } = awsError(error)
  const fail = (message: string) => requestFailure(error, `SES SendEmail in ${region}: ${message}`)
  if (name === 'MessageRejected' && /not verified/i.test(text)) return fail(notVerified(text, mail, region))
  if (name === 'MailFromDomainNotVerifiedException')
    return fail(`the MAIL FROM domain of ${from} is not verified (${text}). Set its MX and SPF records as the SES console shows them`)
  if (name === 'MessageRejected') return fail(`the mail was refused for what is in it (${text})`)
  if (name === 'SendingPausedException')
    return fail(`sending is paused for this account (${text}). See its bounces and complaints in the SES console, then resume it there`)
  if (name === 'AccountSuspendedException')
    return fail(`AWS has suspended sending for this account (${text}). Write to AWS Support; until then no mail goes`)
  if (isTooMuch(error) && isDailyQuota(text))
    return fail(
      `the account's daily quota of mails is used up (${text}). It frees up within 24 hours; ask for a higher one in the SES console`,
    )
  if (name === 'BadRequestException')
    return fail(
      `an address or another part of the mail is malformed (${text}). From ${from} to ${to.join(', ')}: only ASCII is taken there`,
    )
  const failure = awsFailure(error, {
    service: 'SES',
    endpointVariable: 'AWS_ENDPOINT_URL_SESV2',
    what: 'SendEmail',
    region,
    grant: `${sesPermissions.join(', ')} on the identity of ${from}`,
  })
  const isUncertain = status === null && !wasNotTaken(error) && (failure.kind === 'network' || failure.kind === 'timeout')
  return isUncertain
    ? new RequestFailure(failure.kind, `${failure.message}. Whether the mail went is not known`, { cause: error })
    : failure
}

/** SES names the identities in its message; the sender among them is one mistake, recipients alone are the sandbox. */
function notVerified(text: string, { from, to, bouncesTo }: Mail, region: string): string {
  const isNamed = (address: string) => text.toLowerCase().includes(bare(address).toLowerCase())
  const isSender = isNamed(from)
  const bounces = bouncesTo && bouncesTo !== from && isNamed(bouncesTo) ? bouncesTo : null
  const recipients = to.filter(address => address !== from && address !== bounces && isNamed(address))
  const advice = [
    ...(isSender ? [`verify the sender ${from} or its domain in the SES console of ${region}`] : []),
    ...(bounces !== null ? [`verify ${bounces}, to which mails that come back are sent (report.bouncesTo), or leave it out`] : []),
    ...(recipients.length > 0 || (!isSender && bounces === null)
      ? [
          `this account is in the SES sandbox, where recipients have to be verified, too: verify ${recipients.join(', ') || 'them'}, ` +
            'or ask for production access',
        ]
      : []),
  ]
  return `the mail was not taken (${text}). To do: ${advice.join('; ')}`
}

const bare = (address: string) => /^[^<>]*<([^<>]+)>$/.exec(address)?.[1] ?? address
