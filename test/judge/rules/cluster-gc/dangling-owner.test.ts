import { describe, expect, it } from 'vitest'
import { danglingOwner } from '#judge/rules/cluster-gc/dangling-owner.ts'
import type { OwnerGarbage } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, valueIn } from '#test/rules/cluster-garbage.ts'

const group = (hoursAgo: number): OwnerGarbage['dangling'][number] => ({
  ...{
    kind: 'ReplicaSet',
    namespace: 'shop',
    count: 1,
    names: ['cart-5f7d'],
    createdMs: hoursBefore(hoursAgo),
  },
  ...{ owner: 'Deployment cart', isReplaced: true, confidence: 'certain' },
})

const none = { blocked: [], orphaned: [] }

itJudgesExamples(danglingOwner, {
  bad: { owners: { ...none, dangling: [group(500)] } },
  good: { owners: { ...none, dangling: [group(3)] } },
})

describe('owners', () => {
  const owners = (more: Partial<OwnerGarbage>) => ({
    owners: { dangling: [], blocked: [], orphaned: [], ...more },
  })
  const group = {
    kind: 'ConfigMap',
    namespace: 'shop',
    count: 12,
    names: ['a', 'b', 'c', 'd', 'e'],
    createdMs: hoursBefore(24),
  }

  it('count all that are alike, and name the first', () => {
    const [found] = failings(
      'dangling-owner',
      owners({
        dangling: [
          { ...group, owner: 'Deployment cart', isReplaced: false, confidence: 'certain' },
        ],
      }),
    )
    expect(found).toMatchObject({
      count: 12,
      evidence: [{ value: 'ConfigMap a, b, c, d, e and 7 more' }, { value: '0' }, {}],
    })
    const young = {
      ...group,
      createdMs: hoursBefore(24) + 1,
      owner: 'Deployment cart',
      isReplaced: false,
      confidence: 'certain',
    } as const
    expect(failings('dangling-owner', owners({ dangling: [young] }))).toEqual([])
  })

  it('that are pods are no more than likely to be gone', () => {
    const certain = {
      ...group,
      owner: 'Job import',
      isReplaced: false,
      confidence: 'certain',
    } as const
    const likely = { ...certain, owner: 'Pod import-1', confidence: 'likely' } as const
    const what = 'owned by pods, which are read before and not all where their node is gone'
    const of = (...dangling: OwnerGarbage['dangling']) =>
      failings('dangling-owner', owners({ dangling }))[0]
    expect(of(likely)?.confidence).toBe('likely')
    expect(of(likely, certain)).not.toHaveProperty('confidence')
    expect(of(certain)).not.toHaveProperty('confidence')
    const values = [[likely], [likely, certain], [certain]].map(each =>
      valueIn('dangling-owner', owners({ dangling: each }), what),
    )
    expect(values).toEqual(['12', '12', undefined])
  })

  it('that wait name the first dependent that is known; where none is known, the reason is unknown', () => {
    const unknown = {
      kind: 'CronJob',
      namespace: 'shop',
      name: 'a',
      sinceMs: hoursBefore(30),
      dependents: [],
    }
    const known = { ...unknown, kind: 'Deployment', name: 'cart', dependents: [group] }
    const [one] = failings('blocked-foreground-deletion', owners({ blocked: [unknown] }))
    expect(one).toMatchObject({
      confidence: 'likely',
      evidence: [
        { kind: 'object', what: 'CronJob a waits for', value: 'nothing that was listed' },
        {},
      ],
    })
    expect(one?.consequence).toMatchSnapshot()
    const [both] = failings('blocked-foreground-deletion', owners({ blocked: [unknown, known] }))
    expect(both).not.toHaveProperty('confidence')
    expect(both?.consequence).toMatchSnapshot()
    expect(both?.commands).toMatchSnapshot()
  })
})
