import { describe, expect, it } from 'vitest'
import { cleanupHistory, truncateHistory } from '#replay/cluster-gc/controller-revisions.ts'
import { cleanupDeployments } from '#replay/cluster-gc/deployments.ts'

const controlledBy = (uid: string) => [{ uid: 'other' }, { uid, controller: true }]
const revisionOf = (revision: unknown) => ({ 'deployment.kubernetes.io/revision': revision })
const at = (second: number) => `2025-01-01T00:00:${String(second).padStart(2, '0')}Z`

describe('cleanupDeployments', () => {
  const complete = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, observedGeneration: 3 }
  const deployment = (spec: object = {}, status: object = {}, metadata: object = {}) => ({
    metadata: {
      namespace: 'apps',
      name: 'web',
      uid: 'web',
      generation: 3,
      annotations: revisionOf('9'),
      ...metadata,
    },
    spec: { replicas: 2, revisionHistoryLimit: 1, ...spec },
    status: { ...complete, ...status },
  })
  interface Old {
    replicas?: unknown
    status?: object
    metadata?: object
  }
  const replicaSet = (
    name: string,
    revision: unknown,
    { replicas = 0, status = {}, metadata = {} }: Old = {},
  ) => ({
    metadata: {
      namespace: 'apps',
      name,
      generation: 1,
      annotations: revisionOf(revision),
      ownerReferences: controlledBy('web'),
      ...metadata,
    },
    spec: { replicas },
    status: { replicas: 0, observedGeneration: 1, ...status },
  })
  const current = replicaSet('current', '9', { replicas: 2, status: { replicas: 2 } })
  const [r1, r2, r10] = [replicaSet('r1', '1'), replicaSet('r2', '2'), replicaSet('r10', '10')]
  const cleanup = (given: unknown, replicaSets: unknown[]) =>
    cleanupDeployments([given], replicaSets)[0]
  const deletions = (given: unknown, replicaSets: unknown[]) =>
    cleanup(given, replicaSets)?.deletions.map(each => [each.replicaSet, each.certainty])

  it('deletes the lowest revisions beyond the limit, by number', () => {
    expect(cleanup(deployment(), [r10, current, r2, r1, null])).toEqual({
      deployment: 'apps/web',
      limit: 1,
      oldCount: 3,
      waitsFor: 'nothing',
      exceededSinceMs: null,
      deletions: [
        { replicaSet: 'apps/r1', certainty: 'certain' },
        { replicaSet: 'apps/r2', certainty: 'certain' },
      ],
      kept: [],
    })
  })

  it.each([
    { limit: 0, gone: ['apps/r1', 'apps/r2'] },
    { limit: 1, gone: ['apps/r1'] },
    { limit: 2, gone: [] },
    { limit: 3, gone: [] },
    { limit: 2_147_483_647, gone: [] },
    { limit: undefined, gone: [] },
  ])('a limit of $limit deletes $gone', ({ limit, gone }) => {
    const answer = cleanup(deployment({ revisionHistoryLimit: limit }), [current, r1, r2])
    expect(answer?.deletions.map(each => each.replicaSet)).toEqual(gone)
    expect(answer?.limit).toBe(limit === 2_147_483_647 ? null : (limit ?? 10))
  })

  it.each([
    { title: 'has replicas', old: { status: { replicas: 1 } }, because: 'replicas' },
    { title: 'should have replicas', old: { replicas: 1 }, because: 'replicas' },
    { title: 'does not say how many it should have', old: { replicas: '0' }, because: 'replicas' },
    {
      title: 'was not observed',
      old: { metadata: { generation: 2 } },
      because: 'status-not-current',
    },
    {
      title: 'was never observed',
      old: { status: { observedGeneration: undefined } },
      because: 'status-not-current',
    },
  ])('passes over one that $title, without another in its place', ({ old, because }) => {
    expect(cleanup(deployment(), [current, replicaSet('r1', '1', old), r2])).toMatchObject({
      deletions: [],
      kept: [{ replicaSet: 'apps/r1', because }],
    })
  })

  it.each([
    { limit: 0, second: 1 },
    { limit: 1, second: 2 },
    { limit: 2, second: 3 },
    { limit: 3, second: null },
    { limit: 2_147_483_647, second: null },
  ])(
    'has had more than $limit since as many rollouts as there are too many',
    ({ limit, second }) => {
      const made = (name: string, revision: string, at_: number) =>
        replicaSet(name, revision, { metadata: { creationTimestamp: at(at_) } })
      const replicaSets = [
        made('r1', '1', 0),
        made('r3', '3', 2),
        made('current', '9', 3),
        made('r2', '2', 1),
      ]
      const answer = cleanup(
        deployment({ revisionHistoryLimit: limit }, { updatedReplicas: 1 }),
        replicaSets,
      )
      expect(answer).toMatchObject({
        waitsFor: 'rollout',
        exceededSinceMs: second === null ? null : Date.parse(at(second)),
      })
    },
  )

  it('takes one whose status says no number as empty', () => {
    expect(
      deletions(deployment(), [
        current,
        replicaSet('r1', '1', { status: { replicas: undefined } }),
        r2,
      ]),
    ).toEqual([['apps/r1', 'certain']])
  })

  it('does not count those that are being deleted, or are not its own', () => {
    const going = replicaSet('going', '3', { metadata: { deletionTimestamp: at(0) } })
    const foreign = replicaSet('foreign', '4', { metadata: { ownerReferences: [{ uid: 'web' }] } })
    expect(cleanup(deployment(), [current, r1, going, foreign])).toMatchObject({
      oldCount: 1,
      deletions: [],
    })
    expect(cleanup(deployment({}, {}, { uid: 'unrelated' }), [current, r1, r2])).toMatchObject({
      oldCount: 0,
      deletions: [],
    })
  })

  it.each([
    {
      title: 'pods that are not updated',
      given: deployment({}, { updatedReplicas: 1 }),
      waitsFor: 'rollout',
    },
    { title: 'too many pods', given: deployment({}, { replicas: 3 }), waitsFor: 'rollout' },
    {
      title: 'pods that are not available',
      given: deployment({}, { availableReplicas: undefined }),
      waitsFor: 'rollout',
    },
    {
      title: 'a generation that was not observed',
      given: deployment({}, { observedGeneration: 2 }),
      waitsFor: 'rollout',
    },
    { title: 'no status', given: { ...deployment(), status: {} }, waitsFor: 'rollout' },
    {
      title: 'no generation observed at all',
      given: deployment({}, { observedGeneration: undefined }),
      waitsFor: 'rollout',
    },
    {
      title: 'its own deletion',
      given: deployment({}, {}, { deletionTimestamp: at(0) }),
      waitsFor: 'deletion',
    },
    {
      title: 'its own deletion while it is paused',
      given: deployment({ paused: true }, {}, { deletionTimestamp: at(0) }),
      waitsFor: 'deletion',
    },
    { title: 'nothing', given: deployment(), waitsFor: 'nothing' },
    {
      title: 'nothing with more generations observed than there are',
      given: deployment({}, { observedGeneration: 4 }),
      waitsFor: 'nothing',
    },
    {
      title: 'nothing with one replica, which is the default',
      given: deployment(
        { replicas: undefined },
        { replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
      ),
      waitsFor: 'nothing',
    },
    {
      title: 'nothing with no replicas at all',
      given: deployment(
        { replicas: 0 },
        { replicas: undefined, updatedReplicas: undefined, availableReplicas: undefined },
      ),
      waitsFor: 'nothing',
    },
    {
      title: 'nothing while it is paused',
      given: deployment({ paused: true }, { updatedReplicas: 0 }),
      waitsFor: 'nothing',
    },
  ])('waits for $title: $waitsFor', ({ given, waitsFor }) => {
    const answer = cleanup(given, [current, r1, r2])
    expect(answer?.waitsFor).toBe(waitsFor)
    expect(answer?.deletions[0]?.replicaSet).toBe(waitsFor === 'nothing' ? 'apps/r1' : undefined)
  })

  it('may delete one more while it is paused: its template may have no ReplicaSet yet', () => {
    expect(deletions(deployment({ paused: true }), [current, r1, r2])).toEqual([
      ['apps/r1', 'certain'],
      ['apps/r2', 'possible'],
    ])
    const going = replicaSet('going', '0', { metadata: { deletionTimestamp: at(0) } })
    expect(
      deletions(deployment({ paused: true, revisionHistoryLimit: 2 }), [current, r1, r2, going]),
    ).toEqual([['apps/r1', 'possible']])
  })

  it.each([
    {
      title: 'revisions were not kept',
      own: {},
      old: { annotations: undefined },
      expected: [
        ['apps/r1', 'possible'],
        ['apps/r', 'possible'],
      ],
    },
    {
      title: 'a revision is no number',
      own: {},
      old: { annotations: revisionOf('first') },
      expected: [
        ['apps/r1', 'possible'],
        ['apps/r', 'possible'],
      ],
    },
    {
      title: 'its own revision was not kept',
      own: { annotations: undefined },
      old: {},
      expected: [
        ['apps/r', 'possible'],
        ['apps/r1', 'possible'],
      ],
    },
    {
      title: 'its own revision has no ReplicaSet',
      own: { annotations: revisionOf('11') },
      old: {},
      expected: [
        ['apps/r', 'possible'],
        ['apps/r1', 'possible'],
      ],
    },
    {
      title: 'a revision was never written',
      own: {},
      old: { annotations: {} },
      expected: [['apps/r', 'certain']],
    },
    {
      title: 'a revision has a sign',
      own: {},
      old: { annotations: revisionOf('+0') },
      expected: [['apps/r', 'certain']],
    },
    {
      title: 'a revision is below zero',
      own: {},
      old: { annotations: revisionOf('-3') },
      expected: [['apps/r', 'certain']],
    },
  ])('where $title, may delete $expected', ({ own, old, expected }) => {
    expect(
      deletions(deployment({}, {}, own), [
        current,
        r1,
        replicaSet('r', '0', { metadata: { creationTimestamp: at(0), ...old } }),
      ]),
    ).toEqual(expected)
  })

  it('may delete any where revisions are not known, but none within the limit', () => {
    const unkept = replicaSet('r', '0', { metadata: { annotations: undefined } })
    expect(deletions(deployment({ revisionHistoryLimit: 2 }), [current, r1, unkept])).toEqual([])
    expect(
      deletions(deployment({ revisionHistoryLimit: 2 }), [current, r1, r2, unkept]),
    ).toHaveLength(3)
  })

  it('takes the older of equal revisions, then the first by name', () => {
    const same = ['b', 'a', 'c'].map((name, index) =>
      replicaSet(name, '1', { metadata: { creationTimestamp: at(index === 2 ? 1 : 5) } }),
    )
    expect(deletions(deployment(), [current, ...same])?.map(([name]) => name)).toEqual([
      'apps/c',
      'apps/a',
    ])
  })

  it('leaves out what is no Deployment', () => {
    expect(cleanupDeployments([null, {}], [r1])).toEqual([])
  })
})

describe('ControllerRevisions', () => {
  const owner = (spec: object = {}, status: object = {}, metadata: object = {}) => ({
    metadata: { namespace: 'apps', name: 'db', uid: 'db', generation: 2, ...metadata },
    spec: { revisionHistoryLimit: 1, ...spec },
    status: { observedGeneration: 2, currentRevision: 'db-4', updateRevision: 'db-5', ...status },
  })
  const revision = (number: number, metadata: object = {}, revised: unknown = number) => ({
    metadata: {
      namespace: 'apps',
      name: `db-${number}`,
      ownerReferences: controlledBy('db'),
      ...metadata,
    },
    revision: revised,
  })
  const pod = (hash: string, metadata: object = {}) => ({
    metadata: {
      namespace: 'apps',
      name: `pod-${hash}`,
      labels: { 'controller-revision-hash': hash },
      ownerReferences: controlledBy('db'),
      ...metadata,
    },
  })
  const five = [5, 3, 1, 4, 2].map(number => revision(number))
  const gone = (answer: { deletions: { revision: string; certainty: string }[] } | undefined) =>
    answer?.deletions.map(each => [each.revision, each.certainty])

  describe('of a StatefulSet', () => {
    const truncated = (given: unknown, pods: unknown[] | null, revisions: unknown[] = five) =>
      truncateHistory([given], pods, revisions)[0]

    it('counts only those that nobody uses', () => {
      expect(
        truncated(owner(), [
          pod('db-2'),
          pod('db-1', { ownerReferences: controlledBy('other') }),
          null,
        ]),
      ).toEqual({
        owner: 'apps/db',
        limit: 1,
        count: 2,
        deletions: [{ revision: 'apps/db-1', certainty: 'certain' }],
      })
      expect(truncated(owner({ revisionHistoryLimit: 2 }), [pod('db-2')])?.deletions).toEqual([])
      expect(truncated(owner({ revisionHistoryLimit: 9 }), [pod('db-2')])?.deletions).toEqual([])
      expect(gone(truncated(owner({ revisionHistoryLimit: 0 }), []))).toEqual([
        ['apps/db-1', 'certain'],
        ['apps/db-2', 'certain'],
        ['apps/db-3', 'certain'],
      ])
    })

    it('keeps 10 where nothing is said, and all of a negative limit', () => {
      expect(truncated(owner({ revisionHistoryLimit: undefined }), [])).toMatchObject({
        limit: 10,
        deletions: [],
      })
      expect(truncated(owner({ revisionHistoryLimit: -1 }), [])?.deletions).toEqual([])
    })

    it.each([
      { title: 'pods were not read', given: owner(), pods: null, revisions: five, count: null },
      {
        title: 'the latest generation was not observed',
        given: owner({}, { observedGeneration: 1 }),
        pods: [],
        revisions: five,
        count: 3,
      },
      {
        title: 'no generation was observed',
        given: owner({}, { observedGeneration: undefined }),
        pods: [],
        revisions: five,
        count: 3,
      },
      {
        title: 'revisions were not kept',
        given: owner(),
        pods: [],
        revisions: [1, 2, 3, 4, 5].map(number => revision(number, {}, null)),
        count: 3,
      },
    ])('is not sure where $title', ({ given, pods, revisions, count }) => {
      const answer = truncated(given, pods, revisions)
      expect(answer?.count).toBe(count)
      expect(gone(answer)).toEqual([
        ['apps/db-1', 'possible'],
        ['apps/db-2', 'possible'],
      ])
    })

    it('takes the older of equal revisions, then the first by name', () => {
      const equals = [
        revision(3, { creationTimestamp: at(5) }, 1),
        revision(2, { creationTimestamp: at(5) }, 1),
        revision(1, { creationTimestamp: at(9) }, 1),
      ]
      expect(gone(truncated(owner(), [], equals))).toEqual([
        ['apps/db-2', 'certain'],
        ['apps/db-3', 'certain'],
      ])
    })

    it('takes none of another owner, and leaves out what is no StatefulSet', () => {
      expect(
        truncateHistory(
          [null, owner({ revisionHistoryLimit: 0 })],
          [],
          [null, revision(1, { ownerReferences: controlledBy('other') })],
        ),
      ).toMatchObject([{ deletions: [] }])
    })
  })

  describe('of a DaemonSet', () => {
    const cleaned = (given: unknown, pods: unknown[] | null, revisions: unknown[] = five) =>
      cleanupHistory([given], pods, revisions)[0]

    it('counts all but the highest, and for one that a pod uses takes the next', () => {
      expect(cleaned(owner(), [pod('db-1')])).toEqual({
        owner: 'apps/db',
        limit: 1,
        count: 4,
        deletions: [2, 3, 4].map(number => ({
          revision: `apps/db-${number}`,
          certainty: 'certain',
        })),
      })
      expect(gone(cleaned(owner({ revisionHistoryLimit: 3 }), [pod('db-1')]))).toEqual([
        ['apps/db-2', 'certain'],
      ])
      expect(cleaned(owner({ revisionHistoryLimit: 4 }), [])?.deletions).toEqual([])
      expect(cleaned(owner({ revisionHistoryLimit: 5 }), [])?.deletions).toEqual([])
      expect(
        gone(cleaned(owner({ revisionHistoryLimit: 2 }), [pod('db-1'), pod('db-2'), pod('db-3')])),
      ).toEqual([['apps/db-4', 'certain']])
    })

    it('knows a revision by its label, where it has one', () => {
      const labelled = revision(1, { labels: { 'controller-revision-hash': 'abc' } })
      expect(gone(cleaned(owner(), [pod('abc')], [labelled, revision(2), revision(3)]))).toEqual([
        ['apps/db-2', 'certain'],
      ])
    })

    it.each([
      {
        title: 'pods were not read',
        given: owner({ revisionHistoryLimit: 3 }),
        pods: null,
        revisions: five,
      },
      {
        title: 'the latest generation was not observed',
        given: owner({ revisionHistoryLimit: 3 }, { observedGeneration: 1 }),
        pods: [],
        revisions: five,
      },
      {
        title: 'a revision was not kept',
        given: owner({ revisionHistoryLimit: 3 }),
        pods: [],
        revisions: [revision(1, {}, null), ...five.slice(0, 2), ...five.slice(3)],
      },
    ])('is not sure where $title', ({ given, pods, revisions }) => {
      expect(gone(cleaned(given, pods, revisions))).toEqual([['apps/db-1', 'possible']])
    })

    it('takes any of equals at the limit', () => {
      const equals = [
        revision(1, {}, 1),
        revision(2, {}, 2),
        revision(3, {}, 2),
        revision(4, {}, 3),
        revision(5, {}, 4),
      ]
      expect(gone(cleaned(owner({ revisionHistoryLimit: 2 }), [], equals))).toEqual([
        ['apps/db-1', 'certain'],
        ['apps/db-2', 'possible'],
        ['apps/db-3', 'possible'],
      ])
      expect(gone(cleaned(owner({ revisionHistoryLimit: 1 }), [], equals))).toEqual([
        ['apps/db-1', 'certain'],
        ['apps/db-2', 'certain'],
        ['apps/db-3', 'certain'],
      ])
    })
  })
})
