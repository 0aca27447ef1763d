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

const collected = (lists: Partial<Record<Kind, unknown[]>>) => collectGarbage(listedOf(lists))
/** The object's owners if it is dangling; undefined: it is kept. */
const lostBy = (name: string, lists: Partial<Record<Kind, unknown[]>>) =>
  collected(lists)
    .dangling.find(({ object }) => object.name === name)
    ?.references.map(({ name: owner }) => owner)
const blockersOf = (name: string, lists: Partial<Record<Kind, unknown[]>>) =>
  collected(lists)
    .blocked.find(({ object }) => object.name === name)
    ?.dependents.map(each => each.name)

describe('an object that is not being deleted', () => {
  it.each([
    { title: 'its owner lives', references: [ownedBy('ReplicaSet', 'web')], isLost: false },
    { title: 'its owner is gone', references: [ownedBy('ReplicaSet', 'gone')], isLost: true },
    {
      title: 'its owner has another UID',
      references: [ownedBy('ReplicaSet', 'web', { uid: 'former' })],
      isLost: true,
    },
    { title: 'its owner is of another kind', references: [ownedBy('Pod', 'web')], isLost: true },
    {
      title: 'one of two owners is gone',
      references: [ownedBy('ReplicaSet', 'gone'), ownedBy('ReplicaSet', 'web')],
      isLost: false,
    },
    {
      title: 'both owners are gone',
      references: [ownedBy('ReplicaSet', 'gone'), ownedBy('Pod', 'gone')],
      isLost: true,
    },
    {
      title: 'its owner waits for it',
      references: [ownedBy('ReplicaSet', 'going')],
      isLost: false,
    },
    {
      title: 'its owner is being deleted otherwise',
      references: [ownedBy('ReplicaSet', 'ending')],
      isLost: false,
    },
    { title: 'its cluster-scoped owner lives', references: [ownedBy('Node', 'n1')], isLost: false },
  ])('is lost where $title: $isLost', ({ references, isLost }) => {
    const lists = {
      Node: [object('n1', [], { namespace: undefined })],
      ReplicaSet: [
        owner,
        object('going', [], foreground),
        object('ending', [], { deletionTimestamp }),
      ],
      Pod: [object('p', references)],
    }
    expect(lostBy('p', lists)).toEqual(
      isLost ? references.map(reference => reference.name) : undefined,
    )
  })

  it('names a namesake of its first owner', () => {
    const replaced = [ownedBy('ReplicaSet', 'web', { uid: 'former' }), ownedBy('Pod', 'gone')]
    const isReplaced = (references: unknown[]) =>
      collected({ ReplicaSet: [owner], Pod: [object('p', references)] }).dangling.map(
        each => each.isReplaced,
      )
    expect(isReplaced(replaced)).toEqual([true])
    expect(isReplaced(replaced.toReversed())).toEqual([false])
  })

  it('is left out if it has no owners, no name or no UID', () => {
    expect(
      collected({
        Pod: [
          object('p'),
          object('', [ownedBy('ReplicaSet', 'gone')]),
          object('q', [ownedBy('ReplicaSet', 'gone')], { uid: '' }),
        ],
      }),
    ).toEqual({ dangling: [], blocked: [] })
  })
})

describe('an owner that was not listed', () => {
  it.each([
    { title: 'alone', references: [ownedBy('Widget', 'w')] },
    {
      title: 'beside one that is gone',
      references: [ownedBy('ReplicaSet', 'gone'), ownedBy('Widget', 'w')],
    },
  ])('$title might keep its dependent', ({ references }) => {
    expect(lostBy('p', { ReplicaSet: [owner], Pod: [object('p', references)] })).toBeUndefined()
  })

  it('might be among the rest of a list that was not read to its end', () => {
    const [node, pod, replicaSet] = listedOf({
      Pod: [object('p', [ownedBy('ReplicaSet', 'gone')])],
    })
    const partial = { ...replicaSet!, isPartial: true }
    expect(collectGarbage([node!, pod!, replicaSet!]).dangling).toHaveLength(1)
    expect(collectGarbage([node!, pod!, partial]).dangling).toEqual([])
  })
})

describe('an owner in another namespace', () => {
  it('leaves open what becomes of its dependent', () => {
    const lists = {
      ReplicaSet: [object('web', [], { namespace: 'other' })],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web')])],
    }
    expect(lostBy('p', lists)).toBeUndefined()
  })

  it('is not looked for when a cluster-scoped object names it', () => {
    const lists = {
      ReplicaSet: [owner],
      Node: [
        object('n1', [ownedBy('ReplicaSet', 'gone')], { namespace: undefined }),
        object('n2', [ownedBy('Node', 'gone')], { namespace: undefined }),
      ],
    }
    expect(lostBy('n1', lists)).toBeUndefined()
    expect(lostBy('n2', lists)).toEqual(['gone'])
  })
})

describe('an object that is being deleted', () => {
  const blocking = { blockOwnerDeletion: true }

  it('waits in the foreground for the dependents that block it, however they are placed', () => {
    const lists = {
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
    }
    expect(blockersOf('web', lists)).toEqual(['blocks', 'far'])
    expect(collected(lists).blocked[0]?.sinceMs).toBe(Date.parse(deletionTimestamp))
  })

  it('is listed when nothing known blocks it', () => {
    const lists = {
      ReplicaSet: [object('web', [], foreground)],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web')])],
    }
    expect(blockersOf('web', lists)).toEqual([])
  })

  it.each([
    ['only will wait once deleted', { finalizers: ['foregroundDeletion'] }],
    ['is being deleted otherwise', { deletionTimestamp }],
    [
      'is to leave its dependents as orphans',
      { deletionTimestamp, finalizers: ['foregroundDeletion', 'orphan'] },
    ],
  ])('waits for none if it %s', (_, metadata) => {
    const lists = {
      ReplicaSet: [object('web', [], metadata)],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web', blocking)])],
    }
    expect(blockersOf('web', lists)).toBeUndefined()
  })

  it('is left to its finalizers, whatever its owners are', () => {
    const references = [ownedBy('ReplicaSet', 'gone')]
    const lists = { Pod: [object('p', references, { deletionTimestamp, finalizers: ['other'] })] }
    expect(lostBy('p', lists)).toBeUndefined()
  })
})
