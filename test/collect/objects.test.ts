import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { eventsKeptPerReason, routineReasons } from '#facts/kubelet/event-reasons.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import {
  everything,
  type ObjectsRecord,
  type ReadError,
  type SnapshotRecord,
} from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { liveFleet } from '#pipeline/audit/fleet.ts'
import { prune } from '#snapshot/prune.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'

const policy = {
  ...defaultPolicy,
  pace: { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 50 },
}

async function collected(): Promise<SnapshotRecord[]> {
  return Array.fromAsync(
    liveFleet({ policy, selection: everything, signal: new AbortController().signal }),
  )
}

const itemsOf = (records: SnapshotRecord[], resource: string, cluster = 'c') => {
  const found = records.filter(
    (record): record is ObjectsRecord => record.kind === 'Objects' && record.resource === resource,
  )
  const here = found.filter(record => record.cluster === cluster)
  return here.length === 0 ? null : here.flatMap(({ items }) => items)
}
const errorsOf = (records: SnapshotRecord[]): ReadError[] =>
  records.flatMap(record => (record.kind === 'Cluster' ? (record.errors ?? []) : []))

const event = (
  index: number,
  reason: string,
  about: RawObject = { kind: 'Node', name: 'n' },
  message = '',
  namespace = 'default',
): RawObject => ({
  metadata: { name: `e.${String(index).padStart(6, '0')}`, namespace, uid: `u-${index}` },
  involvedObject: about,
  reason,
  message,
})
const pod = { kind: 'Pod', namespace: 'shop', name: 'p' }

const withoutNodeClasses = auditorRights.filter(right => !/karpenter|eks\./.test(right))

const world = (more: Partial<ClusterScenario>) =>
  labOf([scenario([{ name: 'c', nodes: nodes(1), ...more }])])

describe('events', () => {
  it('are those that tell of GC, eviction, pulls and memory, of nodes and pods', async () => {
    const told = [
      event(1, 'FreeDiskSpaceFailed'),
      event(0, 'FreeDiskSpaceFailed', { kind: 'Node', name: 'n', namespace: 'evil' }, '', 'evil'),
      event(2, 'FreeDiskSpaceFailed', pod),
      event(3, 'Evicted', pod),
      event(4, 'BackOff', pod, 'Back-off pulling image "x"'),
      event(5, 'BackOff', pod, 'Back-off restarting failed container'),
      event(6, 'Failed', pod, 'Error: ErrImagePull'),
      event(7, 'Failed', pod, 'Error: container has runAsNonRoot'),
      event(8, 'Failed', pod, 'mkdir /sys/fs/cgroup/memory/kubepods: cannot allocate memory'),
      event(
        9,
        'Pulled',
        pod,
        'Successfully pulled image "x" in 3s (9s including waiting). Image size: 5 bytes.',
      ),
      event(10, 'Pulled', pod, 'Container image already present on machine'),
      event(11, 'OwnerRefInvalidNamespace', { kind: 'ReplicaSet', name: 'r' }),
      event(12, 'Evicted', { kind: 'NodeClaim', name: 'c' }),
      event(13, 'Starting'),
      event(14, 'Killing', pod, 'Stopping container app'),
    ]
    await world({ events: () => told })
    const kept = itemsOf(await collected(), 'events')?.map(({ metadata }) =>
      Number((metadata as { uid: string }).uid.slice(2)),
    )
    expect(kept).toEqual([1, 3, 4, 6, 8, 9, 13, 14])
  })

  it('come in one paged list, without the routine', async () => {
    const routine = Array.from({ length: 3000 }, (_, index) =>
      event(index, routineReasons[index % routineReasons.length] ?? '', pod),
    )
    const telling = Array.from({ length: 1200 }, (_, index) =>
      event(10_000 + index, 'ImageGCFailed'),
    )
    const lab = await world({ events: () => [...routine, ...telling] })
    const records = await collected()
    expect(
      records.filter(record => record.kind === 'Objects' && record.resource === 'events'),
    ).toHaveLength(3)
    expect(itemsOf(records, 'events')).toHaveLength(1200)
    expect(lab.requests().routes['kubernetes/c']?.listEvents).toBe(3)
  })

  it('are bounded for each reason; how many more there are is said', async () => {
    const flood = Array.from({ length: eventsKeptPerReason + 700 }, (_, index) =>
      event(index, 'FreeDiskSpaceFailed'),
    )
    await world({ events: () => [...flood, event(900_000, 'EvictionThresholdMet')] })
    const records = await collected()
    expect(itemsOf(records, 'events')).toHaveLength(eventsKeptPerReason + 1)
    expect(errorsOf(records)).toEqual([
      { what: 'events', message: expect.stringMatching(/: 700 more FreeDiskSpaceFailed/) },
    ])
  })

  it('go on where a continue token has expired', async () => {
    const many = Array.from({ length: 1700 }, (_, index) => event(index, 'ImageGCFailed'))
    await world({ events: () => many, faults: { continueExpiresAfterPages: 2 } })
    const records = await collected()
    expect(itemsOf(records, 'events')).toHaveLength(1700)
    expect(errorsOf(records)).toEqual([])
  })

  it('that may not be listed are an error entry, and the audit goes on', async () => {
    const rights = auditorRights.filter(right => right !== 'list events')
    await world({ access: { [labPrincipal]: rights }, events: () => [event(1, 'ImageGCFailed')] })
    const records = await collected()
    expect(itemsOf(records, 'events')).toBeNull()
    expect(errorsOf(records)).toEqual([
      { what: 'events', message: expect.stringContaining('cannot list resource "events"') },
    ])
    const { document, files } = await auditLive()
    expect(document.clusters).toMatchObject([{ name: 'c', coverage: { nodes: 1, read: 1 } }])
    expect(document.notAudited).toMatchObject([
      {
        cluster: 'c',
        node: null,
        reason: expect.stringMatching(/\/api\/v1\/events was answered 403/),
      },
    ])
    const page = files.find(({ name }) => name === 'report.html')?.body ?? ''
    expect(page).toContain('1 cluster not fully read')
    expect(page).not.toContain('whole cluster')
  })

  it('are not asked for where the list of nodes was not answered', async () => {
    await world({ faults: { endpoint: 'closed-port' } })
    const records = await collected()
    expect(records.map(({ kind }) => kind)).toEqual(['Snapshot', 'Cluster'])
    expect(errorsOf(records)).toMatchObject([
      { what: 'nodes', message: expect.stringContaining('refused the connection') },
    ])
  })

  it('are asked for where only the nodes may not be listed', async () => {
    const rights = auditorRights.filter(right => right !== 'list nodes')
    await world({ access: { [labPrincipal]: rights }, events: () => [event(1, 'ImageGCFailed')] })
    const records = await collected()
    expect(itemsOf(records, 'events')).toHaveLength(1)
    expect(errorsOf(records)).toEqual([
      {
        what: 'nodes',
        status: 403,
        message: expect.stringContaining('cannot list resource "nodes"'),
      },
    ])
  })
})

describe('PodDisruptionBudgets', () => {
  const budget = (name: string, more: RawObject = {}): RawObject => ({
    metadata: { namespace: 'shop', name, annotations: { note: 'hunter2' } },
    spec: {
      minAvailable: 1,
      selector: { matchLabels: { app: name, env: 'prod' } },
      note: 'hunter2',
    },
    status: { disruptionsAllowed: 0, conditions: [{ type: 'DisruptionAllowed', status: 'False' }] },
    ...more,
  })

  it('come in one paged list, cut to what a plan reads', async () => {
    const lab = await world({
      disruptionBudgets: Array.from({ length: 1200 }, (_, index) =>
        budget(`b${String(index).padStart(4, '0')}`),
      ),
    })
    const found = itemsOf((await collected()).map(prune), 'poddisruptionbudgets.policy')
    expect(found).toHaveLength(1200)
    expect(found?.[0]).toEqual({
      metadata: { namespace: 'shop', name: 'b0000' },
      spec: { selector: { matchLabels: { app: 'b0000', env: 'prod' } } },
      status: { disruptionsAllowed: 0 },
    })
    expect(lab.requests().routes['kubernetes/c']?.['list poddisruptionbudgets']).toBe(3)
  })

  it('that are none are known to be none', async () => {
    await world({})
    expect(itemsOf(await collected(), 'poddisruptionbudgets.policy')).toEqual([])
  })

  it('that may not be listed cost only themselves, and are named', async () => {
    await world({
      access: {
        [labPrincipal]: auditorRights.filter(right => !right.includes('poddisruptionbudgets')),
      },
    })
    const records = await collected()
    expect(itemsOf(records, 'poddisruptionbudgets.policy')).toBeNull()
    expect(itemsOf(records, 'events')).not.toBeNull()
    expect(errorsOf(records)).toEqual([
      {
        what: 'poddisruptionbudgets.policy',
        message: expect.stringMatching(/cannot list resource "poddisruptionbudgets"/),
      },
    ])
  })
})

describe('NodePools and node classes', () => {
  it('are read where they are installed, with user data cut to the kubelet’s settings', async () => {
    await labOf([incidents])
    const records = await collected()
    expect(itemsOf(records, 'nodepools.karpenter.sh', 'incidents')).toMatchObject([
      { metadata: { name: 'burst' } },
    ])
    expect(itemsOf(records, 'ec2nodeclasses.karpenter.k8s.aws', 'incidents')).toMatchObject([
      {
        spec: {
          kubelet: { imageGCHighThresholdPercent: 70 },
          userData: [{ source: 'nodeadm', config: { containerLogMaxSize: '50Mi' } }],
        },
      },
    ])
    expect(itemsOf(records, 'nodeclasses.eks.amazonaws.com', 'incidents-managed')).toMatchObject([
      { spec: { ephemeralStorage: { size: '80Gi' } } },
    ])
    expect(JSON.stringify(records)).not.toContain('lab-secret-karpenter')
  })

  it('are none, and no error, where they are not installed', async () => {
    await world({ access: { [labPrincipal]: withoutNodeClasses } })
    const records = await collected()
    for (const resource of [
      'nodepools.karpenter.sh',
      'ec2nodeclasses.karpenter.k8s.aws',
      'nodeclasses.eks.amazonaws.com',
    ])
      expect(itemsOf(records, resource)).toEqual([])
    expect(errorsOf(records)).toEqual([])
  })

  it('that may not be listed are an error entry each', async () => {
    const installed = { 'nodepools.karpenter.sh': [], 'ec2nodeclasses.karpenter.k8s.aws': [] }
    await world({ nodeClasses: installed, access: { [labPrincipal]: withoutNodeClasses } })
    expect(
      errorsOf(await collected()).map(
        ({ what, message }) => `${what}: ${message.replace(/.*(cannot list \S+ \S+).*/, '$1')}`,
      ),
    ).toMatchSnapshot()
  })

  it('say whose user data is not known', async () => {
    const items = [{ metadata: { name: 'odd', uid: 'u' }, spec: { userData: 'hunter2' } }]
    await world({ nodeClasses: { 'ec2nodeclasses.karpenter.k8s.aws': items } })
    const records = await collected()
    expect(itemsOf(records, 'ec2nodeclasses.karpenter.k8s.aws')).toMatchObject([
      { spec: { userData: null } },
    ])
    expect(errorsOf(records)).toMatchSnapshot()
  })
})
