import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { ownerCycles } from '#replay/cluster-gc/owner-cycles.ts'
import type { ListedKind, ServedKind } from '#replay/cluster-gc/owner-graph.ts'
import { collectGarbage } from '#replay/cluster-gc/owners.ts'
import { objectOf } from '#test/at-the-door.ts'

const newest = featuresOf('v1.37.0')
const deletionTimestamp = '2025-01-01T00:00:00Z'
const foreground = { deletionTimestamp, finalizers: ['foregroundDeletion'] }

const kinds = {
  Node: { apiVersion: 'v1', kind: 'Node', isNamespaced: false },
  Pod: { apiVersion: 'v1', kind: 'Pod', isNamespaced: true },
  ReplicaSet: { apiVersion: 'apps/v1', kind: 'ReplicaSet', isNamespaced: true },
  Widget: { apiVersion: 'example.com/v1', kind: 'Widget', isNamespaced: true },
} as const satisfies Record<string, ServedKind>
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
    items: (lists[kind] ?? []).map(item => objectOf('configmaps', item)),
  }))
const served: ServedKind[] = [kinds.Node, kinds.Pod, kinds.ReplicaSet]

const collected = (
  lists: Partial<Record<Kind, unknown[]>>,
  options: {
    served?: ServedKind[] | null
    unanswered?: ReadonlySet<string>
    version?: string
  } = {},
) => [
  ...collectGarbage(
    {
      listed: listedOf(lists),
      served: options.served === undefined ? served : options.served,
      unanswered: options.unanswered,
    },
    featuresOf(options.version ?? 'v1.37.0'),
  ),
]
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
    {
      title: 'the kind of its owner is not served',
      references: [ownedBy('Widget', 'w'), ownedBy('ReplicaSet', 'gone')],
      is: ['unserved', 'absent'],
      action: 'retry',
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
    expect(of('p', answers)).toMatchObject({
      references: is,
      action,
      certainty: 'certain',
      event: null,
      unblocksOwners: false,
    })
  })

  it('is not told where it has no owners', () => {
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

  it.each([
    { finalizers: [], propagation: 'Background' },
    { finalizers: ['other'], propagation: 'Background' },
    { finalizers: ['foregroundDeletion'], propagation: 'Foreground' },
    { finalizers: ['foregroundDeletion', 'orphan'], propagation: 'Orphan' },
  ])('with finalizers $finalizers goes by $propagation', ({ finalizers, propagation }) => {
    const answers = collected({
      Pod: [object('p', [ownedBy('ReplicaSet', 'gone')], { finalizers })],
    })
    expect(of('p', answers)).toMatchObject({ action: 'delete', propagation: [propagation] })
    expect(
      of(
        'p',
        collected({
          ReplicaSet: [owner],
          Pod: [object('p', [ownedBy('ReplicaSet', 'web')], { finalizers })],
        }),
      )?.propagation,
    ).toEqual([])
  })

  it('goes in the foreground for a waiting owner only if it has dependents itself', () => {
    const waiting = { ReplicaSet: [object('going', [], foreground)] }
    const middle = object('middle', [ownedBy('ReplicaSet', 'going')])
    expect(of('middle', collected({ ...waiting, Pod: [middle] }))?.propagation).toEqual([
      'Background',
    ])
    expect(
      of('middle', collected({ ...waiting, Pod: [middle] }, { served: null }))?.propagation,
    ).toEqual(['Background', 'Foreground'])
    const withLeaf = { ...waiting, Pod: [middle, object('leaf', [ownedBy('Pod', 'middle')])] }
    expect(of('middle', collected(withLeaf))).toMatchObject({
      propagation: ['Foreground'],
      unblocksOwners: false,
    })
    expect(of('leaf', collected(withLeaf))).toMatchObject({ action: 'keep' })
    const gone = {
      Pod: [
        object('middle', [ownedBy('ReplicaSet', 'gone')]),
        object('leaf', [ownedBy('Pod', 'middle')]),
      ],
    }
    expect(of('middle', collected(gone))?.propagation).toEqual(['Background'])
    expect(of('middle', collected(gone, { served: null }))?.propagation).toEqual(['Background'])
  })

  it('stops blocking its owner where both wait in a circle', () => {
    const answers = collected({
      ReplicaSet: [object('a', [ownedBy('Pod', 'b')], foreground)],
      Pod: [object('b', [ownedBy('ReplicaSet', 'a')]), object('leaf', [ownedBy('Pod', 'b')])],
    })
    expect(of('b', answers)).toMatchObject({
      action: 'delete',
      propagation: ['Foreground'],
      unblocksOwners: true,
    })
  })
})

describe('an owner that was not listed', () => {
  it.each([
    {
      title: 'alone',
      references: [ownedBy('Widget', 'w')],
      action: 'delete',
      certainty: 'possible',
      propagation: ['Background', 'Foreground'],
    },
    {
      title: 'beside one that is gone',
      references: [ownedBy('ReplicaSet', 'gone'), ownedBy('Widget', 'w')],
      action: 'delete',
      certainty: 'possible',
      propagation: ['Background', 'Foreground'],
    },
    {
      title: 'beside one that lives',
      references: [ownedBy('ReplicaSet', 'web'), ownedBy('Widget', 'w')],
      action: 'remove-references',
      certainty: 'possible',
      propagation: [],
    },
  ])(
    '$title leaves it $certainty that the collector would $action',
    ({ references, action, certainty, propagation }) => {
      const lists = { ReplicaSet: [owner], Pod: [object('p', references)] }
      for (const known of [null, [...served, kinds.Widget]])
        expect(of('p', collected(lists, { served: known }))).toMatchObject({
          references: expect.arrayContaining(['unknown']),
          action,
          certainty,
          propagation,
        })
    },
  )

  it('is found where another version of its kind was listed', () => {
    const older = { ...kinds.ReplicaSet, apiVersion: 'apps/v1beta2' }
    const lists = {
      ReplicaSet: [owner],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web', { apiVersion: 'apps/v1beta2' })])],
    }
    expect(of('p', collected(lists, { served: [...served, older] }))?.references).toEqual(['solid'])
    expect(of('p', collected(lists))?.references).toEqual(['unserved'])
    expect(of('p', collected(lists, { served: null }))?.references).toEqual(['unknown'])
    const unanswered = new Set(['apps/v1beta2'])
    expect(of('p', collected(lists, { served, unanswered }))?.references).toEqual(['unknown'])
    const otherGroup = { ...kinds.ReplicaSet, apiVersion: 'other/v1' }
    const foreign = {
      ReplicaSet: [owner],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web', { apiVersion: 'other/v1' })])],
    }
    expect(of('p', collected(foreign, { served: [...served, otherGroup] }))?.references).toEqual([
      'unknown',
    ])
  })
})

describe('an owner in another namespace', () => {
  it('does not keep its dependent, and an event says so', () => {
    const answers = collected({
      ReplicaSet: [object('web', [], { namespace: 'other' })],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web')])],
    })
    expect(of('p', answers)).toMatchObject({
      references: ['other-namespace'],
      action: 'delete',
      event:
        'ownerRef [apps/v1/ReplicaSet, namespace: apps, name: web, uid: uid-web] does not exist in namespace "apps"',
    })
  })

  it('is not looked for when a cluster-scoped object names it', () => {
    const answers = collected({
      ReplicaSet: [owner],
      Node: [
        object('n1', [ownedBy('ReplicaSet', 'web')], { namespace: undefined }),
        object('n2', [ownedBy('Node', 'gone')], { namespace: undefined }),
      ],
    })
    expect(of('n1', answers)).toMatchObject({
      references: ['namespaced-owner'],
      action: 'keep',
      event:
        'ownerRef [apps/v1/ReplicaSet, namespace: , name: web, uid: uid-web] does not exist in namespace ""',
    })
    expect(of('n2', answers)).toMatchObject({ action: 'delete', event: null })
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
      propagation: [],
    })
  })

  it.each([
    { known: served, certainty: 'certain' },
    {
      known: [...served, { apiVersion: 'events.k8s.io/v1', kind: 'Event', isNamespaced: true }],
      certainty: 'certain',
    },
    { known: [...served, kinds.Widget], certainty: 'possible' },
    { known: null, certainty: 'possible' },
  ])('goes when nothing blocks it: $certainty', ({ known, certainty }) => {
    const lists = {
      ReplicaSet: [object('web', [], foreground)],
      Pod: [object('p', [ownedBy('ReplicaSet', 'web')])],
    }
    expect(of('web', collected(lists, { served: known }))).toMatchObject({
      action: 'remove-finalizer',
      certainty,
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
    expect(of('p', answers)).toMatchObject({
      action: 'keep',
      certainty: 'certain',
      propagation: [],
    })
  })
})

describe('events', () => {
  it.each([
    { apiVersion: 'v1', version: 'v1.24.0', told: 0 },
    { apiVersion: 'events.k8s.io/v1', version: 'v1.24.0', told: 1 },
    { apiVersion: 'events.k8s.io/v1', version: 'v1.25.0', told: 0 },
    { apiVersion: 'other/v1', version: 'v1.37.0', told: 1 },
  ])('of $apiVersion in $version: $told collected', ({ apiVersion, version, told }) => {
    const listed = [
      ...listedOf({}),
      {
        apiVersion,
        kind: 'Event',
        isNamespaced: true,
        items: [objectOf('configmaps', object('e', [ownedBy('Pod', 'gone')]))],
      },
    ]
    expect([...collectGarbage({ listed, served: null }, featuresOf(version))]).toHaveLength(told)
  })
})

describe('ownerCycles', () => {
  const circles = (pods: unknown[]) =>
    ownerCycles({ listed: listedOf({ Pod: pods }), served }, newest).map(circle =>
      circle.map(({ name }) => name),
    )
  const pod = (name: string, ...owners: string[]) =>
    object(
      name,
      owners.map(other => ownedBy('Pod', other)),
    )

  it.each([
    { title: 'a chain', pods: [pod('a', 'b'), pod('b', 'c'), pod('c')], expected: [] },
    {
      title: 'two that own each other',
      pods: [pod('a', 'b'), pod('b', 'a'), pod('c', 'a')],
      expected: [['a', 'b']],
    },
    { title: 'one that owns itself', pods: [pod('a', 'a'), pod('b')], expected: [['a']] },
    {
      title: 'two circles that share one',
      pods: [pod('a', 'b', 'c'), pod('b', 'a'), pod('c', 'a')],
      expected: [['a', 'b', 'c']],
    },
    {
      title: 'two circles of which one owns the other',
      pods: [pod('a', 'b'), pod('b', 'a', 'c'), pod('c', 'd'), pod('d', 'c')],
      expected: [
        ['a', 'b'],
        ['c', 'd'],
      ],
    },
    {
      title: 'a diamond',
      pods: [pod('a', 'b', 'c'), pod('b', 'd'), pod('c', 'd'), pod('d')],
      expected: [],
    },
    {
      title: 'a late way back',
      pods: [pod('a', 'b'), pod('b', 'c', 'd'), pod('c'), pod('d', 'a')],
      expected: [['a', 'b', 'd']],
    },
    {
      title: 'a circle with a gap',
      pods: [pod('a', 'b'), pod('b', 'gone', 'a'), object('gone', [], { deletionTimestamp })],
      expected: [['a', 'b']],
    },
    {
      title: 'a circle that is being deleted',
      pods: [pod('a', 'b'), object('b', [ownedBy('Pod', 'a')], { deletionTimestamp })],
      expected: [],
    },
  ])('of $title: $expected', ({ pods, expected }) => {
    expect(circles(pods)).toEqual(expected)
  })

  it('follows a chain of any length', () => {
    const chain = Array.from({ length: 20_000 }, (_, index) => pod(`p${index}`, `p${index + 1}`))
    expect(circles([...chain, pod('p20000', 'p0')])[0]).toHaveLength(20_001)
  })
})
