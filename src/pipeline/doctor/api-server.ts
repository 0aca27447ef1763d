/** Checks the connection to an API server and the rights there. A SelfSubjectAccessReview needs no right and changes nothing. */
import * as z from 'zod'
import { KubernetesClient, type KubernetesEndpoint } from '#clients/kubernetes.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import { endpointAccess } from '#facts/eks/endpoint-access.ts'
import { attributesOf } from '#facts/kubernetes/rbac.ts'
import type { Check } from '#model/checkup.ts'
import { messageOf } from '#model/error-message.ts'
import type { Policy } from '#model/policy.ts'
import type { ClusterRecord } from '#model/record.ts'
import { kubernetesRights, type NeededRight } from '#pipeline/access/permissions.ts'
import { check, statusOf } from './checks.ts'

export interface Asking {
  kubernetes: KubernetesClient
  signal: AbortSignal
  timeoutMs: number
}

/** The authenticator accepts tokens from 15 min ago to about 5 min ahead. Source: aws-iam-authenticator pkg/token/token.go. */
const clockOffMs = 5 * 60_000
const clockNotedMs = 60_000
/** The server's `Date` header has a resolution of one second. */
const secondMs = 1000

export interface Way {
  checks: Check[]
  /** It answered. */
  isReached: boolean
  /** It accepts the token. */
  isKnown: boolean
}

/** Checks endpoint, certificate, clock and token by one request that every authenticated identity may make. */
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

/** One review per right. Rights on resources that are not installed are not needed. */
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
  { right, purpose }: NeededRight,
  by: string,
): Promise<Check> {
  const { group } = attributesOf(right)
  if (group !== '' && group !== '*' && (await isAbsent(asking, group)))
    return check(right, 'ok', `not needed: ${group} is not installed here`)
  try {
    return (await isAllowed(asking, right))
      ? check(right, 'ok', `granted to ${by}`)
      : check(right, 'missing', `not granted to ${by}`, purpose)
  } catch (error) {
    asking.signal.throwIfAborted()
    return check(right, 'unchecked', `the API server does not say: ${messageOf(error)}`, purpose)
  }
}

const reviewed = z.object({ status: z.object({ allowed: z.boolean() }) })

/** @throws Error if the answer is no review */
async function isAllowed(
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

/** Checks the rights that the identity needs, and dangerous rights that it should not have. */
export async function kubeletChecks(
  { signal, timeoutMs }: Asking,
  endpoint: KubernetesEndpoint,
  identity: ClusterTarget['kubelet'],
  policy: Policy,
): Promise<Check[]> {
  const rights = kubernetesRights('kubelet', 'kubelet')
  if (!identity) {
    const detail =
      'no token for kubelets is configured: set kubelet.roleArn in the policy (docs/permissions.md, mode kubelet)'
    return [
      check('kubelet.roleArn', 'missing', detail, rights.map(({ purpose }) => purpose).join('; ')),
    ]
  }
  const { roleArn } = policy.kubelet
  const by = roleArn ?? 'this identity, whose token every kubelet then sees'
  const purpose = rights.map(right => right.purpose).join('; ')
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
  const asking = { kubernetes, signal, timeoutMs }
  try {
    const { checks: way, isKnown } = await wayToServer(asking, endpoint.server, {
      kind: 'Cluster',
      cluster: '',
    })
    if (!isKnown)
      return way
        .filter(({ state }) => state !== 'ok')
        .map(each => ({ ...each, detail: `${by}: ${each.detail}`, without: purpose }))
    const checks = await rightChecks(asking, rights, by)
    for (const right of ['get nodes/proxy', 'list secrets'])
      if (await isAllowed(asking, right))
        checks.push(
          check(
            right,
            'note',
            `${by} may do that, too: the owner of a node could do it with the token that its kubelet sees`,
          ),
        )
    return checks
  } finally {
    kubernetes.close()
  }
}
