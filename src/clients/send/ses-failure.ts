/** Why SES did not send a mail, or might not have sent it, with the next step for people. */

import { type AwsError, awsError, awsFailure, isThrottling } from '#clients/aws/aws-failure.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { Mail } from './mail.ts'

/** Returns `name@host` of `Name <name@host>`. */
export const bareAddress = (address: string) => /^[^<>]*<([^<>]+)>$/.exec(address)?.[1] ?? address

/** SES refused the mail or never received it, so a second try cannot send a second mail. */
export function wasNotTaken(error: unknown): boolean {
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

export const overdue = (region: string, timeLimitMs: number, cause: unknown) =>
  new RequestFailure(
    'timeout',
    `SES SendEmail in ${region}: no answer within ${timeLimitMs / 1000} s. Whether the mail went is not known`,
    { cause },
  )

export function sesFailure(error: unknown, mail: Mail, region: string): RequestFailure {
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
    !wasNotTaken(error) &&
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
    return notVerified(text, mail, region)
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
function notVerified(text: string, { from, to, bouncesTo }: Mail, region: string) {
  const isNamed = (address: string) =>
    text.toLowerCase().includes(bareAddress(address).toLowerCase())
  const isSender = isNamed(from)
  const bounces = bouncesTo && bouncesTo !== from && isNamed(bouncesTo) ? bouncesTo : null
  const recipients = to.filter(
    address => address !== from && address !== bounces && isNamed(address),
  )
  const advice = [
    ...(isSender
      ? [`verify the sender ${from} or its domain in the SES console of ${region}`]
      : []),
    ...(bounces !== null
      ? [
          `verify ${bounces}, to which mails that come back are sent (report.bouncesTo), or leave it out`,
        ]
      : []),
    ...(recipients.length > 0 || (!isSender && bounces === null)
      ? [
          `this account is in the SES sandbox, where recipients have to be verified, too: verify ${recipients.join(', ') || 'them'}, ` +
            'or ask for production access',
        ]
      : []),
  ]
  return `the mail was not taken (${text}). To do: ${advice.join('; ')}`
}
