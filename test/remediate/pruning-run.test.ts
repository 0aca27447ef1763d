/** A run whose change is for a while: thresholds go down, images go, thresholds come back, whatever dies meanwhile. */
import { describe, expect, it, vi } from 'vitest'
import type { RemediationRun } from '#model/plan.ts'
import { newSha256, oldSha256, pruningPlanOf, World } from '#test/remediation-world.ts'

vi.setConfig({ testTimeout: 60_000 })

const fast = { policy: { pauseMs: 0 } }
const statesOf = ({ steps }: RemediationRun) => steps.map(({ state }) => state)

describe('a run that prunes images', () => {
  it('puts each node back when image GC has done its work, and says what that freed', async () => {
    const world = new World(pruningPlanOf([1, 2]))
    const run = await world.apply(fast)
    expect([run.state, statesOf(run)]).toEqual(['done', ['pruned', 'pruned', 'pruned']])
    expect(run.steps[0]).toMatchObject({
      why: 'freed 30.0 GiB: the image filesystem is at 60 %, wanted was at most 69 %; its thresholds are as before',
      usedBytesBefore: 90 * 2 ** 30,
      seenBack: true,
    })
    expect([...world.nodes.values()].map(({ sha256, swaps }) => [sha256, swaps])).toEqual(
      Array(3).fill([oldSha256, 2]),
    )
    expect(world.commands.slice(0, 2)).toEqual([
      'apply ip-10-0-0-1.ec2.internal',
      'rollback ip-10-0-0-1.ec2.internal',
    ])
    const commands = world.commands.length
    expect(await world.apply({ ...fast, resume: true })).toEqual(run)
    expect(statesOf(await world.rollBack(fast))).toEqual(['pruned', 'pruned', 'pruned'])
    expect(world.commands).toHaveLength(commands)
  })

  it('puts a node back when the time is over, and no sooner', async () => {
    const world = new World(pruningPlanOf([1]), { 1: 'full' })
    const run = await world.apply(fast)
    expect([run.state, statesOf(run), world.node(1).sha256]).toEqual([
      'done',
      ['pruned'],
      oldSha256,
    ])
    expect(run.steps[0]?.why).toMatchSnapshot()
    expect(world.time.elapsedMs).toBeGreaterThanOrEqual(20 * 60_000)
    expect(world.time.elapsedMs).toBeLessThan(22 * 60_000)
  })

  it('puts a node back in time also where nothing can be read of it', async () => {
    const world = new World(pruningPlanOf([1]))
    const imageUse = () => Promise.reject(new Error('the API server does not answer'))
    const run = await world.apply({ ...fast, effects: { imageUse } })
    expect([statesOf(run), world.node(1).sha256]).toEqual([['pruned'], oldSha256])
    expect(run.steps[0]?.why).toMatchSnapshot()
  })

  it('stops where a node is not seen to be as before, and names it', async () => {
    const world = new World(pruningPlanOf([1, 1]), { 1: 'stays' })
    const run = await world.apply(fast)
    expect([run.state, world.node(2).swaps]).toEqual(['stopped', 0])
    expect(run.why).toMatchSnapshot()
    expect(run.steps[0]).toMatchObject({ state: 'rolled-back', seenBack: false })
  })

  it('at a signal to end, says whose thresholds are lowered, and goes on with them', async () => {
    const world = new World(pruningPlanOf([1]), { 1: 'full' })
    const end = new AbortController()
    const onEntry = ({ state }: { state: string }) =>
      state === 'verified' && end.abort(new Error('the deadline has passed'))
    const paused = await world.apply({ ...fast, end: end.signal, effects: { onEntry } })
    expect([paused.state, statesOf(paused), world.node(1).sha256]).toEqual([
      'paused',
      ['verified'],
      newSha256,
    ])
    expect(paused.why).toMatchSnapshot()
    expect(statesOf(await world.apply({ ...fast, resume: true }))).toEqual(['pruned'])
    expect(world.node(1)).toMatchObject({ sha256: oldSha256, swaps: 2 })
  })

  it('can be taken back while it waits', async () => {
    const world = new World(pruningPlanOf([1]), { 1: 'full' })
    const end = new AbortController()
    const onEntry = ({ state }: { state: string }) =>
      state === 'verified' && end.abort(new Error('the deadline has passed'))
    await world.apply({ ...fast, end: end.signal, effects: { onEntry } })
    expect((await world.rollBack(fast)).steps[0]).toMatchObject({
      state: 'rolled-back',
      seenBack: true,
    })
    expect(world.node(1).sha256).toBe(oldSha256)
  })

  it.each(['before', 'after'] as const)(
    'dies %s any of its calls: whoever resumes it leaves no threshold lowered',
    async when => {
      let deaths = 0
      for (let call = 1; call < 400; call++) {
        const world = new World(pruningPlanOf([1, 2]))
        const died = await world.apply({ ...fast, death: { call, when } }).catch(() => null)
        if (died !== null && world.calls < call) break
        deaths++
        const run = await world.apply({ ...fast, resume: true })
        expect({ call, state: run.state, states: statesOf(run) }).toEqual({
          call,
          state: 'done',
          states: ['pruned', 'pruned', 'pruned'],
        })
        for (const { sha256, swaps } of world.nodes.values())
          expect({ call, sha256, swaps }).toEqual({ call, sha256: oldSha256, swaps: 2 })
      }
      expect(deaths).toBeGreaterThan(30)
      expect(deaths).toBeLessThan(399)
    },
  )
})
