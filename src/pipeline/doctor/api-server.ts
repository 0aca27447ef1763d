/** The way to an API server, and what the identity may do there: SelfSubjectAccessReviews need no right of their own and change nothing. */

import * as z from 'zod'
import type { KubernetesClient } from '#clients/kubernetes.ts'
import { endpointAccess } from '#facts/eks/endpoint-access.ts'
import { attributesOf } from '#facts/kubernetes/rbac.ts'
import type { Check } from '#model/checkup.ts'
import { messageOf } from '#model/error-message.ts'
import type { ClusterRecord } from '#model/record.ts'
import type { NeededRight } from '#pipeline/access/permissions.ts'
import { check, statusOf } from './checks.ts'

export interface Asking {
  kubernetes: KubernetesClient
  signal: AbortSignal
  timeoutMs: number
}

/** The authenticator takes a token from 15 min ago to about 5 min ahead. Source: aws-iam-authenticator pkg/token/token.go. */
const clockOffMs = 5 * 60_000
const clockNotedMs = 60_000
/** One answer with the server's `Date` is to the second. */
const secondMs = 1000

export interface Way {
  checks: Check[]
  /** It answered at all. */
  isReached: boolean
  /** It knows who asks. */
  isKnown: boolean
}

/** Endpoint, certificate, clock and token, by one request that every known identity may make. */
export async function wayToServer(
  asking: Asking,
  server: string,
  { eks }: ClusterRecord,
): Promise<Way> {
  const { kubernetes, signal, timeoutMs } = asking
  let failure: unknown = null
  try {
    await kubernetes.getJson('/version', { signal, timeoutMs, attempts: 1 })
  } catch (error) {
    signal.throwIfAborted()
    failure = error
  }
  const ahead = kubernetes.clockAheadMs
  const status = statusOf(failure)
  if (failure !== null && status === null)
    return {
      checks: [check('endpoint', 'failed', `${messageOf(failure)}${endpointAccess(eks)}`, nothing)],
      isReached: false,
      isKnown: false,
    }
  const checks = [
    check('endpoint', 'ok', `${server} answers, with a certificate of the cluster's CA`),
    ...clockChecks(ahead),
  ]
  if (status === 401)
    return {
      checks: [...checks, check('token', 'missing', messageOf(failure), nothing)],
      isReached: true,
      isKnown: false,
    }
  checks.push(
    status === null || status === 403
      ? check('token', 'ok', 'the API server knows this identity')
      : check('token', 'failed', messageOf(failure), nothing),
  )
  return { checks, isReached: true, isKnown: true }
}

const nothing = 'everything of this cluster'

function clockChecks(aheadMs: number | null): Check[] {
  if (aheadMs === null) return []
  const offMs = Math.abs(aheadMs)
  const said = `this machine's clock is ${Math.round(offMs / secondMs)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the API server's`
  if (offMs > clockOffMs)
    return [check('clock', 'failed', `${said}: tokens are refused. Set it by NTP`, nothing)]
  return [
    offMs > clockNotedMs
      ? check('clock', 'note', `${said}; beyond 5 min tokens are refused`)
      : check('clock', 'ok', 'agrees with the API server’s'),
  ]
}

/** One review for each right; those of resources that are not installed are not needed. */
export async function rightChecks(
  asking: Asking,
  rights: readonly NeededRight[],
  by: string,
): Promise<Check[]> {
  const checks: Check[] = []
  for (const needed of rights) checks.push(await rightCheck(asking, needed, by))
  return checks
}

async function rightCheck(
  asking: Asking,
  { right, tells }: NeededRight,
  by: string,
): Promise<Check> {
  const { group } = attributesOf(right)
  if (group !== '' && group !== '*' && (await isAbsent(asking, group)))
    return check(right, 'ok', `not needed: ${group} is not installed here`)
  try {
    return (await isAllowed(asking, right))
      ? check(right, 'ok', `granted to ${by}`)
      : check(right, 'missing', `not granted to ${by}`, tells)
  } catch (error) {
    asking.signal.throwIfAborted()
    return check(right, 'unchecked', `the API server does not say: ${messageOf(error)}`, tells)
  }
}

const reviewed = z.object({ status: z.object({ allowed: z.boolean() }) })

/** @throws Error when the answer is none */
export async function isAllowed(
  { kubernetes, signal, timeoutMs }: Asking,
  right: string,
): Promise<boolean> {
  const { verb, group, resource, subresource } = attributesOf(right)
  const resourceAttributes = { verb, group, resource, ...(subresource !== '' && { subresource }) }
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  }
  const answer = reviewed.safeParse(
    await kubernetes.postReview('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review, {
      signal,
      timeoutMs,
    }),
  )
  if (answer.data === undefined) throw new Error('the answer is no SelfSubjectAccessReview')
  return answer.data.status.allowed
}

async function isAbsent(
  { kubernetes, signal, timeoutMs }: Asking,
  group: string,
): Promise<boolean> {
  try {
    await kubernetes.getJson(`/apis/${group}`, { signal, timeoutMs })
    return false
  } catch (error) {
    signal.throwIfAborted()
    return statusOf(error) === 404
  }
}
