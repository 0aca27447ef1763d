import { describe, expect, it } from 'vitest'
import { unwatchedPids } from '#judge/rules/eviction/unwatched-pids.ts'
import { exampleSubject, hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeOn, state } from '#test/rule-outcome.ts'

itJudgesExamples(unwatchedPids, {
  bad: {
    eviction: {
      signals: { 'pid.available': { availableBytes: 3_000, capacityBytes: 32_768, time: null } },
    },
  },
  good: {
    eviction: {
      signals: { 'pid.available': { availableBytes: 30_000, capacityBytes: 32_768, time: null } },
    },
  },
})

describe('unwatched-pids', () => {
  const left = (available: number): NodeExample => ({
    eviction: {
      signals: { 'pid.available': { availableBytes: available, capacityBytes: 1000, time: null } },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['a fifth left', left(200), 'pass'],
    ['less', left(199), 'fail'],
    ['less, but watched', { ...left(199), thresholds: [hard('pid.available', 1)] }, 'pass'],
    ['not observed', {}, 'unknown'],
  ])('%s: %s', (_, example, expected) => {
    expect(state(unwatchedPids, example)).toBe(expected)
  })

  it.each([
    ['StatefulSet api in shop (2 pods) has 400', 1],
    [null, 0],
  ])('counts the pods of one workload together: %s', (text, isOfOne) => {
    const names = ['api-1', 'api-2']
    const owner = (name: string) => ({ kind: 'StatefulSet', name, controller: true, uid: '1' })
    const { seen, steps } = failingOf(unwatchedPids, {
      ...left(100),
      pods: names.map(name => ({
        metadata: { namespace: 'shop', name, ownerReferences: [owner(isOfOne ? 'api' : name)] },
        status: { phase: 'Running' },
      })),
      summary: {
        pods: names.map(name => ({
          podRef: { namespace: 'shop', name },
          process_stats: { process_count: 200 },
        })),
      },
    })
    expect(seen).toContain(text ?? '(10 %).')
    expect(steps?.map(({ id, owner }) => [id, owner?.kind])).toEqual([
      ['set-fields', undefined],
      ['limit-processes', isOfOne ? 'pod' : undefined],
    ])
  })

  it.each([
    { ofPod: 100, cause: 'world', first: 'list-processes', settings: 0 },
    // The pods have no statistics.
    { ofPod: 0, cause: 'unread', first: 'list-processes', settings: 1 },
    { ofPod: 400, cause: 'setting', first: 'set-fields', settings: 1 },
    // The new threshold evicts at once.
    { ofPod: 400, cause: 'setting', first: 'set-fields', settings: 1, available: 99 },
  ])('sets no threshold where pods have $ofPod of 900 processes: $cause', expected => {
    const pod = { namespace: 'shop', name: 'api-1' }
    const { available = 100 } = expected
    const { cause, steps, fix } = failingOf(unwatchedPids, {
      ...left(available),
      pods: [{ metadata: pod, status: { phase: 'Running' } }],
      summary: {
        pods:
          expected.ofPod === 0
            ? []
            : [{ podRef: pod, process_stats: { process_count: expected.ofPod } }],
      },
    })
    expect(cause?.kind).toBe(expected.cause)
    expect(steps?.[0]?.id).toBe(expected.first)
    expect(steps?.some(({ isShort }) => isShort)).toBe(available < 100)
    expect(Object.keys(fix?.config ?? {})).toHaveLength(expected.settings)
  })

  /** A node where one pod has so many processes. */
  const running = (node: string, kind: string, owner: string, processes: number) => {
    const metadata = { namespace: 'datadog', name: `${owner}-x` }
    const ownerReferences = [{ kind, name: owner, controller: true, uid: '1' }]
    const pods = [{ metadata: { ...metadata, ownerReferences }, status: { phase: 'Running' } }]
    const ofPod = { podRef: metadata, process_stats: { process_count: processes } }
    const pids = { availableBytes: 1000, capacityBytes: 10_000, time: null }
    return exampleSubject(
      { pods, summary: { pods: [ofPod] }, eviction: { signals: { 'pid.available': pids } } },
      node,
    )
  }
  const seenOn = (...subjects: ReturnType<typeof running>[]) => {
    const outcome = outcomeOn(unwatchedPids, subjects)
    return outcome.state === 'fail' ? outcome.failing.seen : outcome.state
  }

  it('names the three nodes where the same DaemonSet has most, and no other workload', () => {
    const seen = seenOn(
      running('a', 'DaemonSet', 'agent', 6000),
      ...[2001, 4004, 3003, 5005, 1999].map((count, at) =>
        running(`n${at}`, 'DaemonSet', 'agent', count),
      ),
      running('other', 'DaemonSet', 'shipper', 9000),
    )
    expect(seen).toMatch(
      / DaemonSet datadog\/agent has many elsewhere, too: 5005 on n3, 4004 on n1, 3003 on n2\.$/,
    )
    const few = [running('few', 'DaemonSet', 'agent', 1999)]
    expect(seenOn(running('a', 'DaemonSet', 'agent', 6000), ...few)).not.toContain('elsewhere')
  })

  it('names no peers of a workload that runs where it is placed', () => {
    const nodes = ['a', 'b'].map(node => running(node, 'StatefulSet', 'db', 6000))
    expect(seenOn(...nodes)).not.toContain('elsewhere')
  })
})
