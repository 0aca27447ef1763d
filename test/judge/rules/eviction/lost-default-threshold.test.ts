import { describe, expect, it } from 'vitest'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { unwatchedImagefs } from '#judge/rules/eviction/unwatched-imagefs.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, state } from '#test/rule-outcome.ts'
import { only, running, trio, upstream } from '#test/rules/eviction.ts'

itJudgesExamples(lostDefaultThreshold, {
  bad: {
    configuration: { evictionHard: { 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' } },
    thresholds: [hard('nodefs.available', 10), hard('nodefs.inodesFree', 5)],
  },
  good: {
    thresholds: [
      hard('memory.available', 1),
      hard('nodefs.available', 10),
      hard('nodefs.inodesFree', 5),
    ],
  },
})

describe('lost-default-threshold', () => {
  it.each([
    ['all defaults', running(upstream), 'shared', []],
    ['the trio of Amazon Linux on one disk: nodefs watches it', running(trio), 'shared', []],
    [
      'the trio with a disk for images',
      running(trio),
      'imagefs',
      ['imagefs.available', 'imagefs.inodesFree'],
    ],
    [
      'the trio with images split off',
      running(trio),
      'split',
      ['imagefs.available', 'imagefs.inodesFree'],
    ],
    [
      'only imagefs on one disk',
      running(only('memory.available', 'imagefs.available')),
      'shared',
      ['nodefs.inodesFree', 'imagefs.inodesFree'],
    ],
    [
      'only memory',
      running(only('memory.available')),
      'shared',
      ['nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree'],
    ],
    ['no map at all', running(undefined), 'shared', Object.keys(upstream)],
    ['an empty map', running({}), 'shared', Object.keys(upstream)],
    [
      'memory watched by a soft threshold',
      running(only('nodefs.available', 'nodefs.inodesFree'), { 'memory.available': '1Gi' }),
      'shared',
      [],
    ],
    [
      'memory lost',
      running(only('nodefs.available', 'nodefs.inodesFree')),
      'shared',
      ['memory.available'],
    ],
    [
      'memory switched off on purpose',
      running({ ...trio, 'memory.available': '0%' }),
      'shared',
      [],
    ],
    [
      'images switched off on purpose',
      running({ ...trio, 'imagefs.available': '100%', 'imagefs.inodesFree': '0%' }),
      'imagefs',
      [],
    ],
    [
      'nodefs switched off, so it does not watch for images',
      running({ ...trio, 'nodefs.available': '0%' }),
      'shared',
      ['imagefs.available'],
    ],
  ] as const)('%s', (_, example, layout, lost) => {
    const outcome = outcomeFor(lostDefaultThreshold, { ...example, filesystems: { layout } })
    const named =
      outcome.state === 'fail'
        ? outcome.failing.evidence.filter(({ value }) => value.startsWith('absent ('))
        : []
    expect(named.map(({ what }) => what.replace('evictionHard.', '')).toSorted()).toEqual(
      [...lost].toSorted(),
    )
    expect(outcome.state).toBe(lost.length === 0 ? 'pass' : 'fail')
  })

  it.each([
    ['imagefs', 'imagefs.available: see unwatched-imagefs', true],
    ['shared', 'imagefs.available can reach 0', false],
  ] as const)(
    'leaves on a disk of layout %s to unwatched-imagefs what that says',
    (layout, said, isUnwatched) => {
      const example = { ...running({ ...trio, 'nodefs.available': '0%' }), filesystems: { layout } }
      const { consequence } = failingOf(lostDefaultThreshold, example)
      expect(consequence).toMatch(/^Nothing watches imagefs\.available/)
      expect(consequence).toContain(said)
      expect(consequence.includes('imagefs.available can reach 0')).toBe(!isUnwatched)
      expect(outcomeFor(unwatchedImagefs, example).state).toBe(
        isUnwatched ? 'fail' : 'notApplicable',
      )
    },
  )

  it('is unknown where only the layout would tell, and fails beside that where something is surely lost', () => {
    const layout = { layout: null, layoutCertainty: null }
    expect(state(lostDefaultThreshold, { ...running(trio), filesystems: layout })).toBe('unknown')
    expect(
      state(lostDefaultThreshold, { ...running(only('nodefs.available')), filesystems: layout }),
    ).toBe('fail')
  })

  it('knows the defaults of the version: imagefs.inodesFree has one from 1.30 on', () => {
    const example = (kubeletVersion: string | null): NodeExample => ({
      ...running(
        only('memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available'),
      ),
      identity: { kubeletVersion },
      filesystems: { layout: 'imagefs' },
    })
    expect(state(lostDefaultThreshold, example('v1.29.3'))).toBe('pass')
    expect(state(lostDefaultThreshold, example('v1.30.0'))).toBe('fail')
    expect(state(lostDefaultThreshold, example(null))).toBe('unknown')
  })

  it('gives the whole map as fix, and moves image GC where the default would come before it', () => {
    const failing = failingOf(lostDefaultThreshold, {
      ...running(trio),
      configuration: { evictionHard: trio, imageGCHighThresholdPercent: 85 },
      filesystems: { layout: 'imagefs' },
    })
    expect(failing.fix?.config).toEqual({
      evictionHard: upstream,
      imageGCHighThresholdPercent: 80,
      imageGCLowThresholdPercent: 70,
    })
    expect(
      failingOf(lostDefaultThreshold, running(only('nodefs.available', 'nodefs.inodesFree'))).fix
        ?.config,
    ).toEqual({ evictionHard: trio })
  })

  it('is as certain as the layout where a filesystem is concerned', () => {
    const likely = { layout: 'imagefs', layoutCertainty: 'likely' } as const
    expect(
      failingOf(lostDefaultThreshold, { ...running(trio), filesystems: likely }).confidence,
    ).toBe('likely')
    const memory = running(only('nodefs.available', 'nodefs.inodesFree'))
    expect(
      failingOf(lostDefaultThreshold, { ...memory, filesystems: { layoutCertainty: 'likely' } })
        .confidence,
    ).toBe('certain')
  })
})
