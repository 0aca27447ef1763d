/** URLs of AWS that carry their signature. No network call. */
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import type { CredentialSource } from './credentials.ts'

export interface PresignedRequest {
  /** `https:` or `http:` */
  protocol: string
  /** With the port, unless it is the protocol's own. */
  host: string
  path: string
  /** Beside `host`. */
  headers?: Record<string, string>
  query?: Record<string, string>
}

export interface PresignOptions {
  service: 'sts' | 's3'
  region: string
  credentials: CredentialSource
  /** Seconds. */
  expiresIn: number
  signingDate: Date
}

export async function presignedUrl(
  { protocol, host, path, headers = {}, query = {} }: PresignedRequest,
  { service, region, credentials, expiresIn, signingDate }: PresignOptions,
) {
  // S3 alone signs the path as it is.
  const uriEscapePath = service !== 's3'
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256, uriEscapePath })
  const signed = await signer.presign(
    { method: 'GET', protocol, hostname: host, path, headers: { host, ...headers }, query },
    { expiresIn, signingDate },
  )
  const pairs = Object.entries(signed.query ?? {})
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${escapeUri(key)}=${escapeUri(String(value))}`)
  return `${protocol}//${host}${path}?${pairs.join('&')}`
}

const escapeUri = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
