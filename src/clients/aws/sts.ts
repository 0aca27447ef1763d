/** The caller's AWS identity, and the bearer token by which EKS accepts it in a cluster. */
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { eksTokenMaxBytes, eksTokenRenewMs, eksTokenUrlExpiresSeconds } from '#facts/aws/limits.ts'
import type { CredentialSource } from './credentials.ts'
import { presignedUrl } from './presign.ts'

/** The account of the caller. The call needs no permission. */
export const callerAccount = async (
  region: string,
  credentials: CredentialSource,
  signal: AbortSignal,
): Promise<string | null> => (await callerIdentity(region, credentials, signal)).account

/**
 * The call needs no permission. `arn` includes the name of the session. `principal` is the IAM user or role, as an access entry names it;
 * for a role with a path, `principal` lacks the path.
 */
export async function callerIdentity(
  region: string,
  credentials: CredentialSource,
  signal: AbortSignal,
): Promise<{ account: string | null; principal: string | null; arn: string | null }> {
  const client = new STSClient({ region, credentials })
  try {
    const { Account = null, Arn } = await client.send(new GetCallerIdentityCommand({}), {
      abortSignal: signal,
    })
    const principal = Arn?.replace(
      /^(arn:[\w-]+):sts(::\d+):assumed-role\/([^/]+)\/.*$/,
      '$1:iam$2:role/$3',
    )
    return { account: Account, principal: principal ?? null, arn: Arn ?? null }
  } finally {
    client.destroy()
  }
}

export interface TokenRequest {
  region: string
  /** The cluster's name; for a local cluster on Outposts, its id. */
  clusterId: string
  credentials: CredentialSource
}

/**
 * `k8s-aws-v1.` and a presigned STS GetCallerIdentity URL, base64url without padding. No network call.
 * Source: kubernetes-sigs/aws-iam-authenticator pkg/token/token.go GetWithSTS.
 * @throws Error when the token would be longer than the authenticator takes.
 */
export async function eksToken({ region, clusterId, credentials }: TokenRequest, now: Date) {
  const host = stsHost(region)
  const url = await presignedUrl(
    {
      protocol: 'https:',
      host,
      path: '/',
      headers: { 'x-k8s-aws-id': clusterId },
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
    },
    { service: 'sts', region, credentials, expiresIn: eksTokenUrlExpiresSeconds, signingDate: now },
  )
  const token = `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`
  if (token.length > eksTokenMaxBytes)
    throw new Error(
      `the EKS token has ${token.length} bytes, more than the ${eksTokenMaxBytes} that clusters take: the role session carries too many or too long tags`,
    )
  return token
}

/** An Authorization header, renewed before it expires, or at once if `renew` is true. */
export function eksAuthorization(request: TokenRequest): (renew: boolean) => Promise<string> {
  let header = ''
  let madeAtMs = Number.NEGATIVE_INFINITY
  return async renew => {
    if (renew || performance.now() - madeAtMs >= eksTokenRenewMs) {
      header = `Bearer ${await eksToken(request, new Date())}`
      madeAtMs = performance.now()
    }
    return header
  }
}

/** The region's public STS endpoint, by the SDK's endpoint rules. The cluster calls the URL in the token, so an endpoint override of this machine is ignored. */
function stsHost(region: string) {
  const client = new STSClient({ region })
  return client.config.endpointProvider({
    Region: region,
    UseDualStack: false,
    UseFIPS: false,
    UseGlobalEndpoint: false,
  }).url.hostname
}
