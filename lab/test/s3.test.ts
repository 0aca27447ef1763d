import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  PutObjectCommand,
  type PutObjectCommandInput,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Lab, LabOptions } from '#lab/lab.ts'
import type { S3Scenario } from '#lab/scenarios/scenario.ts'
import { enterLab, scenario } from './support.ts'

const Bucket = 'highwater-lab'

let lab: Lab
afterEach(() => lab.close())

const enter = async (s3: Partial<S3Scenario> = {}, options: LabOptions = {}) => {
  lab = await enterLab(scenario([], { s3 }), options)
}
const client = (more: ConstructorParameters<typeof S3Client>[0] = {}) =>
  new S3Client({ forcePathStyle: true, maxAttempts: 1, ...more })
const put = (
  Key: string,
  Body: PutObjectCommandInput['Body'],
  more: Partial<PutObjectCommandInput> = {},
  s3 = client(),
) => s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))
const get = (Key: string) => client().send(new GetObjectCommand({ Bucket, Key }))
const contentOf = async (Key: string) => (await get(Key)).Body?.transformToString()
const list = (more: Partial<ListObjectsV2CommandInput> = {}) =>
  client().send(new ListObjectsV2Command({ Bucket, ...more }))
const keysOf = async (more: Partial<ListObjectsV2CommandInput> = {}) =>
  (await list(more)).Contents?.map(({ Key }) => Key) ?? []

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'highwater-lab-s3-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

describe.each(['in memory', 'in a folder'])('S3 in the lab, with objects %s', where => {
  const enterIt = (s3: Partial<S3Scenario> = {}) =>
    enter(s3, where === 'in memory' ? {} : { storeFolder: folder() })

  it('gives back what was put, with all that was said of it', async () => {
    await enterIt()
    const said = {
      ContentType: 'text/html; charset=utf-8',
      CacheControl: 'no-store',
      ContentEncoding: 'gzip',
      ContentDisposition: 'inline; filename="report.html"',
      Metadata: { run: '2026-11-21' },
      ServerSideEncryption: 'AES256' as const,
    }
    const { ETag, ChecksumCRC32 } = await put('runs/1/report.html', 'hello', said)
    expect([ETag, ChecksumCRC32]).toEqual(['"5d41402abc4b2a76b9719d911017c592"', 'NhCmhg=='])
    const { Body, LastModified, ...found } = await get('runs/1/report.html')
    expect(await Body?.transformToString()).toBe('hello')
    expect(LastModified?.getTime()).toBeGreaterThan(Date.now() - 60_000)
    expect(found).toMatchObject({
      ...said,
      ETag,
      ChecksumCRC32,
      ChecksumType: 'FULL_OBJECT',
      ContentLength: 5,
    })
    expect(
      await client().send(new HeadObjectCommand({ Bucket, Key: 'runs/1/report.html' })),
    ).toMatchObject({ ETag, ContentLength: 5, ContentType: said.ContentType })
  })

  it('creates only what is not there, and replaces only what was read', async () => {
    await enterIt()
    const failed = { name: 'PreconditionFailed', $metadata: { httpStatusCode: 412 } }
    const { ETag } = await put('mail.json', 'sending', { IfNoneMatch: '*' })
    await expect(put('mail.json', 'sending again', { IfNoneMatch: '*' })).rejects.toMatchObject(
      failed,
    )
    await expect(put('mail.json', 'sent', { IfMatch: '"0"' })).rejects.toMatchObject(failed)
    const second = await put('mail.json', 'sent', { IfMatch: ETag })
    await expect(put('mail.json', 'sent again', { IfMatch: ETag })).rejects.toMatchObject(failed)
    expect(await contentOf('mail.json')).toBe('sent')
    await put('mail.json', 'sent later', { IfMatch: second.ETag?.replaceAll('"', '') })
    await expect(put('other.json', 'sent', { IfMatch: ETag })).rejects.toMatchObject({
      name: 'NoSuchKey',
      $metadata: { httpStatusCode: 404 },
    })
    await expect(put('mail.json', 'x', { IfNoneMatch: ETag })).rejects.toMatchObject({
      name: 'NotImplemented',
    })
  })

  it('lets only one of many create a key', async () => {
    await enterIt()
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => put('once', String(n), { IfNoneMatch: '*' })),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('deletes, and does not mind what is not there', async () => {
    await enterIt()
    await put('a', '1')
    for (const Key of ['a', 'a', 'never'])
      await client().send(new DeleteObjectCommand({ Bucket, Key }))
    await expect(get('a')).rejects.toMatchObject({
      name: 'NoSuchKey',
      $metadata: { httpStatusCode: 404 },
    })
    await expect(client().send(new HeadObjectCommand({ Bucket, Key: 'a' }))).rejects.toMatchObject({
      name: 'NotFound',
    })
    expect(await keysOf()).toEqual([])
  })

  const strange = [
    "a b/ü(1)'!*~+&<.txt",
    '..',
    './x',
    'a//b/',
    '%',
    '%2E',
    '%-7',
    '\u0012',
    'Z',
    '\u{1F4A7}',
    '\uFFFD',
  ]
  it('takes any key, and lists keys by their bytes', async () => {
    await enterIt()
    for (const key of strange) await put(key, key)
    for (const key of strange) expect(await contentOf(key)).toBe(key)
    const { Contents, EncodingType } = await list({ EncodingType: 'url' })
    expect(EncodingType).toBe('url')
    const listed = Contents?.map(({ Key = '' }) => decodeURIComponent(Key.replaceAll('+', ' ')))
    expect(listed).toEqual(
      strange.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
    )
    expect(Contents?.map(({ Key }) => Key)).toContain('a+b/%C3%BC%281%29%27%21*%7E%2B%26%3C.txt')
    expect(await keysOf({ Prefix: 'a b' })).toEqual(["a b/ü(1)'!*~+&<.txt"])
  })

  it('lists in pages until none is left', async () => {
    await enterIt()
    for (const key of ['runs/3', 'runs/1', 'other', 'runs/5', 'runs/2', 'runs/4'])
      await put(key, key)
    const pages: (string | undefined)[][] = []
    for await (const { Contents } of paginateListObjectsV2(
      { client: client(), pageSize: 2 },
      { Bucket, Prefix: 'runs/' },
    )) {
      pages.push((Contents ?? []).map(({ Key }) => Key))
    }
    expect(pages).toEqual([['runs/1', 'runs/2'], ['runs/3', 'runs/4'], ['runs/5']])
    expect(await keysOf({ StartAfter: 'runs/3' })).toEqual(['runs/4', 'runs/5'])
    expect(await list({ MaxKeys: 0 })).toMatchObject({ KeyCount: 0, IsTruncated: false })
    const [first] = (await list({ MaxKeys: 1 })).Contents ?? []
    expect(first).toMatchObject({
      Key: 'other',
      Size: 5,
      ETag: '"795f3202b17cb6bc3d4b771d8c6c9eaf"',
    })
  })

  it('folds keys at a delimiter, each prefix once over all pages', async () => {
    await enterIt()
    for (const key of ['runs/1/a', 'runs/1/b', 'runs/2/a', 'runs/x']) await put(key, key)
    const page = await list({ Prefix: 'runs/', Delimiter: '/', MaxKeys: 1 })
    expect(page).toMatchObject({
      CommonPrefixes: [{ Prefix: 'runs/1/' }],
      KeyCount: 1,
      IsTruncated: true,
    })
    const rest = await list({
      Prefix: 'runs/',
      Delimiter: '/',
      ContinuationToken: page.NextContinuationToken,
    })
    expect(rest).toMatchObject({
      CommonPrefixes: [{ Prefix: 'runs/2/' }],
      Contents: [{ Key: 'runs/x' }],
      IsTruncated: false,
    })
  })
})

describe('the folder of S3 in the lab', () => {
  it('holds objects as files that the next lab finds', async () => {
    const storeFolder = folder()
    await enter({}, { storeFolder })
    const { ETag } = await put('runs/1/report.html', '<h1>', { ContentType: 'text/html' })
    expect(readFileSync(join(storeFolder, Bucket, 'runs/1/report.html'), 'utf8')).toBe('<h1>')
    await lab.close()
    await enter({}, { storeFolder })
    expect(await get('runs/1/report.html')).toMatchObject({ ETag, ContentType: 'text/html' })
    await expect(put('runs/1/report.html', 'x', { IfNoneMatch: '*' })).rejects.toMatchObject({
      name: 'PreconditionFailed',
    })
  })

  it('shows a file that somebody changed or put there as a new object', async () => {
    const storeFolder = folder()
    await enter({}, { storeFolder })
    const { ETag } = await put('a', 'before', { ContentType: 'text/plain' })
    for (const name of ['a', 'b']) writeFileSync(join(storeFolder, Bucket, name), 'after')
    await expect(put('a', 'x', { IfMatch: ETag })).rejects.toMatchObject({
      name: 'PreconditionFailed',
    })
    expect(await keysOf()).toEqual(['a', 'b'])
    expect(await contentOf('b')).toBe('after')
  })

  it('cannot hold a key that is the folder of another, and says so', async () => {
    await enter({}, { storeFolder: folder() })
    await put('a/b', '1')
    await expect(put('a', '2')).rejects.toMatchObject({ name: 'NotImplemented' })
    await expect(get('a')).rejects.toMatchObject({ name: 'NoSuchKey' })
    await put('c', '1')
    await expect(put('c/d', '2')).rejects.toMatchObject({ name: 'NotImplemented' })
    expect(await keysOf()).toEqual(['a/b', 'c'])
  })
})

describe('a body that the SDK streams', () => {
  it('comes in chunks with its checksum behind it', async () => {
    await enter()
    const path = join(folder(), 'snapshot')
    writeFileSync(path, 'x'.repeat(300_000))
    const { ChecksumCRC32 } = await put('s', createReadStream(path), {
      ContentLength: 300_000,
      ContentEncoding: 'gzip',
    })
    const { Body, ...found } = await get('s')
    expect((await Body?.transformToByteArray())?.length).toBe(300_000)
    expect(found).toMatchObject({ ChecksumCRC32, ContentEncoding: 'gzip', ContentLength: 300_000 })
  })
})

describe('encryption', () => {
  it('under a key is remembered by its ARN, and the ETag is no MD5', async () => {
    await enter()
    const asked = {
      ServerSideEncryption: 'aws:kms' as const,
      SSEKMSKeyId: 'alias/highwater',
      BucketKeyEnabled: true,
    }
    const kept = { ...asked, SSEKMSKeyId: 'arn:aws:kms:us-east-1:111122223333:alias/highwater' }
    const { ETag } = await put('a', 'hello', asked)
    expect(ETag).not.toBe('"5d41402abc4b2a76b9719d911017c592"')
    expect(await get('a')).toMatchObject({ ...kept, ETag })
    const own = await put('b', 'hello')
    expect(own.ServerSideEncryption).toBe('AES256')
  })

  it.each<[NonNullable<S3Scenario['kms']>, string, number, RegExp]>([
    [
      'denied',
      'AccessDenied',
      403,
      /is not authorized to perform: kms:GenerateDataKey on resource: "arn:aws:kms:us-east-1:111122223333:key\/k"/,
    ],
    ['disabled', 'KMS.DisabledException', 400, /key\/k is disabled/],
    ['missing', 'KMS.NotFoundException', 400, /does not exist/],
  ])(
    'with a key that is %s is refused; without one it works',
    async (kms, name, status, message) => {
      await enter({ kms })
      await expect(
        put('a', 'x', { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'k' }),
      ).rejects.toMatchObject({
        name,
        message: expect.stringMatching(message),
        $metadata: { httpStatusCode: status },
      })
      await put('a', 'x', { ServerSideEncryption: 'AES256' })
      expect(await contentOf('a')).toBe('x')
    },
  )
})

describe('a caller', () => {
  it.each([
    [
      'with an unknown access key',
      { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'x' },
      'InvalidAccessKeyId',
    ],
    ['with a wrong secret', { secretAccessKey: 'x' }, 'SignatureDoesNotMatch'],
    ['with a session token that nobody gave', { sessionToken: 'x' }, 'InvalidAccessKeyId'],
  ])('%s is refused', async (_, wrong, name) => {
    await enter()
    const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } =
      lab.environment
    const s3 = client({ credentials: { accessKeyId, secretAccessKey, ...wrong } })
    await expect(put('a', 'x', {}, s3)).rejects.toMatchObject({
      name,
      $metadata: { httpStatusCode: 403 },
    })
    expect(await keysOf()).toEqual([])
  })

  it('whose clock is off by 20 minutes, who asks the wrong region, or who does not sign is refused', async () => {
    await enter()
    await expect(
      put('a', 'x', {}, client({ systemClockOffset: -1_200_000 })),
    ).rejects.toMatchObject({ name: 'RequestTimeTooSkewed' })
    await expect(put('a', 'x', {}, client({ region: 'eu-west-1' }))).rejects.toMatchObject({
      name: 'AuthorizationHeaderMalformed',
      message: expect.stringContaining("expecting 'us-east-1'"),
    })
    const unsigned = await fetch(`${lab.environment.AWS_ENDPOINT_URL_S3}/${Bucket}/a`)
    expect([unsigned.status, await unsigned.text()]).toEqual([
      403,
      expect.stringContaining('<Code>AccessDenied</Code>'),
    ])
  })

  it.each([
    ['an operation that the lab does not know', new GetObjectTaggingCommand({ Bucket, Key: 'a' })],
    ['a range', new GetObjectCommand({ Bucket, Key: 'a', Range: 'bytes=0-1' })],
    ['a version', new GetObjectCommand({ Bucket, Key: 'a', VersionId: 'v' })],
    ['tags', new PutObjectCommand({ Bucket, Key: 'a', Body: 'x', Tagging: 'a=b' })],
    [
      'a checksum that the lab cannot compute',
      new PutObjectCommand({ Bucket, Key: 'a', Body: 'x', ChecksumCRC64NVME: 'AAAAAAAAAAA=' }),
    ],
  ])('who asks for %s hears 501', async (_, command) => {
    await enter()
    await expect(client().send(command as GetObjectCommand)).rejects.toMatchObject({
      name: 'NotImplemented',
      $metadata: { httpStatusCode: 501 },
    })
  })

  it.each([
    ['another content than its checksum says', { ChecksumSHA256: 'AAAA' }, 'BadDigest'],
    ['a key of 1025 bytes', { Key: 'k'.repeat(1025) }, 'KeyTooLongError'],
    ['a bucket that is not there', { Bucket: 'nobodys-bucket' }, 'NoSuchBucket'],
    ["another account's bucket", { ExpectedBucketOwner: '444455556666' }, 'AccessDenied'],
  ])('who puts %s is refused', async (_, wrong, name) => {
    await enter()
    await expect(put('a', 'x', wrong)).rejects.toMatchObject({ name })
  })
})

describe('S3 that fails', () => {
  it('denies what the scenario denies, and so names the action and the object', async () => {
    await enter({ denied: ['s3:PutObject'] })
    await expect(put('runs/a', 'x')).rejects.toMatchObject({
      name: 'AccessDenied',
      message: expect.stringMatching(
        /perform: s3:PutObject on resource: "arn:aws:s3:::highwater-lab\/runs\/a"/,
      ),
    })
    await expect(get('a')).rejects.toMatchObject({ name: 'NoSuchKey' })
  })

  it('does not tell who may not list whether a key is there', async () => {
    await enter({ denied: ['s3:ListBucket'] })
    await expect(get('a')).rejects.toMatchObject({ name: 'AccessDenied' })
    await put('a', 'x')
    expect(await contentOf('a')).toBe('x')
  })

  it('wants GetObject for a write that is to replace what was read', async () => {
    await enter({ denied: ['s3:GetObject'] })
    const { ETag } = await put('a', 'x', { IfNoneMatch: '*' })
    await expect(put('a', 'y', { IfMatch: ETag })).rejects.toMatchObject({ name: 'AccessDenied' })
  })

  it('has no bucket when the scenario names none', async () => {
    await enter({ buckets: [] })
    await expect(put('a', 'x')).rejects.toMatchObject({
      name: 'NoSuchBucket',
      $metadata: { httpStatusCode: 404 },
    })
  })

  it('is full for writes, and can still be read', async () => {
    await enter({ full: true })
    await expect(put('a', 'x')).rejects.toMatchObject({
      name: 'ServiceUnavailable',
      $metadata: { httpStatusCode: 503 },
    })
    expect(await keysOf()).toEqual([])
  })

  it('slows down as often as the scenario says, and the SDK gets through by retrying', async () => {
    await enter({ slowDownFirst: 2 })
    await expect(put('a', 'x')).rejects.toMatchObject({
      name: 'SlowDown',
      $metadata: { httpStatusCode: 503 },
    })
    await put('a', 'x', {}, client({ maxAttempts: 2 }))
    expect(lab.requests().routes.s3).toEqual({ PutObject: 3 })
  })

  it('that is down refuses the connection', async () => {
    await enter({ down: true })
    await expect(put('a', 'x')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})
