/**
 * Amazon SES: the mail of a run, once per run id, owner and language. SES accepts mail to
 * suppressed addresses but does not send it: the result reports those addresses.
 */

import { OperatorError } from '#base/operator-error.ts'
import { firstNames, linesOf } from '#base/text.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import type { MailHeader } from '#clients/send/mail.ts'
import {
  type Suppression,
  sendMail,
  sendTimeLimitMs,
  suppressedAmong,
} from '#clients/send/sesv2.ts'
import type { LanguageId } from '#model/language.ts'
import type { ReportPolicy } from '#model/policy.ts'
import type { MailChannel } from '#publish/publish.ts'
import { messageOnce, type OnceOptions } from './message-once.ts'

export interface SesOptions extends OnceOptions {
  from: string
  to: string[]
  /** The owner whose mail this is, with a separate marker. Absent: the mail about the whole fleet. */
  owner?: string
  /** A further language; its mail has a separate marker. Absent: the first language. */
  language?: LanguageId
  /** Addresses to unsubscribe. */
  unsubscribe?: ReportPolicy['unsubscribe']
  /** Recipient of bounces; null or absent: the sender. */
  bouncesTo?: string | null
  region: string
  /** Absent: the SDK's default credential chain. */
  credentials?: CredentialSource
}

const namedRecipients = 3

export function ses({
  from,
  to,
  owner,
  language,
  unsubscribe,
  bouncesTo = null,
  region,
  credentials,
  ...once
}: SesOptions): MailChannel {
  const headers = unsubscribe ? unsubscribeHeaders(unsubscribe, owner) : []
  const way = {
    id: ['ses', owner, language].filter(Boolean).join(' '),
    // Owner names have no dot, so the dot before the language is unambiguous.
    markerName: `mail${owner === undefined ? '' : `-${owner}`}${language === undefined ? '' : `.${language}`}.json`,
    noun: 'mail',
    recipients: firstNames(to, namedRecipients),
    leaseMs: 2 * sendTimeLimitMs,
  }
  let found: Promise<Suppression> | null = null
  const suppression = () => {
    found ??= suppressedAmong(to, { region, credentials, signal: once.signal })
    return found
  }
  const channel = messageOnce(
    {
      ...way,
      async send({ subject, html, text }, attachments) {
        const { suppressed } = await suppression()
        if (suppressed.length > 0 && suppressed.length === to.length)
          throw new OperatorError(`not sent: ${suppressedText(suppressed, region)}`)
        return sendMail(
          { from, to, bouncesTo, subject, html, text, headers, attachments },
          { region, credentials, signal: once.signal },
        )
      },
    },
    once,
  )
  return {
    ...channel,
    async undeliverable() {
      try {
        const { suppressed } = await suppression()
        return suppressed.length === 0 ? null : suppressedText(suppressed, region)
      } catch {
        // The run was stopped: `send` reports this.
        return null
      }
    },
    async send(mail, attachments) {
      const delivery = await channel.send(mail, attachments)
      if (delivery.state !== 'sent') return delivery
      const { suppressed, unknown } = await suppression()
      const location = linesOf(
        delivery.location,
        suppressed.length > 0 && suppressedText(suppressed, region),
        unknown !== null && `Whether an address is suppressed is not known: ${unknown}`,
      )
      return { ...delivery, location: location.join('. ') }
    },
  }
}

const reasons: Readonly<Record<string, string>> = {
  BOUNCE: 'a mail to it came back',
  COMPLAINT: 'a recipient reported a mail as spam',
}

function suppressedText(suppressed: Suppression['suppressed'], region: string) {
  const listed = suppressed.map(
    ({ address, reason, since }) =>
      `${address} (${reasons[reason] ?? reason}${since === null ? '' : `, ${since}`})`,
  )
  const isOne = suppressed.length === 1
  return (
    `${firstNames(listed, namedRecipients)} ${isOne ? 'gets' : 'get'} nothing: SES has ${isOne ? 'it' : 'them'} on the account's suppression list in ${region}. ` +
    `Once the address works: aws sesv2 delete-suppressed-destination --region ${region} --email-address ADDRESS`
  )
}

/** Returns the headers of RFC 2369 and RFC 8058. */
function unsubscribeHeaders(
  { url, mailto, oneClick }: ReportPolicy['unsubscribe'],
  owner: string | undefined,
): MailHeader[] {
  const subject = encodeURIComponent(
    `unsubscribe highwater${owner === undefined ? '' : ` ${owner}`}`,
  )
  const addresses = linesOf(
    url !== null && `<${url}>`,
    mailto !== null && `<mailto:${encodeURI(mailto)}?subject=${subject}>`,
  )
  if (addresses.length === 0) return []
  const list = { name: 'List-Unsubscribe', value: addresses.join(', ') }
  return url !== null && oneClick
    ? [list, { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' }]
    : [list]
}
