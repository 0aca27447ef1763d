/** A pod as the replays need it, parsed from its manifest and its status. */

import { type Quantity, quantityOrNull } from '#base/go/quantity.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import type {
  ContainerSpec,
  ContainerStatus,
  KubernetesPod,
  VolumeSource,
} from '#model/input/record.ts'

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
