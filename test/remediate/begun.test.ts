/** What was begun is ended whatever stands in the way; that it was begun is what its node shows, and never what the journal says alone. */

import { describe, expect, it } from 'vitest'
import { type StepState, stepKey } from '#model/plan.ts'
import { Journal } from '#remediate/run/journal.ts'
import { approvalOf, newSha256, oldSha256, planOf, World } from '#test/remediation-world.ts'

const expired = { at: '2020-01-01T00:00:00Z', until: '2020-01-02T00:00:00Z' }

/** A run of two nodes whose journal has the first one in that state; nothing was sent to either. */
async function journalSays(state: StepState): Promise<World> {
  const world = new World(planOf([1, 1]))
  const { plan, store } = world
  const approval = approvalOf(plan, expired)
  const journal = new Journal(store, plan.id, 'another process')
  await journal.begin(plan, approval, expired.at, { prod: 'prod' })
  const [step] = plan.steps
  if (step === undefined) throw new Error('the plan has no step')
  const { cluster, node, instanceId } = step
  await journal.note({
    ...{ cluster, node, instanceId, wave: 0, state, why: null, commandIds: [], answer: null },
    ...{ readyPods: null, at: { [state]: expired.at } },
  })
  return world
}

const resumed = (world: World) =>
  world.apply({ resume: true, approval: approvalOf(world.plan, expired) })

describe('a node that shows what was there before is new, whatever the journal says', () => {
  it.each<StepState>(['sending', 'sent'])(
    'nothing is sent to one that is %s, by an approval that has ended',
    async state => {
      const world = await journalSays(state)
      expect(await resumed(world)).toMatchObject({
        state: 'paused',
        why: expect.stringContaining('the approval ended'),
      })
      expect(world.commands).toEqual([])
      expect(world.node(1).sha256).toBe(oldSha256)
    },
  )

  it('nothing is sent while something speaks against it', async () => {
    const world = await journalSays('sending')
    world.reasons = ['prod: the policy lets nodes be changed only at night']
    const run = await world.apply({ resume: true })
    expect(run).toMatchObject({ state: 'paused', why: expect.stringContaining('at night') })
    expect(world.commands).toEqual([])
  })

  it('nothing is sent where its step would not be planned for it now', async () => {
    const world = await journalSays('sent')
    world.node(1).objection = 'the plan writes something else than its fields come to there'
    const run = await world.apply({ resume: true })
    expect(run.steps[0]).toMatchObject({
      state: 'skipped',
      why: expect.stringContaining('something else'),
    })
    expect(world.commands).toEqual(['apply ip-10-0-0-2.ec2.internal'])
  })

  it('it is changed where all of that holds', async () => {
    const world = await journalSays('sending')
    expect(await world.apply({ resume: true })).toMatchObject({ state: 'done' })
    expect([world.node(1).sha256, world.node(1).swaps]).toEqual([newSha256, 1])
  })
})

describe('a node half-way: the script began there, and the old hash still shows', () => {
  it.each<StepState>(['sending', 'sent'])('goes back by a rollback: %s', async state => {
    const world = await journalSays(state)
    expect(await resumed(world)).toMatchObject({ state: 'paused' })
    expect(world.commands).toEqual([])
    expect(await world.rollBack()).toMatchObject({ state: 'rolled-back' })
    expect(world.commands).toEqual(['rollback ip-10-0-0-1.ec2.internal'])
    expect(world.node(1).sha256).toBe(oldSha256)
  })

  it('goes on by a valid approval after one that has ended', async () => {
    const world = await journalSays('sent')
    await resumed(world)
    expect(world.commands).toEqual([])
    await world.apply({ resume: true, approval: approvalOf(world.plan) })
    expect(world.commands[0]).toBe('apply ip-10-0-0-1.ec2.internal')
  })
})

describe('a node that shows the change', () => {
  it('is asked and verified, also by an approval that has ended', async () => {
    const world = await journalSays('sent')
    Object.assign(world.node(1), { sha256: newSha256, phase: 'applied' })
    const run = await resumed(world)
    expect(run.state).toBe('paused')
    expect(run.steps.map(({ state }) => state)).toEqual(['verified', 'pending'])
    expect(world.commands).toEqual(['apply ip-10-0-0-1.ec2.internal'])
  })
})

describe('a node that shows neither', () => {
  it('is broken, and nothing is written over what is there', async () => {
    const world = await journalSays('sent')
    const other = 'f'.repeat(64)
    world.node(1).sha256 = other
    const run = await resumed(world)
    expect(run.steps[0]).toMatchObject({ state: 'broken' })
    expect(world.commands.filter(command => command.startsWith('apply'))).toEqual([])
    expect(world.node(1).sha256).toBe(other)
  })

  it('was not read: the run waits, and names it', async () => {
    const world = await journalSays('sent')
    const run = await world.apply({
      resume: true,
      effects: {
        present: async steps =>
          steps.map(({ cluster, node, instanceId }) => ({
            ...{ cluster, node, instanceId, sha256: null, unread: 'SSM: no answer' },
            ...{ kubeletStartedAt: null, objection: null },
          })),
      },
    })
    expect(run).toMatchObject({
      state: 'paused',
      why: `whether the change has begun on ${stepKey({ cluster: 'prod', node: 'ip-10-0-0-1.ec2.internal' })} is not known: SSM: no answer`,
    })
    expect(world.commands).toEqual([])
  })

  it('is gone: passed over', async () => {
    const world = await journalSays('sent')
    world.nodes.delete(stepKey(world.node(1).step))
    const run = await world.apply({ resume: true })
    expect(run.steps.map(({ state }) => state)).toEqual(['skipped', 'verified'])
  })
})
