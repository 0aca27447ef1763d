/**
 * A node whose disk fills, hour by hour: when image GC runs, when conditions come and go, who is evicted, until nothing more can be done.
 *
 * Replays       the loops of pkg/kubelet/kubelet.go  StartGarbageCollection (5 min), pkg/kubelet/eviction/eviction_manager.go  Start (10 s),
 *               by their own replays: image-gc/collector.ts, eviction/synchronize.ts
 * Kept exactly  the clocks: eviction every 10 s, and again at once after an eviction; image GC every 5 min, and once at the start
 * Left out      pulls, restarts, pods that owners put in the place of evicted ones: nothing comes new
 *
 * Assumed       a deletion frees as many bytes as the kubelet counts; no pod of the node fills the disk
 */
import type { ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import { evictionMonitoringPeriodMs, imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { Observation, PodName, Signal, TimelineEvent } from '#model/prediction.ts'
import { quantityNumber } from '#model/quantity.ts'
import type { FilesystemName, Fill } from '#model/what-if.ts'
import { type EvictionState, startEviction } from './eviction/bookkeeping.ts'
import type { EvictionConfig } from './eviction/config.ts'
import { type DiskLayout, placementOf } from './eviction/layout.ts'
import type { Observations } from './eviction/observations.ts'
import { isCriticalPod } from './eviction/protected.ts'
import type { NodeCondition } from './eviction/signals.ts'
import { type Eviction, type Outcome, synchronize } from './eviction/synchronize.ts'
import { getThresholdQuantity } from './eviction/thresholds.ts'
import { deleteUnusedImages, garbageCollect } from './image-gc/collector.ts'
import type { ImageGcPolicy } from './image-gc/policy.ts'
import type { ImageGcState, RuntimeImages } from './image-gc/records.ts'
import type { Kubelet } from './kubelet.ts'
import type { Pod } from './pods/pod.ts'
import { type PodStatsIndex, podStatsOf } from './pods/pod-stats.ts'

export const timelineMs = 24 * 60 * 60_000

/** Stands for every container that has ended. */
export const deadUser = ''

/** An image, with whatever of its past is not known already decided on. */
export interface TimelineImage {
  id: string
  sizeBytes: number
  isPinned: boolean
  /** In use by something that no eviction ends. */
  isHeld: boolean
  /** `namespace/name` of the pods whose containers use it; `deadUser` for containers that eviction's container GC removes. */
  pods: readonly string[]
  firstDetectedMs: number
  lastUsedMs: number
}

export interface TimelineInput {
  startMs: number
  kubelet: Kubelet
  eviction: EvictionConfig
  /** Null: the loop does not run; eviction deletes by `minimumAgeMs` alone. */
  imageGc: ImageGcPolicy | null
  evictionImageGc: ImageGcPolicy
  layout: DiskLayout
  observations: Observations
  fills: readonly Fill[]
  pods: readonly Pod[]
  podStats: PodStatsIndex
  images: readonly TimelineImage[]
  /** What eviction's container GC would remove at first. */
  deadContainers: number
  /** When the loop of image GC began. */
  beganGcMs: number
  /** What the node reports at the start. */
  conditions: readonly NodeCondition[]
}

interface Disk {
  name: FilesystemName
  capacityBytes: number
  availableBytes: number
  bytesPerSecond: number
  isFull: boolean
}

interface World {
  input: TimelineInput
  disks: Record<FilesystemName, Disk>
  nowMs: number
  pods: Pod[]
  images: Map<string, TimelineImage>
  imageGcState: ImageGcState
  deadContainers: number
  events: TimelineEvent[]
}

/** In the order of time. Null: no filesystem that fills is observed. */
export function timelineOf(input: TimelineInput): TimelineEvent[] | null {
  const disks = disksOf(input)
  if (disks === null) return null
  const world: World = {
    input,
    disks,
    nowMs: input.startMs,
    pods: [...input.pods],
    images: new Map(input.images.map(image => [image.id, image])),
    imageGcState: stateOf(input),
    deadContainers: input.deadContainers,
    events: [],
  }
  run(world)
  return world.events
}

function run(world: World): void {
  const { input } = world
  const endMs = input.startMs + timelineMs
  let state = startedState(input)
  let gcMs = input.imageGc ? input.startMs : Number.POSITIVE_INFINITY
  let passMs = input.startMs
  let wasMet = false
  let hasFailed = false
  while (Math.min(gcMs, passMs) < endMs) {
    if (gcMs <= passMs) {
      advance(world, gcMs)
      hasFailed = imageGcRound(world, hasFailed)
      gcMs += imageGcPeriodMs
      continue
    }
    advance(world, passMs)
    const before = state
    const passed = evictionPass(world, state)
    state = passed.state
    const isMet = state.firstObserved.length > 0
    if (wasMet && !isMet)
      push(world, { event: 'recovered', detail: { availableBytes: lowest(world).availableBytes } })
    wasMet = isMet
    if (isOver(world, passed.outcome)) break
    passMs += passed.pauseMs
    if (!isMet && state.conditions.length === 0 && before.layout !== null)
      passMs = nextCrossing(world, state, passMs, gcMs)
  }
  if (lowest(world).bytesPerSecond > 0) advance(world, endMs)
}

/** What is reported was seen just before, for all that is known. */
const startedState = ({ eviction, conditions, startMs }: TimelineInput): EvictionState => ({
  ...startEviction(eviction),
  conditions,
  conditionsLastObserved: Object.fromEntries(conditions.map(condition => [condition, startMs])),
})

/** Nothing is left that the kubelet could take: from here on the disk just fills. */
function isOver(
  { pods, images, deadContainers, imageGcState }: World,
  { evictions, candidates, isEnough }: Outcome,
): boolean {
  if (candidates.length === 0 || evictions.length > 0 || isEnough || deadContainers > 0)
    return false
  const isLeft = [...images.values()].some(
    ({ id, isHeld, isPinned, pods: users }) =>
      !isHeld && !isPinned && users.length === 0 && imageGcState.records.has(id),
  )
  return !isLeft && pods.every(isCriticalPod)
}

/** A calm kubelet passes unheard until a threshold is met: the first pass that may meet one, or the next round of image GC. */
function nextCrossing(
  world: World,
  { thresholds }: EvictionState,
  passMs: number,
  gcMs: number,
): number {
  let soonestMs = world.input.startMs + timelineMs
  for (const { signal, value } of thresholds) {
    const disk = diskOf(world, signal)
    if (disk === null || disk.bytesPerSecond === 0) continue
    const required = quantityNumber(getThresholdQuantity(value, disk.capacityBytes))
    const untilMs = (Math.max(0, disk.availableBytes - required) / disk.bytesPerSecond) * 1000
    soonestMs = Math.min(soonestMs, world.nowMs + untilMs)
  }
  const untilMs = Math.min(soonestMs, gcMs) - passMs
  return untilMs <= 0
    ? passMs
    : passMs + Math.floor(untilMs / evictionMonitoringPeriodMs) * evictionMonitoringPeriodMs
}

function push({ nowMs, input, events }: World, event: Omit<TimelineEvent, 'atMs'>): void {
  events.push({ atMs: nowMs - input.startMs, ...event } as TimelineEvent)
}

// Disks

function disksOf({
  layout,
  kubelet,
  observations,
  fills,
}: TimelineInput): Record<FilesystemName, Disk> | null {
  const nodefs = diskFrom('nodefs', observations['nodefs.available'])
  const placement = placementOf(layout, kubelet)
  const imagefs =
    placement === 'shared' ? nodefs : diskFrom('imagefs', observations['imagefs.available'])
  if (nodefs === null || imagefs === null) return null
  const disks = { nodefs, imagefs, containerfs: placement === 'split' ? nodefs : imagefs }
  for (const { filesystem, bytesPerSecond } of fills)
    disks[filesystem].bytesPerSecond += bytesPerSecond
  return disks
}

const diskFrom = (name: FilesystemName, observed: Observation | undefined): Disk | null =>
  observed
    ? {
        name,
        capacityBytes: observed.capacity,
        availableBytes: Math.max(0, observed.available),
        bytesPerSecond: 0,
        isFull: false,
      }
    : null

const disksIn = ({ disks }: World): Disk[] => [...new Set(Object.values(disks))]

const lowest = (world: World): Disk =>
  disksIn(world).reduce((least, disk) =>
    disk.availableBytes * least.capacityBytes < least.availableBytes * disk.capacityBytes
      ? disk
      : least,
  )

function diskOf({ disks }: World, signal: Signal): Disk | null {
  if (!signal.endsWith('fs.available')) return null
  return disks[signal.slice(0, -'.available'.length) as FilesystemName]
}

/** Lets the disks fill until then. */
function advance(world: World, toMs: number): void {
  const elapsedMs = toMs - world.nowMs
  for (const disk of disksIn(world)) {
    if (disk.bytesPerSecond === 0 || disk.isFull) continue
    const written = Math.floor((disk.bytesPerSecond * elapsedMs) / 1000)
    if (written < disk.availableBytes) disk.availableBytes -= written
    else {
      const untilFullMs = Math.floor((disk.availableBytes / disk.bytesPerSecond) * 1000)
      disk.availableBytes = 0
      disk.isFull = true
      world.events.push({
        atMs: world.nowMs + untilFullMs - world.input.startMs,
        event: 'full',
        detail: { filesystem: disk.name },
      })
    }
  }
  world.nowMs = toMs
}

function giveBack(disk: Disk, bytes: number): void {
  if (bytes <= 0) return
  disk.availableBytes = Math.min(disk.capacityBytes, disk.availableBytes + bytes)
  disk.isFull = false
}

function observationsOf(world: World): Observations {
  const observed: Observations = { ...world.input.observations }
  for (const signal of [
    'nodefs.available',
    'imagefs.available',
    'containerfs.available',
  ] as const) {
    const disk = diskOf(world, signal)
    // Without a time statistics count as new in every pass.
    if (observed[signal] && disk)
      observed[signal] = {
        available: disk.availableBytes,
        capacity: disk.capacityBytes,
        time: null,
      }
  }
  return observed
}

// Images

const stateOf = ({ images, beganGcMs }: TimelineInput): ImageGcState => ({
  records: new Map(
    images.map(({ id, firstDetectedMs, lastUsedMs, sizeBytes, isPinned }) => [
      id,
      { firstDetectedMs, lastUsedMs, sizeBytes, isPinned },
    ]),
  ),
  isInitialized: true,
  beganGcMs,
})

const runtimeOf = ({ images }: World): RuntimeImages => ({
  images: [...images.values()],
  inUse: new Set(
    [...images.values()]
      .filter(({ isHeld, pods }) => isHeld || pods.length > 0)
      .map(({ id }) => id),
  ),
})

function deleted(world: World, ids: readonly string[]): void {
  for (const id of ids) {
    giveBack(world.disks.imagefs, world.images.get(id)?.sizeBytes ?? 0)
    world.images.delete(id)
  }
}

/** Returns whether the round failed. Consecutive failures produce one event. */
function imageGcRound(world: World, hasFailed: boolean): boolean {
  const { input, disks } = world
  if (input.imageGc === null) return false
  const { capacityBytes, availableBytes } = disks.imagefs
  const round = garbageCollect(
    world.imageGcState,
    world.nowMs,
    input.imageGc,
    runtimeOf(world),
    { capacityBytes, availableBytes },
    input.kubelet,
  )
  const images = round.deleted.map(({ id }) => id)
  deleted(world, images)
  if (images.length > 0 || (round.error !== null && !hasFailed)) {
    const bytesToFree = Math.max(
      0,
      Math.trunc((capacityBytes * (100 - input.imageGc.lowThresholdPercent)) / 100) -
        availableBytes,
    )
    push(world, {
      event: 'imageGC',
      detail: { images, bytesToFree, freedBytes: round.freedBytes, error: round.error },
    })
  }
  return round.error !== null
}

// Eviction

function evictionPass(
  world: World,
  state: EvictionState,
): { state: EvictionState; outcome: Outcome; pauseMs: number } {
  const { eviction: config, kubelet, layout, podStats } = world.input
  const collected = { images: [] as string[], containers: 0 }
  const passed = synchronize(state, {
    nowMs: world.nowMs,
    observations: observationsOf(world),
    pods: world.pods,
    podStats,
    layout,
    config,
    kubelet,
    reclaim: kinds => reclaim(world, kinds, collected),
  })
  const { outcome } = passed
  for (const condition of outcome.conditions)
    if (!state.conditions.includes(condition))
      push(world, { event: 'condition', detail: { condition, status: true } })
  if (outcome.picked && (collected.images.length > 0 || collected.containers > 0))
    push(world, {
      event: 'reclaim',
      detail: { signal: outcome.picked.signal, ...collected, isEnough: outcome.isEnough },
    })
  for (const eviction of outcome.evictions) evict(world, eviction)
  for (const condition of state.conditions)
    if (!outcome.conditions.includes(condition))
      push(world, { event: 'condition', detail: { condition, status: false } })
  return { ...passed, pauseMs: pauseAfter(outcome.evictions) }
}

function reclaim(
  world: World,
  kinds: readonly ReclaimKind[],
  collected: { images: string[]; containers: number },
): Observations {
  if (kinds.includes('containers')) {
    collected.containers = world.deadContainers
    world.deadContainers = 0
    dropUser(world, deadUser)
  }
  if (kinds.includes('images')) {
    const round = deleteUnusedImages(
      world.imageGcState,
      world.nowMs,
      world.input.evictionImageGc,
      runtimeOf(world),
      world.input.kubelet,
    )
    collected.images = round.deleted.map(({ id }) => id)
    deleted(world, collected.images)
  }
  return observationsOf(world)
}

function dropUser({ images }: World, name: string): void {
  for (const image of images.values())
    if (image.pods.includes(name))
      images.set(image.id, { ...image, pods: image.pods.filter(user => user !== name) })
}

/** What the pod's files took is free at once: the kubelet waits for that before it passes again. */
function evict(world: World, { pod, signal, exceeded }: Eviction): void {
  const name = nameOf(pod)
  const { containers, volumes } = podStatsOf(world.input.podStats, pod) ?? {
    containers: [],
    volumes: [],
  }
  const rootfsBytes = sum(containers.map(({ rootfs }) => rootfs.usedBytes))
  const isLocal = (volume: string) =>
    pod.volumes.some(known => known.name === volume && known.isLocal)
  const otherBytes = sum([
    ...containers.map(({ logs }) => logs.usedBytes),
    ...volumes.filter(volume => isLocal(volume.name)).map(({ usedBytes }) => usedBytes),
  ])
  giveBack(world.disks.containerfs, rootfsBytes)
  giveBack(world.disks.nodefs, otherBytes)
  world.pods = world.pods.filter(other => other !== pod)
  dropUser(world, name)
  const detail = {
    namespace: pod.namespace,
    name: pod.name,
    signal: signal ?? exceeded?.limit ?? '',
    freedBytes: rootfsBytes + otherBytes,
  }
  push(world, { event: 'evict', detail })
}

const nameOf = ({ namespace, name }: PodName) => `${namespace}/${name}`
const sum = (values: readonly (number | null)[]) =>
  values.reduce<number>((total, value) => total + Math.max(0, value ?? 0), 0)

/** After an eviction the next pass follows the pods' end, found by a look each second. */
const pauseAfter = (evictions: readonly Eviction[]): number =>
  evictions.length === 0
    ? evictionMonitoringPeriodMs
    : evictions.reduce((total, { gracePeriodSeconds }) => total + gracePeriodSeconds * 1000, 1000)
