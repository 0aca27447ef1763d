import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeRecord } from '#model/input/record.ts'
import type { ImageDeletion, ImageGcPrediction } from '#model/prediction.ts'
import { prepareImages } from '#replay/image-gc/bounds.ts'
import {
  type Deleted,
  deleteUnusedImages,
  detectImages,
  garbageCollect,
  type ImageGcRound,
  type ImageGcState,
  type RuntimeImages,
} from '#replay/image-gc/collector.ts'
import type { ImageGcPolicy } from '#replay/image-gc/policy.ts'
import { imageEvidence } from '#replay/image-gc/users.ts'
import { type Predicted, predictDeleteUnusedImages, predictImageGc } from '#replay/image-gc.ts'
import { type Kubelet, kubeletOf, zeroTimeMs } from '#replay/times.ts'
import { inputOf } from '#test/at-the-door.ts'
import { removedAt } from '#test/removed-containers.ts'
import { drawsOf } from '#test/slow.ts'

const minute = 60_000
const startedAtMs = Date.parse('2026-11-21T00:00:00Z')
const text = (ms: number) =>
  ms === zeroTimeMs ? '0001-01-01T00:00:00Z' : new Date(ms).toISOString()
const digest = (index: number) => `sha256:${String(index).padStart(64, '0')}`

/** A whole node, nothing hidden. Ticks are detections since the start, one every 5 minutes. */
interface World {
  version: string
  /** Since the start; half a minute on, so that no detection falls on the very moment. */
  readMinute: number
  /** From the record to the round. */
  waitMinutes: number
  images: {
    /** The tick that detected it; later than the last: none has. */
    tick: number
    /** The tick that last saw it in use; null: none. */
    usedTick: number | null
    sizeBytes: number
    isPinned: boolean
    /** `removed`: by a container that goes just before. */
    use: 'none' | 'running' | 'exited' | 'removed' | 'mounted'
  }[]
  policy: ImageGcPolicy
  availableBytes: number
  ageFrees: number
}

const capacityBytes = 1000
const policies: fc.Arbitrary<ImageGcPolicy> = fc.record({
  highThresholdPercent: fc.constantFrom(0, 50, 80, 100),
  lowThresholdPercent: fc.constantFrom(0, 40),
  minimumAgeMs: fc.constantFrom(0, 0, 2.5 * minute, 12.5 * minute, 22.5 * minute),
  maximumAgeMs: fc.constantFrom(0, 0, 10.5 * minute, 25.5 * minute),
})
const worlds: fc.Arbitrary<World> = fc
  .record({
    version: fc.constantFrom('v1.29.15', 'v1.34.4', 'v1.36.3'),
    readMinute: fc.integer({ min: 0, max: 40 }).map(whole => whole + 0.5),
    waitMinutes: fc.constantFrom(0, 0, 0, 1, 7, 15, 30),
    images: fc.array(
      fc.record({
        tick: fc.integer({ min: 0, max: 9 }),
        usedTick: fc.option(fc.integer({ min: 0, max: 9 })),
        sizeBytes: fc.constantFrom(0, 50, 100, 100, 300),
        isPinned: fc.constantFrom(false, false, false, true),
        use: fc.constantFrom(
          'none',
          'none',
          'none',
          'none',
          'running',
          'exited',
          'removed',
          'mounted',
        ),
      }),
      { maxLength: 5 },
    ),
    policy: policies,
    // What deletions by age free before the disk is read, of the listed size.
    ageFrees: fc.constantFrom(0, 0.5, 1, 4.5),
    availableBytes: fc.constantFrom(0, 50, 100, 101, 150, 199, 200, 250, 300, 350, 400, 450, 600),
  })
  .map(world => ({
    ...world,
    policy: {
      ...world.policy,
      lowThresholdPercent: Math.min(
        world.policy.lowThresholdPercent,
        world.policy.highThresholdPercent,
      ),
    },
  }))

/** What a record may tell of it, and the images' own facts. */
const sources = [
  'known.kubeletStartedAt',
  'runtime.images',
  'runtime.containers',
  'node.status.images',
  'pods',
] as const
const factsOf = ({ images }: World): string[] => [
  ...sources,
  ...images.flatMap((_, index) => [`${index}.firstDetected`, `${index}.lastUsed`, `${index}.size`]),
]

const ticksUntil = (readMinute: number) => Math.floor(readMinute / 5)
const tickMs = (tick: number) => startedAtMs + tick * 5 * minute

interface Times {
  firstDetectedMs: number | null
  lastUsedMs: number | null
}

function timesOf({ images, readMinute }: World): Times[] {
  const last = ticksUntil(readMinute)
  return images.map(({ tick, usedTick, use }) => {
    if (tick > last) return { firstDetectedMs: null, lastUsedMs: null }
    const used = use === 'none' ? usedTick : last
    return {
      firstDetectedMs: tickMs(tick),
      lastUsedMs: used === null ? null : tickMs(Math.min(Math.max(used, tick), last)),
    }
  })
}

function recordOf(world: World, facts: ReadonlySet<string>): NodeRecord {
  const { images, readMinute, version } = world
  const times = timesOf(world)
  const users = images.flatMap(({ use }, index) =>
    use === 'none' ? [] : [{ use, index, id: `container-${index}` }],
  )
  const known = images.map((_, index) => {
    const { firstDetectedMs = null, lastUsedMs = null } = times[index] ?? {}
    return {
      id: digest(index),
      ...(facts.has(`${index}.firstDetected`) && {
        firstDetected: firstDetectedMs && text(firstDetectedMs),
      }),
      ...(facts.has(`${index}.lastUsed`) && { lastUsed: lastUsedMs && text(lastUsedMs) }),
    }
  })
  const names = (index: number) => [`registry/app@${digest(index)}`, `registry/app:${index}`]
  const size = (index: number) =>
    facts.has(`${index}.size`) ? { sizeBytes: images[index]?.sizeBytes } : {}
  return {
    kind: 'Node',
    cluster: 'lab',
    at: text(startedAtMs + readMinute * minute),
    node: {
      status: {
        nodeInfo: { kubeletVersion: version },
        ...(facts.has('node.status.images') && {
          images: images.map((_, index) => ({ names: names(index), ...size(index) })) as never,
        }),
      },
    },
    known: {
      ...(facts.has('known.kubeletStartedAt') && { kubeletStartedAt: text(startedAtMs) }),
      images: known,
    },
    runtime: {
      ...(facts.has('runtime.images') && {
        images: images.map(({ isPinned, sizeBytes }, index) => ({
          id: digest(index),
          repoTags: [`registry/app:${index}`],
          repoDigests: [`registry/app@${digest(index)}`],
          ...(facts.has(`${index}.size`) && { size: String(sizeBytes) }),
          pinned: isPinned,
        })),
      }),
      ...(facts.has('runtime.containers') && {
        containers: users.map(({ use, index, id }) => ({
          id,
          image: { image: use === 'mounted' ? 'other' : digest(index) },
          imageRef: use === 'mounted' ? 'sha256:other' : digest(index),
          state: use === 'running' ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
          labels: { 'io.kubernetes.pod.uid': id, 'io.kubernetes.container.name': 'main' },
        })),
      }),
    },
    ...(facts.has('pods') && {
      pods: users.map(({ use, index, id }) => ({
        metadata: { uid: id, name: id },
        spec: {
          containers: [{ name: 'main', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
          ...(use === 'mounted' && {
            volumes: [{ name: 'data', image: { reference: `registry/app@${digest(index)}` } }],
          }),
        },
        status: {
          containerStatuses: [
            {
              name: 'main',
              containerID: `containerd://${id}`,
              imageID: use === 'mounted' ? 'sha256:other' : `registry/app@${digest(index)}`,
            },
          ],
        },
      })) as never,
    }),
  }
}

const atOf = ({ readMinute, waitMinutes }: World) =>
  startedAtMs + (readMinute + waitMinutes) * minute

/** What upstream deletes, once for each order in which its map may give equals. */
function actualRounds(world: World, isEviction: boolean): (ImageGcRound & { ids: Set<number> })[] {
  const { images, readMinute, policy, availableBytes, ageFrees } = world
  const kubelet = kubeletOf(world.version)
  const atMs = atOf(world)
  const times = timesOf(world)
  const runtime = (uses: string[]): RuntimeImages => ({
    images: images.map(({ sizeBytes, isPinned }, index) => ({
      id: digest(index),
      sizeBytes,
      isPinned,
    })),
    inUse: new Set(images.flatMap(({ use }, index) => (uses.includes(use) ? [digest(index)] : []))),
    mounted: new Set(
      images.flatMap(({ use }, index) => (use === 'mounted' ? [digest(index)] : [])),
    ),
  })
  const held = runtime(['running', 'exited', 'removed'])
  return permutations(images.map((_, index) => index)).map(order => {
    const state: ImageGcState = { records: new Map(), beganGcMs: startedAtMs }
    const inOrder = (now: RuntimeImages) => ({
      ...now,
      images: order.flatMap(index => now.images[index] ?? []),
    })
    for (const index of order) {
      const { firstDetectedMs = null, lastUsedMs } = times[index] ?? {}
      if (firstDetectedMs === null) continue
      state.records.set(digest(index), {
        firstDetectedMs,
        lastUsedMs: lastUsedMs ?? zeroTimeMs,
        sizeBytes: 0,
        isPinned: false,
      })
    }
    for (let tick = ticksUntil(readMinute) + 1; tickMs(tick) < atMs; tick++)
      detectImages(state, tickMs(tick), inOrder(held), kubelet)
    const now = inOrder(isEviction ? runtime(['running', 'exited']) : held)
    const statsAfter = (old: readonly { sizeBytes: number }[]) => ({
      capacityBytes,
      availableBytes: old.reduce(
        (total, { sizeBytes }) => total + ageFrees * sizeBytes,
        availableBytes,
      ),
    })
    const collected = () =>
      isStopped(policy, kubelet)
        ? { deleted: [], freedBytes: 0, error: null }
        : garbageCollect(state, atMs, policy, now, statsAfter, kubelet)
    const round = isEviction ? deleteUnusedImages(state, atMs, policy, now, kubelet) : collected()
    return { ...round, ids: new Set(round.deleted.map(({ id }) => Number(id.slice(-4)))) }
  })
}

const isStopped = ({ highThresholdPercent, maximumAgeMs }: ImageGcPolicy, { features }: Kubelet) =>
  highThresholdPercent === 100 && (maximumAgeMs === 0 || !features.has('maximumAgeKeepsImageGc'))

function permutations(items: number[]): number[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map(rest => [item, ...rest]),
  )
}

const predicted = (world: World, facts: ReadonlySet<string>, isEviction: boolean) =>
  predictedWithUnknowns(world, facts, isEviction).prediction

function predictedWithUnknowns(
  world: World,
  facts: ReadonlySet<string>,
  isEviction: boolean,
): Predicted<Partial<ImageGcPrediction>> {
  const kubelet = kubeletOf(world.version)
  const record = recordOf(world, facts)
  const node = imageEvidence(inputOf(record), Date.parse(record.at ?? ''), kubelet)
  const removed = isEviction
    ? world.images.flatMap(({ use }, index) => (use === 'removed' ? [`container-${index}`] : []))
    : []
  const images = prepareImages(node, atOf(world), removedAt(atOf(world), removed))
  if (isEviction) return predictDeleteUnusedImages(world.policy, images)
  return predictImageGc(
    world.policy,
    { capacityBytes, availableBytes: world.availableBytes },
    images,
    kubelet,
  )
}

const areEqual = (a: Deleted, b: Deleted) =>
  a.lastUsedMs === b.lastUsedMs && a.firstDetectedMs === b.firstDetectedMs

const indexOf = ({ names }: ImageDeletion) =>
  Number(/app@sha256:\d+(\d{4})/.exec(names.join())?.[1])
const sets = (deletions: ImageDeletion[]) => ({
  certain: new Set(deletions.filter(({ certainty }) => certainty === 'certain').map(indexOf)),
  possible: new Set(deletions.map(indexOf)),
})
const isWithin = (inner: Set<number>, outer: Set<number>) =>
  [...inner].every(index => outer.has(index))

/** A world, what is told of it, whether eviction acts on it, and one thing more to tell. */
const hidden = worlds.chain(world => {
  const all = factsOf(world)
  const few = fc
    .subarray(all, { maxLength: 3 })
    .map(untold => all.filter(fact => !untold.includes(fact)))
  return fc.tuple(
    fc.constant(world),
    fc.oneof(few, fc.subarray(all)),
    fc.boolean(),
    fc.constantFrom(...all),
  )
})

const sameNumbers = (
  rounds: ImageGcRound[],
  { freedBytes, error, shortfallBytes, reachesLow }: Partial<ImageGcPrediction>,
) => {
  for (const actual of rounds) {
    if (freedBytes !== null) expect(actual.freedBytes).toBe(freedBytes)
    if (error !== null) expect(actual.error).toBe(error)
    if (reachesLow !== null) expect(actual.error === null).toBe(reachesLow)
    if (shortfallBytes !== null && shortfallBytes !== 0) expect(reachesLow).toBe(false)
  }
}

/** What goes by age may free enough: whether the others go is open, their order is not. */
const perhapsEnoughByAge: World = {
  version: 'v1.36.3',
  readMinute: 26.5,
  waitMinutes: 0,
  images: [
    { tick: 0, usedTick: 1, sizeBytes: 0, isPinned: false, use: 'none' },
    { tick: 0, usedTick: 2, sizeBytes: 0, isPinned: false, use: 'none' },
    { tick: 0, usedTick: null, sizeBytes: 50, isPinned: false, use: 'none' },
  ],
  policy: {
    highThresholdPercent: 50,
    lowThresholdPercent: 0,
    minimumAgeMs: 0,
    maximumAgeMs: 25.5 * minute,
  },
  ageFrees: 0,
  availableBytes: 350,
}

/** The container of an image was not read, and is removed after a detection has seen it. */
const unreadRemoval: World = {
  version: 'v1.36.3',
  readMinute: 24.5,
  waitMinutes: 30,
  images: [
    { tick: 2, usedTick: 8, sizeBytes: 0, isPinned: false, use: 'none' },
    { tick: 9, usedTick: 7, sizeBytes: 300, isPinned: false, use: 'removed' },
    { tick: 1, usedTick: 9, sizeBytes: 50, isPinned: false, use: 'removed' },
  ],
  policy: { highThresholdPercent: 80, lowThresholdPercent: 0, minimumAgeMs: 0, maximumAgeMs: 0 },
  ageFrees: 4.5,
  availableBytes: 101,
}
const unreadFacts = factsOf(unreadRemoval).filter(
  fact => fact !== 'runtime.containers' && fact !== 'pods',
)

describe('the bounds of what goes', () => {
  it('hold what upstream deletes and says, whatever is hidden', () => {
    fc.assert(
      fc.property(hidden, ([world, facts, isEviction]) => {
        const prediction = predicted(world, new Set(facts), isEviction)
        const rounds = actualRounds(world, isEviction)
        if (!isEviction) sameNumbers(rounds, prediction)
        if (!prediction.deletions) return
        const { certain, possible } = sets(prediction.deletions)
        for (const { ids } of rounds) {
          expect(isWithin(certain, ids), `certain ${[...certain]} of ${[...ids]}`).toBe(true)
          expect(isWithin(ids, possible), `${[...ids]} of possible ${[...possible]}`).toBe(true)
        }
      }),
      { numRuns: drawsOf(3000) },
    )
  })

  it('are what upstream deletes, where all is known: equals that are cut are possible', () => {
    fc.assert(
      fc.property(worlds, fc.boolean(), (drawn, isEviction) => {
        // What no detection has seen yet is found by the next one, and when that comes is not known.
        // What deletions by age free is not known either.
        const policy = { ...drawn.policy, maximumAgeMs: 0 }
        const world = { ...drawn, policy, waitMinutes: 0 }
        const prediction = predicted(world, new Set(factsOf(world)), isEviction)
        const { certain, possible } = sets(prediction.deletions ?? [])
        const rounds = actualRounds(world, isEviction)
        const all = world.images.map((_, index) => index)
        expect([...certain].sort()).toEqual(
          all.filter(index => rounds.every(({ ids }) => ids.has(index))),
        )
        expect([...possible].sort()).toEqual(
          all.filter(index => rounds.some(({ ids }) => ids.has(index))),
        )
        if (isEviction) return
        if (certain.size === possible.size) expect(prediction.freedBytes).not.toBeNull()
        if (new Set(rounds.map(({ freedBytes }) => freedBytes)).size > 1)
          expect(prediction.freedBytes).toBeNull()
        expect(prediction.error).toBe(rounds[0]?.error)
        expect(prediction.reachesLow).not.toBeNull()
      }),
      { numRuns: drawsOf(3000) },
    )
  })

  it('rank what goes as upstream orders it, where all is known', () => {
    fc.assert(
      fc.property(worlds, fc.boolean(), (drawn, isEviction) => {
        const world = { ...drawn, waitMinutes: 0 }
        const { deletions } = predicted(world, new Set(factsOf(world)), isEviction)
        const ranks = new Map((deletions ?? []).map(deletion => [indexOf(deletion), deletion.rank]))
        expect([...ranks.values()]).not.toContain(null)
        for (const { deleted, ids } of actualRounds(world, isEviction)) {
          const inTurn = [...ids].map(index => ranks.get(index) ?? Number.NaN)
          for (const [place, rank] of inTurn.entries()) {
            const [image, before] = [deleted[place], deleted[place - 1]]
            const isTied = image && before && areEqual(image, before)
            expect(rank).toBe(isTied ? inTurn[place - 1] : place)
          }
        }
      }),
      { examples: [[perhapsEnoughByAge, false]] },
    )
  })

  it('rank what goes as upstream orders it, whatever is hidden: equal ranks are equal images', () => {
    fc.assert(
      fc.property(hidden, ([world, facts, isEviction]) => {
        const { deletions } = predicted(world, new Set(facts), isEviction)
        const ranks = new Map((deletions ?? []).map(deletion => [indexOf(deletion), deletion.rank]))
        const rankOf = ({ id }: Deleted) => ranks.get(Number(id.slice(-4))) ?? null
        for (const { deleted } of actualRounds(world, isEviction)) {
          const ranked = deleted.filter(image => rankOf(image) !== null)
          for (const [place, image] of ranked.entries()) {
            const before = ranked[place - 1]
            if (before === undefined) continue
            const [rank, last] = [rankOf(image) ?? 0, rankOf(before) ?? 0]
            expect(areEqual(image, before) ? rank === last : rank > last).toBe(true)
          }
        }
      }),
      { numRuns: drawsOf(2000), examples: [[[unreadRemoval, unreadFacts, true, 'pods']]] },
    )
  })

  it('leave exact times their rank', () => {
    const image = { tick: 0, usedTick: 1, sizeBytes: 100, isPinned: false, use: 'none' as const }
    const world: World = {
      ...perhapsEnoughByAge,
      images: [image, { ...image, usedTick: 2 }, { ...image, usedTick: 3 }],
      policy: { ...perhapsEnoughByAge.policy, maximumAgeMs: 0 },
      availableBytes: 0,
    }
    const facts = new Set(factsOf(world).filter(fact => fact !== '1.lastUsed'))
    const { deletions } = predicted(world, facts, false)
    expect(new Map(deletions?.map(one => [indexOf(one), one.rank]))).toEqual(
      new Map([
        [1, null],
        [0, 0],
        [2, 1],
      ]),
    )
  })

  it('name a reason for all that is only possible', () => {
    fc.assert(
      fc.property(hidden, ([world, facts, isEviction]) => {
        const { prediction, unknowns } = predictedWithUnknowns(world, new Set(facts), isEviction)
        const isOpen = prediction.deletions?.some(({ certainty }) => certainty === 'possible')
        if (isOpen) expect(unknowns).not.toEqual([])
      }),
      { numRuns: drawsOf(2000) },
    )
  })

  it('never widen by one more fact', () => {
    fc.assert(
      fc.property(hidden, ([world, facts, isEviction, more]) => {
        const { deletions: before } = predicted(world, new Set(facts), isEviction)
        const { deletions: after } = predicted(world, new Set([...facts, more]), isEviction)
        if (!before || !after) return
        expect(isWithin(sets(before).certain, sets(after).certain), 'certain').toBe(true)
        expect(isWithin(sets(after).possible, sets(before).possible), 'possible').toBe(true)
      }),
      { numRuns: drawsOf(3000) },
    )
  })
})
