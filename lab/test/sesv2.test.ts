import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  GetAccountCommand,
  GetSuppressedDestinationCommand,
  ListEmailIdentitiesCommand,
  SESv2Client,
  SendEmailCommand,
  type SendEmailCommandInput,
} from '@aws-sdk/client-sesv2'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Lab, LabOptions } from '#lab/lab.ts'
import type { SesScenario } from '#lab/scenarios/scenario.ts'
import { enterLab, scenario } from './support.ts'

let lab: Lab
afterEach(() => lab.close())

const enter = async (ses: Partial<SesScenario> = {}, options: LabOptions = {}) => {
  lab = await enterLab(scenario([], { ses }), options)
}
const client = (more: ConstructorParameters<typeof SESv2Client>[0] = {}) =>
  new SESv2Client({ maxAttempts: 1, ...more })
const usual: SendEmailCommandInput = {
  FromEmailAddress: 'highwater <highwater@example.com>',
  Destination: { ToAddresses: ['team@example.org'] },
  Content: {
    Simple: {
      Subject: { Data: 'Daily report' },
      Body: { Html: { Data: '<p>grün</p>' }, Text: { Data: 'grün' } },
    },
  },
}
const send = (more: Partial<SendEmailCommandInput> = {}, ses = client()) =>
  ses.send(new SendEmailCommand({ ...usual, ...more }))
const simple = (more: object) =>
  ({ Content: { Simple: { ...usual.Content?.Simple, ...more } } }) as Partial<SendEmailCommandInput>
const raw = (text: string) => ({
  FromEmailAddress: undefined,
  Destination: undefined,
  Content: { Raw: { Data: Buffer.from(text) } },
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'highwater-lab-mail-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

describe('SES in the lab', () => {
  it('takes a simple message, and composes what goes over the wire', async () => {
    await enter()
    const attachments = [
      {
        FileName: 'report für alle.html',
        RawContent: Buffer.from('<h1>'),
        ContentType: 'text/html',
      },
      { FileName: 'findings.json', RawContent: Buffer.from('{}') },
    ]
    const { MessageId } = await send({
      ...simple({
        Subject: { Data: '3 findings – critical' },
        Attachments: attachments,
        Headers: [{ Name: 'X-Run', Value: '2026' }],
      }),
      Destination: {
        ToAddresses: ['a@example.org', 'b@example.org'],
        CcAddresses: ['c@example.org'],
        BccAddresses: ['d@example.org'],
      },
    })
    const [mail, ...more] = lab.mails()
    expect(more).toEqual([])
    expect(mail).toMatchObject({
      messageId: MessageId,
      from: 'highwater@example.com',
      to: ['a@example.org', 'b@example.org'],
      cc: ['c@example.org'],
      bcc: ['d@example.org'],
      subject: '3 findings – critical',
      html: '<p>grün</p>',
      text: 'grün',
      attachments: [
        {
          fileName: 'report für alle.html',
          contentType: 'text/html',
          content: Buffer.from('<h1>'),
        },
        {
          fileName: 'findings.json',
          contentType: 'application/octet-stream',
          content: Buffer.from('{}'),
        },
      ],
    })
    const wire = mail?.raw.toString() ?? ''
    expect(wire).toContain('X-Run: 2026')
    expect(wire).not.toContain('d@example.org')
    expect(wire).toMatch(/^[\r\n -~]*$/)
  })

  it('takes a raw message as it is, and reads its parts', async () => {
    await enter()
    const message = [
      'From: "Ops, highwater" <highwater@example.com>',
      'To: "Team, Platform" <team@example.org>,',
      '\tops@example.org',
      'cc: lead@example.org',
      'Subject: =?UTF-8?Q?=C3=9Cberlauf_?=',
      ' =?utf-8?b?c2VociBsYW5n?= (2 nodes)',
      'Content-Type: multipart/mixed; boundary="out(er)"',
      '',
      'not shown',
      '--out(er)',
      'Content-Type: multipart/alternative; boundary=inner',
      '',
      '--inner',
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'gr=FCn =3D lo=  ',
      'ng',
      '--inner',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      'PHA+Z3LD',
      'vG48L3A+',
      '--inner--',
      '--out(er)',
      'Content-Type: text/html; name=ignored.html',
      'Content-Disposition: attachment;',
      " filename*0*=utf-8''bericht%20f%C3%BCr%20;",
      ' filename*1="alle.html"',
      '',
      '<h1>--inner</h1>',
      '--out(er)',
      'Content-Type: application/json; name="a;b \\"c\\".json"',
      'Content-Disposition: attachment',
      'Content-Transfer-Encoding: base64',
      '',
      'e30=',
      '--out(er)--',
      '',
    ].join('\r\n')
    await send(raw(message))
    const [mail] = lab.mails()
    expect(mail?.raw.toString()).toBe(message)
    expect(mail).toMatchObject({
      from: 'highwater@example.com',
      to: ['team@example.org', 'ops@example.org'],
      cc: ['lead@example.org'],
      bcc: [],
      subject: 'Überlauf sehr lang (2 nodes)',
      text: 'grün = long',
      html: '<p>grün</p>',
    })
    expect(
      mail?.attachments.map(({ fileName, contentType, content }) => [
        fileName,
        contentType,
        content.toString(),
      ]),
    ).toEqual([
      ['bericht für alle.html', 'text/html', '<h1>--inner</h1>'],
      ['a;b "c".json', 'application/json', '{}'],
    ])
  })

  it('sends a raw message to whom the request says, not the headers', async () => {
    await enter()
    const message =
      'From: highwater@example.com\r\nTo: header@example.org\r\nSubject: s\r\n\r\nt\r\n'
    await send({ ...raw(message), Destination: { ToAddresses: ['request@example.org'] } })
    expect(lab.mails()).toMatchObject([{ to: ['request@example.org'], html: null, text: 't\r\n' }])
  })

  it('tells about the account', async () => {
    await enter()
    await send()
    expect(await client().send(new GetAccountCommand({}))).toMatchObject({
      ProductionAccessEnabled: true,
      SendingEnabled: true,
      EnforcementStatus: 'HEALTHY',
      SendQuota: { SentLast24Hours: 1 },
    })
  })

  it('keeps mails as files to open, numbered on by the next lab', async () => {
    const mailFolder = folder()
    await enter({}, { mailFolder })
    const twins = ['<1>', '<2>'].map(body => ({
      FileName: '../report.html',
      RawContent: Buffer.from(body),
    }))
    await send(
      simple({ Subject: { Data: 'highwater: 3 findings (1 critical)' }, Attachments: twins }),
    )
    await lab.close()
    await enter({}, { mailFolder })
    await send(raw('From: a@example.com\nTo: b@example.org\n\nhi\n'))
    expect(lab.mails()).toHaveLength(1)
    expect(readdirSync(mailFolder).sort()).toEqual([
      '1-highwater-3-findings-1-critical',
      '2-no-subject',
    ])
    const read = (...path: string[]) => readFileSync(join(mailFolder, ...path), 'utf8')
    const [first = '', second = ''] = readdirSync(mailFolder).sort()
    expect(readdirSync(join(mailFolder, first)).sort()).toEqual([
      'attachments',
      'email.html',
      'email.txt',
      'envelope.json',
      'message.eml',
    ])
    expect([read(first, 'email.html'), read(first, 'email.txt')]).toEqual(['<p>grün</p>', 'grün'])
    expect(
      readdirSync(join(mailFolder, first, 'attachments'))
        .map(name => read(first, 'attachments', name))
        .sort(),
    ).toEqual(['<1>', '<2>'])
    expect(JSON.parse(read(first, 'envelope.json'))).toMatchObject({
      from: 'highwater@example.com',
      to: ['team@example.org'],
    })
    expect(read(second, 'message.eml')).toBe('From: a@example.com\nTo: b@example.org\n\nhi\n')
  })
})

describe('the suppression list of the lab', () => {
  const suppressed = [
    { address: 'gone@example.org', reason: 'COMPLAINT' as const, since: '2026-11-01T00:00:00Z' },
  ]
  const get = (EmailAddress: string) =>
    client().send(new GetSuppressedDestinationCommand({ EmailAddress }))

  it('tells of an address that is on it, and knows no other', async () => {
    await enter({ suppressed })
    expect((await get('Gone@example.org')).SuppressedDestination).toMatchObject({
      ...{
        EmailAddress: 'gone@example.org',
        Reason: 'COMPLAINT',
        LastUpdateTime: new Date('2026-11-01T00:00:00Z'),
      },
    })
    await expect(get('team@example.org')).rejects.toMatchObject({ name: 'NotFoundException' })
  })

  it('takes mail for it, and lets it go nowhere', async () => {
    await enter({ suppressed })
    const { MessageId: lost } = await send({ Destination: { ToAddresses: ['gone@example.org'] } })
    expect(lost).toMatch(/^[\w-]{20,}$/)
    expect(lab.mails()).toEqual([])
    const { MessageId: taken } = await send({
      Destination: { ToAddresses: ['team@example.org'], CcAddresses: ['gone@example.org'] },
    })
    expect(lab.mails()).toMatchObject([{ messageId: taken, to: ['team@example.org'], cc: [] }])
  })

  it('is closed to whoever may not ask', async () => {
    await enter({ suppressionDenied: true })
    await expect(get('team@example.org')).rejects.toMatchObject({ name: 'AccessDeniedException' })
  })
})

describe('SES refuses', () => {
  const header = 'From: highwater@example.com\r\nTo: team@example.org\r\n'
  it.each<[string, Partial<SendEmailCommandInput>, RegExp]>([
    ['nobody as recipient', { Destination: {} }, /at least one recipient/],
    [
      'empty lists of recipients',
      { Destination: { ToAddresses: [], CcAddresses: [] } },
      /at least one recipient/,
    ],
    [
      'a raw message to nobody',
      raw('From: highwater@example.com\r\n\r\nhi'),
      /at least one recipient/,
    ],
    [
      '51 recipients',
      { Destination: { BccAddresses: Array.from({ length: 51 }, (_, n) => `u${n}@example.org`) } },
      /exceeds 50/,
    ],
    [
      'an address that is none',
      { Destination: { ToAddresses: ['team'] } },
      /Invalid email address team\./,
    ],
    [
      'an address with a line break',
      { Destination: { ToAddresses: ['a@example.org\r\nBcc: b@example.org'] } },
      /Invalid email address/,
    ],
    [
      'a subject with a line break',
      simple({ Subject: { Data: 'a\r\nBcc: b@example.org' } }),
      /Control characters/,
    ],
    [
      'a header with a line break',
      simple({ Headers: [{ Name: 'X-A', Value: 'a\nb' }] }),
      /Header X-A is not valid/,
    ],
    ['a body that is none', simple({ Body: {} }), /Html, Text or both/],
    ['a sender that is none', { FromEmailAddress: undefined }, /FromEmailAddress is required/],
    [
      'a raw message without sender',
      raw('To: team@example.org\r\n\r\nhi'),
      /Missing required header 'From'/,
    ],
    ['a raw message without body', raw(header), /separated by a blank line/],
    [
      'a multipart that never ends',
      raw(`${header}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhi`),
      /closing boundary/,
    ],
    ['a line of 999 characters', raw(`${header}\r\n${'x'.repeat(999)}\r\n`), /longer than 998/],
  ])('%s', async (_, more, message) => {
    await enter()
    await expect(send(more)).rejects.toMatchObject({
      name: 'BadRequestException',
      message: expect.stringMatching(message),
    })
    expect(lab.mails()).toEqual([])
  })

  it('a message of more than 40 MB, attachments in base64', async () => {
    await enter()
    const attached = (bytes: number) =>
      simple({ Attachments: [{ FileName: 'a', RawContent: Buffer.alloc(bytes) }] })
    await expect(send(attached(30 * 1024 ** 2))).rejects.toMatchObject({
      name: 'BadRequestException',
      message: expect.stringMatching(/^Message length is more than 41943040 bytes long/),
    })
    await send(attached(29 * 1024 ** 2))
  })

  it.each([
    ['a template', { Content: { Template: { TemplateName: 't' } } }],
    ['a configuration set', { ConfigurationSetName: 'c' }],
  ])('%s with 501: the lab does not know it', async (_, more) => {
    await enter()
    await expect(send(more)).rejects.toMatchObject({
      name: 'NotImplemented',
      $metadata: { httpStatusCode: 501 },
    })
    await expect(client().send(new ListEmailIdentitiesCommand({}))).rejects.toMatchObject({
      name: 'NotImplemented',
    })
  })

  it('a wrong secret and an unknown key', async () => {
    await enter()
    const { AWS_ACCESS_KEY_ID: accessKeyId = '' } = lab.environment
    const wrong = { accessKeyId, secretAccessKey: 'x' }
    await expect(send({}, client({ credentials: wrong }))).rejects.toMatchObject({
      name: 'InvalidSignatureException',
    })
    await expect(
      send({}, client({ credentials: { ...wrong, accessKeyId: 'AKIAIOSFODNN7EXAMPLE' } })),
    ).rejects.toMatchObject({ name: 'UnrecognizedClientException' })
  })
})

describe('SES that fails', () => {
  it('rejects a sender that nobody verified, also in a raw message, and another region', async () => {
    await enter({ identities: ['ops.example.com', 'me@example.net'] })
    const rejected = (region: string, addresses: string) => ({
      name: 'MessageRejected',
      message: `Email address is not verified. The following identities failed the check in region ${region}: ${addresses}`,
      $metadata: { httpStatusCode: 400 },
    })
    await expect(send()).rejects.toMatchObject(rejected('US-EAST-1', 'highwater@example.com'))
    const spoofed = 'From: boss@example.net\r\nTo: team@example.org\r\n\r\nt'
    await expect(
      send({ ...raw(spoofed), FromEmailAddress: 'me@example.net' }),
    ).rejects.toMatchObject(rejected('US-EAST-1', 'boss@example.net'))
    await send({ FromEmailAddress: 'Me@example.net' })
    await send({ FromEmailAddress: 'a@daily.ops.example.com' })
    await expect(
      send({ FromEmailAddress: 'me@example.net' }, client({ region: 'eu-west-1' })),
    ).rejects.toMatchObject(rejected('EU-WEST-1', 'me@example.net, team@example.org'))
  })

  it('in the sandbox wants verified recipients, too', async () => {
    await enter({ sandbox: true, identities: ['example.com', 'known@example.org'] })
    await expect(
      send({ Destination: { ToAddresses: ['known@example.org', 'team@example.org'] } }),
    ).rejects.toMatchObject({
      name: 'MessageRejected',
      message:
        'Email address is not verified. The following identities failed the check in region US-EAST-1: team@example.org',
    })
    await send({
      Destination: { ToAddresses: ['known@example.org', 'success@simulator.amazonses.com'] },
    })
    expect(await client().send(new GetAccountCommand({}))).toMatchObject({
      ProductionAccessEnabled: false,
      SendQuota: { Max24HourSend: 200, MaxSendRate: 1, SentLast24Hours: 2 },
    })
  })

  it.each([
    ['TooManyRequestsException' as const, 429],
    ['LimitExceededException' as const, 400],
  ])('refuses the first messages with %s', async (error, status) => {
    await enter({ refuseFirst: { count: 2, error } })
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(send()).rejects.toMatchObject({
        name: error,
        $metadata: { httpStatusCode: status },
      })
    }
    await send()
    expect(lab.requests().routes.sesv2).toEqual({ SendEmail: 3 })
  })

  it.each<[Partial<SesScenario>, object]>([
    [{ sendingPaused: true }, { name: 'SendingPausedException' }],
    [
      { denied: true },
      { name: 'AccessDeniedException', message: expect.stringContaining('ses:SendEmail') },
    ],
    [{ down: true }, { code: 'ECONNREFUSED' }],
  ])('as %j takes nothing', async (ses, error) => {
    await enter(ses)
    await expect(send()).rejects.toMatchObject(error)
    expect(lab.mails()).toEqual([])
  })
})
