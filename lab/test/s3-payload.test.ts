/** What the SDK never sends wrong: hashes, chunks and trailers of S3 requests, signed by hand. */
import { Sha256 } from '@aws-crypto/sha256-js'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import { fromTemporaryCredentials } from '@aws-sdk/credential-providers'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { chunkSignature, sha256Hex } from '#lab/sigv4.ts'
import { enterLab, scenario } from './support.ts'

const own = 'arn:aws:iam::111122223333:role/writer'
const foreign = 'arn:aws:iam::444455556666:role/writer'

let lab: Lab
beforeAll(async () => {
  lab = await enterLab(scenario([], { roles: [{ arn: own }, { arn: foreign }] }))
})
afterAll(() => lab.close())

/** Signs the headers, lets the body be made with that signature, sends both. */
async function put(
  headers: Record<string, string>,
  bodyOf: (signature: string, amzDate: string) => string,
  unsigned = {},
) {
  const {
    AWS_ENDPOINT_URL_S3: endpoint = '',
    AWS_ACCESS_KEY_ID = '',
    AWS_SECRET_ACCESS_KEY = '',
  } = lab.environment
  const { host, hostname, protocol } = new URL(endpoint)
  const signer = new SignatureV4({
    service: 's3',
    region: 'us-east-1',
    sha256: Sha256,
    uriEscapePath: false,
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY },
  })
  const path = '/highwater-lab/key'
  const signed = await signer.sign({
    method: 'PUT',
    protocol,
    hostname,
    path,
    headers: { host, ...headers },
  })
  const signature = /Signature=(\w+)/.exec(signed.headers.authorization ?? '')?.[1] ?? ''
  const body = bodyOf(signature, signed.headers['x-amz-date'] ?? '')
  const answer = await fetch(`${endpoint}${path}`, {
    method: 'PUT',
    headers: { ...signed.headers, ...unsigned },
    body,
  })
  return /<Code>(\w+)</.exec(await answer.text())?.[1] ?? answer.status
}

const hashed = (hash: string) => ({ 'x-amz-content-sha256': hash })

describe('the hash of a payload', () => {
  it.each([
    ['of the body itself', hashed(sha256Hex('hello')), 200],
    ['of another body', hashed(sha256Hex('hallo')), 'XAmzContentSHA256Mismatch'],
    ['that is none', hashed('hello'), 'InvalidArgument'],
    [
      'that the lab does not know',
      hashed('STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD'),
      'NotImplemented',
    ],
    ['left out', hashed('UNSIGNED-PAYLOAD'), 200],
    [
      'and its MD5',
      { ...hashed('UNSIGNED-PAYLOAD'), 'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==' },
      200,
    ],
    [
      "and another body's MD5",
      { ...hashed('UNSIGNED-PAYLOAD'), 'content-md5': 'XUFAKrxLKna5cZ2REBfFkQ==' },
      'BadDigest',
    ],
  ])('%s: %o gives %s', async (_, headers, expected) => {
    expect(await put(headers, () => 'hello')).toBe(expected)
  })

  it('has to be there, and every x-amz- header has to be signed', async () => {
    expect(await put({}, () => 'hello', { 'x-amz-content-sha256': '' })).toBe('InvalidRequest')
    const more = { 'x-amz-server-side-encryption': 'aws:kms' }
    expect(await put(hashed(sha256Hex('hello')), () => 'hello', more)).toBe('AccessDenied')
  })
})

describe('signed chunks', () => {
  const headers = {
    ...hashed('STREAMING-AWS4-HMAC-SHA256-PAYLOAD'),
    'content-encoding': 'aws-chunked',
    'x-amz-decoded-content-length': '10',
  }
  const chunked = (chunks: string[], tamper = (body: string) => body) =>
    put(headers, (seed, amzDate) => {
      const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secret = '' } =
        lab.environment
      const scope = { accessKeyId, date: amzDate.slice(0, 8), region: 'us-east-1', service: 's3' }
      let previous = seed
      const lines = [...chunks, ''].map(chunk => {
        previous = chunkSignature(Buffer.from(chunk), previous, amzDate, scope, secret)
        return `${chunk.length.toString(16)};chunk-signature=${previous}\r\n${chunk}\r\n`
      })
      return tamper(lines.join(''))
    })

  it('are joined', async () => {
    expect(await chunked(['01234', '56789'])).toBe(200)
    const { Body, ContentEncoding } = await new S3Client({ forcePathStyle: true }).send(
      new GetObjectCommand({ Bucket: 'highwater-lab', Key: 'key' }),
    )
    expect([await Body?.transformToString(), ContentEncoding]).toEqual(['0123456789', undefined])
  })

  it.each([
    ['changed', (body: string) => body.replace('56789', '56780'), 'SignatureDoesNotMatch'],
    [
      'swapped',
      (body: string) => body.replace(/^(5;.*?\r\n.*?\r\n)(5;.*?\r\n.*?\r\n)/s, '$2$1'),
      'SignatureDoesNotMatch',
    ],
    ['cut off', (body: string) => body.slice(0, body.indexOf('56789') + 7), 'IncompleteBody'],
    [
      'of another size than they say',
      (body: string) => body.replace('01234', '0123'),
      'SignatureDoesNotMatch',
    ],
  ])('that are %s are refused', async (_, tamper, code) => {
    expect(await chunked(['01234', '56789'], tamper)).toBe(code)
  })

  it('that make less than was announced are refused', async () => {
    expect(await chunked(['01234'])).toBe('IncompleteBody')
  })
})

describe('chunks with a trailer', () => {
  const headers = {
    ...hashed('STREAMING-UNSIGNED-PAYLOAD-TRAILER'),
    'content-encoding': 'aws-chunked',
    'x-amz-decoded-content-length': '5',
    'x-amz-trailer': 'x-amz-checksum-crc32',
  }
  it.each([
    ['its checksum', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n', 200],
    ['another checksum', '5\r\nhallo\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n', 'BadDigest'],
    ['none', '5\r\nhello\r\n0\r\n\r\n', 'MalformedTrailerError'],
    [
      'one that was not announced',
      '5\r\nhello\r\n0\r\nx-amz-checksum-sha1:NhCmhg==\r\n\r\n',
      'MalformedTrailerError',
    ],
    ['no end', '5\r\nhello\r\n', 'IncompleteBody'],
    ['no chunks', 'hello', 'IncompleteBody'],
  ])('may have %s', async (_, body, expected) => {
    expect(await put(headers, () => body)).toBe(expected)
  })
})

describe('a role', () => {
  const credentials = (RoleArn: string) =>
    fromTemporaryCredentials({ params: { RoleArn, RoleSessionName: 'nightly' } })
  const object = { Bucket: 'highwater-lab', Key: 'role', Body: 'x' }
  const mail = {
    FromEmailAddress: 'highwater@example.com',
    Destination: { ToAddresses: ['team@example.org'] },
    Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } } } },
  }

  it("of the lab's account writes and sends", async () => {
    const options = { credentials: credentials(own), maxAttempts: 1 }
    await new S3Client({ forcePathStyle: true, ...options }).send(new PutObjectCommand(object))
    await new SESv2Client(options).send(new SendEmailCommand(mail))
    expect(lab.mails()).toHaveLength(1)
  })

  it('of another account may do neither', async () => {
    const options = { credentials: credentials(foreign), maxAttempts: 1 }
    await expect(
      new S3Client({ forcePathStyle: true, ...options }).send(new PutObjectCommand(object)),
    ).rejects.toMatchObject({ name: 'AccessDenied' })
    await expect(new SESv2Client(options).send(new SendEmailCommand(mail))).rejects.toMatchObject({
      name: 'MessageRejected',
    })
  })
})
