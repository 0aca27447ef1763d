/** Who is told of a run, through the function and the lab's mailbox: everybody, owners of a part, nobody where nothing changed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { stringify } from 'yaml'
import type { Lab } from '#lab/lab.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { ReportPolicy } from '#model/policy.ts'
import { english } from '#report/languages/language.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invoke } from '#test/lambda.ts'
import { webhookServer } from '#test/webhook-server.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 60_000 })

const tick = JSON.parse(readFileSync('events/scheduled.json', 'utf8'))
const runId = '2026-11-21T05-00-00Z'
const tagged: Scenario = {
  ...recorded,
  clusters: recorded.clusters.map(cluster => ({ ...cluster, tags: { team: 'payments' } })),
}
const payments = {
  name: 'payments',
  match: { tags: { team: 'payments' } },
  recipients: ['payments@example.com'],
}
const nodes = {
  name: 'general-nodes',
  match: { cluster: 'fleet', nodegroup: 'general' },
  recipients: ['nodes@example.com'],
}

/** What a reader sees, but for the page's own heading. */
const shown = (page: string | null | undefined) =>
  (page ?? '')
    .replaceAll(/<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>|<[^>]*>/g, ' ')
    .replaceAll('The fleet by headroom', '')

async function world(
  report: Partial<Record<keyof ReportPolicy, unknown>>,
  scenarios: Scenario[] = [tagged, fleet({ nodes: 5, podsPerNode: 1 })],
) {
  const storeFolder = temporaryFolder()
  const bucket = join(storeFolder, 'highwater-lab')
  mkdirSync(bucket, { recursive: true })
  writeFileSync(
    join(bucket, 'highwater.yaml'),
    stringify({ report, pace: { requestsPerSecond: 1000 } }),
  )
  const lab = await labOf(scenarios, { storeFolder })
  return { lab, storeFolder, run: join(bucket, 'runs', runId) }
}

const to = (lab: Lab, recipient: string) => lab.mails().filter(mail => mail.to.includes(recipient))
/** The message's own header, unfolded. */
const header = (raw: Buffer, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'mi')
    .exec(
      raw
        .toString('latin1')
        .split('\r\n\r\n')[0]
        ?.replace(/\r\n[ \t]/g, ' ') ?? '',
    )?.[1]
    ?.trim()

describe('owners', () => {
  it('get what is theirs, and nothing else, while everybody gets all', async () => {
    const { lab, run } = await world({ owners: [payments, nodes] })
    await invoke(tick)
    expect(lab.mails()).toHaveLength(3)
    const [all, ofPayments, ofNodes] = ['team', 'payments', 'nodes'].map(
      name => to(lab, `${name}@example.com`)[0],
    )
    expect(all?.subject).toMatch(/ in 2 clusters - highwater 2026-/)
    expect(ofPayments?.subject).toMatch(/ in recorded - highwater payments 2026-/)
    expect(ofNodes?.subject).toMatch(/ in fleet - highwater general-nodes 2026-/)
    expect(ofPayments?.text).toContain(english.words.mail.audience('payments'))
    for (const part of [
      ofPayments?.text,
      ofPayments?.html,
      ofPayments?.attachments[0]?.content.toString(),
    ]) {
      expect(part).toContain('recorded')
      expect(shown(part)).not.toMatch(/\bfleet\b|ip-10-64-/)
    }
    expect(ofNodes?.attachments.map(({ fileName }) => fileName)).toEqual(['report.html'])
    expect(ofNodes?.attachments[0]?.content.toString()).not.toMatch(/data-disk|recorded/)
    expect(readFileSync(join(run, 'owners', 'payments', 'report.html'))).toEqual(
      ofPayments?.attachments[0]?.content,
    )
    expect(readFileSync(join(run, 'owners', 'payments', 'email.html'), 'utf8')).toBe(
      ofPayments?.html,
    )
    expect(readFileSync(join(run, 'email.html'), 'utf8')).toBe(all?.html)
  })

  it('get theirs once a tick', async () => {
    const { lab, run } = await world({ owners: [payments, nodes] })
    await invoke(tick)
    await expect(invoke(tick)).resolves.toMatchObject({ state: 'published-before' })
    expect(lab.mails()).toHaveLength(3)
    expect(existsSync(join(run, 'mail-payments.json'))).toBe(true)
  })

  it('are led to their own page where a site serves the bucket', async () => {
    const { lab } = await world({ owners: [payments] })
    await invoke(tick, { HIGHWATER_REPORT_BASE_URL: 'https://reports.example.com' })
    const [mail] = to(lab, 'payments@example.com')
    expect(mail?.text).toContain(
      `https://reports.example.com/runs/${runId}/owners/payments/report.html`,
    )
    expect(mail?.attachments).toEqual([])
    expect(to(lab, 'team@example.com')[0]?.text).toContain(
      `https://reports.example.com/runs/${runId}/report.html`,
    )
  })

  it('of nothing get nothing, and the answer says why', async () => {
    const { lab } = await world({ owners: [{ ...payments, match: { cluster: 'gone' } }] })
    const { deliveries } = await invoke(tick)
    expect(lab.mails()).toHaveLength(1)
    expect(deliveries.at(-1)).toMatchObject({
      channel: 'ses payments',
      error: null,
      location: 'not sent: nothing that this run met is of the owner payments',
    })
  })

  it('one of whom cannot be reached costs no other the mail, and the run ends red', async () => {
    const { lab } = await world(
      { owners: [{ ...payments, recipients: ['payments@elsewhere.test'] }, nodes] },
      [{ ...tagged, ses: { sandbox: true } }, fleet({ nodes: 5, podsPerNode: 1 })],
    )
    await expect(
      invoke(tick, { HIGHWATER_POLICY_RECIPIENTS: 'example.com,elsewhere.test' }),
    ).rejects.toThrowErrorMatchingSnapshot()
    expect(lab.mails().map(({ to: [first] }) => first)).toEqual([
      'team@example.com',
      'nodes@example.com',
    ])
  })

  it('without a sender get no mail, and the report says so', async () => {
    const { lab, run } = await world({ owners: [payments] })
    await expect(
      invoke(tick, { HIGHWATER_SENDER: '', HIGHWATER_RECIPIENTS: '' }),
    ).rejects.toThrowErrorMatchingSnapshot()
    expect(lab.mails()).toEqual([])
    expect(readFileSync(join(run, 'email.txt'), 'utf8').replace(/\s+/g, ' ')).toContain(
      'there is no sender: set report.sender',
    )
  })
})

describe('only on change', () => {
  it('is silent where nothing changed, for each by what is theirs', async () => {
    const report = { onlyOnChange: true, owners: [{ ...payments, onlyOnChange: true }, nodes] }
    const { lab, storeFolder } = await world(report)
    await invoke(tick)
    expect(lab.mails()).toHaveLength(3)
    const { deliveries } = await invoke({ ...tick, scheduledTime: '2026-11-22T05:00:00Z' })
    expect(lab.mails().map(({ to: [first] }) => first)).toEqual([
      'team@example.com',
      'payments@example.com',
      'nodes@example.com',
      'nodes@example.com',
    ])
    expect(
      deliveries.filter(({ channel }) => channel.startsWith('ses')).map(({ location }) => location),
    ).toEqual([
      expect.stringMatching(/^not sent: nothing has changed since the run of /),
      expect.stringMatching(/^not sent: nothing has changed since the run of /),
      expect.stringMatching(/^nodes@example\.com, message /),
    ])
    await lab.close()
    const grown = await labOf([tagged, fleet({ nodes: 30, podsPerNode: 1 })], { storeFolder })
    await invoke({ ...tick, scheduledTime: '2026-11-23T05:00:00Z' })
    expect(grown.mails().map(({ to: [first] }) => first)).toEqual([
      'team@example.com',
      'nodes@example.com',
    ])
    expect(grown.mails()[0]?.subject).toMatch(
      /^2 nodes evict now, first ip-10-64-0-19 \(\w+\); \d+ new/,
    )
  })
})

describe('the headers of a mail', () => {
  it('say where a reader is rid of it, and who hears that it came back', async () => {
    const unsubscribe = {
      mailto: 'stop@example.com',
      url: 'https://lists.example.com/stop?list=highwater',
      oneClick: true,
    }
    const { lab } = await world({
      owners: [payments],
      unsubscribe,
      bouncesTo: 'bounces@example.com',
    })
    await invoke(tick)
    const [mail] = to(lab, 'payments@example.com')
    expect(header(mail!.raw, 'List-Unsubscribe')).toMatchSnapshot()
    expect(header(mail!.raw, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
    expect(mail?.bouncesTo).toBe('bounces@example.com')
    expect(mail?.text?.replace(/\s+/g, ' ')).toContain('stop@example.com')
  })

  it('promise one click only where the policy does, and nothing where it says nothing', async () => {
    const { lab } = await world({ unsubscribe: { mailto: 'stop@example.com' } })
    await invoke(tick)
    expect(header(lab.mails()[0]!.raw, 'List-Unsubscribe')).toBe(
      '<mailto:stop@example.com?subject=unsubscribe%20highwater>',
    )
    expect(header(lab.mails()[0]!.raw, 'List-Unsubscribe-Post')).toBeUndefined()
    await lab.close()
    const silent = await world({})
    await invoke(tick)
    expect(header(silent.lab.mails()[0]!.raw, 'List-Unsubscribe')).toBeUndefined()
    expect(silent.lab.mails()[0]?.bouncesTo).toBe('highwater@example.com')
  })

  it('name an address for bounces that SES has not verified', async () => {
    const { lab } = await world({ bouncesTo: 'bounces@elsewhere.test' })
    await expect(
      invoke(tick, { HIGHWATER_POLICY_RECIPIENTS: 'elsewhere.test' }),
    ).rejects.toThrowErrorMatchingSnapshot()
    expect(lab.mails()).toEqual([])
  })
})

describe('other messengers', () => {
  const topic = { HIGHWATER_TOPIC_ARN: 'arn:aws:sns:us-east-1:111122223333:reports' }

  it('hear of the run once a tick, and are silent where the mail is', async () => {
    const { url, bodies } = await webhookServer()
    const environment = {
      ...topic,
      HIGHWATER_WEBHOOK_URL: url,
      HIGHWATER_WEBHOOK_HOSTS: 'localhost',
    }
    const { lab } = await world({ onlyOnChange: true }, [tagged])
    await invoke(tick, environment)
    await invoke(tick, environment)
    const [mail] = lab.mails()
    expect(lab.notices()).toEqual([
      { topicArn: topic.HIGHWATER_TOPIC_ARN, subject: mail?.subject, message: mail?.text },
    ])
    expect(bodies).toHaveLength(1)
    expect(JSON.parse(bodies[0]!).text).toMatch(
      /^Medium: .* in recorded - highwater .*\n- Medium: /,
    )
    const { deliveries } = await invoke(
      { ...tick, scheduledTime: '2026-11-22T05:00:00Z' },
      environment,
    )
    expect(deliveries.slice(1).map(({ channel, location }) => [channel, location])).toEqual(
      ['ses', 'sns', 'webhook'].map(channel => [
        channel,
        expect.stringMatching(/^not sent: nothing has changed/),
      ]),
    )
    expect([lab.mails().length, lab.notices().length, bodies.length]).toEqual([1, 1, 1])
  })

  it('that fail end the run red and cost the others nothing, and show no secret', async () => {
    const { lab } = await world({}, [{ ...tagged, sns: { denied: true } }])
    const run = invoke(tick, { ...topic, HIGHWATER_WEBHOOK_URL: 'https://127.0.0.1:1/s3cret' })
    await expect(run).rejects.toThrowErrorMatchingSnapshot()
    await expect(run).rejects.not.toThrow('s3cret')
    expect(lab.mails()).toHaveLength(1)
  })

  it('need no mail beside them', async () => {
    const { lab } = await world({}, [tagged])
    await invoke(tick, { ...topic, HIGHWATER_SENDER: '', HIGHWATER_RECIPIENTS: '' })
    expect(lab.notices()).toHaveLength(1)
    expect(lab.mails()).toEqual([])
  })
})
