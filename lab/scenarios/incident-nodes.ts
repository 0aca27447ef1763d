/** The nodes of the incidents, each with the rules that it fires. */
import { autoMode, inNodegroup, nodeNameOf, onFargate, selfManaged } from '#lab/nodes/placement.ts'
import {
  evictedPod,
  holding,
  ordinaryPods,
  systemPods,
  workloadPods,
} from '#lab/nodes/pod-profile.ts'
import { type Disk, type Family, GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { withWorkloads } from '#lab/nodes/workloads.ts'
import { type ExpectedRule, fixedNodes, type NodeSource } from './scenario.ts'

export interface ExpectedNode {
  profile: NodeProfile
  rules: readonly ExpectedRule[]
}

const expectedNode = (
  placement: Parameters<typeof withPods>[0],
  rules: readonly ExpectedRule[],
): ExpectedNode => ({ profile: withPods(placement), rules })

const withPods = ({
  pods,
  ...placement
}: Omit<NodeProfile, 'pods'> & { pods?: NodeProfile['pods'] }): NodeProfile => ({
  ...agentOf(placement.family),
  ...placement,
  pods: ['Fargate', 'Windows'].includes(placement.family)
    ? (pods ?? ordinaryPods(placement.name))
    : withWorkloads(pods ?? ordinaryPods(placement.name), placement),
})

/** What EKS runs by itself has none that answers to the account. */
const agentOf = (family: Family): Pick<NodeProfile, 'agent'> => {
  if (family === 'Fargate' || family === 'Auto Mode') return {}
  return { agent: family === 'Windows' ? { platform: 'Windows' } : {} }
}

const disk = (gibibytes: number, usedPercent: number, imagesPercent?: number): Disk => ({
  capacityBytes: gibibytes * GiB,
  usedPercent,
  ...(imagesPercent !== undefined && { imagesPercent }),
})
export const al2 = { family: 'AL2', version: '1.32.9', instanceType: 'm5.large' } as const
export const al2023 = { family: 'AL2023', version: '1.32.9', instanceType: 'm6i.large' } as const

/** EKS's Amazon Linux 2 image as it comes. The second node's disk has passed image GC's 85 %, and no eviction threshold: a pod's emptyDir grew. */
const defaults: ExpectedNode[] = [
  expectedNode(
    {
      ...inNodegroup('al2-defaults', { ...al2, ip: '10.0.1.11' }),
      nodefs: disk(20, 46, 64),
      disk: { foldersMiB: { '/var/lib/docker': 1190 } },
    },
    ['alert-before-image-gc'],
  ),
  expectedNode(
    {
      ...inNodegroup('al2-defaults', { ...al2, ip: '10.0.1.12' }),
      nodefs: disk(20, 88, 47),
      pods: holding(ordinaryPods('10.0.1.12'), 'checkout', { emptyDirMiB: 6320 }),
    },
    ['disk-nearly-full', 'image-gc-due', 'unreachable-gc-low-threshold'],
  ),
]

/** The same image with 70/50 in its user data: nothing to find. */
const tuned: ExpectedNode[] = ['10.0.1.21', '10.0.1.22'].map((ip, index) =>
  expectedNode(
    {
      ...inNodegroup('al2-tuned', { ...al2, ip }),
      nodefs: disk(20, 58, 71 - 24 * index),
      pods: holding(ordinaryPods(ip), 'cache', { rootfsMiB: 410 + 3070 * index }),
      configuration: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 },
    },
    [],
  ),
)

/** A node that kubespray set up: four signals, so that eviction for images comes at the very point where image GC would begin. */
const kubespray: ExpectedNode[] = [
  expectedNode(
    {
      ...selfManaged(
        { family: 'Ubuntu', version: '1.32.5', instanceType: 'm5.xlarge', ip: '10.0.3.31' },
        'kubespray-worker-1',
      ),
      nodefs: disk(100, 52, 57),
      disk: { foldersMiB: { '/opt': 11_400, '/tmp': 2870 } },
      configuration: {
        evictionHard: {
          'memory.available': '100Mi',
          'nodefs.available': '10%',
          'nodefs.inodesFree': '5%',
          'imagefs.available': '15%',
        },
        kubeReserved: { cpu: '100m', memory: '256Mi' },
        systemReserved: { cpu: '500m', memory: '512Mi', 'ephemeral-storage': '2Gi' },
        maxPods: 110,
      },
    },
    [
      'alert-before-image-gc',
      'eviction-before-image-gc',
      'image-gc-dead',
      'reserved-below-eks-formula',
      'serialized-pulls',
    ],
  ),
]

/**
 * The sizing of the Kubernetes documentation (Node-pressure eviction, "Available memory"), done half: 10 GiB, daemons that take 1 GiB, eviction below
 * 500 MiB. Both together, 1.5 GiB, belong into the reservation; here it is the daemons' share alone.
 */
const sized: ExpectedNode[] = [
  expectedNode(
    {
      ...selfManaged(
        { family: 'Ubuntu', version: '1.32.5', instanceType: 'm5.xlarge', ip: '10.0.3.32' },
        'sized-worker-1',
      ),
      nodefs: disk(100, 41, 34),
      pods: holding(ordinaryPods('sized-worker-1'), 'cache', { emptyDirMiB: 17_900 }),
      memoryBytes: 10 * GiB,
      daemonsMiB: { kubelet: 400, runtime: 624 },
      configuration: {
        evictionHard: {
          'memory.available': '500Mi',
          'nodefs.available': '10%',
          'nodefs.inodesFree': '5%',
        },
        imageGCHighThresholdPercent: 75,
        imageGCLowThresholdPercent: 65,
        serializeImagePulls: false,
        systemReserved: { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '2Gi' },
        maxPods: 110,
      },
    },
    ['reservation-without-eviction', 'reserved-below-eks-formula'],
  ),
]

/** 50/50 was written to the kubelet's file and the kubelet restarted: it refuses to start, and reports that to no one. */
const refused: ExpectedNode[] = [
  expectedNode(
    {
      ...inNodegroup('al2-refused', { ...al2, ip: '10.0.1.41' }),
      nodefs: disk(20, 61, 76),
      configuration: { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50 },
      silent: true,
      fault: { kind: 'down' },
    },
    ['unread-node'],
  ),
]

/** The runtime on its own disk, which none of the three signals watches. */
const dataDisk: ExpectedNode[] = ['10.0.1.51', '10.0.1.52'].map((ip, index) =>
  expectedNode(
    {
      ...inNodegroup('data-disk', { ...al2023, ip }),
      nodefs: disk(20, 31),
      imagefs: disk(200, 57 + 9 * index, 97),
      pods: holding(ordinaryPods(ip), 'checkout', { emptyDirMiB: 640 + 2110 * index }),
    },
    ['alert-before-image-gc', 'lost-default-threshold', 'unwatched-imagefs'],
  ),
)

const editedAddress = '10.0.1.64'
export const editedNode = nodeNameOf(editedAddress)
/** What was available when the pods of node-scanner and thumbnails were evicted: less than now by what the scanner held. */
const scannerKiB = 880_804
const availableKiB = 5_662_310
export const pressure = `The node was low on resource: ephemeral-storage. Threshold quantity: 6442451200, available: ${availableKiB - scannerKiB}Ki. `
export const scannerUse = `Container scanner was using ${scannerKiB}Ki, request is 0, has larger consumption of ephemeral-storage. `

/** Of the edited node and its pods, by morning. `wantedGiB`: what image GC wanted to free, twice; in between it freed less than it wanted. */
const mornings = [
  {
    usedPercent: 73,
    evictedMinutesAgo: 40,
    removed: 'shop/checkout:2026.5.1',
    wantedGiB: [1.38, 0.85],
    evicted: 'thumbnails-6b8f9d4c77-q5wzd',
  },
  {
    usedPercent: 71,
    evictedMinutesAgo: 27,
    removed: 'shop/checkout:2026.4.1',
    wantedGiB: [1.49, 0.97],
    evicted: 'thumbnails-6b8f9d4c77-jm7vk',
  },
  {
    usedPercent: 72,
    evictedMinutesAgo: 51,
    removed: 'shop/checkout:2026.3.1',
    wantedGiB: [1.43, 0.9],
    evicted: 'thumbnails-6b8f9d4c77-2rxtn',
  },
] as const

/**
 * Each evening a job writes faster than pods are evicted: image GC finds one release that no pod runs any more, five minutes later none, and the
 * eviction of the job's pod ends it.
 */
export function onMorning(days: number, profile: NodeProfile): NodeProfile {
  if (profile.name !== editedNode) return profile
  const { usedPercent, evictedMinutesAgo, removed, wantedGiB, evicted } = mornings[days]!
  const [first, second] = wantedGiB.map(gib => Math.round(gib * GiB))
  const ended = evictedPod(`${editedAddress}/${days}`, pressure)
  return {
    ...profile,
    nodefs: { ...profile.nodefs, usedPercent },
    diskPressureMinutes: evictedMinutesAgo + 1,
    imageGcRounds: [
      {
        minutesAgo: 379,
        wantedBytes: first!,
        removed: `111122223333.dkr.ecr.us-east-1.amazonaws.com/${removed}`,
      },
      { minutesAgo: 374, wantedBytes: second!, evicted: `batch/${evicted}` },
    ],
    pods: [
      ...profile.pods.filter(({ failure }) => !failure),
      { ...ended, endedHoursAgo: evictedMinutesAgo / 60 },
    ],
  }
}

/** Four nodes of one nodegroup, of which one was edited by hand. */
const edited: ExpectedNode[] = [
  ...['10.0.1.61', '10.0.1.62', '10.0.1.63'].map((ip, index) =>
    expectedNode(
      {
        ...inNodegroup('general', { ...al2023, ip }),
        nodefs: disk(20, 44 + 7 * index, 73 - 11 * index),
        disk: { leftBehindMiB: 1740 * (index % 2) },
      },
      [
        'alert-before-image-gc',
        // Only its events show it: the pod is gone.
        ...(ip === '10.0.1.61' ? (['rate-limited-registry'] as const) : []),
      ],
    ),
  ),
  expectedNode(
    {
      ...inNodegroup('general', { ...al2023, ip: editedAddress }),
      nodefs: disk(20, 73, 61),
      configuration: {
        evictionHard: {
          'memory.available': '100Mi',
          'nodefs.available': '30%',
          'nodefs.inodesFree': '5%',
        },
        imageGCHighThresholdPercent: 75,
        imageGCLowThresholdPercent: 70,
      },
      diskPressure: true,
      pods: [
        ...holding(ordinaryPods(editedAddress), 'checkout', { emptyDirMiB: 2460, logsMiB: 46 }),
        evictedPod(editedAddress, pressure),
      ],
    },
    [
      'eviction-before-image-gc',
      'eviction-due',
      'eviction-loop',
      'peer-drift',
      'zero-min-reclaim-thrash',
    ],
  ),
]

/** What EKS runs by itself, and Windows. Fargate’s kubelets cannot be queried. */
export const managedNodes: ExpectedNode[] = [
  expectedNode(
    {
      ...onFargate({
        family: 'Fargate',
        version: '1.34.1',
        instanceType: 'm5.large',
        ip: '10.0.4.11',
      }),
      nodefs: disk(20, 22),
      pods: workloadPods('fargate').slice(0, 1),
      fault: {
        kind: 'status',
        status: 403,
        body: 'Forbidden (user=kube-apiserver-kubelet-client, verb=get, resource=nodes, subresource=proxy)',
      },
    },
    [],
  ),
  expectedNode(
    {
      ...inNodegroup('windows', {
        family: 'Windows',
        version: '1.34.1',
        instanceType: 'm5.xlarge',
        ip: '10.0.4.21',
      }),
      nodefs: disk(50, 66, 54),
      pods: workloadPods('windows').slice(0, 1),
    },
    ['alert-before-image-gc'],
  ),
  expectedNode(
    {
      ...autoMode('general-purpose', {
        family: 'Auto Mode',
        version: '1.34.1',
        instanceType: 'm6i.2xlarge',
        ip: '10.0.4.31',
      }),
      nodefs: disk(80, 37, 88),
      pods: [...systemPods('auto').slice(1, 2), ...workloadPods('auto')],
    },
    ['alert-before-image-gc', 'eviction-before-image-gc'],
  ),
]

export const incidentNodes: ExpectedNode[] = [
  ...defaults,
  ...tuned,
  ...kubespray,
  ...sized,
  ...refused,
  ...dataDisk,
  ...edited,
]

export const sourceOf = (nodes: readonly ExpectedNode[]): NodeSource =>
  fixedNodes(Object.fromEntries(nodes.map(({ profile }) => [profile.name, profiledNode(profile)])))
