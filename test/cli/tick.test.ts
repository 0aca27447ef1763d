/** A run of the service without Lambda: as a CronJob's pod makes it, by the command line and the environment alone. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { minuteOf, tickOf } from '#cli/tick.ts'
import { scheduledTimeOf } from '#facts/kubernetes/cron-job.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { type ClusterScenario, fixedNodes, type Scenario } from '#lab/scenarios/scenario.ts'
import { temporaryFolder } from '#test/cli.ts'
import { runCommand } from '#test/in-process.ts'
import { labOf } from '#test/lab-audit.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 60_000 })

const service = {
  HIGHWATER_BUCKET: 'highwater-lab',
  HIGHWATER_SENDER: 'highwater@example.com',
  HIGHWATER_RECIPIENTS: 'team@example.com',
}
/** 2026-11-21T05:00:00Z is the minute 29,920,620. */
const job = 'highwater-29920620'
const runId = '2026-11-21T05-00-00Z'

async function world(scenario: Partial<Scenario> = {}) {
  const storeFolder = temporaryFolder()
  const lab = await labOf([{ ...recorded, ...scenario }], { storeFolder })
  const tick = (args: string[], settings: Record<string, string> = service) =>
    runCommand(['tick', ...args], { env: { ...lab.environment, ...settings } })
  return { lab, tick, run: join(storeFolder, 'highwater-lab', 'runs', runId) }
}

const { nodes } = recorded.clusters[0]!
const allDown: Pick<ClusterScenario, 'nodes'> = {
  nodes: fixedNodes(
    Object.fromEntries(
      nodes.names().map(name => [name, { ...nodes.node(name)!, fault: { kind: 'down' } }]),
    ),
  ),
}

describe('highwater tick', () => {
  it('audits, keeps and mails, under the name of its CronJob’s tick', async () => {
    const { lab, tick, run } = await world()
    const { code, stdout, stderr } = await tick(['--at', job])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`run ${runId}`) })
    expect(stderr).toMatch(/read: \d+\.\d s/)
    expect(stderr).toContain('cluster recorded: grade C, 2 of 2 nodes read')
    expect(JSON.parse(stdout)).toMatchObject({
      runId,
      state: 'published',
      clusters: [{ name: 'recorded', coverage: { read: 2 } }],
    })
    expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain('recorded')
    expect(lab.mails()).toHaveLength(1)
  })

  it('tried again for the same tick does nothing more, however the tick is written', async () => {
    const { lab, tick } = await world()
    await tick(['--at', job])
    const again = await tick(['--at', '2026-11-21T06:00:00+01:00'])
    expect(again.code).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({ runId, state: 'published-before' })
    expect(lab.mails()).toHaveLength(1)
  })

  it('that could not deliver everything fails, and leaves what it could', async () => {
    const { tick, run } = await world({ ses: { identities: [] } })
    const { code, stderr } = await tick(['--at', job])
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringMatching(/Run 2026-11-21T05-00-00Z is incomplete\./s),
    })
    expect(existsSync(join(run, 'report.html'))).toBe(true)
    expect(existsSync(join(run, 'done.json'))).toBe(false)
  })

  it.each([
    [
      'of which no kubelet answers',
      allDown,
      /no node was read: 2 nodes could not be read\. The report names each.* node \S+ of cluster recorded: /,
    ],
    [
      'whose API server is away',
      { faults: { endpoint: 'closed-port' as const } },
      /not audited: 1\ncluster recorded not audited: nodes: the list.*no node was read: of 1 cluster it is not known which/s,
    ],
    [
      'that is only being made',
      { status: 'CREATING' as const },
      /as that of cluster recorded: cluster: the cluster is CREATING/,
    ],
  ])('of a cluster %s fails, and leaves a report that says so', async (_, more, message) => {
    const { tick, run, lab } = await world({ clusters: [{ ...recorded.clusters[0]!, ...more }] })
    const { code, stderr } = await tick(['--at', job])
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringMatching(message) })
    expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain('recorded')
    expect(lab.mails()).toHaveLength(1)
    expect(existsSync(join(run, 'done.json'))).toBe(false)
  })

  it('of a cluster that has no nodes is no failure', async () => {
    const { tick, run } = await world({
      clusters: [{ ...recorded.clusters[0]!, nodes: fixedNodes({}) }],
    })
    const { code, stdout } = await tick(['--at', job])
    expect({ code, answer: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      answer: { state: 'published', clusters: [{ coverage: { nodes: 0 } }] },
    })
    expect(existsSync(join(run, 'done.json'))).toBe(true)
  })

  it.each([
    [['--at', 'tomorrow'], service, 'A time like 2026-11-21T05:00:00Z'],
    [[], {}, 'The report has no recipient'],
    [[], { ...service, HIGHWATER_BUCKET: 'A' }, 'HIGHWATER_BUCKET: an S3 bucket name'],
  ])('%j with %j is refused before anything is read', async (args, settings, message) => {
    const { tick, lab } = await world()
    const { code, stderr } = await tick(args, settings)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
    expect(lab.mails()).toHaveLength(0)
  })
})

describe('the tick of', () => {
  it.each([
    ['a CronJob’s Job', job, '2026-11-21T05:00:00.000Z'],
    ['a CronJob whose name has numbers', 'audit-2-29920680', '2026-11-21T06:00:00.000Z'],
    ['a time', '2026-11-21T05:00Z', '2026-11-21T05:00:00.000Z'],
    ['a time elsewhere', '2026-11-21T05:00:00+09:00', '2026-11-20T20:00:00.000Z'],
    ['a Job that somebody made', 'by-hand', null],
    ['a Job that kubectl made of a CronJob', 'highwater-manual-x7z', null],
    ['a day without a time', '2026-11-21', null],
    ['no day', '2026-13-45T00:00:00Z', null],
  ])('%s: %s', (_, text, time) => {
    expect(tickOf(text)?.toISOString() ?? null).toBe(time)
  })

  it('a clock that says nothing is its minute', () => {
    expect(minuteOf(new Date('2026-11-21T05:00:59.999Z'))).toEqual(scheduledTimeOf(job))
  })
})
