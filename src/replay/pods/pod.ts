/**
 * A pod as the replays need it: read once from its manifest, whatever shape that came in, and trusted after.
 *
 * What is malformed is left out, as if the manifest did not have it; an API server would never have taken it.
 */
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { parseQuantity, type Quantity } from '#model/quantity.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { objectOf, objectsOf, textOf } from '#replay/untrusted.ts'

/** By resource name: `memory`, `ephemeral-storage`, … */
export type ResourceList = ReadonlyMap<string, Quantity>

/** As much of a resource list as is asked of a pod's. */
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

/** Null where it is no pod at all: no object, or one without a name. */
export function parsePod(raw: unknown): Pod | null {
  const pod = objectOf(raw)
  const metadata = objectOf(pod?.metadata)
  const name = textOf(metadata?.name)
  if (name === null) return null
  const spec = objectOf(pod?.spec)
  const status = objectOf(pod?.status)
  const annotations = objectOf(metadata?.annotations)
  const resources = objectOf(spec?.resources)
  return {
    namespace: textOf(metadata?.namespace) ?? 'default',
    name,
    uid: textOf(metadata?.uid) ?? '',
    priority: integerOf(spec?.priority) ?? 0,
    priorityClassName: textOf(spec?.priorityClassName) ?? '',
    containers: objectsOf(spec?.containers).map(parseContainer),
    initContainers: objectsOf(spec?.initContainers).map(parseContainer),
    resources: resources && {
      requests: resourceList(resources.requests),
      limits: resourceList(resources.limits),
    },
    overhead: resourceList(spec?.overhead),
    volumes: objectsOf(spec?.volumes).map(parseVolume),
    tolerations: objectsOf(spec?.tolerations).map(parseToleration),
    terminationGracePeriodSeconds: integerOf(spec?.terminationGracePeriodSeconds),
    deletionTimestamp: textOf(metadata?.deletionTimestamp),
    deletionGracePeriodSeconds: integerOf(metadata?.deletionGracePeriodSeconds),
    source: textOf(annotations?.['kubernetes.io/config.source']) ?? 'api',
    isMirror: textOf(annotations?.['kubernetes.io/config.mirror']) !== null,
    phase: textOf(status?.phase),
    hasRunningContainer:
      anyRuns(status?.containerStatuses) ||
      anyRuns(status?.initContainerStatuses) ||
      anyRuns(status?.ephemeralContainerStatuses),
    isTerminated:
      textOf(metadata?.deletionTimestamp) !== null && haveEnded(status?.containerStatuses),
    qosClass: textOf(status?.qosClass),
  }
}

const haveEnded = (containerStatuses: unknown): boolean => {
  const statuses = objectsOf(containerStatuses)
  return (
    statuses.length > 0 &&
    statuses.every(({ state }) => isRawObject(state) && isRawObject(state.terminated))
  )
}

const anyRuns = (containerStatuses: unknown): boolean =>
  objectsOf(containerStatuses).some(({ state }) => isRawObject(state) && isRawObject(state.running))

/**
 * What the eviction manager looks at: no pod that has ended, unless something of it still runs.
 * Upstream: pkg/kubelet/kubelet_pods.go GetActivePods, filterOutInactivePods.
 */
export const isActive = ({ phase, hasRunningContainer, isTerminated }: Pod): boolean =>
  hasRunningContainer || (!isTerminalPhase(phase) && !isTerminated)

function parseContainer(raw: RawObject): PodContainer {
  const resources = objectOf(raw.resources)
  return {
    name: textOf(raw.name) ?? '',
    requests: resourceList(resources?.requests),
    limits: resourceList(resources?.limits),
    isSidecar: raw.restartPolicy === 'Always',
  }
}

function parseVolume(raw: RawObject): PodVolume {
  const emptyDir = objectOf(raw.emptyDir)
  const medium = textOf(emptyDir?.medium) ?? ''
  return {
    name: textOf(raw.name) ?? '',
    emptyDir: emptyDir && {
      isMemory: medium === 'Memory',
      sizeLimit: quantityOf(emptyDir.sizeLimit),
    },
    isLocal:
      (emptyDir !== null && medium === '') ||
      isRawObject(raw.configMap) ||
      isRawObject(raw.gitRepo) ||
      isRawObject(raw.hostPath),
    imageReference: textOf(objectOf(raw.image)?.reference),
  }
}

const parseToleration = (raw: RawObject): Toleration => ({
  key: textOf(raw.key) ?? '',
  operator: textOf(raw.operator) ?? '',
  value: textOf(raw.value) ?? '',
  effect: textOf(raw.effect) ?? '',
})

const noResources: PodResources = new Map()

const resourceList = (raw: unknown): PodResources =>
  isRawObject(raw) ? new WrittenResources(raw) : noResources

/** Quantities as a manifest has them, parsed one by one when they are asked for: most never are. */
class WrittenResources implements PodResources {
  private readonly written: RawObject

  constructor(written: RawObject) {
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

/** Few quantities are written in a fleet's manifests, and often: parsed ones are kept, as many as these. */
const keptQuantities = 4096
const parsedQuantities = new Map<string | number, Quantity | null>()

/** A manifest may write a quantity as a bare number. */
function quantityOf(value: unknown): Quantity | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const known = parsedQuantities.get(value)
  if (known !== undefined) return known
  const parsed = parsedOrNull(String(value).trim())
  if (parsedQuantities.size >= keptQuantities) parsedQuantities.clear()
  parsedQuantities.set(value, parsed)
  return parsed
}

function parsedOrNull(text: string): Quantity | null {
  try {
    return parseQuantity(text)
  } catch {
    return null
  }
}

const integerOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null
