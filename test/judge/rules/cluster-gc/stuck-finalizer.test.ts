import { describe, expect, it } from 'vitest'
import { stuckFinalizer } from '#judge/rules/cluster-gc/stuck-finalizer.ts'
import type { HeldObject } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings } from '#test/rules/cluster-garbage.ts'

const held = (hoursAgo: number): HeldObject => ({
  ...{
    resource: 'jobs.batch',
    kind: 'Job',
    namespace: 'shop',
    name: 'import',
    sinceMs: hoursBefore(hoursAgo),
    expiresMs: null,
  },
  finalizers: [{ finalizer: 'example.com/audit', controller: null, state: 'unknown' }],
})

itJudgesExamples(stuckFinalizer, {
  bad: { finalizers: { held: [held(50)] } },
  good: { finalizers: { held: [held(1)] } },
})

describe('stuck-finalizer', () => {
  const held = (finalizers: HeldObject['finalizers'], more: Partial<HeldObject> = {}) => ({
    finalizers: {
      held: [
        {
          resource: 'nodes',
          kind: 'Node',
          namespace: '',
          name: 'ip-1',
          sinceMs: hoursBefore(30),
          expiresMs: null,
          finalizers,
          ...more,
        },
      ],
    },
  })
  const karpenter = { finalizer: 'karpenter.sh/termination', controller: 'Karpenter' }
  it.each([
    ['absent', 'is for Karpenter, and nothing in this cluster is called like it'],
    ['stopped', 'which is scaled to zero'],
    ['there', 'Karpenter has not taken away'],
    ['unknown', 'Karpenter has not taken away'],
  ] as const)('says of a controller that is %s what is known', (state, words) => {
    const [found] = failings('stuck-finalizer', held([{ ...karpenter, state }]))
    expect(found?.consequence).toContain(words)
    expect([found?.subject.kind, found?.commands]).toMatchSnapshot()
  })

  it.each([
    ['not over', hoursBefore(-5), 1],
    ['over, but the TTL controller may still come', hoursBefore(1), 1],
    ['long over: that is for its own rule', hoursBefore(2), 0],
    ['none', null, 1],
  ])('speaks of a Job whose time to live is %s', (_, expiresMs, count) => {
    const job = { resource: 'jobs.batch', kind: 'Job', namespace: 'ci', name: 'j', expiresMs }
    expect(
      failings('stuck-finalizer', held([{ ...karpenter, state: 'absent' }], job)),
    ).toHaveLength(count)
  })

  it('leaves what another rule tells to it, where somebody asks that', () => {
    const unknown = { finalizer: 'example.com/keep', controller: null, state: 'unknown' } as const
    const job = held([unknown], {
      resource: 'jobs.batch',
      kind: 'Job',
      namespace: 'ci',
      name: 'j',
      expiresMs: hoursBefore(20),
    })
    const waiting = held([
      {
        finalizer: 'foregroundDeletion',
        controller: 'the garbage collector',
        state: 'control-plane',
      },
    ])
    for (const more of [job, waiting]) {
      expect(failings('stuck-finalizer', more)).toEqual([])
      expect(failings('stuck-finalizer', more, { kinds: ['finalizers'] })).toHaveLength(1)
    }
  })

  it('leaves a deletion in the foreground to its own rule', () => {
    const waiting = {
      finalizer: 'foregroundDeletion',
      controller: 'the garbage collector',
      state: 'control-plane',
    } as const
    expect(failings('stuck-finalizer', held([waiting]))).toEqual([])
    expect(
      failings('stuck-finalizer', held([waiting, { ...karpenter, state: 'absent' }])),
    ).toHaveLength(1)
  })
})
