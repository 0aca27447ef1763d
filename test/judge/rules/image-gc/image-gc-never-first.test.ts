import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { imageGcNeverFirst } from '#judge/rules/image-gc/image-gc-never-first.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { EvaluatedThreshold, FilesystemState, Signal } from '#model/prediction.ts'
import { hard, type NodeExample, ranked, soft, unresolved } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, shownValue, state } from '#test/rule-outcome.ts'

const disk = (usedPercent: number): FilesystemState => ({
  capacityBytes: 100 * gibibyte,
  availableBytes: (100 - usedPercent) * gibibyte,
  usedPercent,
  inodes: 1_000,
  inodesFree: 900,
})

itJudgesExamples(imageGcNeverFirst, {
  bad: {
    filesystems: { layout: 'imagefs', nodefs: disk(85) },
    thresholds: [hard('nodefs.available', 10, 15)],
  },
  good: {
    filesystems: { layout: 'imagefs', nodefs: disk(60) },
    thresholds: [hard('nodefs.available', 10, 40)],
  },
})

describe('image-gc-never-first', () => {
  const filesystem = (availableGib: number, inodesFree = 900): FilesystemState => ({
    capacityBytes: 100 * gibibyte,
    availableBytes: availableGib * gibibyte,
    usedPercent: 100 - availableGib,
    inodes: 1_000,
    inodesFree,
  })
  const inodes = (signal: Signal, free: number): EvaluatedThreshold => ({
    ...hard(signal, 0),
    value: '5%',
    resolved: 50,
    margin: free - 50,
    met: free < 50,
  })
  const own = (availableGib: number, ...thresholds: EvaluatedThreshold[]): NodeExample => ({
    filesystems: { layout: 'imagefs', nodefs: filesystem(availableGib) },
    thresholds: thresholds.length > 0 ? thresholds : [hard('nodefs.available', 10, availableGib)],
  })
  const oneDisk = (free: number, imageGC: NodeExample['imageGC'] = {}): NodeExample => ({
    filesystems: { layout: 'shared', nodefs: filesystem(60, free), imagefs: filesystem(60, free) },
    thresholds: [inodes('nodefs.inodesFree', free)],
    imageGC,
  })

  it.each<[string, NodeExample, string]>([
    ['nodefs of its own at the alert', own(20), 'fail'],
    ['just below it', own(20.1), 'pass'],
    ['split', { ...own(20), filesystems: { layout: 'split', nodefs: filesystem(20) } }, 'fail'],
    [
      'one disk: image GC looks at it',
      { ...own(20), filesystems: { layout: 'shared', nodefs: filesystem(20) } },
      'pass',
    ],
    [
      'no layout known',
      { ...own(20), filesystems: { layout: null, nodefs: filesystem(20) } },
      'unknown',
    ],
    [
      'no layout known, half empty',
      { ...own(50), filesystems: { layout: null, nodefs: filesystem(50) } },
      'pass',
    ],
    ['met: eviction is due', own(9), 'pass'],
    ['at the threshold', own(10), 'fail'],
    ['nothing watches', own(20, hard('memory.available', 1)), 'pass'],
    [
      'a soft one met, the hard one not yet',
      own(12, hard('nodefs.available', 10, 12), soft('nodefs.available', 15, 60_000, 12)),
      'pass',
    ],
    ['not observed', { ...own(20, { ...hard('nodefs.available', 10), ...unresolved }) }, 'unknown'],
    ['inodes of one disk', oneDisk(200), 'fail'],
    ['one inode more', oneDisk(201), 'pass'],
    [
      'inodes of one disk, where image GC is due for bytes',
      oneDisk(200, { triggered: true }),
      'pass',
    ],
    [
      'inodes of images',
      {
        filesystems: { layout: 'imagefs', imagefs: filesystem(60, 100) },
        thresholds: [inodes('imagefs.inodesFree', 100)],
      },
      'fail',
    ],
    [
      'a filesystem that counts none',
      {
        ...own(60, inodes('nodefs.inodesFree', 500)),
        filesystems: { nodefs: { ...filesystem(60), inodes: 0 } },
      },
      'pass',
    ],
    ['Amazon Linux', {}, 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(imageGcNeverFirst, node)).toBe(expected)
  })

  it('says how far and how long it is, and whom eviction takes', () => {
    const pods = [
      ranked('dns', 0, 5),
      ranked('web-0', 1, 4),
      ranked('web-1', 2, 3),
      ranked('web-2', 3, 2),
      ranked('web-3', 4, 1),
    ]
    const node: NodeExample = {
      ...own(20),
      eviction: {
        rankings: [{ signal: 'nodefs.available', pods }],
        protected: [{ namespace: 'shop', name: 'dns', reason: 'critical' }],
      },
    }
    expect(failingOf(imageGcNeverFirst, node).consequence).toMatchSnapshot()
    expect(shownValue(imageGcNeverFirst, oneDisk(200), 'nodefs.inodesFree margin')).toBe('150')
    expect(shownValue(imageGcNeverFirst, oneDisk(200), 'met at the assumed growth in')).toBe(
      '37.5 min',
    )
    expect(shownValue(imageGcNeverFirst, oneDisk(200), 'collected before pods are evicted')).toBe(
      'containers, images',
    )
  })

  it('takes the alert from the policy, and does without a growth', () => {
    expect(state(imageGcNeverFirst, own(30), { ...defaultPolicy, alertPercent: 70 })).toBe('fail')
    expect(state(imageGcNeverFirst, own(20), { ...defaultPolicy, assumedGrowthPercent: 0 })).toBe(
      'fail',
    )
  })
})
