/** A Slack-compatible webhook: the mail in a few lines, once for each run id. Its address is a secret; only its host is ever named. */
import { postJson, postTimeLimitMs } from '#clients/webhook.ts'
import { matchesGlob } from '#model/glob.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { MailChannel } from '#publish/channel.ts'
import { messageOnce, type OnceOptions } from './message-once.ts'

export interface WebhookOptions extends OnceOptions {
  /** https. */
  url: string
  /** Hosts that it may be on; `*` stands for any run of characters. */
  allowedHosts: string[]
}

export function webhook({ url, allowedHosts, ...once }: WebhookOptions): MailChannel {
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
      async send({ brief }) {
        if (!allowedHosts.some(pattern => matchesGlob(pattern, hostname)))
          throw new OperatorError(
            `nothing was sent to the webhook: its host ${hostname} is not one of report.webhookHosts (${allowedHosts.join(', ') || 'none'}). Add it to the policy if it is meant`,
          )
        await postJson(url, slackMessage(brief), { signal: once.signal })
        return ''
      },
    },
    once,
  )
}

/** Source: Slack API documentation, "Formatting text for app surfaces": these three are escaped, and then nothing in it calls anybody. */
const slackMessage = (text: string) => ({
  text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  mrkdwn: false,
})
