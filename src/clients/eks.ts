/** The EKS API: clusters and nodegroups. */
import {
  DescribeClusterCommand,
  DescribeNodegroupCommand,
  EKSClient,
  paginateListClusters,
  paginateListNodegroups,
} from '@aws-sdk/client-eks'
import type { RawObject } from '#model/record.ts'
import { awsError, awsFailure, requestFailure } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'
import type { RequestFailure } from './failure.ts'
import { tellingSlowDowns } from './slow-downs.ts'

/** The calls of this file, for the function's role. */
export const eksPermissions = [
  'eks:ListClusters',
  'eks:DescribeCluster',
  'eks:ListNodegroups',
  'eks:DescribeNodegroup',
]

const maxAttempts = 5

/** All calls throw RequestFailure with a message for people, or the signal's reason. Answers are plain JSON with RFC 3339 times. */
export class EksApi {
  readonly region: string
  private readonly client: EKSClient

  constructor(region: string, credentials: CredentialSource) {
    this.region = region
    const client = new EKSClient({
      region,
      credentials,
      maxAttempts: process.env.AWS_MAX_ATTEMPTS ? undefined : maxAttempts,
    })
    this.client = tellingSlowDowns('EKS', client)
  }

  async listClusters(signal: AbortSignal): Promise<string[]> {
    return this.call('ListClusters', signal, async () => {
      const names: string[] = []
      for await (const page of paginateListClusters(
        { client: this.client },
        {},
        { abortSignal: signal },
      ))
        names.push(...(page.clusters ?? []))
      return names
    })
  }

  /** `DescribeCluster.cluster`. */
  async describeCluster(name: string, signal: AbortSignal): Promise<RawObject> {
    return this.call(`DescribeCluster ${name}`, signal, async () => {
      const { cluster } = await this.client.send(new DescribeClusterCommand({ name }), {
        abortSignal: signal,
      })
      return asJson(cluster)
    })
  }

  async listNodegroups(clusterName: string, signal: AbortSignal): Promise<string[]> {
    return this.call(`ListNodegroups of ${clusterName}`, signal, async () => {
      const names: string[] = []
      for await (const page of paginateListNodegroups(
        { client: this.client },
        { clusterName },
        { abortSignal: signal },
      ))
        names.push(...(page.nodegroups ?? []))
      return names
    })
  }

  /** `DescribeNodegroup.nodegroup`. */
  async describeNodegroup(
    clusterName: string,
    nodegroupName: string,
    signal: AbortSignal,
  ): Promise<RawObject> {
    return this.call(`DescribeNodegroup ${nodegroupName} of ${clusterName}`, signal, async () => {
      const { nodegroup } = await this.client.send(
        new DescribeNodegroupCommand({ clusterName, nodegroupName }),
        { abortSignal: signal },
      )
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

function eksFailure(error: unknown, what: string, region: string): RequestFailure {
  const { name, text } = awsError(error)
  if (name === 'ResourceNotFoundException')
    return requestFailure(error, `EKS ${what} in ${region}: there is no such thing (${text})`)
  return awsFailure(error, {
    service: 'EKS',
    endpointVariable: 'AWS_ENDPOINT_URL_EKS',
    what,
    region,
    grant: `eks:${what.split(' ')[0]}`,
  })
}

/** The region of the SDK's standard settings, or null. */
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
