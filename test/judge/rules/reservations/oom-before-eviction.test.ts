import { describe, expect, it } from 'vitest'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { oomBeforeEviction } from '#judge/rules/reservations/oom-before-eviction.ts'
import { hard, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import {
  evidenceText,
  failingOf as failingIn,
  failingOf,
  state,
  state as stateOf,
} from '#test/rule-outcome.ts'
import { event } from '#test/rules/events.ts'

itJudgesExamples(oomBeforeEviction, {
  bad: { thresholds: [hard('nodefs.available', 10), soft('memory.available', 1, 90_000)] },
  good: {
    thresholds: [
      hard('nodefs.available', 10),
      hard('memory.available', 1),
      soft('memory.available', 2, 90_000),
    ],
  },
})

describe('oom-before-eviction', () => {
  const system = event({
    reason: 'SystemOOM',
    message: 'System OOM encountered, victim process: java, pid: 4242',
    count: 3,
    ago: [40, 4],
  })
  const inContainer = event({
    reason: 'OOMKilling',
    message: 'Memory cgroup out of memory: Killed process 7 (java)',
  })

  it('tells that it has happened, but not of containers at their own limits', () => {
    expect(
      evidenceText(oomBeforeEviction, { thresholds: [], events: [system, inContainer] }),
    ).toContain('event SystemOOM, 3 times since')
    expect(
      evidenceText(oomBeforeEviction, { thresholds: [], events: [inContainer] }),
    ).not.toContain('OOMKilling')
  })

  it('sets the threshold that evictionHard removed', () => {
    const example = {
      configuration: { evictionHard: { 'nodefs.available': '10%' } },
      thresholds: [hard('nodefs.available', 10)],
      events: [system],
    }
    expect(failingOf(oomBeforeEviction, example)).toMatchObject({
      cause: { kind: 'setting', fields: ['evictionHard.memory.available'] },
      fix: { config: { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } } },
      seen: expect.stringContaining('nothing watches memory.available'),
    })
  })

  it('names the pod that uses most of a short memory, where the threshold is set', () => {
    const [podRef, GiB] = [{ name: 'agent-0', namespace: 'ops' }, 1024 ** 3]
    const example = {
      thresholds: [hard('memory.available', 1)],
      events: [system],
      pods: [{ metadata: { ...podRef, uid: 'u' }, spec: { containers: [{ name: 'a' }] } }],
      summary: {
        node: { memory: { availableBytes: GiB, workingSetBytes: 15 * GiB } },
        pods: [{ podRef, memory: { workingSetBytes: 9 * GiB } }],
      },
    } as never
    const { cause, steps } = failingOf(oomBeforeEviction, example)
    expect(cause).toMatchObject({ fields: ['resources.requests.memory'] })
    expect(steps).toContainEqual(expect.objectContaining({ id: 'set-memory', bytes: 9 * GiB }))
  })

  it('is a likely failing by itself, also where the configuration was not read', () => {
    const likely = {
      confidence: 'likely',
      consequence: expect.stringContaining(
        'The kernel killed processes of this node for memory 3 times',
      ),
    }
    expect(failingOf(oomBeforeEviction, { events: [system] })).toMatchObject(likely)
    expect(failingOf(oomBeforeEviction, { events: [system] }).evidence).toMatchObject([
      { what: expect.stringContaining('event SystemOOM') },
    ])
    expect(
      failingOf(oomBeforeEviction, { events: [{ ...system, reason: 'OOMKilling' }] }),
    ).toMatchObject(likely)
    expect(state(oomBeforeEviction, { events: [inContainer] })).toBe('pass')
    expect(failingOf(oomBeforeEviction, { events: [system], configuration: null })).toMatchObject(
      likely,
    )
    expect(state(oomBeforeEviction, { events: [], configuration: null })).toBe('unknown')
  })
})

describe('oom-before-eviction', () => {
  it.each([
    ['none', [], 'fail'],
    ['hard', [hard('memory.available', 1)], 'pass'],
    ['hard, but 0', [hard('memory.available', 0)], 'fail'],
    ['soft, over by the next pass', [soft('memory.available', 1, 10_000)], 'pass'],
    ['soft, over after it', [soft('memory.available', 1, 10_001)], 'fail'],
    ["the pods' own", [hard('allocatableMemory.available', 1)], 'fail'],
  ] as const)('%s: %3$s', (_, thresholds, expected) => {
    expect(stateOf(oomBeforeEviction, { thresholds: [...thresholds] })).toBe(expected)
  })

  it('proposes the default beside what is there', () => {
    const example = {
      thresholds: [],
      configuration: { evictionHard: { 'nodefs.available': '10%', 'memory.available': '0%' } },
    }
    expect(failingIn(oomBeforeEviction, example).fix?.config).toEqual({
      evictionHard: { 'nodefs.available': '10%', 'memory.available': '100Mi' },
    })
  })

  it.each([
    ['v1.34.2', '8Gi', 1, 'fail'],
    ['v1.34.2', '0', 1, 'pass'],
    ['v1.34.2', '8Gi', 9 * 1024 ** 3, 'pass'],
    ['v1.37.0', '8Gi', 1, 'pass'],
  ] as const)(
    '%s with %s of huge pages and a threshold of %s: %s',
    (version, pages, least, expected) => {
      const example = {
        thresholds: [hard('memory.available', least)],
        identity: { kubeletVersion: version },
        node: { status: { capacity: { 'hugepages-2Mi': pages, 'hugepages-1Gi': '0' } } },
      }
      expect(stateOf(oomBeforeEviction, example)).toBe(expected)
      if (expected === 'fail')
        expect(failingIn(oomBeforeEviction, example).fix?.config).toEqual({
          evictionSoft: { 'memory.available': '8292Mi' },
          evictionSoftGracePeriod: { 'memory.available': '10s' },
        })
    },
  )

  it('leaves a default that the map took away to lost-default-threshold, unless a soft one hides it there', () => {
    const configuration = { evictionHard: { 'nodefs.available': '10%' } }
    const lost = { configuration, thresholds: [hard('nodefs.available', 10)] }
    expect(stateOf(oomBeforeEviction, lost)).toBe('pass')
    expect(stateOf(lostDefaultThreshold, lost)).toBe('fail')
    const waiting = {
      configuration,
      thresholds: [hard('nodefs.available', 10), soft('memory.available', 1, 90_000)],
    }
    expect(stateOf(oomBeforeEviction, waiting)).toBe('fail')
  })
})
