import { describe, expect, it } from 'vitest'
import type { Failing } from '#judge/rule.ts'
import { repeatedPressure } from '#judge/rules/eviction/repeated-pressure.ts'
import { exampleTime, hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const event = (reason: string, count: number, message = reason, pod: object | null = null) =>
  ({
    ...{ reason, count, message, pod },
    firstTime: '2026-11-20T23:05:00Z',
    lastTime: '2026-11-20T23:50:00Z',
  }) as never

itJudgesExamples(repeatedPressure, {
  bad: { events: [event('NodeHasDiskPressure', 3)] },
  good: { events: [event('NodeHasDiskPressure', 2), event('EvictionThresholdMet', 61)] },
})

describe('repeated-pressure', () => {
  const evicted = event(
    'Evicted',
    1,
    'The node was low on resource: ephemeral-storage. Threshold quantity: 10737418240, available: 9Gi. ',
    { namespace: 'a', name: 'b' },
  )

  it('counts flaps and time, and finds the threshold of an eviction by its bytes', () => {
    const events = [
      event('NodeHasDiskPressure', 13),
      event('EvictionThresholdMet', 61, 'Attempting to reclaim ephemeral-storage'),
      evicted,
    ]
    const outcome = outcomeFor(repeatedPressure, {
      events,
      thresholds: [hard('nodefs.available', 10)],
    })
    const text = JSON.stringify(outcome)
    expect(text).toContain(
      'DiskPressure came 13 times since 2026-11-20 23:05 UTC, for 65 min or more in all, with',
    )
    expect(text).toContain('61 attempts to reclaim; 1 eviction within a day')
    expect(text).toContain('nodefs.available 10Gi')
  })

  it.each([
    ['inodes', { id: 'look-on-node', unit: 'inodes' }],
    ['ephemeral-storage', { id: 'look-on-node' }],
  ])('looks for what is short: %s', (resource, step) => {
    const events = [
      event('NodeHasDiskPressure', 13),
      event('EvictionThresholdMet', 61, `Attempting to reclaim ${resource}`),
    ]
    const { failing } = outcomeFor(repeatedPressure, { events, held: { unread: 90 } }) as {
      failing: Failing
    }
    expect(failing.steps?.[0]).toEqual(step)
  })

  it('sums evictions by owner: whose pods are evicted again and again', () => {
    const low = 'The node was low on resource: ephemeral-storage. '
    const gone = (name: string) => event('Evicted', 1, low, { namespace: 'shop', name })
    const outcome = outcomeFor(repeatedPressure, {
      events: [
        event('NodeHasDiskPressure', 3),
        ...['api-7d9c6bf5c8-4bcdf', 'api-7d9c6bf5c8-5bcdf', 'web-5b8f9d4c77-6bcdf'].map(gone),
      ],
    })
    const text = JSON.stringify(outcome)
    expect(text).toContain('3 evictions within a day, 2 of them of pods shop/api-7d9c6bf5c8-*')
    expect(text).toContain('evictions within a day of pods shop/web-5b8f9d4c77-*')
  })

  it.each([
    ['48458972Ki', 'set-memory', ['used 46.2 GiB of memory (request 15Gi)']],
    ['20Mi', 'list-memory', ['used 20.0 MiB of memory (request 15Gi)']],
  ])('names the container with the memory, and looks in no folder: %s', (used, step, words) => {
    const message = `The node was low on resource: memory. Threshold quantity: 100Mi, available: 87608Ki. Container app was using ${used}, request is 15Gi, has larger consumption of memory. `
    const outcome = outcomeFor(repeatedPressure, {
      events: [event('NodeHasInsufficientMemory', 3)],
      node: { status: { capacity: { memory: '62Gi' } } },
      pods: [
        {
          metadata: { namespace: 'ci', name: 'a', uid: 'a' },
          status: { phase: 'Failed', reason: 'Evicted', message, startTime: exampleTime },
        },
      ],
    })
    if (outcome.state !== 'fail') throw new Error(outcome.state)
    for (const word of words) expect(outcome.failing.seen).toContain(word)
    expect(outcome.failing.steps?.map(({ id }) => id)).toEqual([step])
  })

  it('lists processes where process ids run out', () => {
    const outcome = outcomeFor(repeatedPressure, { events: [event('NodeHasInsufficientPID', 3)] })
    expect(outcome.state === 'fail' && outcome.failing.steps).toEqual([{ id: 'list-processes' }])
  })

  const flaps = [event('NodeHasDiskPressure', 4)]
  const eviction = [hard('nodefs.available', 10)]
  it.each([
    [{ 'images-unused': 60, 'images-in-use': 20 }, 'imageGCHighThresholdPercent'],
    [{ 'writable-layers': 60, 'images-in-use': 20 }, 'writable-layers'],
    [{ 'writable-layers': 30, 'images-in-use': 20 }, "the rule's own"],
  ])('has what still holds the disk as its cause: %o', (held, expected) => {
    const outcome = outcomeFor(repeatedPressure, {
      ...{ events: flaps, held, thresholds: eviction },
      imageGC: { highThresholdPercent: 85 },
    })
    const cause = outcome.state === 'fail' ? outcome.failing.cause : null
    expect(JSON.stringify(cause ?? "the rule's own")).toContain(expected)
  })

  const written = (used: string, hoursAgo = 30, message = 'The node was low on resource: ') => ({
    metadata: { namespace: 'scan', name: `job-${used}`, uid: used },
    status: {
      ...{ phase: 'Failed', reason: 'Evicted' },
      message: `${message}ephemeral-storage. Container grype was using ${used}, which exceeds its request of 0. `,
      startTime: new Date(Date.parse(exampleTime) - hoursAgo * 3_600_000).toISOString(),
    },
  })
  it.each([
    ['the largest writer that was evicted', [written('1Gi'), written('12Gi')], {}, 'job-12Gi'],
    ['none: it wrote little', [written('9Gi')], {}, null],
    ['none: it was evicted over its own limit', [written('12Gi', 30, 'Limit of ')], {}, null],
    ['none: it was evicted eight days ago', [written('12Gi', 8 * 24)], {}, null],
    ['what still holds the disk', [written('12Gi')], { 'writable-layers': 75 }, null],
  ])('has an owner: %s', (_, pods, held, expected) => {
    const outcome = outcomeFor(repeatedPressure, { events: flaps, pods, held })
    const steps = outcome.state === 'fail' ? outcome.failing.steps : []
    const writer = steps?.find(({ id }) => id === 'set-ephemeral-storage')?.owner
    expect(writer?.kind === 'container' ? writer.pod : null).toBe(expected)
  })

  it('passes an hour after the last event', () => {
    const example = { events: [event('NodeHasDiskPressure', 13)], at: '2026-11-21T02:00:00Z' }
    expect(outcomeFor(repeatedPressure, example).state).toBe('pass')
  })

  it('is unknown without events', () => {
    expect(outcomeFor(repeatedPressure, {}).state).toBe('unknown')
  })

  const hoursAgo = (hours: number) =>
    new Date(Date.parse(exampleTime) - hours * 3_600_000).toISOString()
  const condition = (
    hours: number,
    status: 'True' | 'False' | 'Unknown',
    subject = 'DiskPressure',
  ) => ({
    ...{ at: hoursAgo(hours), what: 'condition' as const, subject, status },
    message: `${subject} is ${status}`,
  })
  const evictedAt = (hours: number, resource = 'ephemeral-storage') => ({
    ...{ at: hoursAgo(hours), what: 'evicted' as const, subject: 'a/b', message: '', resource },
  })
  const reclaim = (hours: number, what = 'attempting', resource = 'ephemeral-storage') =>
    `${hoursAgo(hours).slice(0, 19)}+0000 ip-10-0-0-1 kubelet[1]: I1121 "Eviction manager: ${what} to reclaim" resourceName="${resource}"`
  it.each([
    ['began at three readings', [9, 6, 3].map(hours => condition(hours, 'True')), [], 3],
    ['ended at three readings', [9, 6, 3].map(hours => condition(hours, 'False')), [], 3],
    [
      'began and ended twice',
      [condition(9, 'True'), condition(8, 'False'), condition(6, 'True'), condition(5, 'False')],
      [],
      null,
    ],
    [
      'began three times, once two days ago',
      [49, 6, 3].map(hours => condition(hours, 'True')),
      [],
      null,
    ],
    ['is unknown', [9, 6, 3].map(hours => condition(hours, 'Unknown')), [], null],
    ['is that of memory', [9, 6, 3].map(hours => condition(hours, 'True', 'Ready')), [], null],
    ['evicted pods at three times', [9, 6, 3].map(hours => evictedAt(hours)), [], 3],
    ['evicted three pods at once', [3, 2.99, 2.98].map(hours => evictedAt(hours)), [], null],
    ['evicted pods for memory', [9, 6, 3].map(hours => evictedAt(hours, 'memory')), [], 3],
    [
      'evicted over their own limit',
      [9, 6, 3].map(hours => ({ ...evictedAt(hours), resource: undefined })),
      [],
      null,
    ],
    ['is in the log', [], [9, 8.999, 6, 3].map(hours => reclaim(hours)), 3],
    [
      'is in the log as evictions',
      [],
      [9, 6, 3].map(hours => reclaim(hours, 'must evict pod(s)')),
      3,
    ],
    [
      'is in the log while one lasts',
      [condition(9, 'True')],
      [8, 6, 3].map(hours => reclaim(hours)),
      null,
    ],
    [
      'is in the log and at readings',
      [condition(9, 'True'), condition(8, 'False'), condition(2.995, 'True')],
      [reclaim(6), reclaim(3)],
      3,
    ],
  ])('counts a pressure within a day that %s', (_, happened, logLines, times) => {
    const outcome = outcomeFor(repeatedPressure, { events: [], happened, host: { logLines } })
    const seen = outcome.state === 'fail' ? (outcome.failing.seen ?? '') : null
    expect(seen === null ? null : Number(/ came (\d+) times since /.exec(seen)?.[1])).toBe(times)
  })
})
