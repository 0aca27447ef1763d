import { describe, expect, it } from 'vitest'
import { unrenewedLease } from '#judge/rules/cluster-gc/unrenewed-lease.ts'
import type { NodeLeaseGarbage } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, judged } from '#test/rules/cluster-garbage.ts'

const lease = (renewedHoursAgo: number): NodeLeaseGarbage => ({
  node: 'ip-10-0-1-2.ec2.internal',
  state: 'held',
  renewedMs: hoursBefore(renewedHoursAgo),
  isExpired: true,
})

itJudgesExamples(unrenewedLease, {
  bad: { leases: { nodes: [lease(50)] } },
  good: { leases: { nodes: [lease(0.1)] } },
})

describe('leases', () => {
  const lease = (more: Partial<NodeLeaseGarbage>): NodeLeaseGarbage => ({
    node: 'n',
    state: 'held',
    renewedMs: hoursBefore(30),
    isExpired: true,
    ...more,
  })
  const leases = (...nodes: NodeLeaseGarbage[]) => ({ leases: { nodes } })
  it.each([
    ['held', [0, 1]],
    ['ownerless', [0, 1]],
    ['stale-owner', [0, 1]],
    ['collectable', [1, 0]],
    ['leftover', [1, 0]],
    ['unknown', [0, 0]],
  ] as const)('of a node that is %s', (state, [leftover, unrenewed]) => {
    expect(failings('leftover-lease', leases(lease({ state })))).toHaveLength(leftover)
    expect(failings('unrenewed-lease', leases(lease({ state })))).toHaveLength(unrenewed)
  })

  it('that were renewed lately are no garbage', () => {
    for (const state of ['held', 'leftover', 'collectable'] as const) {
      expect(
        failings('leftover-lease', leases(lease({ state, renewedMs: hoursBefore(24) + 1 }))),
      ).toEqual([])
      expect(
        failings('unrenewed-lease', leases(lease({ state, renewedMs: hoursBefore(24) + 1 }))),
      ).toEqual([])
    }
  })

  it.each([
    [['leftover'], 'a node that is gone, and has no owner: nothing will ever delete it.'],
    [
      ['collectable'],
      'a node that is gone, and has that as owner: the garbage collector should have deleted it, and has not.',
    ],
    [
      ['leftover', 'collectable'],
      'a node that is gone, 1 without an owner; the garbage collector should have deleted the others.',
    ],
  ] as const)('of nodes that are gone say who should have taken them: %j', (states, words) => {
    const [found] = failings('leftover-lease', leases(...states.map(state => lease({ state }))))
    expect(found?.consequence).toContain(words)
  })

  it('that the collector has yet to take are no garbage where the time is unknown', () => {
    expect(
      failings('leftover-lease', leases(lease({ state: 'collectable', renewedMs: null }))),
    ).toEqual([])
  })

  it('whose nodes are unknown pass only where all are renewed', () => {
    const states = (renewedMs: number) =>
      ['leftover-lease', 'unrenewed-lease'].map(
        id => judged(id, leases(lease({ state: 'unknown', renewedMs }))).outcome.state,
      )
    expect(states(hoursBefore(24))).toEqual(['unknown', 'unknown'])
    expect(states(hoursBefore(24) + 1)).toEqual(['unknown', 'pass'])
  })

  it('name their nodes', () => {
    const [found] = failings('unrenewed-lease', leases(lease({ node: 'b' }), lease({ node: 'a' })))
    expect(found?.nodes).toEqual(['a', 'b'])
  })
})
