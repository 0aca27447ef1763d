import { expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { diskNearlyFull } from '#judge/rules/eviction/disk-nearly-full.ts'
import type { NodeGrowth } from '#model/history.ts'
import type { DiskHolder } from '#model/prediction.ts'
import { exampleSubject, hard, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, outcomeOn } from '#test/rule-outcome.ts'

/** One disk of 100 GiB, watched at 10 GiB or by nothing. */
function example(availableGib: number, held: Partial<Record<DiskHolder, number>>, watched = true) {
  const disk = {
    capacityBytes: 100 * gibibyte,
    availableBytes: availableGib * gibibyte,
    usedPercent: 100 - availableGib,
    inodes: 1000,
    inodesFree: 900,
  }
  return {
    held,
    filesystems: { nodefs: disk, imagefs: disk, layout: 'shared', layoutCertainty: 'certain' },
    thresholds: watched ? [hard('nodefs.available', 10, availableGib)] : [],
  } as const
}

itJudgesExamples(diskNearlyFull, {
  bad: example(14, { journal: 60 }),
  good: example(15, { journal: 60 }),
})

const judged = (...given: Parameters<typeof example>) => {
  const outcome = outcomeFor(diskNearlyFull, example(...given))
  return outcome.state === 'fail'
    ? [outcome.failing.cause, outcome.failing.steps?.map(({ id }) => id)]
    : outcome.state
}
const holder = (name: DiskHolder) => expect.objectContaining({ kind: 'holder', holder: name })

it.each([
  [14, { journal: 60 }, true, [holder('journal'), ['vacuum-journal']]],
  [15, { journal: 60 }, true, 'pass'],
  // What evicts already has a finding of its own.
  [9, { journal: 60 }, true, 'pass'],
  // Image GC frees these.
  [14, { 'images-unused': 60, journal: 10 }, true, 'pass'],
  [14, { 'images-in-use': 60 }, true, [holder('images-in-use'), ['larger-disk']]],
  // Unused images count less than what nothing frees.
  [
    14,
    { 'images-unused': 40, 'leftover-snapshots': 35 },
    true,
    [holder('leftover-snapshots'), ['replace-node', 'upgrade-runtime', 'prune-images']],
  ],
  // The usual contents of a node are no cause.
  [
    14,
    { system: 20, 'core-dumps': 15 },
    true,
    [holder('core-dumps'), ['delete-place', 'find-crash']],
  ],
  [14, { 'core-dumps': 4 }, true, 'pass'],
  // Without a threshold, the space to full counts.
  [14, { journal: 60 }, false, [holder('journal'), ['vacuum-journal']]],
  [16, { journal: 60 }, false, 'pass'],
] as const)('%d GiB left, held %j, watched %s', (left, held, watched, expected) => {
  expect(judged(left, held, watched)).toEqual(expected)
})

/** So many GiB an hour, seen for so many hours. */
const growing = (gib: number, overHours: number): NodeGrowth => {
  const perHour = gib * gibibyte
  return {
    nodefs: {
      ...{ isSeen: true, bytesPerHour: { min: perHour, median: perHour, max: perHour } },
      ...{ overMs: overHours * 3_600_000, readings: 4, falls: 0 },
    },
  }
}

it.each([
  [1.1, 12, 'fail'],
  [1.1, 48, 'fail'],
  [1, 48, 'pass'],
  // Growth that was seen for an hour says nothing of a day.
  [2, 1, 'pass'],
])('24.5 GiB to eviction at %d GiB an hour, seen for %d h: %s', (gib, hours, expected) => {
  const given = { ...example(34.5, { journal: 60 }), growth: growing(gib, hours) }
  expect(outcomeFor(diskNearlyFull, given).state).toBe(expected)
})

it('says in how many hours a disk is full, and what holds it', () => {
  const given = { ...example(40, { journal: 50 }), growth: growing(5, 24) }
  const { title, consequence, cause } = failingOf(diskNearlyFull, given)
  expect(title).toBe('A disk fills within a day, and image GC does not free what holds it')
  expect(cause).toEqual(holder('journal'))
  expect(consequence).toContain('about 6 h at the growth that was seen, 5.0 GiB an hour')
})

it('leaves growth to image GC where it frees what holds the disk', () => {
  const given = { ...example(40, { 'images-unused': 50 }), growth: growing(5, 24) }
  expect(outcomeFor(diskNearlyFull, given).state).toBe('pass')
})

it('says that a full disk is full, and not how long the rest lasts', () => {
  const { title, seen } = failingOf(diskNearlyFull, example(0, { journal: 60 }, false))
  expect(title).toContain('is full')
  expect(seen).toBe('the disk is full: writes fail now.')
})

it.each([
  ['hard, in bytes', hard('nodefs.available', 60, 62), 'evictionHard', '10%'],
  ['soft', soft('nodefs.available', 36, 60_000, 38), 'evictionSoft', '15%'],
])('sets a threshold that is the mistake, and buys no disk: %s', (_, threshold, map, to) => {
  const given = {
    ...example(threshold.hard ? 62 : 38, { system: 62 }),
    thresholds: [threshold],
    eviction: { signals: { 'nodefs.available': { capacityBytes: 100 * gibibyte } } } as never,
  }
  expect(failingOf(diskNearlyFull, given)).toMatchObject({
    title: 'An eviction threshold is near on a disk with much room',
    cause: { kind: 'setting', fields: [`${map}.nodefs.available`] },
    steps: [{ id: 'set-fields' }],
    fix: { config: { [map]: { 'nodefs.available': to } } },
  })
})

it('has a failing of its own for each of two disks', () => {
  const subject = exampleSubject(example(14, { journal: 60 }))
  const images = exampleSubject({ held: { 'leftover-snapshots': 60 } }).ledger!.filesystems[0]!
  const { filesystems } = subject.ledger!
  const outcome = outcomeOn(diskNearlyFull, [
    {
      ...subject,
      filesystems: { ...subject.filesystems!, layout: 'imagefs' },
      ledger: {
        ...subject.ledger!,
        isShared: false,
        filesystems: [...filesystems, { ...images, filesystem: 'imagefs' }],
      },
      eviction: {
        ...subject.eviction!,
        thresholds: [hard('nodefs.available', 10, 14), hard('imagefs.available', 12, 14)],
      },
    },
  ])
  if (outcome.state !== 'fail') throw new Error(outcome.state)
  const causes = [outcome.failing, ...(outcome.apart ?? [])].map(({ cause }) => cause)
  expect(causes).toEqual([holder('journal'), holder('leftover-snapshots')])
})

it.each([
  ['image GC begins after eviction, and the unused images are enough', 95, 15, true, 'pass'],
  ['they are not enough', 95, 3, true, 'fail'],
  ['image GC begins in time', 80, 15, true, 'fail'],
  ['no threshold watches the disk', 95, 15, false, 'pass'],
] as const)(
  'buys no disk for images that a setting frees: %s',
  (_, high, unused, watched, state) => {
    const held = { 'images-in-use': 60, 'images-unused': unused, journal: 27 - unused }
    const imageGC = { enabled: true, highThresholdPercent: high, lowThresholdPercent: high - 5 }
    const given = { ...example(13, held, watched), imageGC }
    expect(outcomeFor(diskNearlyFull, given).state).toBe(state)
  },
)
