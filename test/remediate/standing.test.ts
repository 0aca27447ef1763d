/** What holds a run up while it goes, and what does not: nodes that were begun are ended in any case. */
import { describe, expect, it, vi } from 'vitest'
import type { StepEntry } from '#model/plan.ts'
import type { AutoApproval } from '#model/policy.ts'
import { byPolicy } from '#remediate/plan/approve.ts'
import {
  approvalOf,
  newSha256,
  oldSha256,
  planOf,
  pruningPlanOf,
  World,
} from '#test/remediation-world.ts'

vi.setConfig({ testTimeout: 60_000 })

const fast = { policy: { pauseMs: 0 } }
const everyDay: AutoApproval['windows'][number]['days'] = [
  'mon',
  'tue',
  'wed',
  'thu',
  'fri',
  'sat',
  'sun',
]
const auto: AutoApproval = {
  fields: ['imageGCHighThresholdPercent'],
  clusters: ['prod'],
  nodesPerDay: 100,
  windows: [],
}
const expired = { at: '2026-11-20T00:00:00Z', until: '2026-11-21T12:00:00Z' }
const later = (world: World, delayMs: number) =>
  world.time.pass(world.time.clock().sleep(delayMs, new AbortController().signal))

describe('an approval that has ended', () => {
  it('leaves no node half-way: what was begun is verified, and nothing else is begun', async () => {
    const world = new World(planOf([1, 2]))
    const end = new AbortController()
    const onEntry = ({ state }: StepEntry) =>
      state === 'applied' && end.abort(new Error('the deadline has passed'))
    const cut = await world.apply({ ...fast, end: end.signal, effects: { onEntry } })
    expect(cut.steps.map(({ state }) => state)).toEqual(['applied', 'pending', 'pending'])
    const run = await world.apply({
      ...fast,
      resume: true,
      approval: approvalOf(world.plan, expired),
    })
    expect([run.state, run.why]).toEqual(['paused', 'the approval ended at 2026-11-21T12:00:00Z'])
    expect(run.steps.map(({ state }) => state)).toEqual(['verified', 'pending', 'pending'])
    expect(world.commands).toHaveLength(1)
  })

  it('puts lowered thresholds back', async () => {
    const world = new World(pruningPlanOf([1]), { 1: 'full' })
    const end = new AbortController()
    const onEntry = ({ state }: StepEntry) =>
      state === 'verified' && end.abort(new Error('the deadline has passed'))
    await world.apply({ ...fast, end: end.signal, effects: { onEntry } })
    expect(world.node(1).sha256).toBe(newSha256)
    const run = await world.apply({
      ...fast,
      resume: true,
      approval: approvalOf(world.plan, expired),
    })
    expect([run.state, run.steps[0]?.state, world.node(1).sha256]).toEqual([
      'done',
      'pruned',
      oldSha256,
    ])
  })

  it('of a wave before keeps nothing of a later one half-way', async () => {
    const world = new World(planOf([1, 1, 1]))
    world.nodeReasons.set('prod/ip-10-0-0-1.ec2.internal', 'the node is cordoned')
    const end = new AbortController()
    const onEntry = ({ state }: StepEntry) =>
      state === 'applied' && end.abort(new Error('the deadline has passed'))
    const cut = await world.apply({ ...fast, end: end.signal, effects: { onEntry } })
    expect(cut.steps.map(({ state }) => state)).toEqual(['skipped', 'applied', 'pending'])
    const run = await world.apply({
      ...fast,
      resume: true,
      approval: approvalOf(world.plan, expired),
    })
    expect([run.state, run.steps.map(({ state }) => state)]).toEqual([
      'paused',
      ['skipped', 'verified', 'pending'],
    ])
  })

  it('is not asked for what is at its end; another plan’s still is refused', async () => {
    const world = new World(planOf([1]))
    const first = await world.apply(fast)
    expect(await world.apply({ ...fast, approval: approvalOf(world.plan, expired) })).toEqual(first)
    await expect(
      world.apply({ ...fast, approval: approvalOf(world.plan, { plan: 'f'.repeat(64) }) }),
    ).rejects.toThrow('for another plan')
  })
})

describe('a run that the policy approved', () => {
  const byThePolicy = (world: World) =>
    approvalOf(world.plan, {
      by: byPolicy,
      at: '2026-11-21T12:00:00Z',
      until: '2026-11-22T12:00:00Z',
    })
  it('sends nothing once its window has closed, between two batches, too', async () => {
    const world = new World(planOf([1, 9]))
    const windows = [{ days: everyDay, from: '11:55', to: '12:08', timezone: 'UTC' }]
    const policy = { pauseMs: 600_000, auto: { ...auto, windows } }
    const run = await world.apply({ policy, approval: byThePolicy(world) })
    expect([run.state, run.why]).toEqual(['paused', expect.stringMatching(/11:55 to 12:08 UTC/)])
    expect(world.commands).toHaveLength(1)
  })

  it('goes on over days where the plan is larger than what may be begun on one', async () => {
    const world = new World(planOf([1, 5]))
    const policy = { pauseMs: 0, auto: { ...auto, nodesPerDay: 4 } }
    const approval = byThePolicy(world)
    const first = await world.apply({ policy, approval })
    expect([first.state, first.why]).toEqual([
      'paused',
      expect.stringContaining('it goes on after 00:00 UTC'),
    ])
    expect(world.commands).toHaveLength(4)
    expect((await world.apply({ policy, approval, resume: true })).state).toBe('paused')
    expect(world.commands).toHaveLength(4)
    await later(world, 12 * 3_600_000)
    const until = '2026-11-23T00:00:00Z'
    const second = await world.apply({ policy, approval: { ...approval, until }, resume: true })
    expect([second.state, second.steps.every(({ state }) => state === 'verified')]).toEqual([
      'done',
      true,
    ])
  })

  it('begins no more where the policy approves nothing any more, and ends what it has begun', async () => {
    const world = new World(planOf([1, 2]))
    const end = new AbortController()
    const onEntry = ({ state }: StepEntry) =>
      state === 'applied' && end.abort(new Error('the deadline has passed'))
    const approval = byThePolicy(world)
    await world.apply({
      policy: { pauseMs: 0, auto },
      approval,
      end: end.signal,
      effects: { onEntry },
    })
    const run = await world.apply({ policy: { pauseMs: 0, auto: null }, approval, resume: true })
    expect([run.state, run.why, run.steps.map(({ state }) => state)]).toEqual([
      'paused',
      expect.stringContaining('approves nothing by itself'),
      ['verified', 'pending', 'pending'],
    ])
  })
})

describe('a pause between waves', () => {
  it('that takes too long ends the call, says when it goes on, and is kept', async () => {
    const world = new World(planOf([1, 2]))
    const impatient = { policy: { pauseMs: 600_000 }, patienceMs: 10_000 }
    const run = await world.apply(impatient)
    expect([run.state, run.why]).toEqual([
      'paused',
      expect.stringMatching(/^the pause after the wave before lasts until 2026-11-21T12:1\d:\d\d/),
    ])
    expect(world.time.elapsedMs).toBeLessThan(60_000)
    expect((await world.apply({ ...impatient, resume: true })).state).toBe('paused')
    expect(world.commands).toHaveLength(1)
    await later(world, 600_000)
    expect((await world.apply({ ...impatient, resume: true })).state).toBe('done')
  })
})

describe('a rollback', () => {
  const sizesOf = (batches: readonly string[][]) => batches.map(batch => batch.length)
  async function changed(count: number) {
    const world = new World(planOf([1, count - 1]))
    await world.apply({ policy: { pauseMs: 0, maxConcurrency: 50 } })
    const from = world.commands.length
    return { world, sent: () => world.commands.slice(from) }
  }

  it('begins with one node, and takes more and more at once, as many as may be', async () => {
    const { world } = await changed(16)
    const batches: string[][] = []
    const verifyBack = async (steps: readonly { node: string }[]) => {
      batches.push(steps.map(({ node }) => node))
      return new Map(steps.map(({ node }) => [`prod/${node}`, { state: 'verified' } as const]))
    }
    const run = await world.rollBack({
      policy: { pauseMs: 0, maxConcurrency: 5 },
      effects: { verifyBack },
    })
    expect([run.endedAt === null, sizesOf(batches)]).toEqual([false, [1, 2, 4, 5, 4]])
  })

  it('stops when more nodes than may are not well with what they had, and goes on all the same where the policy says so', async () => {
    const { world, sent } = await changed(20)
    for (const node of world.nodes.values()) Object.assign(node, { nature: 'breaks back' })
    const stopped = await world.rollBack({
      policy: { pauseMs: 0, maxErrors: 1, maxConcurrency: 10 },
    })
    expect([stopped.state, stopped.endedAt, stopped.notBack?.length]).toEqual([
      'rolled-back',
      null,
      3,
    ])
    expect(stopped.why).toMatchSnapshot()
    const asked = new Set(sent()).size
    expect(asked).toBe(3)
    // Asked again they are still not well, and nobody else is touched.
    await world.rollBack({ policy: { pauseMs: 0, maxErrors: 1, maxConcurrency: 10 } })
    expect(new Set(sent()).size).toBe(asked)
    const run = await world.rollBack({ policy: { pauseMs: 0, maxErrors: 1 }, despiteErrors: true })
    expect([run.endedAt === null, new Set(sent()).size]).toEqual([false, 20])
  })

  it('goes on by itself when those are well again', async () => {
    const { world } = await changed(4)
    world.node(4).nature = 'breaks back'
    for (const number of [1, 2, 3]) world.node(number).nature = 'well'
    const stopped = await world.rollBack(fast)
    expect([stopped.endedAt, stopped.notBack]).toEqual([null, ['prod/ip-10-0-0-4.ec2.internal']])
    world.node(4).nature = 'well'
    const run = await world.rollBack(fast)
    expect([run.endedAt === null, run.notBack, run.steps.map(({ state }) => state)]).toEqual([
      false,
      undefined,
      Array(4).fill('rolled-back'),
    ])
  })

  it('leaves those for the end that were broken before, and is not stopped by them', async () => {
    const world = new World(planOf([1, 3]), { 4: 'breaks' })
    await world.apply({ policy: { pauseMs: 0, maxErrors: 5 } })
    expect(world.node(4).phase).toBe('broken')
    const from = world.commands.length
    const run = await world.rollBack(fast)
    expect([run.endedAt === null, run.steps.map(({ state }) => state)]).toEqual([
      false,
      ['rolled-back', 'rolled-back', 'rolled-back', 'broken'],
    ])
    expect(world.commands.slice(from).findIndex(command => command.includes('10-0-0-4.'))).toBe(3)
  })
})
