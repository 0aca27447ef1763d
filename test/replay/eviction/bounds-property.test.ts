import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Signal, Threshold } from '#model/prediction.ts'
import { passBounds } from '#replay/eviction/bounds.ts'
import {
  type EvictionState,
  startEviction,
  synchronizeAlternatives,
} from '#replay/eviction/synchronize.ts'
import {
  diskLayoutOf,
  isThresholdMet,
  type Observations,
  parseEvictionConfig,
  parseThresholdConfig,
} from '#replay/eviction/thresholds.ts'
import { kubeletOf } from '#replay/times.ts'
import { podStatsOf } from '#test/at-the-door.ts'
import { pod } from '#test/eviction-builder.ts'
import { drawsOf } from '#test/slow.ts'

const now = Date.parse('2026-11-21T00:00:00Z')
const minute = 60_000
const signals = [
  'memory.available',
  'nodefs.available',
  'imagefs.available',
  'nodefs.inodesFree',
  'pid.available',
] as const

const sizes = fc.constantFrom(0, 10, 20, 30)
/** A whole node, and what a record of it hides. */
const worlds = fc.record({
  version: fc.constantFrom('v1.29.15', 'v1.30.14', 'v1.34.4', 'v1.37.0'),
  thresholds: fc.tuple(
    ...signals.map(() =>
      fc.record({
        available: fc.constantFrom(1, 99, 100, 120, 149, 150, 500),
        kind: fc.constantFrom('hard', 'soft', 'none'),
        graceMinutes: fc.constantFrom(1, 5),
        hasMinReclaim: fc.boolean(),
        metForMinutes: fc.constantFrom(0, 0.5, 1, 3, 6, 50),
        hasActed: fc.boolean(),
        isHidden: fc.constantFrom(false, false, false, true),
      }),
    ),
  ),
  layout: fc.constantFrom('shared', 'imagefs', 'split'),
  readMinutesAgo: fc.constantFrom(0, 0, 2, 10),
  pods: fc.array(
    fc.record({
      priority: fc.constantFrom(0, 0, 1, 2_000_000_000),
      hasStats: fc.boolean(),
      rootfs: sizes,
      logs: sizes,
      memory: sizes,
      inodes: sizes,
      limit: fc.constantFrom(null, null, null, 25),
    }),
    { maxLength: 3 },
  ),
  reclaimFrees: fc.constantFrom(0, 30, 900),
  isKnown: fc.record({ layout: fc.boolean(), start: fc.boolean(), collectable: fc.boolean() }),
  assumed: fc.constantFrom('shared', 'imagefs', null),
})
type World = typeof worlds extends fc.Arbitrary<infer One> ? One : never

const isDisk = (signal: string) => !/^(memory|pid)/.test(signal)

/** On one disk, imagefs is nodefs. */
const availableOf = ({ thresholds, layout }: World, signal: Signal): number => {
  const place = signals.findIndex(
    known =>
      known ===
      (layout === 'shared' && signal === 'imagefs.available' ? 'nodefs.available' : signal),
  )
  return thresholds[place]?.available ?? 0
}
const observationsOf = (world: World, freed: number): Observations =>
  Object.fromEntries(
    signals.map(signal => {
      const available = availableOf(world, signal) + (isDisk(signal) ? freed : 0)
      return [signal, { available, capacity: 1000, time: null }]
    }),
  )

function configurationOf({ thresholds }: World) {
  const entries = (kind: string, value: (index: number) => string) =>
    Object.fromEntries(
      signals.flatMap((signal, index) =>
        thresholds[index]?.kind === kind ? [[signal, value(index)]] : [],
      ),
    )
  return {
    evictionHard: entries('hard', () => '100'),
    evictionSoft: entries('soft', () => '100'),
    evictionSoftGracePeriod: entries('soft', index => `${thresholds[index]?.graceMinutes}m`),
    evictionMinimumReclaim: Object.fromEntries(
      signals.flatMap((signal, index) =>
        thresholds[index]?.hasMinReclaim && thresholds[index]?.kind !== 'none'
          ? [[signal, '50']]
          : [],
      ),
    ),
  }
}

const podsOf = ({ pods }: World) =>
  pods.map(({ priority, limit }, index) =>
    pod(`pod-${index}`, {
      priority,
      containers: [
        {
          name: 'c',
          ...(limit !== null && { resources: { limits: { 'ephemeral-storage': String(limit) } } }),
        },
      ],
    }),
  )
const statsOf = ({ pods }: World) =>
  podStatsOf({
    pods: pods.flatMap(({ hasStats, rootfs, logs, memory, inodes }, index) =>
      hasStats
        ? [
            {
              podRef: { name: `pod-${index}`, namespace: 'default', uid: `uid-pod-${index}` },
              memory: { workingSetBytes: memory },
              'ephemeral-storage': { usedBytes: rootfs + logs },
              containers: [
                {
                  name: 'c',
                  rootfs: { usedBytes: rootfs, inodesUsed: inodes },
                  logs: { usedBytes: logs },
                },
              ],
            },
          ]
        : [],
    ),
  })

/** What upstream's memory holds. A threshold that is met was met when the record was read. */
function stateOf(
  world: World,
  thresholds: readonly Threshold[],
  config: ReturnType<typeof parseEvictionConfig>,
): EvictionState {
  const past = thresholds.flatMap(threshold => {
    const facts = world.thresholds[signals.indexOf(threshold.signal as (typeof signals)[number])]
    const observed = { available: availableOf(world, threshold.signal), capacity: 1000, time: null }
    const isMet = isThresholdMet(threshold, observed, false)
    const heldMs = Math.max(facts?.metForMinutes ?? 0, world.readMinutesAgo) * minute
    const hasActed = facts?.hasActed === true && heldMs >= threshold.gracePeriodMs
    return isMet || hasActed ? [{ threshold, atMs: now - heldMs, hasActed }] : []
  })
  return {
    ...startEviction(config),
    layout: diskLayoutOf(world.layout),
    firstObserved: past.map(({ threshold, atMs }) => ({ threshold, atMs })),
    thresholdsMet: past.filter(({ hasActed }) => hasActed).map(({ threshold }) => threshold),
  }
}

function exactAndBounds(world: World) {
  const kubelet = kubeletOf(world.version)
  const thresholds = parseThresholdConfig(configurationOf(world)).filter(({ signal }) =>
    signals.includes(signal as (typeof signals)[number]),
  )
  const config = { ...parseEvictionConfig({}), thresholds }
  const pass = { nowMs: now, pods: podsOf(world), podStats: statsOf(world), config, kubelet }
  const observations = observationsOf(world, 0)
  const { outcomes } = synchronizeAlternatives(stateOf(world, thresholds, config), {
    ...pass,
    observations,
    layout: diskLayoutOf(world.layout),
    reclaim: () => observationsOf(world, world.reclaimFrees),
  })
  const hidden = signals.filter((_, index) => world.thresholds[index]?.isHidden)
  const { isKnown, assumed } = world
  const guess = assumed && diskLayoutOf(assumed)
  const bounds = passBounds({
    ...pass,
    observations: Object.fromEntries(
      Object.entries(observations).filter(([signal]) => !hidden.includes(signal as never)),
    ),
    unobserved: new Set<Signal>(hidden),
    readMs: now - world.readMinutesAgo * minute,
    kubeletStart: isKnown.start
      ? { earliestMs: now - 60 * minute, latestMs: now - 59 * minute }
      : null,
    reported: {},
    statusUpdateMs: 10_000,
    layout: isKnown.layout ? diskLayoutOf(world.layout) : guess,
    isLayoutSure: isKnown.layout,
    canSplit: true,
    isCollectable: () => !(isKnown.collectable && world.reclaimFrees === 0),
  })
  return { outcomes, bounds, hidden }
}

it('holds what upstream does, whatever is hidden: the certain happens, and what happens is possible', () => {
  fc.assert(
    fc.property(worlds, world => {
      const { outcomes, bounds, hidden } = exactAndBounds(world)
      const named = (certainty: string) =>
        bounds.victims.filter(one => one.certainty === certainty).map(({ name }) => name)
      const possible = [...named('certain'), ...named('possible')]
      for (const outcome of outcomes) {
        const limited = outcome.evictions.map(({ pod: { name } }) => name)
        const picks = outcome.victims.map(({ name }) => name)
        expect(possible).toEqual(expect.arrayContaining([...limited, ...picks]))
        expect(limited).toEqual(expect.arrayContaining(named('certain')))
        if (named('certain').length > 0) expect(picks.length).toBeLessThan(2)
        if (outcome.picked) expect([...bounds.actsOn, ...hidden]).toContain(outcome.picked.signal)
        expect(bounds.nodeReclaim).toEqual(expect.arrayContaining([...outcome.reclaimed]))
        if (bounds.reclaims === 'certain') expect(outcome.reclaimed).toEqual(bounds.nodeReclaim)
      }
      if (named('possible').length > 0)
        expect(bounds.unknowns.some(({ part }) => part === 'victims')).toBe(true)
    }),
    { numRuns: drawsOf(3000) },
  )
})

it('is what upstream does if all is known and hard', () => {
  fc.assert(
    fc.property(worlds, drawn => {
      const world: World = {
        ...drawn,
        reclaimFrees: 0,
        isKnown: { layout: true, start: true, collectable: true },
        thresholds: drawn.thresholds.map(one => ({
          ...one,
          kind: one.kind === 'soft' ? ('hard' as const) : one.kind,
          hasMinReclaim: false,
          isHidden: false,
        })) as World['thresholds'],
      }
      const { outcomes, bounds } = exactAndBounds(world)
      const actual = outcomes.flatMap(({ victims, evictions }) => [
        ...victims,
        ...evictions.map(one => one.pod),
      ])
      expect(new Set(bounds.victims.map(({ name }) => name))).toEqual(
        new Set(actual.map(({ name }) => name)),
      )
      expect(bounds.actsOn.toSorted()).toEqual(
        outcomes.flatMap(({ picked }) => picked?.signal ?? []).sort(),
      )
    }),
    { numRuns: drawsOf(2000) },
  )
})
