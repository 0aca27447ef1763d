/**
 * Who a bearer token is: an EKS token (`k8s-aws-v1.` and a presigned GetCallerIdentity) checked as aws-iam-authenticator and, behind it, STS
 * check it. Upstream: kubernetes-sigs/aws-iam-authenticator pkg/token/token.go Verify. Every refusal is the same 401, as on a real cluster.
 */
import type { LabRequest } from '#lab/api.ts'
import { checkSession } from '#lab/credentials.ts'
import { parseAmzDate, parseScope, sameSignature, sha256Hex, signature } from '#lab/sigv4.ts'
import {
  auditorRights,
  type Principal,
  rightsOf,
  type World,
  type WorldCluster,
} from '#lab/world.ts'
import { anonymous, type User } from './authorization.ts'
import { unauthorized } from './status.ts'

const prefix = 'k8s-aws-v1.'
const maxTokenBytes = 4096
const maxExpiresSeconds = 900
const lifetimeMs = 15 * 60_000
const maxFutureMs = 5 * 60_000
const clusterHeader = 'x-k8s-aws-id'

const knownParameters = new Set([
  'action',
  'version',
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-security-token',
  'x-amz-signature',
  'x-amz-signedheaders',
])

/** Who asks an API server or a kubelet. @throws Refusal 401 for a token that is not good */
export function authenticate(request: LabRequest, cluster: WorldCluster, world: World): User {
  const authorization = request.headers.authorization
  if (authorization === undefined) return anonymous
  const [, token = ''] = /^Bearer (\S+)$/i.exec(authorization) ?? []
  if (token === world.kubeconfigToken) return { username: 'lab-reader', rights: auditorRights }
  const user = userOfToken(token, cluster, world)
  if (!user) throw unauthorized()
  return user
}

/** The user of a token in a cluster; null when it is not good there or its principal is not mapped. */
function userOfToken(token: string, cluster: WorldCluster, world: World): User | null {
  const principal = principalOfToken(token, cluster, world)
  const rights = principal && rightsOf(cluster, principal.identity)
  return principal && rights ? { username: principal.arn, rights } : null
}

function principalOfToken(token: string, cluster: WorldCluster, world: World): Principal | null {
  const url = token.length <= maxTokenBytes ? presignedUrl(token) : null
  const hostRegion = url && stsRegion(url.host, cluster.region)
  if (url?.protocol !== 'https:' || !hostRegion || url.pathname !== '/') return null
  const parameters = parametersOf(url)
  if (!parameters) return null
  const of = (name: string) => parameters.get(name) ?? ''

  const signedHeaders = of('x-amz-signedheaders').split(';')
  const expires = of('x-amz-expires')
  const signedAtMs = parseAmzDate(of('x-amz-date'))
  const ageMs = signedAtMs === null ? Number.POSITIVE_INFINITY : Date.now() - signedAtMs
  if (
    of('action') !== 'GetCallerIdentity' ||
    of('version') !== '2011-06-15' ||
    of('x-amz-algorithm') !== 'AWS4-HMAC-SHA256'
  )
    return null
  if (!signedHeaders.includes('host') || !signedHeaders.includes(clusterHeader)) return null
  if (
    !/^\d+$/.test(expires) ||
    Number(expires) > maxExpiresSeconds ||
    ageMs > lifetimeMs ||
    ageMs < -maxFutureMs
  )
    return null

  const scope = parseScope(of('x-amz-credential'))
  const key = scope && world.keys.get(scope.accessKeyId)
  if (!scope || !key || scope.service !== 'sts' || scope.region !== hostRegion) return null
  if (checkSession(key, parameters.get('x-amz-security-token'))) return null
  const values: Record<string, string> = {
    host: url.host,
    [clusterHeader]: cluster.scenario.localId ?? cluster.scenario.name,
  }
  const expected = signature(
    {
      method: 'GET',
      path: '/',
      query: [...url.searchParams].filter(([name]) => name.toLowerCase() !== 'x-amz-signature'),
      headers: signedHeaders.map(name => [name, values[name] ?? '']),
      payloadSha256: sha256Hex(''),
      amzDate: of('x-amz-date'),
    },
    scope,
    key.secretAccessKey,
  )
  return sameSignature(expected, of('x-amz-signature')) ? key.principal : null
}

function presignedUrl(token: string): URL | null {
  const encoded = token.slice(prefix.length)
  // Raw URL-safe base64: padding is an error to the authenticator's decoder.
  if (!token.startsWith(prefix) || !/^[\w-]+$/.test(encoded)) return null
  return URL.parse(Buffer.from(encoded, 'base64url').toString())
}

/** The region of an STS host in the partition of the cluster's region; null for any other host. */
function stsRegion(host: string, clusterRegion: string): string | null {
  const suffix = clusterRegion.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  if (host === `sts.${suffix}`) return 'us-east-1'
  const [, region, rest] = /^sts\.([a-z]{2}(?:-[a-z]+)+-\d)\.(.+)$/.exec(host) ?? []
  return region && rest === suffix ? region : null
}

/** By lower-case name; null when one is unknown or there twice. */
function parametersOf(url: URL): Map<string, string> | null {
  const parameters = new Map<string, string>()
  for (const [name, value] of url.searchParams) {
    const lower = name.toLowerCase()
    if (!knownParameters.has(lower) || parameters.has(lower)) return null
    parameters.set(lower, value)
  }
  return parameters
}
