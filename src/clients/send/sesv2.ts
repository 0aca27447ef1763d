/** Amazon SES: one mail, sent at most once for each call. */

import {
  GetSuppressedDestinationCommand,
  SESv2Client,
  SendEmailCommand,
  type SendEmailCommandInput,
} from '@aws-sdk/client-sesv2'
import { OperatorError } from '#base/operator-error.ts'
import { awsError, awsFailure } from '#clients/aws/aws-failure.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import { countingSlowDowns } from '#clients/aws/slow-downs.ts'
import { oneLine } from '#clients/failure.ts'
import { retried, sleep } from '#clients/pace.ts'
import { sesMessageMaxBytes, sesRecipientsMax } from '#facts/aws/limits.ts'
import type { Mail } from './mail.ts'
import { bareAddress, overdue, sesFailure, wasNotTaken } from './ses-failure.ts'

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
const connectionTimeoutMs = 5_000
const tries = 4
const defaultBackoffMs = 300
const maxSubjectLength = 200

/**
 * Returns the message id. Retries throttling, a 5xx, and a connection that was never established, up to three times. Does not retry a
 * broken connection, because SES may have accepted the mail.
 * @throws OperatorError if SES cannot accept the mail, RequestFailure with a message for people, or the signal's reason
 */
export async function sendMail(mail: Mail, options: SendOptions): Promise<string> {
  checkMail(mail)
  const {
    region,
    credentials,
    timeLimitMs = sendTimeLimitMs,
    backoffMs = defaultBackoffMs,
  } = options
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeLimitMs)
  const signal =
    options.signal === undefined ? limit.signal : AbortSignal.any([options.signal, limit.signal])
  const requestHandler = { connectionTimeout: connectionTimeoutMs }
  const client = countingSlowDowns(
    'SES',
    new SESv2Client({ region, credentials, maxAttempts: 1, requestHandler }),
  )
  try {
    const { MessageId } = await retried(
      () => client.send(new SendEmailCommand(request(mail)), { abortSignal: signal }),
      { tries, backoffMs, signal, isPassing: wasNotTaken },
    )
    return MessageId ?? ''
  } catch (error) {
    options.signal?.throwIfAborted()
    const inTime = !limit.signal.aborted
    throw inTime ? sesFailure(error, mail, region) : overdue(region, timeLimitMs, error)
  } finally {
    clearTimeout(timer)
    client.destroy()
  }
}

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
  const signal = options.signal === undefined ? limit : AbortSignal.any([options.signal, limit])
  const requestHandler = { connectionTimeout: connectionTimeoutMs }
  const client = countingSlowDowns(
    'SES',
    new SESv2Client({ region, credentials, maxAttempts: 3, requestHandler }),
  )
  const suppressed: SuppressedAddress[] = []
  let answered = 0
  try {
    for (const [index, address] of addresses.map(bareAddress).entries()) {
      if (index > 0) await sleep(gapMs, signal)
      const found = await suppressionOf(client, address, signal)
      if (found !== null) suppressed.push(found)
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
