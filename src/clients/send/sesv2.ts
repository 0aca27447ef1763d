/** Amazon SES: one mail, sent at most once for each call. */

import {
  GetSuppressedDestinationCommand,
  SESv2Client,
  SendEmailCommand,
  type SendEmailCommandInput,
} from '@aws-sdk/client-sesv2'
import { OperatorError } from '#base/operator-error.ts'
import { linesOf } from '#base/text.ts'
import {
  type AwsError,
  awsError,
  awsFailure,
  connectionTimeout,
  countingSlowDowns,
  isThrottling,
  signalWithLimit,
} from '#clients/aws/aws-failure.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import { oneLine, RequestFailure } from '#clients/failure.ts'
import { retry, sleep } from '#clients/pace.ts'
import { sesMessageMaxBytes, sesRecipientsMax } from '#facts/aws/limits.ts'
import type { Mail } from './mail.ts'

/** IAM actions of this file, for the function's role. Sending requires the sender's identity; in the sandbox SES requires the recipients' identities, too. */
export const sesPermissions = ['ses:GetSuppressedDestination', 'ses:SendEmail']

export interface SendOptions {
  region: string
  /** Absent: the SDK's own credential chain. */
  credentials?: CredentialSource
  signal?: AbortSignal
  /** Limit for all tries together; default 60 s. No request runs longer. */
  timeLimitMs?: number
  /** First wait before a retry; doubled each time. Default 300 ms. */
  backoffMs?: number
}

export const sendTimeLimitMs = 60_000
const tries = 4
const defaultBackoffMs = 300
const maxSubjectLength = 200

/**
 * Returns the message id. Retries throttling, a 5xx, and a connection that was never established, up to three times. Does not retry a
 * broken connection, because SES may have accepted the mail.
 * @throws OperatorError if SES cannot accept the mail, RequestFailure with a message for people, or the signal's reason
 */
export async function sendMail(mail: Mail, options: SendOptions) {
  checkMail(mail)
  const {
    region,
    credentials,
    timeLimitMs = sendTimeLimitMs,
    backoffMs = defaultBackoffMs,
  } = options
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeLimitMs)
  const signal = signalWithLimit(options.signal, limit.signal)
  const client = clientOf({ region, credentials }, 1)
  try {
    const { MessageId } = await retry(
      () => client.send(new SendEmailCommand(request(mail)), { abortSignal: signal }),
      { tries, backoffMs, signal, isPassing: isSafeToResend },
    )
    return MessageId ?? ''
  } catch (error) {
    options.signal?.throwIfAborted()
    const inTime = !limit.signal.aborted
    throw inTime
      ? sesFailure(error, mail, region)
      : new RequestFailure(
          'timeout',
          `SES SendEmail in ${region}: no answer within ${timeLimitMs / 1000} s. Whether the mail went is not known`,
          { cause: error },
        )
  } finally {
    clearTimeout(timer)
    client.destroy()
  }
}

const clientOf = (place: Pick<SendOptions, 'region' | 'credentials'>, maxAttempts: number) =>
  countingSlowDowns(
    'SES',
    new SESv2Client({ ...place, maxAttempts, requestHandler: { connectionTimeout } }),
  )

/** Upper bound of the bytes that SES counts against its limit. */
export const mailBytes = ({
  html,
  text,
  attachments,
}: Pick<Mail, 'html' | 'text' | 'attachments'>) =>
  [html, text, ...attachments.map(({ body }) => body)].reduce(
    (sum, part) => sum + encodedBytes(part),
    headerBytes,
  )

// Base64 with a line end (2 bytes) after every 76 characters.
const encodedBytes = (part: string | Buffer) =>
  Math.ceil((Math.ceil(Buffer.byteLength(part) / 3) * 4 * 78) / 76)
const headerBytes = 16_384

/** `name@host` in printable ASCII, or `Name <name@host>` on one line. */
const isAddress = (text: string) =>
  /^[!-~]+$/.test(bareAddress(text)) &&
  /^[^@<>,;]+@[^@<>,;]+$/.test(bareAddress(text)) &&
  !/\p{Cc}/u.test(text)

function checkMail(mail: Mail) {
  const { from, to, bouncesTo } = mail
  if (to.length === 0)
    throw new OperatorError('The mail has no recipient. Name at least one in the settings')
  if (to.length > sesRecipientsMax)
    throw new OperatorError(
      `The mail has ${to.length} recipients, SES takes ${sesRecipientsMax}. Use the address of a distribution list`,
    )
  const wrong = [from, ...to, ...(bouncesTo ? [bouncesTo] : [])].filter(
    address => !isAddress(address),
  )
  if (wrong.length > 0)
    throw new OperatorError(
      `No e-mail address: ${wrong.map(address => `"${oneLine(address, 100)}"`).join(', ')}`,
    )
  const bytes = mailBytes(mail)
  if (bytes > sesMessageMaxBytes)
    throw new OperatorError(
      `The mail would have ${bytes} bytes, SES takes ${sesMessageMaxBytes}. Send a link instead of the attachment`,
    )
}

function request({
  from,
  to,
  bouncesTo,
  headers = [],
  subject,
  html,
  text,
  attachments,
}: Mail): SendEmailCommandInput {
  const content = (data: string) => ({ Data: data, Charset: 'UTF-8' })
  return {
    FromEmailAddress: from,
    Destination: { ToAddresses: to },
    ...(bouncesTo && { FeedbackForwardingEmailAddress: bouncesTo }),
    Content: {
      Simple: {
        Subject: content(oneLine(subject, maxSubjectLength)),
        Body: { Html: content(html), Text: content(text) },
        ...(headers.length > 0 && {
          Headers: headers.map(({ name, value }) => ({ Name: name, Value: value })),
        }),
        ...(attachments.length === 0
          ? {}
          : {
              Attachments: attachments.map(({ fileName, contentType, body }) => ({
                FileName: fileName,
                ContentType: contentType,
                ContentDisposition: 'ATTACHMENT',
                // By default SES sends an attachment as 7 bit, but HTML has longer lines and non-ASCII letters. Source: SES developer guide, Attachments.
                ContentTransferEncoding: 'BASE64',
                RawContent: body,
              })),
            }),
      },
    },
  }
}

/** An address on the suppression list: SES accepts mail to it and does not send it. */
export interface SuppressedAddress {
  address: string
  /** `BOUNCE`, `COMPLAINT`, or a reason that SES adds later. */
  reason: string
  /** YYYY-MM-DD; null: SES reports no date. */
  since: string | null
}

export interface Suppression {
  suppressed: SuppressedAddress[]
  /** Why some addresses could not be checked; null: all were checked. */
  unknown: string | null
}

export interface SuppressionOptions extends Pick<SendOptions, 'region' | 'credentials' | 'signal'> {
  /** Limit for all addresses together; default 10 s, because the mail waits for this check. */
  timeLimitMs?: number
  /** Wait between two requests, in milliseconds. Default 1 s: except for sending, the SES API accepts one request a second. Source: SES developer guide, Service quotas. */
  gapMs?: number
}

/** The addresses that are on the account's suppression list. One request per address, so no other address is read. @throws the signal's reason */
export async function suppressedAmong(
  addresses: readonly string[],
  options: SuppressionOptions,
): Promise<Suppression> {
  const { region, credentials, timeLimitMs = 10_000, gapMs = 1000 } = options
  const limit = AbortSignal.timeout(timeLimitMs)
  const signal = signalWithLimit(options.signal, limit)
  const client = clientOf({ region, credentials }, 3)
  const suppressed: SuppressedAddress[] = []
  let answered = 0
  try {
    for (const [index, address] of addresses.map(bareAddress).entries()) {
      if (index > 0) await sleep(gapMs, signal)
      const found = await suppressionOf(client, address, signal)
      if (found) suppressed.push(found)
      answered = index + 1
    }
    return { suppressed, unknown: null }
  } catch (error) {
    options.signal?.throwIfAborted()
    if (limit.aborted)
      return {
        suppressed,
        unknown: `SES answered for ${answered} of ${addresses.length} addresses within ${timeLimitMs / 1000} s`,
      }
    const what = 'GetSuppressedDestination'
    return { suppressed, unknown: awsFailure(error, { service: 'SES', what, region }).message }
  } finally {
    client.destroy()
  }
}

async function suppressionOf(
  client: SESv2Client,
  address: string,
  abortSignal: AbortSignal,
): Promise<SuppressedAddress | null> {
  try {
    const { SuppressedDestination: found } = await client.send(
      new GetSuppressedDestinationCommand({ EmailAddress: address }),
      { abortSignal },
    )
    return {
      address,
      reason: found?.Reason ?? 'unknown',
      since: found?.LastUpdateTime?.toISOString().slice(0, 10) ?? null,
    }
  } catch (error) {
    if (awsError(error).name === 'NotFoundException') return null
    throw error
  }
}

/* Why SES did not send a mail, or might not have sent it, with the next step for people. */

/** Returns `name@host` of `Name <name@host>`. */
const bareAddress = (address: string) => /^[^<>]*<([^<>]+)>$/.exec(address)?.[1] ?? address

/** SES refused the mail or never received it, so a second try cannot send a second mail. */
function isSafeToResend(error: unknown) {
  const { text, status, code } = awsError(error)
  if (isTooMuch(error)) return !isDailyQuota(text)
  if (status !== null) return [500, 502, 503, 504].includes(status)
  if (/did not establish a connection/.test(text)) return true
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN'
}

/** Source: SES API reference, SendEmail: LimitExceededException for the quotas. */
const isTooMuch = (error: unknown) =>
  isThrottling(error) || awsError(error).name === 'LimitExceededException'
const isDailyQuota = (text: string) => /daily/i.test(text)

function sesFailure(error: unknown, mail: Mail, region: string) {
  const { from } = mail
  const failure = awsFailure(error, {
    service: 'SES',
    what: 'SendEmail',
    region,
    grant: `ses:SendEmail from ${bareAddress(from)} (the stack's parameter sender, or policySender where the policy names it as report.sender)`,
    explain: known => meaningOf(known, mail, region),
  })
  const isUncertain =
    failure.status === null &&
    !isSafeToResend(error) &&
    (failure.kind === 'network' || failure.kind === 'timeout')
  return isUncertain
    ? new RequestFailure(failure.kind, `${failure.message}. Whether the mail went is not known`, {
        cause: error,
      })
    : failure
}

/** The meaning of errors that only SES has. */
function meaningOf({ name, text, cause }: AwsError, mail: Mail, region: string) {
  const { from, to } = mail
  if (name === 'MessageRejected' && /not verified/i.test(text))
    return unverifiedText(text, mail, region)
  if (name === 'MailFromDomainNotVerifiedException')
    return `the MAIL FROM domain of ${from} is not verified (${text}). Set its MX and SPF records as the SES console shows them`
  if (name === 'MessageRejected') return `the mail was refused for what is in it (${text})`
  if (name === 'SendingPausedException')
    return `sending is paused for this account (${text}). See its bounces and complaints in the SES console, then resume it there`
  if (name === 'AccountSuspendedException')
    return `AWS has suspended sending for this account (${text}). Write to AWS Support; until then no mail goes`
  if (isTooMuch(cause) && isDailyQuota(text))
    return `the account's daily quota of mails is used up (${text}). It frees up within 24 hours; ask for a higher one in the SES console`
  if (name === 'BadRequestException')
    return `an address or another part of the mail is malformed (${text}). From ${from} to ${to.join(', ')}: only ASCII is taken there`
  return null
}

/** SES's message names the unverified identities. Recipients must be verified only in the sandbox. */
function unverifiedText(text: string, { from, to, bouncesTo }: Mail, region: string) {
  const isNamed = (address: string) =>
    text.toLowerCase().includes(bareAddress(address).toLowerCase())
  const isSender = isNamed(from)
  const bounces = bouncesTo && bouncesTo !== from && isNamed(bouncesTo) ? bouncesTo : null
  const recipients = to.filter(
    address => address !== from && address !== bounces && isNamed(address),
  )
  const advice = linesOf(
    isSender && `verify the sender ${from} or its domain in the SES console of ${region}`,
    bounces !== null &&
      `verify ${bounces}, to which mails that come back are sent (report.bouncesTo), or leave it out`,
    (recipients.length > 0 || (!isSender && bounces === null)) &&
      `this account is in the SES sandbox, where recipients have to be verified, too: verify ${recipients.join(', ') || 'them'}, or ask for production access`,
  )
  return `the mail was not taken (${text}). To do: ${advice.join('; ')}`
}
