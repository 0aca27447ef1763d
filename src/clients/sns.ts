/** Amazon SNS: one message to a topic. Loaded only where the stack names one. */
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { snsMessageMaxBytes, snsSubjectMaxCharacters } from '#facts/aws/limits.ts'
import { awsError, awsFailure, requestFailure } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'
import { oneLine, type RequestFailure } from './failure.ts'

/** What this file calls, for the function's role: on the topic. */
export const snsPermissions = ['sns:Publish']

export interface TopicMessage {
  topicArn: string
  subject: string
  text: string
}

export interface PublishOptions {
  /** Absent: the SDK's own chain. */
  credentials?: CredentialSource
  signal?: AbortSignal
}

/** Then nothing is on its way any more. */
const publishTimeLimitMs = 30_000
const connectionTimeoutMs = 5_000

/**
 * The message id. The subject is made to be one that SNS takes, the text is cut to its limit.
 * @throws RequestFailure with a message for people, or the signal's reason
 */
export async function publishToTopic(
  { topicArn, subject, text }: TopicMessage,
  { credentials, signal }: PublishOptions,
): Promise<string> {
  const region = topicArn.split(':')[3] ?? ''
  const limit = AbortSignal.timeout(publishTimeLimitMs)
  // A try again could come twice: whether a broken connection's message was taken is not known.
  const client = new SNSClient({
    region,
    credentials,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: connectionTimeoutMs },
  })
  try {
    const message = {
      TopicArn: topicArn,
      Subject: topicSubject(subject),
      Message: cutToBytes(text, snsMessageMaxBytes),
    }
    const abortSignal = signal === undefined ? limit : AbortSignal.any([signal, limit])
    const { MessageId } = await client.send(new PublishCommand(message), { abortSignal })
    return MessageId ?? ''
  } catch (error) {
    signal?.throwIfAborted()
    throw snsFailure(error, topicArn, region)
  } finally {
    client.destroy()
  }
}

/** ASCII on one line. Source: SNS API reference, Publish Subject. */
function topicSubject(subject: string): string {
  const ascii = oneLine(subject, snsSubjectMaxCharacters * 2)
    .replaceAll('…', '...')
    .replace(/[^ -~]+/g, '?')
  return ascii.slice(0, snsSubjectMaxCharacters) || 'highwater'
}

function cutToBytes(text: string, limitBytes: number): string {
  const bytes = Buffer.from(text)
  const mark = '\n… (cut)'
  if (bytes.length <= limitBytes) return text || '(empty)'
  // A character that was cut in two becomes a mark of its own.
  return `${bytes.subarray(0, limitBytes - 2 * Buffer.byteLength(mark)).toString()}${mark}`
}

function snsFailure(error: unknown, topicArn: string, region: string): RequestFailure {
  const { name, text } = awsError(error)
  const what = `Publish to ${topicArn}`
  const fail = (message: string) => requestFailure(error, `SNS ${what}: ${message}`)
  if (/^NotFound/.test(name))
    return fail(
      `there is no such topic (${text}). Create it, or set the stack's parameter topicArn to another`,
    )
  if (/^AuthorizationError/.test(name))
    return fail(
      `not allowed (${text}). Grant ${snsPermissions.join(', ')} on that topic to this identity; the topic's own policy must not refuse it`,
    )
  if (/^KMS/.test(name))
    return fail(
      `the topic's KMS key cannot be used (${name}: ${text}). Grant kms:GenerateDataKey and kms:Decrypt on it to this identity, and see that it is enabled`,
    )
  return awsFailure(error, {
    service: 'SNS',
    endpointVariable: 'AWS_ENDPOINT_URL_SNS',
    what,
    region,
    grant: `${snsPermissions.join(', ')} on ${topicArn}`,
  })
}
