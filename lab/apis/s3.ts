/** S3 as a report store needs it: restXml, 2006-03-01, path style. Source: the service model `s3`, and the S3 API reference. */
import {
  type Api,
  type LabRequest,
  notImplemented,
  Refusal,
  type Reply,
  type Route,
} from '#lab/api.ts'
import { type CredentialProblem, checkAuthorization } from '#lab/credentials.ts'
import type { S3Action } from '#lab/scenarios/scenario.ts'
import type { World } from '#lab/world.ts'
import { decrypt } from './s3/encryption.ts'
import {
  listObjects,
  listObjectVersions,
  listParameters,
  versionParameters,
} from './s3/list-objects.ts'
import {
  conditionHeaders,
  deleteObject,
  getObject,
  putObject,
  writingHeaders,
} from './s3/objects.ts'
import { payloadOf, signatureMismatch } from './s3/payload.ts'
import { allow, type S3Caller, type S3Request } from './s3/request.ts'
import { xmlError } from './s3/xml-reply.ts'

const problems: Record<
  Exclude<CredentialProblem, 'signature'>,
  [status: number, code: string, message: string]
> = {
  missing: [403, 'AccessDenied', 'Access Denied'],
  malformed: [
    400,
    'AuthorizationHeaderMalformed',
    'The authorization header that you provided is not valid.',
  ],
  'unknown-key': [
    403,
    'InvalidAccessKeyId',
    'The AWS Access Key Id you provided does not exist in our records.',
  ],
  'expired-session': [400, 'ExpiredToken', 'The provided token has expired.'],
  clock: [
    403,
    'RequestTimeTooSkewed',
    'The difference between the request time and the current time is too large.',
  ],
}

interface Operation {
  id: string
  method: string
  /** `bucket`: the address has no key. */
  on: 'object' | 'bucket'
  /** The query parameter by which the operation is known among those of its method. */
  flag?: string
  parameters?: readonly string[]
  action: S3Action
  /** Headers that it understands beside the ones of every request: one that asks for more is answered 501. */
  headers?: readonly string[]
  answer(request: S3Request): Reply
}

const put = { action: 's3:PutObject', on: 'object' } as const
const read = {
  action: 's3:GetObject',
  on: 'object',
  headers: ['x-amz-checksum-mode'],
  answer: readObject,
} as const

const operations: readonly Operation[] = [
  {
    id: 'ListObjectsV2',
    method: 'GET',
    on: 'bucket',
    flag: 'list-type',
    parameters: listParameters,
    action: 's3:ListBucket',
    answer: listObjects,
  },
  {
    id: 'ListObjectVersions',
    method: 'GET',
    on: 'bucket',
    flag: 'versions',
    parameters: versionParameters,
    action: 's3:ListBucketVersions',
    answer: listObjectVersions,
  },
  {
    id: 'PutObject',
    method: 'PUT',
    ...put,
    headers: [...writingHeaders, ...conditionHeaders],
    answer: putObject,
  },
  {
    id: 'DeleteObject',
    method: 'DELETE',
    on: 'object',
    action: 's3:DeleteObject',
    answer: deleteObject,
  },
  { id: 'GetObject', method: 'GET', ...read },
  { id: 'HeadObject', method: 'HEAD', ...read },
]

export function s3Api(world: World): Api<S3Caller> {
  return {
    name: 's3',
    maxBodyBytes: 256 * 1024 ** 2,
    routes: operations.map(operation => routeOf(operation, world)),
    parametersOf: request => request.query,
    authenticate: request => authenticate(request, world),
    error: xmlError,
  }
}

function routeOf(operation: Operation, world: World): Route<S3Caller> {
  const { id, method, on, flag, parameters = [], action } = operation
  return {
    id,
    parameters: ['x-id', ...parameters, ...(flag ? [flag] : [])],
    match(request) {
      const address = addressOf(request.path)
      const isIt =
        request.method === method && address !== null && (address.key === '') === (on === 'bucket')
      return isIt && (flag === undefined || request.query.has(flag)) ? address : null
    },
    answer({ headers, query }, { bucket = '', key = '' }, caller) {
      checkHeaders(operation, headers)
      const request: S3Request = {
        world,
        caller,
        bucket,
        key,
        query,
        headers,
        payload: caller.payload,
      }
      if (world.s3.slowDownsLeft > 0) {
        world.s3.slowDownsLeft -= 1
        throw new Refusal(503, 'SlowDown', 'Please reduce your request rate.')
      }
      allow(request, action)
      return operation.answer(request)
    },
  }
}

function readObject(request: S3Request): Reply {
  const reply = getObject(request)
  decrypt(request.world, request.caller, reply.headers ?? {})
  return reply
}

function authenticate(request: LabRequest, world: World): S3Caller {
  if (request.query.has('X-Amz-Signature'))
    throw notImplemented("the lab's s3 does not know presigned URLs")
  if (request.headers.authorization && !request.headers['x-amz-content-sha256']) {
    throw new Refusal(
      400,
      'InvalidRequest',
      'Missing required header for this request: x-amz-content-sha256',
    )
  }
  const caller = checkAuthorization(request, world, 's3')
  if (caller === 'signature') throw signatureMismatch()
  if (typeof caller === 'string') throw new Refusal(...problems[caller])
  if (caller.region !== world.region) {
    const message = `The authorization header is malformed; the region '${caller.region}' is wrong; expecting '${world.region}'`
    throw new Refusal(400, 'AuthorizationHeaderMalformed', message, {
      details: { Region: world.region },
    })
  }
  const unsigned = Object.keys(request.headers).filter(
    name => name.startsWith('x-amz-') && !caller.signed.headers.includes(name),
  )
  if (unsigned.length > 0) {
    const message = 'There were headers present in the request which were not signed'
    throw new Refusal(403, 'AccessDenied', message, {
      details: { HeadersNotSigned: unsigned.join(', ') },
    })
  }
  return { ...caller, payload: payloadOf(request, caller.signed) }
}

/** Of every request; what HTTP itself and the SDK's own statistics add does not change the answer. */
const alwaysKnown =
  /^(x-amz-(date|content-sha256|security-token|user-agent|expected-bucket-owner|meta-.+|checksum-(?!algorithm$|type$|mode$).+))$/
const changesAnswer = /^(x-amz-.+|if-.+|range)$/

function checkHeaders({ id, headers = [] }: Operation, sent: Record<string, string>): void {
  const unknown = Object.keys(sent).filter(
    name => changesAnswer.test(name) && !alwaysKnown.test(name) && !headers.includes(name),
  )
  if (unknown.length > 0)
    throw notImplemented(`the lab's s3 ${id} does not know the header ${unknown.join(', ')}`)
}

/** `/<bucket>/<key>`, the key with all its slashes. */
function addressOf(path: string): { bucket: string; key: string } | null {
  const [, bucket = '', key = ''] =
    /^\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(path) ?? []
  try {
    return bucket === '' ? null : { bucket, key: decodeURIComponent(key) }
  } catch {
    return null // a malformed escape is no known address
  }
}
