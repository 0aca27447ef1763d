import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { evictionLoop } from '#judge/rules/eviction/eviction-loop.ts'
import { localStorageLimitExceeded } from '#judge/rules/eviction/local-storage-limit-exceeded.ts'
import type { DiskHolder, HolderPart, LocalStorageEviction } from '#model/prediction.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { event } from '#test/rules/events.ts'

itJudgesExamples(localStorageLimitExceeded, {
  bad: {
    localStorageEvictions: [
      {
        namespace: 'shop',
        name: 'cart-0',
        limit: 'emptyDir',
        what: 'cache',
        usedBytes: 2 * gibibyte,
        limitBytes: gibibyte,
      },
    ],
  },
  good: { localStorageEvictions: [] },
})

describe('local-storage-limit-exceeded', () => {
  const over = (name: string) =>
    ({ namespace: 'shop', name, limit: 'pod', what: name, usedBytes: 3, limitBytes: 2 }) as const

  const evicted = (name: string, message: string) => ({
    metadata: { namespace: 'shop', name, uid: name, ownerReferences: [owner] },
    status: {
      ...{ phase: 'Failed', reason: 'Evicted', message },
      startTime: '2026-11-20T20:00:00Z',
    },
  })
  const owner = { kind: 'StatefulSet', name: 'cart', controller: true, apiVersion: 'apps/v1' }

  it.each([
    [
      'Pod ephemeral local storage usage exceeds the total limit of containers 500Mi. ',
      { holder: null, low: 500 * 2 ** 20, step: 'set-ephemeral-storage' },
    ],
    [
      'Container cart exceeded its local ephemeral storage limit "1Gi". ',
      { holder: null, low: gibibyte, step: 'set-ephemeral-storage' },
    ],
    [
      'Usage of EmptyDir volume "cache" exceeds the limit "1Gi". ',
      { holder: 'pod-volumes', low: gibibyte, step: 'raise-volume-limit' },
    ],
  ])('names the owner of pods that were evicted: %s', (message, { holder, low, step }) => {
    const pods = ['cart-0', 'cart-1'].map(name => evicted(name, message))
    const failing = failingOf(localStorageLimitExceeded, { localStorageEvictions: [], pods })
    const owner = { namespace: 'shop', workload: 'StatefulSet cart' }
    if (holder === null) expect(failing.cause).toBeUndefined()
    else expect(failing.cause).toMatchObject({ holder, owner, amount: { low, high: null } })
    expect(failing.steps).toMatchObject([{ id: step, bytes: low, owner }])
    expect(failing.consequence).toContain('2 pods')
  })

  it('names each limit that pods of one owner reached, with its pods and a step', () => {
    const ofVolume = 'Usage of EmptyDir volume "tmp" exceeds the limit "256Mi". '
    const ofPod = 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. '
    const pods = [ofVolume, ofVolume, ofVolume, ofPod, ofPod].map((message, index) =>
      evicted(`cart-${index}`, message),
    )
    const failing = failingOf(localStorageLimitExceeded, { localStorageEvictions: [], pods })
    expect(failing.seen).toBe(
      "5 pods of StatefulSet shop/cart went over their own limits (3 over the sizeLimit of emptyDir volume tmp of 256Mi, 2 over the pod's own limit of 1Gi): the disk of the node is not the cause.",
    )
    expect(failing.steps).toMatchObject([
      { id: 'raise-volume-limit', bytes: 256 * 2 ** 20, owner: { volume: 'tmp' } },
      { id: 'set-ephemeral-storage', bytes: gibibyte },
    ])
  })

  it('calls the limit of a volume in memory one of memory: of an evicted pod, and of one that runs', () => {
    const message = 'Usage of EmptyDir volume "cache" exceeds the limit "16Mi". '
    const volumes = [{ name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } }]
    const running = { ...evicted('cart-1', ''), spec: { volumes }, status: { phase: 'Running' } }
    const pods = [evicted('cart-0', message), running]
    const use = { limit: 'emptyDir', what: 'cache', usedBytes: 15, limitBytes: 16 } as const
    for (const found of [
      { localStorageEvictions: [] },
      { localStorageEvictions: [{ namespace: 'shop', name: 'cart-1', ...use }] },
    ]) {
      const failing = failingOf(localStorageLimitExceeded, { ...found, pods })
      expect(failing.title).toContain('in memory')
      expect(failing.cause).toMatchObject({ holder: 'memory-volumes' })
      expect(failing.steps).toMatchObject([{ id: 'raise-memory-volume' }])
    }
  })

  const name = { namespace: 'shop', pod: 'cart-0' }
  const part = (holder: DiskHolder, gib: number, container = 'app'): HolderPart => ({
    ...{ holder, filesystem: 'nodefs', lowBytes: gib, highBytes: gib, inodes: null, place: null },
    owner: { ...name, kind: 'container', container, workload: null },
  })
  const failingWith = (parts: HolderPart[], more: Partial<LocalStorageEviction> = {}) => {
    return failingOf(localStorageLimitExceeded, {
      localStorageEvictions: [{ ...over('cart-0'), ...more }],
      held: { system: 4 },
      ofPods: { parts, namespaces: [] },
    })
  }

  it.each(['container-logs', 'writable-layers'] as const)('names what a pod fills: %s', holder => {
    const parts = [part('writable-layers', 2), part('container-logs', 2), part(holder, 3)]
    // What does not count for the limit is no cause.
    const amount = { low: 3 }
    expect(failingWith([...parts, part('host-path', 80)]).cause).toMatchObject({ holder, amount })
    expect(failingWith([part('host-path', 80)]).cause).toBeUndefined()
  })

  it('names the container that is over its limit, and the volume', () => {
    const parts = [part('writable-layers', 9, 'other'), part('container-logs', 2)]
    const { cause } = failingWith(parts, { limit: 'container', what: 'app' })
    expect(cause).toMatchObject({ holder: 'container-logs', owner: { container: 'app' } })
    const { cause: full, steps } = failingWith(parts, { limit: 'emptyDir', what: 'cache' })
    const owner = { ...name, volume: 'cache' }
    expect(full).toMatchObject({ holder: 'pod-volumes', owner })
    expect(steps).toMatchObject([{ id: 'raise-volume-limit', owner }])
  })

  const containers = (limits: Record<string, string>) =>
    ['app', 'proxy'].map(name => ({
      name,
      ...(limits[name] !== undefined && {
        resources: { limits: { 'ephemeral-storage': limits[name] } },
      }),
    }))

  it.each([
    [
      'Container app exceeded its local ephemeral storage limit "20Mi". ',
      { app: '20Mi', proxy: '1Gi' },
      /the limit of container app of 20Mi:/,
      'app',
    ],
    [
      'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ',
      { proxy: '2Gi' },
      /the pod's own limit of 2Gi, which container proxy alone sets and all its containers share:/,
      'proxy',
    ],
    [
      'Pod ephemeral local storage usage exceeds the total limit of containers 3Gi. ',
      { app: '1Gi', proxy: '2Gi' },
      /the pod's own limit of 3Gi:/,
      undefined,
    ],
    [
      'Usage of EmptyDir volume "cache" exceeds the limit "1Gi". ',
      {},
      /the sizeLimit of emptyDir volume cache of 1Gi:/,
      undefined,
    ],
  ])('says whose limit it is: %s', (message, limits, seen, container) => {
    const pods = [{ ...evicted('cart-0', message), spec: { containers: containers(limits) } }]
    const failing = failingOf(localStorageLimitExceeded, { localStorageEvictions: [], pods })
    expect(failing.seen).toMatch(seen)
    expect(failing.steps?.[0]?.owner).toMatchObject(container ? { container } : { kind: 'pod' })
    expect(failing.severity).toBe('medium')
  })

  it('reads events alone, where a controller deletes evicted pods: three in an hour are high', () => {
    const message = 'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi.'
    const events = [30, 20, 10].map((ago, at) =>
      event({ reason: 'Evicted', of: 'shop/cart-0', uid: `gone-${at}`, message, ago }),
    )
    const living = { ...evicted('cart-0', ''), status: { phase: 'Running' } }
    const failing = failingOf(localStorageLimitExceeded, {
      ...{ localStorageEvictions: [], pods: [living], events },
    })
    expect(failing.seen).toContain('3 pods of StatefulSet shop/cart went over')
    expect(failing.severity).toBeUndefined()
    expect(failing.steps).toMatchObject([
      { variant: 'limit', owner: { workload: 'StatefulSet cart' } },
    ])
    expect(state(evictionLoop, { pods: [living], events })).toBe('pass')
  })

  it('names a running pod that is next', () => {
    const nearOwnLimits = [
      { ...over('cart-0'), usedBytes: 0.86 * gibibyte, limitBytes: gibibyte },
      { ...over('cart-1'), usedBytes: 0.93 * gibibyte, limitBytes: gibibyte },
    ]
    const failing = failingOf(localStorageLimitExceeded, {
      ...{ localStorageEvictions: [], nearOwnLimits },
    })
    expect(failing).toMatchObject({
      severity: 'medium',
      title: 'Pods are near their own limit of local storage',
    })
    expect(failing.seen).toBe(
      'Next is pod shop/cart-1: its ephemeral storage as a whole has 952.3 MiB of 1.0 GiB.',
    )
    expect(failing.steps).toMatchObject([{ bytes: gibibyte }])
  })

  it.each([
    ['pod', ['set-ephemeral-storage', 'set-ephemeral-storage']],
    ['emptyDir', ['set-ephemeral-storage', 'raise-volume-limit']],
  ] as const)('keeps another step for a pod that is next beside evicted ones: %s', (limit, ids) => {
    const message = 'Container app exceeded its local ephemeral storage limit "1Gi". '
    const { seen, steps } = failingOf(localStorageLimitExceeded, {
      nearOwnLimits: [{ ...over('other-0'), limit, usedBytes: 90, limitBytes: 100 }],
      ...{ localStorageEvictions: [], pods: [evicted('cart-0', message)] },
    })
    expect(seen).toMatch(/^1 pod of StatefulSet shop\/cart went over .+ Next is pod shop\/other-0:/)
    expect(steps?.map(({ id }) => id)).toEqual(ids)
    expect(steps?.map(({ owner }) => owner)).toMatchObject([
      { workload: 'StatefulSet cart' },
      { pod: 'other-0' },
    ])
  })

  it('leaves out pods that a shortage of the node evicted', () => {
    const pods = [evicted('cart-0', 'The node was low on resource: ephemeral-storage. ')]
    expect(state(localStorageLimitExceeded, { localStorageEvictions: [], pods })).toBe('pass')
  })

  it('counts the others, and shows no more than ten', () => {
    const failing = failingOf(localStorageLimitExceeded, {
      localStorageEvictions: Array.from({ length: 12 }, (_, at) => over(`cart-${at}`)),
    })
    expect(failing.consequence).toMatchSnapshot()
    expect(failing.evidence).toHaveLength(10)
  })
})
