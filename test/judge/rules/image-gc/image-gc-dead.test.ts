import { describe, expect, it } from 'vitest'
import { imageGcDead } from '#judge/rules/image-gc/image-gc-dead.ts'
import { gc, sharedFilesystems } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state, state as stateOf } from '#test/rule-outcome.ts'
import { event, shortBefore135, shortSince135 } from '#test/rules/events.ts'

/** Upstream's text where a round sees no size of the disk. */
const noCapacity = 'invalid capacity 0 on image filesystem'

itJudgesExamples(imageGcDead, {
  bad: { imageGC: { triggered: false, usagePercent: null, reachesLow: null, error: noCapacity } },
  good: { imageGC: { triggered: false } },
})

const undeletable =
  'wanted to free 9 bytes, but freed 0 bytes space with errors in image deletion: rpc error: code = Unknown desc = busy'

describe('image-gc-dead', () => {
  const starting = (ago: number | [number, number], count = 1) =>
    event({ reason: 'Starting', message: 'Starting kubelet.', ago, count })
  const blind = (ago: number | [number, number], count: number) =>
    event({ reason: 'InvalidDiskCapacity', message: noCapacity, ago, count })
  const failed = (
    ago: number | [number, number],
    count = 1,
    message = 'rpc error: code = Unavailable desc = gone',
  ) => event({ reason: 'ImageGCFailed', ago, count, message })
  const containers = (ago: number | [number, number], count: number) =>
    event({ reason: 'ContainerGCFailed', ago, count, message: 'gone' })

  it.each([
    ['no events', [], 'pass'],
    ['no capacity, once', [blind(3, 1)], 'pass'],
    ['no capacity, twice', [blind([8, 3], 2)], 'fail'],
    ['no capacity, twice, long ago', [blind([50, 11], 8)], 'pass'],
    ['no capacity, twice, just after a start', [starting(9), blind([8, 3], 2)], 'pass'],
    [
      'no capacity, twice, a kubelet that was started 10 min before the last',
      [starting(13), blind([13, 3], 3)],
      'pass',
    ],
    ['no capacity, later than that after a start', [starting(14), blind([14, 3], 3)], 'fail'],
    [
      'no capacity, more rounds than fit in since its start',
      [starting(9), blind([50, 3], 9)],
      'fail',
    ],
    ['a kubelet that starts again and again', [starting([50, 2], 10), blind([50, 2], 10)], 'pass'],
    [
      "another component's start",
      [event({ reason: 'Starting', ago: 9 }), blind([8, 3], 2)],
      'fail',
    ],
    ['a start that came after', [starting(1), blind([8, 3], 2)], 'fail'],
    ['an error with count 1: the second in a row', [failed(3)], 'fail'],
    ['the same after a start', [starting(8), failed(3)], 'pass'],
    ['images that cannot be deleted', [failed(3, 2, undeletable)], 'fail'],
    [
      'too little to free, which is another rule',
      [failed(3, 9, shortBefore135), failed(3, 9, shortSince135)],
      'pass',
    ],
    ['containers, once', [containers(1, 1)], 'pass'],
    ['containers, twice', [containers([2, 1], 2)], 'fail'],
    ['containers, while it starts', [starting(6), containers([6, 1], 6)], 'pass'],
    ['no times, which is now', [{ ...failed(3, 2), firstTime: null, lastTime: null }], 'fail'],
    [
      'times far ahead, which is no time',
      [{ ...failed(3, 2), firstTime: '2099-01-01T00:00:00Z', lastTime: '2099-01-01T00:00:00Z' }],
      'fail',
    ],
  ] as const)('%s: %3$s', (_, events, expected) => {
    expect(state(imageGcDead, { events: [...events] })).toBe(expected)
  })

  const used =
    'conflict: unable to delete 99e (cannot be forced) - image is being used by running container ef8'
  it.each([
    [noCapacity, ['read-journal', 'advice'], noCapacity],
    ['missing image stats: &ImageFsInfoResponse{', ['read-journal', 'advice'], 'missing image'],
    [
      `wanted to free 9 bytes, but freed 0 bytes space with errors in image deletion: rpc error: code = Unknown desc = Error response from daemon: ${used}`,
      ['find-container', 'prune-dead-containers'],
      `("${used}")`,
    ],
    [undeletable, ['read-journal'], '("busy")'],
  ])('has the steps that end the error %s: %j', (message, steps, quoted) => {
    const failing = failingOf(imageGcDead, { events: [failed(3, 2, message)] })
    expect(failing.steps?.map(({ id }) => id)).toEqual(steps)
    expect(failing.consequence).toContain(quoted)
  })

  it('is certain where an event of the last round says it', () => {
    expect(failingOf(imageGcDead, { events: [failed(5)] }).confidence).toBe('certain')
    expect(failingOf(imageGcDead, { events: [failed(6)] }).confidence).toBe('likely')
    expect(failingOf(imageGcDead, { events: [{ ...failed(5), lastTime: null }] }).confidence).toBe(
      'certain',
    )
    expect(
      failingOf(imageGcDead, { events: [{ ...failed(5), firstTime: null, lastTime: null }] })
        .confidence,
    ).toBe('likely')
  })

  it('counts rounds, not what each tells', () => {
    const { consequence, evidence } = failingOf(imageGcDead, {
      events: [blind([50, 1], 11), failed([45, 1], 10, noCapacity)],
    })
    expect(consequence).toContain('ended in an error 11 times since')
    expect(evidence).toHaveLength(2)
  })

  it('needs no events where the statistics show it, and then cites them', () => {
    const imageGC = { triggered: false, reachesLow: null, error: noCapacity }
    const plain = failingOf(imageGcDead, { imageGC })
    const events = [starting(2), blind(2, 1), failed([40, 1], 7, noCapacity)]
    expect(failingOf(imageGcDead, { imageGC, events })).toEqual({
      ...plain,
      evidence: [
        ...plain.evidence,
        {
          kind: 'event',
          what: 'event InvalidDiskCapacity, once at 2026-11-20 23:58 UTC',
          value: noCapacity,
        },
      ],
    })
  })

  it('passes over images where their GC is off, not over containers', () => {
    const imageGC = { enabled: false, triggered: null }
    expect(state(imageGcDead, { imageGC, events: [failed(3), blind([8, 3], 2)] })).toBe(
      'notApplicable',
    )
    expect(
      failingOf(imageGcDead, { imageGC, events: [failed(3), containers([30, 1], 30)] }).title,
    ).toContain('Container')
  })
})

describe('image-gc-dead', () => {
  it.each([
    [
      { triggered: false, reachesLow: null, error: 'invalid capacity 0 on image filesystem' },
      'fail',
    ],
    [{ triggered: true, error: 'wanted to free' }, 'pass'],
    [{ triggered: null, error: null }, 'unknown'],
    [
      { triggered: null, error: 'invalid HighThresholdPercent 101, must be in range [0-100]' },
      'unknown',
    ],
    [{ triggered: false }, 'pass'],
    [gc(100, 80), 'notApplicable'],
  ] as const)('%j: %s', (imageGC, expected) => {
    expect(stateOf(imageGcDead, { imageGC })).toBe(expected)
  })

  it('names a disk that reports more free bytes than it has', () => {
    const imagefs = {
      ...sharedFilesystems.imagefs!,
      capacityBytes: 2 ** 40,
      availableBytes: 2 ** 44,
    }
    const given = { filesystems: { imagefs }, imageGC: { triggered: false } }
    expect(failingOf(imageGcDead, given)).toMatchObject({
      title: 'A disk reports more free bytes than it has: nothing sees it fill',
      steps: [{ id: 'read-devices' }, { id: 'replace-node' }],
    })
  })
})
