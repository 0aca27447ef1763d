import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  objectUrl,
  type S3StoreOptions,
  s3Permissions,
  s3Store,
  s3VersionsPermissions,
} from '#clients/store/s3.ts'
import { type Lab, startLab } from '#lab/lab.ts'
import type { S3Scenario, Scenario } from '#lab/scenarios/scenario.ts'
import { type Stub, type StubAnswer, s3Error, startStub } from '#test/http-stub.ts'

const region = 'us-east-1'
const json = 'application/json'
const taken: StubAnswer = { status: 200, headers: { etag: '"1"' } }

let open: { close(): Promise<void> }[]
let folder: string
beforeEach(() => {
  open = []
  folder = mkdtempSync(join(tmpdir(), 'highwater-s3-'))
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'example')
  vi.stubEnv('AWS_SESSION_TOKEN', undefined)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(open.map(each => each.close()))
  rmSync(folder, { recursive: true })
})

async function lab(s3: Partial<S3Scenario> = {}): Promise<Lab> {
  const scenario: Scenario = {
    name: 's3',
    about: 'a bucket',
    clusters: [],
    s3,
    expect: () => ({ nodes: [], notAudited: [] }),
  }
  const started = await startLab(scenario)
  open.push(started)
  for (const [name, value] of Object.entries(started.environment)) vi.stubEnv(name, value)
  return started
}

/** The last answer is repeated. */
async function stub(...answers: StubAnswer[]): Promise<Stub> {
  const started = await startStub(
    (_, count) => answers[Math.min(count, answers.length) - 1] ?? taken,
  )
  open.push(started)
  vi.stubEnv('AWS_ENDPOINT_URL_S3', started.url)
  return started
}

const store = (more: Partial<S3StoreOptions> = {}) =>
  s3Store({ bucket: 'highwater-lab', prefix: 'audits/', region, backoffMs: 1, ...more })

function file(bytes = 1000): string {
  const path = join(folder, 'snapshot.ndjson.gz')
  writeFileSync(path, Buffer.alloc(bytes, 7))
  return path
}

describe('what is written', () => {
  it.each([
    ['S3’s own key', undefined, { 'x-amz-server-side-encryption': 'AES256' }],
    [
      'a KMS key',
      'alias/reports',
      {
        'x-amz-server-side-encryption': 'aws:kms',
        'x-amz-server-side-encryption-aws-kms-key-id': 'alias/reports',
      },
    ],
  ])('is encrypted under %s, and kept by no cache', async (_, kmsKeyId, headers) => {
    const server = await stub(taken)
    await store({ kmsKeyId }).write('runs/1/report.html', '<p>', 'text/html; charset=utf-8')
    await store({ kmsKeyId }).create('a', '<p>', json)
    await store({ kmsKeyId }).replace('a', '<p>', '"1"')
    await store({ kmsKeyId }).writeFile('a', file(), json)
    expect(server.requests).toHaveLength(4)
    for (const request of server.requests)
      expect(request.headers).toMatchObject({ ...headers, 'cache-control': 'no-store' })
    expect(server.requests[0]).toMatchObject({
      method: 'PUT',
      headers: { 'content-type': 'text/html; charset=utf-8' },
    })
    expect(server.requests[0]?.url).toMatch(/^\/highwater-lab\/audits\/runs\/1\/report\.html/)
  })

  it('goes under its condition', async () => {
    const server = await stub(taken)
    await store().create('a', 'x', json)
    await store().replace('a', 'x', '"1"')
    expect(
      server.requests.map(({ headers }) => [headers['if-none-match'], headers['if-match']]),
    ).toEqual([
      ['*', undefined],
      [undefined, '"1"'],
    ])
  })

  it('goes from disk as it is: with its length and checksum ahead, without chunk framing', async () => {
    const server = await stub(taken)
    await store().writeFile('a', file(200_000), 'application/gzip')
    const [request] = server.requests
    expect(request?.body).toEqual(Buffer.alloc(200_000, 7))
    expect(request?.headers).toMatchObject({
      'content-length': '200000',
      'content-type': 'application/gzip',
    })
    expect(request?.headers).toHaveProperty('x-amz-checksum-sha256')
    expect(request?.headers).not.toHaveProperty('content-encoding')
  })
})

describe('what is read', () => {
  it('is not more than was requested: what others wrote may have any length', async () => {
    await lab()
    await store().write('a', 'x'.repeat(1001), json)
    expect((await store({ readMaxBytes: 1001 }).read('a'))?.body.length).toBe(1001)
    await expect(store({ readMaxBytes: 1000 }).read('a')).rejects.toThrowErrorMatchingSnapshot()
  })
})

describe('another try', () => {
  const conflict = s3Error(409, 'ConditionalRequestConflict', 'A conflicting operation occurred.')

  it('is made when two conditional writes meet, until it is known who was first', async () => {
    await stub(conflict, conflict, taken)
    expect(await store().create('a', 'x', json)).toBe(true)
    await stub(
      conflict,
      s3Error(412, 'PreconditionFailed', 'At least one of the pre-conditions did not hold'),
    )
    expect(await store().create('a', 'x', json)).toBe(false)
  })

  it('is made a bounded number of times', async () => {
    const server = await stub(conflict)
    await expect(store().create('a', 'x', json)).rejects.toThrow(/409 ConditionalRequestConflict/)
    expect(server.requests).toHaveLength(4)
  })

  it.each<[string, StubAnswer]>([
    ['S3 asks to slow down', s3Error(503, 'SlowDown', 'Please reduce your request rate.')],
    ['S3 fails', s3Error(500, 'InternalError', 'We encountered an internal error.')],
    ['the connection breaks', 'break'],
  ])('reads a file anew when %s', async (_, answer) => {
    const server = await stub(answer, taken)
    await store().writeFile('a', file(), json)
    expect(server.requests).toHaveLength(2)
    expect(server.requests[1]?.body).toEqual(Buffer.alloc(1000, 7))
  })

  it('is not made where it cannot help', async () => {
    const server = await stub(s3Error(403, 'AccessDenied', 'Access Denied'))
    await expect(store().writeFile('a', file(), json)).rejects.toThrow('not allowed')
    expect(server.requests).toHaveLength(1)
  })
})

it.each([
  ['', 's3://highwater-lab'],
  ['audits/', 's3://highwater-lab/audits'],
])('with the prefix %j lies at %s', (prefix, location) => {
  expect(store({ prefix }).location).toBe(location)
})

it('lists a prefix over many pages', async () => {
  const page = (keys: string[], token: string) =>
    `<ListBucketResult><IsTruncated>${token !== ''}</IsTruncated>${token && `<NextContinuationToken>${token}</NextContinuationToken>`}${keys
      .map(key => `<Contents><Key>${key}</Key></Contents>`)
      .join('')}</ListBucketResult>`
  const server = await stub(
    { status: 200, body: page(['audits/runs/1/a', 'audits/runs/1/b'], 'more') },
    { status: 200, body: page(['audits/runs/2/a'], '') },
  )
  expect(await Array.fromAsync(store().list('runs/'))).toEqual(['runs/1/a', 'runs/1/b', 'runs/2/a'])
  expect(
    new URL(server.requests[1]?.url ?? '', server.url).searchParams.get('continuation-token'),
  ).toBe('more')
})

describe('what S3 refuses is said in one paragraph', () => {
  const write = (options: Partial<S3StoreOptions> = {}) => store(options).write('a', 'x', json)
  beforeEach(() => void vi.stubEnv('AWS_MAX_ATTEMPTS', '1'))

  it.each<[string, Partial<S3Scenario>, () => Promise<unknown>, RegExp]>([
    [
      'a bucket that is missing',
      { buckets: [] },
      write,
      /^S3 PutObject audits\/a in us-east-1: there is no bucket highwater-lab .*correct the name/,
    ],
    [
      'writing forbidden',
      { denied: ['s3:PutObject'] },
      write,
      /not allowed .*Grant s3:PutObject on the bucket highwater-lab \(and see/,
    ],
    [
      'reading forbidden',
      { denied: ['s3:GetObject'] },
      () => store().read('a'),
      /GetObject .*Grant s3:GetObject and s3:ListBucket on the bucket/,
    ],
    [
      'listing forbidden',
      { denied: ['s3:ListBucket'] },
      () => Array.fromAsync(store().list('')),
      /ListObjectsV2 .*Grant s3:ListBucket on the/,
    ],
    [
      'a KMS key that is not lent',
      { kms: 'denied' },
      () => write({ kmsKeyId: 'alias/reports' }),
      /the KMS key alias\/reports was refused .*let this identity kms:Decrypt and kms:GenerateDataKey$/,
    ],
    [
      'a KMS key that is disabled',
      { kms: 'disabled' },
      () => write({ kmsKeyId: 'alias/reports' }),
      /the KMS key alias\/reports was refused/,
    ],
    [
      'a KMS key that is missing',
      { kms: 'missing' },
      () => write({ kmsKeyId: 'alias/reports' }),
      /the KMS key alias\/reports was refused/,
    ],
    [
      'no room',
      { full: true },
      write,
      /could not do it at any try \(503 .*overloaded or out of room: try again later$/,
    ],
    ['too many requests', { slowDownFirst: 50 }, write, /AWS asks to slow down \(503 SlowDown/],
    [
      'another region',
      {},
      () => write({ region: 'eu-west-1' }),
      /the bucket highwater-lab lies in us-east-1 .*Correct the region/,
    ],
    ['nobody there', { down: true }, write, /refused the connection: nothing listens there/],
  ])('%s', async (_, scenario, act, message) => {
    await lab(scenario)
    const error = await act().catch((error: unknown) => error)
    expect(error).toMatchObject({ name: 'RequestFailure', message: expect.stringMatching(message) })
    expect((error as Error).message).not.toContain('\n')
  })

  it.each<[string, StubAnswer, RegExp]>([
    [
      'a redirect to the bucket’s region',
      s3Error(301, 'PermanentRedirect', 'Must be addressed using the specified endpoint', '', {
        'x-amz-bucket-region': 'eu-west-1',
      }),
      /the bucket highwater-lab lies in eu-west-1/,
    ],
    [
      'a quota',
      s3Error(
        507,
        'XMinioStorageFull',
        'Storage backend has reached its minimum free drive threshold',
      ),
      /highwater-lab is full/,
    ],
    [
      'wrong keys',
      s3Error(403, 'InvalidAccessKeyId', 'The key does not exist'),
      /AWS does not accept these credentials \(InvalidAccessKeyId/,
    ],
    [
      'a wrong clock',
      s3Error(403, 'RequestTimeTooSkewed', 'too large'),
      /this machine's clock is wrong/,
    ],
  ])('%s', async (_, answer, message) => {
    await stub(answer)
    await expect(write()).rejects.toThrow(message)
  })

  it('silence, within the time given', async () => {
    await stub('hang')
    await expect(write({ idleTimeoutMs: 50 })).rejects.toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('did not answer in time'),
    })
  })

  it('and the end of the run, by its own reason', async () => {
    await stub('hang')
    await expect(
      write({ signal: AbortSignal.abort(new Error('the run has ended')) }),
    ).rejects.toThrow('the run has ended')
  })
})

it('finds an object that was deleted by its delete marker', async () => {
  await lab()
  await store().create('over/a.json', 'x', json)
  const client = new S3Client({ region, forcePathStyle: true })
  await client.send(new DeleteObjectCommand({ Bucket: 'highwater-lab', Key: 'audits/over/a.json' }))
  expect(await store().read('over/a.json')).toBeNull()
  expect(await store().wasWritten('over/a.json')).toBe(true)
})

it('does not take an incomplete list of versions for none', async () => {
  const body = (more: string) =>
    `<ListVersionsResult><IsTruncated>true</IsTruncated>${more}</ListVersionsResult>`
  const longer = '<Version><Key>audits/over/a.jsonl</Key></Version>'
  await stub({ status: 200, body: body('') }, { status: 200, body: body(longer) })
  await expect(store().wasWritten('over/a.json')).rejects.toThrow('answer is not complete')
  expect(await store().wasWritten('over/a.json')).toBe(false)
})

it('names the right that it lacks to look for versions', async () => {
  await lab({ denied: s3VersionsPermissions as ['s3:ListBucketVersions'] })
  await expect(store().wasWritten('over/a.json')).rejects.toThrowErrorMatchingSnapshot()
})

it('needs no more rights than it names', async () => {
  const { requests } = await lab({ denied: ['s3:DeleteObject'] })
  await store().create('a', 'x', json)
  const { version } = (await store().read('a')) ?? { version: '' }
  await store().replace('a', 'y', version)
  await store().writeFile('b', file(), json)
  expect(await Array.fromAsync(store().list(''))).toEqual(['a', 'b'])
  expect(Object.keys(requests().routes.s3 ?? {}).toSorted()).toEqual([
    'GetObject',
    'ListObjectsV2',
    'PutObject',
  ])
  expect(s3Permissions).toEqual(['s3:GetObject', 's3:ListBucket', 's3:PutObject'])
})

// Made by botocore 1.43.11, S3SigV4QueryAuth, at the same time.
it.each([
  [
    null,
    'https://our-bucket.s3.eu-central-1.amazonaws.com/highwater/runs/2026-11-22T05-00-00Z/owners/a%20b/report.html',
    'e42d893bfa88af3d3fe7516a98b21225e0d542cdbc21361f10f9f7e33924b720',
  ],
  [
    'http://127.0.0.1:4566',
    'http://127.0.0.1:4566/our-bucket/highwater/runs/2026-11-22T05-00-00Z/owners/a%20b/report.html',
    'caaba745607aecafca462d1c6c2c9e4de50688142eec55c4af842335458669d7',
  ],
])(
  'a URL for a browser is signed as botocore signs it (endpoint %s)',
  async (endpoint, page, signature) => {
    vi.stubEnv('AWS_ENDPOINT_URL', endpoint ?? undefined)
    vi.stubEnv('AWS_ENDPOINT_URL_S3', undefined)
    const credentials = async () => ({
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      sessionToken: 'token/+=',
    })
    const url = new URL(
      await objectUrl(
        { bucket: 'our-bucket', prefix: 'highwater/', region: 'eu-central-1', credentials },
        'runs/2026-11-22T05-00-00Z/owners/a b/report.html',
        { expiresIn: 3600, signingDate: new Date('2026-11-22T05:00:00Z') },
      ),
    )
    expect(`${url.origin}${url.pathname}`).toBe(page)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20261122/eu-central-1/s3/aws4_request',
      'X-Amz-Date': '20261122T050000Z',
      'X-Amz-Expires': '3600',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Security-Token': 'token/+=',
      'X-Amz-Signature': signature,
    })
  },
)
