import { describe, expect, it } from 'vitest'
import { localStorageFitsNoNode } from '#judge/rules/reservations/local-storage-fits-no-node.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import type { ContextExample } from '#test/example.ts'
import { buildNode } from '#test/node-builder.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { event, failingOf, state } from '#test/rules/events.ts'

const refused = '0/3 nodes are available: 3 Insufficient ephemeral-storage.'

const cluster = (request: string, message = refused): ContextExample => ({
  node: {
    status: {
      allocatable: { 'ephemeral-storage': '17Gi' },
      capacity: { 'ephemeral-storage': '20Gi' },
    },
  },
  objects: {
    pods: [
      {
        metadata: { namespace: 'ml', name: 'train-0' },
        spec: {
          containers: [
            { name: 'train', resources: { requests: { 'ephemeral-storage': request } } },
          ],
        },
        status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', message }] },
      },
    ],
  },
})

itJudgesExamples(localStorageFitsNoNode, { bad: cluster('30Gi'), good: cluster('16Gi') })

describe('local-storage-fits-no-node', () => {
  it('needs the words of the scheduler: other groups may be meant', () => {
    const other = cluster('30Gi', '0/3 nodes are available: 3 Insufficient cpu.')
    expect(state(localStorageFitsNoNode, other)).toBe('pass')
    const said = event({ reason: 'FailedScheduling', of: 'ml/train-0', message: refused })
    expect(state(localStorageFitsNoNode, { ...other, events: [said] })).toBe('fail')
  })

  it('reads the pods that wait once for a group, however many nodes it has', () => {
    let reads = 0
    const [pod] = cluster('30Gi').objects?.pods ?? []
    const counted = { ...pod, status: pod?.status, metadata: pod?.metadata ?? {} }
    Object.defineProperty(counted, 'spec', {
      get() {
        reads++
        return pod?.spec
      },
    })
    const labels = { 'eks.amazonaws.com/nodegroup': 'general' }
    const judgement = openJudgement([localStorageFitsNoNode], defaultPolicy, {})
    judgement.takeObjects({ cluster: 'prod', resource: 'pods', items: [counted], errors: [] })
    for (let index = 0; index < 50; index++) {
      const node = { ...cluster('30Gi').node, metadata: { name: `n${index}`, labels } }
      const { record, prediction } = buildNode({ record: { node } })
      judgement.take(inputOf(record), prediction)
    }
    expect(judgement.close('2026-11-21T00:00:00Z').clusters[0]?.outcomes.fail).toBe(50)
    expect(reads).toBeLessThan(5)
  })

  it('is unknown where the pods without a node were not read', () => {
    const unread = { ...cluster('16Gi'), errors: { pods: 'a right is missing' } }
    expect(state(localStorageFitsNoNode, unread)).toBe('unknown')
  })

  it('writes a volume that has the request beside what is reserved', () => {
    const { seen, steps } = failingOf(localStorageFitsNoNode, cluster('30Gi'))
    expect(seen).toContain('30.0 GiB')
    expect(steps?.[0]).toEqual({ id: 'larger-disk', bytes: 40 * 1024 ** 3 })
  })

  it('has no larger volume for nodes whose instance store counts', () => {
    const raid = cluster('30Gi')
    const group = { kind: 'NodePool', namespace: null, name: 'nvme' } as const
    const { steps } = failingOf(localStorageFitsNoNode, {
      node: raid.node,
      identity: { owner: 'karpenter', group },
      objects: { ...raid.objects, ...karpenter('nvme', { instanceStorePolicy: 'RAID0' }) },
    })
    expect(steps?.map(({ id }) => id)).toEqual(['request-less'])
  })
})

const karpenter = (pool: string, spec: object) => ({
  'nodepools.karpenter.sh': [
    { metadata: { name: pool }, spec: { template: { spec: { nodeClassRef: { name: 'data' } } } } },
  ],
  'ec2nodeclasses.karpenter.k8s.aws': [{ metadata: { name: 'data' }, spec }],
})

describe('a NodePool that starts no node', () => {
  const message =
    'Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"pods":"2"}, no instance type satisfied resources {"ephemeral-storage":"17Gi"} and requirements karpenter.sh/nodepool In [default] (no instance type has enough resources)'
  const unplaced = (request: string, spec: object, said = message): ContextExample => {
    const { node, objects } = cluster(request, 'other')
    return {
      node: { ...node, status: { allocatable: { 'ephemeral-storage': '70Gi' } } },
      objects: { ...objects, ...karpenter('default', spec) },
      events: [event({ reason: 'FailedScheduling', of: 'ml/train-0', message: said })],
    }
  }
  const mapping = (deviceName: string, volumeSize: string, rootVolume?: true) => ({
    deviceName,
    ...(rootVolume && { rootVolume }),
    ebs: { volumeSize },
  })
  const bottlerocket = (...blockDeviceMappings: object[]) => ({
    amiSelectorTerms: [{ alias: 'bottlerocket@latest' }],
    blockDeviceMappings,
  })

  it.each([
    ['20 GiB without a mapping', '17Gi', {}, 'fail'],
    ['less than the class gives', '16Gi', {}, 'pass'],
    ['a larger volume', '17Gi', { blockDeviceMappings: [mapping('/dev/xvda', '50Gi')] }, 'pass'],
    ['the instance store', '17Gi', { instanceStorePolicy: 'RAID0' }, 'pass'],
    [
      'the system of Bottlerocket as root',
      '0',
      bottlerocket(mapping('/dev/xvda', '4Gi', true), mapping('/dev/xvdb', '20Gi')),
      'fail',
    ],
    ['the data of Bottlerocket', '0', bottlerocket(mapping('/dev/xvdb', '20Gi')), 'pass'],
  ])('with %s: %4$s', (_, request, spec, expected) => {
    expect(state(localStorageFitsNoNode, unplaced(request, spec))).toBe(expected)
  })
  it('is judged by the words of Karpenter on that NodePool alone', () => {
    const other = message.replace('"default"', '"other"')
    expect(state(localStorageFitsNoNode, unplaced('17Gi', {}, other))).toBe('pass')
    const taint = 'Failed to schedule pod, incompatible with nodepool "default", did not tolerate x'
    expect(state(localStorageFitsNoNode, unplaced('17Gi', {}, taint))).toBe('pass')
  })
  it('names the class, with a larger volume or the instance store', () => {
    const { seen, steps } = failingOf(localStorageFitsNoNode, unplaced('17Gi', {}))
    expect(seen).toContain('EC2NodeClass data gives at most 17.0 GiB')
    const source = 'EC2NodeClass data'
    expect(steps).toEqual([
      { id: 'larger-disk', bytes: 30 * 1024 ** 3, place: '/dev/xvda', source },
      { id: 'use-instance-store', variant: 'policy', source },
    ])
  })
  it('takes rootVolume from the device of the system', () => {
    const spec = bottlerocket(mapping('/dev/xvda', '4Gi', true), mapping('/dev/xvdb', '20Gi'))
    const { steps } = failingOf(localStorageFitsNoNode, unplaced('0', spec))
    expect(steps?.map(({ id, place }) => [id, place])).toEqual([['unset-root-volume', '/dev/xvda']])
  })
})

describe('pods that the kubelet refused', () => {
  const refusedAt = (startTime: string): ContextExample => ({
    pods: [
      {
        metadata: { namespace: 'ws', name: 'a' },
        status: {
          ...{ phase: 'Failed', reason: 'OutOfephemeral-storage', startTime },
          message:
            "Pod was rejected: Node didn't have enough resource: ephemeral-storage, requested: 5368709120, used: 42949672960, capacity: 47093746742",
        },
      },
    ],
  })
  it('names what they request, and what others do', () => {
    const { seen, steps } = failingOf(localStorageFitsNoNode, refusedAt('2026-11-20T23:00:00Z'))
    expect(seen).toContain('requests 5.0 GiB of ephemeral-storage, and other pods request 40.0 GiB')
    expect(steps?.map(({ id }) => id)).toEqual(['count-storage', 'request-less'])
  })
  it('counts those of the last day', () => {
    expect(state(localStorageFitsNoNode, refusedAt('2026-11-18T00:00:00Z'))).toBe('pass')
  })
})
