/** A pod as the replays need it, of its manifest and its status. */

import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import type {
  ContainerSpec,
  ContainerStatus,
  KubernetesPod,
  PodSpec,
  VolumeSource,
} from '#model/kubernetes.ts'
import { oncePerText } from '#model/once.ts'
import { parseQuantity, type Quantity } from '#model/quantity.ts'

/** By resource name: `memory`, `ephemeral-storage`, … */
export type ResourceList = ReadonlyMap<string, Quantity>

/** The resources of a pod that are read. */
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

export interface PodVolume {
  name: string
  emptyDir: { isMemory: boolean; sizeLimit: Quantity | null } | null
  /** An emptyDir on disk, a configMap, a gitRepo or a hostPath: the volumes that upstream counts as local. */
  isLocal: boolean
  /** An image mounted as a volume, by its reference. */
  imageReference: string | null
}

export interface Toleration {
  key: string
  operator: string
  value: string
  effect: string
}

export interface Pod {
  namespace: string
  name: string
  uid: string
  /** 0 where the manifest has none. */
  priority: number
  priorityClassName: string
  containers: readonly PodContainer[]
  initContainers: readonly PodContainer[]
  /** `spec.resources`; null where there is none. */
  resources: { requests: PodResources; limits: PodResources } | null
  overhead: PodResources
  volumes: readonly PodVolume[]
  tolerations: readonly Toleration[]
  terminationGracePeriodSeconds: number | null
  /** Both only of a pod that is being deleted. */
  deletionTimestamp: string | null
  deletionGracePeriodSeconds: number | null
  /** `api` where no annotation says otherwise. Upstream: pkg/kubelet/types GetPodSource. */
  source: string
  isMirror: boolean
  phase: string | null
  /** Whether a container of it is reported as running. */
  hasRunningContainer: boolean
  /** Whether it is being deleted and all of its containers have ended. */
  isTerminated: boolean
  /** Upstream's `status.qosClass`; null where it is not set. */
  qosClass: string | null
}

/** Null where it has no name. */
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
    tolerations: (spec?.tolerations ?? []).map(parseToleration),
    terminationGracePeriodSeconds: integerOf(spec?.terminationGracePeriodSeconds),
    deletionTimestamp: metadata?.deletionTimestamp ?? null,
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

const haveEnded = (statuses: Statuses = []): boolean =>
  statuses.length > 0 && statuses.every(({ state }) => state?.terminated !== undefined)

const anyRuns = (statuses: Statuses = []): boolean =>
  statuses.some(({ state }) => state?.running !== undefined)

/** Over all its containers. */
export const containerStatusesOf = ({ status }: KubernetesPod): ContainerStatus[] => [
  ...(status?.containerStatuses ?? []),
  ...(status?.initContainerStatuses ?? []),
  ...(status?.ephemeralContainerStatuses ?? []),
]

/** As the runtime knows it; empty where none was made. */
export const containerIdOf = ({ containerID = '' }: ContainerStatus): string =>
  containerID.replace(/^.*:\/\//, '')

/**
 * What the eviction manager looks at: no pod that has ended, unless something of it still runs.
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
    imageReference: raw.image?.reference ?? null,
  }
}

const parseToleration = (raw: NonNullable<PodSpec['tolerations']>[number]): Toleration => ({
  key: raw.key ?? '',
  operator: raw.operator ?? '',
  value: raw.value ?? '',
  effect: raw.effect ?? '',
})

const noResources: PodResources = new Map()

type Quantities = Readonly<Record<string, string | undefined>>

const resourceList = (written: Quantities | undefined): PodResources =>
  written ? new WrittenResources(written) : noResources

/** A manifest's quantities, each parsed on first use: most are never used. */
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

  keys(): string[] {
    return Object.keys(this.written).filter(resource => this.get(resource) !== undefined)
  }
}

/** Few quantities are written in a fleet's manifests, and often. */
const parsedOrNull = oncePerText((text): Quantity | null => {
  try {
    return parseQuantity(text.trim())
  } catch {
    return null
  }
})

const quantityOf = (value: string | undefined): Quantity | null =>
  value === undefined ? null : parsedOrNull(value)

const integerOf = (value: number | undefined): number | null =>
  value !== undefined && Number.isSafeInteger(value) ? value : null
