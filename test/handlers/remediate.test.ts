/** The function `remediate` against the lab: its plans lie in the bucket, by digest, and nothing else happens. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { parseRemediationEvent } from '#handlers/remediate.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { remediationNodes, remediationScenario } from '#lab/scenarios/remediation.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { auditorRights } from '#lab/world.ts'
import { everything } from '#model/input/record.ts'
import { type Approval, approvalSchema, type PlanAnswer, type ResumedAnswer } from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { parsePlan, planText, sealedApproval } from '#remediate/plan/file.ts'
import { Journal } from '#remediate/run/journal.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invoke, invokeRemediate } from '#test/lambda.ts'
import { type FleetNode, fleetNode, mainFile, snapshotOf } from '#test/plan-fleet.ts'
import { ada, labBucket } from '#test/seals.ts'
import { isSlow } from '#test/slow.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 60_000 })

const planned = async (event: object): Promise<PlanAnswer> =>
  (await invokeRemediate(event)) as PlanAnswer
const gc = ['imageGCHighThresholdPercent=65', 'imageGCLowThresholdPercent=50']
const auto = (limit: number) =>
  `remediation: { auto: { fields: [imageGCHighThresholdPercent, imageGCLowThresholdPercent], clusters: [prod], nodesPerDay: ${limit} } }\n`
const tick = '2026-11-20T05-00-00Z'
const tickTime = '2026-11-20T05:00:00Z'
/** As the lab's only principal signs. */
const byAda = 'Ada Lovelace (arn:aws:iam::111122223333:user/highwater)'
const byPolicy = `policy (${byAda})`

async function world({
  scenario = recorded,
  policy = '{}\n',
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
  writeFileSync(join(bucket, 'highwater.yaml'), policy)
  const outside = labBucket(bucket)
  await outside.approvePolicy()
  const keepSnapshot = (run: string, of: FleetNode[]) => {
    mkdirSync(join(bucket, 'runs', run), { recursive: true })
    writeFileSync(
      join(bucket, 'runs', run, 'snapshot.ndjson.gz'),
      gzipSync(readFileSync(snapshotOf(of.map(fleetNode)))),
    )
  }
  if (nodes.length > 0) keepSnapshot(tick, nodes)
  const kept = (kind: string) =>
    existsSync(join(bucket, 'remediation', kind))
      ? readdirSync(join(bucket, 'remediation', kind)).filter(name => !name.startsWith('policy-'))
      : []
  const read = (kind: string, digest: string) =>
    readFileSync(join(bucket, 'remediation', kind, `${digest}.json`), 'utf8')
  /** Keys that the mail of the next audit names. */
  const refused = (): string[] => {
    const file = join(bucket, 'remediation', 'notices.json')
    if (!existsSync(file)) return []
    return JSON.parse(readFileSync(file, 'utf8')).refused.map(({ key }: { key: string }) => key)
  }
  return { lab, bucket, outside, keepSnapshot, kept, read, refused }
}

describe('asked for a plan', () => {
  it('reads the fleet anew, keeps the plan by its digest, and says how it is approved', async () => {
    const { kept, read } = await world({
      scenario: remediationScenario({ nodes: 3 }),
      policy:
        'modes: [{ mode: ssm }]\npace: { ssmRequestsPerSecond: 100 }\ntimeoutsMs: { inspect: 30000 }\n',
    })
    const answer = await planned({ action: 'plan', set: gc })
    expect(answer).toMatchObject({ action: 'plan', approvedBy: null, inputErrors: [] })
    expect(answer.location).toBe(`s3://highwater-lab/remediation/plans/${answer.digest}.json`)
    expect(answer.next).toContain(`--digest ${answer.digest}`)
    expect(answer.next).toContain('--store s3://highwater-lab')
    const plan = parsePlan(read('plans', answer.digest), 'x')
    expect(plan.steps).toHaveLength(3)
    const { steps, waves, never, refused, cohorts, unchanged } = plan
    expect(answer.counts).toMatchObject({
      ...{
        nodes: steps.length,
        waves: waves.length,
        never: never.length,
        refused: refused.length,
        cohorts: cohorts.length,
        unchanged,
      },
    })
    expect([kept('plans'), kept('approvals'), kept('runs')]).toEqual([
      [`${answer.digest}.json`],
      [],
      [],
    ])
  })

  it('enters another account by the role that may change nodes there, where the policy names one', async () => {
    const reader = 'arn:aws:iam::444455556666:role/highwater'
    const changer = `${reader}-remediate`
    const clusters = recorded.clusters.map(cluster => ({
      ...cluster,
      account: '444455556666',
      access: { [changer]: auditorRights },
    }))
    const scenario = { ...recorded, clusters, roles: [{ arn: changer, externalId: 'agreed-4711' }] }
    const entering = (more: string) =>
      world({
        scenario,
        policy: `accounts: [{ roleArn: '${reader}', externalId: agreed-4711${more} }]\n`,
      })
    const { kept } = await entering(`, remediateRoleArn: '${changer}'`)
    expect((await planned({ action: 'plan', set: gc })).counts.unread).toBe(2)
    expect(kept('plans')).toHaveLength(1)
    await entering('')
    await expect(planned({ action: 'plan', set: gc })).rejects.toThrow(`on resource: ${reader})`)
  })

  it('of the last scheduled audit makes the same plan each time, whatever else lies there', async () => {
    const { kept, keepSnapshot, read } = await world({ nodes: [{ name: 'a' }, { name: 'b' }] })
    keepSnapshot('2026-11-19T05-00-00Z', [{ name: 'old' }])
    keepSnapshot('2026-11-20T06-00-00Z-by-hand', [{ name: 'part' }])
    const event = { action: 'plan', source: 'latest', set: gc, nodes: ['a'] }
    const answers = [await planned(event), await planned(event)]
    expect(answers[0]).toEqual(answers[1])
    expect(kept('plans')).toHaveLength(1)
    expect(
      parsePlan(read('plans', answers[0]?.digest ?? ''), 'x').steps.map(({ node }) => node),
    ).toEqual(['a'])
  })

  it('without such an audit says so', async () => {
    const { kept } = await world()
    await expect(
      invokeRemediate({ action: 'plan', source: 'latest' }),
    ).rejects.toThrowErrorMatchingSnapshot()
    expect(kept('plans')).toEqual([])
  })

  it('approves what the policy names, for a day, of the fleet as it is now only', async () => {
    const { read, kept } = await world({
      scenario: remediationScenario({ nodes: 1 }),
      nodes: [{ name: 'a' }],
      policy: `modes: [{ mode: both }]\n${auto(2)}`.replace('[prod]', '[prod, shop, media]'),
    })
    const stored = await planned({ action: 'plan', source: 'latest', set: gc })
    expect(stored).toMatchObject({
      approvedBy: null,
      next: expect.stringContaining('it approves only a plan of the fleet as it is now'),
    })
    expect(kept('approvals')).toEqual([])
    const answer = await planned({ action: 'plan', set: gc })
    expect(answer).toMatchObject({
      approvedBy: byPolicy,
      next: expect.stringContaining('policy approves it until'),
    })
    expect(JSON.parse(read('approvals', answer.digest))).toMatchObject({
      plan: answer.digest,
      by: 'policy',
      options: { allowActAtOnce: false },
    })
  })

  it('leaves to a person what the policy does not name, and what changes nothing', async () => {
    const { kept } = await world({
      scenario: remediationScenario({ nodes: 1 }),
      policy: `modes: [{ mode: both }]\n${auto(1)}`.replace('[prod]', '[shop]'),
    })
    const answer = await planned({ action: 'plan', set: ['containerLogMaxFiles=4'] })
    expect(answer).toMatchObject({
      approvedBy: null,
      next: expect.stringContaining('it changes containerLogMaxFiles, which is none of the fields'),
    })
    const nothing = await planned({ action: 'plan', set: ['containerLogMaxFiles=5'] })
    expect(nothing).toMatchObject({
      counts: { nodes: 0, unchanged: 1 },
      next: expect.stringContaining('nothing to approve'),
    })
    expect(kept('approvals')).toEqual([])
  })

  it.each<[string, Parameters<typeof world>[0], Record<string, string>, RegExp]>([
    [
      'a broken policy',
      { policy: 'alertPercent: 800\n' },
      {},
      /highwater\.yaml:1:15: alertPercent/,
    ],
    ['no bucket', {}, { HIGHWATER_BUCKET: '' }, /set HIGHWATER_BUCKET/],
    [
      'a bucket that refuses',
      { scenario: { ...recorded, s3: { denied: ['s3:PutObject'] } } },
      {},
      /s3:PutObject/,
    ],
  ])('does nothing with %s', async (_, made, environment, message) => {
    const { kept } = await world({ nodes: [{ name: 'a' }], ...made })
    await expect(
      invokeRemediate({ action: 'plan', source: 'latest', set: gc }, environment),
    ).rejects.toThrow(message)
    expect([...kept('plans'), ...kept('approvals')]).toEqual([])
  })
})

/** A cluster of the plans' name, and none of their nodes. */
const prod: Scenario = {
  ...recorded,
  clusters: recorded.clusters.map(cluster => ({ ...cluster, name: 'prod' })),
}
const event = { action: 'plan', source: 'latest', set: gc }

describe('asked to apply a plan', () => {
  it('that is not there, or has no approval, sends nothing', async () => {
    const { kept, outside } = await world({ scenario: prod, nodes: [{ name: 'a' }] })
    await expect(invokeRemediate({ action: 'apply', plan: 'f'.repeat(64) })).rejects.toThrow(
      /There is no plan f{16}/,
    )
    const { digest } = await planned(event)
    const apply = { action: 'apply', plan: digest }
    await expect(invokeRemediate(apply)).rejects.toThrow(/Plan [a-f0-9]{16} is not approved/)
    await outside.approve(digest, { until: '2020-01-01T00:00:00Z' })
    await expect(invokeRemediate(apply)).rejects.toThrow(/expired at 2020/)
    expect(kept('runs')).toEqual([])
  })

  it('whose approval was forged sends nothing, and names it', async () => {
    const { kept, bucket, outside, refused } = await world({
      scenario: prod,
      nodes: [{ name: 'a' }],
    })
    const { digest } = await planned(event)
    await outside.approve(digest)
    const file = join(bucket, 'remediation', 'approvals', `${digest}.json`)
    const text = readFileSync(file, 'utf8')
    for (const forged of [text.replace('Ada', 'Eve'), text.replace(/,"seal":"[^"]*"/, '')]) {
      writeFileSync(file, forged)
      await expect(invokeRemediate({ action: 'apply', plan: digest })).rejects.toThrow(
        'has no valid seal',
      )
    }
    expect(refused()).toEqual([`remediation/approvals/${digest}.json`])
    expect(kept('runs')).toEqual([])
  })

  it('by a policy that no approver has approved sends nothing', async () => {
    const { kept, bucket, outside, refused } = await world({
      scenario: prod,
      nodes: [{ name: 'a' }],
    })
    const { digest } = await planned(event)
    await outside.approve(digest)
    const isRefused = () =>
      expect(
        invokeRemediate({ action: 'apply', plan: digest }),
      ).rejects.toThrowErrorMatchingSnapshot()
    writeFileSync(join(bucket, 'highwater.yaml'), 'remediation: { maxErrors: 100 }\n')
    await isRefused()
    expect(refused()).toEqual(['highwater.yaml'])
    rmSync(join(bucket, 'highwater.yaml'))
    await isRefused()
    expect(kept('runs')).toEqual([])
  })

  it('whose nodes are no longer those refuses it', async () => {
    const { kept, outside } = await world({ scenario: prod, nodes: [{ name: 'a' }, { name: 'b' }] })
    const { digest } = await planned(event)
    await outside.approve(digest)
    await expect(
      invokeRemediate({ action: 'apply', plan: digest }),
    ).rejects.toThrowErrorMatchingSnapshot()
    expect(kept('runs')).toEqual([])
  })

  it('goes on with the one run of that plan however often it is asked, to its end and back', async () => {
    const { lab, bucket, outside } = await world({
      scenario: prod,
      nodes: [{ name: 'a' }, { name: 'b' }],
    })
    const { digest, id } = await planned(event)
    await outside.approve(digest)
    const apply = { action: 'apply', plan: digest, skipChanged: true }
    const ended = await invokeRemediate(apply)
    expect(ended).toMatchObject({
      action: 'apply',
      id,
      digest,
      approvedBy: byAda,
      nodes: { skipped: 2 },
    })
    expect(await invokeRemediate(apply)).toEqual(ended)
    expect(readdirSync(join(bucket, 'remediation', 'runs'))).toEqual([id])
    expect(await invokeRemediate({ action: 'resume' })).toEqual({
      action: 'resume',
      runs: [],
      unsealed: [],
    })
    expect(await invokeRemediate({ action: 'rollback', run: id })).toMatchObject({
      action: 'rollback',
      id,
      state: 'rolled-back',
    })
    await expect(invokeRemediate({ action: 'rollback', run: 'f'.repeat(16) })).rejects.toThrow(
      /has no run f{16}/,
    )
    const { runId } = await invoke({ source: 'highwater.schedule', scheduledTime: tickTime })
    const page = readFileSync(join(bucket, 'runs', runId, 'report.html'), 'utf8')
    for (const text of [lab.mails().at(-1)?.text, lab.mails().at(-1)?.html, page]) {
      const words = text?.replace(/\s+/g, ' ')
      expect(words).toContain(`Run ${id}: rolled back`)
      expect(words).toContain(`Approved by ${byAda}; remediate verified`)
    }
  })
})

describe('asked to go on', () => {
  async function begun(at: string, until: string) {
    const made = await world({ scenario: prod, nodes: [{ name: 'a' }, { name: 'b' }] })
    const { digest, id } = await planned(event)
    const plan = parsePlan(made.read('plans', digest), 'x')
    const approval = {
      schema: approvalSchema,
      plan: digest,
      by: 'Ada',
      identity: ada,
      at,
      until,
      options: { allowActAtOnce: false },
    } as const
    await new Journal(made.outside.sealed, id, 'one that died').begin(
      plan,
      { ...approval, sealed: await sealedApproval(approval, made.outside.keys.approvals) },
      '2020-01-01T00:00:00Z',
      {},
    )
    return { ...made, id }
  }

  it('takes up every run that is not at its end, and then has nothing to do', async () => {
    const { id } = await begun(
      new Date().toISOString(),
      new Date(Date.now() + 24 * 3_600_000).toISOString(),
    )
    expect(await invokeRemediate({ action: 'resume' })).toMatchObject({
      runs: [{ id, nodes: { skipped: 2 } }],
    })
    expect(await invokeRemediate({ action: 'resume' })).toEqual({
      action: 'resume',
      runs: [],
      unsealed: [],
    })
  })

  it('fails once for a forged run, names it, and goes on with the others each time', async () => {
    const until = new Date(Date.now() + 24 * 3_600_000).toISOString()
    const { bucket, id, refused } = await begun(new Date().toISOString(), until)
    const folder = join(bucket, 'remediation', 'runs', 'ffffffffffffffff')
    mkdirSync(folder)
    for (const name of ['run.json', 'plan.json']) writeFileSync(join(folder, name), '{"a":1}\n')
    await expect(invokeRemediate({ action: 'resume' })).rejects.toThrowErrorMatchingSnapshot()
    expect(existsSync(join(bucket, 'remediation', 'runs', id, 'report.json'))).toBe(true)
    const keys = ['plan.json', 'run.json'].map(name => `remediation/runs/${'f'.repeat(16)}/${name}`)
    expect(refused()).toEqual(keys)
    expect(await invokeRemediate({ action: 'resume' })).toMatchObject({
      runs: [{ id: 'f'.repeat(16), state: 'refused' }],
      unsealed: [],
    })
    expect(refused()).toEqual(keys)
  })

  it('says of a run that may not go on why, and costs no other', async () => {
    const { id } = await begun('2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z')
    expect(await invokeRemediate({ action: 'resume' })).toMatchObject({
      runs: [
        {
          id,
          state: 'paused',
          why: 'the approval ended at 2020-01-02T00:00:00Z',
          nodes: { pending: 2 },
        },
      ],
    })
    await expect(invokeRemediate({ action: 'resume', run: 'f'.repeat(16) })).rejects.toThrow(
      /There is no run f{16}/,
    )
  })

  const fast =
    'modes: [{ mode: both }]\npace: { ssmRequestsPerSecond: 100 }\ntimeoutsMs: { inspect: 30000 }\n'
  const named = `${fast}${auto(2)}`
    .replace('fields: [', 'fields: [kubeReserved, ')
    .replace('[prod]', '[prod, shop, media]')

  /** A fleet with findings, of which an audit at that time made a plan. */
  async function audited(hours: number, scenario = remediationScenario({ nodes: 1 })) {
    const late = { imageGCHighThresholdPercent: 95, imageGCLowThresholdPercent: 90 }
    const node = {
      name: 'a',
      family: 'AL2',
      file: { ...mainFile, ...late },
      configz: late,
    } as const
    const made = await world({ scenario, policy: named })
    const takenAt = new Date(Date.now() - hours * 3_600_000).toISOString()
    const tick = takenAt.slice(0, 19).replaceAll(':', '-').concat('Z')
    made.keepSnapshot(tick, [node])
    const snapshot = join(made.bucket, 'runs', tick, 'snapshot.ndjson.gz')
    const file = join(temporaryFolder(), 'snapshot.ndjson.gz')
    const text = gunzipSync(readFileSync(snapshot))
      .toString('utf8')
      .replaceAll('2026-11-21T00:00:00Z', takenAt)
    for (const path of [snapshot, file]) writeFileSync(path, gzipSync(text))
    const asked = {
      rules: [],
      findings: [],
      changes: [],
      allowActAtOnce: false,
      selection: everything,
      policy: defaultPolicy,
      version: '0',
    }
    const { plan } = await makePlan(file, asked)
    writeFileSync(join(made.bucket, 'runs', tick, 'plan.json'), planText(plan))
    return { ...made, plan, tick }
  }

  /** Of the run that the policy began. */
  const begunNodes = ({ bucket }: { bucket: string }, run: string): string[] =>
    parsePlan(
      readFileSync(join(bucket, 'remediation', 'runs', run, 'plan.json'), 'utf8').replace(
        /,"seal":"[^"]*"\}\n$/,
        '}\n',
      ),
      'x',
    ).steps.map(({ node }) => node)

  it.runIf(isSlow)(
    'begins, where the policy approves it, a plan of the fleet as it is now, once for an audit',
    async () => {
      const made = await audited(0)
      const answer = (await invokeRemediate({ action: 'resume' })) as ResumedAnswer
      expect(answer.runs).toMatchObject([{ state: expect.stringMatching(/^(done|paused)$/) }])
      const run = answer.runs[0]?.id ?? ''
      // The snapshot in the bucket names another node, and chooses no value.
      expect(run).not.toBe(made.plan.id)
      expect(made.kept('approvals')).not.toContain(`${made.plan.digest}.json`)
      expect(made.kept('runs')).toEqual([run])
      const live = remediationNodes(1).map(({ name }) => name)
      expect(begunNodes(made, run).sort()).toEqual(live.sort())
      await invokeRemediate({ action: 'resume' })
      expect(made.kept('runs')).toEqual([run])
      // The run polls the restarted kubelet every 15 s.
    },
    180_000,
  )

  it.each([
    ['of the day before', 25],
    ['of the future', -1],
  ])('begins nothing after an audit %s', async (_, hours) => {
    const { kept } = await audited(hours)
    expect(await invokeRemediate({ action: 'resume' })).toMatchObject({ runs: [], unsealed: [] })
    expect([kept('approvals'), kept('runs')]).toEqual([[], []])
  })

  it('says which object is broken, and goes on with the other runs', async () => {
    const { bucket, tick: broken } = await audited(0)
    writeFileSync(join(bucket, 'runs', broken, 'plan.json'), '{}')
    expect(await invokeRemediate({ action: 'resume' })).toMatchObject({
      runs: [{ id: 'policy', state: 'refused', why: expect.stringContaining('plan.json is no') }],
      unsealed: [],
    })
  })

  it('does not go on with what the policy has approved and would not approve now', async () => {
    const { bucket, outside, plan } = await audited(25)
    const approval: Approval = {
      ...{ schema: approvalSchema, plan: plan.digest, by: 'policy', identity: byAda },
      at: new Date().toISOString(),
      until: new Date(Date.now() + 3_600_000).toISOString(),
      options: { allowActAtOnce: false },
    }
    const sealed = await sealedApproval(approval, outside.keys.runs)
    await new Journal(outside.sealed, plan.id, 'one that died').begin(
      plan,
      { ...approval, sealed },
      approval.at,
      {},
    )
    writeFileSync(join(bucket, 'highwater.yaml'), named.replace('[prod, ', '[stage, '))
    await outside.approvePolicy()
    expect(await invokeRemediate({ action: 'resume' })).toMatchObject({
      runs: [
        {
          id: plan.id,
          state: 'paused',
          why: expect.stringContaining('does not approve it now: cluster prod is none of those'),
        },
      ],
    })
  })

  it('approves anew what the policy has approved before, for a plan of more days than one', async () => {
    const { outside, read, plan } = await audited(25, prod)
    const old = {
      schema: approvalSchema,
      plan: plan.digest,
      by: 'policy',
      identity: byAda,
      options: { allowActAtOnce: false },
    } as const
    const approval: Approval = { ...old, at: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' }
    const sealed = await sealedApproval(approval, outside.keys.runs)
    await new Journal(outside.sealed, plan.id, 'one that died').begin(
      plan,
      { ...approval, sealed },
      approval.at,
      {},
    )
    expect(await invokeRemediate({ action: 'resume' })).toMatchObject({
      runs: [{ id: plan.id, nodes: { skipped: 1 } }],
    })
    expect(
      Date.parse((JSON.parse(read('approvals', plan.digest)) as Approval).until),
    ).toBeGreaterThan(Date.now())
  })
})

describe('an event of remediation', () => {
  it('like events/apply.json is taken', () => {
    expect(parseRemediationEvent(JSON.parse(readFileSync('events/apply.json', 'utf8')))).toEqual({
      action: 'apply',
      plan: '0'.repeat(64),
      skipChanged: false,
    })
  })

  it('like events/plan.json is taken', () => {
    expect(parseRemediationEvent(JSON.parse(readFileSync('events/plan.json', 'utf8')))).toEqual({
      action: 'plan',
      selection: { clusters: [], nodegroups: [], nodes: [] },
      rules: ['eviction-before-image-gc'],
      findings: [],
      changes: [],
      allowActAtOnce: false,
      source: 'live',
    })
  })

  it.each([
    [{}, /action is one of plan, apply, resume, rollback/],
    [null, /action is one of/],
    [{ action: 'reboot' }, /action is one of/],
    [{ action: 'apply', plan: 'abc' }, /plan: a plan's digest/],
    // An event cannot prove who sends it.
    [{ action: 'apply', plan: 'a'.repeat(64), by: 'Ada' }, /by/],
    [{ action: 'resume', run: '../x' }, /run: a run's id/],
    [{ action: 'rollback' }, /run: /],
    [
      { action: 'plan', nodes: ['a/b'], findings: ['x'], cluster: 'prod' },
      /nodes\.0: a node name.*findings\.0: the id of a finding.*cluster/s,
    ],
    [
      { action: 'plan', set: ['maxPods=many', 'nothing=1', 'imageGCHighThresholdPercent=70'] },
      /set\.0: .*set\.1: /s,
    ],
    [{ action: 'plan', clusters: 'prod' }, /clusters/],
    ['plan', /the event/],
  ])('that is not ours is refused with all its mistakes: %j', (event, message) => {
    expect(() => parseRemediationEvent(event)).toThrow(message)
    expect(() => parseRemediationEvent(event)).toThrowErrorMatchingSnapshot()
  })
})
