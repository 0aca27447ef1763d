/**
 * One course of events on a node that fills, under one assumption about what no record shows.
 *
 * Replays       the loops of pkg/kubelet/kubelet.go  StartGarbageCollection (5 min), pkg/kubelet/eviction/eviction_manager.go  Start (10 s),
 *               by their own replays: image-gc/collector.ts, eviction/synchronize.ts
 * Kept exactly  eviction every 10 s, and again as soon as an evicted pod is cleaned up; image GC every 5 min; what the kubelet counts as freed
 * Left out      pulls, restarts, replacements of evicted pods
 */

import { dayMs } from '#base/units.ts'
import type { ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import {
  containerGcPeriodMs,
  evictionMonitoringPeriodMs,
  podCleanupPollMs,
  podCleanupTimeoutMs,
} from '#facts/kubelet/periods.ts'
import { startsBelowAvailableBytes } from '#model/kubelet/image-gc-trigger.ts'
import type { PodName, SpaceBounds, TimelineDetail } from '#model/prediction.ts'
import {
  type Eviction,
  type EvictionState,
  type Outcome,
  startEviction,
  synchronize,
} from '#replay/eviction/synchronize.ts'
import { type Observations, thresholdAmount } from '#replay/eviction/thresholds.ts'
import {
  deleteUnusedImages,
  detectImages,
  garbageCollect,
  type ImageGcState,
  type RuntimeImages,
} from '#replay/image-gc/collector.ts'
import type { ImageGcPolicy } from '#replay/image-gc/policy.ts'
import { amountToFree } from '#replay/image-gc/usage.ts'
import { isCriticalPod, type Pod, type PodStatsIndex, podStatsOf } from '#replay/pods.ts'
import type { Assumption } from './assumptions.ts'
import {
  deadUser,
  expiringUser,
  fillFor,
  free,
  observationsOf,
  type Resource,
  type Resources,
  resourcesOf,
  type TimelineImage,
  type TimelineInput,
  untilBelowMs,
} from './resources.ts'

export const timelineMs = dayMs

/** Steps of a pass or a round besides its pods and images. */
const stepsOfTurn = 40
/** What each course begins with: it copies each image, and sorts the pods. */
export const stepsAtStart = ({ images, pods }: TimelineInput): number =>
  40 + 8 * images.length + 4 * pods.length

/** Time that a pass, a round and a deletion take, in ms. */
const lateMs = 2_000

/** Measured usage of a pod, and what its eviction frees, differ by up to this share. */
const usageError = 0.05

export interface StoryEvent {
  /** Ms since the start of the timeline. */
  atMs: number
  /** The same event has the same key in all courses. */
  key: string
  what: TimelineDetail
}

interface World {
  input: TimelineInput
  assumption: Assumption
  resources: Resources
  observations: Observations
  /** Resources that fill. */
  filling: readonly Resource[]
  nowMs: number
  /** The course ends here. */
  endMs: number
  steps: number
  /** The same array in all courses that have evicted the same pods in the same order. */
  pods: readonly Pod[]
  images: Map<string, CourseImage>
  /** What the runtime answers about `images`. Null: they have changed. */
  runtime: RuntimeImages | null
  imageGcState: ImageGcState
  deadContainers: number
  /** What evicted pods free once they have ended. */
  owed: (() => void)[]
  isFailing: boolean
  /** Until this time no image GC round finds anything to delete, unless a pod is evicted. */
  barrenUntilMs: number
  round: number
  events: StoryEvent[]
  /** Number of events, by key without number. */
  counts: Map<string, number>
  /** The pod that was evicted last. Pressure comes and goes between evictions. */
  lastEvicted: string
}

/** One course. `untilMs`: later events are not predicted, because they would take too many steps. */
export interface Story {
  events: StoryEvent[]
  untilMs: number
  /** What the course took: ranked pods, examined images, and a few for each pass and round. */
  steps: number
}

/** Null: a resource that fills is not observed. */
export function storyOf(
  input: TimelineInput,
  assumption: Assumption,
  mostSteps: number,
): Story | null {
  const resources = resourcesOf(input.observations, input.layout, input.fills)
  if (!resources) return null
  const images = input.images.map(image => imageUnder(image, assumption, input.startMs))
  const world: World = {
    input,
    assumption,
    resources,
    observations: observationsOf(resources, input.observations),
    filling: [...new Set(resources.values())].filter(({ perSecond }) => perSecond > 0),
    nowMs: input.startMs,
    endMs: input.startMs + timelineMs,
    steps: stepsAtStart(input),
    pods: assumption.isReversed
      ? input.podStats.once(['reversed', input.pods], () => input.pods.toReversed())
      : input.pods,
    images: new Map(
      (assumption.isReversed ? images.toReversed() : images).map(one => [one.id, one]),
    ),
    runtime: null,
    imageGcState: stateOf(images, input.beganGcMs),
    deadContainers: input.deadContainers,
    owed: [],
    isFailing: false,
    barrenUntilMs: 0,
    round: assumption.firstRound,
    events: [],
    counts: new Map(),
    lastEvicted: '',
  }
  run(world, mostSteps)
  return { events: world.events, untilMs: world.endMs - input.startMs, steps: world.steps }
}

function run(world: World, mostSteps: number) {
  const { input } = world
  let state = startedState(input)
  let passMs = input.startMs + world.assumption.firstPassMs
  let expiryMs = input.images.some(({ pods }) => pods.includes(expiringUser))
    ? expiryOf(world)
    : Number.POSITIVE_INFINITY
  let wasMet = false
  for (;;) {
    const gcMs = nextRoundMs(world)
    const nextMs = Math.min(gcMs, passMs, expiryMs)
    if (nextMs >= world.endMs) break
    world.steps += stepsOfTurn
    advance(world, nextMs)
    if (expiryMs === nextMs) {
      dropUser(world, expiringUser)
      expiryMs = Number.POSITIVE_INFINITY
      continue
    }
    if (gcMs === nextMs) {
      world.steps += world.images.size
      imageGcRound(world)
      world.round++
      if (world.steps > mostSteps) world.endMs = nextMs
      continue
    }
    for (const release of world.owed.splice(0)) release()
    const passed = evictionPass(world, state)
    state = passed.state
    if (passed.outcome.candidates.length > 0) world.steps += world.pods.length + world.images.size
    if (world.steps > mostSteps) world.endMs = nextMs
    const isMet = state.firstObserved.length > 0
    if (wasMet && !isMet) push(world, `recovered ${world.lastEvicted}`, recoveryEvent(world))
    wasMet = isMet
    passMs = isReclaimOver(world, passed.outcome)
      ? nextRoundMs(world) + 1
      : nextPassMs(world, state, passed.pauseMs)
  }
  advance(world, world.endMs)
}

/** Conditions that are reported count as observed just before the start. */
const startedState = ({ eviction, conditions, startMs }: TimelineInput): EvictionState => ({
  ...startEviction(eviction),
  conditions,
  conditionsLastObserved: Object.fromEntries(conditions.map(condition => [condition, startMs])),
})

/** When container GC has removed the dead containers of the record. */
const expiryOf = ({ input, assumption }: World) =>
  input.startMs + (assumption.passes === 'prompt' ? 1 : containerGcPeriodMs)

/** Nothing is left that eviction could free: until image GC frees space, the node just fills. */
function isReclaimOver(
  { pods, images, deadContainers, imageGcState }: World,
  { evictions, candidates, isEnough, reclaimed }: Outcome,
) {
  if (candidates.length === 0 || evictions.length > 0 || isEnough) return false
  if (reclaimed.includes('containers') && deadContainers > 0) return false
  const isLeft =
    reclaimed.includes('images') &&
    [...images.values()].some(
      image => !isHeld(image) && !image.isPinned && imageGcState.records.has(image.id),
    )
  return !isLeft && pods.every(isCriticalPod)
}

// Clocks

/** The next round of image GC that might have an effect. */
function nextRoundMs(world: World) {
  const { assumption, input, resources, images, imageGcState } = world
  const policy = input.imageGc
  const isQuiet =
    imageGcState.records.size === images.size && (policy === null || policy.maximumAgeMs === 0)
  const imagefs = resources.get('imagefs.available')
  if (!isQuiet || !imagefs) return assumption.roundMs(world.round)
  if (!policy) return Number.POSITIVE_INFINITY
  const belowBytes = startsBelowAvailableBytes(imagefs.capacity, policy.highThresholdPercent)
  const triggerMs = world.nowMs + untilBelowMs(imagefs, belowBytes)
  const fromMs = Math.max(triggerMs, world.barrenUntilMs)
  if (fromMs > input.startMs + timelineMs) return Number.POSITIVE_INFINITY
  while (assumption.roundMs(world.round) < fromMs) {
    if (assumption.roundMs(world.round) < triggerMs) world.isFailing = false
    world.round++
  }
  return assumption.roundMs(world.round)
}

/** The time of the next pass. A calm kubelet's passes are skipped until something is due. */
function nextPassMs(world: World, state: EvictionState, pauseMs: number) {
  const { nowMs, assumption } = world
  const isCalm = state.firstObserved.length === 0
  const gridMs = nowMs + pauseMs
  const dueMs = Math.min(...dueTimesMs(world, state))
  if (pauseMs !== evictionMonitoringPeriodMs) return gridMs
  // The first pass after an image GC round sees its changes.
  const untilMs = Math.max(nowMs + 1, Math.min(dueMs, nextRoundMs(world) + 1))
  if (isCalm && untilMs > gridMs) {
    if (assumption.passes === 'regular') {
      const periods = Math.ceil((untilMs - nowMs) / evictionMonitoringPeriodMs)
      return nowMs + periods * evictionMonitoringPeriodMs
    }
    if (assumption.passes === 'tardy' && untilMs === dueMs)
      return dueMs + evictionMonitoringPeriodMs + lateMs
    return untilMs
  }
  if (dueMs > gridMs || dueMs <= nowMs) return gridMs
  if (assumption.passes === 'prompt') return dueMs
  return assumption.passes === 'tardy' ? dueMs + evictionMonitoringPeriodMs + lateMs : gridMs
}

/** When thresholds begin to be met, their grace periods end, and conditions end. */
function dueTimesMs({ resources, nowMs, input }: World, state: EvictionState) {
  const times: number[] = []
  for (const threshold of state.thresholds) {
    const resource = resources.get(threshold.signal)
    if (!resource) continue
    const untilMs = untilBelowMs(resource, thresholdAmount(threshold, resource.capacity))
    if (untilMs > 0) times.push(nowMs + untilMs)
  }
  for (const { threshold, atMs } of state.firstObserved)
    if (threshold.gracePeriodMs > 0) times.push(atMs + threshold.gracePeriodMs)
  if (state.firstObserved.length === 0)
    for (const condition of state.conditions)
      times.push(
        (state.conditionsLastObserved[condition] ?? nowMs) +
          input.eviction.pressureTransitionPeriodMs,
      )
  return times.filter(ms => ms > nowMs)
}

function advance(world: World, toMs: number) {
  const fromMs = world.nowMs
  fillFor(world.filling, toMs - fromMs, ({ name }, afterMs) => {
    world.nowMs = fromMs + afterMs
    push(world, `full ${name}`, { event: 'full', detail: { filesystem: name } })
  })
  world.nowMs = toMs
}

// Images

type CourseImage = TimelineImage & { isPinned: boolean }

const isHeld = ({ isHeld: isTaken, pods }: TimelineImage) => isTaken === true || pods.length > 0

/** If the least is freed, an image is kept if it might be: it may be too young, since only the next detection lists it. */
function imageUnder(image: TimelineImage, { frees }: Assumption, startMs: number): CourseImage {
  if (frees > 0)
    return { ...image, isPinned: image.isPinned === true, isHeld: image.isHeld === true }
  return {
    ...image,
    isPinned: image.isPinned !== false,
    isHeld: image.isHeld !== false,
    firstDetectedMs:
      image.firstDetectedMs === null || image.firstDetectedLatestMs >= startMs
        ? null
        : image.firstDetectedLatestMs,
  }
}

/** Images that the kubelet has not listed yet have no record: the next detection makes it. */
const stateOf = (images: CourseImage[], beganGcMs: number): ImageGcState => ({
  records: new Map(
    images.flatMap(({ id, firstDetectedMs, lastUsedMs, sizeBytes, isPinned }) =>
      firstDetectedMs === null ? [] : [[id, { firstDetectedMs, lastUsedMs, sizeBytes, isPinned }]],
    ),
  ),
  beganGcMs,
})

function runtimeOf(world: World) {
  if (world.runtime) return world.runtime
  const images = [...world.images.values()]
  world.runtime = { images, inUse: new Set(idsOf(images.filter(isHeld))) }
  return world.runtime
}

function freedSpace({ least, likely, most }: SpaceBounds, { frees }: Assumption) {
  const share = Math.abs(2 * frees - 1)
  return Math.round(likely + share * ((frees < 0.5 ? least : most) - likely))
}

function freeDeleted(world: World, ids: readonly string[]) {
  const frees = world.input.freedBy(ids)
  free(world.resources.get('imagefs.available'), freedSpace(frees.bytes, world.assumption))
  free(world.resources.get('imagefs.inodesFree'), freedSpace(frees.inodes, world.assumption))
  for (const id of ids) world.images.delete(id)
  if (ids.length > 0) world.runtime = null
  return frees.bytes
}

const idsOf = (images: readonly { id: string }[]) => images.map(({ id }) => id)

/** Consecutive failures produce one event. */
function imageGcRound(world: World) {
  const { input, nowMs, imageGcState, assumption } = world
  const imagefs = world.resources.get('imagefs.available')
  if (!input.imageGc || !imagefs) {
    detectImages(imageGcState, nowMs, runtimeOf(world), input.kubelet)
    return
  }
  const stats = { capacityBytes: imagefs.capacity, availableBytes: imagefs.available }
  const round = garbageCollect(
    imageGcState,
    nowMs,
    input.imageGc,
    runtimeOf(world),
    old => {
      freeDeleted(world, idsOf(old))
      stats.availableBytes = imagefs.available
      return stats
    },
    input.kubelet,
  )
  const images = idsOf(round.deleted)
  const bytesToFree = Math.max(
    0,
    amountToFree({ ...stats, usagePercent: 0 }, input.imageGc.lowThresholdPercent),
  )
  if (images.length > 0 || (round.error !== null && !world.isFailing)) {
    const frees = input.freedBy(images).bytes
    freeDeleted(world, idsOf(round.deleted.filter(({ reason }) => reason === 'space')))
    const detail = { images, bytesToFree, freedBytes: round.freedBytes, frees, error: round.error }
    const what: TimelineDetail = { event: 'imageGC', detail }
    const number = world.round - assumption.firstRound
    push(world, input.gcLoopStart ? `imageGC round ${world.round}` : `imageGC ${number}`, what)
  }
  world.isFailing = round.error !== null
  if (world.isFailing && images.length === 0)
    world.barrenUntilMs = nextMinimumAgeMs(world, input.imageGc)
}

/** When the next unused image reaches the minimum age; infinite: no such image. */
function nextMinimumAgeMs(world: World, { minimumAgeMs }: ImageGcPolicy) {
  const times = [...world.images.values()].flatMap(image => {
    const record = world.imageGcState.records.get(image.id)
    const isCandidate = record && !record.isPinned && !isHeld(image)
    return isCandidate ? [record.firstDetectedMs + minimumAgeMs] : []
  })
  return Math.min(...times.filter(ms => ms > world.nowMs))
}

/** Removes a user from its images. Each image was last used when a detection last saw that user. */
function dropUser(world: World, name: string) {
  const detectedMs = world.assumption.roundMs(world.round - 1)
  for (const image of world.images.values()) {
    if (!image.pods.includes(name)) continue
    world.barrenUntilMs = 0
    world.runtime = null
    world.images.set(image.id, { ...image, pods: image.pods.filter(user => user !== name) })
    const record = world.imageGcState.records.get(image.id)
    if (record && detectedMs > world.input.startMs)
      record.lastUsedMs = Math.max(record.lastUsedMs, detectedMs)
  }
}

// Eviction

function evictionPass(world: World, state: EvictionState) {
  const { eviction: config, kubelet, layout, podStats } = world.input
  const collected: Collected = {
    images: [],
    containers: 0,
    frees: { least: 0, likely: 0, most: 0 },
  }
  const { state: after, outcome } = synchronize(state, {
    nowMs: world.nowMs,
    observations: world.observations,
    pods: world.pods,
    podStats,
    layout,
    config,
    kubelet,
    reclaim: kinds => reclaim(world, kinds, collected),
  })
  const pushConditions = (from: readonly string[], notIn: readonly string[], status: boolean) => {
    for (const condition of from.filter(one => !notIn.includes(one)))
      push(world, `condition ${condition} ${status} ${world.lastEvicted}`, {
        event: 'condition',
        detail: { condition, status },
      })
  }
  pushConditions(outcome.conditions, state.conditions, true)
  const { picked, isEnough } = outcome
  if (picked && (collected.images.length > 0 || collected.containers > 0))
    push(world, `reclaim ${world.lastEvicted}`, {
      event: 'reclaim',
      detail: { signal: picked.signal, ...collected, isEnough },
    })
  for (const eviction of outcome.evictions) evict(world, eviction)
  pushConditions(state.conditions, outcome.conditions, false)
  return { state: after, outcome, pauseMs: pauseAfterMs(outcome.evictions, world.assumption) }
}

type Collected = Omit<
  Extract<TimelineDetail, { event: 'reclaim' }>['detail'],
  'signal' | 'isEnough'
>

function reclaim(world: World, kinds: readonly ReclaimKind[], collected: Collected) {
  const { input, nowMs, imageGcState } = world
  if (kinds.includes('containers')) {
    collected.containers = world.deadContainers
    world.deadContainers = 0
    dropUser(world, deadUser)
    dropUser(world, expiringUser)
  }
  if (kinds.includes('images')) {
    const round = deleteUnusedImages(
      imageGcState,
      nowMs,
      input.evictionImageGc,
      runtimeOf(world),
      input.kubelet,
    )
    collected.images = idsOf(round.deleted)
    collected.frees = freeDeleted(world, collected.images)
  }
  return world.observations
}

/** The next pass finds the pod's space free, because the kubelet waits for that. A pod that ends slowly holds its space until then. */
function evict(world: World, { pod, signal, exceeded }: Eviction) {
  const { resources, input, assumption } = world
  const { podStats } = input
  const used = podStats.once(['usage', pod], () => usageOf(pod, podStats))
  const factor = 1 + usageError * (2 * assumption.frees - 1)
  const freeShare = (resource: Resource | undefined, amount: number) =>
    free(resource, Math.round(amount * factor))
  const release = () => {
    freeShare(resources.get('containerfs.available'), used.layers.bytes)
    freeShare(resources.get('containerfs.inodesFree'), used.layers.inodes)
    freeShare(resources.get('nodefs.available'), used.files.bytes)
    freeShare(resources.get('nodefs.inodesFree'), used.files.inodes)
    freeShare(resources.get('memory.available'), used.memoryBytes)
    freeShare(resources.get('allocatableMemory.available'), used.memoryBytes)
    freeShare(resources.get('pid.available'), used.processes)
  }
  if (assumption.cleanupShare) world.owed.push(release)
  else release()
  const { pods } = world
  world.pods = podStats.once(['without', pods, pod], () => pods.filter(other => other !== pod))
  dropUser(world, nameOf(pod))
  const detail = {
    namespace: pod.namespace,
    name: pod.name,
    signal: signal ?? exceeded?.limit ?? '',
    freedBytes: used.layers.bytes + used.files.bytes,
    freedInodes: used.layers.inodes + used.files.inodes,
    freedMemoryBytes: used.memoryBytes,
    freedProcesses: used.processes,
  }
  world.lastEvicted = nameOf(pod)
  push(world, `evict ${nameOf(pod)}`, { event: 'evict', detail })
}

function usageOf(pod: Pod, podStats: PodStatsIndex) {
  const stats = podStatsOf(podStats, pod)
  const { containers = [], volumes = [] } = stats ?? {}
  const localNames = new Set(pod.volumes.flatMap(({ name, isLocal }) => (isLocal ? name : [])))
  const local = volumes.filter(({ name }) => localNames.has(name))
  const layers = containers.map(({ rootfs }) => rootfs)
  const files = [...containers.map(({ logs }) => logs), ...local]
  const sumUse = (all: readonly { usedBytes: number | null; inodesUsed: number | null }[]) => ({
    bytes: sum(all.map(({ usedBytes }) => usedBytes)),
    inodes: sum(all.map(({ inodesUsed }) => inodesUsed)),
  })
  return {
    layers: sumUse(layers),
    files: sumUse(files),
    memoryBytes: sum([stats?.memory?.workingSetBytes ?? null]),
    processes: sum([stats?.processCount ?? null]),
  }
}

const nameOf = ({ namespace, name }: PodName) => `${namespace}/${name}`
const sum = (values: readonly (number | null)[]) =>
  values.reduce<number>((total, value) => total + Math.max(0, value ?? 0), 0)

/**
 * The pause after a pass. After an eviction the kubelet polls each second until pods have ended.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  Start, evictPod, waitForPodsCleanup;  pkg/kubelet/pod_workers.go  killPodNow
 * Kept exactly  pods are killed one after another, each within its timeout; then the kubelet waits once for their clean-up, for 30 s at most
 */
function pauseAfterMs(evictions: readonly Eviction[], { cleanupShare }: Assumption) {
  if (evictions.length === 0) return evictionMonitoringPeriodMs
  if (cleanupShare === null)
    return podCleanupPollMs + sum(evictions.map(one => one.gracePeriodSeconds * 1000))
  const longestMs = podCleanupTimeoutMs + sum(evictions.map(one => one.killTimeoutMs))
  return podCleanupPollMs + Math.round(cleanupShare * (longestMs - podCleanupPollMs))
}

// Events

/** The recovery event, with the available bytes of the fullest disk. */
function recoveryEvent({ resources }: World): TimelineDetail {
  const disks = (['nodefs.available', 'imagefs.available'] as const).flatMap(
    signal => resources.get(signal) ?? [],
  )
  const lowest = disks.reduce((least, disk) =>
    disk.available * least.capacity < least.available * disk.capacity ? disk : least,
  )
  return { event: 'recovered', detail: { availableBytes: lowest.available } }
}

/** An event that can happen several times is numbered. */
function push(world: World, name: string, what: TimelineDetail) {
  const number = (world.counts.get(name) ?? 0) + 1
  world.counts.set(name, number)
  world.events.push({ atMs: world.nowMs - world.input.startMs, key: `${name} ${number}`, what })
}
