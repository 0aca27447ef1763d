/** Amazon SES: the mail of a run, once for each run id and owner. */
import type { CredentialSource } from '#clients/credentials.ts'
import { type MailHeader, sendMail, sendTimeLimitMs } from '#clients/sesv2.ts'
import type { ReportPolicy } from '#model/policy.ts'
import type { MailChannel } from '#publish/channel.ts'
import { messageOnce, type OnceOptions } from './message-once.ts'

export interface SesOptions extends OnceOptions {
  from: string
  to: string[]
  /** Whose mail it is: each has a mark of its own. Absent: everybody's. */
  owner?: string
  /** Where a reader asks not to get it any more. */
  unsubscribe?: ReportPolicy['unsubscribe']
  /** Who hears of mails that came back; null or absent: the sender. */
  bouncesTo?: string | null
  region: string
  /** Absent: the SDK's own chain. */
  credentials?: CredentialSource
}

const namedRecipients = 3

export function ses({ from, to, owner, unsubscribe, bouncesTo = null, region, credentials, ...once }: SesOptions): MailChannel {
  const headers = unsubscribe === undefined ? [] : unsubscribeHeaders(unsubscribe, owner)
  const more = to.length - namedRecipients
  const way = {
    id: owner === undefined ? 'ses' : `ses ${owner}`,
    markerName: owner === undefined ? 'mail.json' : `mail-${owner}.json`,
    noun: 'mail',
    recipients: `${to.slice(0, namedRecipients).join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    leaseMs: 2 * sendTimeLimitMs,
  }
  return messageOnce(
    {
      ...way,
      send: ({ subject, html, text }, attachments) =>
        sendMail({ from, to, bouncesTo, subject, html, text, headers, attachments }, { region, credentials, signal: once.signal }),
    },
    once,
  )
}

/** RFC 2369 and RFC 8058. */
function unsubscribeHeaders({ url, mailto, oneClick }: ReportPolicy['unsubscribe'], owner: string | undefined): MailHeader[] {
  const subject = encodeURIComponent(`unsubscribe highwater${owner === undefined ? '' : ` ${owner}`}`)
  const addresses = [
    ...(url === null ? [] : [`<${url}>`]),
    ...(mailto === null ? [] : [`<mailto:${encodeURI(mailto)}?subject=${subject}>`]),
  ]
  if (addresses.length === 0) return []
  const list = { name: 'List-Unsubscribe', value: addresses.join(', ') }
  return url !== null && oneClick ? [list, { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' }] : [list]
}
