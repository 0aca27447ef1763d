/** One object: written whole, read, removed. */
import { randomBytes } from 'node:crypto'
import { notImplemented, Refusal, type Reply } from '#lab/api.ts'
import { encryption, encryptionHeaders, isUnderKmsKey } from './encryption.ts'
import { md5Hex, type StoredObject } from './object-store.ts'
import { noSuchKey, preconditionFailed } from './refusals.ts'
import { allow, type S3Request } from './request.ts'

export const conditionHeaders = ['if-match', 'if-none-match']

/** What a write says about the object, beside its encryption. `x-amz-meta-*` goes with it. */
const describingHeaders = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-language',
  'expires',
]

export const writingHeaders = [
  ...encryptionHeaders,
  'x-amz-sdk-checksum-algorithm',
  'x-amz-trailer',
  'x-amz-decoded-content-length',
]

export function putObject(request: S3Request): Reply {
  const { world, bucket, key, caller, headers } = request
  checkWritable(request)
  const kept = { ...descriptionOf(headers), ...encryption(world, caller, headers) }
  checkConditions(request)
  const { body, checksums } = request.payload
  const summed = {
    ...checksums,
    ...(Object.keys(checksums).length > 0 && { 'x-amz-checksum-type': 'FULL_OBJECT' }),
  }
  const object = storedObject(body, md5Hex(body), { ...kept, ...summed })
  world.s3.objects.put(bucket, key, object)
  return {
    status: 200,
    headers: { etag: `"${object.etag}"`, ...encryptionOf(object.headers), ...summed },
    body: '',
  }
}

export function getObject(request: S3Request): Reply {
  const { body, etag, headers, lastModifiedMs } = findObject(request)
  const entries = Object.entries(headers).filter(
    ([name]) =>
      !name.startsWith('x-amz-checksum-') || request.headers['x-amz-checksum-mode'] === 'ENABLED',
  )
  return {
    status: 200,
    headers: {
      ...Object.fromEntries(entries),
      etag: `"${etag}"`,
      'last-modified': new Date(lastModifiedMs).toUTCString(),
      'accept-ranges': 'bytes',
    },
    body,
  }
}

export function deleteObject({ world, bucket, key }: S3Request): Reply {
  world.s3.objects.delete(bucket, key)
  world.s3.deleted.add(`${bucket}/${key}`)
  return { status: 204, body: '' }
}

/** @throws Refusal, 404; 403 to who may not list the bucket, and so must not learn which keys there are. */
function findObject(request: S3Request): StoredObject {
  const { world, bucket, key } = request
  const object = world.s3.objects.get(bucket, key)
  if (object) return object
  allow(request, 's3:ListBucket')
  throw noSuchKey(key)
}

/** @throws Refusal when the bucket takes no writes, or not under this key. */
function checkWritable({ world, key }: S3Request): void {
  if (Buffer.byteLength(key) > 1024)
    throw new Refusal(400, 'KeyTooLongError', 'Your key is too long')
  if (world.s3.scenario.full)
    throw new Refusal(503, 'ServiceUnavailable', 'Service is unable to handle request.')
}

/**
 * Create only, and replace only what was read. Source: Amazon S3 user guide, "Conditional writes": If-Match wants s3:GetObject, too.
 *
 * @throws Refusal when the condition does not hold.
 */
function checkConditions(request: S3Request): void {
  const { world, bucket, key, headers } = request
  const none = headers['if-none-match']
  const match = headers['if-match']
  if ((none !== undefined && none !== '*') || match === '*') {
    throw notImplemented('A header you provided implies functionality that is not implemented')
  }
  if (match !== undefined) allow(request, 's3:GetObject')
  const existing = world.s3.objects.get(bucket, key)
  if (none !== undefined && existing) throw preconditionFailed('If-None-Match')
  if (match === undefined) return
  if (!existing) throw noSuchKey(key)
  if (match.replace(/^"(.*)"$/, '$1') !== existing.etag) throw preconditionFailed('If-Match')
}

function storedObject(body: Buffer, etag: string, headers: Record<string, string>): StoredObject {
  return {
    body,
    etag: isUnderKmsKey(headers) ? randomBytes(16).toString('hex') : etag,
    headers,
    lastModifiedMs: Date.now(),
  }
}

function descriptionOf(headers: Record<string, string>): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => describingHeaders.includes(name) || name.startsWith('x-amz-meta-'),
  )
  const encoding = (headers['content-encoding'] ?? '')
    .split(',')
    .filter(each => each.trim() !== '' && each.trim() !== 'aws-chunked')
  return {
    'content-type': 'binary/octet-stream',
    ...Object.fromEntries(kept),
    ...(encoding.length > 0 && { 'content-encoding': encoding.join(',') }),
  }
}

const encryptionOf = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => encryptionHeaders.includes(name)))
