/** A topic and a webhook, through the real SDK and sockets. */
import { describe, expect, it } from 'vitest'
import { s3Store } from '#clients/store/s3.ts'
import type { EventsScenario, SnsScenario } from '#lab/scenarios/scenario.ts'
import type { AuditReport, Delivery, MessageCard } from '#model/report.ts'
import { eventBridge } from '#publish/channels/event-bridge.ts'
import { sns } from '#publish/channels/sns.ts'
import { slackMessage, teamsMessage, webhook } from '#publish/channels/webhook.ts'
import { renderMail } from '#report/mail/mail.ts'
import { findingEvents } from '#report/parts/finding-events.ts'
import { hostileReport } from '#test/hostile-report.ts'
import { schemaErrors, schemaFile } from '#test/json-schema.ts'
import { labOf } from '#test/lab-audit.ts'
import { morningReport, secondMorning } from '#test/report-builder.ts'
import { webhookServer } from '#test/webhook-server.ts'

const runId = '2026-11-21T05-00-00Z'
const topicArn = 'arn:aws:sns:us-east-1:111122223333:reports'
const mail = {
  subject: '2 findings – prod',
  html: '<p>two</p>',
  text: 'two\n',
  brief: 'two <!channel> & more',
  card: {
    title: '2 findings – prod',
    lines: ['node-1: evicts now (prod, Nodegroup web)'],
    causes: ['Critical: <!channel> [click](https://evil.example) *now*. Step: set it'],
    link: null,
    open: 'highwater open latest --bucket reports',
  },
  events: [],
}

const enter = (scenario: Partial<SnsScenario> = {}, events: Partial<EventsScenario> = {}) =>
  labOf([
    {
      name: 'topics',
      about: 'a topic',
      clusters: [],
      expect: () => ({ nodes: [], notAudited: [] }),
      sns: scenario,
      events,
    },
  ])
const once = () => ({
  runId,
  store: s3Store({ bucket: 'highwater-lab', prefix: '', region: 'us-east-1' }),
  now: () => new Date(),
})

describe('a topic', () => {
  it("gets the mail's text once for a run, under a subject that SNS takes", async () => {
    const lab = await enter()
    const channel = sns({ ...once(), topicArn })
    const first = await channel.send(mail, [])
    expect(first).toMatchObject({
      channel: 'sns',
      state: 'sent',
      error: null,
      location: `${topicArn}, message ${first.messageId}`,
    })
    expect(lab.notices()).toEqual([{ topicArn, subject: '2 findings ? prod', message: 'two\n' }])
    const again = await channel.send(mail, [])
    expect(again.location).toMatch(/^not sent again: .* as message /)
    expect(lab.notices()).toHaveLength(1)
  })

  it('gets what is too long for it cut, with a mark', async () => {
    const lab = await enter()
    const text = '語'.repeat(100_000)
    const delivery = await sns({ ...once(), topicArn }).send(
      { ...mail, subject: '語'.repeat(300), text },
      [],
    )
    expect(delivery.error).toBeNull()
    const { message, subject } = lab.notices()[0]!
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(262_144)
    expect(message).toMatch(/語+\ufffd?\n… \(cut\)$/)
    expect(subject).toMatch(/^[!-~][ -~]{0,99}$/)
  })

  it.each<[string, Partial<SnsScenario>, RegExp]>([
    ['is not there', { topics: [] }, /there is no such topic .*set the stack's parameter topicArn/],
    ['is not allowed', { denied: true }, /not allowed .*Grant sns:Publish on that topic/],
    [
      'has a key that is not lent',
      { kmsDenied: true },
      /KMS key cannot be used .*Grant kms:GenerateDataKey and kms:Decrypt/,
    ],
    ['does not answer', { down: true }, /refused the connection/],
  ])('that %s: the delivery says so', async (_, scenario, message) => {
    const lab = await enter(scenario)
    const delivery = await sns({ ...once(), topicArn }).send(mail, [])
    expect(delivery).toMatchObject({
      state: 'failed',
      location: null,
      error: expect.stringMatching(message),
    })
    expect(delivery.error).toContain(`Publish to ${topicArn}`)
    expect(lab.notices()).toEqual([])
  })
})

describe('a bus', () => {
  const busArn = 'arn:aws:events:us-east-1:111122223333:event-bus/default'
  const events = findingEvents(secondMorning(), 'https://reports.example.com/report.html')

  it('gets an event for each changed finding once for a run, ten in a request', async () => {
    const lab = await enter()
    const many = Array.from({ length: 23 }, (_, index) => ({ ...events[0]!, finding: `${index}` }))
    const channel = eventBridge({ ...once(), busArn })
    const delivery = await channel.send({ ...mail, events: [...many, ...events] }, [])
    expect(delivery).toMatchObject({ channel: 'eventbridge', state: 'sent', location: busArn })
    const taken = lab.events()
    expect(taken.map(({ Detail }) => JSON.parse(String(Detail)))).toEqual([...many, ...events])
    expect(taken[0]).toMatchObject({ Source: 'highwater', EventBusName: busArn })
    expect(new Set(taken.map(({ DetailType }) => DetailType))).toEqual(
      new Set(events.map(({ change }) => `Finding ${change}`)),
    )
    expect(lab.requests().routes.events?.PutEvents).toBe(Math.ceil(taken.length / 10))
    await channel.send({ ...mail, events }, [])
    expect(lab.events()).toHaveLength(taken.length)
  })

  it('gets nothing where nothing changed, and is not asked', async () => {
    const lab = await enter({}, { denied: true })
    const channel = eventBridge({ ...once(), busArn })
    expect(await channel.send(mail, [])).toMatchObject({ state: 'sent', error: null })
    expect(lab.events()).toEqual([])
  })

  it.each<[string, Partial<EventsScenario>, RegExp]>([
    ['is not there', { buses: [] }, /events were refused: ResourceNotFoundException: .*not exist/],
    ['is not allowed', { denied: true }, /Grant events:PutEvents on arn:aws:events:/],
  ])('that %s: the delivery says so', async (_, scenario, message) => {
    await enter({}, scenario)
    const channel = eventBridge({ ...once(), busArn })
    expect(await channel.send({ ...mail, events }, [])).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(message),
    })
  })
})

describe('a webhook', () => {
  it('gets the mail in a few lines once for a run, as text that mentions no one', async () => {
    await enter()
    const { url, bodies } = await webhookServer()
    const channel = webhook({ ...once(), url, allowedHosts: ['local*'], format: 'slack' })
    expect(await channel.send(mail, [])).toMatchObject({
      channel: 'webhook',
      state: 'sent',
      error: null,
      location: 'localhost',
      messageId: '',
    })
    expect((await channel.send(mail, [])).location).toMatch(/^not sent again: .* at [\dTZ:.-]+$/)
    const [message] = bodies.map(body => JSON.parse(body))
    expect(bodies).toHaveLength(1)
    expect(message).toMatchObject({ text: 'two &lt;!channel&gt; &amp; more', mrkdwn: false })
    expect(message).toEqual(JSON.parse(JSON.stringify(slackMessage(mail.brief, mail.card))))
  })

  it('on a host that the policy does not name gets nothing, and the reason names no secret', async () => {
    await enter()
    const { url, bodies } = await webhookServer()
    const delivery = await webhook({
      ...once(),
      url,
      allowedHosts: ['hooks.slack.com'],
      format: 'slack',
    }).send(mail, [])
    expect(delivery.error).toBe(
      "nothing was sent to the webhook: its host localhost is not one of the stack's webhookHosts (hooks.slack.com). Add the host to that parameter (HIGHWATER_WEBHOOK_HOSTS) if it is meant",
    )
    expect(bodies).toEqual([])
  })
})

/** Slack refuses blocks of about 13,000 characters together. Source: slackapi/bolt-js issue 2509. */
const mostBlocks = 13_000
/** Source: Microsoft Teams, "Create incoming webhooks": 28 KB. */
const mostTeamsBytes = 28_000
const slackErrors = schemaErrors(schemaFile('slack-message.json'))
const teamsErrors = schemaErrors(schemaFile('adaptive-card-1.5.json'))

describe('the card', () => {
  const { card } = mail
  const link = { text: 'Open the report', url: 'https://reports.example.com/runs/1/report.html' }

  it('for Slack and for Teams has verdict, causes and link', async () => {
    const cards = {
      slack: slackMessage(mail.brief, card),
      slackWithLink: slackMessage(mail.brief, { ...card, link }),
      teams: teamsMessage(card),
      teamsWithLink: teamsMessage({ ...card, link }),
    }
    await expect(`${JSON.stringify(cards, null, 2)}\n`).toMatchFileSnapshot('golden/cards.json')
  })

  const linked = { channel: 's3', state: 'stored', location: 's3://x', link: link.url, error: null }
  const mailOf = (report: AuditReport, deliveries: Delivery[] = []) =>
    renderMail(report, deliveries)
  const long = (text: string) => ({
    brief: text.slice(0, 3000),
    card: {
      title: text,
      lines: Array(11).fill(text),
      causes: [text, text, text],
      link: null,
      open: text,
    },
  })
  it.each<[string, { brief: string; card: MessageCard }]>([
    ['a morning', mailOf(morningReport())],
    ['a second morning with a link', mailOf(secondMorning(), [linked as Delivery])],
    ['nothing but a title', { brief: 'x', card: { ...card, lines: [], causes: [], open: null } }],
    ...['x', '語', '*', '\u{1f4a5}'].flatMap(filler => [
      [`names of ${filler}`, mailOf(hostileReport(filler))] as [string, typeof mail],
      [`texts of ${filler} that no report has`, long(filler.repeat(5000))] as [string, typeof mail],
    ]),
  ])('is valid by the schemas of Slack and Teams, and not too large: %s', (_, { brief, card }) => {
    const [slack, teams] = [slackMessage(brief, card), teamsMessage(card)]
    expect(slackErrors(slack)).toEqual([])
    expect(teamsErrors(teams)).toEqual([])
    expect(JSON.stringify(slack.blocks).length).toBeLessThan(mostBlocks)
    expect(Buffer.byteLength(JSON.stringify(teams))).toBeLessThan(mostTeamsBytes)
  })

  it('is looked at by schemas that refuse what is wrong', () => {
    const slack = slackMessage('x', card)
    const [header] = slack.blocks
    expect(slackErrors({ ...slack, blocks: Array(51).fill(header) })).not.toEqual([])
    expect(slackErrors({ ...slack, blocks: [{ type: 'section', text: 'x' }] })).not.toEqual([])
    const teams = JSON.stringify(teamsMessage(card))
    for (const [part, wrong] of [
      ['"bolder"', '"boldest"'],
      ['"wrap"', '"wraps"'],
      ['"TextBlock"', '"Text"'],
    ] as const) {
      expect(teams).toContain(part)
      expect(teamsErrors(JSON.parse(teams.replace(part, wrong)))).not.toEqual([])
    }
  })

  it('keeps to the limits of Slack, and has no text that Slack reads as markup', () => {
    const long = 'x'.repeat(5000)
    const { blocks } = slackMessage(long, { ...card, title: long, causes: [long], link })
    const texts = JSON.stringify(blocks).match(/"type":"[a-z_]+","text":"/g)
    expect(new Set(texts)).toEqual(new Set(['"type":"plain_text","text":"']))
    const [header, , cause] = blocks as { text: { text: string } }[]
    expect(header!.text.text).toHaveLength(150)
    expect(cause!.text.text).toHaveLength(2000)
  })

  it('of Teams goes through a webhook, and makes no link of a text', async () => {
    await enter()
    const { url, bodies } = await webhookServer()
    await webhook({ ...once(), url, allowedHosts: ['local*'], format: 'teams' }).send(mail, [])
    const { content } = JSON.parse(bodies[0]!).attachments[0]
    expect(content).toMatchObject({ type: 'AdaptiveCard', version: '1.5', actions: [] })
    expect(content.body[2].text).toContain('\\[click\\]\\(https://evil.example\\) \\*now\\*')
  })
})
