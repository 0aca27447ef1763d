/** A small world from the few numbers that a thread has: what holds a node's disks, and from it the answers of the node, the API server and AWS. */

import type { RawObject } from '#base/raw-object.ts'
import { configurationOf } from '#lab/nodes/configz.ts'
import { type EventProfile, eventObject, onNode } from '#lab/nodes/event-object.ts'
import type { InstanceTypeName } from '#lab/nodes/instance-types.ts'
import type { KubeletVersion } from '#lab/nodes/minors.ts'
import { nodeObject } from '#lab/nodes/node-object.ts'
import { autoMode, inNodegroup, onFargate, onPremises } from '#lab/nodes/placement.ts'
import { containerId, podObject, podUid } from '#lab/nodes/pod-object.ts'
import type { ContainerProfile, PodProfile } from '#lab/nodes/pod-profile.ts'
import { type Family, GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { digits } from '#lab/nodes/random.ts'
import type { KubernetesPod, NodeRecord, ReadMode, SnapshotRecord } from '#model/input/record.ts'

const takenAt = '2026-11-21T06:00:00Z'
const clusterName = 'prod'

/** A filesystem. The rest of the used bytes belongs to the image of the node (`system`). */
export interface Disk {
  gib: number
  usedGib: number
  device?: string
  mount?: string
  inodes?: { all: number; free: number }
  /** Blocks that only root can use: neither used nor available. */
  reservedGib?: number
}

/** Packed size as the registry and the CRI count it, and unpacked size on the disk. */
export interface Image {
  name: string
  packedGib: number
  unpackedGib: number
}

export interface Workload {
  namespace: string
  /** `Deployment checkout`, `Job runner-1`, `StatefulSet db`, `DaemonSet agent`. */
  owner: string
  pods?: number
  image?: string
  container?: string
  /** Of each pod. */
  layerGib?: number
  /** Of that layer, where they are small files. */
  layerInodes?: number
  logsGib?: number
  /** Of each pod, in a volume that its image declares. */
  declaredGib?: number
  emptyDirGib?: number
  /** Of that emptyDir. */
  sizeLimit?: string
  /** In the folder of each pod, and in no volume: written where a volume is not mounted, or beside the volumes. */
  podFolder?: { path: string; gib: number; inodes: number }
  /** An emptyDir with `medium: Memory`. */
  memoryDirGib?: number
  memoryGib?: number
  /** Of that memory, what is no page cache. */
  anonymousGib?: number
  hostPath?: string
  /** An image that it mounts as a volume. */
  imageVolume?: string
  /** Its volume is a claim; the bytes are not on the node's own disks. */
  claim?: string
  claimGib?: { size: number; used: number; inodes?: Disk['inodes'] }
  processes?: number
  requests?: Record<string, string>
  limits?: Record<string, string>
  /** The kubelet evicted them, with this message. */
  evicted?: string
  /** The kubelet refused them at admission, with this reason and message. */
  refused?: { reason: string; message: string }
  /** A class that the kubelet spares: `system-cluster-critical`. */
  isCritical?: true
  /** Their pods and containers started so long ago. */
  ageMinutes?: number
  /** Not the default one. */
  scheduler?: string
  /** Of a workload with others of the same owner: their number before it. */
  before?: number
  /** They have ended, and their objects are still there. */
  hasEnded?: boolean
  /** Their deletion was asked for so long ago, and they still run. */
  deletedMinutesAgo?: number
  /** Why their containers wait, `CreateContainerConfigError`, and with which message. */
  waiting?: string
  message?: string
  /** Its containers ended, with this termination message, and are started again. */
  endedWith?: string
  /** Its containers failed and were started again so often, the last time ten minutes ago. */
  restarts?: number
  /** About each of its pods. */
  events?: NodeWorld['events']
}

/** Space that containerd and the host hold beside the pods, in GiB. */
export interface Held {
  images?: readonly Image[]
  /** Snapshots of containers that the runtime does not know. */
  leftover?: number
  /** Layers of images that the runtime has deleted. */
  deletedImages?: number
  /** Writable layers of dead containers, and how many there are. */
  dead?: { gib: number; containers: number; owner: string }
  content?: number
  /** Namespaces of containerd beside the kubelet's. `contentGib` is a part of `content`. */
  namespaces?: { name: string; layersGib: number; contentGib: number }[]
  journal?: number
  hostLogs?: number
  /** Large files of `folders` below /var/log, and when they were written last. */
  writtenLogs?: { path: string; gib: number; minutesAgo: number }[]
  coreDumps?: { path: string; gib: number }
  temporary?: number
  packages?: number
  /** Folders of deleted pods below the kubelet's root, and logs of deleted pods. */
  orphans?: { gib: number; folders: number }
  logDebris?: number
  deletedOpen?: { gib: number; files: number; owner?: string; process: string }
  /** Folders and files that the fixed list of the measurement does not know: GiB by path. */
  folders?: Record<string, number>
  /** Folders of the fixed list that the other fields do not have. */
  listed?: { holder: string; path: string; gib: number; inodes: number }
  /** A runtime that the kubelet does not use: GiB by path. */
  otherRuntime?: Record<string, number>
  /** In no folder and in no open file. */
  unexplained?: number
  /** A local PersistentVolume of the first pod of an owner. */
  localVolume?: { path: string; gib: number; owner: string; inodes?: number }
}

export interface NodeWorld {
  ip?: string
  mode?: ReadMode
  family?: Family
  version?: KubeletVersion
  instanceType?: InstanceTypeName
  nodegroup?: string
  /** An EC2NodeClass made the node. */
  nodeClass?: string
  osImage?: string
  /** Of another cloud, which sets no labels of EKS: `azure:///…`. */
  providerId?: string
  /** Of containerd, or with the name of another runtime: `cri-o://1.23.3`. */
  runtimeVersion?: string
  disk: Disk
  /** The runtime's own filesystem. */
  imageDisk?: Disk
  /** As the runtime counts its own files. Default: all of the filesystem, as other runtimes count. */
  snapshotInodes?: number
  /** Only images are on it; writable layers are on the node's disk. */
  isSplit?: true
  configuration?: RawObject
  /** What the kubelet's file adds since the kubelet started. */
  editedConfiguration?: RawObject
  workloads?: readonly Workload[]
  held?: Held
  containerd?: RawObject
  volumes?: { device: string; gib: number; type?: string; iops?: number }[]
  /** Disks that the node sees, mounted or not. */
  devices?: { name: string; gib: number; mounted: boolean }[]
  diskPressure?: boolean
  /** Default: 3. */
  pressureMinutes?: number
  memoryPressure?: boolean
  /** Its kubelet stopped posting its status so long ago. */
  silentMinutes?: number
  /** Of its kubelet, where the lab has no such version. */
  oldVersion?: string
  /** Conditions beside the kubelet's. */
  conditions?: { type: string; status: string; reason: string; message: string }[]
  pids?: { max: number; used: number }
  memoryGib?: number
  availableMemoryGib?: number
  /** What the kubelet counts for itself and for the runtime. */
  kubeletMemoryGib?: number
  runtimeMemoryGib?: number
  /** Of the control group of all pods, which the reserves make smaller than the node. */
  podsMemory?: { limitGib: number; usedGib: number }
  /** Reserved at boot as pages of 2 MiB. */
  hugePagesGib?: number
  kernel?: RawObject
  events?: (Omit<EventProfile, 'about' | 'host'> & Partial<Pick<EventProfile, 'about'>>)[]
  ageDays?: number
  /** The kubelet's answers that could not be read. */
  unread?: readonly ('configz' | 'summary')[]
  /** Parts that the kubelet's statistics lack. */
  without?: readonly ('imageFs' | 'layers' | 'pods')[]
  /** The kubelet stopped posting its status. */
  silent?: true
}

export interface World {
  nodes: readonly NodeWorld[]
  nodegroups?: RawObject[]
  launchTemplates?: RawObject[]
  objects?: Record<string, RawObject[]>
}

const before = (minutes: number) =>
  `${new Date(Date.parse(takenAt) - minutes * 60_000).toISOString().slice(0, 19)}Z`

const bytesOf = (gib: number) => Math.round(gib * GiB)
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)

/** The records of a snapshot of this world. */
export function recordsOf({
  nodes,
  nodegroups,
  launchTemplates,
  objects = {},
}: World): SnapshotRecord[] {
  const built = nodes.map((node, index) => builtNode(node, index))
  const groups = nodegroups ?? [
    { nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', diskSize: nodes[0]?.disk.gib },
  ]
  const events = built.flatMap(({ events }) => events)
  return [
    {
      ...{ kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt },
      ...{ account: '111122223333', region: 'us-east-1' },
    },
    {
      ...{ kind: 'Cluster', cluster: clusterName, eks: { name: clusterName, version: '1.34' } },
      ...{ nodegroups: groups, launchTemplates: launchTemplates ?? [], errors: [] },
    },
    ...built.map(({ record }) => record),
    { kind: 'Objects', cluster: clusterName, resource: 'events', items: events },
    ...Object.entries(objects).map(([resource, items]) => ({
      ...{ kind: 'Objects' as const, cluster: clusterName },
      ...{ resource, items },
    })),
  ]
}

interface Built {
  record: NodeRecord
  events: RawObject[]
}

interface Scene {
  world: NodeWorld
  profile: NodeProfile
  pods: readonly RunningPod[]
}

interface RunningPod {
  workload: Workload
  profile: PodProfile
  object: KubernetesPod
}

function builtNode(world: NodeWorld, index: number): Built {
  const profile = profileOf(world, index)
  const pods = podsOf(world, profile)
  const scene: Scene = { world, profile, pods }
  const mode = world.mode ?? 'both'
  const hasNode = mode === 'both' || mode === 'ssm'
  const hasKubelet = mode !== 'ssm'
  const unread = new Set(world.unread)
  return {
    record: {
      ...{ kind: 'Node', cluster: clusterName, at: takenAt, mode },
      node: nodeOf(scene) as NodeRecord['node'],
      pods: pods.map(({ object }) => object),
      ...(hasKubelet &&
        !unread.has('configz') && { configz: { kubeletconfig: configurationOf(profile) } }),
      ...(hasKubelet && !unread.has('summary') && { summary: summaryOf(scene) }),
      ...(hasNode && { runtime: runtimeOf(scene), host: hostOf(scene) }),
      volumes: (world.volumes ?? [{ device: '/dev/xvda', gib: world.disk.gib }]).map(
        ({ device, gib, type = 'gp3', iops = 3000 }) => ({
          VolumeId: `vol-${digits(`${profile.name}${device}`).slice(0, 17)}`,
          ...{ Device: device, Size: gib, VolumeType: type, Iops: iops },
        }),
      ),
      errors: [...unread].map(what => ({
        what,
        message: `GET /api/v1/nodes/${profile.name}/proxy: 503 Service Unavailable`,
        status: 503,
      })),
    },
    events: (world.events ?? [])
      .map(event => eventObject({ ...onNode(profile.name), ...event }, takenAt))
      .concat(pods.flatMap(pod => podEvents(pod, profile))),
  }
}

const podEvents = ({ workload, profile: { namespace, name } }: RunningPod, node: NodeProfile) =>
  (workload.events ?? []).map(event =>
    eventObject({ about: { kind: 'Pod', namespace, name }, host: node.name, ...event }, takenAt),
  )

const placedBy: Partial<
  Record<Family, (place: Parameters<typeof onFargate>[0]) => ReturnType<typeof onFargate>>
> = {
  Fargate: onFargate,
  'Auto Mode': place => autoMode('general-purpose', place),
  Hybrid: place => onPremises(clusterName, place),
}

/** Other clouds and kind name a node by its machine: AKS by the scale set, and the instance in base 36. Each node of a world is another. */
function machine(providerId: string, index: number) {
  const [, id, set = '', instance] =
    /^(.*virtualMachineScaleSets\/(.+)\/virtualMachines\/)(\d+)$/.exec(providerId) ?? []
  const nth = Number(instance) + index
  if (id) return { name: `${set}${nth.toString(36).padStart(6, '0')}`, providerId: `${id}${nth}` }
  if (!/^(?:gce|kind):/.test(providerId)) return { providerId }
  const own = index === 0 ? providerId : `${providerId}-${index}`
  return { name: own.split('/').at(-1) ?? '', providerId: own }
}

function profileOf(world: NodeWorld, index: number): NodeProfile {
  const { family = 'AL2023', version = '1.34.2', instanceType = 'm6i.2xlarge' } = world
  const ip = world.ip ?? `10.0.7.${11 + index}`
  const place = { family, version, instanceType, ip }
  const placed = placedBy[family]?.(place) ?? inNodegroup(world.nodegroup ?? 'workers', place)
  const labels = {
    'karpenter.sh/nodepool': 'default',
    'karpenter.k8s.aws/ec2nodeclass': world.nodeClass ?? '',
    'karpenter.sh/capacity-type': 'on-demand',
  }
  return {
    ...placed,
    ...(world.nodeClass !== undefined && { labels }),
    ...(world.providerId !== undefined && { ...machine(world.providerId, index), labels: {} }),
    nodefs: {
      capacityBytes: bytesOf(world.disk.gib),
      usedPercent: (100 * world.disk.usedGib) / world.disk.gib,
    },
    configuration: world.configuration,
    osImage: world.osImage,
    pods: (world.workloads ?? []).flatMap(workload => podProfiles(workload)),
    diskPressure: world.diskPressure,
    silent: world.silent,
  }
}

function podProfiles(workload: Workload): PodProfile[] {
  const [kind = 'Deployment', name = 'app'] = workload.owner.split(' ')
  const hash = digits(workload.owner).slice(0, 10)
  const isDeployment = kind === 'Deployment'
  const container: ContainerProfile = {
    name: workload.container ?? name,
    image: imageOf(workload),
    ...{ requests: workload.requests, limits: workload.limits },
    memoryMiB: 1024 * (workload.memoryGib ?? 0.2),
    rootfsMiB: 1024 * (workload.layerGib ?? 0.01),
    logsMiB: 1024 * (workload.logsGib ?? 0.01),
  }
  return Array.from({ length: workload.pods ?? 1 }, (_, index) => ({
    namespace: workload.namespace,
    name: `${name}-${isDeployment ? `${hash}-` : ''}${digits(`${name}${index + (workload.before ?? 0)}`).slice(0, 5)}`,
    owner: {
      kind: (isDeployment ? 'ReplicaSet' : kind) as PodProfile['owner']['kind'],
      name: isDeployment ? `${name}-${hash}` : name,
    },
    labels: { app: name, ...(isDeployment && { 'pod-template-hash': hash }) },
    containers: [container],
    ...(workload.emptyDirGib !== undefined && {
      emptyDir: { name: 'data', usedMiB: 1024 * workload.emptyDirGib },
    }),
    ...(workload.isCritical && {
      priority: { className: 'system-cluster-critical', value: 2_000_000_000 },
    }),
    phase: phaseOf(workload),
    ...(workload.evicted !== undefined && {
      failure: { reason: 'Evicted', message: workload.evicted },
    }),
    ...(workload.refused !== undefined && { failure: workload.refused }),
  }))
}

function phaseOf({ evicted, refused, hasEnded }: Workload): PodProfile['phase'] {
  if (evicted !== undefined || refused !== undefined) return 'Failed'
  return hasEnded === true ? 'Succeeded' : 'Running'
}

function podsOf(world: NodeWorld, profile: NodeProfile): RunningPod[] {
  return (world.workloads ?? []).flatMap(workload =>
    podProfiles(workload).map(pod => {
      const object = podObject(profile, pod, takenAt)
      const { sizeLimit } = workload
      const ownVolumes = object.spec?.volumes ?? []
      const volumes = [
        ...(sizeLimit === undefined
          ? ownVolumes
          : ownVolumes.map(volume => ({ ...volume, emptyDir: { sizeLimit } }))),
        ...(workload.memoryDirGib === undefined
          ? []
          : [{ name: 'memory', emptyDir: { medium: 'Memory' } }]),
        ...(workload.hostPath === undefined
          ? []
          : [{ name: 'host', hostPath: { path: workload.hostPath } }]),
        ...(workload.imageVolume === undefined
          ? []
          : [{ name: 'weights', image: { reference: workload.imageVolume } }]),
        ...(workload.claim === undefined
          ? []
          : [{ name: 'claim', persistentVolumeClaim: { claimName: workload.claim } }]),
      ]
      const mounts = [
        ...(workload.claim === undefined ? [] : [{ name: 'claim', mountPath: '/claim' }]),
        ...(workload.hostPath === undefined ? [] : [{ name: 'host', mountPath: '/host' }]),
        ...(workload.imageVolume === undefined ? [] : [{ name: 'weights', mountPath: '/models' }]),
      ]
      const containers = object.spec?.containers?.map(container => ({
        ...container,
        volumeMounts: [...(container.volumeMounts ?? []), ...mounts],
      }))
      return {
        ...{ workload, profile: pod },
        object: {
          ...object,
          metadata: {
            ...object.metadata,
            // `Bare worker`: a pod without a controller.
            ...(workload.owner.startsWith('Bare ') && { ownerReferences: undefined }),
            ...(workload.deletedMinutesAgo !== undefined && {
              deletionTimestamp: before(workload.deletedMinutesAgo),
              deletionGracePeriodSeconds: 30,
            }),
          },
          spec: {
            ...object.spec,
            ...{ volumes, containers },
            ...(workload.scheduler !== undefined && { schedulerName: workload.scheduler }),
          },
          ...(workload.ageMinutes !== undefined && {
            status: youngStatus(object, before(workload.ageMinutes)),
          }),
          ...(workload.waiting !== undefined && {
            status: waitingStatus(object, workload.waiting, workload.message),
          }),
          ...(workload.endedWith !== undefined && {
            status: endedStatus(object, workload.endedWith),
          }),
          ...(workload.restarts !== undefined && {
            status: restartedStatus(object, workload.restarts),
          }),
        } as KubernetesPod,
      }
    }),
  )
}

const youngStatus = ({ status }: KubernetesPod, startedAt: string): KubernetesPod['status'] => ({
  ...status,
  startTime: startedAt,
  containerStatuses: (status?.containerStatuses ?? []).map(one => ({
    ...one,
    state: { running: { startedAt } },
  })),
})

const waitingStatus = (
  { status }: KubernetesPod,
  reason: string,
  message = reason === 'CreateContainerConfigError' ? 'secret "settings" not found' : undefined,
) => ({
  ...status,
  phase: 'Pending',
  containerStatuses: status?.containerStatuses?.map(({ name, image }) => ({
    ...{ name, image, ready: false, restartCount: 0 },
    state: { waiting: { reason, message } },
  })),
})

const endedStatus = ({ status }: KubernetesPod, message: string) => ({
  ...status,
  containerStatuses: status?.containerStatuses?.map(container => ({
    ...{ ...container, ready: false, restartCount: 7 },
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 1, reason: 'Error', message, finishedAt: before(9) } },
  })),
})

const restartedStatus = ({ status }: KubernetesPod, restartCount: number) => ({
  ...status,
  containerStatuses: status?.containerStatuses?.map(container => ({
    ...{ ...container, restartCount, state: { running: { startedAt: before(10) } } },
    lastState: { terminated: { exitCode: 137, reason: 'Error', finishedAt: before(15) } },
  })),
})

const isRunning = ({ profile, workload }: RunningPod) =>
  profile.phase === 'Running' && workload.waiting === undefined

/** A node lists the images of its pods, too. Those of which the thread has no size are small. */
function packed({ held, workloads = [], runtimeVersion }: NodeWorld) {
  // CRI-O lists unpacked sizes.
  const isUnpacked = runtimeVersion?.startsWith('cri-o://') === true
  const images = held?.images ?? []
  const used = workloads.filter(({ waiting, evicted }) => !waiting && !evicted).map(imageOf)
  const known = new Set(images.map(({ name }) => name))
  const small = [...new Set(used)].filter(name => !known.has(name))
  return [...images, ...small.map(name => ({ name, packedGib: 0.001, unpackedGib: 0.001 }))].map(
    ({ name, packedGib, unpackedGib }) => ({
      names: [`${name.replace(/:[^:/]*$/, '')}@sha256:${digits(name)}`, name],
      sizeBytes: bytesOf(isUnpacked ? unpackedGib : packedGib),
    }),
  )
}

const imageOf = ({ image, owner }: Workload) =>
  image ?? `111122223333.dkr.ecr.us-east-1.amazonaws.com/${owner.split(' ')[1] ?? 'app'}:1`

function nodeOf({ world, profile }: Scene): RawObject {
  const node = nodeObject(profile, takenAt) as RawObject & {
    metadata: RawObject
    status: RawObject &
      Record<'nodeInfo' | 'capacity' | 'allocatable', RawObject> & { conditions: RawObject[] }
  }
  const { status } = node
  return {
    ...node,
    metadata: { ...node.metadata, creationTimestamp: before((world.ageDays ?? 30) * 1440) },
    status: {
      ...status,
      ...(world.hugePagesGib !== undefined && {
        capacity: { ...status.capacity, 'hugepages-2Mi': `${world.hugePagesGib}Gi` },
        allocatable: {
          ...status.allocatable,
          memory: `${Number.parseInt(String(status.allocatable.memory), 10) - world.hugePagesGib * 2 ** 20}Ki`,
          'hugepages-2Mi': `${world.hugePagesGib}Gi`,
        },
      }),
      nodeInfo: {
        ...status.nodeInfo,
        ...(world.oldVersion !== undefined && { kubeletVersion: world.oldVersion }),
        ...(world.runtimeVersion !== undefined && {
          containerRuntimeVersion: world.runtimeVersion.includes('://')
            ? world.runtimeVersion
            : `containerd://${world.runtimeVersion}`,
        }),
      },
      conditions: [
        ...status.conditions
          .map(condition =>
            world.memoryPressure === true && condition.type === 'MemoryPressure'
              ? { ...condition, status: 'True', reason: 'KubeletHasInsufficientMemory' }
              : condition,
          )
          .map(condition => ({
            ...condition,
            ...(world.pressureMinutes !== undefined &&
              (condition.type === 'DiskPressure' || condition.status === 'True') &&
              condition.type !== 'Ready' && { lastTransitionTime: before(world.pressureMinutes) }),
            ...(world.silentMinutes !== undefined && {
              ...{ status: 'Unknown', reason: 'NodeStatusUnknown' },
              message: 'Kubelet stopped posting node status.',
              lastTransitionTime: before(world.silentMinutes),
            }),
          })),
        ...(world.conditions ?? []),
      ],
      images: packed(world)
        .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
        .slice(0, Number(configurationOf(profile).nodeStatusMaxImages ?? 50)),
    },
  }
}

/** GiB that all pods hold. */
const ofPods = ({ pods }: Scene, part: 'layerGib' | 'logsGib' | 'emptyDirGib') => {
  const least = part === 'emptyDirGib' ? 0 : 0.01
  return sum(pods.filter(isRunning).map(({ workload }) => workload[part] ?? least))
}

/** What the CRI counts: snapshots, without packed content. */
function snapshotGib(scene: Scene): number {
  const { images = [], leftover = 0, deletedImages = 0, dead } = scene.world.held ?? {}
  return (
    sum(images.map(({ unpackedGib }) => unpackedGib)) +
    leftover +
    deletedImages +
    (dead?.gib ?? 0) +
    ofPods(scene, 'layerGib')
  )
}

function statsOf({ gib, usedGib, inodes, reservedGib = 0 }: Disk, usedBytes: number): RawObject {
  const all = inodes?.all ?? Math.round(gib * 500_000)
  const free = inodes?.free ?? Math.round(all * 0.9)
  return {
    time: takenAt,
    capacityBytes: bytesOf(gib),
    availableBytes: bytesOf(gib - usedGib - reservedGib),
    usedBytes,
    ...{ inodes: all, inodesFree: free, inodesUsed: all - free },
  }
}

function summaryOf(scene: Scene): RawObject {
  const { world, profile } = scene
  const without = new Set(world.without)
  const layersGib = world.isSplit === true ? ofPods(scene, 'layerGib') : 0
  const imageFs = {
    ...statsOf(world.imageDisk ?? world.disk, bytesOf(snapshotGib(scene) - layersGib)),
    ...(world.snapshotInodes !== undefined && { inodesUsed: world.snapshotInodes }),
  }
  const containerFs = world.isSplit === true ? statsOf(world.disk, bytesOf(layersGib)) : imageFs
  const memoryBytes = bytesOf(world.memoryGib ?? 30.9)
  const availableBytes = bytesOf(world.availableMemoryGib ?? 20)
  return {
    node: {
      nodeName: profile.name,
      systemContainers: (['kubelet', 'runtime', 'pods'] as const).map(name => {
        const { kubeletMemoryGib: kubelet, runtimeMemoryGib: runtime, podsMemory } = world
        const bytes = bytesOf({ kubelet, runtime, pods: podsMemory?.usedGib }[name] ?? 0.2)
        const left = name === 'pods' && podsMemory && bytesOf(podsMemory.limitGib) - bytes
        return {
          ...{ name, startTime: '2026-11-01T00:00:00Z' },
          memory: {
            ...{ time: takenAt, workingSetBytes: bytes, usageBytes: bytes, rssBytes: bytes / 2 },
            ...(left !== undefined && left !== false && { availableBytes: left }),
          },
        }
      }),
      startTime: (world.ageDays ?? 20) < 1 ? before(1440 * world.ageDays!) : '2026-11-01T00:00:00Z',
      memory: {
        time: takenAt,
        ...{ availableBytes, workingSetBytes: memoryBytes - availableBytes },
        usageBytes: memoryBytes - availableBytes,
      },
      fs: statsOf(world.disk, bytesOf(world.disk.usedGib)),
      ...(!without.has('imageFs') && { runtime: { imageFs, containerFs } }),
      rlimit: {
        time: takenAt,
        maxpid: world.pids?.max ?? 4_194_304,
        curproc: world.pids?.used ?? 400,
      },
    },
    pods: without.has('pods') ? [] : scene.pods.filter(isRunning).map(pod => podStats(pod, scene)),
  }
}

/** The kubelet counts it since 1.18.6. */
const isHostsFile = ({ podFolder }: Workload) => podFolder?.path === 'etc-hosts'

function podStats({ workload, profile }: RunningPod, { world }: Scene): RawObject {
  const nodefs = (gib: number) => statsOf(world.disk, bytesOf(gib))
  const { layerGib = 0.01, logsGib = 0.01, emptyDirGib = 0 } = workload
  const isWithoutLayers = world.without?.includes('layers') === true
  const volumes: RawObject[] = [
    ...(workload.emptyDirGib === undefined ? [] : [{ name: 'data', ...nodefs(emptyDirGib) }]),
    ...(workload.memoryDirGib === undefined
      ? []
      : [
          {
            name: 'memory',
            ...{ time: takenAt, capacityBytes: bytesOf(30.9) },
            availableBytes: bytesOf(30.9 - workload.memoryDirGib),
            usedBytes: bytesOf(workload.memoryDirGib),
          },
        ]),
  ]
  const claim = workload.claimGib
  if (claim !== undefined)
    volumes.push({
      ...{ name: 'claim', pvcRef: { name: workload.claim, namespace: workload.namespace } },
      ...statsOf(
        { gib: claim.size, usedGib: claim.used, inodes: claim.inodes },
        bytesOf(claim.used),
      ),
    })
  const memory = bytesOf((workload.memoryGib ?? 0.2) + (workload.memoryDirGib ?? 0))
  const rssBytes = workload.anonymousGib === undefined ? memory / 2 : bytesOf(workload.anonymousGib)
  return {
    podRef: { namespace: profile.namespace, name: profile.name, uid: podUid(profile) },
    startTime: takenAt,
    containers: profile.containers.map(({ name }) => ({
      name,
      startTime: takenAt,
      memory: { time: takenAt, workingSetBytes: memory, usageBytes: memory, rssBytes },
      // The capacity of the filesystem, and the inodes of the layer alone.
      ...(!isWithoutLayers && {
        rootfs: {
          ...statsOf((world.isSplit ? null : world.imageDisk) ?? world.disk, bytesOf(layerGib)),
          inodesUsed: workload.layerInodes ?? Math.round(layerGib * 20_000),
        },
      }),
      logs: { ...nodefs(logsGib), inodesUsed: 1 },
    })),
    memory: { time: takenAt, workingSetBytes: memory, usageBytes: memory, rssBytes },
    volume: volumes,
    'ephemeral-storage': nodefs(
      (isWithoutLayers ? 0 : layerGib) +
        logsGib +
        emptyDirGib +
        (isHostsFile(workload) ? workload.podFolder!.gib : 0),
    ),
    process_stats: { process_count: workload.processes ?? 2 },
  }
}

function runtimeOf(scene: Scene): RawObject {
  const { world, pods } = scene
  const dead = world.held?.dead
  return {
    images: packed(world).map(({ names, sizeBytes }) => ({
      id: `sha256:${digits(names[1] ?? '')}`,
      ...{ repoTags: names.slice(1), repoDigests: names.slice(0, 1) },
      ...{ size: String(sizeBytes), pinned: /\/pause:/.test(names[1] ?? '') },
    })),
    containers: [
      ...pods
        .filter(isRunning)
        .flatMap(({ profile }) =>
          profile.containers.map(({ name, image }) => ({
            id: containerId(profile, { name }),
            podSandboxId: sandboxIdOf(profile),
            metadata: { name, attempt: 0 },
            image: { image },
            imageRef: `sha256:${digits(image)}`,
            state: 'CONTAINER_RUNNING',
            createdAt: '1793000000000000000',
            labels: criLabels(profile, name),
          })),
        ),
      ...Array.from({ length: dead?.containers ?? 0 }, (_, index) => deadContainer(scene, index)),
    ],
    sandboxes: pods
      .filter(isRunning)
      .map(({ profile }) => ({
        id: sandboxIdOf(profile),
        metadata: {
          ...{ name: profile.name, namespace: profile.namespace },
          ...{ uid: podUid(profile), attempt: 0 },
        },
        state: 'SANDBOX_READY',
        createdAt: '1793000000000000000',
        labels: criLabels(profile),
      })),
  }
}

const sandboxIdOf = (pod: PodProfile) => digits(`sandbox/${pod.namespace}/${pod.name}`)

const criLabels = (pod: PodProfile, container?: string) => ({
  ...(container !== undefined && { 'io.kubernetes.container.name': container }),
  'io.kubernetes.pod.name': pod.name,
  'io.kubernetes.pod.namespace': pod.namespace,
  'io.kubernetes.pod.uid': podUid(pod),
})

/** An earlier attempt of a container of the owner's first pod. */
function deadContainer({ world, pods }: Scene, index: number): RawObject {
  const pod = pods.find(({ workload }) => workload.owner === world.held?.dead?.owner)?.profile
  if (pod === undefined) throw new Error('dead containers need a pod of their owner')
  const [container] = pod.containers
  return {
    id: digits(`dead/${pod.name}/${index}`),
    podSandboxId: sandboxIdOf(pod),
    metadata: { name: container?.name, attempt: index },
    image: { image: container?.image },
    imageRef: `sha256:${digits(container?.image ?? '')}`,
    state: 'CONTAINER_EXITED',
    createdAt: '1792900000000000000',
    labels: criLabels(pod, container?.name),
  }
}

const kubeletFile = '/etc/kubernetes/kubelet/config.json'
const containerdRoot = '/var/lib/containerd'

function hostOf(scene: Scene): RawObject {
  const { world, profile } = scene
  const { disk, imageDisk } = world
  return {
    schema: 'highwater.host/1',
    kubelet: {
      startedAt: '2026-11-01T00:00:00Z',
      commandLine: ['/usr/bin/kubelet', `--config=${kubeletFile}`],
      files: [
        {
          ...{ path: kubeletFile, role: 'config' },
          content: {
            ...{ kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' },
            ...configurationOf(profile),
            ...world.editedConfiguration,
          },
        },
      ],
    },
    filesystems: [
      hostFilesystem('nodefs', disk, '/dev/nvme0n1p1', '/'),
      hostFilesystem('imagefs', imageDisk ?? disk, '/dev/nvme0n1p1', '/'),
    ],
    containerd: {
      ...{ sandboxImage: 'localhost/kubernetes/pause:latest', snapshotter: 'overlayfs' },
      ...{ discardUnpackedLayers: true, mirrors: [], ...world.containerd },
    },
    kernel: {
      ...{ release: '6.12.55', cmdline: 'ro quiet', cgroupVersion: 2, memoryCgroups: 300 },
      ...world.kernel,
    },
    podLogDirectories: [],
    ...(world.held?.writtenLogs && { logs: writtenLogs(world.held.writtenLogs) }),
    diskUse: diskUseOf(scene),
    unread: [],
  }
}

const writtenLogs = (logs: NonNullable<Held['writtenLogs']>) => ({
  files: logs.length,
  bytes: bytesOf(sum(logs.map(({ gib }) => gib))),
  biggest: logs.map(({ path, gib, minutesAgo }) => ({
    ...{ path, bytes: bytesOf(gib), modifiedAt: before(minutesAgo) },
  })),
  rotatedByKubelet: { files: 0, bytes: 0 },
  rotatedByOthers: { files: 0, bytes: 0, sample: [] },
})

function hostFilesystem(role: string, disk: Disk, device: string, mount: string): RawObject {
  const stats = statsOf(disk, bytesOf(disk.usedGib))
  return {
    ...{ role, device: disk.device ?? device, mount: disk.mount ?? mount },
    ...{ capacityBytes: stats.capacityBytes, availableBytes: stats.availableBytes },
    ...{ usedBytes: bytesOf(disk.usedGib), inodes: stats.inodes, inodesFree: stats.inodesFree },
  }
}

function diskUseOf(scene: Scene): RawObject {
  const { world, pods } = scene
  const held = world.held ?? {}
  const onImages = world.imageDisk === undefined ? 'nodefs' : 'imagefs'
  const usedImages = new Set(
    pods.filter(isRunning).flatMap(({ profile }) => profile.containers.map(({ image }) => image)),
  )
  const [inUse, unused] = [true, false].map(wanted =>
    (held.images ?? []).filter(({ name }) => usedImages.has(name) === wanted),
  )
  const snapshot = (use: string, gib: number, count: number) => ({
    ...{ use, count, bytes: bytesOf(gib), inodes: Math.round(gib * 20_000) },
  })
  const ofImages = (images: readonly Image[] = []) =>
    sum(images.map(({ unpackedGib }) => unpackedGib))
  const folders = foldersOf(scene, onImages)
  return {
    folders,
    snapshots: [
      snapshot('inUse', ofImages(inUse), inUse?.length ?? 0),
      snapshot('unused', ofImages(unused) + (held.deletedImages ?? 0), unused?.length ?? 0),
      {
        ...snapshot('running', ofPods(scene, 'layerGib'), pods.length),
        inodes: sum(
          pods
            .filter(isRunning)
            .map(
              ({ workload: { layerGib = 0.01, layerInodes } }) =>
                layerInodes ?? Math.round(layerGib * 20_000),
            ),
        ),
      },
      snapshot('dead', held.dead?.gib ?? 0, held.dead?.containers ?? 0),
      snapshot('leftover', held.leftover ?? 0, Math.ceil((held.leftover ?? 0) * 4)),
    ],
    orphans: orphansOf(held),
    inside: pods
      .flatMap(({ workload: { podFolder, emptyDirGib }, profile }) => [
        ...(podFolder && /^(?:volumes\/[^/]+|containers)\/[^/]+$/.test(podFolder.path)
          ? [{ ...podFolder, profile }]
          : []),
        ...(emptyDirGib === undefined
          ? []
          : [{ path: 'volumes/kubernetes.io~empty-dir/data', gib: emptyDirGib, profile }]),
      ])
      .toSorted((a, b) => b.gib - a.gib)
      .slice(0, 10)
      .map(({ path, gib, profile }) => ({
        path: `/var/lib/kubelet/pods/${podUid(profile)}/${path}`,
        bytes: bytesOf(gib),
      })),
    deletedFiles: held.deletedOpen
      ? [
          {
            ...{ on: 'nodefs', files: held.deletedOpen.files },
            bytes: bytesOf(held.deletedOpen.gib),
          },
        ]
      : [],
    processes: held.deletedOpen ? [processOf(scene, held.deletedOpen)] : [],
    layers: layersOf(scene),
    devices: (world.devices ?? []).map(({ name, gib, mounted }) => ({
      ...{ name: name.replace('/dev/', ''), bytes: bytesOf(gib), isUsed: mounted },
      model: `Amazon ${/nvme0/.test(name) ? 'Elastic Block Store' : 'EC2 NVMe Instance Storage'}`,
    })),
    namespaces: (held.namespaces ?? []).map(({ name, layersGib, contentGib }) => ({
      ...{ name, bytes: bytesOf(layersGib), inodes: Math.round(layersGib * 20_000) },
      content: bytesOf(contentGib),
    })),
    ...{ brokenLinks: 0, missed: 0 },
  }
}

const uidOfOwner = ({ pods }: Scene, owner: string | undefined) => {
  const pod = pods.find(({ workload }) => workload.owner === owner)
  return pod && podUid(pod.profile)
}

const processOf = (
  scene: Scene,
  { gib, files, owner, process }: NonNullable<Held['deletedOpen']>,
) => ({
  ...{ on: 'nodefs', pid: 4711, command: process, files, bytes: bytesOf(gib) },
  pod: uidOfOwner(scene, owner),
})

/** The largest writable layers, as the runtime knows their containers. */
function layersOf({ world, pods }: Scene): RawObject[] {
  const dead = world.held?.dead
  const running = pods
    .filter(isRunning)
    .flatMap(({ workload, profile }) =>
      profile.containers.map(container => ({
        ...{ use: 'running', key: containerId(profile, container) },
        bytes: bytesOf(workload.layerGib ?? 0.01),
        inodes: workload.layerInodes ?? 100,
      })),
    )
  const own = pods.filter(({ workload }) => workload.owner === dead?.owner)
  const pod = own[0]?.profile
  // A pod that has ended still names its container.
  const deadKey = (index: number): string => {
    const ended = own[index]?.workload.hasEnded === true ? own[index]?.profile : undefined
    return ended ? containerId(ended, ended.containers[0]!) : digits(`dead/${pod?.name}/${index}`)
  }
  const exited = Array.from({ length: Math.min(5, dead?.containers ?? 0) }, (_, index) => ({
    ...{ use: 'dead', key: deadKey(index) },
    ...{ bytes: bytesOf((dead?.gib ?? 0) / (dead?.containers ?? 1)), inodes: 100 },
  }))
  return [...running.toSorted((a, b) => b.bytes - a.bytes).slice(0, 5), ...exited]
}

function orphansOf({ orphans, logDebris }: Held): RawObject[] {
  const listed = Math.min(orphans?.folders ?? 0, 40)
  return [
    ...Array.from({ length: listed }, (_, index) => ({
      path: `/var/lib/kubelet/pods/${podUid({ namespace: 'gone', name: String(index) })}`,
      bytes: bytesOf((orphans?.gib ?? 0) / listed),
    })),
    ...(logDebris === undefined
      ? []
      : [{ path: '/var/log/pods/shop_gone_0c1d2e3f', bytes: bytesOf(logDebris) }]),
  ]
}

/** What the runtime keeps of a container beside its layer. */
const containerFolder = (profile: PodProfile) =>
  `${containerdRoot}/io.containerd.grpc.v1.cri/containers/${containerId(profile, profile.containers[0]!)}`

/** The folders that the measurement knows; what is left of the used bytes is the system's. */
function foldersOf(scene: Scene, onImages: string): RawObject[] {
  const { disk, imageDisk, held = {} } = scene.world
  const beside = scene.pods.flatMap(({ workload }) => workload.podFolder ?? [])
  const besideGib = sum(beside.map(({ gib }) => gib))
  const besideInodes = sum(beside.map(({ gib, inodes }) => inodes - Math.round(gib * 20_000)))
  const volumes = ofPods(scene, 'emptyDirGib') + (held.orphans?.gib ?? 0) + besideGib
  const logs = ofPods(scene, 'logsGib') + (held.logDebris ?? 0)
  const { journal = 0.4, hostLogs = 0.05, content = 0.02, temporary = 0, packages = 0 } = held
  const declared = scene.pods.flatMap(({ workload: { declaredGib }, profile }) =>
    declaredGib === undefined ? [] : [[containerFolder(profile), declaredGib] as const],
  )
  const folders = { ...held.folders, ...Object.fromEntries(declared) }
  const elsewhere =
    sum(Object.values(folders)) +
    (held.deletedOpen?.gib ?? 0) +
    sum(Object.values(held.otherRuntime ?? {})) +
    (held.localVolume?.gib ?? 0) +
    (held.unexplained ?? 0)
  const { listed } = held
  const cores = (held.coreDumps?.gib ?? 0) + (listed?.gib ?? 0)
  const inLogs = sum(
    Object.entries(folders).map(([path, gib]) => (path.startsWith('/var/log/') ? gib : 0)),
  )
  const onNodefs = volumes + logs + journal + hostLogs + temporary + packages + cores + elsewhere
  const ofOthers = sum((held.namespaces ?? []).map(({ layersGib }) => layersGib))
  const onRuntime = snapshotGib(scene) + ofOthers + content
  const system = disk.usedGib - onNodefs - (imageDisk === undefined ? onRuntime : 0)
  if (system < 0) throw new Error(`${-system} GiB more are held than are used`)
  const folder = (holder: string, path: string, gib: number, on = 'nodefs') => ({
    ...{ holder, path, on, bytes: bytesOf(gib), inodes: Math.round(gib * 20_000) },
  })
  const ofKubelet = (holder: string, path: string) => {
    const isAbove = listed?.path.startsWith(`${path}/`) === true
    const entry = folder(holder, path, volumes + (isAbove ? listed.gib : 0))
    return { ...entry, inodes: entry.inodes + besideInodes }
  }
  return [
    ofKubelet('pods', '/var/lib/kubelet/pods'),
    ofKubelet('kubelet', '/var/lib/kubelet'),
    folder('podLogs', '/var/log/pods', logs),
    folder('journal', '/var/log/journal', journal),
    folder('logs', '/var/log', logs + journal + hostLogs + inLogs),
    folder('content', `${containerdRoot}/io.containerd.content.v1.content`, content, onImages),
    folder('temporary', '/tmp', temporary),
    folder('packages', '/var/cache', packages),
    folder(
      'coreDumps',
      held.coreDumps?.path ?? '/var/lib/systemd/coredump',
      held.coreDumps?.gib ?? 0,
    ),
    ...(listed
      ? [{ ...folder(listed.holder, listed.path, listed.gib), inodes: listed.inodes }]
      : []),
    folder('system', '/usr', system),
    ...Object.entries(folders).map(([path, gib]) => ({
      ...folder('unknown', path, gib),
      // A log is a file.
      ...(/\.log$|\/messages$/.test(path) && { inodes: 1 }),
    })),
    ...Object.entries(held.otherRuntime ?? {}).map(([path, gib]) => folder('docker', path, gib)),
    ...(held.localVolume
      ? [
          {
            ...folder('localVolume', held.localVolume.path, held.localVolume.gib),
            ...(held.localVolume.inodes !== undefined && { inodes: held.localVolume.inodes }),
            pod: uidOfOwner(scene, held.localVolume.owner),
          },
        ]
      : []),
  ]
}
