import type { RawObject } from '#base/raw-object.ts'
import { Ec2Api } from '#clients/aws/ec2.ts'
import type { ClusterCollector, ClusterInAws } from '#collect/collector.ts'
import {
  type AwsResource,
  clusterFilters,
  instancesResource,
  livingInstanceStates,
  unattachedVolumeState,
  volumesResource,
} from '#facts/aws/cluster-resources.ts'

type Pages = (
  ec2: Ec2Api,
  cluster: ClusterInAws,
  signal: AbortSignal,
) => AsyncGenerator<RawObject[]>[]

/** Lists resources with the cluster's tags, each resource once. The SDK retries throttled calls; the API server's pace does not apply to EC2. */
const taggedCollector = (
  { resource, kind, action, purpose }: AwsResource,
  id: string,
  lists: Pages,
): ClusterCollector => ({
  resource,
  garbage: [kind],
  permissions: { kubernetes: [], aws: [action] },
  isOfAws: true,
  purpose,

  async *collect({ aws, signal }) {
    if (aws === null) return
    const ec2 = new Ec2Api(aws.region, aws.credentials)
    const seen = new Set<unknown>()
    try {
      for (const pages of lists(ec2, aws, signal))
        for await (const items of pages)
          yield items.filter(item => {
            const isNew = !seen.has(item[id])
            seen.add(item[id])
            return isNew
          })
    } finally {
      ec2.close()
    }
  },
})

export const awsCollectors: ClusterCollector[] = [
  taggedCollector(volumesResource, 'VolumeId', (ec2, { name }, signal) =>
    clusterFilters(name, 'volumes').map(filter =>
      ec2.volumes([filter, { name: 'status', values: [unattachedVolumeState] }], signal),
    ),
  ),
  taggedCollector(instancesResource, 'InstanceId', (ec2, { name }, signal) =>
    clusterFilters(name, 'instances').map(filter =>
      ec2.instances(
        [filter, { name: 'instance-state-name', values: livingInstanceStates }],
        signal,
      ),
    ),
  ),
]
