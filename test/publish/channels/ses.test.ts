import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { s3Store } from '#clients/store/s3.ts'
import { type Lab, type LabOptions, startLab } from '#lab/lab.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { type SesOptions, ses } from '#publish/channels/ses.ts'

const runId = '2026-11-21T05-00-00Z'
const region = 'us-east-1'
const parts = { subject: '2 findings in prod', html: '<p>two</p>', text: 'two\n' }
const card = { title: 'two', lines: [], causes: [], link: null, open: null }
const mail = { ...parts, brief: 'two', card, events: [] }

let lab: Lab
afterEach(async () => {
  vi.unstubAllEnvs()
  await lab.close()
})

async function enter(more: Partial<Scenario> = {}, options: LabOptions = {}): Promise<void> {
  const scenario = {
    name: 'mail',
    about: 'a mailbox',
    clusters: [],
    expect: () => ({ nodes: [], notAudited: [] }),
    ...more,
  }
  lab = await startLab(scenario, options)
  for (const [name, value] of Object.entries(lab.environment)) vi.stubEnv(name, value)
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1')
}

const bucket = () => s3Store({ bucket: 'highwater-lab', prefix: '', region })
const channel = (more: Partial<SesOptions> = {}) =>
  ses({
    from: 'audit@example.com',
    to: ['team@example.com'],
    region,
    runId,
    store: bucket(),
    now: () => new Date(),
    ...more,
  })

it("has the world's time in its header and in the mailbox", async () => {
  await enter({}, { at: '2031-03-09T05:00:00Z' })
  await channel().send(mail, [])
  const [taken] = lab.mails()
  expect(taken?.at).toMatch(/^2031-03-09T05:00:/)
  expect(String(taken?.raw)).toMatch(/^Date: Sun, 09 Mar 2031 05:00:\d\d \+0000$/m)
})

describe('the mail of a run', () => {
  beforeEach(() => enter())

  it('goes with its attachment, and says to whom', async () => {
    const attachment = {
      fileName: 'report.html',
      contentType: 'text/html',
      body: Buffer.from('<p>report</p>'),
    }
    const delivery = await channel().send(mail, [attachment])
    const [taken] = lab.mails()
    expect(delivery).toEqual({
      channel: 'ses',
      state: 'sent',
      location: `team@example.com, message ${taken?.messageId}`,
      link: null,
      error: null,
      messageId: taken?.messageId,
      doubt: null,
    })
    expect(taken).toMatchObject({ from: 'audit@example.com', to: ['team@example.com'], ...parts })
    expect(
      taken?.attachments.map(({ fileName, content }) => [fileName, content.toString()]),
    ).toEqual([['report.html', '<p>report</p>']])
  })

  it('names three recipients and counts the others', async () => {
    const to = ['a', 'b', 'c', 'd', 'e'].map(name => `${name}@example.com`)
    expect((await channel({ to }).send(mail, [])).location).toMatch(
      /^a@example\.com, b@example\.com, c@example\.com and 2 more, message /,
    )
  })

  it('goes once for a run id, from any sender', async () => {
    const first = await channel().send(mail, [])
    const again = await channel().send(mail, [])
    expect(again).toMatchObject({ state: 'sent-before', error: null, messageId: first.messageId })
    expect(again.location).toMatch(
      new RegExp(`^not sent again: the mail of this run went at .* as message ${first.messageId}$`),
    )
    await channel({ runId: '2026-11-22T05-00-00Z' }).send(mail, [])
    expect(lab.mails()).toHaveLength(2)
  })

  it('goes once when the run is delivered twice at the same time', async () => {
    const deliveries = await Promise.all([channel().send(mail, []), channel().send(mail, [])])
    expect(lab.mails()).toHaveLength(1)
    expect(deliveries.map(({ error }) => error)).toEqual([null, null])
    expect(deliveries.map(({ state }) => state)).toContain('sent')
  })

  it('is left to the other delivery, and says until when', async () => {
    const now = () => new Date('2026-11-21T05:03:00Z')
    const held = {
      schema: 'highwater.send/1',
      state: 'sending',
      holder: 'other',
      at: '…',
      expiresAt: '2026-11-21T05:04:00Z',
    }
    await bucket().write(`runs/${runId}/mail.json`, JSON.stringify(held), 'application/json')
    expect(await channel({ now }).send(mail, [])).toMatchObject({
      state: 'being-sent',
      location:
        'not sent: another delivery of this run is sending it, until 2026-11-21T05:04:00Z at the latest',
      messageId: null,
      error: null,
    })
    expect(lab.mails()).toEqual([])
  })

  it('without a store goes each time, and says that', async () => {
    const delivery = await channel({ store: null }).send(mail, [])
    expect(delivery.location).toMatch(/It may come twice: .* no store/)
    await channel({ store: null }).send(mail, [])
    expect(lab.mails()).toHaveLength(2)
  })

  it('without receivers is an error, not a crash', async () => {
    expect(await channel({ to: [] }).send(mail, [])).toMatchObject({
      state: 'failed',
      location: null,
      error: expect.stringMatching(/no recipient/),
    })
  })
})

describe('when the outside fails', () => {
  it('the mail goes without S3, and says that it may come twice', async () => {
    await enter({ s3: { down: true } })
    const delivery = await channel().send(mail, [])
    expect(delivery).toMatchObject({ state: 'sent', error: null })
    expect(delivery.location).toMatch(/It may come twice: .* S3 PutObject .* refused/)
    expect(lab.mails()).toHaveLength(1)
  })

  it.each<[string, Scenario['ses'], RegExp]>([
    ['SES is down', { down: true }, /SES SendEmail in us-east-1: .*refused the connection/],
    [
      'SES is in its sandbox',
      { sandbox: true, identities: ['audit@example.com'] },
      /SES sandbox.*verify team@example\.com, or ask for production access/,
    ],
    [
      'the sender is not verified',
      { identities: [] },
      /verify the sender audit@example\.com or its domain/,
    ],
    ['sending is paused', { sendingPaused: true }, /sending is paused for this account/],
    [
      'it is not allowed',
      { denied: true },
      /Grant ses:SendEmail from audit@example\.com \(the stack's parameter sender, or policySender/,
    ],
  ])('%s: the delivery says so, and the marker that it failed', async (_, scenario, message) => {
    await enter({ ses: scenario })
    const delivery = await channel().send(mail, [])
    expect(delivery).toMatchObject({
      channel: 'ses',
      state: 'failed',
      location: null,
      error: expect.stringMatching(message),
    })
    const marker = await bucket().read(`runs/${runId}/mail.json`)
    expect(JSON.parse(marker?.body.toString() ?? '')).toMatchObject({
      state: 'failed',
      error: delivery.error,
    })
    expect(lab.mails()).toEqual([])
  })

  it('a mail that was refused goes at the next delivery', async () => {
    await enter({ ses: { refuseFirst: { count: 1, error: 'LimitExceededException' } } })
    expect(await channel().send(mail, [])).toMatchObject({ state: 'failed' })
    expect(await channel().send(mail, [])).toMatchObject({ state: 'sent', doubt: null })
  })
})

describe('a mail to who is on the suppression list', () => {
  const suppressed = [
    { address: 'Gone@example.com', reason: 'BOUNCE' as const, since: '2026-11-01T00:00:00Z' },
  ]
  const gone =
    /gone@example\.com \(a mail to it came back, 2026-11-01\) gets nothing: SES has it on the account's suppression list in us-east-1\. Once the address works: aws sesv2 delete-suppressed-destination --region us-east-1 --email-address ADDRESS$/

  it('goes to the others, and says who gets nothing, before and after', async () => {
    await enter({ ses: { suppressed } })
    const way = channel({ to: ['team@example.com', 'gone@example.com'] })
    expect(await way.undeliverable?.()).toMatch(gone)
    const delivery = await way.send(mail, [])
    expect(delivery).toMatchObject({
      state: 'sent',
      error: null,
      location: expect.stringMatching(gone),
    })
    expect(lab.mails()).toMatchObject([{ to: ['team@example.com'] }])
    expect(lab.requests().routes.sesv2).toEqual({ GetSuppressedDestination: 2, SendEmail: 1 })
  })

  it('fails, unsent, if no receiver would get it', async () => {
    await enter({ ses: { suppressed } })
    const delivery = await channel({ to: ['gone@example.com'] }).send(mail, [])
    expect(delivery).toMatchObject({
      state: 'failed',
      location: null,
      error: expect.stringMatching(/^not sent: gone@example/),
    })
    expect(lab.requests().routes.sesv2).toEqual({ GetSuppressedDestination: 1 })
  })

  it('goes where that may not be asked, and says that it is not known', async () => {
    await enter({ ses: { suppressed, suppressionDenied: true } })
    const way = channel()
    expect(await way.undeliverable?.()).toBeNull()
    expect(await way.send(mail, [])).toMatchObject({
      state: 'sent',
      location: expect.stringMatching(/Grant ses:GetSuppressedDestination/),
    })
  })
})
