import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { NodeRecord } from '#model/input/record.ts'
import type { Plan, PlanStep, VerificationReport } from '#model/plan.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { type FleetNode, fleetNode, snapshotOf } from '#test/plan-fleet.ts'

const wanted = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
const changes = Object.entries(wanted).flatMap(([field, value]) => ['--set', `${field}=${value}`])

/** A plan for these nodes, in a folder with an empty policy. */
async function planned(nodes: FleetNode[]) {
  const folder = temporaryFolder()
  const [plan, policy] = ['plan.json', 'highwater.yaml'].map(name => join(folder, name)) as [
    string,
    string,
  ]
  writeFileSync(policy, '{}')
  const made = await inProcess([
    'plan',
    '--snapshot',
    snapshotOf(nodes.map(fleetNode)),
    '--policy',
    policy,
    '--out',
    plan,
    ...changes,
  ])
  if (made.code !== 0) throw new Error(made.stderr)
  const read = (): Plan => JSON.parse(readFileSync(plan, 'utf8'))
  const verify = (records: NodeRecord[], ...args: string[]) =>
    inProcess(['verify', plan, '--policy', policy, '--snapshot', snapshotOf(records), ...args])
  const report = async (records: NodeRecord[], ...args: string[]): Promise<VerificationReport> =>
    JSON.parse((await verify(records, '--format', 'json', ...args)).stdout)
  return { plan, policy, steps: read().steps, digest: read().digest, verify, report }
}

/** The node an hour after the plan, with the step's file on its disk. */
function changed(
  { node, content }: PlanStep,
  { configz = wanted, startedAt = '2026-11-21T00:30:00Z', ...record }: ChangedNode = {},
): NodeRecord {
  const fleetRecord = fleetNode({
    name: node,
    family: 'AL2',
    file: JSON.parse(content),
    text: content,
    configz,
  })
  return {
    ...fleetRecord,
    at: '2026-11-21T01:00:00Z',
    host: {
      ...fleetRecord.host,
      kubelet: { ...(fleetRecord.host?.kubelet as RawObject), startedAt },
    },
    ...record,
  }
}

type ChangedNode = Partial<Omit<NodeRecord, 'configz'>> & {
  configz?: RawObject
  startedAt?: string
}

const twoNodes: FleetNode[] = ['a', 'b'].map(name => ({ name, family: 'AL2' }))
const stepsOf = (steps: PlanStep[]) => {
  const [first, second] = steps
  if (first === undefined || second === undefined) throw new Error('two nodes were not planned')
  return [first, second] as const
}

describe('highwater verify', () => {
  it('says that a plan has arrived, and ends with 0', async () => {
    const { steps, verify } = await planned(twoNodes)
    const { code, stdout, stderr } = await verify(steps.map(step => changed(step)))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^Plan [0-9a-f]{16}: 2 nodes, 2 verified, 0 not yet, 0 wrong\nEach runs with what the plan says/,
    )
  })

  it('says of each node why not yet, and ends with 3', async () => {
    const { steps, verify } = await planned(twoNodes)
    const [first] = stepsOf(steps)
    const { code, stdout } = await verify([
      changed(first),
      { ...fleetNode({ name: 'b', family: 'AL2' }), at: '2026-11-21T01:00:00Z' },
    ])
    expect(code).toBe(3)
    expect(stdout).toContain('verified, 1 not yet, 0 wrong')
    expect(stdout.replace(/\s+/g, ' ')).toMatch(/imageGCHighThresholdPercent is 85, planned was 70/)
  })

  it('says what went wrong first, and ends with 1', async () => {
    const { steps, verify, report, digest } = await planned(twoNodes)
    const [first, second] = stepsOf(steps)
    const records = [
      changed(first, { configz: { ...wanted, imageGCLowThresholdPercent: 80 } }),
      changed(second, { pods: null }),
    ]
    const { code, stdout } = await verify(records)
    expect(code).toBe(1)
    expect(stdout.indexOf('Wrong')).toBeGreaterThan(0)
    expect(stdout.indexOf('Not yet')).toBeGreaterThan(stdout.indexOf('Wrong'))
    expect(await report(records)).toEqual({
      schema: 'highwater.verification/1',
      plan: digest,
      counts: { verified: 0, notYet: 1, wrong: 1 },
      nodes: [
        {
          cluster: 'prod',
          node: 'a',
          state: 'wrong',
          why: expect.stringContaining('something takes its place'),
        },
        { cluster: 'prod', node: 'b', state: 'not-yet', why: 'its pods were not read' },
      ],
    })
  })

  it('goes by files if the plan was made from files', async () => {
    const unasked = { mode: 'ssm' as const, configz: null }
    const { steps, report } = await planned(twoNodes.map(node => ({ ...node, record: unasked })))
    const [first, second] = stepsOf(steps)
    const found = await report([
      { ...changed(first), ...unasked },
      { ...changed(second, { startedAt: '2026-11-01T00:00:00Z' }), ...unasked },
    ])
    expect(found.nodes).toMatchObject([
      { state: 'verified' },
      { state: 'not-yet', why: expect.stringContaining('has not started anew') },
    ])
  })

  it('does not go by files if the plan was made from configz', async () => {
    const { steps, verify } = await planned(twoNodes)
    const { code, stdout } = await verify(
      steps.map(step => ({ ...changed(step), mode: 'ssm', configz: null })),
    )
    expect(code).toBe(3)
    expect(stdout).toContain('verified, 2 not yet, 0 wrong')
    expect(stdout.replace(/\s+/g, ' ')).toContain('whether other settings changed')
  })

  it('does not take a node for changed that was read before the plan was made, or not at all', async () => {
    const { steps, report } = await planned(twoNodes)
    const [first] = stepsOf(steps)
    const { nodes } = await report([changed(first, { at: '2026-11-21T00:00:00Z' })])
    expect(nodes).toMatchObject([
      { state: 'not-yet', why: expect.stringContaining('before the plan was made') },
      { state: 'not-yet', why: 'the node was not found: it may be gone' },
    ])
  })

  it('replays the node’s current state: reports a full disk', async () => {
    const { steps, report } = await planned(twoNodes)
    const [first, second] = stepsOf(steps)
    const full = fleetNode({ name: 'b', available: 5 }).summary
    expect(
      (await report([changed(first), changed(second, { summary: full })])).nodes[1],
    ).toMatchObject({ state: 'wrong', why: expect.stringMatching(/plan did not promise/) })
    expect(
      (await report([changed(first), changed(second, { summary: null })])).nodes[1],
    ).toMatchObject({ state: 'not-yet', why: expect.stringContaining('now cannot be replayed') })
  })

  it('takes some of the nodes, by name, cluster or nodegroup', async () => {
    const { steps, report, verify } = await planned([
      ...twoNodes,
      { name: 'c', family: 'AL2', nodegroup: 'others' },
    ])
    const records = steps.map(step => changed(step))
    const names = async (...args: string[]) =>
      (await report(records, ...args)).nodes.map(({ node }) => node)
    expect(await names('--node', 'b')).toEqual(['b'])
    expect(await names('--nodegroup', 'work*')).toEqual(['a', 'b'])
    expect(await names('--cluster', 'prod')).toEqual(['a', 'b', 'c'])
    const none = await verify(records, '--node', 'nobody')
    expect(none).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('changes none of the nodes that were chosen'),
    })
  })

  it('names broken lines of a snapshot, and reads the rest', async () => {
    const { plan, policy, steps } = await planned(twoNodes)
    const snapshot = snapshotOf(steps.map(step => changed(step)))
    writeFileSync(snapshot, `${readFileSync(snapshot, 'utf8')}\n{"kind":`)
    const { code, stdout, stderr } = await inProcess([
      'verify',
      plan,
      '--policy',
      policy,
      '--snapshot',
      snapshot,
    ])
    expect(code).toBe(3)
    expect(stdout).toContain('2 verified')
    expect(stderr).toMatch(/: line 5: /)
  })

  it('refuses a plan that was changed, none at all, and one that changes nothing', async () => {
    const { plan, steps, verify } = await planned(twoNodes)
    const records = steps.map(step => changed(step))
    writeFileSync(plan, readFileSync(plan, 'utf8').replace('"unchanged": 0', '"unchanged": 1'))
    expect(await verify(records)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('was changed after it was made'),
    })
    expect(await inProcess(['verify', join(temporaryFolder(), 'none.json')])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/cannot be read/),
    })
    const empty = await planned([{ name: 'a', family: 'AL2', file: wanted, configz: wanted }])
    expect(await empty.verify([])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is nothing to verify'),
    })
  })

  it('cannot be moved by what a node says', async () => {
    const { steps, verify } = await planned(twoNodes)
    const [first, second] = stepsOf(steps)
    const conditions = [{ type: 'Ready', status: 'False', reason: '\u001b[2J\nPlan verified' }]
    const changedRecord = changed(second)
    const { stdout } = await verify([
      changed(first),
      {
        ...changedRecord,
        node: { ...changedRecord.node, status: { ...changedRecord.node.status, conditions } },
      },
    ])
    expect(stdout).toContain('not Ready')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).not.toContain('\nPlan verified')
  })
})
