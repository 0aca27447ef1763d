/** Objects in parts. The parts are kept in memory until the upload is completed: they do not outlive the lab. */
import { randomBytes } from 'node:crypto'
import { notImplemented, Refusal, type Reply } from '#lab/api.ts'
import { encryption } from './encryption.ts'
import { md5Hex } from './object-store.ts'
import {
  checkConditions,
  checkWritable,
  descriptionOf,
  encryptionOf,
  storedObject,
} from './objects.ts'
import { asAlgorithm, type ChecksumAlgorithm, checksum } from './payload.ts'
import { invalidArgument } from './refusals.ts'
import type { S3Request } from './request.ts'
import { xmlReply } from './xml-reply.ts'

export interface Upload {
  bucket: string
  key: string
  headers: Record<string, string>
  algorithm: ChecksumAlgorithm | null
  parts: Map<number, Buffer>
}

const minPartBytes = 5 * 1024 ** 2

export function createUpload(request: S3Request): Reply {
  const { world, bucket, key, caller, headers } = request
  checkWritable(request)
  if ((headers['x-amz-checksum-type'] ?? 'COMPOSITE') !== 'COMPOSITE') {
    throw notImplemented(
      "the lab's s3 knows no other x-amz-checksum-type than COMPOSITE for an upload in parts",
    )
  }
  const algorithm = headers['x-amz-checksum-algorithm']
  const uploadId = randomBytes(24).toString('base64url')
  const kept = { ...descriptionOf(headers), ...encryption(world, caller, headers) }
  const upload: Upload = {
    bucket,
    key,
    headers: kept,
    algorithm: algorithm === undefined ? null : asAlgorithm(algorithm),
    parts: new Map(),
  }
  world.s3.uploads.set(uploadId, upload)
  const summed: Record<string, string> =
    algorithm === undefined
      ? {}
      : { 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': 'COMPOSITE' }
  return xmlReply(
    'InitiateMultipartUploadResult',
    { Bucket: bucket, Key: key, UploadId: uploadId },
    { ...encryptionOf(kept), ...summed },
  )
}

export function uploadPart(request: S3Request): Reply {
  checkWritable(request)
  const upload = findUpload(request)
  const number = Number(request.query.get('partNumber'))
  if (!Number.isInteger(number) || number < 1 || number > 10_000) {
    throw invalidArgument('Part number must be an integer between 1 and 10000, inclusive')
  }
  const { body, checksums } = request.payload
  upload.parts.set(number, body)
  return {
    status: 200,
    headers: { etag: `"${md5Hex(body)}"`, ...encryptionOf(upload.headers), ...checksums },
    body: '',
  }
}

export function completeUpload(request: S3Request): Reply {
  const { world, bucket, key, query } = request
  checkWritable(request)
  const upload = findUpload(request)
  checkConditions(request)
  const bodies = named(request).map(part => partBody(upload, part))
  if (bodies.slice(0, -1).some(body => body.length < minPartBytes)) {
    throw new Refusal(
      400,
      'EntityTooSmall',
      'Your proposed upload is smaller than the minimum allowed size',
    )
  }
  const etag = `${md5Hex(Buffer.concat(bodies.map(body => Buffer.from(md5Hex(body), 'hex'))))}-${bodies.length}`
  const summed = compositeOf(upload, bodies)
  const object = storedObject(Buffer.concat(bodies), etag, { ...upload.headers, ...summed })
  world.s3.objects.put(bucket, key, object)
  world.s3.uploads.delete(query.get('uploadId') ?? '')
  const location = `http://${request.headers.host}/${bucket}/${encodeURIComponent(key)}`
  return xmlReply(
    'CompleteMultipartUploadResult',
    { Location: location, Bucket: bucket, Key: key, ETag: `"${object.etag}"` },
    encryptionOf(upload.headers),
  )
}

export function abortUpload(request: S3Request): Reply {
  findUpload(request)
  request.world.s3.uploads.delete(request.query.get('uploadId') ?? '')
  return { status: 204, body: '' }
}

function findUpload({ world, bucket, key, query }: S3Request): Upload {
  const upload = world.s3.uploads.get(query.get('uploadId') ?? '')
  if (upload?.bucket === bucket && upload.key === key) return upload
  throw new Refusal(
    404,
    'NoSuchUpload',
    'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  )
}

interface NamedPart {
  number: number
  etag: string
}

/** The parts that CompleteMultipartUpload lists, in rising order. */
function named({ payload }: S3Request): NamedPart[] {
  const parts = [...payload.body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(
    ([, part = '']) => ({
      number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
      etag: /<ETag>(?:&quot;|&#34;|")?([^<&"]+)/.exec(part)?.[1] ?? '',
    }),
  )
  if (parts.length === 0 || parts.some(({ number, etag }) => Number.isNaN(number) || etag === '')) {
    throw new Refusal(
      400,
      'MalformedXML',
      'The XML you provided was not well-formed or did not validate against our published schema',
    )
  }
  if (parts.some(({ number }, index) => index > 0 && number <= parts[index - 1]!.number)) {
    throw new Refusal(
      400,
      'InvalidPartOrder',
      'The list of parts was not in ascending order. Parts must be ordered by part number.',
    )
  }
  return parts
}

function partBody(upload: Upload, { number, etag }: NamedPart): Buffer {
  const body = upload.parts.get(number)
  if (body && md5Hex(body) === etag) return body
  throw new Refusal(
    400,
    'InvalidPart',
    'One or more of the specified parts could not be found, or its entity tag did not match.',
  )
}

/** The checksum of the parts' checksums. */
function compositeOf({ algorithm }: Upload, bodies: Buffer[]): Record<string, string> {
  if (algorithm === null) return {}
  const sum = checksum(algorithm, Buffer.concat(bodies.map(body => checksum(algorithm, body))))
  return {
    [`x-amz-checksum-${algorithm.toLowerCase()}`]: `${sum.toString('base64')}-${bodies.length}`,
    'x-amz-checksum-type': 'COMPOSITE',
  }
}
