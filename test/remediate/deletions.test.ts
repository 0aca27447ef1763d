import { afterEach, describe, expect, it } from 'vitest'
import { KubernetesClient } from '#clients/kubernetes.ts'
import type { DeletionKind, Plan, PlannedDeletion } from '#model/plan.ts'
import { type DeletionPolicy, defaultPolicy } from '#model/policy.ts'
import type { RawObject } from '#model/record.ts'
import { everything, type Selection } from '#model/selection.ts'
import { makeDeletionPlan } from '#pipeline/plan/deletions.ts'
import { deletionRights, objectPath } from '#remediate/plan/deletions.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { digestOf } from '#remediate/plan/plan.ts'
import { deleteObjects } from '#remediate/run/delete-objects.ts'
import { type StubReply, startStub } from '#test/http-stub.ts'
import { fleetNode, snapshotOf } from '#test/plan-fleet.ts'
import { deletionPlanOf, planOf as nodePlanOf } from '#test/remediation-world.ts'

const day = 24
const takenAt = '2026-11-21T00:00:00Z'
const ago = (hours: number, ms = 0) =>
  new Date(Date.parse(takenAt) - hours * 3_600_000 - ms).toISOString()
const all: DeletionPolicy = {
  nodeLeases: { olderThanHours: day },
  failedPods: { olderThanHours: day },
  finishedJobs: { olderThanHours: day },
  releasedVolumes: { olderThanHours: day },
}
const resources: Record<DeletionKind, string> = {
  nodeLeases: 'leases.coordination.k8s.io',
  failedPods: 'pods',
  finishedJobs: 'jobs.batch',
  releasedVolumes: 'persistentvolumes',
}

const named = (name: string, more: RawObject = {}): RawObject => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, ...more },
})
/** An object that goes, and has since `hours`. */
const ended: Record<DeletionKind, (hours: number, metadata?: RawObject, ms?: number) => RawObject> =
  {
    nodeLeases: (hours, metadata, ms) => ({
      ...named('gone', { namespace: 'kube-node-lease', ...metadata }),
      spec: { leaseDurationSeconds: 40, renewTime: ago(hours, ms) },
    }),
    failedPods: (hours, metadata, ms) => ({
      ...named('cart', metadata),
      status: {
        phase: 'Failed',
        reason: 'Evicted',
        startTime: ago(hours + 5),
        containerStatuses: [{ name: 'app', state: { terminated: { finishedAt: ago(hours, ms) } } }],
      },
    }),
    finishedJobs: (hours, metadata, ms) => ({
      ...named('import', metadata),
      spec: {},
      status: {
        conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: ago(hours, ms) }],
      },
    }),
    releasedVolumes: (hours, metadata, ms) => ({
      ...named('pv-1', {
        namespace: undefined,
        finalizers: ['kubernetes.io/pv-protection'],
        ...metadata,
      }),
      spec: {
        persistentVolumeReclaimPolicy: 'Retain',
        csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-0a1b' },
      },
      status: { phase: 'Released', lastPhaseTransitionTime: ago(hours, ms) },
    }),
  }
const kinds = Object.keys(resources) as DeletionKind[]
const objects = (kind: DeletionKind, ...items: RawObject[]) => ({
  kind: 'Objects',
  cluster: 'prod',
  resource: resources[kind],
  items,
})
const nothing = () => kinds.map(kind => objects(kind))

async function planOf(
  lines: object[],
  deletions = all,
  selection: Partial<Selection> = {},
): Promise<Plan> {
  const policy = { ...defaultPolicy, remediation: { ...defaultPolicy.remediation, deletions } }
  const file = snapshotOf([fleetNode({ name: 'alive' })], ...lines)
  const { plan } = await makeDeletionPlan(file, {
    policy,
    selection: { ...everything, ...selection },
  })
  expect(parsePlan(planText(plan), 'plan.json')).toEqual(plan)
  return plan
}
const deletionsOf = async (kind: DeletionKind, ...items: RawObject[]) =>
  (await planOf([...nothing(), objects(kind, ...items)])).deletions ?? []

describe('a plan of deletions', () => {
  it.each(kinds)(
    'names %s of the age that the policy says, exactly that included, with their UID',
    async kind => {
      const found = await deletionsOf(kind, ended[kind](day))
      expect(found).toMatchObject([
        {
          cluster: 'prod',
          kind,
          resource: resources[kind],
          ageSeconds: 86_400,
          uid: expect.stringMatching(/^uid-/),
        },
      ])
      expect(await deletionsOf(kind, ended[kind](day, {}, -1000))).toEqual([])
    },
  )

  it.each(kinds)(
    'leaves %s alone that are being deleted, that a finalizer holds, or that have no UID',
    async kind => {
      const held = { finalizers: ['example.com/mine'] }
      const items = [
        { deletionTimestamp: takenAt },
        held,
        { uid: undefined },
        { name: '../../secrets' },
      ].map(more => ended[kind](99, more))
      expect(await deletionsOf(kind, ...items)).toEqual([])
    },
  )

  it.each<[string, DeletionKind, RawObject]>([
    ['the lease of a node that is there', 'nodeLeases', ended.nodeLeases(99, { name: 'alive' })],
    [
      'a lease that goes with its owner',
      'nodeLeases',
      ended.nodeLeases(99, { ownerReferences: [{ kind: 'Node', name: 'gone', uid: 'u' }] }),
    ],
    ['a lease of somebody else', 'nodeLeases', ended.nodeLeases(99, { namespace: 'kube-system' })],
    [
      'a pod that has not failed',
      'failedPods',
      { ...ended.failedPods(99), status: { phase: 'Succeeded', startTime: ago(99) } },
    ],
    [
      'a static pod',
      'failedPods',
      ended.failedPods(99, { ownerReferences: [{ kind: 'Node', name: 'alive', uid: 'u' }] }),
    ],
    [
      'a Job that runs',
      'finishedJobs',
      {
        ...ended.finishedJobs(99),
        status: {
          conditions: [{ type: 'Suspended', status: 'True', lastTransitionTime: ago(99) }],
        },
      },
    ],
    [
      'a Job of a CronJob',
      'finishedJobs',
      ended.finishedJobs(99, {
        ownerReferences: [{ kind: 'CronJob', name: 'c', uid: 'u', controller: true }],
      }),
    ],
    [
      'a Job with a time to live',
      'finishedJobs',
      { ...ended.finishedJobs(99), spec: { ttlSecondsAfterFinished: 1 } },
    ],
    [
      'a volume that its driver deletes',
      'releasedVolumes',
      { ...ended.releasedVolumes(99), spec: { persistentVolumeReclaimPolicy: 'Delete' } },
    ],
    [
      'a volume of no known age',
      'releasedVolumes',
      { ...ended.releasedVolumes(99), status: { phase: 'Released' } },
    ],
    [
      'a volume in use',
      'releasedVolumes',
      {
        ...ended.releasedVolumes(99),
        status: { phase: 'Bound', lastPhaseTransitionTime: ago(99) },
      },
    ],
  ])('leaves %s alone', async (_, kind, object) => {
    expect(await deletionsOf(kind, object)).toEqual([])
  })

  it('takes failed pods of nodes that were read, too, and the latest end that a pod tells', async () => {
    const pod = ended.failedPods(30) as never
    const { deletions } = await planOf([...nothing(), fleetNode({ name: 'b', pods: [pod] })])
    expect(deletions).toMatchObject([
      {
        namespace: 'shop',
        name: 'cart',
        ageSeconds: 30 * 3600,
        why: expect.stringContaining('Failed (Evicted)'),
      },
    ])
  })

  it('says of a volume that its disk stays and costs', async () => {
    expect(
      (await deletionsOf('releasedVolumes', ended.releasedVolumes(99)))[0]?.why,
    ).toMatchSnapshot()
  })

  it('takes only what the policy names, and says what was not read', async () => {
    const { deletions, notDeleted } = await planOf(
      [
        objects('failedPods', ended.failedPods(99)),
        objects('finishedJobs', ended.finishedJobs(99)),
      ],
      { finishedJobs: { olderThanHours: 1 }, releasedVolumes: { olderThanHours: 1 } },
    )
    expect(deletions?.map(({ kind }) => kind)).toEqual(['finishedJobs'])
    expect(notDeleted).toMatchObject([
      {
        cluster: 'prod',
        resource: 'persistentvolumes',
        why: expect.stringContaining('was not read'),
      },
    ])
  })

  it('takes no lease where it is not known which nodes there are', async () => {
    const errors = [{ what: 'nodes', message: 'the list broke off' }]
    const { deletions, notDeleted } = await planOf([
      ...nothing(),
      objects('nodeLeases', ended.nodeLeases(99)),
      { kind: 'Cluster', cluster: 'prod', errors },
    ])
    expect(deletions).toEqual([])
    expect(notDeleted).toMatchObject([
      { resource: resources.nodeLeases, why: expect.stringContaining('the list broke off') },
    ])
  })

  it('takes the oldest of very many, and says how many are left', async () => {
    const many = Array.from({ length: 2003 }, (_, index) =>
      ended.failedPods(day + index, { name: `p${index}`, uid: `u${index}` }),
    )
    const { deletions, notDeleted } = await planOf([...nothing(), objects('failedPods', ...many)])
    expect(deletions).toHaveLength(2000)
    expect(deletions?.[0]?.name).toBe('p2002')
    expect(notDeleted).toMatchObject([{ resource: 'pods', why: expect.stringContaining('3 more') }])
  })

  it('has a digest of every object, and is no plan with another resource in it', async () => {
    const one = await planOf([...nothing(), objects('failedPods', ended.failedPods(99))])
    const other = await planOf([
      ...nothing(),
      objects('failedPods', ended.failedPods(99, { uid: 'another' })),
    ])
    expect(one.digest).not.toBe(other.digest)
    expect(() =>
      parsePlan(planText(one).replace('"resource": "pods"', '"resource": "secrets"'), 'plan.json'),
    ).toThrowErrorMatchingSnapshot()
  })

  it('is refused where the policy lets nothing go, and for a part of a cluster', async () => {
    await expect(planOf([], {})).rejects.toThrowErrorMatchingSnapshot()
    await expect(planOf([], all, { nodes: ['alive'] })).rejects.toThrow(
      'looks through whole clusters',
    )
  })
})

describe('deletionRights', () => {
  it('are those of what the policy names, and none without', () => {
    expect(deletionRights({})).toEqual([])
    expect(deletionRights({ finishedJobs: { olderThanHours: 1 } })).toEqual([
      'get jobs.batch',
      'delete jobs.batch',
    ])
    expect(deletionRights(all)).toEqual(
      expect.arrayContaining([
        'get nodes',
        'delete leases.coordination.k8s.io',
        'delete persistentvolumes',
      ]),
    )
  })
})

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** An API server with these objects, by path. */
async function cluster(
  store: Map<string, RawObject>,
  refuse: (method: string, path: string, isDryRun: boolean) => StubReply | null = () => null,
) {
  const reply = (status: number, body: object): StubReply => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const stub = await startStub(({ method, url, body }) => {
    const object = store.get(url)
    const options = method === 'DELETE' ? JSON.parse(body.toString()) : {}
    const isDryRun = options.dryRun?.[0] === 'All'
    const refused = refuse(method, url, isDryRun)
    if (refused !== null) return refused
    if (object === undefined) return reply(404, { message: 'not found' })
    if (method === 'GET') return reply(200, object)
    const { uid, resourceVersion } = object.metadata as RawObject
    if (
      options.preconditions.uid !== uid ||
      options.preconditions.resourceVersion !== resourceVersion
    )
      return reply(409, { message: 'Precondition failed' })
    if (!isDryRun) store.delete(url)
    return reply(200, { status: 'Success' })
  })
  const kubernetes = new KubernetesClient(
    { server: stub.url, authorization: async () => null },
    { pace: { requestsPerSecond: 1000, concurrency: 4 }, backoffMs: 1 },
  )
  cleanups.push(() => kubernetes.close(), stub.close)
  const sent = () =>
    stub.requests.map(({ method, url, body }) => ({
      method,
      url,
      body: body.length > 0 ? JSON.parse(body.toString()) : null,
    }))
  return { kubernetes, sent }
}

async function run(
  deletions: readonly PlannedDeletion[],
  kubernetes: KubernetesClient,
  { isDryRun = false, policy = all } = {},
) {
  const options = { signal: AbortSignal.timeout(60_000), timeoutMs: 20_000 }
  const outcomes = []
  for await (const outcome of deleteObjects(deletions, {
    kubernetes,
    policy,
    now: () => new Date(takenAt),
    isDryRun,
    options,
  }))
    outcomes.push(outcome)
  return outcomes.map(({ state, why }) => ({ state, why }))
}

it('no plan changes nodes and deletes objects, too', () => {
  const { id: _id, digest: _digest, ...plan } = nodePlanOf([1])
  const body = { ...plan, deletions: deletionPlanOf(1).deletions ?? [] }
  const digest = digestOf(body)
  const text = planText({ ...body, id: digest.slice(0, 16), digest })
  expect(() => parsePlan(text, 'plan.json')).toThrowErrorMatchingSnapshot()
})

describe('deleteObjects', () => {
  const planned = async (kind: DeletionKind, metadata: RawObject = {}) => {
    const object = ended[kind](99, { resourceVersion: '7', ...metadata })
    const [deletion] = await deletionsOf(kind, object)
    return { deletion: deletion!, path: objectPath(deletion!), object }
  }

  it('tries it without effect, then deletes it by UID and version, and Jobs with their pods', async () => {
    const { deletion, path, object } = await planned('finishedJobs')
    expect(path).toBe('/apis/batch/v1/namespaces/shop/jobs/import')
    const store = new Map([[path, object]])
    const { kubernetes, sent } = await cluster(store)
    expect(await run([deletion], kubernetes)).toEqual([{ state: 'deleted', why: null }])
    expect(store.size).toBe(0)
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'uid-import', resourceVersion: '7' },
      propagationPolicy: 'Background',
    }
    expect(sent().map(({ method, body: said }) => [method, said])).toEqual([
      ['GET', null],
      ['DELETE', { ...body, dryRun: ['All'] }],
      ['DELETE', body],
    ])
    expect(await run([deletion], kubernetes)).toEqual([{ state: 'gone', why: null }])
  })

  it('only tries it where that is all that was asked for', async () => {
    const { deletion, path, object } = await planned('releasedVolumes')
    const store = new Map([[path, object]])
    const { kubernetes } = await cluster(store)
    expect(await run([deletion], kubernetes, { isDryRun: true })).toEqual([
      { state: 'would-delete', why: null },
    ])
    expect(store.size).toBe(1)
  })

  it.each<[string, RawObject, RegExp]>([
    [
      'another object of that name',
      ended.failedPods(99, { uid: 'another' }),
      /another object of the same name/,
    ],
    [
      'no longer failed',
      { ...ended.failedPods(99), status: { phase: 'Running' } },
      /not what the policy lets go/,
    ],
    [
      'held by a finalizer now',
      ended.failedPods(99, { finalizers: ['a/b'] }),
      /not what the policy lets go/,
    ],
  ])('leaves alone what is %s', async (_, now, why) => {
    const { deletion, path } = await planned('failedPods')
    const store = new Map([[path, now]])
    const { kubernetes, sent } = await cluster(store)
    expect(await run([deletion], kubernetes)).toEqual([
      { state: 'changed', why: expect.stringMatching(why) },
    ])
    expect(sent().map(({ method }) => method)).toEqual(['GET'])
  })

  it('leaves a lease alone whose node is there again, and deletes it where it is not', async () => {
    const { deletion, path, object } = await planned('nodeLeases')
    const store = new Map([
      [path, object],
      ['/api/v1/nodes/gone', { metadata: { name: 'gone' } }],
    ])
    const { kubernetes } = await cluster(store)
    expect(await run([deletion], kubernetes)).toMatchSnapshot()
    store.delete('/api/v1/nodes/gone')
    expect(await run([deletion], kubernetes)).toEqual([{ state: 'deleted', why: null }])
  })

  it('leaves alone what the policy no longer names', async () => {
    const { deletion, path, object } = await planned('failedPods')
    const { kubernetes } = await cluster(new Map([[path, object]]))
    expect(await run([deletion], kubernetes, { policy: {} })).toEqual([
      { state: 'changed', why: expect.stringContaining('no longer lets failedPods go') },
    ])
  })

  it('goes on after a refusal, names the right that is missing, and deletes nothing that the trial refused', async () => {
    const pod = await planned('failedPods')
    const job = await planned('finishedJobs')
    const store = new Map([
      [pod.path, pod.object],
      [job.path, job.object],
    ])
    const forbidden = {
      status: 403,
      body: JSON.stringify({ message: 'pods is forbidden: cannot delete' }),
    }
    const { kubernetes, sent } = await cluster(store, (method, path) =>
      method === 'DELETE' && path === pod.path ? forbidden : null,
    )
    expect(await run([pod.deletion, job.deletion], kubernetes)).toEqual([
      { state: 'failed', why: expect.stringMatching(/cannot delete.*role/s) },
      { state: 'deleted', why: null },
    ])
    expect(
      sent().filter(({ method, url }) => method === 'DELETE' && url === pod.path),
    ).toHaveLength(1)
  })

  it('tells a change between the trial and the deletion', async () => {
    const { deletion, path, object } = await planned('failedPods')
    const conflict = {
      status: 409,
      body: JSON.stringify({ message: 'Precondition failed: resourceVersion' }),
    }
    const { kubernetes } = await cluster(new Map([[path, object]]), (method, _, isDryRun) =>
      method === 'DELETE' && !isDryRun ? conflict : null,
    )
    expect(await run([deletion], kubernetes)).toEqual([
      { state: 'changed', why: expect.stringContaining('Precondition failed') },
    ])
  })

  it('takes a deletion whose answer was lost for gone: the second try finds nothing', async () => {
    const { deletion, path, object } = await planned('failedPods')
    const store = new Map([[path, object]])
    const { kubernetes } = await cluster(store, (method, _, isDryRun) => {
      if (method !== 'DELETE' || isDryRun || !store.has(path)) return null
      store.delete(path)
      return { status: 503, body: '{}' }
    })
    expect(await run([deletion], kubernetes)).toEqual([{ state: 'gone', why: null }])
  })
})
