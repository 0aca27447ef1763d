import { by } from '#base/text.ts'
import { dayMs, gibibyte } from '#base/units.ts'
import {
  familyOfClass,
  hasOwnImage,
  nvmeTypes,
  podBytesOf,
  poolsWithoutRoom,
  storageOfClass,
  uncountedVolumes,
  volumeForPods,
} from '#facts/eks/karpenter-storage.ts'
import { podResource } from '#facts/kubernetes/garbage-resources.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { isStorageShortage, refusedStorage } from '#facts/kubernetes/volume-events.ts'
import { classResource } from '#judge/drift/declared.ts'
import { isWithinWindow, recentEvents } from '#judge/events/events.ts'
import {
  dataDevice,
  requestableDisk,
  roundBytes,
  storageIn,
  volumeForRequests,
} from '#judge/help/disk-size.ts'
import {
  bytes,
  bytesLine,
  contextRule,
  deviceCause,
  type Failing,
  line,
  type NodeContext,
  type NodeSubject,
  plural,
  podName,
  seenFirst,
  settingIn,
  shorten,
  shortName,
  shortPodName,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import {
  controllerReferenceOf,
  type KubernetesPod,
  type NodeClass,
  type NodePool,
  volumesElsewhere,
} from '#model/input/record.ts'
import { hasVolumeSize, type PodHolder, podOwner, shareOfVolume } from '#model/prediction.ts'

const shown = 5
const defaultScheduler = 'default-scheduler'
const refusedReason = 'OutOfephemeral-storage'

const titles = {
  refused: 'The kubelet refuses pods: other pods request all of its local storage',
  nodeClass: 'Karpenter starts no node for a pod: its node class gives too little local storage',
  uncounted: 'Karpenter starts no node for a pod: it does not count the disk of its node class',
}

interface WaitingPod {
  pod: KubernetesPod
  name: string
  wanted: number
  messages: readonly string[]
}

export const localStorageFitsNoNode = contextRule({
  id: 'local-storage-fits-no-node',
  family: 'reservations',
  severity: 'high',
  cause: deviceCause('too-small'),
  titles,
  title: 'A pod requests more local storage than a node of this group can ever have',
  why: 'The scheduler compares requests of ephemeral-storage with what is allocatable, whatever is used. The pod stays Pending, and no autoscaler starts a node for it. The kubelet refuses a pod that gets to a node without that comparison. Karpenter counts the volume of the EC2NodeClass, 20 GiB without a mapping, and the instance store only with instanceStorePolicy RAID0.',
  fix: 'Have the owner request less, or give the nodes a larger volume: EC2NodeClass blockDeviceMappings or launch template.',
  sources: [
    'pkg/scheduler/framework/plugins/noderesources/fit.go fitsRequest',
    'karpenter-provider-aws pkg/providers/instancetype/types.go ephemeralStorage',
    'aws/karpenter-provider-aws#1563',
    'aws/karpenter-provider-aws#8535',
  ],

  fact: ({ node, identity, eviction, pods, summary, filesystems, at }) => ({
    refused: refusedPods(pods ?? [], at),
    disk: requestableDisk({ node, eviction }),
    /** Where the pods' emptyDirs lie, if it is not the kubelet's disk. 0: nowhere else. */
    volumesBytes: largestElsewhere(summary, pods ?? [], filesystems.nodefs?.capacityBytes ?? null),
    // A new node has these, too.
    daemons: (pods ?? [])
      .filter(
        pod =>
          controllerReferenceOf(pod)?.kind === 'DaemonSet' && !isTerminalPhase(pod.status?.phase),
      )
      .reduce((sum, pod) => sum + requestOf(pod), 0),
    pool: identity.owner === 'karpenter' ? identity.group.name : null,
  }),

  // Once for a group: a cluster may have thousands of nodes and of waiting pods.
  ofGroup: (facts, context) => {
    const { waitingPods, podEvents } = context
    const most = Math.max(...facts.map(({ fact }) => fact.disk.allocatableBytes - fact.daemons))
    const pods = waitingPods
      .map((pod): WaitingPod => {
        const said = [...(pod.status?.conditions ?? []), ...podEvents(podName(pod.metadata))]
        return {
          pod,
          wanted: requestOf(pod),
          name: shortPodName(pod.metadata),
          messages: said.flatMap(({ message }) => message ?? []),
        }
      })
      .toSorted((a, b) => b.wanted - a.wanted)
    const pool = facts[0]?.fact.pool ?? null
    const capacityBytes = Math.max(...facts.map(({ fact }) => fact.disk.capacityBytes))
    return {
      most,
      pods: pods.filter(
        ({ wanted, messages }) => wanted > most && messages.some(isStorageShortage),
      ),
      unplaced: unplacedFailing(pods, { pool, capacityBytes }, context),
    }
  },

  *judge({ disk, daemons, pool, refused, volumesBytes }, context, _, group) {
    const { waitingPods, failed } = context
    const refusal = refusalOf(refused, context)
    if (refusal) return yield refusal
    const unread = failed(podResource.resource)
    if (unread !== null) yield { unknown: unread }
    if (waitingPods.length === 0) return
    const { most, pods, unplaced } = group()
    if (unplaced) return yield unplaced
    const [first] = pods
    // Nothing is known of nodes without an amount.
    if (!first || most <= 0) return
    const size = volumeForRequests(first.wanted + daemons, disk)
    const isRaid =
      classOf(poolsOf(context).find(hasName(pool)), context)?.spec?.instanceStorePolicy === 'RAID0'
    const less: StepAction = {
      id: 'request-less',
      owner: podOwner(first.pod, null),
      ...(most >= gibibyte && { bytes: gibibyte * Math.floor(most / gibibyte) }),
    }
    const larger: StepAction[] = isRaid ? [less] : [{ id: 'larger-disk', bytes: size }, less]
    const elsewhere =
      volumesBytes === 0
        ? ''
        : ` The kubelet counts the disk of its folder (${bytes(disk.capacityBytes)}), and the volumes of pods lie on another, of ${bytes(volumesBytes)}.`
    yield {
      ...seenFirst(
        `${plural(pods.length, 'pod')} cannot be scheduled: ${first.name} requests ${bytes(first.wanted)} of ephemeral-storage, and no node of this group has more than ${bytes(most)} allocatable beside its DaemonSets.${elsewhere}`,
        'No disk is full.',
      ),
      // The size of an instance store is that of the instance type.
      steps: volumesBytes > first.wanted ? [{ id: 'move-kubelet-root' }] : larger,
      evidence: [
        bytesLine('node', 'allocatable ephemeral-storage beside DaemonSets', most),
        ...(isRaid ? [line('object', 'instanceStorePolicy', 'RAID0')] : []),
        ...pods
          .slice(0, shown)
          .map(({ name, wanted }) => bytesLine('object', `pod ${name} requests`, wanted)),
      ],
    }
  },
})

const largestElsewhere = (
  summary: NodeSubject['summary'],
  pods: readonly KubernetesPod[],
  nodefsBytes: number | null,
): number => {
  const byName = new Map(pods.map(pod => [podName(pod.metadata), pod]))
  const sizes = (summary?.pods ?? []).flatMap(stats =>
    volumesElsewhere(stats, byName.get(podName(stats.podRef)), nodefsBytes).map(
      ({ capacityBytes }) => capacityBytes ?? 0,
    ),
  )
  return Math.max(0, ...sizes)
}

const poolsOf = (context: NodeContext) => context.objects('nodepools.karpenter.sh') ?? []

const hasName =
  (name: string | null | undefined) =>
  ({ metadata }: { metadata?: { name?: string } }) =>
    name != null && metadata?.name === name

const classOf = (pool: NodePool | undefined, context: NodeContext) =>
  context.objects(classResource)?.find(hasName(pool?.spec?.template?.spec?.nodeClassRef?.name))

/** By a NodePool of these nodes; by any, if they have none: a NodePool that starts no node has none. Null: no pod was refused for its local storage. */
function unplacedFailing(
  pods: readonly WaitingPod[],
  { pool: ownPool, capacityBytes }: { pool: string | null; capacityBytes: number },
  context: NodeContext,
): Failing | null {
  const found = pods.flatMap(({ messages, ...pod }) =>
    poolsOf(context).flatMap(pool => {
      const name = pool.metadata?.name ?? ''
      const isMeant = ownPool === null || ownPool === name
      const needed = messages.flatMap(one =>
        poolsWithoutRoom(one).flatMap(other => (other.pool === name ? other.neededBytes : [])),
      )
      const nodeClass = isMeant && needed.length > 0 ? classOf(pool, context) : undefined
      const neededBytes = Math.max(pod.wanted, ...needed)
      const types = nvmeTypes(pool.spec?.template?.spec?.requirements)
      const known = { nodeClass, types, capacityBytes: ownPool === name ? capacityBytes : 0 }
      return nodeClass ? [{ ...pod, ...known, nodeClass, pool: name, neededBytes }] : []
    }),
  )
  const byPool = Map.groupBy(found, ({ pool }) => pool)
  return (
    found
      .map(one => tooSmallClass(one, byPool.get(one.pool)?.length ?? 0))
      .find(one => one !== null) ?? null
  )
}

type Unplaced = Omit<WaitingPod, 'messages'> & {
  pool: string
  nodeClass: NodeClass
  neededBytes: number
  /** Instance types of the NodePool with NVMe disks. */
  types: ReturnType<typeof nvmeTypes>
  /** The largest disk of its nodes. 0: it has none. */
  capacityBytes: number
}

/** Null: the class has enough local storage. */
function tooSmallClass(unplaced: Unplaced, count: number): Failing | null {
  const { pod, name, wanted, pool, nodeClass, neededBytes, types } = unplaced
  const device = dataDevice({ amiFamily: familyOfClass(nodeClass) })
  const storage = storageOfClass(nodeClass, device)
  if (!storage) return null
  const { volumeBytes, podBytes, rootDevice } = storage
  const isOfSystem = rootDevice !== null && rootDevice !== device
  // Without room for reservations alone, no pod fits.
  if (neededBytes < podBytes || (wanted === 0 && !isOfSystem)) return null
  const source = `EC2NodeClass ${shortName(nodeClass.metadata?.name ?? '')}`
  const size = roundBytes * (Math.floor(volumeForPods(neededBytes) / roundBytes) + 1)
  const uncounted = isOfSystem ? null : uncountedDisk(unplaced, device, volumeBytes, size)
  const counted = isOfSystem
    ? `${name}: for the disk of pods it takes ${shorten(rootDevice, 40)} of ${source} with ${bytes(volumeBytes)}, which has rootVolume: true; their data is on ${device}`
    : `${name} requests ${bytes(wanted)}${neededBytes > wanted ? ` (${bytes(neededBytes)} with the DaemonSets)` : ''}, and ${uncounted ? `Karpenter counts ${bytes(podBytes)} for ${source}` : `${source} gives at most ${bytes(podBytes)}`}: a volume of ${bytes(volumeBytes)}, no instance store${uncounted?.why ?? ''}`
  const store: StepAction[] =
    types === 'none'
      ? []
      : [{ id: 'use-instance-store', variant: types === 'all' ? 'policy' : 'nvme', source }]
  return {
    title: uncounted ? titles.uncounted : titles.nodeClass,
    confidence: 'likely',
    cause: deviceCause(uncounted ? 'uncounted' : 'too-small', {
      device: isOfSystem ? rootDevice : device,
    }),
    ...seenFirst(
      `Karpenter finds no instance type for ${plural(count, 'pod')} in NodePool ${shortName(pool)}: ${counted}.`,
      'No disk is full.',
    ),
    steps: isOfSystem
      ? [{ id: 'unset-root-volume', place: shorten(rootDevice, 40), source }]
      : (uncounted?.steps.map(step => ({ ...step, source })) ?? [
          { id: 'larger-disk', bytes: size, place: device, source },
          ...store,
        ]),
    evidence: [
      bytesLine('declared', `${source}, volume that Karpenter counts`, volumeBytes),
      bytesLine('computed', 'of it for pods, at most', podBytes),
      bytesLine('object', `pod ${shortPodName(pod.metadata)} requests`, wanted),
    ],
  }
}

/** A disk that the class has, and Karpenter does not count: that of its nodes, or of the root of an own image. Null: none is known. */
function uncountedDisk(
  { nodeClass, neededBytes, capacityBytes, types }: Unplaced,
  device: string,
  volumeBytes: number,
  size: number,
): { why: string; steps: StepAction[] } | null {
  const volumes = uncountedVolumes(nodeClass, device)
  const hasRoom = (one: { bytes: number }) => podBytesOf(one.bytes) > neededBytes
  if (capacityBytes > shareOfVolume.most * volumeBytes) {
    const own = volumes.find(one => hasVolumeSize(capacityBytes, one.bytes))
    const nodes = `, while its nodes have ${bytes(capacityBytes)}`
    if (!own)
      return {
        why: `${nodes}, on a disk that the class does not name`,
        steps: [
          { id: 'read-devices' },
          ...(types === 'none' ? [] : [{ id: 'use-instance-store', variant: 'nvme' } as const]),
        ],
      }
    const place = shorten(own.device, 40)
    return {
      why: `${nodes}: rootVolume: true is missing on ${place}`,
      steps: [
        { id: 'set-root-volume', place, bytes: own.bytes },
        ...(hasRoom(own) ? [] : [{ id: 'larger-disk', bytes: size, place } as const]),
      ],
    }
  }
  const first = volumes.find(hasRoom)
  if (capacityBytes > 0 || !first || !hasOwnImage(nodeClass)) return null
  const place = shorten(first.device, 40)
  return {
    why: `. Its volume ${place} with ${bytes(first.bytes)} counts with rootVolume: true alone`,
    steps: [{ id: 'set-root-volume', place }],
  }
}

type RefusedPod = ReturnType<typeof refusedPod>[number]

/** Pods that the kubelet did not admit within a day. */
const refusedPods = (pods: readonly KubernetesPod[], at: string): RefusedPod[] =>
  pods.flatMap(pod => {
    const { message = '', startTime = null } = pod.status ?? {}
    return message !== '' && isWithinWindow(startTime, at, dayMs)
      ? refusedPod(message, podOwner(pod, null), startTime, pod.spec?.schedulerName)
      : []
  })

function refusedPod(
  message: string,
  owner: PodHolder,
  time: string | null,
  scheduler = defaultScheduler,
) {
  const amounts = refusedStorage(message)
  // A kubelet that has just started may not know its disk yet (kubernetes#70618).
  return amounts && amounts.capacity > 0 ? [{ owner, time, amounts, scheduler }] : []
}

const nameOf = ({ owner: { namespace, pod: name } }: RefusedPod) =>
  shortPodName({ namespace, name })

/** A DaemonSet deletes its refused pods at once: events alone show them. Null: none. */
function refusalOf(
  recorded: readonly RefusedPod[],
  { events, at, ownerOfName }: NodeContext,
): Failing | null {
  const gone = recentEvents(events, at, [refusedReason]).flatMap(({ pod, message, lastTime }) => {
    const { namespace = '', name = '' } = pod ?? {}
    const workload = ownerOfName(namespace, name)?.workload ?? null
    const owner = { kind: 'pod', namespace, pod: name, workload, volume: null } as const
    return refusedPod(message, owner, lastTime)
  })
  const all = new Map([...gone, ...recorded].map(one => [nameOf(one), one]))
  const refused = [...all.values()].toSorted(by(({ time }) => time ?? ''))
  const last = refused.at(-1)
  if (!last) return null
  const { amounts, scheduler, owner } = last
  const placed =
    scheduler === defaultScheduler
      ? ''
      : ` Scheduler ${shortName(scheduler)} placed it beyond that.`
  return {
    title: titles.refused,
    cause: settingIn('workload', 'resources.requests.ephemeral-storage'),
    ...seenFirst(
      `${plural(refused.length, 'pod')} were refused within a day, the last ${nameOf(last)}: it requests ${bytes(amounts.requested)} of ephemeral-storage, and other pods request ${bytes(amounts.used)} of ${bytes(amounts.capacity)}.${placed}`,
      'The kubelet counts requests, whatever is used: no disk is full. The default scheduler counts them, too. Mostly another one, or spec.nodeName, placed the pod here; or allocatable became less.',
    ),
    steps: [{ id: 'count-storage' }, { id: 'request-less', owner }],
    evidence: [
      bytesLine('object', 'allocatable ephemeral-storage', amounts.capacity),
      bytesLine('object', 'requests of its pods', amounts.used),
      ...refused.slice(-shown).map(one => line('object', `pod ${nameOf(one)}`, refusedReason)),
    ],
  }
}

const requestOf = ({ spec }: KubernetesPod) =>
  (spec?.containers ?? []).reduce((sum, one) => sum + storageIn(one.resources?.requests), 0)
