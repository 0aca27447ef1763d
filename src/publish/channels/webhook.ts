/**
 * A webhook of Slack or Microsoft Teams: a short mail, once per run id. Its URL is a secret; only its host
 * appears in messages.
 */
import { postJson, postTimeLimitMs } from '#clients/webhook.ts'
import { matchesGlob } from '#model/glob.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { MailChannel } from '#publish/channel.ts'
import { slackMessage, teamsMessage, type WebhookFormat } from './cards.ts'
import { messageOnce, type OnceOptions } from './message-once.ts'

export interface WebhookOptions extends OnceOptions {
  /** An https URL. */
  url: string
  /** Allowed hosts; `*` matches any characters. */
  allowedHosts: string[]
  format: WebhookFormat
}

export function webhook({ url, allowedHosts, format, ...once }: WebhookOptions): MailChannel {
  const { hostname } = new URL(url)
  return messageOnce(
    {
      ...{
        id: 'webhook',
        markerName: 'webhook.json',
        noun: 'message',
        recipients: hostname,
        leaseMs: 2 * postTimeLimitMs,
      },
      async send({ brief, card }) {
        if (!allowedHosts.some(pattern => matchesGlob(pattern, hostname)))
          throw new OperatorError(
            `nothing was sent to the webhook: its host ${hostname} is not one of the stack's webhookHosts (${allowedHosts.join(', ') || 'none'}). Add the host to that parameter (HIGHWATER_WEBHOOK_HOSTS) if it is meant`,
          )
        const message = format === 'teams' ? teamsMessage(card) : slackMessage(brief, card)
        await postJson(url, message, { signal: once.signal })
        return ''
      },
    },
    once,
  )
}
