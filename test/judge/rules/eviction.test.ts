import { describe, expect, it } from 'vitest'
import { openJudgement } from '#judge/judge.ts'
import { outcomeOf } from '#judge/outcome.ts'
import type { NodeRule } from '#judge/rule.ts'
import { evictionDue } from '#judge/rules/eviction/eviction-due.ts'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { unwatchedImagefs } from '#judge/rules/eviction/unwatched-imagefs.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { EvaluatedThreshold, Signal } from '#model/prediction.ts'
import { inputOf } from '#test/at-the-door.ts'
import { exampleSubject, hard, type NodeExample, soft } from '#test/example.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'

const judge = (rule: NodeRule, example: NodeExample) =>
  outcomeOf(rule, exampleSubject(example), defaultPolicy)
const state = (rule: NodeRule, example: NodeExample) => judge(rule, example).state
const failingOf = (rule: NodeRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

const upstream = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
}
const only = (...signals: (keyof typeof upstream)[]) =>
  Object.fromEntries(signals.map(signal => [signal, upstream[signal]]))
const trio = only('memory.available', 'nodefs.available', 'nodefs.inodesFree')
/** What is configured, in force: a switched-off key is in the map but makes no threshold. */
const running = (
  evictionHard: Record<string, string> | undefined,
  evictionSoft: Record<string, string> = {},
): NodeExample => ({
  configuration: { evictionHard, evictionSoft },
  thresholds: [
    ...inForce(evictionHard).map(signal => hard(signal, 10)),
    ...inForce(evictionSoft).map(signal => soft(signal, 10, 60_000)),
  ],
})
const inForce = (map: Record<string, string> = {}) =>
  Object.entries(map)
    .filter(([, value]) => value !== '0%' && value !== '100%')
    .map(([signal]) => signal as Signal)

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
    const outcome = judge(lostDefaultThreshold, { ...example, filesystems: { layout } })
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
      expect(judge(unwatchedImagefs, example).state).toBe(isUnwatched ? 'fail' : 'notApplicable')
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

describe('unwatched-imagefs', () => {
  it.each([
    ['shared', running(trio), 'notApplicable'],
    ['imagefs', running(trio), 'fail'],
    ['split', running(trio), 'fail'],
    ['imagefs', running(upstream), 'pass'],
    ['imagefs', running(trio, { 'imagefs.available': '20%' }), 'pass'],
    ['imagefs', running({ ...trio, 'imagefs.available': '0%' }), 'fail'],
    ['imagefs', running(only('imagefs.inodesFree')), 'fail'],
    [null, running(trio), 'unknown'],
    [null, running(upstream), 'pass'],
  ] as const)('on layout %s, case %#: %s', (layout, example, expected) => {
    expect(state(unwatchedImagefs, { ...example, filesystems: { layout } })).toBe(expected)
  })

  it('says that it was switched off, and what to set', () => {
    const { evidence, fix } = failingOf(unwatchedImagefs, {
      ...running({ ...trio, 'imagefs.available': '0%' }),
      filesystems: { layout: 'imagefs' },
    })
    expect(evidence[0]).toEqual({
      kind: 'configz',
      what: 'evictionHard.imagefs.available',
      value: '0% (never met: switched off)',
    })
    expect(fix?.config.evictionHard).toEqual({ ...trio, 'imagefs.available': '15%' })
  })

  it('speaks of one disk, too, that nothing watches, unless a default was lost', () => {
    const shared = (example: NodeExample, layoutCertainty: 'likely' | 'certain' = 'likely') => ({
      ...example,
      filesystems: { layout: 'shared' as const, layoutCertainty },
    })
    const off = shared(running({ ...trio, 'nodefs.available': '0%', 'imagefs.available': '0%' }))
    // Certain whatever the layout is: neither filesystem is watched.
    expect(failingOf(unwatchedImagefs, off)).toMatchObject({
      title: 'The disk is watched by no eviction threshold',
    })
    expect(failingOf(unwatchedImagefs, off).confidence).toBeUndefined()
    expect(failingOf(unwatchedImagefs, off).fix?.config.evictionHard).toMatchObject({
      'nodefs.available': '10%',
    })
    expect(state(lostDefaultThreshold, off)).toBe('pass')
    const soft = shared(
      running(
        { ...trio, 'nodefs.available': '0%', 'imagefs.available': '0%' },
        { 'nodefs.available': '15%' },
      ),
    )
    expect(state(unwatchedImagefs, soft)).toBe('notApplicable')
    const lost = shared(running({ ...trio, 'nodefs.available': '0%' }))
    expect(state(lostDefaultThreshold, lost)).toBe('fail')
    expect(state(unwatchedImagefs, lost)).toBe('notApplicable')
  })

  it('counts a threshold of 0 bytes as none', () => {
    expect(
      state(unwatchedImagefs, {
        filesystems: { layout: 'imagefs' },
        thresholds: [hard('imagefs.available', 0)],
      }),
    ).toBe('fail')
  })
})

describe('eviction-due', () => {
  const fixOf = (gib: number, value: string, available: number) => {
    const threshold = { ...hard('nodefs.available', gib, available), value }
    const outcome = outcomeOf(
      evictionDue,
      exampleSubject({
        thresholds: [threshold],
        configuration: { evictionHard: { 'nodefs.available': value, 'memory.available': '1Gi' } },
        eviction: {
          signals: {
            'nodefs.available': {
              capacityBytes: 100 * 1024 ** 3,
              availableBytes: available,
              time: null,
            },
          },
        },
      }),
      defaultPolicy,
    )
    return outcome.state === 'fail' ? outcome.failing.fix : null
  }

  it('puts the default back where only the raised threshold is met', () => {
    expect(fixOf(30, '30%', 27)).toEqual({
      config: { evictionHard: { 'nodefs.available': '10%', 'memory.available': '1Gi' } },
    })
    // The default would be met too: the disk is full.
    expect(fixOf(30, '30%', 9)).toBeUndefined()
    expect(fixOf(10, '10%', 9)).toBeUndefined()
  })

  const unmet = (signal: Signal): EvaluatedThreshold => ({
    ...hard(signal, 10),
    resolved: null,
    met: null,
    margin: null,
  })

  it.each([
    ['above', [hard('nodefs.available', 10, 11)], 'pass'],
    ['exactly at the threshold', [hard('nodefs.available', 10, 10)], 'pass'],
    ['below', [hard('nodefs.available', 10, 9)], 'fail'],
    ['below a soft one', [soft('nodefs.available', 10, 60_000, 9)], 'fail'],
    ['not observed', [unmet('imagefs.available')], 'unknown'],
    [
      'below one, another not observed',
      [hard('nodefs.available', 10, 9), unmet('imagefs.available')],
      'fail',
    ],
    [
      'a threshold that the kubelet added itself, not observed',
      [unmet('allocatableMemory.available')],
      'unknown',
    ],
    [
      'a threshold that the kubelet never meets: pods without a limit',
      [{ ...unmet('allocatableMemory.available'), met: false }],
      'pass',
    ],
    ['containerfs not observed', [unmet('containerfs.available')], 'unknown'],
    ['no threshold', [], 'pass'],
  ] as const)('%s: %s', (_, thresholds, expected) => {
    expect(state(evictionDue, { thresholds: [...thresholds] })).toBe(expected)
  })

  it('is of Windows, too, whose kubelet evicts by the same signals', () => {
    const identity = { operatingSystem: 'windows' } as const
    expect(state(evictionDue, { identity, thresholds: [hard('imagefs.available', 10, 9)] })).toBe(
      'fail',
    )
    expect(state(evictionDue, { identity, thresholds: [hard('imagefs.available', 10, 11)] })).toBe(
      'pass',
    )
  })

  it('tells bytes, margin and what the node reports', () => {
    const { evidence, consequence } = failingOf(evictionDue, {
      configuration: { evictionHard: { 'nodefs.available': '10Gi' } },
      thresholds: [hard('nodefs.available', 10, 9)],
      conditions: { DiskPressure: 'False' },
    })
    expect(evidence).toMatchSnapshot()
    expect(consequence).toContain('within 10 s')
  })

  it('tells the grace period of a soft threshold', () => {
    expect(
      failingOf(evictionDue, { thresholds: [soft('memory.available', 10, 90_000, 9)] }).consequence,
    ).toContain('stays so for 90 s')
  })

  it('counts inodes and pids, not bytes', () => {
    const pids = { ...hard('pid.available', 10), resolved: 3276, margin: -276, met: true }
    expect(failingOf(evictionDue, { thresholds: [pids] }).evidence).toContainEqual({
      kind: 'computed',
      what: 'pid.available now',
      value: '3000',
    })
  })

  it.each<[string, NodeExample, string]>([
    ['no statistics, in a mode that reads none', { mode: 'ssm', summary: null }, 'pass'],
    [
      'the node reports pressure',
      { mode: 'ssm', summary: null, conditions: { MemoryPressure: 'True' } },
      'unknown',
    ],
    [
      'the node stopped reporting',
      { mode: 'ssm', summary: null, conditions: { MemoryPressure: 'Unknown' } },
      'unknown',
    ],
    [
      'statistics that should be there',
      { summary: null, unread: { summary: 'HTTP 503' } },
      'unknown',
    ],
    ['statistics without it', { mode: 'ssm', summary: {} }, 'unknown'],
  ])(
    "takes the node's own word only where nobody was to ask for more: %s",
    (_, example, expected) => {
      expect(
        state(evictionDue, {
          ...example,
          thresholds: [{ ...hard('memory.available', 1), met: null }],
        }),
      ).toBe(expected)
    },
  )
})

describe('Windows and Auto Mode', () => {
  it.each([lostDefaultThreshold, unwatchedImagefs])('$id does not apply to Windows', rule => {
    expect(
      state(rule, {
        identity: { operatingSystem: 'windows' },
        thresholds: [],
        filesystems: { layout: 'imagefs' },
      }),
    ).toBe('notApplicable')
  })

  it('gives Auto Mode nodes no configuration to set, only the size of the disk', () => {
    const judgement = openJudgement([lostDefaultThreshold], defaultPolicy)
    const labels = {
      'eks.amazonaws.com/compute-type': 'auto',
      'karpenter.sh/nodepool': 'general-purpose',
    }
    const { record, prediction } = buildNode({
      ...running(only('memory.available')),
      nodegroup: null,
      labels,
    })
    judgement.take(inputOf(record), prediction)
    const [finding] = judgement.close(takenAt).findings
    expect(finding?.subject).toEqual({ kind: 'NodePool', namespace: null, name: 'general-purpose' })
    expect(finding?.fix.config).toEqual({})
    expect(finding?.fix.durable).toMatchObject([
      { target: 'auto-mode', snippet: expect.stringContaining('ephemeralStorage') },
    ])
  })
})
