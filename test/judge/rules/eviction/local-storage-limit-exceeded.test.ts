import { describe, expect, it } from 'vitest'
import { localStorageLimitExceeded } from '#judge/rules/eviction/local-storage-limit-exceeded.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { DiskHolder, HolderPart } from '#model/prediction/disk-ledger.ts'
import type { LocalStorageEviction } from '#model/prediction/prediction.ts'
import { exampleSubject } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rules/eviction-settings.ts'

const gibibyte = 1024 ** 3

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

  const name = { namespace: 'shop', pod: 'cart-0' }
  const part = (holder: DiskHolder, gib: number, container = 'app'): HolderPart => ({
    ...{ holder, filesystem: 'nodefs', lowBytes: gib, highBytes: gib, inodes: null, place: null },
    owner: { ...name, kind: 'container', container, workload: null },
  })
  const failingWith = (parts: HolderPart[], more: Partial<LocalStorageEviction> = {}) => {
    const subject = exampleSubject({ localStorageEvictions: [{ ...over('cart-0'), ...more }] })
    const { ledger } = exampleSubject({ held: { system: 4 } })
    const outcome = outcomeOf(
      localStorageLimitExceeded,
      { ...subject, ledger: { ...ledger!, parts } },
      defaultPolicy,
    )
    if (outcome.state !== 'fail') throw new Error(outcome.state)
    return outcome.failing
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
