/** A large fleet from a seed: every node is made from its number when it is asked for, and is the same each time. */

import type { RawObject } from '#base/raw-object.ts'
import { diskPressure, eventObject, imageGcFailing, startOfPod } from '#lab/nodes/event-object.ts'
import type { InstanceTypeName } from '#lab/nodes/instance-types.ts'
import { inNodegroup, nodeNameOf } from '#lab/nodes/placement.ts'
import { finishedPod, type PodProfile, systemPods, workloadPods } from '#lab/nodes/pod-profile.ts'
import { type Family, GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { randomOf } from '#lab/nodes/random.ts'
import { withWorkloads } from '#lab/nodes/workloads.ts'
import { fleetTemplates } from './launch-templates.ts'
import type { ExpectedRule, NodegroupScenario, NodeSource, Scenario } from './scenario.ts'

export interface FleetOptions {
  nodes: number
  /** Any text or number; the same seed gives the same fleet. Default 1. */
  seed?: string | number
  /** Default 12. */
  podsPerNode?: number
  /** Default `fleet`. */
  cluster?: string
  /** Whether somebody edited every 97th node by hand (`peer-drift`). Default true. */
  isEdited?: boolean
}

interface Group {
  name: string
  family: Family
  amiType: string
  instanceType: InstanceTypeName
  diskGiB: number
  /** Of a disk that the runtime has for itself. */
  imagefsGiB?: number
  configuration?: NodeProfile['configuration']
  /** Rules that its configuration alone fires. */
  rules: readonly ExpectedRule[]
  /** Whether `imagefs.available<15%` watches the disk. */
  watchesImagefs: boolean
  launchTemplate?: NodegroupScenario['launchTemplate']
}

const version = '1.34.1'

const groups: readonly Group[] = [
  {
    name: 'general',
    family: 'AL2023',
    amiType: 'AL2023_x86_64_STANDARD',
    instanceType: 'm6i.large',
    diskGiB: 20,
    rules: ['alert-before-image-gc'],
    watchesImagefs: false,
  },
  {
    name: 'large',
    family: 'AL2023',
    amiType: 'AL2023_x86_64_STANDARD',
    instanceType: 'c6i.4xlarge',
    diskGiB: 200,
    rules: ['alert-before-image-gc'],
    watchesImagefs: false,
  },
  {
    name: 'arm',
    family: 'AL2023',
    amiType: 'AL2023_ARM_64_STANDARD',
    instanceType: 'm7g.xlarge',
    diskGiB: 50,
    configuration: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 },
    rules: [],
    watchesImagefs: false,
    launchTemplate: { id: 'lt-0a11ab00000000011', name: 'fleet-arm', version: '2' },
  },
  {
    name: 'bottlerocket',
    family: 'Bottlerocket',
    amiType: 'BOTTLEROCKET_x86_64',
    instanceType: 'm6i.2xlarge',
    diskGiB: 80,
    rules: ['alert-before-image-gc', 'eviction-before-image-gc'],
    watchesImagefs: true,
    launchTemplate: { id: 'lt-0a11ab00000000012', name: 'fleet-bottlerocket', version: '1' },
  },
  {
    name: 'data-disk',
    family: 'AL2023',
    amiType: 'AL2023_x86_64_STANDARD',
    instanceType: 'r6i.2xlarge',
    diskGiB: 20,
    imagefsGiB: 200,
    rules: ['alert-before-image-gc', 'lost-default-threshold', 'unwatched-imagefs'],
    watchesImagefs: false,
  },
]

/** @throws Error when the number of nodes is not between 1 and 60,000. */
export function fleet({
  nodes,
  seed = 1,
  podsPerNode = 12,
  cluster = 'fleet',
  isEdited = true,
}: FleetOptions): Scenario {
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 60_000)
    throw new Error('a fleet has 1 to 60,000 nodes')
  const drawn = (index: number) => draw(`${seed}/${index}`, index, { podsPerNode, isEdited })
  return {
    name: cluster,
    about: `${nodes} generated nodes`,
    clusters: [
      {
        name: cluster,
        version: '1.34',
        nodegroups: groups.map(group => nodegroupOf(group, nodes)),
        nodes: sourceOf(nodes, drawn),
        events: at =>
          Array.from({ length: nodes }, (_, index) => eventsOf(drawn(index), at)).flat(),
      },
    ],
    launchTemplates: fleetTemplates,
    expect: () => ({
      nodes: Array.from({ length: nodes }, (_, index) => {
        const { profile, rules } = drawn(index)
        return { cluster, node: profile.name, rules }
      }),
      notAudited: [],
    }),
  }
}

/** Node n is 10.(n / 62,500).(n / 250 mod 250).(n mod 250 + 1): the name gives the number back. */
const addressOf = (index: number) =>
  `10.${64 + Math.trunc(index / 62_500)}.${Math.trunc(index / 250) % 250}.${(index % 250) + 1}`

function sourceOf(nodes: number, drawn: (index: number) => Drawn): NodeSource {
  let sorted: readonly string[] | undefined
  return {
    names() {
      sorted ??= Array.from({ length: nodes }, (_, index) => nodeNameOf(addressOf(index))).sort()
      return sorted
    },
    node(name) {
      const [, high, middle, low] = /^ip-10-(\d+)-(\d+)-(\d+)\.ec2\.internal$/.exec(name) ?? []
      const index = (Number(high) - 64) * 62_500 + Number(middle) * 250 + Number(low) - 1
      const isOne = index >= 0 && index < nodes && nodeNameOf(addressOf(index)) === name
      return isOne ? profiledNode(drawn(index).profile) : undefined
    },
  }
}

interface Drawn {
  profile: NodeProfile
  rules: readonly ExpectedRule[]
}

/** What a disk's use comes to, far enough from every threshold that no rounding decides. */
const uses = [
  { upTo: 0.9, from: 18, range: 48, imageGcDue: false },
  { upTo: 1, from: 86.5, range: 2, imageGcDue: true },
]

/** Now and then somebody edited a node by hand. */
const outlierEvery = 97
const outlierAt = 13

function draw(
  seed: string,
  index: number,
  { podsPerNode, isEdited }: Required<Pick<FleetOptions, 'podsPerNode' | 'isEdited'>>,
): Drawn {
  const random = randomOf(seed)
  const group = groups[index % groups.length]!
  const chance = random()
  const use = uses.find(({ upTo }) => chance < upTo)!
  const usedPercent = Math.round((use.from + random() * use.range) * 10) / 10
  const ip = addressOf(index)
  const placement = inNodegroup(group.name, {
    family: group.family,
    version,
    instanceType: group.instanceType,
    ip,
  })
  const ownImagefs = group.imagefsGiB !== undefined
  const isOutlier = isEdited && index % outlierEvery === outlierAt
  // Bottlerocket's imagefs.available<15% is met together with image GC; nothing else watches at 86 to 89 %.
  const isEvicting = use.imageGcDue && group.watchesImagefs
  const disks = {
    nodefs: { capacityBytes: group.diskGiB * GiB, usedPercent: ownImagefs ? 35 : usedPercent },
    ...(group.imagefsGiB !== undefined && {
      imagefs: { capacityBytes: group.imagefsGiB * GiB, usedPercent },
    }),
  }
  const pods = podsOf(placement.name, podsPerNode)
  return {
    profile: {
      ...placement,
      ...disks,
      configuration: { ...group.configuration, ...(isOutlier && { containerLogMaxFiles: 10 }) },
      ...(isEvicting && { diskPressure: true }),
      agent: {},
      // What image GC finds too full is full of images that pods run.
      pods: use.imageGcDue ? withWorkloads(pods, { name: placement.name, ...disks }) : pods,
    },
    rules: [
      ...group.rules,
      ...(isEvicting ? (['eviction-due', 'zero-min-reclaim-thrash'] as const) : []),
      ...(use.imageGcDue ? (['image-gc-due', 'unreachable-gc-low-threshold'] as const) : []),
      ...(isOutlier ? (['peer-drift'] as const) : []),
    ].toSorted(),
  }
}

/** The telling ones of a node in trouble, and of every node what the start of a pod leaves. */
function eventsOf(
  { profile: { name, nodefs, imagefs, pods }, rules }: Drawn,
  at: string,
): RawObject[] {
  const { capacityBytes, usedPercent } = imagefs ?? nodefs
  const told = [
    ...(rules.includes('image-gc-due')
      ? imageGcFailing(name, Math.trunc((capacityBytes * (usedPercent - 80)) / 100))
      : []),
    ...(rules.includes('eviction-due') ? diskPressure(name) : []),
    ...pods.slice(-1).flatMap(pod => startOfPod(name, pod, 25)),
  ]
  return told.map(event => eventObject(event, at))
}

function podsOf(node: string, count: number): PodProfile[] {
  const pods = [...systemPods(node), finishedPod(node)]
  for (let round = 0; pods.length < count; round += 1)
    pods.push(...workloadPods(`${node}/${round}`))
  return pods.slice(0, count)
}

function nodegroupOf(group: Group, nodes: number): NodegroupScenario {
  const position = groups.indexOf(group)
  return {
    name: group.name,
    amiType: group.amiType,
    version: '1.34',
    releaseVersion: group.family === 'Bottlerocket' ? '1.51.0-a1b2c3d4' : '1.34.1-20261103',
    instanceTypes: [group.instanceType],
    desiredSize: Math.ceil((nodes - position) / groups.length),
    ...(group.launchTemplate
      ? { launchTemplate: group.launchTemplate }
      : { diskSize: group.diskGiB }),
  }
}
