import { parseDuration, toMilliseconds } from '#base/go/duration.ts'
import {
  type Deleted,
  deleteUnusedImages,
  detectImages,
  garbageCollect,
  type ImageGcRound,
  type ImageGcState,
  type RuntimeImages,
} from '#replay/image-gc/collector.ts'
import { type ImageGcPolicy, imageGcPolicyError } from '#replay/image-gc/policy.ts'
import { type Kubelet, kubeletOf } from '#replay/times.ts'
import type { Family } from './family.ts'

interface Image {
  id: string
  sizeBytes: number
  pinned?: boolean
}

interface Step {
  atMs: number
  action: 'detect' | 'garbageCollect' | 'deleteUnusedImages'
  pull?: string[]
  removedByOthers?: string[]
  inUse?: string[]
  imageVolumes?: string[]
  removeErrors?: string[]
  imageFs?: { capacityBytes?: number | null; availableBytes?: number | null; error?: string }
}

interface Input {
  policy: {
    imageGCHighThresholdPercent: number
    imageGCLowThresholdPercent: number
    imageMinimumGCAge: string
    imageMaximumGCAge: string
  }
  images: Image[]
  steps: Step[]
}

type Times = Pick<Deleted, 'lastUsedMs' | 'firstDetectedMs'>

/** One of the ways that upstream may have gone so far. */
interface World {
  state: ImageGcState
  present: string[]
  steps: unknown[]
}

export const imageGc: Family<Input> = {
  name: 'image-gc',
  answer({ policy: given, images, steps }, version) {
    const kubelet = kubeletOf(version)
    // The vectors hand the maximum age to the manager itself, behind its gate.
    const policy: ImageGcPolicy = {
      highThresholdPercent: given.imageGCHighThresholdPercent,
      lowThresholdPercent: given.imageGCLowThresholdPercent,
      minimumAgeMs: toMilliseconds(parseDuration(given.imageMinimumGCAge)),
      maximumAgeMs: toMilliseconds(parseDuration(given.imageMaximumGCAge)),
    }
    const policyError = imageGcPolicyError(policy)
    if (policyError !== null) return { policyError }

    let worlds: World[] = [{ state: { records: new Map(), beganGcMs: 0 }, present: [], steps: [] }]
    for (const step of steps) {
      worlds = worlds.flatMap(world => {
        const gone = new Set(step.removedByOthers)
        const present = [
          ...world.present,
          ...(step.pull ?? []).filter(id => !world.present.includes(id)),
        ].filter(id => !gone.has(id))
        const listed = images.filter(({ id }) => present.includes(id))
        return worldsAfter({ ...world, present }, step, listed, policy, kubelet)
      })
    }
    const answers = worlds.map(({ steps: told, present }) => ({
      steps: told,
      remaining: [...present].sort(),
    }))
    return answers.length === 1 ? answers[0] : { anyOf: answers }
  },
}

/** Where equals are cut by what is wanted, or fail to go, upstream's map decides which of them, and in what order: each may be the one. */
function worldsAfter(
  world: World,
  step: Step,
  listed: Image[],
  policy: ImageGcPolicy,
  kubelet: Kubelet,
): World[] {
  const { equals, ...usual } = worldAfter(world, step, listed, policy, kubelet)
  if (equals.length === 0) return [usual]
  const ways = new Map<string, World>()
  for (const order of ordersOf(equals)) {
    const { equals: _, ...next } = worldAfter(
      inOrder(world, order),
      step,
      sorted(listed, order),
      policy,
      kubelet,
    )
    ways.set(JSON.stringify([[...next.present].sort(), next.steps.at(-1)]), next)
  }
  return [...ways.values()]
}

const sorted = (images: Image[], order: string[]) =>
  images.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id))

function inOrder(world: World, order: string[]): World {
  const records = [...world.state.records].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
  return { ...world, state: { ...world.state, records: new Map(records) } }
}

/** `equals`: groups of ids whose order upstream leaves to chance, where it decides more than the order of deletion. */
function worldAfter(
  world: World,
  step: Step,
  listed: Image[],
  policy: ImageGcPolicy,
  kubelet: Kubelet,
): World & { equals: string[][] } {
  const records = new Map([...world.state.records].map(([id, record]) => [id, { ...record }]))
  const state = { ...world.state, records }
  const round = act(state, step, listed, policy, kubelet)
  const deleted = round.deleted.map(({ id }) => id)
  const unordered = groupsOfEquals(round.deleted).length > 0
  const left = [...records].map(([id, record]) => ({ id, ...record }))
  // What was deleted has no record left; the other half of a group that is cut still has.
  const isByChance = (group: string[]) =>
    group.some(id => step.removeErrors?.includes(id)) ||
    (group.some(id => records.has(id)) && group.some(id => !records.has(id)))
  return {
    state,
    present: world.present.filter(id => !deleted.includes(id)),
    steps: [
      ...world.steps,
      {
        deleted: unordered ? deleted.sort() : deleted,
        unordered,
        freedBytes: round.deleted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        error: round.error,
      },
    ],
    equals: groupsOfEquals([...round.deleted, ...left]).filter(isByChance),
  }
}

function groupsOfEquals(images: (Times & { id: string })[]): string[][] {
  const groups = Map.groupBy(images, one => `${one.lastUsedMs} ${one.firstDetectedMs}`)
  return [...groups.values()]
    .filter(({ length }) => length > 1)
    .map(group => group.map(({ id }) => id))
}

/** Beyond this many the ways are too many to try; then the usual one stands. */
const mostEquals = 7

const ordersOf = (groups: string[][]): string[][] =>
  groups.reduce<string[][]>(
    (orders, group) => orders.flatMap(order => permutations(group).map(way => [...order, ...way])),
    [[]],
  )

function permutations(items: string[]): string[][] {
  if (items.length > mostEquals) return [items]
  if (items.length === 0) return [[]]
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map(rest => [item, ...rest]),
  )
}

const nothing: ImageGcRound = { deleted: [], freedBytes: 0, error: null }

function act(
  state: ImageGcState,
  step: Step,
  listed: Image[],
  policy: ImageGcPolicy,
  kubelet: Kubelet,
): ImageGcRound {
  const { atMs, action, imageFs = {} } = step
  const runtime: RuntimeImages = {
    images: listed.map(({ id, sizeBytes, pinned = false }) => ({
      id,
      sizeBytes,
      isPinned: pinned,
    })),
    inUse: new Set(step.inUse),
    mounted: new Set(step.imageVolumes),
    removalError: id => (step.removeErrors?.includes(id) ? `cannot remove ${id}` : null),
  }
  if (action === 'deleteUnusedImages')
    return deleteUnusedImages(state, atMs, policy, runtime, kubelet)
  if (action === 'detect') {
    detectImages(state, atMs, runtime, kubelet)
    return nothing
  }
  const { capacityBytes = null, availableBytes = null, error } = imageFs
  return garbageCollect(
    state,
    atMs,
    policy,
    runtime,
    error === undefined ? { capacityBytes, availableBytes } : { error },
    kubelet,
  )
}
