import { describe, expect, it } from 'vitest'
import type { Signal } from '#model/prediction.ts'
import { synchronize, synchronizeAlternatives } from '#replay/eviction/synchronize.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { type Pod, podStatsOf } from '#replay/pods.ts'
import { type Kubelet, kubeletOf } from '#replay/times.ts'
import {
  dedicated,
  disksAt,
  GiB,
  MiB,
  manager,
  memoryAt,
  newest,
  pod,
  requesting,
  statsOf,
} from '#test/eviction-builder.ts'
import { evictionMessage, limitMessage, textsOf } from '#test/eviction-messages.ts'

interface EvictionCase {
  signal?: Signal
  value?: string
  available?: number
  capacity?: number
  of?: Pod
  stats?: object | null
  kubelet?: Kubelet
}

function messageOf({
  signal = 'memory.available',
  value = '100Mi',
  available = 50 * MiB,
  capacity = GiB,
  of = pod('a'),
  stats = {},
  kubelet = newest,
}: EvictionCase) {
  const [threshold] = parseThresholdConfig({ evictionHard: { [signal]: value } })
  const podStats = podStatsOf(statsOf(stats ? { [of.name]: stats } : {}), of)
  return evictionMessage(threshold!, { available, capacity, time: null }, of, podStats, kubelet)
}

const running = (...names: string[]) => ({
  containers: names.map(name => ({
    name,
    memory: { workingSetBytes: 2 * MiB },
    rootfs: { usedBytes: MiB },
    logs: { usedBytes: 1 },
  })),
})

describe('the threshold in the message', () => {
  it.each([
    {
      signal: 'memory.available',
      resource: 'memory',
      info: 'Threshold quantity: 100Mi, available: 50Mi. ',
    },
    {
      signal: 'nodefs.available',
      resource: 'ephemeral-storage',
      info: 'Threshold quantity: 100Mi, available: 50Mi. ',
    },
    {
      signal: 'nodefs.available',
      value: '10%',
      resource: 'ephemeral-storage',
      info: 'Threshold quantity: 107374184, available: 50Mi. ',
    },
    {
      signal: 'nodefs.available',
      available: 999,
      resource: 'ephemeral-storage',
      info: 'Threshold quantity: 100Mi, available: 999. ',
    },
    {
      signal: 'pid.available',
      value: '10%',
      available: 3000,
      capacity: 32768,
      resource: 'pids',
      info: 'Threshold quantity: 3276, available: 3k. ',
    },
    {
      signal: 'memory.available',
      available: -4096,
      resource: 'memory',
      info: 'Threshold quantity: 100Mi, available: -4Ki. ',
    },
  ] as const)('of $signal: $info', ({ resource, info, ...of }) => {
    expect(messageOf(of).message).toBe(`The node was low on resource: ${resource}. ${info}`)
  })

  it('trap 43: prints a percentage of inodes in Ki, and what is available of them in thousands', () => {
    expect(
      messageOf({
        signal: 'nodefs.inodesFree',
        value: '5%',
        available: 300_000,
        capacity: 6_553_600,
      }).message,
    ).toMatchSnapshot()
  })

  it('is not there without an observation', () => {
    const [threshold] = parseThresholdConfig({ evictionHard: { 'memory.available': '1' } })
    expect(evictionMessage(threshold!, undefined, pod('a'), null, newest)).toMatchSnapshot()
  })
})

describe('the containers in the message', () => {
  const spec = {
    containers: [
      { name: 'c', resources: { requests: { memory: '1Mi', 'ephemeral-storage': '1Mi' } } },
      { name: 'at', resources: { requests: { memory: '2Mi', 'ephemeral-storage': '2Mi' } } },
      { name: 'd' },
    ],
  }

  it('are those above their requests', () => {
    const { message, annotations } = messageOf({
      of: pod('a', spec),
      stats: running('c', 'at', 'd', 'unknown'),
    })
    const sentences =
      'Container c was using 2Mi, request is 1Mi, has larger consumption of memory. Container d was using 2Mi, request is 0, has larger consumption of memory. '
    expect(message.endsWith(`. ${sentences}`)).toBe(true)
    expect(annotations).toEqual({
      offending_containers: 'c,d',
      offending_containers_usage: '2Mi,2Mi',
      starved_resource: 'memory',
    })
  })

  it('use rootfs and logs of the disk, where both are known', () => {
    const stats = {
      containers: [
        ...running('c').containers,
        { name: 'd', rootfs: { usedBytes: GiB } },
        { name: 'at', logs: { usedBytes: GiB } },
      ],
    }
    expect(messageOf({ signal: 'imagefs.available', of: pod('a', spec), stats })).toMatchSnapshot()
  })

  it.each(['nodefs.inodesFree', 'pid.available'] as const)('are not named under %s', signal => {
    expect(
      messageOf({ signal, of: pod('a', spec), stats: running('c', 'd') }).annotations,
    ).toMatchObject({ offending_containers: '', offending_containers_usage: '' })
  })

  it.each([
    { version: 'v1.31.14', names: 'c' },
    { version: 'v1.32.0', names: 'i,c' },
  ])('are $names with an init container in $version', ({ version, names }) => {
    const of = pod('a', { ...requesting({ memory: '1Mi' }), initContainers: [{ name: 'i' }] })
    expect(
      messageOf({ of, stats: running('i', 'c'), kubelet: kubeletOf(version) }).annotations
        .offending_containers,
    ).toBe(names)
  })

  it('are empty, without annotations, for a pod without statistics', () => {
    expect(messageOf({ of: pod('a', spec), stats: null })).toMatchSnapshot()
  })
})

describe('the pod in the message', () => {
  const of = pod('a', { resources: { requests: { memory: '1Mi', cpu: '1' } } })
  const stats = { memory: { workingSetBytes: 3 * MiB } }
  const sentence = 'Pod a was using 3Mi, request is 1Mi, has larger consumption of memory. '

  it.each([
    { version: 'v1.33.13', gates: { PodLevelResources: true }, is: false },
    { version: 'v1.34.0', gates: null, is: true },
    { version: 'v1.34.0', gates: { PodLevelResources: false }, is: false },
  ])('is named by $version with $gates: $is', ({ version, gates, is }) => {
    const { message, annotations } = messageOf({ of, stats, kubelet: kubeletOf(version, gates) })
    expect(message.includes(sentence)).toBe(is)
    expect(annotations.offending_pod).toBe(is ? 'a' : undefined)
    expect(annotations.offending_pod_usage).toBe(is ? '3Mi' : undefined)
  })

  it.each([
    { what: 'another resource', signal: 'nodefs.available', spec: of, of: stats },
    {
      what: 'a request of another resource',
      signal: 'memory.available',
      spec: pod('a', { resources: { requests: { cpu: '1' } } }),
      of: stats,
    },
    { what: 'no statistics of memory', signal: 'memory.available', spec: of, of: {} },
    { what: 'no pod-level resources', signal: 'memory.available', spec: pod('a'), of: stats },
  ] as const)('is not named for $what', ({ signal, spec, of: given }) => {
    expect(messageOf({ signal, of: spec, stats: given }).message).not.toContain('Pod a')
  })

  it('uses nothing where the working set is missing, and comes before its containers', () => {
    const one = pod('a', {
      containers: [{ name: 'c' }],
      resources: { requests: { memory: '1Mi' } },
    })
    expect(messageOf({ of: one, stats: { ...running('c'), memory: {} } }).message).toMatchSnapshot()
  })
})

describe('the message of a pod above a limit of local storage', () => {
  const ephemeral = (storage: string) => ({ limits: { 'ephemeral-storage': storage } })

  it.each([
    {
      limit: 'emptyDir' as const,
      what: 'scratch',
      spec: { volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1Gi' } }] },
      message: 'Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". ',
    },
    {
      limit: 'pod' as const,
      what: 'a',
      spec: {
        containers: [
          { name: 'c', resources: ephemeral('1Gi') },
          { name: 'd', resources: ephemeral('2Gi') },
        ],
      },
      message: 'Pod ephemeral local storage usage exceeds the total limit of containers 3Gi. ',
    },
    {
      limit: 'container' as const,
      what: 'c',
      spec: { containers: [{ name: 'c', resources: ephemeral('1Gi') }] },
      message: 'Container c exceeded its local ephemeral storage limit "1Gi". ',
    },
  ])('names the limit of the $limit', ({ limit, what, spec, message }) => {
    const exceeded = { pod: pod('a', spec), limit, what, usedBytes: 0, limitBytes: 0 }
    expect(limitMessage(exceeded)).toBe(message)
  })
})

describe('the texts of an evicted pod', () => {
  const hard = { evictionHard: { 'memory.available': '1Gi' } }
  const textsFor = (kubelet: Kubelet) => {
    const { state, pass } = manager(hard)
    const given = { ...pass, kubelet, pods: [pod('a')], observations: memoryAt(0, 0) }
    const { outcome } = synchronize(state, given)
    return outcome.evictions.map(eviction => textsOf(eviction, outcome, given))
  }

  it('are those of the threshold that was picked', () => {
    const message = 'The node was low on resource: memory. Threshold quantity: 1Gi, available: 0. '
    const disruptionTarget = { status: 'True', reason: 'TerminationByKubelet', message }
    expect(textsFor(newest)).toMatchObject([{ message, disruptionTarget }])
  })

  it('trap 43: name in each message the threshold that was picked', () => {
    const { state, pass } = manager({
      evictionHard: { 'nodefs.available': '10%', 'imagefs.available': '15%' },
    })
    const observations = disksAt(9, 8, 0)
    const given = {
      ...pass,
      pods: [pod('a')],
      layout: dedicated,
      observations,
      reclaim: () => observations,
    }
    const { outcomes } = synchronizeAlternatives(state, given)
    expect(
      outcomes.flatMap(outcome =>
        outcome.evictions.map(one => textsOf(one, outcome, given).message.split('. ')[1]),
      ),
    ).toEqual([
      'Threshold quantity: 16106128000, available: 8Gi',
      'Threshold quantity: 10737418400, available: 9Gi',
    ])
  })

  it.each([
    { version: 'v1.29.0', gates: null, is: true },
    { version: 'v1.30.14', gates: { PodDisruptionConditions: false }, is: false },
    { version: 'v1.31.0', gates: { PodDisruptionConditions: false }, is: true },
    { version: 'v1.37.0', gates: null, is: true },
  ])('of $version with $gates set the pod’s condition: $is', ({ version, gates, is }) => {
    const [texts] = textsFor(kubeletOf(version, gates))
    expect(texts?.disruptionTarget !== null).toBe(is)
  })
})
