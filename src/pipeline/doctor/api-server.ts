/** Checks the connection to an API server and the rights there. A SelfSubjectAccessReview needs no right and changes nothing. */
import * as z from 'zod'
import { messageOf } from '#base/operator-error.ts'
import { KubernetesClient, type KubernetesEndpoint } from '#clients/kubernetes/kubernetes.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import { endpointAccess } from '#facts/eks/endpoint-access.ts'
import { attributesOf } from '#facts/kubernetes/rbac.ts'
import type { Check } from '#model/checkup.ts'
import type { ClusterRecord } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { kubernetesRights, type NeededRight } from '#pipeline/access/permissions.ts'
import { check, everything, statusOf } from './checks.ts'

/** How to send the requests of the checks. */
export interface ServerRequest {
  kubernetes: KubernetesClient
  signal: AbortSignal
  timeoutMs: number
}

/** The authenticator accepts tokens from 15 min ago to about 5 min ahead. Source: aws-iam-authenticator pkg/token/token.go. */
const clockOffMs = 5 * 60_000
const clockNotedMs = 60_000
/** The server's `Date` header has a resolution of one second. */
const secondMs = 1000

/**
 * Checks endpoint, certificate, clock and token by one request that every authenticated identity may make.
 * @returns `isReached`: the server answered; `isKnown`: it accepts the token
 */
export async function checkServer(request: ServerRequest, server: string, { eks }: ClusterRecord) {
  const { kubernetes, signal, timeoutMs } = request
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
      checks: [
        check('endpoint', 'failed', `${messageOf(failure)}${endpointAccess(eks)}`, everything),
      ],
      isReached: false,
      isKnown: false,
    }
  const checks = [
    check('endpoint', 'ok', `${server} answers, with a certificate of the cluster's CA`),
    ...clockChecks(ahead),
  ]
  if (status === 401)
    return {
      checks: [...checks, check('token', 'missing', messageOf(failure), everything)],
      isReached: true,
      isKnown: false,
    }
  checks.push(
    status === null || status === 403
      ? check('token', 'ok', 'the API server knows this identity')
      : check('token', 'failed', messageOf(failure), everything),
  )
  return { checks, isReached: true, isKnown: true }
}

function clockChecks(aheadMs: number | null) {
  if (aheadMs === null) return []
  const offMs = Math.abs(aheadMs)
  const gap = `this machine's clock is ${Math.round(offMs / secondMs)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the API server's`
  if (offMs > clockOffMs)
    return [check('clock', 'failed', `${gap}: tokens are refused. Set it by NTP`, everything)]
  return [
    offMs > clockNotedMs
      ? check('clock', 'note', `${gap}; beyond 5 min tokens are refused`)
      : check('clock', 'ok', 'agrees with the API server’s'),
  ]
}

/** One review per right. Rights on resources that are not installed are not needed. */
export const rightChecks = (
  request: ServerRequest,
  rights: readonly NeededRight[],
  by: string,
): Promise<Check[]> => Array.fromAsync(rights, needed => rightCheck(request, needed, by))

async function rightCheck(request: ServerRequest, { right, purpose }: NeededRight, by: string) {
  const { group } = attributesOf(right)
  if (group !== '' && group !== '*' && (await isAbsent(request, group)))
    return check(right, 'ok', `not needed: ${group} is not installed here`)
  try {
    return (await isAllowed(request, right))
      ? check(right, 'ok', `granted to ${by}`)
      : check(right, 'missing', `not granted to ${by}`, purpose)
  } catch (error) {
    request.signal.throwIfAborted()
    return check(
      right,
      'unchecked',
      `the API server did not answer the review: ${messageOf(error)}`,
      purpose,
    )
  }
}

const reviewed = z.object({ status: z.object({ allowed: z.boolean() }) })

/** @throws Error if the answer is not a review */
async function isAllowed({ kubernetes, signal, timeoutMs }: ServerRequest, right: string) {
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
  if (!answer.data) throw new Error('the answer is no SelfSubjectAccessReview')
  return answer.data.status.allowed
}

async function isAbsent({ kubernetes, signal, timeoutMs }: ServerRequest, group: string) {
  try {
    await kubernetes.getJson(`/apis/${group}`, { signal, timeoutMs })
    return false
  } catch (error) {
    signal.throwIfAborted()
    return statusOf(error) === 404
  }
}

/** Checks the rights that the identity needs, and dangerous rights that it should not have. */
export async function kubeletChecks(
  { signal, timeoutMs }: ServerRequest,
  endpoint: KubernetesEndpoint,
  identity: ClusterTarget['kubelet'],
  policy: Policy,
): Promise<Check[]> {
  const rights = kubernetesRights('kubelet', 'kubelet')
  const purpose = rights.map(right => right.purpose).join('; ')
  if (!identity) {
    const detail =
      'no token for kubelets is configured: set kubelet.roleArn in the policy (docs/permissions.md, mode kubelet)'
    return [check('kubelet.roleArn', 'missing', detail, purpose)]
  }
  const { roleArn } = policy.kubelet
  const by = roleArn ?? 'this identity, whose token every kubelet then sees'
  try {
    await identity.authorization(false)
  } catch (error) {
    signal.throwIfAborted()
    return [check('sts:AssumeRole', 'missing', `no token for ${by}: ${messageOf(error)}`, purpose)]
  }
  const { clientCertificate: _, ...server } = endpoint
  const kubernetes = new KubernetesClient(
    { ...server, authorization: identity.authorization },
    { pace: policy.pace },
  )
  const request = { kubernetes, signal, timeoutMs }
  try {
    const { checks: way, isKnown } = await checkServer(request, endpoint.server, {
      kind: 'Cluster',
      cluster: '',
    })
    if (!isKnown)
      return way
        .filter(({ state }) => state !== 'ok')
        .map(each => ({ ...each, detail: `${by}: ${each.detail}`, without: purpose }))
    const checks = await rightChecks(request, rights, by)
    for (const right of ['get nodes/proxy', 'list secrets'])
      if (await isAllowed(request, right))
        checks.push(
          check(
            right,
            'note',
            `${by} has this right, too: the owner of a node could use it with the token that its kubelet sees`,
          ),
        )
    return checks
  } finally {
    kubernetes.close()
  }
}
