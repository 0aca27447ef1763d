/** Checks a request's `Authorization` header against the lab's keys: form, key, session, clock, and the signature computed anew. */
import type { LabRequest } from './api.ts'
import {
  type CredentialScope,
  parseAmzDate,
  parseScope,
  sameSignature,
  sha256Hex,
  signature,
} from './sigv4.ts'
import type { AccessKey, Principal, World } from './world.ts'

export type CredentialProblem =
  | 'missing'
  | 'malformed'
  | 'unknown-key'
  | 'expired-session'
  | 'clock'
  | 'signature'

export interface Caller {
  principal: Principal
  /** Of the credential scope: the region that was asked. */
  region: string
  signed: Signed
}

/** The request's own signature and what it was made with. */
export interface Signed {
  scope: CredentialScope
  secretAccessKey: string
  amzDate: string
  headers: readonly string[]
  signature: string
}

/** AWS services refuse a clock that is further off. */
const maxSkewMs = 5 * 60_000
const s3MaxSkewMs = 15 * 60_000

const authorizationForm =
  /^AWS4-HMAC-SHA256 Credential=([^,\s]+), ?SignedHeaders=([^,\s]+), ?Signature=([0-9a-f]{64})$/

/** For S3 the payload's hash is what `x-amz-content-sha256` says: that it is true is for the caller to check. */
export function checkAuthorization(
  request: LabRequest,
  world: World,
  service: string,
): Caller | CredentialProblem {
  const authorization = request.headers.authorization
  if (!authorization) return 'missing'
  const [, credential = '', signedHeaders = '', given = ''] =
    authorizationForm.exec(authorization) ?? []
  const scope = parseScope(credential)
  const amzDate = request.headers['x-amz-date'] ?? ''
  const signedAtMs = parseAmzDate(amzDate)
  const names = signedHeaders.split(';')
  if (
    !scope ||
    signedAtMs === null ||
    !names.includes('host') ||
    scope.date !== amzDate.slice(0, 8)
  )
    return 'malformed'

  const key = world.keys.get(scope.accessKeyId)
  if (!key) return 'unknown-key'
  const sessionProblem = checkSession(key, request.headers['x-amz-security-token'])
  if (sessionProblem) return sessionProblem
  if (Math.abs(Date.now() - signedAtMs) > (service === 's3' ? s3MaxSkewMs : maxSkewMs))
    return 'clock'

  const claimed = request.headers['x-amz-content-sha256']
  const payloadSha256 = service === 's3' ? (claimed ?? '') : sha256Hex(request.body)
  if (scope.service !== service || (claimed !== undefined && claimed !== payloadSha256))
    return 'signature'
  const expected = signature(
    {
      method: request.method,
      path: request.path,
      query: [...request.query],
      headers: names.map(name => [name, request.headers[name] ?? '']),
      payloadSha256,
      amzDate,
    },
    scope,
    key.secretAccessKey,
  )
  if (!sameSignature(expected, given)) return 'signature'
  const signed = {
    scope,
    secretAccessKey: key.secretAccessKey,
    amzDate,
    headers: names,
    signature: given,
  }
  return { principal: key.principal, region: scope.region, signed }
}

/** Temporary credentials are good only with their session token, and until they expire. */
export function checkSession(
  key: AccessKey,
  token: string | undefined,
): 'unknown-key' | 'expired-session' | null {
  if (token !== key.session?.token) return 'unknown-key'
  return key.session && key.session.expiresAtMs <= Date.now() ? 'expired-session' : null
}
