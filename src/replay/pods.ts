/** A pod as the replays need it, parsed from its manifest and its status. */

import {
  addQuantities,
  binaryQuantity,
  compareQuantities,
  type Quantity,
  quantityOrNull,
  signOf,
} from '#base/go/quantity.ts'
import { once } from '#base/once.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import type {
  ContainerSpec,
  ContainerStatus,
  ContainerSummary,
  FilesystemStats,
  KubernetesPod,
  PodSummary,
  Summary,
  VolumeSource,
} from '#model/input/record.ts'
import { availableOf, countOf, type Kubelet } from './times.ts'

/** By resource name: `memory`, `ephemeral-storage`, … */
export type ResourceList = ReadonlyMap<string, Quantity>

/** The resources of a pod that the replays read. */
export interface PodResources {
  get(resource: string): Quantity | undefined
  keys(): Iterable<string>
}

export interface PodContainer {
  name: string
  requests: PodResources
  limits: PodResources
  /** An init container that keeps running beside the others: `restartPolicy: Always`. */
  isSidecar: boolean
}

interface PodVolume {
  name: string
  emptyDir: { isMemory: boolean; sizeLimit: Quantity | null } | null
  /** An emptyDir on disk, a configMap, a gitRepo or a hostPath: the volumes that upstream counts as local. */
  isLocal: boolean
}

export interface Pod {
  namespace: string
  name: string
  uid: string
  /** 0 if the manifest has none. */
  priority: number
  priorityClassName: string
  containers: readonly PodContainer[]
  initContainers: readonly PodContainer[]
  /** `spec.resources`; null: not set. */
  resources: { requests: PodResources; limits: PodResources } | null
  overhead: PodResources
  volumes: readonly PodVolume[]
  terminationGracePeriodSeconds: number | null
  /** Set only while the pod is being deleted. */
  deletionGracePeriodSeconds: number | null
  /** `api` if no annotation gives another source. Upstream: pkg/kubelet/types GetPodSource. */
  source: string
  isMirror: boolean
  phase: string | null
  /** Whether the status reports a running container. */
  hasRunningContainer: boolean
  /** Whether the pod is being deleted and all of its containers have ended. */
  isTerminated: boolean
  /** Upstream's `status.qosClass`; null: not set. */
  qosClass: string | null
}

/** Null: the pod has no name. */
export function parsePod({ metadata, spec, status }: KubernetesPod): Pod | null {
  const name = metadata?.name
  if (name === undefined) return null
  const annotations = metadata?.annotations
  const resources = spec?.resources
  return {
    namespace: metadata?.namespace ?? 'default',
    name,
    uid: metadata?.uid ?? '',
    priority: integerOf(spec?.priority) ?? 0,
    priorityClassName: spec?.priorityClassName ?? '',
    containers: (spec?.containers ?? []).map(parseContainer),
    initContainers: (spec?.initContainers ?? []).map(parseContainer),
    resources: resources
      ? { requests: resourceList(resources.requests), limits: resourceList(resources.limits) }
      : null,
    overhead: resourceList(spec?.overhead),
    volumes: (spec?.volumes ?? []).map(parseVolume),
    terminationGracePeriodSeconds: integerOf(spec?.terminationGracePeriodSeconds),
    deletionGracePeriodSeconds: integerOf(metadata?.deletionGracePeriodSeconds),
    source: annotations?.['kubernetes.io/config.source'] ?? 'api',
    isMirror: annotations?.['kubernetes.io/config.mirror'] !== undefined,
    phase: status?.phase ?? null,
    hasRunningContainer:
      anyRuns(status?.containerStatuses) ||
      anyRuns(status?.initContainerStatuses) ||
      anyRuns(status?.ephemeralContainerStatuses),
    isTerminated: metadata?.deletionTimestamp !== undefined && haveEnded(status?.containerStatuses),
    qosClass: status?.qosClass ?? null,
  }
}

type Statuses = readonly ContainerStatus[] | undefined

const haveEnded = (statuses: Statuses = []) =>
  statuses.length > 0 && statuses.every(({ state }) => state?.terminated !== undefined)

const anyRuns = (statuses: Statuses = []) =>
  statuses.some(({ state }) => state?.running !== undefined)

/** Statuses of all containers of the pod. */
export function containerStatusesOf({ status }: KubernetesPod): readonly ContainerStatus[] {
  const {
    containerStatuses = [],
    initContainerStatuses: init = [],
    ephemeralContainerStatuses: ephemeral = [],
  } = status ?? {}
  return init.length + ephemeral.length === 0
    ? containerStatuses
    : [...containerStatuses, ...init, ...ephemeral]
}

/** The container's id in the runtime; empty: no container was created. */
export function containerIdOf({ containerID = '' }: ContainerStatus): string {
  const scheme = containerID.lastIndexOf('://')
  return scheme < 0 ? containerID : containerID.slice(scheme + 3)
}

/**
 * Whether the eviction manager considers the pod: it has not ended, or a container still runs.
 * Upstream: pkg/kubelet/kubelet_pods.go GetActivePods, filterOutInactivePods.
 */
export const isActive = ({ phase, hasRunningContainer, isTerminated }: Pod): boolean =>
  hasRunningContainer || (!isTerminalPhase(phase) && !isTerminated)

function parseContainer(raw: ContainerSpec): PodContainer {
  const { resources } = raw
  return {
    name: raw.name ?? '',
    requests: resourceList(resources?.requests),
    limits: resourceList(resources?.limits),
    isSidecar: raw.restartPolicy === 'Always',
  }
}

function parseVolume(raw: VolumeSource): PodVolume {
  const { emptyDir } = raw
  const medium = emptyDir?.medium ?? ''
  return {
    name: raw.name ?? '',
    emptyDir: emptyDir
      ? { isMemory: medium === 'Memory', sizeLimit: quantityOf(emptyDir.sizeLimit) }
      : null,
    isLocal:
      (emptyDir !== undefined && medium === '') ||
      raw.configMap !== undefined ||
      raw.gitRepo !== undefined ||
      raw.hostPath !== undefined,
  }
}

const noResources: PodResources = new Map()

type Quantities = Readonly<Record<string, string | undefined>>

const resourceList = (written: Quantities | undefined) =>
  written ? new WrittenResources(written) : noResources

/** A manifest's quantities, each parsed on first use, because most are never used. */
class WrittenResources implements PodResources {
  private readonly written: Quantities

  constructor(written: Quantities) {
    this.written = written
  }

  get(resource: string): Quantity | undefined {
    return Object.hasOwn(this.written, resource)
      ? (quantityOf(this.written[resource]) ?? undefined)
      : undefined
  }

  keys() {
    return Object.keys(this.written).filter(resource => this.get(resource) !== undefined)
  }
}

const quantityOf = (text: string | undefined) => quantityOrNull(text?.trim())

const integerOf = (value: number | undefined) =>
  value !== undefined && Number.isSafeInteger(value) ? value : null

/*
 * The pods that the kubelet never evicts and always admits.
 *
 * Replays       pkg/kubelet/types/pod_update.go  IsCriticalPod, IsStaticPod, IsMirrorPod, IsCriticalPodBasedOnPriority
 * Read at       1.29 to 1.37, alike
 * Kept exactly  the priority number decides, not its class; DaemonSet pods have no protection
 */

/** Source: pkg/apis/scheduling/types.go SystemCriticalPriority. */
const systemCriticalPriority = 2_000_000_000

/** Null: the pod may be evicted. */
export function protectionOf({
  source,
  isMirror,
  priority,
}: Pod): 'static' | 'mirror' | 'critical' | null {
  // The API server's mirror pod also carries the source of its static pod.
  if (source !== 'api') return 'static'
  if (isMirror) return 'mirror'
  return priority >= systemCriticalPriority ? 'critical' : null
}

export const isCriticalPod = (pod: Pod): boolean => protectionOf(pod) !== null

/*
 * Each pod's statistics in the stats summary. An absent statistic is null, never 0.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  cachedStatsFunc;  staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go PodStats
 * Read at       1.29 to 1.37, alike
 * Kept exactly  pods are found by UID; if several have one UID, the last counts; usage goes through an int64, so a wrapped one is below zero
 * Left out      statistics that no decision reads
 */

export interface FsUsage {
  usedBytes: number | null
  inodesUsed: number | null
}

export interface ContainerStats {
  name: string
  memoryWorkingSetBytes: number | null
  rootfs: FsUsage
  logs: FsUsage
}

export interface VolumeStats extends FsUsage {
  name: string
}

export interface PodStats {
  /** Null: no memory statistics at all. That differs from a missing working set. */
  memory: { workingSetBytes: number | null } | null
  containers: readonly ContainerStats[]
  volumes: readonly VolumeStats[]
  ephemeralStorageUsedBytes: number | null
  processCount: number | null
  /** Resources with a statistic that is no count: how much the kubelet sees is unknown. */
  malformed: readonly MeasuredResource[]
}

export type MeasuredResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

export interface PodStatsIndex {
  byUid: ReadonlyMap<string, PodStats>
  /** By `namespace/name`, built on first use: needed only for mirror pods and pods without a UID. */
  byName(): ReadonlyMap<string, PodStats>
  /** Keeps answers about the node of these statistics for later passes and settings. @param question parts that decide the answer; each is the same object in each pass */
  once<Answer>(question: readonly unknown[], compute: () => Answer): Answer
}

export function podStatsIn(summary: Summary | null): PodStatsIndex {
  const byUid = new Map<string, PodStats>()
  const named: { reference: PodSummary['podRef']; stats: PodStats }[] = []
  for (const raw of summary?.pods ?? []) {
    const reference = raw.podRef
    const stats = podStats(raw)
    byUid.set(reference?.uid ?? '', stats)
    named.push({ reference, stats })
  }
  const answers: Answers = { after: new Map() }
  return {
    byUid,
    byName: once(() => new Map(named.map(({ reference, stats }) => [nameOf(reference), stats]))),
    once<Answer>(question: readonly unknown[], compute: () => Answer) {
      let place = answers
      for (const part of question) {
        const next = place.after.get(part) ?? { after: new Map() }
        place.after.set(part, next)
        place = next
      }
      place.known ??= { answer: compute() }
      return place.known.answer as Answer
    },
  }
}

/** By the parts of a question, one after another. */
interface Answers {
  after: Map<unknown, Answers>
  known?: { answer: unknown }
}

const nameOf = (reference: PodSummary['podRef']) =>
  `${reference?.namespace ?? ''}/${reference?.name ?? ''}`

/**
 * Null: the kubelet has no statistics, because no container of the pod runs. The API server shows a static pod as a mirror pod with
 * another UID than the kubelet's own, so a mirror pod is found by its name.
 */
export function podStatsOf(
  { byUid, byName }: PodStatsIndex,
  { uid, namespace, name, isMirror }: Pod,
): PodStats | null {
  const isNamed = isMirror || uid === ''
  return (
    (uid === '' ? null : byUid.get(uid)) ??
    (isNamed ? byName().get(`${namespace}/${name}`) : null) ??
    null
  )
}

/** The first statistic of a name counts. A map, because a node decides how many volumes it names. */
export const firstVolumes = ({ volumes }: PodStats): ReadonlyMap<string, VolumeStats> =>
  new Map(volumes.toReversed().map(volume => [volume.name, volume]))

function podStats(raw: PodSummary): PodStats {
  const { memory } = raw
  return {
    memory: memory ? { workingSetBytes: availableOf(memory.workingSetBytes) } : null,
    containers: (raw.containers ?? []).map(containerStats),
    volumes: (raw.volume ?? []).map(volumeStats),
    ephemeralStorageUsedBytes: availableOf(raw['ephemeral-storage']?.usedBytes),
    processCount: countOf(raw.process_stats?.process_count),
    malformed: malformedResources(raw),
  }
}

function malformedResources(raw: PodSummary): readonly MeasuredResource[] {
  const isAnyMalformed = (field: 'usedBytes' | 'inodesUsed') =>
    isMalformed(raw['ephemeral-storage']?.[field]) ||
    raw.containers?.some(
      ({ rootfs, logs }) => isMalformed(rootfs?.[field]) || isMalformed(logs?.[field]),
    ) === true ||
    raw.volume?.some(volume => isMalformed(volume[field])) === true
  const malformed: MeasuredResource[] = []
  if (isMalformed(raw.memory?.workingSetBytes)) malformed.push('memory')
  if (isAnyMalformed('usedBytes')) malformed.push('ephemeral-storage')
  if (isAnyMalformed('inodesUsed')) malformed.push('inodes')
  if (isMalformed(raw.process_stats?.process_count)) malformed.push('pids')
  return malformed
}

const isMalformed = (given: number | undefined) =>
  given !== undefined && availableOf(given) === null

const containerStats = (raw: ContainerSummary): ContainerStats => ({
  name: raw.name ?? '',
  memoryWorkingSetBytes: availableOf(raw.memory?.workingSetBytes),
  rootfs: fsUsage(raw.rootfs),
  logs: fsUsage(raw.logs),
})

const volumeStats = (raw: NonNullable<PodSummary['volume']>[number]): VolumeStats => ({
  name: raw.name ?? '',
  usedBytes: availableOf(raw.usedBytes),
  inodesUsed: availableOf(raw.inodesUsed),
})

const fsUsage = (raw: FilesystemStats | undefined): FsUsage => ({
  usedBytes: availableOf(raw?.usedBytes),
  inodesUsed: availableOf(raw?.inodesUsed),
})

/*
 * The requests of a whole pod, and its limit of ephemeral storage.
 *
 * Replays       pkg/api/v1/resource/helpers.go  GetResourceRequestQuantity, PodLimits (to 1.31);
 *               k8s.io/component-helpers/resource/helpers.go  PodLimits, PodRequests, AggregateContainerLimits, IsPodLevelResourcesSet (since 1.32)
 * Read at       1.29 to 1.37; requests and pod-level resources since 1.34
 * Kept exactly  overhead counts only on top of an amount; a pod with only pod-level limits requests nothing (gate PodLevelResources);
 *               with the gate off a pod-level request still replaces the containers'
 * Left out      resources allocated by an in-place resize, where they differ from the manifest's
 */

const noQuantity = binaryQuantity(0)

/** The pod's request that the eviction ranking compares with its usage. */
export function getResourceRequestQuantity(pod: Pod, resource: string, kubelet: Kubelet): Quantity {
  const request = requestWithoutOverhead(pod, resource, kubelet) ?? noQuantity
  return withOverhead(request, pod, resource)
}

function requestWithoutOverhead(pod: Pod, resource: string, kubelet: Kubelet) {
  const requested = (container: PodContainer) => container.requests.get(resource)
  if (!kubelet.features.has('standardPodRequests')) return aggregate(pod, requested, false)
  const podLevel = isPodLevelResource(resource) ? pod.resources?.requests.get(resource) : undefined
  if (podLevel) return podLevel
  return isPodLevelResourcesSet(pod) && kubelet.isGateOn('PodLevelResources')
    ? null
    : aggregate(pod, requested, true)
}

/** Null: no container has a limit, so the pod has none. */
export function ephemeralStorageLimit(pod: Pod): Quantity | null {
  const limit = aggregate(pod, container => container.limits.get('ephemeral-storage'), true)
  return limit && withOverhead(limit, pod, 'ephemeral-storage')
}

function withOverhead(quantity: Quantity, { overhead }: Pod, resource: string) {
  const added = overhead.get(resource)
  return added && signOf(quantity) !== 0 ? addQuantities(quantity, added) : quantity
}

/** The sum over all containers, or the largest need of initialising. Sidecars, where they count, add to both. */
function aggregate(
  { containers, initContainers }: Pod,
  quantityOf: (container: PodContainer) => Quantity | undefined,
  countsSidecars: boolean,
) {
  let running: Quantity | null = null
  let sidecars: Quantity | null = null
  let initialising: Quantity | null = null
  for (const container of containers) running = sum(running, quantityOf(container))
  for (const container of initContainers) {
    const own = quantityOf(container)
    if (countsSidecars && container.isSidecar) {
      running = sum(running, own)
      sidecars = sum(sidecars, own)
      initialising = greaterQuantity(initialising, sidecars)
    } else {
      initialising = greaterQuantity(initialising, sum(own ?? null, sidecars))
    }
  }
  return greaterQuantity(running, initialising)
}

const sum = (a: Quantity | null, b: Quantity | null | undefined): Quantity | null =>
  a && b ? addQuantities(a, b) : (a ?? b ?? null)

/** If both are equal, the first, because its format is kept. */
function greaterQuantity(a: Quantity | null, b: Quantity | null) {
  if (!a || !b) return a ?? b
  return compareQuantities(b, a) > 0 ? b : a
}

/** Since 1.33 also huge pages. Before, the API server refuses them at pod level. Upstream: IsSupportedPodLevelResource. */
const isPodLevelResource = (resource: string) =>
  resource === 'cpu' || resource === 'memory' || resource.startsWith('hugepages-')

/** Upstream: IsPodLevelResourcesSet, since 1.34. */
export const isPodLevelResourcesSet = ({ resources }: Pod): boolean =>
  resources !== null &&
  [...resources.requests.keys(), ...resources.limits.keys()].some(isPodLevelResource)

/*
 * QoS classes.
 *
 * Replays       pkg/apis/core/v1/helper/qos/qos.go  GetPodQOS, ComputePodQOS, requirementsQOS, resourceQOS
 * Read at       1.29 to 1.37; a stored class counts since 1.29, pod-level resources if their gate is on, since 1.37 each resource of each container decides
 * Kept exactly  only cpu and memory; init containers count; up to 1.36 only amounts above zero count and their sums are compared,
 *               and any `spec.resources`, even an empty one, replaces the containers' resources
 * Left out      a stored class other than the three, which upstream keeps: here the class is computed instead
 */

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const qosClasses: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort']
const qosResources = ['cpu', 'memory'] as const

interface Requirements {
  requests: PodResources
  limits: PodResources
}

/** The QoS class that a kubelet of this version uses. Upstream: GetPodQOS. */
export function podQosClass(pod: Pod, kubelet: Kubelet): QosClass {
  return qosClasses.find(known => known === pod.qosClass) ?? computePodQos(pod, kubelet)
}

function computePodQos(pod: Pod, kubelet: Kubelet): QosClass {
  const requirements = qosRequirements(pod, kubelet)
  return kubelet.features.has('qosByRequirement')
    ? qosOfEach(requirements)
    : qosOfSums(requirements)
}

function qosRequirements(pod: Pod, kubelet: Kubelet): readonly Requirements[] {
  const { containers, initContainers, resources } = pod
  const isPodLevel =
    resources !== null &&
    kubelet.isGateOn('PodLevelResources') &&
    (!kubelet.isGateOn('PodLevelResourcesFixKubeletQOSClass') || isPodLevelResourcesSet(pod))
  return isPodLevel ? [resources] : [...initContainers, ...containers]
}

function qosOfSums(requirements: readonly Requirements[]): QosClass {
  let hasAny = false
  let isGuaranteed = true
  for (const resource of qosResources) {
    const requests = positiveAmounts(requirements.map(({ requests }) => requests.get(resource)))
    const limits = positiveAmounts(requirements.map(({ limits }) => limits.get(resource)))
    const [request, limit] = [requests.reduce(sum, null), limits.reduce(sum, null)]
    hasAny ||= request !== null || limit !== null
    isGuaranteed &&=
      request !== null &&
      limit !== null &&
      limits.length === requirements.length &&
      compareQuantities(request, limit) === 0
  }
  if (!hasAny) return 'BestEffort'
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

const positiveAmounts = (quantities: (Quantity | undefined)[]) =>
  quantities.filter(
    (quantity): quantity is Quantity => quantity !== undefined && signOf(quantity) > 0,
  )

/** If all containers of a pod, and both resources of each container, have one class, that is the result; else Burstable. */
function qosOfEach(requirements: readonly Requirements[]): QosClass {
  const classes = new Set(
    requirements.flatMap(resources => qosResources.map(name => resourceQos(resources, name))),
  )
  const [only = 'BestEffort'] = classes
  return classes.size > 1 ? 'Burstable' : only
}

/** Upstream: resourceQOS. */
function resourceQos({ requests, limits }: Requirements, name: string): QosClass {
  const request = requests.get(name) ?? noQuantity
  if (compareQuantities(request, limits.get(name) ?? noQuantity) !== 0) return 'Burstable'
  return signOf(request) === 0 ? 'BestEffort' : 'Guaranteed'
}
