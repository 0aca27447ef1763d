import { describe, expect, it } from 'vitest'
import type { ClusterRule } from '#judge/rule.ts'
import { nodeNotReadyLong } from '#judge/rules/cluster-gc/node-not-ready-long.ts'
import { rules } from '#judge/rules/index.ts'
import { judgeCluster } from '#judge/run/cluster-rules.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type ClusterExample, exampleCluster, hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings } from '#test/rules/cluster-garbage.ts'

const node = (hoursAgo: number) => ({
  node: 'ip-10-0-1-2.ec2.internal',
  ready: 'Unknown' as const,
  sinceMs: hoursBefore(hoursAgo),
  reason: 'NodeStatusUnknown',
})

itJudgesExamples(nodeNotReadyLong, {
  bad: { nodes: { notReady: [node(60)] } },
  good: { nodes: { notReady: [node(0.2)] } },
})

describe('nodes', () => {
  const notReady = (sinceMs: number | null) => ({
    nodes: { notReady: [{ node: 'n', ready: 'False' as const, sinceMs, reason: null }] },
  })
  it('are not Ready for long from the age on that the policy sets', () => {
    expect(failings('node-not-ready-long', notReady(hoursBefore(24)))).toHaveLength(1)
    expect(failings('node-not-ready-long', notReady(hoursBefore(24) + 1))).toEqual([])
    expect(
      failings('node-not-ready-long', notReady(hoursBefore(2)), { minAgeHours: 2 }),
    ).toHaveLength(1)
  })

  it('are reported once: as nodes without an instance, if it is gone', () => {
    const of = (instances: ClusterExample['instances']) => ({
      ...notReady(hoursBefore(30)),
      ...(instances && { instances }),
    })
    const gone = { withoutInstance: [{ node: 'n', instanceId: 'i-1', sinceMs: hoursBefore(30) }] }
    expect(failings('node-not-ready-long', of(gone))).toEqual([])
    expect(failings('node-without-instance', of(gone))).toHaveLength(1)
    const [found] = failings('node-not-ready-long', of({ withoutInstance: [] }))
    expect(found?.consequence).toMatchSnapshot()
    const rule = rules.find(
      (each): each is ClusterRule => each.id === 'node-not-ready-long' && each.kind === 'cluster',
    )
    const unread = { ...exampleCluster(notReady(hoursBefore(30))), instances: null }
    expect(
      rule && judgeCluster(rule, unread, defaultPolicy).failings[0]?.consequence,
    ).toMatchSnapshot()
  })
})
