/**
 * AWS Signature Version 4 as a service checks it: the lab knows every secret, so it computes each signature again.
 * Source: AWS General Reference, "Signing AWS API requests" (canonical request, string to sign, signing key).
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { oncePerText } from '#base/once.ts'

/** `AK…/20261121/us-east-1/eks/aws4_request` */
export interface CredentialScope {
  accessKeyId: string
  date: string
  region: string
  service: string
}

/** What was signed, already reduced to its canonical parts. `query` pairs are decoded. */
export interface SignedRequest {
  method: string
  /** As sent, so encoded once: S3 signs that, every other service encodes it once more. */
  path: string
  query: [string, string][]
  /** Lower-case names in the order of SignedHeaders. */
  headers: [string, string][]
  payloadSha256: string
  /** `20261121T000000Z` */
  amzDate: string
}

export function signature(
  request: SignedRequest,
  scope: CredentialScope,
  secretAccessKey: string,
): string {
  const canonical = [
    request.method,
    scope.service === 's3' ? request.path : request.path.split('/').map(escapeUri).join('/'),
    canonicalQuery(request.query),
    ...request.headers.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    request.headers.map(([name]) => name).join(';'),
    request.payloadSha256,
  ].join('\n')
  return signText(
    ['AWS4-HMAC-SHA256', request.amzDate, scopeText(scope), sha256Hex(canonical)],
    scope,
    secretAccessKey,
  )
}

/**
 * The signature of one chunk of an `aws-chunked` body, which follows from the one before; the first from the request's own.
 * Source: Amazon S3 API reference, "Signature calculations … Transferring payload in multiple chunks".
 */
export function chunkSignature(
  chunk: Uint8Array,
  previous: string,
  amzDate: string,
  scope: CredentialScope,
  secret: string,
): string {
  const lines = [
    'AWS4-HMAC-SHA256-PAYLOAD',
    amzDate,
    scopeText(scope),
    previous,
    sha256Hex(''),
    sha256Hex(chunk),
  ]
  return signText(lines, scope, secret)
}

const scopeText = ({ date, region, service }: CredentialScope) =>
  `${date}/${region}/${service}/aws4_request`

function signText(
  lines: string[],
  { date, region, service }: CredentialScope,
  secretAccessKey: string,
): string {
  const key = signingKey([secretAccessKey, date, region, service].join('\n'))
  return hmac(key, lines.join('\n')).toString('hex')
}

/** The key of a day, region and service: of secret, date, region and service, a line each. */
const signingKey = oncePerText(scope => {
  const [secretAccessKey, ...parts] = scope.split('\n')
  return [...parts, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
})

export function sameSignature(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

export function parseScope(credential: string): CredentialScope | null {
  const [accessKeyId, date, region, service, end, ...more] = credential.split('/')
  if (!accessKeyId || !date || !region || !service || end !== 'aws4_request' || more.length > 0)
    return null
  return { accessKeyId, date, region, service }
}

/** `20261121T000000Z` in ms since the epoch; null when it is no such time. */
export function parseAmzDate(text: string): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)
  if (!parts) return null
  const [, year, month, day, hour, minute, second] = parts
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(ms) ? null : ms
}

export const sha256Hex = (data: string | Uint8Array) =>
  createHash('sha256').update(data).digest('hex')

const hmac = (key: string | Buffer, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest()

// RFC 3986: encodeURIComponent leaves these five alone.
const escapeUri = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const canonicalQuery = (query: [string, string][]) =>
  query
    .map(([name, value]) => `${escapeUri(name)}=${escapeUri(value)}`)
    .sort()
    .join('&')
