/** The function `remediate` against the lab: its plans lie in the bucket, by digest, and nothing else happens. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parseRemediationEvent } from '#handlers/remediate-event.ts'
import { probe } from '#lab/scenarios/probe.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { parsePlan } from '#pipeline/plan.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invokeRemediate } from '#test/lambda.ts'
import { type FleetNode, fleetNode, snapshotOf } from '#test/plan-fleet.ts'

const gc = ['imageGCHighThresholdPercent=65', 'imageGCLowThresholdPercent=50']
const tick = '2026-11-20T05-00-00Z'

async function world({
  scenario = recorded,
  policy = '',
  nodes = [] as FleetNode[],
}: {
  scenario?: Scenario
  policy?: string
  nodes?: FleetNode[]
} = {}) {
  const storeFolder = temporaryFolder()
  const lab = await labOf([scenario], { storeFolder })
  const bucket = join(storeFolder, 'highwater-lab')
  mkdirSync(bucket, { recursive: true })
  if (policy !== '') writeFileSync(join(bucket, 'highwater.yaml'), policy)
  const keepSnapshot = (run: string, of: FleetNode[]) => {
    mkdirSync(join(bucket, 'runs', run), { recursive: true })
    writeFileSync(join(bucket, 'runs', run, 'snapshot.ndjson.gz'), gzipSync(readFileSync(snapshotOf(of.map(fleetNode)))))
  }
  if (nodes.length > 0) keepSnapshot(tick, nodes)
  const kept = (kind: string) => (existsSync(join(bucket, 'remediation', kind)) ? readdirSync(join(bucket, 'remediation', kind)) : [])
  const read = (kind: string, digest: string) => readFileSync(join(bucket, 'remediation', kind, `${digest}.json`), 'utf8')
  return { lab, bucket, keepSnapshot, kept, read }
}

describe('asked for a plan', () => {
  it('reads the fleet anew, keeps the plan by its digest, and says how it is approved', async () => {
    const { kept, read } = await world({ scenario: probe, policy: 'modes: [{ mode: ssm }]\npace: { ssmRequestsPerSecond: 100 }\n' })
    const answer = await invokeRemediate({ action: 'plan', set: gc })
    expect(answer).toMatchObject({ action: 'plan', approvedBy: null, inputErrors: [] })
    expect(answer.location).toBe(`s3://highwater-lab/remediation/plans/${answer.digest}.json`)
    expect(answer.next).toContain(`--digest ${answer.digest}`)
    expect(answer.next).toContain('--store s3://highwater-lab')
    const plan = parsePlan(read('plans', answer.digest), 'x')
    expect(plan.steps.length).toBeGreaterThan(3)
    const { steps, waves, never, refused, cohorts, unchanged } = plan
    expect(answer.counts).toMatchObject({
      ...{ nodes: steps.length, waves: waves.length, never: never.length, refused: refused.length, cohorts: cohorts.length, unchanged },
    })
    expect([kept('plans'), kept('approvals'), kept('runs')]).toEqual([[`${answer.digest}.json`], [], []])
  })

  it('of the last scheduled audit makes the same plan each time, whatever else lies there', async () => {
    const { kept, keepSnapshot, read } = await world({ nodes: [{ name: 'a' }, { name: 'b' }] })
    keepSnapshot('2026-11-19T05-00-00Z', [{ name: 'old' }])
    keepSnapshot('2026-11-20T06-00-00Z-by-hand', [{ name: 'part' }])
    const event = { action: 'plan', source: 'latest', set: gc, nodes: ['a'] }
    const answers = [await invokeRemediate(event), await invokeRemediate(event)]
    expect(answers[0]).toEqual(answers[1])
    expect(kept('plans')).toHaveLength(1)
    expect(parsePlan(read('plans', answers[0]?.digest ?? ''), 'x').steps.map(({ node }) => node)).toEqual(['a'])
  })

  it('without such an audit says so', async () => {
    const { kept } = await world()
    await expect(invokeRemediate({ action: 'plan', source: 'latest' })).rejects.toThrow(
      /no snapshot of a scheduled audit in s3:\/\/highwater-lab\/runs\//,
    )
    expect(kept('plans')).toEqual([])
  })

  const auto = (limit: number) =>
    `remediation: { auto: { fields: [imageGCHighThresholdPercent, imageGCLowThresholdPercent], clusters: [prod], nodesPerDay: ${limit} } }\n`

  it('approves what the policy names, for a day, and once', async () => {
    const { read, kept } = await world({ nodes: [{ name: 'a' }, { name: 'b' }], policy: auto(2) })
    const event = { action: 'plan', source: 'latest', set: gc }
    const answer = await invokeRemediate(event)
    expect(answer).toMatchObject({ approvedBy: 'policy', next: expect.stringContaining('The policy approves it until') })
    const approval = read('approvals', answer.digest)
    expect(JSON.parse(approval)).toMatchObject({ plan: answer.digest, by: 'policy', options: { allowActAtOnce: false } })
    expect(await invokeRemediate(event)).toMatchObject({ approvedBy: 'policy', next: expect.stringContaining('approved until') })
    expect(read('approvals', answer.digest)).toBe(approval)
    expect(await invokeRemediate({ ...event, nodes: ['a'] })).toMatchObject({
      approvedBy: null,
      next: expect.stringContaining('2 were approved today, and the policy allows 2 a day'),
    })
    expect(kept('plans')).toHaveLength(2)
  })

  it('leaves to a person what the policy does not name, and what changes nothing', async () => {
    const { kept } = await world({ nodes: [{ name: 'a' }], policy: auto(1) })
    const answer = await invokeRemediate({ action: 'plan', source: 'latest', set: ['containerLogMaxFiles=4'] })
    expect(answer).toMatchObject({
      approvedBy: null,
      next: expect.stringContaining('it changes containerLogMaxFiles, which is none of the fields'),
    })
    const nothing = await invokeRemediate({ action: 'plan', source: 'latest', set: ['containerLogMaxFiles=5'] })
    expect(nothing).toMatchObject({ counts: { nodes: 0, unchanged: 1 }, next: expect.stringContaining('nothing to approve') })
    expect(kept('approvals')).toEqual([])
  })

  it.each<[string, Parameters<typeof world>[0], Record<string, string>, RegExp]>([
    ['a broken policy', { policy: 'alertPercent: 800\n' }, {}, /highwater\.yaml:1:15: alertPercent/],
    ['no bucket', {}, { HIGHWATER_BUCKET: '' }, /set HIGHWATER_BUCKET/],
    ['a bucket that refuses', { scenario: { ...recorded, s3: { denied: ['s3:PutObject'] } } }, {}, /s3:PutObject/],
  ])('does nothing with %s', async (_, made, environment, message) => {
    const { kept } = await world({ nodes: [{ name: 'a' }], ...made })
    await expect(invokeRemediate({ action: 'plan', source: 'latest', set: gc }, environment)).rejects.toThrow(message)
    expect([...kept('plans'), ...kept('approvals')]).toEqual([])
  })
})

describe('an event of remediation', () => {
  it('like events/plan.json is taken', () => {
    expect(parseRemediationEvent(JSON.parse(readFileSync('events/plan.json', 'utf8')))).toEqual({
      action: 'plan',
      selection: { clusters: ['incidents'], nodegroups: [], nodes: [] },
      rules: ['eviction-before-image-gc'],
      findings: [],
      changes: [],
      allowActAtOnce: false,
      source: 'live',
    })
  })

  it.each([
    [{}, /the event|action/],
    [null, /action/],
    [{ action: 'reboot' }, /action/],
    [
      { action: 'plan', nodes: ['a/b'], findings: ['x'], cluster: 'prod' },
      /nodes\.0: a node name.*findings\.0: the id of a finding.*cluster/s,
    ],
    [{ action: 'plan', set: ['maxPods=many', 'nothing=1', 'imageGCHighThresholdPercent=70'] }, /set\.0: .*set\.1: /s],
    [{ action: 'plan', clusters: 'prod' }, /clusters/],
    ['plan', /the event/],
  ])('that is not ours is refused with all its mistakes: %j', (event, message) => {
    expect(() => parseRemediationEvent(event)).toThrow(message)
    expect(() => parseRemediationEvent(event)).toThrow(/not one of remediation's.*events\/plan\.json/s)
  })
})
