import { describe, expect, it } from 'vitest'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { unwatchedInodes } from '#judge/rules/eviction/unwatched-inodes.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(unwatchedInodes, {
  bad: {
    configuration: {
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '0%',
      },
    },
    thresholds: [hard('memory.available', 1), hard('nodefs.available', 10)],
  },
  good: { thresholds: [hard('nodefs.available', 10), hard('nodefs.inodesFree', 5)] },
})

const uncounted = { capacityBytes: 1, availableBytes: 1, usedPercent: 0, inodes: 0, inodesFree: 0 }

describe('unwatched-inodes', () => {
  const nodefs = hard('nodefs.inodesFree', 5)
  const imagefs = hard('imagefs.inodesFree', 5)
  const off = (signal: string) => ({ configuration: { evictionHard: { [signal]: '0%' } } })

  it.each<[string, NodeExample, string]>([
    ['one disk, nodefs watched', { thresholds: [nodefs] }, 'pass'],
    ['one disk, imagefs watched', { thresholds: [imagefs] }, 'pass'],
    ['switched off', { thresholds: [hard('nodefs.inodesFree', 0)] }, 'fail'],
    [
      'two disks, both watched',
      { thresholds: [nodefs, imagefs], filesystems: { layout: 'imagefs' } },
      'pass',
    ],
    [
      'two disks, one watched by default: a lost one is said elsewhere',
      { thresholds: [nodefs], filesystems: { layout: 'split' } },
      'pass',
    ],
    [
      'two disks, one switched off',
      { ...off('imagefs.inodesFree'), thresholds: [nodefs], filesystems: { layout: 'split' } },
      'fail',
    ],
    [
      'two disks, no default in that version',
      {
        identity: { kubeletVersion: 'v1.29.15' },
        thresholds: [nodefs],
        filesystems: { layout: 'split' },
      },
      'fail',
    ],
    ['no layout known', { thresholds: [nodefs], filesystems: { layout: null } }, 'unknown'],
    ['no layout and nothing watched', { thresholds: [], filesystems: { layout: null } }, 'fail'],
    [
      'a filesystem that counts none',
      { thresholds: [], filesystems: { nodefs: uncounted } },
      'pass',
    ],
    ['inodes not known', { thresholds: [], filesystems: { nodefs: null } }, 'unknown'],
  ])('%s: %s', (_, example, expected) => {
    expect(state(unwatchedInodes, example)).toBe(expected)
  })
})

describe('one disk of which one signal was switched off', () => {
  const off: NodeExample = {
    configuration: {
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '0%',
      },
    },
    thresholds: [hard('memory.available', 1), hard('nodefs.available', 10)],
  }

  it('is one cause, said once, with one fix', () => {
    expect(state(unwatchedInodes, off)).toBe('fail')
    expect(state(lostDefaultThreshold, off)).toBe('pass')
    expect(state(lostDefaultThreshold, { ...off, filesystems: { layout: 'imagefs' } })).toBe('fail')
  })
})

it.each([
  ['switched off', unwatchedInodes, '0%'],
  ['lost', lostDefaultThreshold, undefined],
])(
  'says what is left of few inodes without a threshold, and what holds them: %s',
  (_, rule, value) => {
    const evictionHard = {
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      ...(value && { 'nodefs.inodesFree': value, 'imagefs.inodesFree': value }),
    }
    const failing = failingOf(rule, {
      configuration: { evictionHard },
      thresholds: [hard('memory.available', 1), hard('nodefs.available', 10)],
      filesystems: { nodefs: { ...uncounted, inodes: 1000, inodesFree: 20 } },
    })
    expect(failing.seen).toBe('20 of 1000 inodes of nodefs are left (2 %).')
    expect(failing.severity).not.toBe('medium')
  },
)
