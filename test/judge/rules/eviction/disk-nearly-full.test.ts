import { expect, it } from 'vitest'
import { diskNearlyFull } from '#judge/rules/eviction/disk-nearly-full.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { DiskHolder } from '#model/prediction/disk-ledger.ts'
import { exampleSubject, hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

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
  const outcome = outcomeOf(diskNearlyFull, exampleSubject(example(...given)), defaultPolicy)
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
    [holder('leftover-snapshots'), ['replace-node', 'upgrade-runtime']],
  ],
  // The usual contents of a node are no cause.
  [14, { system: 20, 'core-dumps': 15 }, true, [holder('core-dumps'), ['delete-place']]],
  [14, { 'core-dumps': 4 }, true, 'pass'],
  // Without a threshold, the space to full counts.
  [14, { journal: 60 }, false, [holder('journal'), ['vacuum-journal']]],
  [16, { journal: 60 }, false, 'pass'],
] as const)('%d GiB left, held %j, watched %s', (left, held, watched, expected) => {
  expect(judged(left, held, watched)).toEqual(expected)
})
