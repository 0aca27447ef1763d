/** Why a call to any AWS service failed: credentials, rights, throttling, network. Each client explains the errors of its own service. */

import { channel } from 'node:diagnostics_channel'
import { codeOf, messageOf } from '#base/operator-error.ts'
import { isRawObject, mapOf } from '#base/raw-object.ts'
import { didYouMean } from '#base/text.ts'
import { connectionFailure, oneLine, RequestFailure } from '#clients/failure.ts'
import type { CredentialSource } from './credentials.ts'

export interface AwsCall {
  /** `EKS`, `S3`, `SES`. */
  service: string
  /** The operation and its object: `ListNodegroups of prod`. */
  what: string
  region: string
  /** The right to grant if the call is denied. Default: the operation, as `eks:ListNodegroups`. */
  grant?: string
  /** Returns the meaning of an error that only this service has; null: a common error. */
  explain?: (error: AwsError) => string | null
}

/** The parts of an SDK error. */
export interface AwsError {
  name: string
  /** The error's message, on one line. */
  text: string
  /** Status of the answer; null: there was no answer. */
  status: number | null
  /** Node's error code, if there was no answer. */
  code: string | null
  cause: unknown
}

/** Services whose endpoint variable is not named after the service. */
const endpointNames: Readonly<Record<string, string>> = { SES: 'SESV2', 'Step Functions': 'SFN' }

/** Client options for calls that the SDK may retry by itself. */
export const retryOptions = (region: string, credentials: CredentialSource) => ({
  region,
  credentials,
  maxAttempts: process.env.AWS_MAX_ATTEMPTS ? undefined : 5,
})

/** Time to connect, for services that have to answer at once. */
export const connectionTimeout = 5_000

/** The region in an ARN. */
export const regionInArn = (arn: string) => arn.split(':')[3] ?? ''

/** Aborted by the caller's signal, or at the time limit. */
export const signalWithLimit = (signal: AbortSignal | undefined, limit: AbortSignal) =>
  signal ? AbortSignal.any([signal, limit]) : limit

type AbortableCall = AwsCall & { signal?: AbortSignal | undefined }

/** Runs a call. @throws RequestFailure with a message for people, or the signal's reason */
export async function awsCall<T>(call: AbortableCall, run: () => Promise<T>) {
  try {
    return await run()
  } catch (error) {
    call.signal?.throwIfAborted()
    throw awsFailure(error, call)
  }
}

/** Yields the pages of one of the SDK's paginators. @throws as awsCall */
export async function* awsPages<Page>(
  call: AbortableCall,
  pages: AsyncIterator<Page>,
): AsyncGenerator<Page> {
  for (;;) {
    const page = await awsCall(call, () => pages.next())
    if (page.done) return
    yield page.value
  }
}

function credentialHint() {
  const { AWS_PROFILE: profile = '' } = process.env
  return profile === ''
    ? 'Set a profile, log in, or run where a role is attached'
    : `Does ~/.aws/config have the profile ${profile} (AWS_PROFILE), and are you logged in?`
}

/** A host name that does not resolve usually means a misspelt region. */
function regionHint(region: string, code: string | null) {
  const isUnknown = (code === 'ENOTFOUND' || code === 'EAI_AGAIN') && !awsRegions.includes(region)
  const meant = didYouMean(region, awsRegions)
  return isUnknown ? `: highwater knows no region ${region}.${meant || ' Check its name'}` : ''
}

/** Describes the failure in one paragraph for people; `status` is set if AWS answered. */
export function awsFailure(error: unknown, { service, what, region, grant, explain }: AwsCall) {
  const known = awsError(error)
  const { name, text, status, code } = known
  const where = `${service} ${what} in ${region}`
  const fail = (message: string, refusal?: 'right' | 'role') =>
    requestFailure(error, `${where}: ${message}`, refusal)
  const explained = explain?.(known) ?? null
  if (explained !== null) return fail(explained)
  if (name === 'CredentialsProviderError')
    return fail(`no AWS credentials were found (${text}). ${credentialHint()}`)
  if (/ExpiredToken|TokenExpired/.test(name))
    return fail(`the AWS credentials have expired (${text}). Log in again`)
  if (
    /UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId|InvalidSignature|SignatureDoesNotMatch|AuthFailure|IncompleteSignature/.test(
      name,
    )
  )
    return fail(
      `AWS does not accept these credentials (${name}: ${text}). Check the keys, and this machine's clock`,
    )
  if (name === 'RequestTimeTooSkewed')
    return fail(`this machine's clock is wrong (${text}). Set it by NTP`)
  // STS names the refused role, but no reason. The error's name is that of any denied call, so the text decides.
  if (text.includes('is not authorized to perform: sts:AssumeRole on resource: arn:'))
    return fail(
      `not allowed (${text}). That role has to be there, to trust this identity, and to be taken with the external id that its trust asks for; this identity needs sts:AssumeRole on it`,
      'role',
    )
  // EC2 uses UnauthorizedOperation.
  if (/AccessDenied|UnauthorizedOperation/.test(name))
    return fail(
      `not allowed (${text}). Grant ${grant ?? `${service.toLowerCase()}:${what.split(' ')[0]}`} to this identity`,
      'right',
    )
  if (isThrottling(error))
    return fail(
      `AWS asks to slow down (${status} ${name}: ${text}), and did so at every try. Try again later`,
    )
  if (error instanceof SyntaxError)
    return fail(
      `the answer is no ${service} answer. Check AWS_ENDPOINT_URL_${endpointNames[service] ?? service.toUpperCase()} and AWS_ENDPOINT_URL`,
    )
  if (status !== null)
    return requestFailure(error, `${where} was answered ${status} ${name}: ${text}`)
  const host =
    (isRawObject(error) && typeof error.hostname === 'string' ? error.hostname : null) ??
    `the ${service} endpoint of ${region}`
  // The SDK names a broken connection `TimeoutError`, too; only that error has a Node code.
  if (name === 'TimeoutError' && code === null)
    return new RequestFailure(
      'timeout',
      `${where}: ${host} did not answer in time (${text}). Check routes, VPC endpoints and proxies`,
      { cause: error },
    )
  const failure = connectionFailure(error, host)
  const message = regionHint(region, code) || `: ${failure.message}`
  return new RequestFailure(failure.kind, `${where}${message}`, { cause: error })
}

/** A RequestFailure with a message that the client wrote, whether AWS answered or not. */
export function requestFailure(
  error: unknown,
  message: string,
  refusal: 'right' | 'role' | null = null,
) {
  return new RequestFailure('http', message, {
    status: responseStatus(error),
    refusal,
    cause: error,
  })
}

export const awsError = (error: unknown): AwsError => ({
  name: error instanceof Error ? error.name : '',
  text: oneLine(messageOf(error)),
  status: responseStatus(error),
  code: codeOf(error),
  cause: error,
})

/** Throttled: the same request may succeed later. */
export function isThrottling(error: unknown) {
  const { name, status } = awsError(error)
  return status === 429 || /^(SlowDown|Throttl|TooManyRequests|RequestLimitExceeded)/.test(name)
}

function responseStatus(error: unknown) {
  const status = mapOf(mapOf(error).$metadata).httpStatusCode
  return typeof status === 'number' ? status : null
}

/** Regions of the public, China and GovCloud partitions, only for hints, because a new region may be missing here. Source: AWS, Regions and Availability Zones. */
const awsRegions: readonly string[] =
  `af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1
ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1 cn-north-1
cn-northwest-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1
me-central-1 me-south-1 mx-central-1 sa-east-1 us-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-west-1 us-west-2`.split(
    /\s+/,
  )

/* Counts throttling by AWS and Kubernetes. A diagnostics channel carries the reports, so no call needs a counter as argument. */

const slowDowns = channel('highwater:slow-down')

/** Reports one throttled answer, even if a retry succeeded. @param service name for people: `EKS`, `Kubernetes` */
export const noteSlowDown = (service: string) => slowDowns.publish(service)

/** Starts counting, by service. A service that never throttled has no entry. */
export function countSlowDowns(): { counts: Readonly<Record<string, number>>; end: () => void } {
  const counts: Record<string, number> = {}
  const count = (service: unknown) => {
    counts[String(service)] = (counts[String(service)] ?? 0) + 1
  }
  slowDowns.subscribe(count)
  return { counts, end: () => void slowDowns.unsubscribe(count) }
}

/** The used part of an SDK client. Each SDK client has its own type for the middleware stack. */
interface SdkClient {
  middlewareStack: {
    add(
      middleware: <Input, Output>(
        next: (input: Input) => Promise<Output>,
      ) => (input: Input) => Promise<Output>,
      options: { step: 'deserialize'; name: string; priority: 'high' },
    ): void
  }
}

/** Reports each throttled attempt of a client, because the SDK retries without a report. */
export function countingSlowDowns<Client extends SdkClient>(service: string, client: Client) {
  client.middlewareStack.add(
    next => async input => {
      try {
        return await next(input)
      } catch (error) {
        if (isThrottling(error)) noteSlowDown(service)
        throw error
      }
    },
    { step: 'deserialize', name: 'countSlowDowns', priority: 'high' },
  )
  return client
}
