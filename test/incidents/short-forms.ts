/** What many cases share: images and their pods, settings, events, and short forms of a world and of a cause. */
import type { ExpectedCause, Incident } from './incident.ts'
import type { Image, NodeWorld, World } from './world.ts'

/** The numbers of a thread that is about one node. */
export const nodeOf = (node: NodeWorld, rest: Omit<World, 'nodes'> = {}): World => ({
  nodes: [node],
  ...rest,
})

/** What is expected of a near miss: no critical or high cause. */
export const nearMiss = { cause: null, owner: null, steps: [] } satisfies Partial<Incident>

export const held = (holder: string, place?: string): ExpectedCause => ({
  ...{ kind: 'holder', holder },
  ...(place !== undefined && { place }),
})

export const setting = (field: string): ExpectedCause => ({ kind: 'setting', field })

/** Steps of image GC, where images do not hold the disk. */
export const imageGc = /imageGCHighThresholdPercent|prune-images|crictl rmi/

/** So many images of one size, of which the first are used. */
export const images = (count: number, packedGib: number, unpackedGib: number): Image[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `111122223333.dkr.ecr.us-east-1.amazonaws.com/app-${index}:1`,
    ...{ packedGib, unpackedGib },
  }))

/** One pod for each of the first images. */
export const users = (
  count: number,
  more: Partial<Exclude<NodeWorld['workloads'], undefined>[0]> = {},
) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ namespace: 'apps', owner: `Deployment app-${index}` },
    image: `111122223333.dkr.ecr.us-east-1.amazonaws.com/app-${index}:1`,
    ...more,
  }))

export const evictionOf = (signals: Record<string, string>) => ({
  evictionHard: { 'memory.available': '100Mi', 'nodefs.inodesFree': '5%', ...signals },
})

type Events = NonNullable<NodeWorld['events']>

/** So many times under DiskPressure within these minutes, as the events of the node count it. */
export const flaps = (count: number, minutes: number): Events => [
  {
    ...{ type: 'Normal', reason: 'NodeHasDiskPressure', count },
    message: 'Node status is now: NodeHasDiskPressure',
    ...{ firstMinutesAgo: minutes, lastMinutesAgo: 35 },
  },
  {
    ...{ type: 'Normal', reason: 'NodeHasNoDiskPressure', count },
    message: 'Node status is now: NodeHasNoDiskPressure',
    ...{ firstMinutesAgo: minutes - 20, lastMinutesAgo: 20 },
  },
  {
    ...{ type: 'Warning', reason: 'EvictionThresholdMet', count: count * 4 },
    message: 'Attempting to reclaim ephemeral-storage',
    ...{ firstMinutesAgo: minutes, lastMinutesAgo: 30 },
  },
]

export function nodeClass(name: string, blockDeviceMappings: unknown[], more: object = {}) {
  return {
    metadata: { name, uid: `class-${name}`, creationTimestamp: '2026-03-02T10:00:00Z' },
    spec: { amiFamily: 'AL2023', role: 'karpenter', blockDeviceMappings, ...more },
    status: {},
  }
}

/** Karpenter made the node by this EC2NodeClass. */
export const byNodeClass = (...values: Parameters<typeof nodeClass>): Omit<World, 'nodes'> => ({
  nodegroups: [],
  objects: { 'ec2nodeclasses.karpenter.k8s.aws': [nodeClass(...values)] },
})
