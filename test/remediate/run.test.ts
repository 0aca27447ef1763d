import { describe, expect, it, vi } from 'vitest'
import { remediationText } from '#cli/remediation.ts'
import { type RemediationRun, type StepEntry, stepKey } from '#model/plan.ts'
import type { SessionOptions } from '#remediate/run/session.ts'
import { approvalOf, newSha256, oldSha256, planOf, World } from '#test/remediation-world.ts'

vi.setConfig({ testTimeout: 60_000 })

const statesOf = ({ steps }: RemediationRun) => steps.map(({ state }) => state)
const fast = { policy: { pauseMs: 0 } }

describe('a run', () => {
  it('changes every node once, one first, and verifies each', async () => {
    const world = new World(planOf([1, 2, 3]))
    const run = await world.apply()
    expect(run).toMatchObject({
      run: world.plan.id,
      plan: world.plan.digest,
      state: 'done',
      why: null,
      approvedBy: 'Ada Lovelace (arn:aws:iam::111122223333:user/ada)',
    })
    expect(statesOf(run)).toEqual(Array(6).fill('verified'))
    expect([...world.nodes.values()].map(({ swaps, sha256 }) => [swaps, sha256])).toEqual(
      Array(6).fill([1, newSha256]),
    )
    expect(run.steps[0]).toMatchObject({
      readyPods: ['shop/web'],
      commandIds: ['command-1'],
      answer: { outcome: 'applied' },
    })
  })

  it('waits between waves, and not after the last', async () => {
    const world = new World(planOf([1, 2, 3]))
    await world.apply({ policy: { pauseMs: 600_000 } })
    expect(world.time.elapsedMs).toBeGreaterThanOrEqual(1_200_000)
    expect(world.time.elapsedMs).toBeLessThan(1_300_000)
  })

  it('has no more nodes of a cluster under way than it may', async () => {
    const world = new World(planOf([1, 7]))
    const underWay = new Set<string>()
    let most = 0
    const onEntry = ({ node, state }: StepEntry) => {
      if (state === 'verified') underWay.delete(node)
      else underWay.add(node)
      most = Math.max(most, underWay.size)
    }
    const run = await world.apply({
      policy: { pauseMs: 0, maxConcurrency: 3 },
      effects: { onEntry },
    })
    expect([run.state, most, underWay.size]).toEqual(['done', 3, 0])
  })

  it('changes one after the other where budgets allow no more at once', async () => {
    const world = new World(planOf([1, 3]))
    const [, ...later] = world.plan.steps.slice(1).map(stepKey)
    const begun: number[] = []
    const before: SessionOptions['effects']['before'] = async steps => {
      begun.push(world.commands.length)
      const open = steps.map(stepKey).filter(key => later.includes(key))
      return {
        reasons: [],
        unasked: [],
        nodes: new Map(),
        later: new Set(open.length < steps.length ? open : open.slice(1)),
        readyPods: new Map(),
      }
    }
    const run = await world.apply({
      policy: { pauseMs: 0, maxConcurrency: 3 },
      effects: { before },
    })
    expect([run.state, statesOf(run), begun]).toEqual([
      'done',
      Array(4).fill('verified'),
      [0, 1, 2, 3],
    ])
  })

  it('says once what was not asked, and goes on', async () => {
    const world = new World(planOf([1, 2]))
    world.unasked = ['prod: nothing says that it is a cluster of EKS']
    const run = await world.apply(fast)
    expect([run.state, run.unasked]).toEqual(['done', world.unasked])
    const text = remediationText(run, world.plan, 's3://bucket', { hasColour: false, columns: 200 })
    expect(text).toMatchSnapshot()
  })

  it('applied a second time does nothing, and tells the same', async () => {
    const world = new World(planOf([1, 2]))
    const first = await world.apply(fast)
    const commands = world.commands.length
    expect(await world.apply(fast)).toEqual(first)
    expect(await world.apply({ ...fast, resume: true })).toEqual(first)
    expect(world.commands).toHaveLength(commands)
  })

  it('keeps a journal that says it all', async () => {
    const world = new World(planOf([1]))
    const run = await world.apply()
    const folder = `remediation/runs/${world.plan.id}`
    expect(await world.read(`${folder}/run.json`)).toMatchObject({
      schema: 'highwater.run/1',
      head: { state: 'done' },
    })
    expect(await world.read(`${folder}/plan.json`)).toEqual(world.plan)
    expect(await world.read(`${folder}/approval.json`)).toEqual(approvalOf(world.plan))
    expect(await world.read(`${folder}/steps/prod/ip-10-0-0-1.ec2.internal.json`)).toMatchObject({
      schema: 'highwater.step/1',
      entry: {
        state: 'verified',
        at: { sending: expect.any(String), sent: expect.any(String), applied: expect.any(String) },
      },
    })
    expect(await world.read(`${folder}/report.json`)).toEqual(run)
    expect(await world.read('remediation/leases/prod.json')).toMatchObject({ holder: null })
  })
})

describe('before anything is sent', () => {
  it.each([
    ['another plan', { plan: 'f'.repeat(64) }, /for another plan/],
    ['an approval that has expired', { until: '2026-11-21T11:59:59Z' }, /expired/],
    ['an approval of tomorrow', { at: '2026-11-21T13:00:00Z' }, /holds from/],
  ])('%s is refused', async (_, changed, message) => {
    const world = new World(planOf([1]))
    await expect(world.apply({ approval: approvalOf(world.plan, changed) })).rejects.toThrow(
      message,
    )
    expect([
      world.commands,
      await world.read(`remediation/runs/${world.plan.id}/run.json`),
    ]).toEqual([[], null])
  })

  it('nodes that have changed since refuse the plan, and are named', async () => {
    const world = new World(planOf([1, 2]))
    world.node(2).sha256 = 'a'.repeat(64)
    await expect(world.apply()).rejects.toThrowErrorMatchingSnapshot()
    expect([
      world.commands,
      await world.read(`remediation/runs/${world.plan.id}/run.json`),
    ]).toEqual([[], null])
  })

  it('whose step would not be planned any more refuse it likewise, and are passed over where that is asked for', async () => {
    const world = new World(planOf([1, 2]))
    world.node(2).objection = 'it would act at once on what is there now'
    await expect(world.apply()).rejects.toThrowErrorMatchingSnapshot()
    const run = await world.apply({ ...fast, skipChanged: true })
    expect(run.steps.map(({ state }) => state)).toEqual(['verified', 'skipped', 'verified'])
    expect(world.commands.filter(command => command.includes('10-0-0-2'))).toEqual([])
  })

  it('are read as far as there is time: the run begins, and goes on with each read just before it', async () => {
    const world = new World(planOf([1, 400]))
    world.node(300).sha256 = 'a'.repeat(64)
    const stop = new AbortController()
    const asked: number[] = []
    const present: SessionOptions['effects']['present'] = async steps => {
      asked.push(steps.length)
      stop.abort(new Error('time is over'))
      return steps.map(one => ({
        ...one,
        sha256: world.nodes.get(stepKey(one))?.sha256 ?? null,
        objection: null,
      }))
    }
    const paused = await world.apply({ ...fast, stop: stop.signal, effects: { present } })
    expect([paused.state, paused.why, world.commands, asked]).toEqual([
      'paused',
      'time is over',
      [],
      [200],
    ])
    asked.length = 0
    const run = await world.apply({
      policy: { pauseMs: 0, maxConcurrency: 50 },
      resume: true,
      effects: { present },
    })
    expect([
      run.state,
      run.steps.filter(({ state }) => state === 'verified').length,
      Math.max(...asked),
    ]).toEqual(['done', 400, 50])
    expect(run.steps[299]).toMatchObject({
      state: 'skipped',
      why: expect.stringMatching(/^changed since the plan was made: .* SHA-256 is a{64}/),
    })
  })

  it('or are passed over where that is asked for', async () => {
    const world = new World(planOf([1, 2]))
    world.node(1).sha256 = 'a'.repeat(64)
    const run = await world.apply({ ...fast, skipChanged: true })
    expect(statesOf(run)).toEqual(['skipped', 'verified', 'verified'])
    expect(run.steps[0]?.why).toMatchSnapshot()
    // Nothing of the cohort was proven by the first wave, so its next node goes alone.
    expect(world.commands).toEqual([
      'apply ip-10-0-0-2.ec2.internal',
      'apply ip-10-0-0-3.ec2.internal',
    ])
  })

  it('what stands in the way pauses the run, and it goes on when that is gone', async () => {
    const world = new World(planOf([1, 2]))
    world.reasons = ['EKS is changing the cluster: it is UPDATING']
    const paused = await world.apply(fast)
    expect([paused.state, paused.why, world.commands]).toMatchSnapshot()
    await expect(world.apply(fast)).rejects.toThrowErrorMatchingSnapshot()
    world.reasons = []
    expect(statesOf(await world.apply({ ...fast, resume: true }))).toEqual([
      'verified',
      'verified',
      'verified',
    ])
  })

  it('tells who approved that it goes on, beside who approved it first', async () => {
    const world = new World(planOf([1, 2]))
    world.reasons = ['EKS is changing the cluster: it is UPDATING']
    expect((await world.apply(fast)).resumedBy).toBeUndefined()
    const grace = approvalOf(world.plan, { by: 'Grace Hopper' })
    for (let round = 0; round < 2; round++)
      await world.apply({ ...fast, resume: true, approval: grace })
    world.reasons = []
    const run = await world.apply({ ...fast, resume: true })
    expect(run).toMatchObject({
      state: 'done',
      approvedBy: 'Ada Lovelace (arn:aws:iam::111122223333:user/ada)',
      resumedBy: ['Grace Hopper (arn:aws:iam::111122223333:user/ada)'],
    })
    expect(await world.read(`remediation/runs/${world.plan.id}/run.json`)).toMatchObject({
      head: { resumedBy: ['Grace Hopper (arn:aws:iam::111122223333:user/ada)'] },
    })
    const text = remediationText(run, world.plan, 'x', { hasColour: false, columns: 120 })
    expect(text.replace(/\s+/g, ' ')).toMatchSnapshot()
  })

  it('what speaks against one node passes it over', async () => {
    const world = new World(planOf([1, 2]))
    world.nodeReasons.set(stepKey(world.node(3).step), 'the node is NotReady')
    const run = await world.apply(fast)
    expect([run.state, statesOf(run), run.steps[2]?.why]).toEqual([
      'done',
      ['verified', 'verified', 'skipped'],
      'the node is NotReady',
    ])
    expect(world.node(3).swaps).toBe(0)
  })
})

describe('a node that fails', () => {
  it.each([
    ['puts back', 'restored', /does not stay/],
    ['refuses', 'failed', /nothing was changed: the node refuses/],
    ['wrong', 'rolled-back', /imageGCHighThresholdPercent is 85/],
    ['down', 'rolled-back', /was not well within 600 s: what its kubelet runs with was not read/],
    ['silent', 'broken', /could not be taken back/],
    ['breaks', 'broken', /is not well/],
  ] as const)('it %s: the run stops, and its wave is taken back', async (nature, state, why) => {
    const world = new World(planOf([1, 3, 2]), { 3: nature })
    const run = await world.apply(fast)
    expect([run.state, statesOf(run)]).toEqual([
      'stopped',
      ['verified', 'rolled-back', state, 'rolled-back', 'skipped', 'skipped'],
    ])
    expect(run.steps[2]?.why).toMatch(why)
    expect(run.why).toMatchSnapshot()
    expect([2, 4].map(number => world.node(number).sha256)).toEqual([oldSha256, oldSha256])
    expect([world.node(5).swaps, world.node(6).swaps]).toEqual([0, 0])
  })

  it('whose old file is not known to it any more is never said to be taken back', async () => {
    const world = new World(planOf([2, 2]))
    await world.apply(fast)
    const lost = world.node(2)
    lost.phase = ''
    const run = await world.rollBack()
    expect(statesOf(run)).toEqual(['rolled-back', 'broken', 'rolled-back', 'rolled-back'])
    expect(run.steps[1]?.why).toMatchSnapshot()
    expect(lost.sha256).toBe(newSha256)
  })

  it('is said no more of each time that a run is resumed', async () => {
    const world = new World(planOf([1, 1, 1]), { 2: 'breaks' })
    const before: SessionOptions['effects']['before'] = async steps => ({
      reasons: steps.some(({ node }) => node.includes('-0-3')) ? ['a node is NotReady'] : [],
      ...{ unasked: [], nodes: new Map(), readyPods: new Map(), later: new Set() },
    })
    const options = { ...fast, policy: { ...fast.policy, maxErrors: 5 }, effects: { before } }
    const first = await world.apply(options)
    expect([first.state, ...statesOf(first)]).toEqual(['paused', 'verified', 'broken', 'pending'])
    const again = await world.apply({ ...options, resume: true })
    expect(again.steps[1]?.commandIds.length).toBeGreaterThan(
      first.steps[1]?.commandIds.length ?? 0,
    )
    expect(again.steps[1]?.why).toBe(first.steps[1]?.why)
  })

  it('is still named as not taken back where a resumed run stops for it', async () => {
    const world = new World(planOf([1, 1, 1]), { 2: 'breaks' })
    const before: SessionOptions['effects']['before'] = async steps => ({
      reasons: steps.some(({ node }) => node.includes('-0-3')) ? ['a node is NotReady'] : [],
      ...{ unasked: [], nodes: new Map(), readyPods: new Map(), later: new Set() },
    })
    const options = { ...fast, policy: { ...fast.policy, maxErrors: 5 }, effects: { before } }
    await world.apply(options)
    const again = await world.apply({
      ...options,
      policy: { ...options.policy, maxErrors: 0 },
      resume: true,
    })
    expect(again.state).toBe('stopped')
    expect(again.why).toMatch(/could not be taken back/)
  })

  it('nor one that says it is back, with the new file on it', async () => {
    const world = new World(planOf([2, 2]))
    await world.apply(fast)
    world.node(2).phase = 'rolled-back'
    const { steps } = await world.rollBack()
    expect(steps[1]).toMatchObject({
      state: 'broken',
      why: expect.stringContaining('node says unchanged, but'),
    })
  })

  it('to which another one has written just that since is passed over, neither verified nor failed', async () => {
    const world = new World(planOf([1, 3]))
    const other = world.node(3)
    const before: SessionOptions['effects']['before'] = async () => {
      if (other.phase === '') other.sha256 = newSha256
      return { reasons: [], unasked: [], nodes: new Map(), readyPods: new Map(), later: new Set() }
    }
    const run = await world.apply({ ...fast, effects: { before } })
    expect([run.state, ...statesOf(run)]).toEqual([
      'done',
      'verified',
      'verified',
      'skipped',
      'verified',
    ])
    expect(run.steps[2]?.why).toMatchSnapshot()
    expect(other.swaps).toBe(0)
    await world.rollBack()
    expect([other.swaps, other.sha256]).toEqual([0, newSha256])
  })

  it('alone is taken back where some may fail', async () => {
    const world = new World(planOf([1, 3]), { 3: 'wrong' })
    const run = await world.apply({ policy: { pauseMs: 0, maxErrors: 1 } })
    expect([run.state, statesOf(run)]).toEqual([
      'done',
      ['verified', 'verified', 'rolled-back', 'verified'],
    ])
    expect(world.node(3).sha256).toBe(oldSha256)
  })

  it('that SSM does not know was not sent anything, and is no failure', async () => {
    const world = new World(planOf([1, 2]), { 1: 'away' })
    const run = await world.apply(fast)
    expect([run.state, statesOf(run)]).toEqual(['done', ['skipped', 'verified', 'verified']])
    expect(run.steps[0]?.why).toMatchSnapshot()
  })

  it('whose answer is lost is asked again, and does nothing twice', async () => {
    const world = new World(planOf([1]))
    world.node(1).lose = 2
    const run = await world.apply()
    expect([statesOf(run), world.node(1).swaps, world.commands.length]).toEqual([
      ['verified'],
      1,
      3,
    ])
    expect(run.steps[0]?.commandIds).toEqual(['command-1', 'command-2', 'command-3'])
  })

  it('whose instance was replaced half-way has not failed, and leaves nothing behind', async () => {
    const world = new World(planOf([1, 2]), { 2: 'replaced' })
    const run = await world.apply(fast)
    expect([run.state, statesOf(run)]).toEqual(['done', ['verified', 'skipped', 'verified']])
    expect(run.steps[1]?.why).toMatchSnapshot()
  })

  it('whose instance goes while it is waited for has not failed, either', async () => {
    const world = new World(planOf([1]))
    const verify = async () => {
      world.nodes.clear()
      return new Map([
        [
          'prod/ip-10-0-0-1.ec2.internal',
          { state: 'wrong' as const, why: 'the node is another instance' },
        ],
      ])
    }
    expect(statesOf(await world.apply({ effects: { verify } }))).toEqual(['skipped'])
  })

  it('that is not seen to be well in time is taken back', async () => {
    const world = new World(planOf([1]))
    const verify = () => Promise.reject(new Error('the API server does not answer'))
    const run = await world.apply({ effects: { verify } })
    expect([run.state, statesOf(run), world.node(1).sha256]).toEqual([
      'stopped',
      ['rolled-back'],
      oldSha256,
    ])
    expect(run.steps[0]?.why).toMatchSnapshot()
  })
})

describe('an account that can be sent nothing', () => {
  const fault =
    'the account has no SSM document Highwater-ApplyKubeletConfig in eu-west-1: deploy the stack there'

  it('pauses the run with its nodes still to come, and it goes on when that is mended', async () => {
    const world = new World(planOf([1, 2]))
    world.fault = fault
    const paused = await world.apply(fast)
    expect([paused.state, paused.why, statesOf(paused)]).toEqual([
      'paused',
      `nothing can be sent: ${fault}`,
      ['pending', 'pending', 'pending'],
    ])
    world.fault = null
    const done = await world.apply({ ...fast, resume: true })
    expect([done.state, statesOf(done)]).toEqual(['done', ['verified', 'verified', 'verified']])
    expect(done.steps[0]?.readyPods).toEqual(['shop/web'])
  })

  it('condemns no node that was sent something before', async () => {
    const world = new World(planOf([1]))
    world.node(1).lose = 1
    const onEntry = () => {
      if (world.commands.length > 0) world.fault = fault
    }
    const paused = await world.apply({ effects: { onEntry } })
    expect([paused.state, statesOf(paused), world.node(1).swaps]).toEqual([
      'paused',
      ['sending'],
      1,
    ])
    world.fault = null
    expect(statesOf(await world.apply({ resume: true }))).toEqual(['verified'])
    expect(world.node(1).swaps).toBe(1)
  })

  it('is waited for by a rollback, too', async () => {
    const world = new World(planOf([1, 1]))
    await world.apply(fast)
    world.fault = fault
    const cut = await world.rollBack()
    expect([cut.state, cut.endedAt, cut.why, statesOf(cut)]).toEqual([
      'rolled-back',
      null,
      `as asked for, and it is not at its end: nothing can be sent: ${fault}`,
      ['verified', 'verified'],
    ])
    world.fault = null
    expect(statesOf(await world.rollBack())).toEqual(['rolled-back', 'rolled-back'])
  })
})

describe('a run that gets a signal to end', () => {
  it('sends nothing more, waits for what is under way, and can go on', async () => {
    const world = new World(planOf([1, 2, 2]))
    const stop = new AbortController()
    const before = async () => {
      if (world.commands.length === 1) stop.abort(new Error('the run was interrupted'))
      return {
        reasons: [],
        unasked: [],
        nodes: new Map(),
        later: new Set<string>(),
        readyPods: new Map(),
      }
    }
    const paused = await world.apply({ ...fast, stop: stop.signal, effects: { before } })
    expect([paused.state, paused.why, statesOf(paused)]).toEqual([
      'paused',
      'the run was interrupted',
      ['verified', 'pending', 'pending', 'pending', 'pending'],
    ])
    const done = await world.apply({ ...fast, resume: true })
    expect([done.state, [...world.nodes.values()].map(({ swaps }) => swaps)]).toEqual([
      'done',
      [1, 1, 1, 1, 1],
    ])
  })

  it('in the pause between waves ends at once', async () => {
    const world = new World(planOf([1, 1]))
    const stop = new AbortController()
    const onEntry = ({ state }: { state: string }) => {
      if (state === 'verified') setImmediate(() => stop.abort(new Error('time is over')))
    }
    const run = await world.apply({ stop: stop.signal, effects: { onEntry } })
    expect([run.state, statesOf(run)]).toEqual(['paused', ['verified', 'pending']])
    expect(world.time.elapsedMs).toBeLessThan(600_000)
  })

  it('waits for nothing where there is no time left, and the node is asked anew', async () => {
    const world = new World(planOf([1, 1]))
    const end = new AbortController()
    const verify = async () => {
      end.abort(new Error('time is over'))
      return new Map()
    }
    const paused = await world.apply({ ...fast, end: end.signal, effects: { verify } })
    expect([paused.state, statesOf(paused)]).toEqual(['paused', ['applied', 'pending']])
    expect(statesOf(await world.apply({ ...fast, resume: true }))).toEqual(['verified', 'verified'])
    expect(world.node(1).swaps).toBe(1)
  })

  it('ends with its approval', async () => {
    const world = new World(planOf([1, 1]))
    const approval = approvalOf(world.plan, { until: '2026-11-21T12:05:00Z' })
    const run = await world.apply({ approval })
    expect([run.state, run.why, statesOf(run)]).toEqual([
      'paused',
      'the approval ended at 2026-11-21T12:05:00Z',
      ['verified', 'pending'],
    ])
  })
})

describe('highwater rollback', () => {
  it('puts back all that a run has changed, from the journal alone', async () => {
    const world = new World(planOf([1, 2]))
    await world.apply(fast)
    const run = await world.rollBack()
    expect([run.state, statesOf(run)]).toEqual([
      'rolled-back',
      ['rolled-back', 'rolled-back', 'rolled-back'],
    ])
    expect([...world.nodes.values()].map(({ sha256, swaps }) => [sha256, swaps])).toEqual(
      Array(3).fill([oldSha256, 2]),
    )
    const commands = world.commands.length
    expect(statesOf(await world.rollBack())).toEqual(['rolled-back', 'rolled-back', 'rolled-back'])
    expect(statesOf(await world.apply({ resume: true }))).toEqual([
      'rolled-back',
      'rolled-back',
      'rolled-back',
    ])
    expect(world.commands).toHaveLength(commands)
  })

  it('asks no node that nothing was sent to', async () => {
    const world = new World(planOf([1, 2]), { 1: 'puts back' })
    await world.apply(fast)
    const run = await world.rollBack()
    expect([run.state, statesOf(run), world.commands]).toEqual([
      'rolled-back',
      ['restored', 'skipped', 'skipped'],
      ['apply ip-10-0-0-1.ec2.internal'],
    ])
  })

  it('says that there is no such run', async () => {
    await expect(new World(planOf([1])).rollBack()).rejects.toThrow(
      /s3:\/\/bucket has no run [a-f0-9]{16}/,
    )
  })
})

describe('a node that was taken back', () => {
  it('is read anew until it is seen to run as before', async () => {
    const world = new World(planOf([1, 1]))
    await world.apply(fast)
    let looks = 0
    const verifyBack: SessionOptions['effects']['verifyBack'] = async steps =>
      new Map(
        steps.map(step => [
          stepKey(step),
          ++looks < 3 ? { state: 'not-yet', why: 'not Ready' } : { state: 'verified' },
        ]),
      )
    const run = await world.rollBack({ ...fast, effects: { verifyBack } })
    expect(run.steps.map(({ state, seenBack, why }) => [state, seenBack, why])).toEqual(
      Array(2).fill(['rolled-back', true, 'as asked for']),
    )
    expect(looks).toBeGreaterThanOrEqual(4)
  })

  it('stays taken back where that is not seen in time, says so, and is looked at again', async () => {
    const world = new World(planOf([1]), { 1: 'stays' })
    await world.apply(fast)
    const { steps } = await world.rollBack(fast)
    expect(steps[0]).toMatchObject({
      state: 'rolled-back',
      seenBack: false,
      why: expect.stringMatching(
        /^as asked for\. The node says that it is back, and it was not seen: it was not well within 600 s: image/,
      ),
    })
    world.node(1).nature = 'well'
    const commands = world.commands.length
    expect((await world.rollBack(fast)).steps[0]).toMatchObject({
      state: 'rolled-back',
      seenBack: true,
      why: 'as asked for',
    })
    expect(world.commands).toHaveLength(commands)
  })

  it('whose instance is gone by then is passed over', async () => {
    const world = new World(planOf([1]))
    await world.apply(fast)
    const verifyBack = async () => {
      world.nodes.clear()
      return new Map()
    }
    expect((await world.rollBack({ ...fast, effects: { verifyBack } })).steps[0]).toMatchObject({
      state: 'skipped',
    })
  })
})
