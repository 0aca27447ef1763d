/** A process may die at any call it makes, and its store may fail at any of them: whoever comes after it finishes the work, and no node is changed twice. */

import { describe, expect, it, vi } from 'vitest'
import type { Store } from '#clients/store/store.ts'
import { type RemediationRun, stepKey } from '#model/plan.ts'
import {
  type Death,
  memoryStore,
  type Nature,
  newSha256,
  oldSha256,
  planOf,
  World,
} from '#test/remediation-world.ts'

vi.setConfig({ testTimeout: 60_000 })

const policy = { pauseMs: 60_000, leaseTtlMs: 120_000, verifyTimeoutMs: 120_000 }
const natures: Record<string, Readonly<Record<number, Nature>>> = {
  'all are well': {},
  'one of the second wave puts back': { 3: 'puts back' },
  'one of the second wave is wrong': { 2: 'wrong' },
  'the first one refuses': { 1: 'refuses' },
}
/** Far more calls than any of these runs makes. */
const mostCalls = 400

function isWhole(world: World, run: RemediationRun): void {
  for (const { cluster, node, state } of run.steps) {
    const found = world.nodes.get(`${cluster}/${node}`)!
    const expected = state === 'verified' ? newSha256 : oldSha256
    expect({ node, state, sha256: found.sha256 }).toEqual({ node, state, sha256: expected })
    expect(['verified', 'restored', 'rolled-back', 'failed', 'skipped']).toContain(state)
    // There, and at most once back.
    expect(found.swaps).toBeLessThanOrEqual(state === 'verified' ? 1 : 2)
  }
}

describe.each(['before', 'after'] as const)('a process that dies %s a call', when => {
  it.each(Object.entries(natures))(
    'where %s: whoever resumes it ends as if nothing had happened',
    async (_, nature) => {
      const plan = planOf([1, 2])
      const whole = await new World(plan, nature).apply({ policy })
      let deaths = 0
      for (let call = 1; call < mostCalls; call++) {
        const world = new World(plan, nature)
        const died = await world.apply({ policy, death: { call, when } }).catch(() => null)
        if (died !== null && world.calls < call) break
        deaths++
        const run = await world.apply({ policy, resume: true })
        expect({ call, state: run.state }).toEqual({ call, state: whole.state })
        isWhole(world, run)
        const commands = world.commands.length
        const again = await world.apply({ policy, resume: true })
        expect([again, world.commands.length]).toEqual([run, commands])
      }
      expect(deaths).toBeGreaterThan(20)
      expect(deaths).toBeLessThan(mostCalls - 1)
    },
  )

  it('again and again at every call in turn: the work is done at last', async () => {
    const world = new World(planOf([1, 2]))
    let run: RemediationRun | null = null
    for (let call = 1; call < mostCalls && run === null; call += 3)
      run = await world.apply({ policy, resume: true, death: { call, when } }).catch(() => null)
    expect(run?.state).toBe('done')
    isWhole(world, run!)
  })

  it('of a rollback: whoever comes next ends it', async () => {
    const plan = planOf([1, 2])
    let deaths = 0
    for (let call = 1; call < mostCalls; call++) {
      const world = new World(plan)
      await world.apply({ policy })
      const died = await world.rollBack({ policy, death: { call, when } }).catch(() => null)
      if (died !== null && world.calls < call) break
      deaths++
      const run = await world.rollBack({ policy })
      expect(run.steps.map(({ state, seenBack }) => [state, seenBack])).toEqual(
        Array(3).fill(['rolled-back', true]),
      )
      isWhole(world, run)
    }
    expect(deaths).toBeGreaterThan(15)
  })

  it('of an apply, and is rolled back: nothing is left', async () => {
    const plan = planOf([1, 2])
    const death = (call: number): Death => ({ call, when })
    for (let call = 1; call < mostCalls; call++) {
      const world = new World(plan)
      const died = await world.apply({ policy, death: death(call) }).catch(() => null)
      if (died !== null && world.calls < call) break
      const run = await world.rollBack({ policy }).catch((error: Error) => error)
      // Before the run was noted nothing was sent.
      if (run instanceof Error)
        expect([run.message, world.commands]).toEqual([expect.stringMatching(/has no run/), []])
      expect([...world.nodes.values()].map(({ sha256 }) => sha256)).toEqual([
        oldSha256,
        oldSha256,
        oldSha256,
      ])
    }
  })
})

describe('a store', () => {
  const failing = (store: Store, from: number, to: number): Store => {
    let writes = 0
    const write = <T>(work: () => Promise<T>): Promise<T> => {
      writes += 1
      return writes >= from && writes < to
        ? Promise.reject(new Error('S3 does not answer'))
        : work()
    }
    return {
      ...store,
      write: (...written) => write(() => store.write(...written)),
      create: (...written) => write(() => store.create(...written)),
      replace: (...written) => write(() => store.replace(...written)),
    }
  }

  it.each([1, 4, 1000])(
    'that fails for %i writes from any one on costs no node anything',
    async length => {
      const plan = planOf([1, 2])
      for (let from = 1; from < 60; from++) {
        const world = new World(plan)
        const first = await world
          .apply({ policy, store: failing(world.store, from, from + length) })
          .catch((error: Error) => error)
        if (first instanceof Error)
          expect(first.message).toMatch(
            /broke off: S3 does not answer.*--resume goes on with it|S3 does not answer/,
          )
        const run = await world.apply({ policy, resume: true })
        expect(run.state).toBe('done')
        isWhole(world, run)
      }
    },
  )

  it('whose entry of a node is torn: the node itself is asked, and put back', async () => {
    const world = new World(planOf([1, 2]))
    await world.apply({ policy, death: { call: 40, when: 'after' } }).catch(() => null)
    const key = `remediation/runs/${world.plan.id}/steps/prod/ip-10-0-0-1.ec2.internal.json`
    await world.store.write(key, '{"schema":"highwater.step/1","wri', 'application/json')
    const run = await world.apply({ policy, resume: true })
    expect([run.state, run.steps[0]?.state]).toEqual(['stopped', 'rolled-back'])
    expect(run.why).toMatchSnapshot()
    isWhole(world, run)
  })

  it('whose run is torn: nothing is sent, and it is said where', async () => {
    const world = new World(planOf([1, 2]))
    await world.apply({ policy })
    const commands = world.commands.length
    await world.store.write(`remediation/runs/${world.plan.id}/run.json`, '{', 'application/json')
    await expect(world.apply({ policy, resume: true })).rejects.toThrowErrorMatchingSnapshot()
    await expect(world.rollBack()).rejects.toThrow(/run.json/)
    expect(world.commands).toHaveLength(commands)
  })

  it('whose plan was changed: nothing is taken back by it', async () => {
    const world = new World(planOf([1]))
    await world.apply({ policy })
    const key = `remediation/runs/${world.plan.id}/plan.json`
    await world.store.write(
      key,
      JSON.stringify({ ...world.plan, unchanged: 7 }),
      'application/json',
    )
    await expect(world.rollBack()).rejects.toThrowErrorMatchingSnapshot()
    expect(world.node(1).sha256).toBe(newSha256)
  })

  it('keeps what is done of each node under a name of its own, whatever the cluster is called', async () => {
    const cluster = 'arn:aws:eks:eu-west-1:111122223333:cluster/prod'
    const world = new World(planOf([1], cluster))
    expect((await world.apply({ policy })).state).toBe('done')
    const keys = await Array.fromAsync(world.store.list('remediation/'))
    expect(keys.filter(key => key.includes(encodeURIComponent(cluster)))).toHaveLength(2)
    expect(stepKey(world.node(1).step)).toContain(cluster)
    expect(memoryStore().location).toBe(world.store.location)
  })
})
