/** Amazon SNS: one message to a topic. Loaded only if the stack names one. */
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import {
  type AwsError,
  awsCall,
  connectionTimeout,
  regionInArn,
  signalWithLimit,
} from '#clients/aws/aws-failure.ts'
import { oneLine } from '#clients/failure.ts'
import { snsMessageMaxBytes, snsSubjectMaxCharacters } from '#facts/aws/limits.ts'

/** IAM action of this file, for the function's role, on the topic. */
export const snsPermissions = ['sns:Publish']

export interface TopicMessage {
  topicArn: string
  subject: string
  text: string
}

/** No request runs longer. */
const publishTimeLimitMs = 30_000

/**
 * Returns the message id. The subject is changed to a form that SNS accepts; the text is cut to the limit of SNS.
 * @throws RequestFailure with a message for people, or the signal's reason
 */
export async function publishToTopic(
  { topicArn, subject, text }: TopicMessage,
  signal?: AbortSignal,
) {
  const region = regionInArn(topicArn)
  // No retry: after a broken connection SNS may have published the message.
  const client = new SNSClient({ region, maxAttempts: 1, requestHandler: { connectionTimeout } })
  const message = {
    TopicArn: topicArn,
    Subject: topicSubject(subject),
    Message: cutToBytes(text, snsMessageMaxBytes),
  }
  const what = `Publish to ${topicArn}`
  const grant = `${snsPermissions.join(', ')} on ${topicArn}`
  const abortSignal = signalWithLimit(signal, AbortSignal.timeout(publishTimeLimitMs))
  try {
    const { MessageId } = await awsCall(
      { service: 'SNS', what, region, grant, signal, explain },
      () => client.send(new PublishCommand(message), { abortSignal }),
    )
    return MessageId ?? ''
  } finally {
    client.destroy()
  }
}

/** The subject as ASCII on one line. Source: SNS API reference, Publish Subject. */
function topicSubject(subject: string) {
  const ascii = oneLine(subject, snsSubjectMaxCharacters * 2)
    .replaceAll('…', '...')
    .replace(/[^ -~]+/g, '?')
  return ascii.slice(0, snsSubjectMaxCharacters) || 'highwater'
}

function cutToBytes(text: string, limitBytes: number) {
  const bytes = Buffer.from(text)
  const mark = '\n… (cut)'
  if (bytes.length <= limitBytes) return text || '(empty)'
  // A character that is cut in two becomes a replacement character.
  return `${bytes.subarray(0, limitBytes - 2 * Buffer.byteLength(mark)).toString()}${mark}`
}

function explain({ name, text }: AwsError) {
  if (/^NotFound/.test(name))
    return `there is no such topic (${text}). Create it, or set the stack's parameter topicArn to another`
  if (/^AuthorizationError/.test(name))
    return `not allowed (${text}). Grant ${snsPermissions.join(', ')} on that topic to this identity; the topic's own policy must not refuse it`
  if (/^KMS/.test(name))
    return `the topic's KMS key cannot be used (${name}: ${text}). Grant kms:GenerateDataKey and kms:Decrypt on it to this identity, and see that it is enabled`
  return null
}
