/** The common part of messages: each is sent once per run id, and the result says what happened. */

import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { messageOf } from '#base/operator-error.ts'
import { parsedJson } from '#base/raw-object.ts'
import { hourMs } from '#base/units.ts'
import type { MailAttachment } from '#clients/send/mail.ts'
import type { Store } from '#clients/store/store.ts'
import type { RenderedMail } from '#model/report.ts'
import { type MailChannel, runKey } from '#publish/publish.ts'

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
  /** Name of the message's marker in the store. Default: the id. */
  markerName?: string
  /** For people: `mail`, `events`. Default: `message`. */
  noun?: string
  /** The recipients, for people. */
  recipients: string
  /** Milliseconds after which another delivery can take over: longer than all requests of one run. Default: a minute. */
  leaseMs?: number
  /** @returns the message's id, or empty. @throws Error with a message for people */
  send(mail: RenderedMail, attachments: MailAttachment[]): Promise<string>
}

export function messageOnce(
  {
    id,
    markerName = `${id}.json`,
    noun = 'message',
    recipients,
    leaseMs = 60_000,
    send,
  }: MessageWay,
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

/*
 * Sends once per run, however often and concurrently the run is delivered: a marker in the store is
 * created before and settled after sending. The marker of a killed delivery expires. If the store
 * cannot be read, the message is sent anyway, and the result says that it might arrive twice.
 */

type SendOutcome =
  /** `doubt`: why the message might arrive twice; null: it does not. */
  | { state: 'sent'; messageId: string; doubt: string | null }
  | { state: 'sent-before'; messageId: string; at: string }
  /** Another delivery of the run is sending; its marker expires at `until`. */
  | { state: 'being-sent'; until: string }

export interface SendOnceOptions {
  /** Null: nothing prevents a second message. */
  store: Store | null
  key: string
  now: () => Date
  /** Milliseconds until the marker expires; longer than `send` can take. */
  leaseMs: number
}

const markerShape = z.object({
  schema: z.literal('highwater.send/1'),
  state: z.enum(['sending', 'sent', 'failed']),
  /** The writer: identifies our own marker if the answer to its write was lost. */
  holder: z.string(),
  /** RFC 3339, like `expiresAt`. */
  at: z.string(),
  expiresAt: z.string().optional(),
  messageId: z.string().optional(),
  error: z.string().optional(),
})
type Marker = z.infer<typeof markerShape>

type Taken = { state: 'taken'; doubt: string | null }

const rounds = 5
// A marker with a longer lease was written with a wrong clock.
const longestLeaseMs = hourMs

/**
 * @param send returns the message id
 * @throws the error of `send`; the marker records it, and the next delivery sends
 */
export async function sendOnce(
  send: () => Promise<string>,
  options: SendOnceOptions,
): Promise<SendOutcome> {
  const holder = randomUUID()
  const taken = await takeMarker(options, holder)
  if (taken.state !== 'taken') return taken
  let messageId: string
  try {
    messageId = await send()
  } catch (error) {
    // A marker that cannot be settled expires; the error of `send` matters more.
    await settleMarker(options, holder, { state: 'failed', error: messageOf(error) })
    throw error
  }
  const unsettled = await settleMarker(options, holder, { state: 'sent', messageId })
  return { state: 'sent', messageId, doubt: taken.doubt ?? unsettled }
}

/** Creates the marker, or takes over one that is expired, failed or unreadable. */
async function takeMarker(
  { store, key, now, leaseMs }: SendOnceOptions,
  holder: string,
): Promise<Taken | SendOutcome> {
  if (!store) return { state: 'taken', doubt: 'there is no store that remembers what was sent' }
  let doubt: string | null = null
  try {
    for (let round = 0; round < rounds; round++) {
      const mine = markerText({
        state: 'sending',
        holder,
        at: now().toISOString(),
        expiresAt: timeAfter(now(), leaseMs),
      })
      if (await store.create(key, mine)) return { state: 'taken', doubt }
      const found = await store.read(key)
      if (!found) continue
      const marker = parseMarker(found.body)
      if (marker?.holder === holder) return { state: 'taken', doubt }
      if (marker?.state === 'sent')
        return { state: 'sent-before', messageId: marker.messageId ?? '', at: marker.at }
      if (marker?.state === 'sending' && isLeaseHeld(marker, now()))
        return { state: 'being-sent', until: marker.expiresAt ?? '' }
      doubt = doubtAfter(marker)
      if (await store.replace(key, mine, found.version)) return { state: 'taken', doubt }
    }
    // Another delivery was faster.
    return { state: 'being-sent', until: timeAfter(now(), leaseMs) }
  } catch (error) {
    return {
      state: 'taken',
      doubt: `${store.location} could not be read to see whether it went before: ${messageOf(error)}`,
    }
  }
}

/** Records the result in the marker, if it is still ours. Returns why this failed, or null. */
async function settleMarker(
  { store, key, now }: SendOnceOptions,
  holder: string,
  end: Pick<Marker, 'state' | 'messageId' | 'error'>,
) {
  if (!store) return null
  const settled = markerText({ holder, at: now().toISOString(), ...end })
  try {
    for (let round = 0; round < rounds; round++) {
      const found = await store.read(key)
      if (!found) {
        if (await store.create(key, settled)) return null
        continue
      }
      const marker = parseMarker(found.body)
      if (marker?.holder !== holder)
        return 'another delivery of this run has taken over in the meantime'
      // Our own earlier write had this result, but the answer to that write was lost.
      if (marker.state === end.state) return null
      if (await store.replace(key, settled, found.version)) return null
    }
    return `the marker ${key} was changed again and again`
  } catch (error) {
    return `${store.location} could not keep that it went: ${messageOf(error)}`
  }
}

const markerText = (marker: Omit<Marker, 'schema'>) =>
  `${JSON.stringify({ schema: 'highwater.send/1', ...marker })}\n`

const timeAfter = (now: Date, leaseMs: number) => new Date(now.getTime() + leaseMs).toISOString()

function isLeaseHeld({ expiresAt }: Marker, now: Date) {
  const leftMs = Date.parse(expiresAt ?? '') - now.getTime()
  return leftMs > 0 && leftMs <= longestLeaseMs
}

function doubtAfter(marker: Marker | null): string | null {
  if (!marker) return 'what an earlier delivery of this run has left cannot be read'
  return marker.state === 'sending'
    ? 'an earlier delivery of this run ended in the middle of sending it'
    : null
}

/** Null: not our format, or another version. */
const parseMarker = (body: Buffer): Marker | null =>
  markerShape.safeParse(parsedJson(body)).data ?? null
