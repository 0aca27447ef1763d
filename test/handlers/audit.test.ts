/** The function against the lab: EKS, STS, S3, SES and the Kubernetes APIs, by endpoint settings alone. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { remediationScenario } from '#lab/scenarios/remediation.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { parsePlan } from '#remediate/plan/file.ts'
import { english } from '#report/languages/language.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invoke } from '#test/lambda.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 60_000 })

const tick = JSON.parse(readFileSync('events/scheduled.json', 'utf8'))
const runId = '2026-11-21T05-00-00Z'
const names = ['report.html', 'findings.json', 'snapshot.ndjson.gz', 'email.html', 'email.txt']

async function world(scenario: Partial<Scenario> = {}) {
  const storeFolder = temporaryFolder()
  const lab = await labOf([{ ...recorded, ...scenario }], { storeFolder })
  const run = join(storeFolder, 'highwater-lab', 'runs', runId)
  return { lab, storeFolder, run, file: (name: string) => readFileSync(join(run, name), 'utf8') }
}

describe('a tick of the schedule', () => {
  it('leaves report, findings, snapshot and mail in the bucket, and sends the mail with the report attached', async () => {
    const { lab, run, file } = await world()
    const answer = await invoke(tick)
    expect(answer).toMatchObject({
      runId,
      state: 'published',
      clusters: [{ name: 'recorded', coverage: { nodes: 2, read: 2 } }],
    })
    expect(answer.link).toBeNull()
    expect(answer.open).toBe('highwater open latest --bucket highwater-lab --region us-east-1')
    const bucket = join(run, '..', '..')
    for (const name of ['report.html', 'findings.json'])
      expect(readFileSync(join(bucket, 'latest', name), 'utf8')).toBe(file(name))
    expect(readFileSync(join(bucket, 'index.html'), 'utf8')).toContain(
      `href="runs/${runId}/report.html"`,
    )
    for (const name of [...names, 'done.json']) expect(existsSync(join(run, name))).toBe(true)
    expect(lab.mails()).toHaveLength(1)
    expect(lab.mails()[0]).toMatchObject({
      to: ['team@example.com'],
      from: 'highwater@example.com',
      subject: expect.stringContaining('Medium'),
    })
    expect(lab.mails()[0]?.html).toBe(file('email.html'))
    expect(lab.mails()[0]?.attachments.map(({ fileName }) => fileName)).toEqual(['report.html'])
  })

  it('delivered twice publishes and mails once, and says so', async () => {
    const { lab, file } = await world()
    await invoke(tick)
    const report = file('report.html')
    const again = await invoke(tick)
    expect(again.state).toBe('published-before')
    expect(file('report.html')).toBe(report)
    expect(lab.mails()).toHaveLength(1)
  })

  it('delivered twice at the same time mails once', async () => {
    const { lab } = await world()
    const answers = await Promise.allSettled([invoke(tick), invoke(tick)])
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(lab.mails()).toHaveLength(1)
    expect((await invoke(tick)).state).toBe('published-before')
  })

  it('is finished by the next delivery when the first was stopped between report and mail', async () => {
    const { lab, run } = await world()
    await expect(invoke(tick, { HIGHWATER_SENDER: 'nobody@unverified.test' })).rejects.toThrow(
      'nobody@unverified.test',
    )
    expect(existsSync(join(run, 'report.html'))).toBe(true)
    expect(existsSync(join(run, 'done.json'))).toBe(false)
    expect(lab.mails()).toHaveLength(0)
    expect((await invoke(tick)).state).toBe('published')
    expect(lab.mails()).toHaveLength(1)
    expect((await invoke(tick)).state).toBe('published-before')
  })

  it('with a place that serves the bucket mails the link and no attachment', async () => {
    const { lab } = await world()
    await invoke(tick, { HIGHWATER_REPORT_BASE_URL: 'https://reports.example.com' })
    expect(lab.mails()[0]?.attachments).toEqual([])
    expect(lab.mails()[0]?.html).toContain(`https://reports.example.com/runs/${runId}/report.html`)
  })
})

describe('an observation between two audits', () => {
  const observation = { ...tick, scheduledTime: '2026-11-21T06:00:00Z', observe: true }

  it('adds readings and what happened to the history, and leaves no report and no mail', async () => {
    const { lab, storeFolder } = await world()
    await invoke(tick)
    const history = join(storeFolder, 'highwater-lab', 'history')
    const [shard = ''] = readdirSync(join(history, 'nodes', 'recorded'))
    const facts = () =>
      gunzipSync(readFileSync(join(history, 'nodes', 'recorded', shard)))
        .toString()
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line))
    const before = facts()
    const answer = await invoke(observation)
    expect(answer).toMatchObject({
      state: 'observed',
      clusters: [{ name: 'recorded', coverage: { nodes: 2 } }],
      deliveries: [],
    })
    const after = facts()
    expect(after.map(({ node, runId }) => [node, runId])).toEqual(
      before.map(({ node, runId }) => [node, runId]),
    )
    for (const [index, { rules, held, thresholds }] of after.entries())
      expect({ rules, held, thresholds }).toEqual({
        rules: before[index].rules,
        held: before[index].held,
        thresholds: before[index].thresholds,
      })
    expect(readdirSync(join(history, 'runs'))).toHaveLength(1)
    expect(readdirSync(join(storeFolder, 'highwater-lab', 'runs'))).toEqual([runId])
    expect(lab.mails()).toHaveLength(1)
  })

  it('writes nothing where no audit was before, and needs a bucket', async () => {
    const { storeFolder } = await world()
    expect((await invoke(observation)).state).toBe('observed')
    expect(existsSync(join(storeFolder, 'highwater-lab', 'history'))).toBe(false)
    await expect(invoke(observation, { HIGHWATER_BUCKET: '' })).rejects.toThrow('HIGHWATER_BUCKET')
  })
})

describe('the policy in the bucket', () => {
  it('keeps the report out of mailboxes by attach: none, and the mail says where it is', async () => {
    const { lab, storeFolder, file } = await world()
    mkdirSync(join(storeFolder, 'highwater-lab'), { recursive: true })
    writeFileSync(
      join(storeFolder, 'highwater-lab', 'highwater.yaml'),
      'report: { attach: none }\n',
    )
    await invoke(tick)
    expect(lab.mails()[0]?.attachments).toEqual([])
    expect(file('email.txt')).not.toContain(english.words.report.attached(true))
    expect(file('email.txt')).toContain('highwater open latest --bucket highwater-lab')
  })

  it('says who gets the mail, whatever the stack says', async () => {
    const { lab, storeFolder } = await world()
    mkdirSync(join(storeFolder, 'highwater-lab'), { recursive: true })
    writeFileSync(
      join(storeFolder, 'highwater-lab', 'highwater.yaml'),
      'report: { recipients: [owner@example.com] }\n',
    )
    await invoke(tick)
    expect(lab.mails()).toMatchObject([
      { to: ['owner@example.com'], from: 'highwater@example.com' },
    ])
  })
})

describe('what remediate has noted', () => {
  it('stands in mail and page, is no input error, and the run is well', async () => {
    const { lab, storeFolder, file } = await world()
    const key = 'remediation/runs/0123456789abcdef/run.json'
    const hostile = 'remediation/runs/<img src=x onerror=alert(1)>/plan.json'
    const at = new Date().toISOString()
    mkdirSync(join(storeFolder, 'highwater-lab', 'remediation'), { recursive: true })
    writeFileSync(
      join(storeFolder, 'highwater-lab', 'remediation', 'notices.json'),
      `${JSON.stringify({
        ...{ schema: 'highwater.notices/1', refusedLeftOut: 0, runs: [] },
        refused: [key, hostile].map(key => ({ key, at })),
        seal: `${'A'.repeat(43)}=`,
      })}\n`,
    )
    expect(await invoke(tick)).toMatchObject({ state: 'published' })
    const document: FindingsDocument = JSON.parse(file('findings.json'))
    expect(document.run.inputErrors).toEqual([])
    const [mail] = lab.mails()
    for (const text of [mail?.text?.replace(/\s+/g, ' '), mail?.html, file('report.html')]) {
      expect(text).toContain(key)
      expect(text).toContain(at)
    }
    for (const html of [mail?.html, file('report.html')]) expect(html).not.toContain('<img src=x')
  })
})

describe('history', () => {
  it('tells in the second morning what changed since the first, and what a node was that is gone', async () => {
    const storeFolder = temporaryFolder()
    const mails: string[] = []
    const morning = async (scheduledTime: string, nodes: number) => {
      const lab = await labOf([fleet({ nodes, podsPerNode: 1 })], { storeFolder })
      const answer = await invoke({ ...tick, scheduledTime })
      mails.push(lab.mails()[0]?.subject ?? '')
      await lab.close()
      return JSON.parse(
        readFileSync(
          join(storeFolder, 'highwater-lab', 'runs', answer.runId, 'findings.json'),
          'utf8',
        ),
      ) as FindingsDocument
    }
    const first = await morning('2026-11-21T05:00:00Z', 12)
    expect(first.delta).toEqual({ new: [], resolved: [], worse: [], regressed: [] })
    expect(first.findings.map(({ since }) => since)).not.toContain(null)
    const second = await morning('2026-11-22T05:00:00Z', 30)
    const before = new Set(first.findings.map(({ id }) => id))
    const appeared = second.findings.filter(({ id }) => !before.has(id)).map(({ id }) => id)
    expect(appeared.length).toBeGreaterThan(0)
    expect(second.delta.new).toEqual(appeared.sort())
    const third = await morning('2026-11-23T05:00:00Z', 30)
    expect(third.delta).toEqual({ new: [], resolved: [], worse: [], regressed: [] })
    expect(mails).toEqual([
      expect.stringMatching(/^Medium: \d+ medium, \d+ low in fleet/),
      expect.stringMatching(
        new RegExp(`^2 nodes evict now, first ip-10-64-0-19 \\(\\w+\\); ${appeared.length} new`),
      ),
      expect.stringMatching(/^2 nodes evict now, first ip-10-64-0-19 \(\w+\); no change/),
    ])
    const kept = readdirSync(join(storeFolder, 'highwater-lab', 'history', 'runs')).sort()
    expect(kept).toEqual([
      '2026-11-21T05-00-00Z.json.gz',
      '2026-11-22T05-00-00Z.json.gz',
      '2026-11-23T05-00-00Z.json.gz',
    ])
  })

  it('is none of a dry run', async () => {
    const { storeFolder } = await world()
    await invoke({ dryRun: true })
    expect(existsSync(join(storeFolder, 'highwater-lab', 'history'))).toBe(false)
  })
})

describe('more forms of the report', () => {
  it('are stored beside it if the policy has them', async () => {
    const { storeFolder, file } = await world()
    mkdirSync(join(storeFolder, 'highwater-lab'), { recursive: true })
    writeFileSync(
      join(storeFolder, 'highwater-lab', 'highwater.yaml'),
      'report: { formats: [sarif] }\n',
    )
    await invoke(tick)
    expect(JSON.parse(file('findings.sarif')).runs[0].results.length).toBeGreaterThan(0)
  })
})

describe('a plan beside the report', () => {
  const policyOf = (storeFolder: string, policy: string) => {
    mkdirSync(join(storeFolder, 'highwater-lab'), { recursive: true })
    writeFileSync(join(storeFolder, 'highwater-lab', 'highwater.yaml'), policy)
  }

  it('is made where the policy asks for it: published, kept by its digest, and named in page and mail', async () => {
    const { lab, storeFolder, run, file } = await world(remediationScenario({ nodes: 1 }))
    policyOf(
      storeFolder,
      'modes: [{ mode: ssm }]\npace: { ssmRequestsPerSecond: 100 }\ntimeoutsMs: { inspect: 30000 }\nremediation: { mode: plan }\n',
    )
    expect(await invoke(tick)).toMatchObject({ state: 'published' })
    const plan = parsePlan(file('plan.json'), 'plan.json')
    expect(plan.steps.length).toBeGreaterThan(0)
    expect(
      readFileSync(
        join(storeFolder, 'highwater-lab', 'remediation', 'plans', `${plan.digest}.json`),
        'utf8',
      ),
    ).toBe(file('plan.json'))
    expect(existsSync(join(storeFolder, 'highwater-lab', 'remediation', 'approvals'))).toBe(false)
    const command = `highwater approve plan.json --digest ${plan.digest} --by`
    expect(file('report.html')).toContain(command)
    expect(lab.mails()[0]?.text?.replace(/\s+/g, ' ')).toContain(command)
    expect(lab.mails()[0]?.text?.replace(/\s+/g, ' ')).toContain('--store s3://highwater-lab')
    expect(existsSync(join(run, 'done.json'))).toBe(true)
  })

  it('is not made otherwise, nor for a dry run', async () => {
    const { storeFolder, run, file } = await world()
    await invoke(tick)
    expect(existsSync(join(run, 'plan.json'))).toBe(false)
    expect(file('report.html')).not.toContain('id="plan"')
    policyOf(storeFolder, 'remediation: { mode: plan }\n')
    await invoke({ dryRun: true })
    expect(existsSync(join(storeFolder, 'highwater-lab', 'remediation'))).toBe(false)
  })

  it('that could not be kept is said, and costs the report nothing', async () => {
    const { storeFolder, file } = await world(remediationScenario({ nodes: 1 }))
    policyOf(
      storeFolder,
      'modes: [{ mode: ssm }]\npace: { ssmRequestsPerSecond: 100 }\ntimeoutsMs: { inspect: 30000 }\nremediation: { mode: plan }\n',
    )
    writeFileSync(
      join(storeFolder, 'highwater-lab', 'remediation'),
      'a file where a folder should be',
    )
    await invoke(tick)
    expect(file('report.html')).toContain(english.words.plan.failed(''))
  })
})

describe('trouble', () => {
  it('with S3: the mail still goes and says so, and the run ends red', async () => {
    const { lab } = await world({ s3: { denied: ['s3:PutObject'] } })
    await expect(invoke(tick)).rejects.toThrow(/is incomplete\. s3: .*s3:PutObject/)
    expect(lab.mails()).toHaveLength(1)
    expect(lab.mails()[0]?.text?.replace(/\s+/g, ' ')).toContain('s3:PutObject')
  })

  it.each([
    ['sandbox', { sandbox: true }, /not verified.*sandbox/i],
    ['an unverified sender', { identities: [] }, /highwater@example\.com/],
    ['sending paused', { sendingPaused: true }, /sending is paused/],
  ])('with SES (%s): the report still lands, and the run ends red', async (_, ses, message) => {
    const { lab, run } = await world({ ses })
    await expect(invoke(tick, { HIGHWATER_RECIPIENTS: 'team@elsewhere.test' })).rejects.toThrow(
      message,
    )
    for (const name of names) expect(existsSync(join(run, name))).toBe(true)
    expect(existsSync(join(run, 'done.json'))).toBe(false)
    expect(lab.mails()).toHaveLength(0)
  })

  it('with an address that is suppressed: the others read of it in their mail, and the run is well', async () => {
    const { lab } = await world({
      ses: {
        suppressed: [
          { address: 'gone@example.com', reason: 'BOUNCE', since: '2026-11-01T00:00:00Z' },
        ],
      },
    })
    const answer = await invoke(tick, { HIGHWATER_RECIPIENTS: 'team@example.com,gone@example.com' })
    expect(answer.state).toBe('published')
    expect(lab.mails()).toMatchObject([{ to: ['team@example.com'] }])
    expect(lab.mails()[0]?.text?.replace(/\s+/g, ' ')).toMatch(
      /came back, 2026-11-01\) gets nothing/,
    )
  })

  it('with a bucket that is not there has one paragraph', async () => {
    await world({ s3: { buckets: [] } })
    const message = await invoke(tick).then(String, (error: Error) => error.message)
    expect(message).toContain('highwater-lab')
    expect(message).not.toMatch(/\n\s+at /)
  })

  it('with the time: it publishes what it has, and the mail says so first', async () => {
    const storeFolder = temporaryFolder()
    const lab = await labOf([fleet({ nodes: 20, podsPerNode: 1 })], { storeFolder })
    // At this pace the nodes alone take longer than the time limit, on any machine.
    mkdirSync(join(storeFolder, 'highwater-lab'))
    writeFileSync(
      join(storeFolder, 'highwater-lab', 'highwater.yaml'),
      'pace: { requestsPerSecond: 2 }\n',
    )
    const answer = await invoke(tick, {}, 24_000)
    expect(answer).toMatchObject({ state: 'published', clusters: [{ coverage: { nodes: 20 } }] })
    expect(answer.clusters[0]?.coverage.read).toBeLessThan(20)
    expect(lab.mails()[0]?.subject).toMatch(/^Cut short/)
    expect(lab.mails()[0]?.text).toContain('not reached before the')
  })

  it.each([
    ['broken', 'alertPercent: 800\n', /highwater\.yaml:1:15: alertPercent/],
    ['an alias bomb', 'a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b, *b]\n', /highwater\.yaml/],
  ])(
    'with the policy (%s): the defaults are used, the mail says so, and the run ends red',
    async (_, policy, message) => {
      const { lab, storeFolder } = await world()
      mkdirSync(join(storeFolder, 'highwater-lab'), { recursive: true })
      writeFileSync(join(storeFolder, 'highwater-lab', 'highwater.yaml'), policy)
      await expect(invoke(tick)).rejects.toThrow(message)
      expect(lab.mails()).toHaveLength(1)
      expect(lab.mails()[0]?.text?.replace(/\s+/g, ' ')).toMatch(message)
    },
  )

  it('with an S3 that never answers: it is waited for once, and the mail goes in time', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      silent.closeAllConnections()
      silent.close()
    })
    const { lab } = await world()
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    await expect(
      invoke(tick, { AWS_ENDPOINT_URL_S3: endpoint, AWS_MAX_ATTEMPTS: '1' }, 20_000),
    ).rejects.toThrow(/incomplete.*s3: /)
    expect(lab.mails()).toHaveLength(1)
  }, 20_000)

  it('with a time limit beyond every timer is no trouble', async () => {
    await world()
    expect(await invoke({ dryRun: true }, {}, 1e12)).toMatchObject({
      clusters: [{ coverage: { read: 2 } }],
    })
  })
})

describe('on demand', () => {
  it('a dry run reads and judges, and leaves nothing', async () => {
    const { lab, storeFolder } = await world()
    const answer = await invoke({ clusters: ['recorded'], dryRun: true })
    expect(answer).toMatchObject({
      state: 'dry-run',
      deliveries: [],
      findings: { medium: 2, low: 3 },
    })
    expect(lab.mails()).toEqual([])
    expect(existsSync(join(storeFolder, 'highwater-lab', 'runs'))).toBe(false)
  })

  it('answers the verdict, the worst causes with their step, the first victims and the link', async () => {
    await world(fleet({ nodes: 20, podsPerNode: 1 }))
    const event = JSON.parse(readFileSync('events/on-demand.json', 'utf8'))
    const { summary, link } = await invoke(event)
    expect(link).toBeNull()
    expect(summary!.verdict).toMatch(/^Critical/)
    expect(summary!.causes[0]).toMatchObject({ severity: 'critical' })
    expect(summary!.causes.length).toBeLessThanOrEqual(5)
    for (const { title, where, step } of summary!.causes)
      for (const text of [title, where, step]) expect(text).not.toBe('')
    expect(summary!.next.length).toBeGreaterThan(0)
    for (const { node, state, victims } of summary!.next)
      for (const text of [node, state, victims]) expect(text).not.toBe('')
    const published = await invoke(
      { ...event, dryRun: false },
      { HIGHWATER_REPORT_BASE_URL: 'https://reports.example.com' },
    )
    expect(published.link).toBe(`https://reports.example.com/runs/${published.runId}/report.html`)
  })

  it('publishes under a name of its own, and mails only when asked for', async () => {
    const { lab } = await world()
    const quiet = await invoke({})
    expect(quiet.runId).not.toBe(runId)
    expect(quiet.deliveries.map(({ channel }) => channel)).toEqual(['s3'])
    const loud = await invoke({ mail: true })
    expect(loud.runId).not.toBe(quiet.runId)
    expect(lab.mails()).toHaveLength(1)
  })

  it.each([
    [{ clusters: ['nowhere'] }, 'No EKS cluster is named nowhere'],
    [{ nodes: ['nowhere.example.com'] }, 'No node is named nowhere.example.com'],
    [{ nodes: ['a/b'] }, 'a node name'],
    [{ detail: {} }, "not one of highwater's"],
  ])('%j is refused', async (event, message) => {
    await world()
    await expect(invoke(event)).rejects.toThrow(message)
  })
})
