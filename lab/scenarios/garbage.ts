/** Everything that a control plane should have collected, each case beside its healthy twin. Names of twins say so: `kept-…`. */
import { inNodegroup } from '#lab/nodes/placement.ts'
import { evictedPod, finishedPod, ordinaryPods, type PodProfile } from '#lab/nodes/pod-profile.ts'
import { GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { garbageObjects } from './garbage-objects.ts'
import { type ExpectedRule, fixedNodes, type Scenario } from './scenario.ts'

const cluster = 'garbage'
const place = { family: 'AL2023', version: '1.34.1', instanceType: 'm6i.large' } as const
const low =
  'The node was low on resource: ephemeral-storage. Threshold quantity: 6442451200, available: 5662310Ki. '

const failures = (node: string): PodProfile[] => [
  ...Array.from({ length: 3 }, (_, index) => ({
    ...evictedPod(`${node}/${index}`, low),
    namespace: 'media',
    endedHoursAgo: 60 + index,
  })),
  // Evicted a while ago, and somebody may still look at it.
  { ...evictedPod(`${node}/kept`, low), namespace: 'kept-media', endedHoursAgo: 3 },
  { ...finishedPod(`${node}/failed`), namespace: 'mail', phase: 'Failed', endedHoursAgo: 70 },
  { ...finishedPod(`${node}/kept`), namespace: 'kept-mail', phase: 'Failed', endedHoursAgo: 4 },
]

const profile = (ip: string, more: Partial<NodeProfile> = {}): NodeProfile => ({
  ...inNodegroup('workers', { ...place, ip }),
  nodefs: { capacityBytes: 20 * GiB, usedPercent: 44 },
  configuration: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 },
  pods: ordinaryPods(ip),
  ...more,
})

/** What they run with was written on them by hand: no template says it. */
const nodes: { profile: NodeProfile; rules: ExpectedRule[] }[] = [
  {
    profile: profile('10.0.7.11', {
      pods: [...ordinaryPods('10.0.7.11'), ...failures('10.0.7.11')],
    }),
    rules: ['baseline-drift', 'pods-evicted'],
  },
  { profile: profile('10.0.7.12'), rules: ['baseline-drift'] },
  {
    profile: profile('10.0.7.21', { silent: true, silentHours: 72, fault: { kind: 'down' } }),
    rules: ['node-without-instance', 'unread-node', 'unrenewed-lease'],
  },
  // Its instance runs on.
  {
    profile: profile('10.0.7.23', { silent: true, silentHours: 48, fault: { kind: 'down' } }),
    rules: ['node-not-ready-long', 'unread-node', 'unrenewed-lease'],
  },
  {
    profile: profile('10.0.7.22', { silent: true, silentHours: 0.1, fault: { kind: 'down' } }),
    rules: ['unread-node'],
  },
]
/** Those that have been silent for days; the instance of the first is gone. */
const silent = nodes.flatMap(({ profile: { name, silentHours = 0 } }) =>
  silentHours >= 24 ? [name] : [],
)
const others = nodes.map(({ profile: { name } }) => name).filter(name => !silent.includes(name))

const finding = (rule: string, subject: string) => ({ cluster, rule, subject })

export const garbage: Scenario = {
  name: 'garbage',
  about:
    'objects that the control plane should have collected, each beside one that is as it should be',
  clusters: [
    {
      name: cluster,
      version: '1.34',
      terminatedPodThreshold: 16,
      nodegroups: [
        {
          name: 'workers',
          amiType: 'AL2023_x86_64_STANDARD',
          version: '1.34',
          releaseVersion: '1.34.1-20261103',
          instanceTypes: [place.instanceType],
          desiredSize: nodes.length,
          diskSize: 20,
        },
      ],
      nodes: fixedNodes(
        Object.fromEntries(nodes.map(each => [each.profile.name, profiledNode(each.profile)])),
      ),
      objects: garbageObjects(others, silent),
      disks: [
        { volumeId: 'vol-0bbbbbbbbbbbbbbb1', sizeGiB: 200, madeHoursAgo: 2000 },
        { volumeId: 'vol-0bbbbbbbbbbbbbbb2', sizeGiB: 200, madeHoursAgo: 2 },
        { volumeId: 'vol-0bbbbbbbbbbbbbbb3', sizeGiB: 200, madeHoursAgo: 2000, isAttached: true },
        // A PersistentVolume names it.
        // One that no claim has.
        {
          volumeId: 'vol-0bbbbbbbbbbbbbbb4',
          sizeGiB: 50,
          madeHoursAgo: 2000,
          type: { name: 'io2', iops: 4000 },
        },
        { volumeId: 'vol-0bbbbbbbbbbbbbbb5', sizeGiB: 50, madeHoursAgo: 2000 },
        { volumeId: 'vol-0aaaaaaaaaaaaaaa1', sizeGiB: 500, madeHoursAgo: 2000 },
      ],
      // Of its neighbours the instance is there.
      goneInstances: silent.slice(0, 1),
    },
  ],
  expect: () => ({
    nodes: nodes.map(each => ({ cluster, node: each.profile.name, rules: each.rules })),
    notAudited: [],
    garbage: [
      finding('blocked-foreground-deletion', 'Namespace legacy'),
      finding('dangling-owner', 'Namespace stray'),
      finding('evicted-pods', 'Namespace media'),
      finding('failed-pods', 'Namespace mail'),
      finding('job-history-beyond-limit', 'Namespace reports'),
      finding('job-without-ttl', 'Namespace batch'),
      finding('leftover-lease', `Cluster ${cluster}`),
      finding('node-not-ready-long', `Cluster ${cluster}`),
      finding('node-without-instance', `Cluster ${cluster}`),
      finding('orphaned-dependent', 'Namespace canary'),
      finding('overdue-job-ttl', 'Namespace etl'),
      finding('pending-certificate-request', `Cluster ${cluster}`),
      finding('pod-stuck-terminating', 'Namespace queue'),
      finding('released-volume', 'Namespace archive'),
      finding('stuck-finalizer', 'Namespace edge'),
      finding('terminated-pods-near-threshold', `Cluster ${cluster}`),
      finding('unattached-disk', `Cluster ${cluster}`),
      finding('uncollected-certificate-request', `Cluster ${cluster}`),
      finding('unrenewed-lease', `Cluster ${cluster}`),
      finding('volume-held-in-deletion', `Cluster ${cluster}`),
      finding('volume-held-in-deletion', 'Namespace queue'),
      finding('volume-not-deleted', 'Namespace scratch'),
    ],
  }),
}
