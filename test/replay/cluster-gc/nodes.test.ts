import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { type InstanceState, nodeLife, taintEvictionDelayMs } from '#replay/cluster-gc/nodes.ts'
import { manifestOf, nodeOf } from '#test/at-the-door.ts'

const newest = featuresOf('v1.37.0')
const at = (second: number) => `2025-01-01T00:00:${String(second).padStart(2, '0')}Z`
const start = Date.parse(at(0))
const shutdown = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' }
const node = (status: string | null, taints: unknown[] = []) => ({
  metadata: { name: 'n1', creationTimestamp: at(1) },
  spec: { taints },
  status: {
    conditions: status === null ? [] : [{ type: 'Ready', status, lastHeartbeatTime: at(10) }],
  },
})
const renewedAt = (second: number) => ({ spec: { renewTime: at(second) } })

describe('nodeLife', () => {
  it.each([
    { version: 'v1.24.0', graceMs: 40_000 },
    { version: 'v1.31.0', graceMs: 40_000 },
    { version: 'v1.32.0', graceMs: 50_000 },
    { version: 'v1.37.0', graceMs: 50_000 },
  ])('$version gives $graceMs ms after the last sign of life', ({ version, graceMs }) => {
    expect(nodeLife(nodeOf(node('True')), null, 'exists', featuresOf(version))).toMatchObject({
      node: 'n1',
      gracePeriodMs: graceMs,
      lastSeenMs: start + 10_000,
      unreachable: { fromMs: start + 10_000 + graceMs, byMs: start + 20_000 + graceMs },
    })
  })

  it.each([
    { title: 'a later lease', lease: renewedAt(30), second: 30 },
    { title: 'an earlier lease', lease: renewedAt(5), second: 10 },
    { title: 'no lease', lease: undefined, second: 10 },
  ])('counts $title', ({ lease, second }) => {
    expect(nodeLife(nodeOf(node('True')), lease, 'exists', newest)?.lastSeenMs).toBe(
      start + second * 1000,
    )
  })

  it('counts from its creation, and for longer, where the kubelet never said anything', () => {
    expect(nodeLife(nodeOf(node(null)), null, 'exists', newest)).toMatchObject({
      ready: null,
      gracePeriodMs: 60_000,
      lastSeenMs: start + 1_000,
      taints: [],
    })
    expect(nodeLife(nodeOf({ metadata: { name: 'n1' } }), null, 'exists', newest)).toMatchObject({
      lastSeenMs: null,
      unreachable: null,
    })
    expect(nodeLife(nodeOf(null), null, 'exists', newest)).toBeNull()
  })

  it.each([
    { status: 'True', ready: 'True', keys: [] },
    {
      status: 'False',
      ready: 'False',
      keys: ['node.kubernetes.io/not-ready', 'node.kubernetes.io/not-ready'],
    },
    {
      status: 'Unknown',
      ready: 'Unknown',
      keys: ['node.kubernetes.io/unreachable', 'node.kubernetes.io/unreachable'],
    },
    {
      status: 'Nonsense',
      ready: 'Unknown',
      keys: ['node.kubernetes.io/unreachable', 'node.kubernetes.io/unreachable'],
    },
  ])('Ready $status is tainted $keys', ({ status, ready, keys }) => {
    const life = nodeLife(nodeOf(node(status)), null, 'exists', newest)
    expect(life?.ready).toBe(ready)
    expect(life?.taints.map(({ key }) => key)).toEqual(keys)
    expect(life?.taints.map(({ effect }) => effect)).toEqual(
      keys.length === 0 ? [] : ['NoSchedule', 'NoExecute'],
    )
  })

  it.each<{ status: string | null; taints?: unknown[]; instance: InstanceState; cloud: string }>([
    { status: 'True', instance: 'gone', cloud: 'keep' },
    { status: 'True', taints: [shutdown], instance: 'exists', cloud: 'remove-shutdown-taint' },
    { status: 'Unknown', instance: 'gone', cloud: 'delete' },
    { status: 'False', taints: [shutdown], instance: 'gone', cloud: 'delete' },
    { status: null, instance: 'gone', cloud: 'delete' },
    {
      status: 'Unknown',
      taints: [null, { key: 'other' }],
      instance: 'stopped',
      cloud: 'add-shutdown-taint',
    },
    { status: 'Unknown', taints: [shutdown], instance: 'stopped', cloud: 'keep' },
    { status: 'Unknown', instance: 'exists', cloud: 'keep' },
    { status: 'Unknown', instance: 'unknown', cloud: 'unknown' },
  ])(
    'Ready $status with an instance that is $instance: $cloud',
    ({ status, taints, instance, cloud }) => {
      expect(nodeLife(nodeOf(node(status, taints)), null, instance, newest)?.cloud).toBe(cloud)
    },
  )
})

describe('taintEvictionDelayMs', () => {
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }
  const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }
  const usual = { ...notReady, operator: 'Exists', tolerationSeconds: 300 }
  const delay = (taints: unknown[], tolerations: unknown[]) =>
    taintEvictionDelayMs(manifestOf({ spec: { tolerations } }), nodeOf({ spec: { taints } }))

  it.each([
    { title: 'no taint', taints: [], tolerations: [], ms: Number.POSITIVE_INFINITY },
    {
      title: 'a taint that only repels',
      taints: [{ ...notReady, effect: 'NoSchedule' }],
      tolerations: [],
      ms: Number.POSITIVE_INFINITY,
    },
    { title: 'a taint nobody tolerates', taints: [notReady], tolerations: [null], ms: 0 },
    { title: 'the usual toleration', taints: [notReady], tolerations: [usual], ms: 300_000 },
    {
      title: 'a toleration for ever',
      taints: [notReady],
      tolerations: [{ operator: 'Exists' }],
      ms: Number.POSITIVE_INFINITY,
    },
    {
      title: 'a toleration of a negative time',
      taints: [notReady],
      tolerations: [{ ...usual, tolerationSeconds: -5 }],
      ms: 0,
    },
    {
      title: 'the first of two tolerations',
      taints: [notReady],
      tolerations: [{ ...usual, tolerationSeconds: 60 }, usual],
      ms: 60_000,
    },
    {
      title: 'two taints, one tolerated',
      taints: [notReady, unreachable],
      tolerations: [usual],
      ms: 0,
    },
    {
      title: 'two taints, the shortest',
      taints: [notReady, unreachable],
      tolerations: [usual, { ...unreachable, operator: 'Exists', tolerationSeconds: 10 }],
      ms: 10_000,
    },
    {
      title: 'two taints, one for ever',
      taints: [notReady, unreachable],
      tolerations: [usual, { ...unreachable, operator: 'Exists' }],
      ms: 300_000,
    },
    {
      title: 'another effect',
      taints: [notReady],
      tolerations: [{ ...usual, effect: 'NoSchedule' }],
      ms: 0,
    },
    { title: 'another key', taints: [notReady], tolerations: [{ ...usual, key: 'other' }], ms: 0 },
    {
      title: 'an operator that is none',
      taints: [notReady],
      tolerations: [{ ...usual, operator: 'Like' }],
      ms: 0,
    },
    {
      title: 'an equal value',
      taints: [{ ...notReady, value: 'x' }],
      tolerations: [{ ...usual, operator: 'Equal', value: 'x' }],
      ms: 300_000,
    },
    {
      title: 'an equal value without an operator',
      taints: [{ ...notReady, value: 'x' }],
      tolerations: [{ ...usual, operator: undefined, value: 'x' }],
      ms: 300_000,
    },
    {
      title: 'another value',
      taints: [{ ...notReady, value: 'x' }],
      tolerations: [{ ...usual, operator: 'Equal', value: 'y' }],
      ms: 0,
    },
    {
      title: 'no value on either side',
      taints: [notReady],
      tolerations: [{ ...usual, operator: 'Equal' }],
      ms: 300_000,
    },
  ])('$title: $ms ms', ({ taints, tolerations, ms }) => {
    expect(delay(taints, tolerations)).toBe(ms)
  })
})
