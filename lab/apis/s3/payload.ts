/** The body of an S3 request: as it is, or in the chunks of `aws-chunked`, held against every hash and checksum that came with it. */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type LabRequest, notImplemented, Refusal } from '#lab/api.ts'
import type { Signed } from '#lab/credentials.ts'
import { chunkSignature, sameSignature, sha256Hex } from '#lab/sigv4.ts'
import { badDigest, invalidArgument } from './refusals.ts'

export interface Payload {
  body: Buffer
  /** `x-amz-checksum-crc32` and the like, in base64, as the client sent them. */
  checksums: Record<string, string>
}

export type ChecksumAlgorithm = 'CRC32' | 'SHA1' | 'SHA256'

const unsignedTrailer = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
const signedChunks = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
const checksumPrefix = 'x-amz-checksum-'

/** @throws Refusal when the body is not what its hash, signatures or checksums say. */
export function payloadOf(request: LabRequest, signed: Signed): Payload {
  const { body, trailers } = contentOf(request, signed)
  const declared = { ...request.headers, ...trailers }
  const checksums: Record<string, string> = {}
  for (const [name, value] of Object.entries(declared)) {
    const algorithm = name.startsWith(checksumPrefix)
      ? name.slice(checksumPrefix.length).toUpperCase()
      : ''
    // Not sums but words about them.
    if (algorithm === '' || ['ALGORITHM', 'MODE', 'TYPE'].includes(algorithm)) continue
    if (checksum(asAlgorithm(algorithm), body).toString('base64') !== value)
      throw badDigest(algorithm)
    checksums[name] = value
  }
  const md5 = request.headers['content-md5']
  if (md5 !== undefined && createHash('md5').update(body).digest('base64') !== md5)
    throw badDigest('Content-MD5')
  return { body, checksums }
}

function asAlgorithm(name: string): ChecksumAlgorithm {
  if (name === 'CRC32' || name === 'SHA1' || name === 'SHA256') return name
  throw notImplemented(`the lab's s3 does not know the checksum algorithm ${name}`)
}

function checksum(algorithm: ChecksumAlgorithm, data: Uint8Array): Buffer {
  if (algorithm !== 'CRC32') return createHash(algorithm).update(data).digest()
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(data))
  return sum
}

function contentOf(
  request: LabRequest,
  signed: Signed,
): { body: Buffer; trailers: Record<string, string> } {
  const claimed = request.headers['x-amz-content-sha256'] ?? ''
  if (claimed === unsignedTrailer) return unchunk(request, null)
  if (claimed === signedChunks) return unchunk(request, signed)
  if (claimed.startsWith('STREAMING-'))
    throw notImplemented(`the lab's s3 does not know x-amz-content-sha256 ${claimed}`)
  if (claimed !== 'UNSIGNED-PAYLOAD') {
    if (!/^[0-9a-f]{64}$/.test(claimed)) {
      throw invalidArgument(
        'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a streaming value, or a valid sha256 value.',
      )
    }
    if (sha256Hex(request.body) !== claimed) {
      throw new Refusal(
        400,
        'XAmzContentSHA256Mismatch',
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
      )
    }
  }
  return { body: request.body, trailers: {} }
}

/** `<hex size>[;chunk-signature=<hex>]\r\n<bytes>\r\n` until a chunk of size 0, then trailers as header lines. */
function unchunk(
  request: LabRequest,
  signed: Signed | null,
): { body: Buffer; trailers: Record<string, string> } {
  const chunks: Buffer[] = []
  let previous = signed?.signature ?? ''
  let rest = request.body
  for (;;) {
    const [, size = '', given = ''] =
      /^([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?\r\n/.exec(
        rest.toString('latin1', 0, 100),
      ) ?? []
    if (size === '') throw incomplete()
    const start = rest.indexOf('\r\n') + 2
    const end = start + Number.parseInt(size, 16)
    const chunk = rest.subarray(start, end)
    if (signed) {
      const expected = chunkSignature(
        chunk,
        previous,
        signed.amzDate,
        signed.scope,
        signed.secretAccessKey,
      )
      if (!sameSignature(expected, given)) throw signatureMismatch()
      previous = expected
    }
    if (chunk.length === 0)
      return {
        body: complete(request, Buffer.concat(chunks)),
        trailers: trailersOf(request, rest.subarray(start)),
      }
    if (rest.toString('latin1', end, end + 2) !== '\r\n') throw incomplete()
    chunks.push(chunk)
    rest = rest.subarray(end + 2)
  }
}

function complete(request: LabRequest, body: Buffer): Buffer {
  const length = request.headers['x-amz-decoded-content-length']
  if (length === undefined)
    throw new Refusal(
      411,
      'MissingContentLength',
      'You must provide the Content-Length HTTP header.',
    )
  if (body.length !== Number(length)) throw incomplete()
  return body
}

function trailersOf(request: LabRequest, tail: Buffer): Record<string, string> {
  const lines = tail.toString('latin1').split('\r\n').filter(Boolean)
  const trailers = Object.fromEntries(
    lines.map(line => [
      line.split(':', 1)[0]!.toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const announced = (request.headers['x-amz-trailer'] ?? '').split(',').filter(Boolean)
  if (announced.toSorted().join() !== Object.keys(trailers).toSorted().join()) {
    throw new Refusal(
      400,
      'MalformedTrailerError',
      'The request contained trailing data that was not well-formed or did not conform.',
    )
  }
  return trailers
}

const incomplete = () =>
  new Refusal(
    400,
    'IncompleteBody',
    'You did not provide the number of bytes specified by the Content-Length HTTP header',
  )

export const signatureMismatch = () =>
  new Refusal(
    403,
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  )
