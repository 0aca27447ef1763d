import { describe, expect, it } from 'vitest'
import { agoMs, eventTimes, timesText } from '#judge/events/events.ts'
import { evictionLoop } from '#judge/rules/eviction/eviction-loop.ts'
import { imageGcDead } from '#judge/rules/image-gc/image-gc-dead.ts'
import { unreachableGcLowThreshold } from '#judge/rules/image-gc/unreachable-gc-low-threshold.ts'
import { pullFailingNow } from '#judge/rules/image-pull/pull-failing-now.ts'
import { rateLimitedRegistry } from '#judge/rules/image-pull/rate-limited-registry.ts'
import { memoryCgroupLeak } from '#judge/rules/kernel/memory-cgroup-leak.ts'
import { oomBeforeEviction } from '#judge/rules/reservations/oom-before-eviction.ts'
import { type ContextExample, exampleTime } from '#test/example.ts'
import { evidenceText, failingOf, outcomeFor, state } from '#test/rule-outcome.ts'
import { event, minutesAgo, shortBefore135 } from '#test/rules/events.ts'

describe('times of events', () => {
  it.each([
    [minutesAgo(10), 600_000],
    [minutesAgo(-10), 0],
    [minutesAgo(-61), null],
    [null, null],
    ['yesterday', null],
  ])('%s: %s ms ago', (time, expected) => {
    expect(agoMs(time, exampleTime)).toBe(expected)
  })

  it('are counted, and a count without sense is not believed', () => {
    const times = (...counts: number[]) =>
      timesText(
        eventTimes(
          counts.map(count => event({ reason: 'a', count })),
          exampleTime,
        ),
      )
    expect(times(1)).toBe('once at 2026-11-20 23:55 UTC')
    expect(times(2, 3)).toBe('5 times since 2026-11-20 23:55 UTC, last at 2026-11-20 23:55 UTC')
    expect(times(Number.MAX_SAFE_INTEGER, 1)).toContain('1000000 times or more')
    expect(
      timesText(
        eventTimes(
          [event({ reason: 'a', count: 2, firstTime: null, lastTime: null })],
          exampleTime,
        ),
      ),
    ).toBe('2 times')
  })
})

describe('events that were not read', () => {
  const unread = { events: 'page 2: timeout' }
  const undecided = [
    evictionLoop,
    imageGcDead,
    rateLimitedRegistry,
    pullFailingNow,
    memoryCgroupLeak,
    oomBeforeEviction,
  ]
  const sound: ContextExample = { node: { status: { nodeInfo: { kernelVersion: '6.1.115' } } } }

  it.each(undecided)('leave $id open, also where the list only broke off', rule => {
    const unknown = { state: 'unknown', reason: 'events: page 2: timeout' }
    expect(outcomeFor(rule, { ...sound, errors: unread })).toEqual(unknown)
    expect(outcomeFor(rule, { ...sound, errors: unread, events: [] })).toEqual(unknown)
    expect(state(rule, { ...sound, events: [] })).toBe('pass')
  })

  it('leave a round that replay takes for enough open', () => {
    const imageGC = { triggered: true, reachesLow: true }
    expect(state(unreachableGcLowThreshold, { imageGC, errors: unread })).toBe('unknown')
    expect(state(unreachableGcLowThreshold, { imageGC })).toBe('pass')
    expect(state(unreachableGcLowThreshold, { errors: unread })).toBe('pass')
  })

  it('do not matter where what was read tells enough', () => {
    const events = [event({ reason: 'ContainerGCFailed', message: 'rpc error', count: 30 })]
    expect(state(imageGcDead, { events, errors: unread })).toBe('fail')
  })
})

describe('a node of which little was read', () => {
  const short = event({
    reason: 'FreeDiskSpaceFailed',
    message: shortBefore135,
    ago: [50, 3],
    count: 12,
  })
  const dead = event({ reason: 'ContainerGCFailed', message: 'gone', ago: [30, 1], count: 30 })
  const evictions = ['4bcdf', '5bcdf', '6bcdf'].map(suffix =>
    event({ reason: 'Evicted', of: `logging/shipper-${suffix}` }),
  )
  const refused = event({
    reason: 'Failed',
    of: 'shop/web',
    message: 'Failed to pull image "redis:7": 429 Too Many Requests',
  })

  it.each([
    [unreachableGcLowThreshold.id, unreachableGcLowThreshold, { imageGC: null }, [short], 'likely'],
    [imageGcDead.id, imageGcDead, { imageGC: null }, [dead], 'certain'],
    [evictionLoop.id, evictionLoop, { pods: null }, evictions, 'likely'],
    [rateLimitedRegistry.id, rateLimitedRegistry, { pods: null }, [refused], 'likely'],
    [pullFailingNow.id, pullFailingNow, { pods: null }, [refused], 'likely'],
  ] as const)(
    '%s fails by what its kubelet said of itself, else it is unknown',
    (_, rule, unread, events, confidence) => {
      expect(failingOf(rule, { ...unread, events }).confidence).toBe(confidence)
      expect(evidenceText(rule, { ...unread, events })).toContain(
        events[0]?.reason === 'Failed' ? 'Too Many Requests' : 'times',
      )
      expect(outcomeFor(rule, { ...unread, events: [] })).toMatchObject({
        state: 'unknown',
        reason: expect.stringContaining('not read'),
      })
    },
  )
})
