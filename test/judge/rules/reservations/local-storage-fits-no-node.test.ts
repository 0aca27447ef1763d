import { describe, expect, it } from 'vitest'
import { localStorageFitsNoNode } from '#judge/rules/reservations/local-storage-fits-no-node.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import type { ContextExample } from '#test/example.ts'
import { buildNode } from '#test/node-builder.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { event } from '#test/rules/events.ts'

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

  it.each([
    [100, {}, 'move-kubelet-root'],
    [100, { medium: 'Memory' }, 'larger-disk'],
    [25, {}, 'larger-disk'],
    [20, {}, 'larger-disk'],
  ])('volumes of pods on %s GiB, emptyDir %o: %s', (gib, emptyDir, step) => {
    const gibibyte = 2 ** 30
    const nodefs = {
      ...{ capacityBytes: 20 * gibibyte, availableBytes: 18 * gibibyte, usedPercent: 10 },
      ...{ inodes: 1e7, inodesFree: 9e6 },
    }
    const capacityBytes = gib * 2 ** 30
    const failing = failingOf(localStorageFitsNoNode, {
      ...cluster('30Gi'),
      filesystems: { nodefs },
      pods: [
        {
          metadata: { namespace: 'ml', name: 'old' },
          spec: { volumes: [{ name: 'data', emptyDir }] },
        },
      ],
      summary: {
        pods: [
          { podRef: { namespace: 'ml', name: 'old' }, volume: [{ name: 'data', capacityBytes }] },
        ],
      },
    })
    expect(failing.steps?.[0]?.id).toBe(step)
    expect(failing.seen?.includes(`lie on another, of ${gib}.0 GiB`)).toBe(
      gib !== 20 && !('medium' in emptyDir),
    )
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

  it.each([
    ['Running', '4Gi', 'fail', 13],
    ['Failed', '4Gi', 'pass', null],
    ['Running', '16.5Gi', 'fail', null],
  ])('leaves room for DaemonSets: %s, %s: %s', (phase, request, expected, atMostGib) => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', controller: true }
    const requests = { 'ephemeral-storage': request }
    const example: ContextExample = {
      ...cluster('16Gi'),
      pods: [
        {
          metadata: { namespace: 'ops', name: 'logs-1', ownerReferences: [owner] },
          spec: { containers: [{ name: 'logs', resources: { requests } }] },
          status: { phase },
        },
      ],
    }
    expect(state(localStorageFitsNoNode, example)).toBe(expected)
    if (expected === 'pass') return
    const less = failingOf(localStorageFitsNoNode, example).steps?.at(-1)
    expect(less).toMatchObject({ id: 'request-less' })
    expect(less?.bytes ?? null).toBe(atMostGib && atMostGib * 1024 ** 3)
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
  const al2023 = { amiSelectorTerms: [{ alias: 'al2023@latest' }] }
  const gpu = message.replace('"ephemeral-storage":"17Gi"', '"nvidia.com/gpu":"1"')

  it.each([
    ['20 GiB without a mapping', '17Gi', al2023, 'fail'],
    ['less than the class gives, and more with DaemonSets', '16Gi', al2023, 'fail'],
    [
      'a larger volume',
      '17Gi',
      { ...al2023, blockDeviceMappings: [mapping('/dev/xvda', '50Gi')] },
      'pass',
    ],
    ['the instance store', '17Gi', { ...al2023, instanceStorePolicy: 'RAID0' }, 'pass'],
    ['an own image without a family', '17Gi', {}, 'pass'],
    ['the family Custom', '17Gi', { amiFamily: 'Custom' }, 'pass'],
    [
      'an own threshold',
      '17Gi',
      { ...al2023, kubelet: { evictionHard: { 'nodefs.available': '1%' } } },
      'pass',
    ],
    [
      'a threshold of memory alone',
      '17Gi',
      { ...al2023, kubelet: { maxPods: 58, evictionHard: { 'memory.available': '1Gi' } } },
      'fail',
    ],
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
  it.each([
    ['4Gi', 'pass'],
    ['1Gi', 'fail'],
  ])('with a root volume of %s and a pod that waits for a GPU: %s', (size, expected) => {
    const spec = bottlerocket(mapping('/dev/xvda', size, true), mapping('/dev/xvdb', '20Gi'))
    expect(state(localStorageFitsNoNode, unplaced('0', spec, gpu))).toBe(expected)
  })
  it('counts the pods of one NodePool', () => {
    const of = (name: string) => ({
      metadata: { name },
      spec: { template: { spec: { nodeClassRef: { name: 'data' } } } },
    })
    const one = unplaced('17Gi', al2023, `${message}; ${message.replace('"default"', '"other"')}`)
    const objects = { ...one.objects, 'nodepools.karpenter.sh': [of('default'), of('other')] }
    expect(failingOf(localStorageFitsNoNode, { ...one, objects }).seen).toContain(
      'for 1 pod in NodePool default',
    )
  })
  it('is judged by the words of Karpenter on that NodePool alone', () => {
    const other = message.replace('"default"', '"other"')
    expect(state(localStorageFitsNoNode, unplaced('17Gi', al2023, other))).toBe('pass')
    const taint = 'Failed to schedule pod, incompatible with nodepool "default", did not tolerate x'
    expect(state(localStorageFitsNoNode, unplaced('17Gi', al2023, taint))).toBe('pass')
  })
  it('names the class, with a larger volume or the instance store', () => {
    const { seen, steps } = failingOf(localStorageFitsNoNode, unplaced('17Gi', al2023))
    expect(seen).toContain('EC2NodeClass data gives at most 17.0 GiB')
    const source = 'EC2NodeClass data'
    expect(steps).toEqual([
      { id: 'larger-disk', bytes: 30 * 1024 ** 3, place: '/dev/xvda', source },
      { id: 'use-instance-store', variant: 'nvme', source },
    ])
  })
  it.each([
    ['instance-category', ['t', 'a'], []],
    ['instance-category', ['m'], ['nvme']],
    ['instance-family', ['m6i', 'g5g', 'x2iezn'], []],
    ['instance-family', ['m6id', 'i4i'], ['policy']],
    ['instance-family', ['m6i', 'm6id'], ['nvme']],
    ['instance-type', ['r7gd.2xlarge', 'g4dn.xlarge'], ['policy']],
  ])('offers the instance store of %s %j', (key, values, expected) => {
    const { objects, ...rest } = unplaced('17Gi', al2023)
    const requirements = [{ key: `karpenter.k8s.aws/${key}`, operator: 'In', values }]
    const spec = { template: { spec: { nodeClassRef: { name: 'data' }, requirements } } }
    const pools = [{ metadata: { name: 'default' }, spec }]
    const { steps } = failingOf(localStorageFitsNoNode, {
      ...rest,
      objects: { ...objects, 'nodepools.karpenter.sh': pools },
    })
    expect(steps?.flatMap(({ variant }) => variant ?? [])).toEqual(expected)
  })
  describe('whose nodes have another disk than Karpenter counts', () => {
    const owned = (
      capacity: string,
      blockDeviceMappings: object[],
      more: object = {},
    ): ContextExample => {
      const { node: _, ...rest } = unplaced('17Gi', { ...al2023, ...more, blockDeviceMappings })
      const group = { kind: 'NodePool', namespace: null, name: 'default' } as const
      const storage = { 'ephemeral-storage': capacity }
      const node = capacity === '0' ? {} : { status: { capacity: storage, allocatable: storage } }
      return { ...rest, node, identity: { owner: 'karpenter', group } }
    }
    it.each([
      ['that of another mapping', '400Gi', '400Gi', ['set-root-volume']],
      [
        'one that the class does not name',
        '900Gi',
        '400Gi',
        ['read-devices', 'use-instance-store'],
      ],
      [
        'one of the size that Karpenter counts',
        '20Gi',
        '400Gi',
        ['larger-disk', 'use-instance-store'],
      ],
    ])('%s', (_, capacity, mapped, expected) => {
      const example = owned(capacity, [mapping('/dev/sda1', mapped)])
      const { steps } = failingOf(localStorageFitsNoNode, example)
      expect(steps?.map(({ id }) => id)).toEqual(expected)
    })
    it('asks for the root device of an own image, before a node exists', () => {
      const own = { amiFamily: 'AL2023', amiSelectorTerms: [{ name: 'own-*' }] }
      const example = owned('0', [mapping('/dev/sda1', '400Gi')], own)
      const { steps } = failingOf(localStorageFitsNoNode, example)
      expect(steps).toEqual([
        { id: 'set-root-volume', place: '/dev/sda1', source: 'EC2NodeClass data' },
      ])
    })
  })
  it('takes rootVolume from the device of the system', () => {
    const spec = bottlerocket(mapping('/dev/xvda', '4Gi', true), mapping('/dev/xvdb', '20Gi'))
    const { steps } = failingOf(localStorageFitsNoNode, unplaced('0', spec))
    expect(steps?.map(({ id, place }) => [id, place])).toEqual([['unset-root-volume', '/dev/xvda']])
  })
})

describe('pods that the kubelet refused', () => {
  const refusedAt = (...startTimes: string[]): ContextExample => ({
    pods: startTimes.map((startTime, index) => ({
      metadata: { namespace: 'ws', name: `pod-${index}` },
      status: {
        ...{ phase: 'Failed', reason: 'OutOfephemeral-storage', startTime },
        message:
          "Pod was rejected: Node didn't have enough resource: ephemeral-storage, requested: 5368709120, used: 42949672960, capacity: 47093746742",
      },
    })),
  })
  it('names what they request, and what others do', () => {
    const { seen, steps } = failingOf(localStorageFitsNoNode, refusedAt('2026-11-20T23:00:00Z'))
    expect(seen).toContain('requests 5.0 GiB of ephemeral-storage, and other pods request 40.0 GiB')
    expect(steps?.map(({ id }) => id)).toEqual(['count-storage', 'request-less'])
  })
  it('counts those of a DaemonSet, of which events alone are left', () => {
    const message =
      "Node didn't have enough resource: ephemeral-storage, requested: 5368709120, used: 42949672960, capacity: 47093746742"
    const reason = 'OutOfephemeral-storage'
    const events = ['4bcdf', '5bcdf'].map(one => event({ reason, of: `ws/log-${one}`, message }))
    const owner = { kind: 'DaemonSet', name: 'log', controller: true }
    const pods = [
      { metadata: { namespace: 'ws', name: 'log-6bcdf', ownerReferences: [owner] }, status: {} },
    ]
    const { seen, steps } = failingOf(localStorageFitsNoNode, { events, pods })
    expect(seen).toContain('2 pods were refused within a day, the last ws/log-5bcdf')
    expect(steps?.[1]?.owner).toMatchObject({ workload: 'DaemonSet log' })
  })
  it('names the last one by time, and knows no single reason', () => {
    const { seen, consequence } = failingOf(
      localStorageFitsNoNode,
      refusedAt('2026-11-20T23:00:00Z', '2026-11-20T22:00:00Z'),
    )
    expect(seen).toContain('the last ws/pod-0')
    expect(consequence).toContain('or allocatable became less')
  })
  it('reads no amounts that are too long for numbers', () => {
    const example = refusedAt('2026-11-20T23:00:00Z')
    const [pod] = example.pods ?? []
    const message = (pod?.status?.message ?? '').replace('42949672960', '9'.repeat(400))
    const pods = [{ ...pod, status: { ...pod?.status, message } }]
    expect(state(localStorageFitsNoNode, { ...example, pods })).toBe('pass')
  })
  it('counts those of the last day', () => {
    expect(state(localStorageFitsNoNode, refusedAt('2026-11-18T00:00:00Z'))).toBe('pass')
  })
})
