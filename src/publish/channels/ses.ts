/** Amazon SES: the mail of a run, once for each run id and owner. */
import type { CredentialSource } from '#clients/credentials.ts'
import { type MailHeader, sendMail, sendTimeLimitMs } from '#clients/sesv2.ts'
import type { Store } from '#clients/store.ts'
import type { ReportPolicy } from '#model/policy.ts'
import type { MailChannel, MailDelivery } from '#publish/channel.ts'
import { runKey } from '#publish/run.ts'
import { type SendOutcome, sendOnce } from '#publish/send-once.ts'

export interface SesOptions {
  from: string
  to: string[]
  /** Whose mail it is: each has a mark of its own. Absent: everybody's. */
  owner?: string
  /** Where a reader asks not to get it any more; `oneClick`: the URL takes a POST. */
  unsubscribe?: Unsubscribe
  /** Who hears of mails that came back; null or absent: the sender. */
  bouncesTo?: string | null
  region: string
  /** Absent: the SDK's own chain. */
  credentials?: CredentialSource
  runId: string
  /** Where it is kept that the mail went; null: nowhere, and a second delivery of the run mails again. */
  store: Store | null
  now: () => Date
  signal?: AbortSignal
}

/** Addresses as the policy has them. */
export type Unsubscribe = ReportPolicy['unsubscribe']

/** Sending has ended by then: nobody takes over from one who is still at it. */
const leaseMs = 2 * sendTimeLimitMs
const namedRecipients = 3

export function ses({
  from,
  to,
  owner,
  unsubscribe,
  bouncesTo = null,
  region,
  credentials,
  runId,
  store,
  now,
  signal,
}: SesOptions): MailChannel {
  const id = owner === undefined ? 'ses' : `ses ${owner}`
  const markerName = owner === undefined ? 'mail.json' : `mail-${owner}.json`
  const headers = unsubscribe === undefined ? [] : unsubscribeHeaders(unsubscribe, owner)
  const blank = { channel: id, location: null, link: null, error: null, messageId: null, doubt: null }
  return {
    id,
    async send({ subject, html, text }, attachments): Promise<MailDelivery> {
      const send = () => sendMail({ from, to, bouncesTo, subject, html, text, headers, attachments }, { region, credentials, signal })
      try {
        const outcome = await sendOnce(send, { store, key: runKey(runId, markerName), now, leaseMs })
        const { state } = outcome
        return {
          ...blank,
          state,
          location: said(outcome, to),
          messageId: state === 'being-sent' ? null : outcome.messageId,
          doubt: state === 'sent' ? outcome.doubt : null,
        }
      } catch (error) {
        return { ...blank, state: 'failed', error: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}

/** RFC 2369 and RFC 8058. */
function unsubscribeHeaders({ url, mailto, oneClick }: Unsubscribe, owner: string | undefined): MailHeader[] {
  const subject = encodeURIComponent(`unsubscribe highwater${owner === undefined ? '' : ` ${owner}`}`)
  const addresses = [
    ...(url === null ? [] : [`<${url}>`]),
    ...(mailto === null ? [] : [`<mailto:${encodeURI(mailto)}?subject=${subject}>`]),
  ]
  if (addresses.length === 0) return []
  const list = { name: 'List-Unsubscribe', value: addresses.join(', ') }
  return url !== null && oneClick ? [list, { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' }] : [list]
}

function said(outcome: SendOutcome, to: string[]): string {
  if (outcome.state === 'sent-before') return `not sent again: the mail of this run went at ${outcome.at} as message ${outcome.messageId}`
  if (outcome.state === 'being-sent') return `not sent: another delivery of this run is sending it, until ${outcome.until} at the latest`
  const more = to.length - namedRecipients
  const recipients = `${to.slice(0, namedRecipients).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const doubt = outcome.doubt === null ? '' : `. It may come twice: ${outcome.doubt}`
  return `${recipients}, message ${outcome.messageId}${doubt}`
}
