/** AWS KMS: message authentication codes by a key that never leaves KMS. */
import { GenerateMacCommand, KMSClient, VerifyMacCommand } from '@aws-sdk/client-kms'
import { RequestFailure } from '#clients/failure.ts'
import type { MacKey } from '#clients/store/store.ts'
import { awsCall, awsError, connectionTimeout } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'
import { callerIdentity } from './sts.ts'

export const kmsGenerateMacPermissions = ['kms:GenerateMac']
export const kmsVerifyMacPermissions = ['kms:VerifyMac']

const algorithm = { MacAlgorithm: 'HMAC_SHA_256' } as const
const requestTimeout = 20_000

export interface KmsKeyOptions {
  /** ARN, id, or `alias/NAME`. The region of an ARN overrides `region`. */
  keyId: string
  region: string
  /** Absent: the SDK's own credential chain. */
  credentials?: CredentialSource
}

/** A KMS key of the key spec HMAC_256. Messages have at most 4,096 bytes (source: KMS API reference, GenerateMac). */
export function kmsMacKey({ keyId, region: given, credentials }: KmsKeyOptions): MacKey {
  const region = /^arn:[\w-]+:kms:([\w-]+):/.exec(keyId)?.[1] ?? given
  const client = new KMSClient({
    region,
    credentials,
    requestHandler: { connectionTimeout, requestTimeout },
  })
  const key = { KeyId: keyId, ...algorithm }
  const call = <T>(operation: string, run: () => Promise<T>) =>
    awsCall(
      {
        service: 'KMS',
        what: `${operation} by the key ${keyId}`,
        region,
        grant: `kms:${operation} on the key, and in the key's own policy`,
        explain: ({ name, text }) =>
          /^(NotFound|Disabled|KMSInvalidState|InvalidKeyUsage|KeyUnavailable)/.test(name)
            ? `the key cannot be used (${text}). It has to be there in ${region}, enabled, of the key spec HMAC_256`
            : null,
      },
      run,
    )
  return {
    async mac(message) {
      const command = new GenerateMacCommand({ ...key, Message: Buffer.from(message) })
      const { Mac } = await call('GenerateMac', () => client.send(command))
      return Buffer.from(Mac ?? []).toString('base64')
    },
    async isMac(message, mac) {
      const [Message, Mac] = [Buffer.from(message), Buffer.from(mac, 'base64')]
      const command = new VerifyMacCommand({ ...key, Message, Mac })
      try {
        return (await call('VerifyMac', () => client.send(command))).MacValid === true
      } catch (error) {
        if (
          error instanceof RequestFailure &&
          awsError(error.cause).name === 'KMSInvalidMacException'
        )
          return false
        throw error
      }
    },
    async identity() {
      const source = credentials ?? client.config.credentials
      const { arn } = await callerIdentity(region, source, AbortSignal.timeout(requestTimeout))
      if (arn === null)
        throw new Error('STS names no caller, so an approval would have no approver')
      return arn
    },
  }
}
