/** A run that died while it put nodes back: it goes on with that, whoever asks for it and whenever. */
import { describe, expect, it, vi } from 'vitest'
import { openRuns } from '#remediate/plan/store.ts'
import { approvalOf, oldSha256, planOf, World } from '#test/remediation-world.ts'

vi.setConfig({ testTimeout: 60_000 })

const fast = { policy: { pauseMs: 0 } }
const contents = (world: World) => [...world.nodes.values()].map(({ sha256 }) => sha256)

/** Told to end at once when the first node is being taken back. */
function endingBack() {
  const end = new AbortController()
  const onEntry = ({ state }: { state: string }) => {
    if (state === 'rolled-back') end.abort(new Error('time is over'))
  }
  return { end: end.signal, effects: { onEntry } }
}

describe('a run that was being rolled back', () => {
  async function halfBack() {
    const world = new World(planOf([1, 2]))
    await world.apply(fast)
    const run = await world.rollBack({
      policy: { ...fast.policy, maxConcurrency: 1 },
      ...endingBack(),
    })
    expect([run.state, run.endedAt, run.steps.map(({ state }) => state)]).toEqual([
      'rolled-back',
      null,
      ['verified', 'rolled-back', 'verified'],
    ])
    return world
  }

  it('is one of those that are to go on, until it is at its end', async () => {
    const world = await halfBack()
    expect(await openRuns(world.store)).toEqual([world.plan.id])
    await world.rollBack(fast)
    expect(await openRuns(world.store)).toEqual([])
  })

  it('goes on being rolled back when it is resumed, and nothing is applied', async () => {
    const world = await halfBack()
    const before = world.commands.length
    await expect(world.apply(fast)).rejects.toThrowErrorMatchingSnapshot()
    const run = await world.apply({
      ...fast,
      resume: true,
      approval: approvalOf(world.plan, { until: '2026-11-21T11:00:01Z' }),
    })
    expect([run.state, run.endedAt === null, contents(world)]).toEqual([
      'rolled-back',
      false,
      Array(3).fill(oldSha256),
    ])
    expect(world.commands.slice(before).every(command => command.startsWith('rollback '))).toBe(
      true,
    )
  })
})

describe('a run that died while it took a wave back', () => {
  it('goes on with it, though its approval has ended meanwhile', async () => {
    const world = new World(planOf([1, 3]), { 3: 'refuses' })
    const until = '2026-11-21T12:30:00Z'
    const cut = await world.apply({
      policy: { pauseMs: 0 },
      approval: approvalOf(world.plan, { until }),
      ...endingBack(),
    })
    expect([cut.state, cut.endedAt]).toEqual(['stopped', null])
    await world.time.pass(world.time.clock().sleep(3_600_000, new AbortController().signal))
    const run = await world.apply({
      ...fast,
      resume: true,
      approval: approvalOf(world.plan, { until }),
    })
    expect([run.state, run.endedAt === null, run.steps.map(({ state }) => state)]).toEqual([
      'stopped',
      false,
      ['verified', 'rolled-back', 'failed', 'rolled-back'],
    ])
  })
})
