import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Mail } from '#clients/send/mail.ts'
import { mailBytes, sendMail, suppressedAmong } from '#clients/send/sesv2.ts'
import { sesMessageMaxBytes } from '#facts/aws/limits.ts'
import { jsonError, type Stub, type StubAnswer, startStub } from '#test/http-stub.ts'

const mail: Mail = {
  from: 'Highwater <audit@example.com>',
  to: ['team@example.com', 'ops@example.net'],
  subject: '2 findings in prod',
  html: '<p>Grüße</p>',
  text: 'Grüße',
  attachments: [],
}
const region = 'eu-central-1'
const sent: StubAnswer = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"MessageId":"0100-1"}',
}

let stub: Stub | null = null

async function ses(...answers: StubAnswer[]): Promise<Stub> {
  stub = await startStub((_, count) => answers[Math.min(count, answers.length) - 1] ?? sent)
  vi.stubEnv('AWS_ENDPOINT_URL_SESV2', stub.url)
  return stub
}
const send = (
  more: Partial<Mail> = {},
  options: { timeLimitMs?: number; signal?: AbortSignal } = {},
) => sendMail({ ...mail, ...more }, { region, backoffMs: 1, ...options })
const bodyOf = (server: Stub, index = 0) =>
  JSON.parse(server.requests[index]?.body.toString() ?? 'null')

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'example')
  vi.stubEnv('AWS_SESSION_TOKEN', undefined)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await stub?.close()
  stub = null
})

describe('a mail', () => {
  it('goes as one SendEmail, and the answer is its message id', async () => {
    const server = await ses(sent)
    expect(await send()).toBe('0100-1')
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]).toMatchObject({ method: 'POST', url: '/v2/email/outbound-emails' })
    expect(bodyOf(server)).toEqual({
      FromEmailAddress: 'Highwater <audit@example.com>',
      Destination: { ToAddresses: ['team@example.com', 'ops@example.net'] },
      Content: {
        Simple: {
          Subject: { Data: '2 findings in prod', Charset: 'UTF-8' },
          Body: {
            Html: { Data: '<p>Grüße</p>', Charset: 'UTF-8' },
            Text: { Data: 'Grüße', Charset: 'UTF-8' },
          },
        },
      },
    })
  })

  it('has a subject that no mail program decodes', async () => {
    const server = await ses(sent)
    await send({ subject: '=?utf-8?q?All_fine?= evicts in prod' })
    expect(bodyOf(server).Content.Simple.Subject.Data).not.toContain('?=')
  })

  it('carries its attachments whole', async () => {
    const server = await ses(sent)
    await send({
      attachments: [
        { fileName: 'report.html', contentType: 'text/html', body: Buffer.from('<p>ü</p>') },
      ],
    })
    const [attachment] = bodyOf(server).Content.Simple.Attachments
    expect(attachment).toMatchObject({
      FileName: 'report.html',
      ContentType: 'text/html',
      ContentTransferEncoding: 'BASE64',
    })
    expect(Buffer.from(attachment.RawContent, 'base64').toString()).toBe('<p>ü</p>')
  })

  it('is the same bytes each time', async () => {
    const server = await ses(sent)
    const attachments = [
      { fileName: 'report.html', contentType: 'text/html', body: Buffer.from('x') },
    ]
    await send({ attachments })
    await send({ attachments })
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body)
  })

  it('has a subject on one line, whatever is in it', async () => {
    const server = await ses(sent)
    await send({ subject: 'node a\r\nBcc: all@example.com' })
    expect(bodyOf(server).Content.Simple.Subject.Data).toMatchSnapshot()
  })
})

describe('a mail that cannot go as it is never reaches SES', () => {
  it.each<[string, Partial<Mail>, RegExp]>([
    ['without a recipient', { to: [] }, /has no recipient/],
    [
      'to more than 50 recipients',
      { to: Array.from({ length: 51 }, (_, index) => `${index}@example.com`) },
      /51 recipients, SES takes 50\. Use the address of a distribution list/,
    ],
    [
      'to what are no addresses, all of them named',
      { to: ['team', 'a@b@c', 'team@example.com', 'a@example.com\r\nBcc: b'] },
      /^No e-mail address: "team", "a@b@c", "a@example\.com Bcc: b"$/,
    ],
    [
      'to an address that is not printable ASCII',
      { to: ['a\0@example.com', 'a\u3164@example.com', 'a@ex\u0430mple.com'] },
      /^No e-mail address/,
    ],
    ['from what is no address', { from: 'Highwater' }, /No e-mail address: "Highwater"/],
    [
      'larger than SES takes',
      {
        attachments: [{ fileName: 'a', contentType: 'text/html', body: Buffer.alloc(30_000_000) }],
      },
      /SES takes 40000000\. Send a link instead/,
    ],
  ])('%s', async (_, more, message) => {
    const server = await ses(sent)
    await expect(send(more)).rejects.toThrow(message)
    expect(server.requests).toEqual([])
  })

  it.each([
    { bytes: 29_218_500, fits: true },
    { bytes: 29_240_000, fits: false },
  ])(
    'an attachment of $bytes bytes fits after base64 and its line ends: $fits',
    ({ bytes, fits }) => {
      const size = mailBytes({
        html: '',
        text: '',
        attachments: [{ fileName: 'a', contentType: 'b', body: Buffer.alloc(bytes) }],
      })
      expect(size <= sesMessageMaxBytes).toBe(fits)
    },
  )
})

describe('what SES refuses is said in one paragraph', () => {
  it.each<[string, StubAnswer, RegExp]>([
    [
      'the sandbox, and which recipients',
      jsonError(
        400,
        'MessageRejected',
        'Email address is not verified. The following identities failed the check in region EU-CENTRAL-1: ops@example.net, team@example.com',
      ),
      /SES sandbox, where recipients have to be verified, too: verify team@example\.com, ops@example\.net, or ask for production access$/,
    ],
    [
      'an unverified sender, and nothing about recipients',
      jsonError(
        400,
        'MessageRejected',
        'Email address is not verified. The following identities failed the check in region EU-CENTRAL-1: Highwater <audit@example.com>',
      ),
      /To do: verify the sender Highwater <audit@example\.com> or its domain in the SES console of eu-central-1$/,
    ],
    [
      'another refusal',
      jsonError(400, 'MessageRejected', 'Virus found'),
      /refused for what is in it \(Virus found\)/,
    ],
    [
      'the MAIL FROM domain',
      jsonError(400, 'MailFromDomainNotVerifiedException', 'no MX'),
      /MAIL FROM domain of .* not verified/,
    ],
    [
      'sending paused',
      jsonError(400, 'SendingPausedException', 'paused'),
      /sending is paused for this account .* resume it there$/,
    ],
    [
      'a suspended account',
      jsonError(400, 'AccountSuspendedException', 'x'),
      /AWS has suspended sending .* AWS Support/,
    ],
    [
      'a malformed address',
      jsonError(400, 'BadRequestException', 'Illegal address'),
      /malformed \(Illegal address\)\. From .* only ASCII/,
    ],
    [
      'a right that is missing',
      jsonError(403, 'AccessDeniedException', 'User is not authorized to perform ses:SendEmail'),
      /not allowed .*Grant ses:SendEmail from audit@example\.com \(.*policySender .*report\.sender\) to this identity$/,
    ],
    [
      'the quota of a day',
      jsonError(429, 'TooManyRequestsException', 'Daily message quota exceeded.'),
      /daily quota of mails is used up/,
    ],
    [
      'an operation that is not known',
      jsonError(501, 'NotImplemented', 'unknown'),
      /was answered 501 NotImplemented: unknown$/,
    ],
    [
      'an endpoint that is not SES',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
      /no SES answer\. Check AWS_ENDPOINT_URL_SESV2/,
    ],
  ])('%s', async (_, answer, message) => {
    const server = await ses(answer)
    const error = await send().catch((error: unknown) => error)
    expect(error).toMatchObject({ name: 'RequestFailure', message: expect.stringMatching(message) })
    expect((error as Error).message).toMatchSnapshot()
    expect((error as Error).message).not.toContain('\n')
    expect(server.requests).toHaveLength(1)
  })
})

describe('another try', () => {
  it.each<[string, StubAnswer]>([
    ['throttled', jsonError(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.')],
    ['answered 500', jsonError(500, 'InternalServiceErrorException', 'try again')],
  ])('is made when %s', async (_, answer) => {
    const server = await ses(answer, answer, sent)
    expect(await send()).toBe('0100-1')
    expect(server.requests).toHaveLength(3)
  })

  it('is made a bounded number of times', async () => {
    const server = await ses(
      jsonError(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.'),
    )
    await expect(send()).rejects.toThrowErrorMatchingSnapshot()
    expect(server.requests).toHaveLength(4)
  })

  it('is not made when the connection broke: SES may have taken the mail, and the message says that', async () => {
    const server = await ses('break')
    await expect(send()).rejects.toThrowErrorMatchingSnapshot()
    expect(server.requests).toHaveLength(1)
  })

  it('does not help where nothing listens, and the mail surely did not go', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_SESV2', 'http://127.0.0.1:1')
    await expect(send()).rejects.toThrowErrorMatchingSnapshot()
  })
})

describe('time', () => {
  it('is limited for all tries together', async () => {
    await ses('hang')
    await expect(send({}, { timeLimitMs: 50 })).rejects.toMatchObject({
      kind: 'timeout',
      message: expect.stringMatching(
        /no answer within 0\.05 s\. Whether the mail went is not known$/,
      ),
    })
  })

  it("ends with the run: the signal's own reason is thrown", async () => {
    await ses('hang')
    await expect(
      send({}, { signal: AbortSignal.abort(new Error('the run has ended')) }),
    ).rejects.toThrow('the run has ended')
  })
})

describe('the suppression list', () => {
  const notThere = jsonError(
    404,
    'NotFoundException',
    'Email address does not exist on your suppression list.',
  )
  const listed = (fields: object): StubAnswer => ({
    ...{ status: 200, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ SuppressedDestination: fields }),
  })
  const ask = (addresses: string[], options: { timeLimitMs?: number; signal?: AbortSignal } = {}) =>
    suppressedAmong(addresses, { region, gapMs: 1, ...options })

  it('is asked for each recipient by its bare address, and for no other', async () => {
    const server = await ses(
      notThere,
      listed({ EmailAddress: 'ops@example.net', Reason: 'BOUNCE', LastUpdateTime: 1_793_491_200 }),
      notThere,
    )
    expect(
      await ask(['Team <team@example.com>', 'ops@example.net', "o'neil+a@example.com"]),
    ).toEqual({
      suppressed: [{ address: 'ops@example.net', reason: 'BOUNCE', since: '2026-11-01' }],
      unknown: null,
    })
    expect(
      server.requests.map(({ method, url }) => `${method} ${decodeURIComponent(url ?? '')}`),
    ).toMatchSnapshot()
  })

  it.each<[string, StubAnswer, RegExp]>([
    [
      'is forbidden',
      jsonError(403, 'AccessDeniedException', 'no'),
      /not allowed \(no\)\. Grant ses:GetSuppressedDestination to this identity/,
    ],
    ['fails', jsonError(500, 'InternalFailure', 'oops'), /was answered 500/],
  ])(
    'that %s leaves open what it did not say, and keeps what it did',
    async (_, answer, reason) => {
      await ses(listed({ Reason: 'COMPLAINT' }), answer)
      expect(await ask(['a@example.com', 'b@example.com'])).toEqual({
        suppressed: [{ address: 'a@example.com', reason: 'COMPLAINT', since: null }],
        unknown: expect.stringMatching(reason),
      })
    },
  )

  it('keeps no mail waiting for long', async () => {
    await ses(notThere)
    const late = suppressedAmong(['a@example.com', 'b@example.com'], {
      region,
      gapMs: 60_000,
      timeLimitMs: 2000,
    })
    expect(await late).toMatchSnapshot()
  })

  it('ends with the run', async () => {
    await ses(notThere)
    const stop = new AbortController()
    stop.abort(new Error('the run was stopped'))
    await expect(ask(['a@example.com'], { signal: stop.signal })).rejects.toThrow(
      'the run was stopped',
    )
  })
})
