/** Two that want to change the same cluster: one does. */
import { describe, expect, it, vi } from 'vitest'
import type { Store } from '#clients/store/store.ts'
import { type Lease, leaseKey, takeLease } from '#remediate/run/lease.ts'
import { memoryStore, newSha256, planOf, World } from '#test/remediation-world.ts'
import { VirtualTime } from '#test/virtual-time.ts'

vi.setConfig({ testTimeout: 60_000 })

const never = new AbortController().signal
const ttlMs = 120_000
const minuteMs = 60_000

function worldOf(store: Store = memoryStore()) {
  const time = new VirtualTime()
  const said: string[] = []
  const take = (
    holder: string,
    { skewMs = 0, from = store, signal = never } = {},
  ): Promise<Lease> =>
    takeLease({
      store: from,
      cluster: 'prod',
      identity: 'prod',
      run: `run-of-${holder}`,
      holder,
      ttlMs,
      clock: time.clock(skewMs),
      signal,
      onWait: text => said.push(text),
    })
  const wait = (delayMs: number) => time.clock().sleep(delayMs, never)
  return { time, store, take, wait, said }
}

/** The store as one whose process was killed would use it: not at all. */
const dead = (store: Store): Store => ({
  ...store,
  replace: () => new Promise(() => undefined),
  read: () => new Promise(() => undefined),
})

describe('a lease', () => {
  it.each([0, -10 * minuteMs, 10 * minuteMs])(
    'that is renewed is not taken by one whose clock is %i ms ahead',
    async skewMs => {
      const { time, take, said } = worldOf()
      await time.pass(
        (async () => {
          const first = await take('a')
          await expect(take('b', { skewMs })).rejects.toThrowErrorMatchingSnapshot()
          expect(first.isHeld()).toBe(true)
          await first.release()
        })(),
      )
      expect(said).toEqual([
        expect.stringMatching(
          /the lease of cluster prod is held \(run run-of-a\): waiting up to 120 s/,
        ),
      ])
    },
  )

  it.each([0, -10 * minuteMs, 10 * minuteMs])(
    'of one that died is taken when it was not renewed for its time, by a clock %i ms ahead',
    async skewMs => {
      const { time, store, take } = worldOf()
      await time.pass(
        (async () => {
          await take('a', { from: { ...dead(store), create: store.create } })
          const second = await take('b', { skewMs })
          expect(time.elapsedMs).toBeGreaterThanOrEqual(ttlMs)
          expect(second.isHeld()).toBe(true)
          await second.release()
        })(),
      )
    },
  )

  it('that expired long ago is taken at once', async () => {
    const { time, store, take, wait, said } = worldOf()
    await time.pass(
      (async () => {
        await take('a', { from: { ...dead(store), create: store.create } })
        await wait(60 * minuteMs)
        const second = await take('b')
        expect(time.elapsedMs).toBe(60 * minuteMs)
        await second.release()
      })(),
    )
    expect(said).toEqual([])
  })

  it('that was given back is free', async () => {
    const { time, take } = worldOf()
    await time.pass(
      (async () => {
        await (await take('a')).release()
        await (await take('b')).release()
      })(),
    )
    expect(time.elapsedMs).toBe(0)
  })

  it.each([
    ['that is free', false],
    ['of one that died', true],
  ])('%s is taken by one of many who want it at once', async (_, hasHolder) => {
    const { time, store, take } = worldOf()
    await time.pass(
      (async () => {
        if (hasHolder) await take('dead', { from: { ...dead(store), create: store.create } })
        const taken = await Promise.allSettled(['a', 'b', 'c', 'd'].map(holder => take(holder)))
        expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        for (const one of taken) if (one.status === 'fulfilled') await one.value.release()
      })(),
    )
  })

  it('is lost, and known to be, before another one can take it', async () => {
    const { time, store, take, wait } = worldOf()
    let isDown = false
    const failing: Store = {
      ...store,
      read: key => (isDown ? Promise.reject(new Error('S3 does not answer')) : store.read(key)),
    }
    await time.pass(
      (async () => {
        const first = await take('a', { from: failing })
        isDown = true
        let bothHeld = 0
        const second = take('b').then(lease => {
          bothHeld += first.isHeld() && lease.isHeld() ? 1 : 0
          return lease
        })
        await wait(ttlMs)
        expect(first.isHeld()).toBe(false)
        await (await second).release()
        expect(bothHeld).toBe(0)
        await wait(ttlMs)
        expect(first.lost.aborted).toBe(true)
      })(),
    )
  })

  it('that cannot be read is taken when nothing writes it', async () => {
    const { time, store, take } = worldOf()
    await store.write(leaseKey('prod'), 'torn', 'application/json')
    await time.pass(take('a').then(lease => lease.release()))
    expect(time.elapsedMs).toBeGreaterThanOrEqual(ttlMs)
  })

  it('is not waited for after a signal to end', async () => {
    const { time, store, take, wait } = worldOf()
    const stop = new AbortController()
    await time.pass(
      (async () => {
        await take('a', { from: { ...dead(store), create: store.create } })
        const second = take('b', { signal: stop.signal })
        await Promise.all([
          expect(second).rejects.toThrow('interrupted'),
          wait(1).then(() => stop.abort(new Error('interrupted'))),
        ])
      })(),
    )
  })
})

describe('two applies at once', () => {
  it.each([0, 10 * minuteMs, -10 * minuteMs])(
    'of one plan, with clocks %i ms apart, are one run: no node is changed twice',
    async skewMs => {
      const world = new World(planOf([1, 3]))
      const policy = { pauseMs: 60_000 }
      const [first, second] = await Promise.allSettled([
        world.apply({ policy }),
        world.apply({ policy, resume: true, skewMs }),
      ])
      expect([first.status, second.status].toSorted()).toEqual(['fulfilled', 'rejected'])
      expect([...world.nodes.values()].map(({ swaps, sha256 }) => [swaps, sha256])).toEqual(
        Array(4).fill([1, newSha256]),
      )
      expect(world.commands).toHaveLength(4)
    },
  )

  it('a process that wakes after its lease was taken sends nothing more', async () => {
    const world = new World(planOf([1, 1]))
    // It sleeps so soundly between its waves that not even its lease is renewed.
    const frozen: Store = {
      ...world.store,
      replace: (key, ...rest) =>
        key.includes('leases')
          ? Promise.reject(new Error('frozen'))
          : world.store.replace(key, ...rest),
    }
    const policy = { pauseMs: 600_000, leaseTtlMs: 120_000 }
    const first = world.apply({ policy, store: frozen }).catch((error: Error) => error)
    const second = await world.apply({ policy: { ...policy, pauseMs: 0 }, resume: true })
    expect(second.state).toBe('done')
    expect(await first).toMatchObject({ message: expect.stringMatching(/broke off/) })
    expect(world.commands).toHaveLength(2)
  })

  it('that want some of the same clusters: one waits for nothing it has not, and leaves nothing behind', async () => {
    const world = new World(planOf([1, 1], 'a', 'b'))
    const other = new World(planOf([2], 'b'))
    const policy = { pauseMs: 0 }
    const store = world.store
    const held = await world.time.pass(
      takeLease({
        store,
        cluster: 'b',
        identity: 'b',
        run: 'another',
        holder: 'another',
        ttlMs,
        clock: world.time.clock(),
        signal: never,
      }),
    )
    await expect(world.apply({ policy })).rejects.toThrowErrorMatchingSnapshot()
    expect([world.commands, await world.read(leaseKey('a'))]).toEqual([
      [],
      expect.objectContaining({ holder: null }),
    ])
    await world.time.pass(held.release())
    expect((await world.apply({ policy })).state).toBe('done')
    expect((await other.apply({ policy, store })).state).toBe('done')
  })
})

describe('one cluster under two names', () => {
  const uid = '0a1b2c3d-0000-4000-8000-000000000000'
  const fast = { policy: { pauseMs: 0 } }

  it('is changed by one apply at a time, which is called as its holder calls it', async () => {
    const world = new World(planOf([1], 'prod'))
    const other = new World(planOf([1], 'arn:aws:eks:eu-west-1:111122223333:cluster/prod'))
    for (const each of [world, other]) each.identities.set(each.plan.steps[0]!.cluster, uid)
    const store = world.store
    const held = await world.time.pass(
      takeLease({
        ...{ store, cluster: 'prod', identity: uid, run: 'x', holder: 'x', ttlMs },
        clock: world.time.clock(),
        signal: never,
      }),
    )
    const wait = world.time.clock().sleep(ttlMs * 3, never)
    const clock = world.time.clock()
    await world.time.pass(
      Promise.all([
        expect(
          other.apply({ ...fast, store, effects: { clock } }),
        ).rejects.toThrowErrorMatchingSnapshot(),
        wait,
      ]),
    )
    expect(other.commands).toEqual([])
    await world.time.pass(held.release())
    expect((await other.apply({ ...fast, store })).state).toBe('done')
  })

  it('of the same name is two: neither holds the other up', async () => {
    const [world, other] = [new World(planOf([1])), new World(planOf([2]))]
    world.identities.set('prod', uid)
    other.identities.set('prod', uid.replace('0a', '0b'))
    const store = world.store
    const options = {
      store,
      cluster: 'prod',
      identity: uid,
      run: 'x',
      holder: 'x',
      ttlMs,
      clock: world.time.clock(),
      signal: never,
    }
    await world.time.pass(takeLease(options))
    expect((await other.apply({ ...fast, store })).state).toBe('done')
  })

  it('that both stand in one plan has one lease', async () => {
    const world = new World(planOf([1], 'prod', 'prod-by-context'))
    for (const name of ['prod', 'prod-by-context']) world.identities.set(name, uid)
    expect((await world.apply(fast)).state).toBe('done')
    expect(await world.read(leaseKey(uid))).toMatchObject({
      holder: null,
      cluster: 'prod, prod-by-context',
    })
  })

  it('that does not tell which it is is not begun; a run that was begun goes on, and back', async () => {
    const world = new World(planOf([1, 1]))
    world.identities.set('prod', uid)
    const away = { identityOf: () => Promise.reject(new Error('connect ECONNREFUSED')) }
    await expect(world.apply({ ...fast, effects: away })).rejects.toThrowErrorMatchingSnapshot()
    expect([
      world.commands,
      await world.read(`remediation/runs/${world.plan.id}/run.json`),
    ]).toEqual([[], null])
    world.reasons = ['an alarm']
    expect((await world.apply(fast)).clusters).toEqual({ prod: uid })
    world.reasons = []
    expect((await world.apply({ ...fast, resume: true, effects: away })).state).toBe('done')
    expect((await world.rollBack({ ...fast, effects: away })).endedAt).not.toBeNull()
  })
})

describe('leases of several clusters', () => {
  it('that one left which died are waited for together', async () => {
    const world = new World(planOf([1], 'a', 'b', 'c'))
    const taken = ['a', 'b', 'c'].map(cluster =>
      takeLease({
        ...{
          store: { ...dead(world.store), create: world.store.create },
          cluster,
          identity: cluster,
          run: 'x',
          holder: 'dead',
          ttlMs,
        },
        ...{ clock: world.time.clock(), signal: never },
      }),
    )
    await world.time.pass(Promise.all(taken))
    const before = world.time.elapsedMs
    const run = await world.apply({ policy: { pauseMs: 0, leaseTtlMs: ttlMs } })
    expect(run.state).toBe('done')
    expect(world.time.elapsedMs - before).toBeGreaterThanOrEqual(ttlMs)
    expect(world.time.elapsedMs - before).toBeLessThan(2 * ttlMs)
  })
})
