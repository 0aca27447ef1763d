/** The EKS API: which clusters and nodegroups there are. */
import {
  DescribeClusterCommand,
  DescribeNodegroupCommand,
  EKSClient,
  paginateListClusters,
  paginateListNodegroups,
} from '@aws-sdk/client-eks'
import type { RawObject } from '#model/record.ts'
import type { CredentialSource } from './credentials.ts'
import { connectionFailure, oneLine, RequestFailure } from './failure.ts'

/** What this file calls, for the function's role. */
export const eksPermissions = ['eks:ListClusters', 'eks:DescribeCluster', 'eks:ListNodegroups', 'eks:DescribeNodegroup']

const maxAttempts = 5

/** All calls throw RequestFailure with a message for people, or the signal's reason. Answers are plain JSON with RFC 3339 times. */
export class EksApi {
  readonly region: string
  private readonly client: EKSClient

  constructor(region: string, credentials: CredentialSource) {
    this.region = region
    this.client = new EKSClient({ region, credentials, maxAttempts: process.env.AWS_MAX_ATTEMPTS ? undefined : maxAttempts })
  }

  async listClusters(signal: AbortSignal): Promise<string[]> {
    return this.call('ListClusters', signal, async () => {
      const names: string[] = []
      for await (const page of paginateListClusters({ client: this.client }, {}, { abortSignal: signal }))
        names.push(...(page.clusters ?? []))
      return names
    })
  }

  /** `DescribeCluster.cluster`. */
  async describeCluster(name: string, signal: AbortSignal): Promise<RawObject> {
    return this.call(`DescribeCluster ${name}`, signal, async () => {
      const { cluster } = await this.client.send(new DescribeClusterCommand({ name }), { abortSignal: signal })
      return asJson(cluster)
    })
  }

  async listNodegroups(clusterName: string, signal: AbortSignal): Promise<string[]> {
    return this.call(`ListNodegroups of ${clusterName}`, signal, async () => {
      const names: string[] = []
      for await (const page of paginateListNodegroups({ client: this.client }, { clusterName }, { abortSignal: signal }))
        names.push(...(page.nodegroups ?? []))
      return names
    })
  }

  /** `DescribeNodegroup.nodegroup`. */
  async describeNodegroup(clusterName: string, nodegroupName: string, signal: AbortSignal): Promise<RawObject> {
    return this.call(`DescribeNodegroup ${nodegroupName} of ${clusterName}`, signal, async () => {
      const { nodegroup } = await this.client.send(new DescribeNodegroupCommand({ clusterName, nodegroupName }), { abortSignal: signal })
      return asJson(nodegroup)
    })
  }

  close(): void {
    this.client.destroy()
  }

  private async call<T>(what: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      signal.throwIfAborted()
      throw eksFailure(error, what, this.region)
    }
  }
}

const asJson = (value: unknown): RawObject => JSON.parse(JSON.stringify(value ?? {}))

/** What went wrong with an AWS call, said once: credentials, rights, names, network. */
function eksFailure(error: unknown, what: string, region: string): RequestFailure {
  const name = error instanceof Error ? error.name : ''
  const text = oneLine(error instanceof Error ? error.message : String(error))
  const status = responseStatus(error)
  const where = `EKS ${what} in ${region}`
  const fail = (message: string) => new RequestFailure('http', message, { ...(status === null ? {} : { status }), cause: error })
  if (name === 'CredentialsProviderError')
    return fail(`${where}: no AWS credentials were found (${text}). Set a profile, log in, or run where a role is attached`)
  if (/ExpiredToken|TokenExpired/.test(name)) return fail(`${where}: the AWS credentials have expired (${text}). Log in again`)
  if (/UnrecognizedClient|InvalidClientTokenId|InvalidSignature|SignatureDoesNotMatch|IncompleteSignature/.test(name))
    return fail(`${where}: AWS does not accept these credentials (${name}: ${text}). Check the keys, and this machine's clock`)
  if (/AccessDenied/.test(name)) return fail(`${where}: not allowed (${text}). Grant ${eksPermissions.join(', ')} to this identity`)
  if (name === 'ResourceNotFoundException') return fail(`${where}: there is no such thing (${text})`)
  if (error instanceof SyntaxError) return fail(`${where}: the answer is no EKS answer. Check AWS_ENDPOINT_URL_EKS and AWS_ENDPOINT_URL`)
  if (status !== null) return fail(`${where} was answered ${status} ${name}: ${text}`)
  const failure = connectionFailure(error, endpointHost(error) ?? `the EKS endpoint of ${region}`)
  return new RequestFailure(failure.kind, `${where}: ${failure.message}`, { cause: error })
}

function responseStatus(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return null
  const metadata = error.$metadata
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return null
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : null
}

function endpointHost(error: unknown): string | null {
  return typeof error === 'object' && error !== null && 'hostname' in error && typeof error.hostname === 'string' ? error.hostname : null
}

/** The region that the SDK's standard settings name, or null. */
export async function sdkRegion(): Promise<string | null> {
  const client = new EKSClient({})
  try {
    return await client.config.region()
  } catch {
    // The SDK throws "Region is missing" and nothing else here.
    return null
  } finally {
    client.destroy()
  }
}
