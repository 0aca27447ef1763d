import { describe, expect, it } from 'vitest'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { unwatchedImagefs } from '#judge/rules/eviction/unwatched-imagefs.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { only, running, trio, upstream } from '#test/rules/eviction.ts'

itJudgesExamples(unwatchedImagefs, {
  bad: { filesystems: { layout: 'imagefs' }, thresholds: [hard('nodefs.available', 10)] },
  good: {
    filesystems: { layout: 'imagefs' },
    thresholds: [hard('nodefs.available', 10), hard('imagefs.available', 10)],
  },
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

  it.each([
    [14, null, 'critical'],
    [16, null, 'high'],
    [49, null, 'high'],
    [51, null, 'medium'],
    [90, 4, 'critical'],
    [null, null, 'high'],
  ])('with %s percent and %s percent of the inodes free: %3$s', (free, inodesFree, severity) => {
    const disk = {
      ...{ capacityBytes: 100, availableBytes: free, usedPercent: null },
      ...{ inodes: inodesFree === null ? null : 100, inodesFree },
    }
    const split = { layout: 'imagefs' as const, imagefs: disk }
    expect(failingOf(unwatchedImagefs, { ...running(trio), filesystems: split }).severity).toBe(
      severity,
    )
    const shared = { layout: 'shared' as const, nodefs: disk, imagefs: disk }
    const off = running({ ...trio, 'nodefs.available': '0%', 'imagefs.available': '0%' })
    expect(failingOf(unwatchedImagefs, { ...off, filesystems: shared }).severity).toBe(severity)
  })

  it('leaves a lost threshold of a disk with much room at medium, not one of memory', () => {
    const room = { capacityBytes: 100, availableBytes: 60, usedPercent: 40 }
    const disk = { ...room, inodes: null, inodesFree: null }
    const filesystems = { layout: 'shared' as const, nodefs: disk, imagefs: disk }
    const severityOf = (signal: 'memory.available' | 'nodefs.available') =>
      failingOf(lostDefaultThreshold, { ...running(only(signal)), filesystems }).severity
    expect(severityOf('memory.available')).toBe('medium')
    expect(severityOf('nodefs.available')).toBeUndefined()
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
