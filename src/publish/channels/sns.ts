/** An SNS topic: the mail's text, once per run id. */
import type { MailChannel } from '#publish/publish.ts'
import { messageOnce, type OnceOptions } from './message-once.ts'

export const sns = ({ topicArn, ...once }: OnceOptions & { topicArn: string }): MailChannel =>
  messageOnce(
    {
      id: 'sns',
      recipients: topicArn,
      async send({ subject, text }) {
        const { publishToTopic } = await import('#clients/send/sns.ts')
        return publishToTopic({ topicArn, subject, text }, once.signal)
      },
    },
    once,
  )
