/** Everything that a control plane should have collected, each case beside its healthy twin. Names of twins say so: `kept-…`. */
import { jobObject, leaseObject } from '#lab/nodes/garbage-objects.ts'
import { inNodegroup, nodeNameOf } from '#lab/nodes/placement.ts'
import { evictedPod, ordinaryPods, type PodProfile } from '#lab/nodes/pod-profile.ts'
import { GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { uidOf } from '#lab/nodes/random.ts'
import { fixedNodes, fixedObjects, type Scenario } from './scenario.ts'

const cluster = 'garbage'
const place = { family: 'AL2023', version: '1.34.1', instanceType: 'm6i.large' } as const
const low = 'The node was low on resource: ephemeral-storage. Threshold quantity: 6442451200, available: 5662310Ki. '

const evictions = (node: string): PodProfile[] => [
  ...Array.from({ length: 3 }, (_, index) => ({ ...evictedPod(`${node}/${index}`, low), namespace: 'media', endedHoursAgo: 60 + index })),
  // Evicted a while ago, and somebody may still look at it.
  { ...evictedPod(`${node}/kept`, low), namespace: 'kept-media', endedHoursAgo: 3 },
]

const profiles: NodeProfile[] = ['10.0.7.11', '10.0.7.12'].map((ip, index) => ({
  ...inNodegroup('workers', { ...place, ip }),
  nodefs: { capacityBytes: 20 * GiB, usedPercent: 44 },
  configuration: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 },
  pods: [...ordinaryPods(ip), ...(index === 0 ? evictions(ip) : [])],
}))
const [first, second] = profiles.map(({ name }) => name) as [string, string]

const cronJob = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'kept-nightly' }

const jobs = (at: string) => [
  jobObject(at, { namespace: 'batch', name: 'catalog-import-29384701', finishedHoursAgo: 400 }),
  jobObject(at, { namespace: 'batch', name: 'catalog-import-29384702', finishedHoursAgo: 300, outcome: 'Failed' }),
  jobObject(at, { namespace: 'batch', name: 'kept-by-time', finishedHoursAgo: 30, ttlSeconds: 7 * 86_400 }),
  jobObject(at, { namespace: 'batch', name: 'kept-nightly-29384710', finishedHoursAgo: 30, owner: cronJob }),
  jobObject(at, { namespace: 'batch', name: 'kept-of-today', finishedHoursAgo: 2 }),
  jobObject(at, { namespace: 'batch', name: 'kept-running', finishedHoursAgo: null }),
]

const leases = (at: string) => [
  leaseObject(at, { node: first, renewedHoursAgo: 0.001, nodeUid: uidOf(`node/${first}`) }),
  leaseObject(at, { node: second, renewedHoursAgo: 0.001 }),
  leaseObject(at, { node: nodeNameOf('10.0.7.99'), renewedHoursAgo: 1100 }),
  leaseObject(at, { node: 'kept-until-collected', renewedHoursAgo: 0.01, nodeUid: uidOf('node/gone') }),
]

export const garbage: Scenario = {
  name: 'garbage',
  about: 'objects that the control plane should have collected, each beside one that is as it should be',
  clusters: [
    {
      name: cluster,
      version: '1.34',
      nodegroups: [
        {
          name: 'workers',
          amiType: 'AL2023_x86_64_STANDARD',
          version: '1.34',
          releaseVersion: '1.34.1-20261103',
          instanceTypes: [place.instanceType],
          desiredSize: profiles.length,
          diskSize: 20,
        },
      ],
      nodes: fixedNodes(Object.fromEntries(profiles.map(profile => [profile.name, profiledNode(profile)]))),
      objects: { 'jobs.batch': fixedObjects(jobs), 'leases.coordination.k8s.io': fixedObjects(leases) },
    },
  ],
  expect: () => ({
    nodes: profiles.map(({ name }) => ({ cluster, node: name, rules: [] })),
    notAudited: [],
    garbage: [
      { cluster, rule: 'failed-pods', subject: 'Namespace media' },
      { cluster, rule: 'job-without-ttl', subject: 'Namespace batch' },
      { cluster, rule: 'leftover-lease', subject: `Cluster ${cluster}` },
    ],
  }),
}
