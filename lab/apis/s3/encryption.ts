/** Server-side encryption: what a write asks for, and what KMS says to it. */
import { notImplemented, Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { accessDenied, invalidArgument } from './refusals.ts'

const algorithmHeader = 'x-amz-server-side-encryption'
const keyHeader = 'x-amz-server-side-encryption-aws-kms-key-id'
const bucketKeyHeader = 'x-amz-server-side-encryption-bucket-key-enabled'

export const encryptionHeaders = [algorithmHeader, keyHeader, bucketKeyHeader]

/** The encryption's headers, as S3 keeps them with the object. @throws Refusal when they are not valid, or KMS does not lend the key. */
export function encryption(
  world: World,
  caller: Caller,
  headers: Record<string, string>,
): Record<string, string> {
  // S3 encrypts everything: with its own key where nothing else is said.
  const algorithm = headers[algorithmHeader] ?? 'AES256'
  if (algorithm === 'aws:kms:dsse')
    throw notImplemented("the lab's s3 does not know the encryption aws:kms:dsse")
  if (algorithm !== 'AES256' && algorithm !== 'aws:kms') {
    throw new Refusal(
      400,
      'InvalidEncryptionAlgorithmError',
      'The encryption request that you specified is not valid.',
    )
  }
  const key = headers[keyHeader]
  if (algorithm === 'AES256') {
    if (key !== undefined)
      throw invalidArgument(
        `Server Side Encryption with AWS KMS managed key requires HTTP header ${algorithmHeader}`,
      )
    return { [algorithmHeader]: algorithm }
  }
  const keyArn = arnOf(world, caller, key ?? 'alias/aws/s3')
  askKms(world, caller, keyArn, 'kms:GenerateDataKey')
  const bucketKey = headers[bucketKeyHeader]
  return {
    [algorithmHeader]: algorithm,
    [keyHeader]: keyArn,
    ...(bucketKey === 'true' && { [bucketKeyHeader]: bucketKey }),
  }
}

/** @throws Refusal when the object's key is not lent for reading. */
export function decrypt(world: World, caller: Caller, headers: Record<string, string>): void {
  const keyArn = headers[keyHeader]
  if (keyArn !== undefined) askKms(world, caller, keyArn, 'kms:Decrypt')
}

/** The ETag of an object under a KMS key is no MD5. */
export const isUnderKmsKey = (headers: Record<string, string>) => headers[keyHeader] !== undefined

function askKms(
  { s3 }: World,
  caller: Caller,
  keyArn: string,
  action: 'kms:GenerateDataKey' | 'kms:Decrypt',
): void {
  if (s3.scenario.kms === 'denied') throw accessDenied(caller, action, keyArn)
  if (s3.scenario.kms === 'disabled')
    throw new Refusal(400, 'KMS.DisabledException', `${keyArn} is disabled.`)
  if (s3.scenario.kms === 'missing')
    throw new Refusal(400, 'KMS.NotFoundException', `Key '${keyArn}' does not exist`)
}

function arnOf({ region }: World, { principal }: Caller, key: string): string {
  if (key.startsWith('arn:')) return key
  return `arn:aws:kms:${region}:${principal.account}:${key.startsWith('alias/') ? key : `key/${key}`}`
}
