import { describe, expect, it } from 'vitest'
import { criticalPodAmongFirstVictims } from '#judge/rules/eviction/critical-pod-among-first-victims.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { RankedPod, Ranking, Signal } from '#model/prediction.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const ranked = (name: string, rank: number): RankedPod => ({
  namespace: 'kube-system',
  name,
  rank,
  qos: 'BestEffort',
  priority: 0,
  usage: 1,
  request: 0,
  reason: 'uses more than it requests',
})

const plugin: KubernetesPod = {
  metadata: {
    namespace: 'kube-system',
    name: 'cni-abcde',
    ownerReferences: [{ kind: 'DaemonSet', name: 'cni', controller: true }],
  },
}

const rankings: Ranking[] = [{ signal: 'memory.available', pods: [ranked('cni-abcde', 0)] }]

itJudgesExamples(criticalPodAmongFirstVictims, {
  bad: { pods: [plugin], eviction: { rankings } },
  good: {
    pods: [plugin],
    eviction: {
      rankings,
      protected: [{ namespace: 'kube-system', name: 'cni-abcde', reason: 'critical' }],
    },
  },
})

describe('critical-pod-among-first-victims', () => {
  const pod = (namespace: string, name: string, kind: string) => ({
    metadata: { namespace, name, ownerReferences: [{ kind, name: 'owner', controller: true }] },
  })
  const place = (namespace: string, name: string, rank: number): RankedPod => ({
    ...ranked(name, rank),
    namespace,
  })
  const example = (rank: number, others: readonly number[], kind = 'DaemonSet'): NodeExample => ({
    pods: [pod('kube-system', 'cni', kind)],
    eviction: {
      rankings: [
        {
          signal: 'memory.available',
          pods: [
            ...others.map((at, index) => place('shop', `p${index}`, at)),
            place('kube-system', 'cni', rank),
          ],
        },
      ],
    },
  })

  it.each<[string, NodeExample, string]>([
    ['third', example(2, [0, 1]), 'fail'],
    ['fourth', example(3, [0, 1, 2]), 'pass'],
    ['of a Deployment', example(0, [], 'ReplicaSet'), 'pass'],
    ['no statistics', { ...example(5, []), eviction: { victims: null } }, 'unknown'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(criticalPodAmongFirstVictims, node)).toBe(expected)
  })

  it('is only possible where it can come out later among equals', () => {
    expect(failingOf(criticalPodAmongFirstVictims, example(0, [0, 0])).confidence).toBe('certain')
    expect(failingOf(criticalPodAmongFirstVictims, example(0, [0, 0, 0])).confidence).toBe(
      'possible',
    )
  })

  it('says a pod once for all signals that rank alike, and derived ones not at all', () => {
    const pods = example(0, []).eviction?.rankings?.[0]?.pods ?? []
    const rankings = (...signals: Signal[]) => signals.map(signal => ({ signal, pods: [...pods] }))
    const evidenceText = (...signals: Signal[]) =>
      failingOf(criticalPodAmongFirstVictims, {
        ...example(0, []),
        eviction: { rankings: rankings(...signals) },
      })
    const derived = [
      'allocatableMemory.available',
      'containerfs.available',
      'containerfs.inodesFree',
    ] as const
    const { consequence, evidence } = evidenceText(
      'memory.available',
      'nodefs.available',
      'nodefs.inodesFree',
      ...derived,
    )
    expect(consequence).toMatchSnapshot()
    expect(evidence).toHaveLength(2)
    expect(evidenceText('containerfs.available').consequence).toContain('containerfs.available')
    expect(evidenceText('nodefs.available', 'imagefs.available').consequence).toContain(
      'of nodefs.available pod',
    )
  })

  it('gives no place to one among equals', () => {
    const evidenceText = (...others: number[]) =>
      failingOf(criticalPodAmongFirstVictims, example(0, others)).consequence
    expect(evidenceText()).toMatchSnapshot()
    expect(evidenceText(0, 0)).toMatchSnapshot()
    expect(evidenceText(0, 0, 0)).toMatchSnapshot()
  })

  it('does not count those whom upstream spares', () => {
    const node = example(3, [0, 1, 2])
    const spared = [{ namespace: 'shop', name: 'p0', reason: 'static' }] as const
    expect(
      state(criticalPodAmongFirstVictims, {
        ...node,
        eviction: { ...node.eviction, protected: [...spared] },
      }),
    ).toBe('fail')
  })

  it('asks the policy for more names', () => {
    const policy = { ...defaultPolicy, criticalPods: ['kube-system/cn*'] }
    expect(state(criticalPodAmongFirstVictims, example(0, [], 'ReplicaSet'), policy)).toBe('fail')
  })

  it('needs no order of eviction where every pod that matters is safe', () => {
    const node = example(0, [])
    const safe = [
      {
        namespace: 'kube-system',
        name: node.pods?.[0]?.metadata?.name ?? '',
        reason: 'critical' as const,
      },
    ]
    const unranked = { rankings: null, victims: null }
    expect(state(criticalPodAmongFirstVictims, { ...node, eviction: unranked })).toBe('unknown')
    expect(
      state(criticalPodAmongFirstVictims, { ...node, eviction: { ...unranked, protected: safe } }),
    ).toBe('pass')
  })
})
