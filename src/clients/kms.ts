/** AWS KMS: message authentication codes by a key that never leaves it. */
import { GenerateMacCommand, KMSClient, VerifyMacCommand } from '@aws-sdk/client-kms'
import { awsError, awsFailure, requestFailure } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'
import type { RequestFailure } from './failure.ts'
import type { MacKey } from './mac-key.ts'
import { callerIdentity } from './sts.ts'

export const kmsGenerateMacPermissions = ['kms:GenerateMac']
export const kmsVerifyMacPermissions = ['kms:VerifyMac']

const algorithm = { MacAlgorithm: 'HMAC_SHA_256' } as const
const connectionTimeoutMs = 5_000
const requestTimeoutMs = 20_000

export interface KmsKeyOptions {
  /** ARN, id, or `alias/NAME`. The region of an ARN counts. */
  keyId: string
  region: string
  /** Absent: the SDK's own chain. */
  credentials?: CredentialSource
}

/** A KMS key of the key spec HMAC_256. Messages have at most 4,096 bytes (source: KMS API reference, GenerateMac). */
export function kmsMacKey({ keyId, region: given, credentials }: KmsKeyOptions): MacKey {
  const region = /^arn:[\w-]+:kms:([\w-]+):/.exec(keyId)?.[1] ?? given
  const client = new KMSClient({
    region,
    credentials,
    requestHandler: { connectionTimeout: connectionTimeoutMs, requestTimeout: requestTimeoutMs },
  })
  const key = { KeyId: keyId, ...algorithm }
  const failure = (error: unknown, what: string) => kmsFailure(error, what, { keyId, region })
  return {
    async mac(message) {
      try {
        const { Mac } = await client.send(
          new GenerateMacCommand({ ...key, Message: Buffer.from(message) }),
        )
        return Buffer.from(Mac ?? []).toString('base64')
      } catch (error) {
        throw failure(error, 'GenerateMac')
      }
    },
    async isMac(message, mac) {
      try {
        const { MacValid } = await client.send(
          new VerifyMacCommand({
            ...key,
            Message: Buffer.from(message),
            Mac: Buffer.from(mac, 'base64'),
          }),
        )
        return MacValid === true
      } catch (error) {
        if (awsError(error).name === 'KMSInvalidMacException') return false
        throw failure(error, 'VerifyMac')
      }
    },
    async identity() {
      const source = credentials ?? client.config.credentials
      const { arn } = await callerIdentity(region, source, AbortSignal.timeout(requestTimeoutMs))
      if (arn === null)
        throw new Error('STS names no caller, so an approval would have no approver')
      return arn
    },
  }
}

function kmsFailure(
  error: unknown,
  call: string,
  { keyId, region }: { keyId: string; region: string },
): RequestFailure {
  const { name, text } = awsError(error)
  const what = `${call} by the key ${keyId}`
  if (/^(NotFound|Disabled|KMSInvalidState|InvalidKeyUsage|KeyUnavailable)/.test(name))
    return requestFailure(
      error,
      `KMS ${what}: the key cannot be used (${text}). It has to be there in ${region}, enabled, of the key spec HMAC_256`,
    )
  return awsFailure(error, {
    service: 'KMS',
    endpointVariable: 'AWS_ENDPOINT_URL_KMS',
    what,
    region,
    grant: `kms:${call} on the key, and in the key's own policy`,
  })
}
