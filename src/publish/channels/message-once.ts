/** The common part of messages: each is sent once per run id, and the result says what happened. */

import { messageOf } from '#base/text/error-message.ts'
import type { MailAttachment } from '#clients/send/mail.ts'
import type { Store } from '#clients/store/store.ts'
import type { RenderedMail } from '#model/report.ts'
import type { MailChannel } from '#publish/channel.ts'
import { runKey } from '#publish/run.ts'
import { type SendOutcome, sendOnce } from '#publish/send-once.ts'

export interface OnceOptions {
  runId: string
  /**
   * The store for the marker that the message was sent; null: none, so a second delivery sends
   * again.
   */
  store: Store | null
  now: () => Date
  signal?: AbortSignal
}

interface MessageWay {
  id: string
  /** Name of the message's marker in the store. */
  markerName: string
  /** For people: `mail`, `message`. */
  noun: string
  /** The recipients, for people. */
  recipients: string
  /** Milliseconds after which another delivery can take over. */
  leaseMs: number
  /** @returns the message's id, or empty. @throws Error with a message for people */
  send(mail: RenderedMail, attachments: MailAttachment[]): Promise<string>
}

export function messageOnce(
  { id, markerName, noun, recipients, leaseMs, send }: MessageWay,
  { runId, store, now }: OnceOptions,
): MailChannel {
  const blank = {
    channel: id,
    location: null,
    link: null,
    error: null,
    messageId: null,
    doubt: null,
  }
  return {
    id,
    async send(mail, attachments) {
      try {
        const outcome = await sendOnce(() => send(mail, attachments), {
          store,
          key: runKey(runId, markerName),
          now,
          leaseMs,
        })
        const { state } = outcome
        return {
          ...blank,
          state,
          location: textOf(outcome, noun, recipients),
          messageId: state === 'being-sent' ? null : outcome.messageId,
          doubt: state === 'sent' ? outcome.doubt : null,
        }
      } catch (error) {
        return { ...blank, state: 'failed', error: messageOf(error) }
      }
    },
  }
}

/** Describes the result, for people. */
function textOf(outcome: SendOutcome, noun: string, recipients: string) {
  if (outcome.state === 'being-sent')
    return `not sent: another delivery of this run is sending it, until ${outcome.until} at the latest`
  const id = outcome.messageId === '' ? '' : `message ${outcome.messageId}`
  if (outcome.state === 'sent-before')
    return `not sent again: the ${noun} of this run went at ${outcome.at}${id === '' ? '' : ` as ${id}`}`
  const doubt = outcome.doubt === null ? '' : `. It may come twice: ${outcome.doubt}`
  return `${recipients}${id === '' ? '' : `, ${id}`}${doubt}`
}
