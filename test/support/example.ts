/** Examples of rules: a rule says only what matters to it, the rest is a sound AL2023 node with one disk of 100 GiB. Pure data, no kubelet arithmetic. */

import { gibibyte } from '#base/units.ts'
import { reasonsWithoutNode } from '#facts/kubernetes/volume-events.ts'
import { reportedRounds } from '#judge/compare/history/happenings.ts'
import { runningSettings } from '#judge/drift/drift.ts'
import { startFact } from '#judge/drift/layers.ts'
import { recentStarts } from '#judge/events/events.ts'
import { unusedImages } from '#judge/help/listed-images.ts'
import { runningLogs } from '#judge/logs/running-logs.ts'
import type { Need, NodeContext, NodeEvent, NodeSubject } from '#judge/subject/node-subject.ts'
import { PodOwners } from '#judge/subject/pod-owners.ts'
import { podName } from '#judge/text.ts'
import type {
  EksCluster,
  LaunchTemplateVersion,
  Nodegroup,
  NodeIdentity,
  ReadMode,
  ReadObjects,
  Source,
} from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { Policy } from '#model/policy.ts'
import {
  canBeMet,
  type DiskHolder,
  type EvaluatedThreshold,
  type EvictionPrediction,
  type Filesystems,
  type ImageGcPrediction,
  type NextStartPrediction,
  type NodeLedger,
  type RankedPod,
  type Signal,
} from '#model/prediction.ts'

export interface NodeExample {
  /** What the policy says beside its defaults. */
  policy?: Partial<Policy>
  at?: string
  identity?: Partial<NodeIdentity>
  conditions?: Record<string, string>
  configuration?: KubeletConfiguration | null
  filesystems?: Partial<Filesystems>
  imageGC?: Partial<ImageGcPrediction> | null
  thresholds?: EvaluatedThreshold[]
  nextStart?: NextStartPrediction
  /** In place of the calm pass's: victims, rankings, … */
  eviction?: Partial<EvictionPrediction>
  containerGC?: NodeSubject['containerGC']
  localStorageEvictions?: NodeSubject['localStorageEvictions']
  nearOwnLimits?: NodeSubject['nearOwnLimits']
  allocatable?: NodeSubject['allocatable']
  overRequested?: NodeSubject['overRequested']
  /** GiB by holder on its one disk of 100 GiB, all measured on the node. */
  held?: Partial<Record<DiskHolder, number>>
  /** In place of parts of the ledger, as what pods hold. */
  ofPods?: Partial<NodeLedger>
  volumes?: NodeLedger['volumes'] | undefined
  /** Why the volumes were not read. */
  volumesUnread?: string
  node?: NodeSubject['node']
  pods?: NodeSubject['pods']
  /** Null: not read. */
  summary?: NodeSubject['summary']
  runtime?: NodeSubject['runtime']
  host?: NodeSubject['host']
  mode?: ReadMode
  unread?: Partial<Record<Source, string>>
  isKubeletDown?: boolean
  readFailure?: NodeSubject['readFailure']
  doubts?: Partial<Record<Need, string>>
}

/** And what its cluster says. Absent: nothing was read of it. */
export interface ContextExample extends NodeExample {
  events?: readonly NodeEvent[]
  eks?: EksCluster
  nodegroups?: readonly Nodegroup[]
  launchTemplates?: readonly LaunchTemplateVersion[]
  /** What could not be read, and why. */
  errors?: Readonly<Record<string, string>>
  images?: NodeContext['images']
  imagesSince?: string
  /** Absent: those of the events and of the log. */
  rounds?: ReturnType<NodeContext['rounds']>
  growth?: ReturnType<NodeContext['growth']>
  happened?: ReturnType<NodeContext['happened']>
  /** By resource, `plural.group`. */
  objects?: { [Resource in keyof ReadObjects]?: readonly ReadObjects[Resource][] }
}

/** When the node was read. */
export const exampleTime = '2026-11-21T00:00:00Z'
export const exampleCapacityBytes = 100 * gibibyte
const disk = {
  capacityBytes: exampleCapacityBytes,
  availableBytes: 60 * gibibyte,
  usedPercent: 40,
  inodes: 52_428_800,
  inodesFree: 52_000_000,
}

/** A hard threshold of `gib` GiB on the 100 GiB disk, so one GiB is one percent. */
export function hard(signal: Signal, gib: number, availableGib = 60): EvaluatedThreshold {
  const resolved = gib * gibibyte
  const margin = availableGib * gibibyte - resolved
  return {
    signal,
    operator: 'LessThan',
    value: `${gib}Gi`,
    resolved,
    hard: true,
    gracePeriodMs: 0,
    minReclaim: '0',
    met: margin < 0,
    margin,
  }
}

export const soft = (
  signal: Signal,
  gib: number,
  gracePeriodMs: number,
  availableGib = 60,
): EvaluatedThreshold => ({ ...hard(signal, gib, availableGib), hard: false, gracePeriodMs })

export const nodefs = (gib: number) => [hard('nodefs.available', gib)]

/** Of a threshold whose signal was not observed. */
export const unresolved = { resolved: null, met: null, margin: null }

export const gc = (high: number, low = high - 5) => ({
  enabled: high < 100,
  highThresholdPercent: high,
  lowThresholdPercent: low,
})

export const ranked = (name: string, rank: number, usage: number | null): RankedPod => ({
  namespace: 'shop',
  name,
  rank,
  qos: 'BestEffort',
  priority: 0,
  usage,
  request: 0,
  reason: 'uses more than it requests',
})

const defaultThresholds = [
  hard('memory.available', 1),
  hard('nodefs.available', 10),
  hard('nodefs.inodesFree', 5),
]

/** Nothing is met, and nothing observed. */
export const calmEviction: EvictionPrediction = {
  signals: {},
  thresholds: [],
  lost: [],
  conditions: [],
  actsOn: [],
  nodeReclaim: [],
  imageDeletions: [],
  rankings: [],
  victims: [],
  protected: [],
  error: null,
}

export function exampleContext({
  events,
  eks,
  nodegroups,
  launchTemplates,
  objects,
  errors = {},
  ...example
}: ContextExample): NodeContext {
  const at = example.at ?? exampleTime
  const logLines = example.host?.logLines ?? []
  const owners = new PodOwners()
  owners.take(example.pods ?? [])
  return {
    at,
    images: example.images ?? [],
    imagesSince: example.imagesSince ?? null,
    rounds: () => example.rounds ?? reportedRounds(events ?? [], logLines),
    growth: () => example.growth ?? {},
    happened: () => example.happened ?? [],
    events: events ?? null,
    podEvents: pod =>
      (events ?? []).filter(
        event => reasonsWithoutNode.has(event.reason) && podName(event.pod ?? undefined) === pod,
      ),
    ownerOfName: (namespace, pod) => owners.find(namespace, pod),
    localFolder: () => null,
    volumeDriver: name =>
      objects?.persistentvolumes?.find(({ metadata }) => metadata?.name === name)?.spec?.csi
        ?.driver ?? null,
    waitingPods: objects?.pods ?? [],
    eks: eks ?? null,
    nodegroups: nodegroups ?? null,
    launchTemplates: launchTemplates ?? null,
    objects: resource => objects?.[resource] ?? null,
    why: what => `${what}: ${errors[what] ?? 'not in the snapshot'}`,
    failed: what => (errors[what] === undefined ? null : `${what}: ${errors[what]}`),
  }
}

const exampleIdentity: Omit<NodeIdentity, 'name'> = {
  group: { kind: 'Nodegroup', namespace: null, name: 'workers' },
  owner: 'managed-nodegroup',
  isEksctl: false,
  amiFamily: 'AL2023',
  operatingSystem: 'linux',
  instanceType: 'm5.xlarge',
  instanceId: null,
  bootId: null,
  kubeletVersion: 'v1.34.1-eks-0000000',
  ready: 'True',
}
const healthyConditions = {
  ...{ MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False' },
  Ready: 'True',
}
const exampleConfiguration: KubeletConfiguration = {
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
  },
  imageGCHighThresholdPercent: 80,
  imageGCLowThresholdPercent: 70,
}
const calmImageGc: ImageGcPrediction = {
  enabled: true,
  highThresholdPercent: 80,
  lowThresholdPercent: 70,
  triggered: false,
  usagePercent: 40,
  bytesUntilTrigger: 39 * gibibyte,
  startsAboveUsedPercent: 79,
  startsBelowAvailableBytes: 21 * gibibyte,
  bytesToFree: 0,
  reachesLow: true,
  freedBytes: 0,
  shortfallBytes: 0,
  deletableBytes: null,
  error: null,
  deletions: null,
  kept: null,
}
export const sharedFilesystems: Filesystems = {
  ...{ nodefs: disk, imagefs: disk, containerfs: disk },
  ...{ layout: 'shared', layoutCertainty: 'certain' },
}

const orNull = <Part extends object>(usual: Part, given: Partial<Part> | null | undefined) =>
  given === null ? null : { ...usual, ...given }

/** Of a node that measured everything. */
const measuredHost: NodeSubject['host'] = { diskUse: { folders: [], snapshots: [], missed: 0 } }

function ledgerOf(held: NonNullable<NodeExample['held']>): NodeLedger {
  const lines = Object.entries(held).map(([holder, gib]) => {
    const bytes = gib * gibibyte
    return {
      holder: holder as DiskHolder,
      ...{ bytes, lowBytes: bytes, highBytes: bytes, inodes: null },
      source: 'du' as const,
    }
  })
  return {
    schema: 'highwater.ledger/1',
    isShared: true,
    filesystems: [
      {
        filesystem: 'nodefs',
        capacityBytes: exampleCapacityBytes,
        usedBytes: lines.reduce((sum, { bytes }) => sum + bytes, 0),
        usedInodes: null,
        lines,
      },
    ],
    parts: [],
    pods: [],
    owners: [],
    namespaces: [],
    volumes: null,
    volumesUnread: null,
    freeable: {
      unusedImageBytes: (held['images-unused'] ?? 0) * gibibyte,
      deadContainerBytes: null,
      debrisBytes: null,
      unusableBytes: null,
    },
  }
}

export function exampleSubject(
  example: NodeExample,
  name = 'ip-10-0-1-2.ec2.internal',
): NodeSubject {
  const { configuration, imageGC, nextStart, unread } = example
  const filesystems: Filesystems = { ...sharedFilesystems, ...example.filesystems }
  const identity = { name, ...exampleIdentity, ...example.identity }
  const running = orNull(exampleConfiguration, configuration)
  const { pods = [], summary = {} } = example
  const host = example.host ?? (example.held ? measuredHost : null)
  return {
    cluster: 'prod',
    at: example.at ?? exampleTime,
    identity,
    conditions: { ...healthyConditions, ...example.conditions },
    configuration: running,
    runningValues: () => runningSettings(running ?? {}, identity).values,
    runningKey: () => runningSettings(running ?? {}, identity).key,
    runningLogs: () => runningLogs({ pods, summary }),
    unusedImages: () => unusedImages({ ...example, pods, host }),
    recentStarts: () => recentStarts(pods ?? [], example.at ?? exampleTime),
    isConfigurationOnDisk: false,
    filesystems,
    disks: filesystems,
    imageGC: orNull(calmImageGc, imageGC),
    eviction: {
      ...calmEviction,
      ...example.eviction,
      // As `nodeSubject` does: no rule sees a threshold of 0.
      thresholds: (example.thresholds ?? example.eviction?.thresholds ?? defaultThresholds).filter(
        canBeMet,
      ),
    },
    nextStart: nextStart ?? null,
    startFact: () => startFact(nextStart ?? null),
    containerGC: example.containerGC ?? null,
    localStorageEvictions: example.localStorageEvictions ?? [],
    allocatable: example.allocatable ?? null,
    ...(example.overRequested && { overRequested: example.overRequested }),
    ...(example.nearOwnLimits && { nearOwnLimits: example.nearOwnLimits }),
    ledger: {
      ...ledgerOf(example.held ?? {}),
      ...example.ofPods,
      volumes: example.volumes ?? null,
      volumesUnread: example.volumesUnread ?? null,
    },
    node: example.node ?? {},
    pods,
    summary,
    runtime: example.runtime ?? null,
    host,
    mode: example.mode ?? 'proxy',
    coverage: unread ? 'partlyRead' : 'read',
    unread: unread ?? {},
    isKubeletDown: example.isKubeletDown ?? false,
    readFailure: example.readFailure ?? null,
    missing: {
      ...(!nextStart && { nextStart: "the files on the node's disk were not read (mode proxy)" }),
      ...(configuration === null && { configuration: 'configz: not read' }),
      ...(imageGC === null && { imageGC: 'configz: not read' }),
      ...(example.pods === null && { pods: 'pods: not read' }),
    },
    doubts: example.doubts ?? {},
  }
}
