/** A plan of deletions from its approval to its end, whatever dies meanwhile. */
import { describe, expect, it, vi } from 'vitest'
import { remediationExitCode } from '#cli/exit-code.ts'
import { remediationText } from '#cli/remediation-text.ts'
import type { RemediationRun } from '#model/remediation.ts'
import { deletionPlanOf, World } from '#test/remediation-world.ts'

vi.setConfig({ testTimeout: 60_000 })

const statesOf = ({ deletions = [] }: RemediationRun) => deletions.map(({ state }) => state)
const textOf = (run: RemediationRun) =>
  remediationText(run, null, 's3://bucket', { hasColour: false, columns: 500 })

describe('a run of deletions', () => {
  it('deletes each object once, says so, and applied again does nothing', async () => {
    const world = new World(deletionPlanOf(3, ['prod', 'test']))
    const run = await world.apply()
    expect([run.state, run.why, statesOf(run), run.steps]).toEqual([
      'done',
      null,
      ['deleted', 'deleted', 'deleted'],
      [],
    ])
    expect(remediationExitCode(run, 'verified')).toBe(0)
    expect(textOf(run)).toMatchSnapshot()
    expect(await world.apply({ resume: true })).toEqual(run)
    expect(world.asked).toEqual(['uid-1', 'uid-2', 'uid-3'])
    for (const cluster of ['prod', 'test'])
      expect(await world.read(`remediation/leases/${cluster}.json`)).toMatchObject({ holder: null })
  })

  it('counts what was gone before, what is left alone and what is refused, and why', async () => {
    const world = new World(deletionPlanOf(4))
    world.objects.delete('uid-1')
    world.objects.set('uid-2', 'changed')
    world.objects.set('uid-3', 'forbidden')
    const run = await world.apply()
    expect([run.state, run.why, statesOf(run)]).toMatchSnapshot()
    expect(remediationExitCode(run, 'verified')).toBe(1)
    const text = textOf(run)
    expect(text).toMatchSnapshot()
    expect(text).not.toContain('rollback')
    const leftAlone = {
      ...run,
      deletions: run.deletions!.filter(({ state }) => state !== 'failed'),
    }
    expect(remediationExitCode(leftAlone, 'verified')).toBe(3)
  })

  it('pauses between two objects, and goes on', async () => {
    const world = new World(deletionPlanOf(2))
    const stop = new AbortController()
    const deleteObject = async () => {
      stop.abort(new Error('Ctrl-C'))
      return { state: 'deleted', why: null } as const
    }
    const paused = await world.apply({ stop: stop.signal, effects: { deleteObject } })
    expect([paused.state, paused.why, statesOf(paused)]).toEqual([
      'paused',
      'Ctrl-C',
      ['deleted', 'pending'],
    ])
    expect(remediationExitCode(paused, 'verified')).toBe(3)
    await expect(world.apply()).rejects.toThrowErrorMatchingSnapshot()
    expect(statesOf(await world.apply({ resume: true }))).toEqual(['deleted', 'deleted'])
    expect(world.asked).toEqual(['uid-2'])
  })

  it('cannot be taken back, and says so', async () => {
    const world = new World(deletionPlanOf(1))
    await world.apply()
    await expect(world.rollBack()).rejects.toThrowErrorMatchingSnapshot()
  })

  it('asks again for an object whose entry in the journal is torn', async () => {
    const world = new World(deletionPlanOf(2))
    const stop = new AbortController()
    const deleteObject = async ({ uid }: { uid: string }) => {
      stop.abort(new Error('Ctrl-C'))
      world.objects.delete(uid)
      return { state: 'deleted', why: null } as const
    }
    await world.apply({ stop: stop.signal, effects: { deleteObject } })
    const key = `remediation/runs/${world.plan.id}/deletions/prod/uid-1.json`
    await world.store.write(key, '{"schema":"high', 'application/json')
    expect(statesOf(await world.apply({ resume: true }))).toEqual(['gone', 'deleted'])
  })

  it.each(['before', 'after'] as const)(
    'dies %s any of its calls: whoever resumes it deletes the rest, and nothing twice',
    async when => {
      let deaths = 0
      for (let call = 1; call < 200; call++) {
        const world = new World(deletionPlanOf(3))
        const died = await world.apply({ death: { call, when } }).catch(() => null)
        if (died !== null && world.calls < call) break
        deaths++
        const run = await world.apply({ resume: true })
        expect({ call, state: run.state, left: world.objects.size }).toEqual({
          call,
          state: 'done',
          left: 0,
        })
        for (const { state, why } of run.deletions ?? [])
          expect([
            ['deleted', null],
            ['gone', 'it was already deleted on the second try: this run had begun to delete it'],
          ]).toContainEqual([state, why])
        expect(world.asked.length).toBeLessThanOrEqual(4)
      }
      expect(deaths).toBeGreaterThan(15)
      expect(deaths).toBeLessThan(199)
    },
  )
})
