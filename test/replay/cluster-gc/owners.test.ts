import { describe, expect, it } from 'vitest'
import { collectGarbage, type ListedKind } from '#replay/cluster-gc/owner-graph.ts'
import { objectOf } from '#test/at-the-door.ts'

const deletionTimestamp = '2025-01-01T00:00:00Z'
const foreground = { deletionTimestamp, finalizers: ['foregroundDeletion'] }

const kinds = {
  Node: { apiVersion: 'v1', kind: 'Node', isNamespaced: false },
  Pod: { apiVersion: 'v1', kind: 'Pod', isNamespaced: true },
  ReplicaSet: { apiVersion: 'apps/v1', kind: 'ReplicaSet', isNamespaced: true },
  Widget: { apiVersion: 'example.com/v1', kind: 'Widget', isNamespaced: true },
} as const
type Kind = keyof typeof kinds

const ownedBy = (kind: Kind, name: string, more: object = {}) => ({
  apiVersion: kinds[kind].apiVersion,
  kind,
  name,
  uid: `uid-${name}`,
  ...more,
})
const object = (name: string, ownerReferences: unknown[] = [], metadata: object = {}) => ({
  metadata: { namespace: 'apps', name, uid: `uid-${name}`, ownerReferences, ...metadata },
})
const owner = object('web')
const listedOf = (lists: Partial<Record<Kind, unknown[]>>): ListedKind[] =>
  (['Node', 'Pod', 'ReplicaSet'] as const).map(kind => ({
    ...kinds[kind],
    items: (lists[kind] ?? []).map(item => objectOf('jobs.batch', item)),
  }))

const collected = (lists: Partial<Record<Kind, unknown[]>>) => [...collectGarbage(listedOf(lists))]
const of = (name: string, answers: ReturnType<typeof collected>) => {
  const found = answers.find(answer => answer.object.name === name)
  return (
    found && {
      ...found,
      object: found.object.name,
      references: found.references.map(({ is }) => is),
      dependents: found.dependents.map(each => each.name),
    }
  )
}

describe('an object that is not being deleted', () => {
  it.each([
    {
      title: 'its owner lives',
      references: [ownedBy('ReplicaSet', 'web')],
      is: ['solid'],
      action: 'keep',
    },
    {
      title: 'its owner is gone',
      references: [ownedBy('ReplicaSet', 'gone')],
      is: ['absent'],
      action: 'delete',
    },
    {
      title: 'its owner has another UID',
      references: [ownedBy('ReplicaSet', 'web', { uid: 'former' })],
      is: ['other-uid'],
      action: 'delete',
    },
    {
      title: 'its owner is of another kind',
      references: [ownedBy('Pod', 'web')],
      is: ['absent'],
      action: 'delete',
    },
    {
      title: 'one of two owners is gone',
      references: [ownedBy('ReplicaSet', 'gone'), ownedBy('ReplicaSet', 'web')],
      is: ['absent', 'solid'],
      action: 'remove-references',
    },
    {
      title: 'both owners are gone',
      references: [ownedBy('ReplicaSet', 'gone'), ownedBy('Pod', 'gone')],
      is: ['absent', 'absent'],
      action: 'delete',
    },
    {
      title: 'its owner waits for it',
      references: [ownedBy('ReplicaSet', 'going')],
      is: ['waiting'],
      action: 'delete',
    },
    {
      title: 'one owner lives and one waits',
      references: [ownedBy('ReplicaSet', 'web'), ownedBy('ReplicaSet', 'going')],
      is: ['solid', 'waiting'],
      action: 'remove-references',
    },
    {
      title: 'its owner is being deleted otherwise',
      references: [ownedBy('ReplicaSet', 'ending')],
      is: ['solid'],
      action: 'keep',
    },
    {
      title: 'its owner only will wait once deleted',
      references: [ownedBy('ReplicaSet', 'will-wait')],
      is: ['solid'],
      action: 'keep',
    },
    {
      title: 'its cluster-scoped owner lives',
      references: [ownedBy('Node', 'n1')],
      is: ['solid'],
      action: 'keep',
    },
  ])('$title: $action', ({ references, is, action }) => {
    const answers = collected({
      Node: [object('n1', [], { namespace: undefined })],
      ReplicaSet: [
        owner,
        object('going', [], foreground),
        object('ending', [], { deletionTimestamp }),
        object('will-wait', [], { finalizers: ['foregroundDeletion'] }),
      ],
      Pod: [object('p', references)],
    })
    expect(of('p', answers)).toMatchObject({ references: is, action, certainty: 'certain' })
  })

  it('is left out if it has no owners', () => {
    expect(
      collected({
        Pod: [
          object('p'),
          object('', [ownedBy('ReplicaSet', 'gone')]),
          object('q', [ownedBy('ReplicaSet', 'gone')], { uid: '' }),
        ],
      }),
    ).toEqual([])
  })
})

describe('an owner that was not listed', () => {
  it.each([
    {
      title: 'alone',
      references: [ownedBy('Widget', 'w')],
      action: 'delete',
      certainty: 'possible',
    },
    {
      title: 'beside one that is gone',
      references: [ownedBy('ReplicaSet', 'gone'), ownedBy('Widget', 'w')],
      action: 'delete',
      certainty: 'possible',
    },
    {
      title: 'beside one that lives',
      references: [ownedBy('ReplicaSet', 'web'), ownedBy('Widget', 'w')],
      action: 'remove-references',
      certainty: 'possible',
    },
  ])(
    '$title leaves it $certainty that the collector would $action',
    ({ references, action, certainty }) => {
      const lists = { ReplicaSet: [owner], Pod: [object('p', references)] }
      expect(of('p', collected(lists))).toMatchObject({
        references: expect.arrayContaining(['unknown']),
        action,
        certainty,
      })
    },
  )
})

describe('an owner in another namespace', () => {
  it('does not keep its dependent', () => {
    const answers = collected({
      ReplicaSet: [object('web', [], { namespace: 'other' })],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web')])],
    })
    expect(of('p', answers)).toMatchObject({ references: ['other-namespace'], action: 'delete' })
  })

  it('is not looked for when a cluster-scoped object names it', () => {
    const answers = collected({
      ReplicaSet: [owner],
      Node: [
        object('n1', [ownedBy('ReplicaSet', 'web')], { namespace: undefined }),
        object('n2', [ownedBy('Node', 'gone')], { namespace: undefined }),
      ],
    })
    expect(of('n1', answers)).toMatchObject({ references: ['namespaced-owner'], action: 'keep' })
    expect(of('n2', answers)).toMatchObject({ action: 'delete' })
  })
})

describe('an object that is being deleted', () => {
  const blocking = { blockOwnerDeletion: true }

  it('waits in the foreground for the dependents that block it, however they are placed', () => {
    const answers = collected({
      ReplicaSet: [object('web', [], foreground)],
      Pod: [
        object('blocks', [ownedBy('ReplicaSet', 'gone'), ownedBy('ReplicaSet', 'web', blocking)]),
        object('far', [ownedBy('Pod', 'unlike', { ...blocking, uid: 'uid-web' })], {
          namespace: 'other',
        }),
        object('lets-go', [ownedBy('ReplicaSet', 'web', { blockOwnerDeletion: false })]),
        object('blocks-another', [
          ownedBy('ReplicaSet', 'web'),
          ownedBy('ReplicaSet', 'gone', blocking),
        ]),
      ],
    })
    expect(of('web', answers)).toMatchObject({
      action: 'wait-for-dependents',
      certainty: 'certain',
      dependents: ['blocks', 'far'],
    })
  })

  it('goes when nothing known blocks it', () => {
    const lists = {
      ReplicaSet: [object('web', [], foreground)],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web')])],
    }
    expect(of('web', collected(lists))).toMatchObject({
      action: 'remove-finalizer',
      certainty: 'possible',
      dependents: [],
    })
  })

  it('lets its dependents go where it is to leave them as orphans, even if it would wait for them too', () => {
    const orphaning = { deletionTimestamp, finalizers: ['foregroundDeletion', 'orphan'] }
    const answers = collected({
      ReplicaSet: [object('web', [], orphaning)],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web', blocking)])],
    })
    expect(of('web', answers)).toMatchObject({
      action: 'orphan-dependents',
      certainty: 'certain',
      dependents: ['p'],
    })
  })

  it('is left to its other finalizers, whatever its owners are', () => {
    const answers = collected({
      Pod: [
        object('p', [ownedBy('ReplicaSet', 'gone')], { deletionTimestamp, finalizers: ['other'] }),
        object('q', [], { deletionTimestamp }),
      ],
    })
    expect(answers.map(answer => answer.object.name)).toEqual(['p'])
    expect(of('p', answers)).toMatchObject({ action: 'keep', certainty: 'certain' })
  })
})

describe('events', () => {
  it.each([
    { apiVersion: 'v1', collected: 0 },
    { apiVersion: 'events.k8s.io/v1', collected: 0 },
    { apiVersion: 'other/v1', collected: 1 },
  ])('of $apiVersion: $collected collected', ({ apiVersion, collected }) => {
    const listed = [
      ...listedOf({}),
      {
        apiVersion,
        kind: 'Event',
        isNamespaced: true,
        items: [objectOf('jobs.batch', object('e', [ownedBy('Pod', 'gone')]))],
      },
    ]
    expect([...collectGarbage(listed)]).toHaveLength(collected)
  })
})
