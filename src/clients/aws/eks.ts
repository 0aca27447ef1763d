/** The EKS API: clusters, nodegroups and upgrade insights. */
import {
  DescribeClusterCommand,
  DescribeInsightCommand,
  DescribeNodegroupCommand,
  EKSClient,
  type InsightsFilter,
  paginateListClusters,
  paginateListInsights,
  paginateListNodegroups,
} from '@aws-sdk/client-eks'
import type { RawObject } from '#base/raw-object.ts'
import { type AwsError, awsCall, awsPages, countingSlowDowns, retryOptions } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'

/** IAM actions that this file calls, for the function's role. */
export const eksPermissions = [
  'eks:ListClusters',
  'eks:DescribeCluster',
  'eks:ListNodegroups',
  'eks:DescribeNodegroup',
  'eks:ListInsights',
  'eks:DescribeInsight',
]

/** All calls throw RequestFailure with a message for people, or the signal's reason. Answers are plain JSON with RFC 3339 times. */
export class EksApi {
  readonly region: string
  private readonly client: EKSClient

  constructor(region: string, credentials: CredentialSource) {
    this.region = region
    this.client = countingSlowDowns('EKS', new EKSClient(retryOptions(region, credentials)))
  }

  async listClusters(signal: AbortSignal) {
    const pages = paginateListClusters({ client: this.client }, {}, { abortSignal: signal })
    const read = await Array.fromAsync(awsPages(this.call('ListClusters', signal), pages))
    return read.flatMap(({ clusters = [] }) => clusters)
  }

  /** Returns `cluster` of the answer to DescribeCluster. */
  async describeCluster(name: string, signal: AbortSignal): Promise<RawObject> {
    const command = new DescribeClusterCommand({ name })
    const { cluster } = await awsCall(this.call(`DescribeCluster ${name}`, signal), () =>
      this.client.send(command, { abortSignal: signal }),
    )
    return plainJson(cluster)
  }

  async listNodegroups(clusterName: string, signal: AbortSignal) {
    const call = this.call(`ListNodegroups of ${clusterName}`, signal)
    const { client } = this
    const pages = paginateListNodegroups({ client }, { clusterName }, { abortSignal: signal })
    const read = await Array.fromAsync(awsPages(call, pages))
    return read.flatMap(({ nodegroups = [] }) => nodegroups)
  }

  /** Returns `nodegroup` of the answer to DescribeNodegroup. */
  async describeNodegroup(
    clusterName: string,
    nodegroupName: string,
    signal: AbortSignal,
  ): Promise<RawObject> {
    const what = `DescribeNodegroup ${nodegroupName} of ${clusterName}`
    const command = new DescribeNodegroupCommand({ clusterName, nodegroupName })
    const { nodegroup } = await awsCall(this.call(what, signal), () =>
      this.client.send(command, { abortSignal: signal }),
    )
    return plainJson(nodegroup)
  }

  /** Summaries of the upgrade insights that do not pass. @param most further ones are not requested */
  async listInsights(clusterName: string, most: number, signal: AbortSignal) {
    const call = this.call(`ListInsights of ${clusterName}`, signal)
    const { client } = this
    const filter: InsightsFilter = {
      categories: ['UPGRADE_READINESS'],
      statuses: ['ERROR', 'WARNING', 'UNKNOWN'],
    }
    const pages = paginateListInsights({ client }, { clusterName, filter }, { abortSignal: signal })
    const found: { id: string; summary: RawObject }[] = []
    for await (const { insights = [] } of awsPages(call, pages)) {
      for (const summary of insights)
        if (summary.id !== undefined) found.push({ id: summary.id, summary: plainJson(summary) })
      if (found.length >= most) break
    }
    return found.slice(0, most)
  }

  /** Returns `insight` of the answer to DescribeInsight. */
  async describeInsight(clusterName: string, id: string, signal: AbortSignal): Promise<RawObject> {
    const command = new DescribeInsightCommand({ clusterName, id })
    const call = this.call(`DescribeInsight ${id} of ${clusterName}`, signal)
    const { insight } = await awsCall(call, () =>
      this.client.send(command, { abortSignal: signal }),
    )
    return plainJson(insight)
  }

  close() {
    this.client.destroy()
  }

  private call(what: string, signal: AbortSignal) {
    return { service: 'EKS', what, region: this.region, signal, explain }
  }
}

const explain = ({ name, text }: AwsError) =>
  name === 'ResourceNotFoundException' ? `there is no such thing (${text})` : null

const plainJson = (value: unknown): RawObject => JSON.parse(JSON.stringify(value ?? {}))

/** Why there is no region, for people. */
export const noRegion = () =>
  process.env.AWS_PROFILE === undefined
    ? 'No AWS region is set'
    : `The AWS profile ${process.env.AWS_PROFILE} does not exist or has no region`

/** The region in the SDK's standard settings; null: none is set. */
export async function sdkRegion(): Promise<string | null> {
  const client = new EKSClient({})
  try {
    return await client.config.region()
  } catch {
    // The only error that the SDK throws here is "Region is missing".
    return null
  } finally {
    client.destroy()
  }
}
