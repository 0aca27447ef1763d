/**
 * A webhook of Slack or Microsoft Teams: a short mail, once per run id. Its URL is a secret; only its host
 * appears in messages.
 */

import { OperatorError } from '#base/operator-error.ts'
import { cut, matchesGlob } from '#base/text.ts'
import { postJson, postTimeLimitMs } from '#clients/send/webhook.ts'
import type { MessageCard } from '#model/report.ts'
import type { Settings } from '#model/run.ts'
import type { MailChannel } from '#publish/publish.ts'
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
      id: 'webhook',
      recipients: hostname,
      leaseMs: 2 * postTimeLimitMs,
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

/** The message of a run for Slack and for Microsoft Teams. Texts are plain: no mentions, no links. */
type WebhookFormat = Settings['webhookFormat']

/**
 * Limits of Block Kit. Source: Slack API documentation, header block, button. A section has at most 3,000 characters, but Slack refuses
 * blocks of about 13,000 together (slackapi/bolt-js issue 2509).
 */
const slackLimits = { header: 150, section: 2000, button: 75 }

export function slackMessage(brief: string, { title, lines, causes, link, open }: MessageCard) {
  const plainText = (text: string, limit = slackLimits.section) => ({
    type: 'plain_text' as const,
    text: cut(text, limit),
    emoji: false,
  })
  const section = (text: string) => ({ type: 'section', text: plainText(text) })
  const button = (url: string) => ({
    type: 'actions',
    elements: [{ type: 'button', text: plainText(link?.text ?? '', slackLimits.button), url }],
  })
  return {
    // Shown in notifications. With these three escaped, text cannot mention users.
    text: brief.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    mrkdwn: false,
    blocks: [
      { type: 'header', text: plainText(title, slackLimits.header) },
      ...(lines.length === 0 ? [] : [section(lines.join('\n'))]),
      ...causes.map(section),
      ...(link ? [button(link.url)] : []),
      ...(!link && open !== null ? [section(open)] : []),
    ],
  }
}

/** Teams refuses messages above 28 KB. Source: Microsoft Teams, "Create incoming webhooks". */
const teamsLimitBytes = 27_000
/** Characters of each text. The limits are tried in order until the message fits; it fits with the last. */
const teamsTextLimits = [3000, 1000, 300]

/** Source: Adaptive Cards 1.5, and Teams: "Send Adaptive Cards using an incoming webhook". */
export function teamsMessage(card: MessageCard) {
  const messages = teamsTextLimits.map(limit => teamsMessageOf(card, limit))
  const fits = (message: object) => Buffer.byteLength(JSON.stringify(message)) <= teamsLimitBytes
  return messages.find(fits) ?? messages.at(-1)!
}

function teamsMessageOf({ title, lines, causes, link, open }: MessageCard, limit: number) {
  // A TextBlock knows a part of Markdown.
  const escapeMarkdown = (text: string) => text.replaceAll(/[\\[\]()*_`#~<>!-]/g, '\\$&')
  const block = (text: string, more: object = {}) => ({
    type: 'TextBlock',
    text: escapeMarkdown(cut(text, limit)),
    wrap: true,
    ...more,
  })
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.5',
          body: [
            block(title, { size: 'large', weight: 'bolder' }),
            ...lines.map(line => block(line)),
            ...causes.map(cause => block(cause, { separator: true })),
            ...(!link && open !== null ? [block(open, { fontType: 'monospace' })] : []),
          ],
          actions: link ? [{ type: 'Action.OpenUrl', title: link.text, url: link.url }] : [],
        },
      },
    ],
  }
}
