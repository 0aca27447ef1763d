import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { strandedDisk } from '#judge/rules/image-gc/stranded-disk.ts'
import { defaultPolicy } from '#model/policy.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(strandedDisk, {
  bad: {
    filesystems: {
      nodefs: {
        capacityBytes: 900 * gibibyte,
        availableBytes: 600 * gibibyte,
        usedPercent: 34,
        inodes: 1,
        inodesFree: 1,
      },
    },
    thresholds: [hard('nodefs.available', 135, 600)],
  },
  good: { thresholds: [hard('nodefs.available', 10)] },
})

describe('stranded-disk', () => {
  const disk = (gib: number) => ({
    capacityBytes: gib * gibibyte,
    availableBytes: 0,
    usedPercent: 0,
    inodes: 1,
    inodesFree: 1,
  })
  const example = (
    gib: number,
    ...thresholds: NonNullable<NodeExample['thresholds']>
  ): NodeExample => ({ filesystems: { nodefs: disk(gib), imagefs: disk(gib) }, thresholds })

  it.each<[string, NodeExample, string]>([
    ['exactly a tenth and 50 GiB', example(500, hard('nodefs.available', 50, 200)), 'fail'],
    ['a disk that evicts now', example(500, hard('nodefs.available', 50, 40)), 'pass'],
    ['a little less than a tenth', example(501, hard('nodefs.available', 50, 200)), 'pass'],
    ['a tenth, but less than 50 GiB', example(490, hard('nodefs.available', 49)), 'pass'],
    [
      'imagefs on the same disk',
      example(500, hard('nodefs.available', 10), hard('imagefs.available', 75, 200)),
      'fail',
    ],
    ['a soft threshold', example(500, soft('nodefs.available', 75, 60_000, 200)), 'fail'],
    ['inodes are no bytes', example(500, hard('nodefs.inodesFree', 75, 200)), 'pass'],
    [
      'bytes not known',
      example(500, { ...hard('nodefs.available', 75, 200), resolved: null }),
      'unknown',
    ],
    [
      'no disk known',
      { filesystems: { nodefs: null }, thresholds: [hard('nodefs.available', 75, 200)] },
      'unknown',
    ],
    ['Amazon Linux on 100 GiB', {}, 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(strandedDisk, node)).toBe(expected)
  })

  it('takes its limits from the policy', () => {
    const node = example(100, hard('nodefs.available', 10))
    expect(state(strandedDisk, node, { ...defaultPolicy, strandedGiB: 10 })).toBe('fail')
    expect(
      state(strandedDisk, node, { ...defaultPolicy, strandedGiB: 10, strandedPercent: 11 }),
    ).toBe('pass')
  })

  it('looks at each disk by itself, and proposes nothing for soft ones', () => {
    const node = example(900, hard('nodefs.available', 10), hard('imagefs.available', 135, 200))
    const split = { ...node, filesystems: { ...node.filesystems, layout: 'imagefs' as const } }
    const failing = failingOf(strandedDisk, split)
    expect(failing.evidence[1]).toEqual({
      kind: 'summary',
      what: 'imagefs capacity',
      value: '900.0 GiB',
      bytes: 966367641600,
    })
    expect(failing.fix?.config.evictionHard).toMatchObject({
      'memory.available': '100Mi',
      'imagefs.available': '5%',
    })
    expect(
      failingOf(strandedDisk, example(500, soft('nodefs.available', 75, 60_000, 200))).fix,
    ).toBeUndefined()
  })
})
