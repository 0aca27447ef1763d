/** SNS as a sender of reports needs it: awsQuery, Version 2010-03-31. Source: the service model `sns`, and the SNS API reference. */
import { randomUUID } from 'node:crypto'
import { type Api, Refusal, type Reply } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { form, isAction, type QueryService, queryApi, queryResult } from './aws-query.ts'

const service: QueryService = {
  name: 'sns',
  version: '2010-03-31',
  namespace: 'http://sns.amazonaws.com/doc/2010-03-31/',
}
const maxMessageBytes = 262_144

export function snsApi(world: World): Api<Caller> {
  return queryApi(world, service, [
    {
      id: 'Publish',
      match: isAction('Publish', service),
      parameters: ['Action', 'Version', 'TopicArn', 'Subject', 'Message'],
      answer: (request, _, { principal }) => publish(world, principal.arn, form(request)),
    },
  ])
}

function publish({ sns }: World, caller: string, parameters: URLSearchParams): Reply {
  const [topicArn, subject, message] = [
    parameters.get('TopicArn') ?? '',
    parameters.get('Subject'),
    parameters.get('Message') ?? '',
  ]
  if (!/^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]{1,256}$/.test(topicArn)) throw invalid('TopicArn')
  if (sns.scenario.denied)
    throw new Refusal(
      403,
      'AuthorizationError',
      `User: ${caller} is not authorized to perform: SNS:Publish on resource: ${topicArn}`,
    )
  if (!sns.scenario.topics.some(name => topicArn.endsWith(`:${name}`)))
    throw new Refusal(404, 'NotFound', 'Topic does not exist')
  if (sns.scenario.kmsDenied)
    throw new Refusal(
      400,
      'KMSAccessDenied',
      `User: ${caller} is not authorized to perform: kms:GenerateDataKey`,
    )
  if (message === '') throw invalid('Empty message')
  if (Buffer.byteLength(message) > maxMessageBytes) throw invalid('Message too long')
  if (subject !== null && !/^[!-~][ -~]{0,99}$/.test(subject)) throw invalid('Subject')
  sns.notices.push({ topicArn, subject, message })
  return queryResult('Publish', service, { MessageId: randomUUID() })
}

const invalid = (what: string) => new Refusal(400, 'InvalidParameter', `Invalid parameter: ${what}`)
