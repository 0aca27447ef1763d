/** Resources that can run out on a node: bytes and inodes of filesystems, memory, processes. */

import type { FilesystemName, Fill, FillTarget } from '#model/plan.ts'
import type { NodeCondition, Observation, Signal } from '#model/prediction.ts'
import {
  type DiskLayout,
  type EvictionConfig,
  type Observations,
  placementOf,
} from '#replay/eviction/thresholds.ts'
import type { ImageGcPolicy } from '#replay/image-gc/policy.ts'
import type { FreedBy } from '#replay/image-gc/unpacked-bytes.ts'
import type { Pod, PodStatsIndex } from '#replay/pods.ts'
import type { Kubelet, TimeBounds } from '#replay/times.ts'

/* The input of a timeline. */

/** Stands for dead containers that only eviction's container GC removes. */
export const deadUser = ''

/** Stands for dead containers that the container GC of every minute removes. */
export const expiringUser = ' '

export interface TimelineImage {
  id: string
  sizeBytes: number
  /** Null: unknown. */
  isPinned: boolean | null
  /** True: a user that no eviction ends uses the image. Null: unknown. */
  isHeld: boolean | null
  /** Users of the image: pods as `namespace/name`, `deadUser`, `expiringUser`. */
  pods: readonly string[]
  /** Null: the kubelet has not listed it yet. */
  firstDetectedMs: number | null
  firstDetectedLatestMs: number
  lastUsedMs: number
}

export interface TimelineInput {
  startMs: number
  kubelet: Kubelet
  eviction: EvictionConfig
  /** Null: the loop does not run. Eviction then uses only `minimumAgeMs`. */
  imageGc: ImageGcPolicy | null
  evictionImageGc: ImageGcPolicy
  layout: DiskLayout
  observations: Partial<Record<Signal, Observation>>
  fills: readonly Fill[]
  /** Only the first assumption is followed, so the events have no bounds. */
  isLikelyCourse: boolean
  pods: readonly Pod[]
  podStats: PodStatsIndex
  images: readonly TimelineImage[]
  freedBy: FreedBy
  /** Number of containers that eviction's first container GC would remove. */
  deadContainers: number
  /** When the image GC loop began, in ms since 1970. */
  beganGcMs: number
  /** Null: unknown. */
  gcLoopStart: TimeBounds | null
  /** Conditions that the node reports at the start. */
  conditions: readonly NodeCondition[]
}

/** It is what the kubelet observes of it at any time. Without a time, each pass takes it as new. */
export interface Resource extends Observation {
  name: FillTarget
  time: null
  perSecond: number
  isFull: boolean
}

/** By signal. Signals of one disk share one resource. */
export type Resources = ReadonlyMap<Signal, Resource>

const filesystems: readonly FilesystemName[] = ['nodefs', 'imagefs', 'containerfs']

/** Null: a filesystem, or a resource that fills, is not observed. */
export function resourcesOf(
  observations: Observations,
  layout: DiskLayout,
  fills: readonly Fill[],
): Resources | null {
  const resources = new Map<Signal, Resource>()
  const take = (signal: Signal, name: FillTarget, shared?: Resource) => {
    const observed = observations[signal]
    const resource = shared ?? (observed ? resourceFrom(name, observed) : undefined)
    if (resource) resources.set(signal, resource)
  }
  const placement = placementOf(layout)
  for (const [suffix, part] of [
    ['available', ''],
    ['inodesFree', '.inodes'],
  ] as const) {
    take(`nodefs.${suffix}`, `nodefs${part}`)
    const nodefs = resources.get(`nodefs.${suffix}`)
    take(`imagefs.${suffix}`, `imagefs${part}`, placement === 'shared' ? nodefs : undefined)
    const containers = placement === 'split' ? nodefs : resources.get(`imagefs.${suffix}`)
    take(`containerfs.${suffix}`, `containerfs${part}`, containers)
  }
  take('memory.available', 'memory')
  take('allocatableMemory.available', 'memory')
  take('pid.available', 'pids')
  if (!resources.has('nodefs.available') || !resources.has('imagefs.available')) return null
  for (const { target, perSecond } of fills) {
    const filled = new Set(signalsOf(target).flatMap(signal => resources.get(signal) ?? []))
    if (filled.size === 0) return null
    for (const resource of filled) resource.perSecond += perSecond
  }
  return resources
}

const resourceFrom = (name: FillTarget, { capacity, available }: Observation): Resource => ({
  name,
  capacity,
  time: null,
  available: Math.max(0, available),
  perSecond: 0,
  isFull: false,
})

/** Memory used by pods reduces both signals. */
function signalsOf(target: FillTarget): Signal[] {
  if (target === 'memory') return ['memory.available', 'allocatableMemory.available']
  if (target === 'pids') return ['pid.available']
  const filesystem = filesystems.find(name => target.startsWith(name)) ?? 'nodefs'
  return [target.endsWith('.inodes') ? `${filesystem}.inodesFree` : `${filesystem}.available`]
}

/** Fills all resources for `elapsedMs`. Reports each that is full by then, and when, in ms. */
export function fillFor(
  resources: Iterable<Resource>,
  elapsedMs: number,
  onFull: (resource: Resource, afterMs: number) => void,
): void {
  for (const resource of resources) {
    const { perSecond, available, isFull } = resource
    if (isFull) continue
    const taken = Math.floor((perSecond * elapsedMs) / 1000)
    resource.available = Math.max(0, available - taken)
    if (taken < available) continue
    resource.isFull = true
    onFull(resource, Math.floor((available / perSecond) * 1000))
  }
}

export function free(resource: Resource | undefined, amount: number): void {
  if (!resource || amount <= 0) return
  resource.available = Math.min(resource.capacity, resource.available + amount)
  resource.isFull = false
}

/** What the kubelet observes: the resources as they change, and the rest as it was read. */
export const observationsOf = (resources: Resources, read: Observations): Observations => ({
  ...read,
  ...Object.fromEntries([...resources].filter(([signal]) => Object.hasOwn(read, signal))),
})

/** Time until less than `required` is available; infinite if it never is. */
export const untilBelowMs = (
  { available, perSecond, isFull }: Resource,
  required: number,
): number => {
  if (available < required) return 0
  if (perSecond === 0 || isFull) return Number.POSITIVE_INFINITY
  return Math.ceil(((available - required + 1) / perSecond) * 1000)
}
