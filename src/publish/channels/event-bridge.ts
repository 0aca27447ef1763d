/** An EventBridge bus: one event for each new, worse and ended finding, once per run id. */
import type { MailChannel } from '#publish/publish.ts'
import { messageOnce, type OnceOptions } from './message-once.ts'

export const eventBridge = ({ busArn, ...once }: OnceOptions & { busArn: string }): MailChannel =>
  messageOnce(
    {
      id: 'eventbridge',
      noun: 'events',
      recipients: busArn,
      async send({ events }) {
        const { putEvents } = await import('#clients/send/event-bridge.ts')
        const entries = events.map(detail => ({
          detailType: `Finding ${detail.change}`,
          at: detail.at,
          detail,
        }))
        await putEvents(busArn, entries, once.signal)
        return ''
      },
    },
    once,
  )
