/**
 * KMS as far as message authentication codes go, protocol JSON 1.1: HMAC_256 keys, their policies, real codes. Source: the service model `kms`, and
 * the KMS API reference, GenerateMac and VerifyMac.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { RawObject } from '#base/raw-object.ts'
import { type Api, Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { KmsKeyScenario } from '#lab/scenarios/scenario.ts'
import { labAccount, type World } from '#lab/world.ts'
import { awsJsonApi } from './aws-json.ts'

const messageMaxBytes = 4096
const algorithm = 'HMAC_SHA_256'

type Call = 'GenerateMac' | 'VerifyMac'

export const kmsApi = (world: World): Api<Caller> =>
  awsJsonApi(world, {
    ...{ name: 'kms', signingName: 'kms', version: '1.1', target: 'TrentService' },
    actions: {
      GenerateMac: {
        parameters: ['KeyId', 'MacAlgorithm', 'Message'],
        answer(input, caller) {
          const { key, message } = asked('GenerateMac', input, caller, world)
          const Mac = codeOf(key, message).toString('base64')
          return { KeyId: arnOf(key, world), Mac, MacAlgorithm: algorithm }
        },
      },
      VerifyMac: {
        parameters: ['KeyId', 'MacAlgorithm', 'Message', 'Mac'],
        answer(input, caller) {
          const { key, message } = asked('VerifyMac', input, caller, world)
          const mac = Buffer.from(String(input.Mac), 'base64')
          const code = codeOf(key, message)
          if (mac.length !== code.length || !timingSafeEqual(mac, code))
            throw new Refusal(400, 'KMSInvalidMacException', '')
          return { KeyId: arnOf(key, world), MacAlgorithm: algorithm, MacValid: true }
        },
      },
    },
  })

function asked(
  call: Call,
  { KeyId, MacAlgorithm, Message }: RawObject,
  { principal, region }: Caller,
  world: World,
): { key: KmsKeyScenario; message: Buffer } {
  const wanted = String(KeyId)
  const message = Buffer.from(String(Message ?? ''), 'base64')
  if (message.length < 1 || message.length > messageMaxBytes)
    throw invalid(`Value at 'message' failed to satisfy constraint: length 1 to ${messageMaxBytes}`)
  const key = world.kms.find(
    one =>
      region === world.region &&
      [one.alias, keyIdOf(one)].some(
        name =>
          wanted === name || wanted === `arn:aws:kms:${region}:${labAccount}:${resourceOf(name)}`,
      ),
  )
  if (key === undefined)
    throw new Refusal(400, 'NotFoundException', `Key '${wanted}' does not exist`)
  const { generate, verify } = key
  const allowed = call === 'GenerateMac' ? generate : verify
  if (allowed !== undefined && !allowed.includes(principal.identity))
    throw new Refusal(
      400,
      'AccessDeniedException',
      `User: ${principal.arn} is not authorized to perform: kms:${call} on resource: ${arnOf(key, world)} because no resource-based policy allows the kms:${call} action`,
    )
  if (key.isDisabled)
    throw new Refusal(400, 'DisabledException', `${arnOf(key, world)} is disabled.`)
  if (MacAlgorithm !== algorithm)
    throw new Refusal(
      400,
      'InvalidKeyUsageException',
      `${arnOf(key, world)} key usage is GENERATE_VERIFY_MAC which is not valid for ${MacAlgorithm}.`,
    )
  return { key, message }
}

const resourceOf = (name: string): string => (name.startsWith('alias/') ? name : `key/${name}`)

const digestOf = (key: KmsKeyScenario, what: string): Buffer =>
  createHash('sha256').update(`${what} of the lab's key ${key.alias}`).digest()

/** The same in each lab, so that what one has sealed in a folder is good in the next. */
const codeOf = (key: KmsKeyScenario, message: Buffer): Buffer =>
  createHmac('sha256', digestOf(key, 'secret')).update(message).digest()

function keyIdOf(key: KmsKeyScenario): string {
  const hex = digestOf(key, 'id').toString('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-')
}

const arnOf = (key: KmsKeyScenario, { region }: World): string =>
  `arn:aws:kms:${region}:${labAccount}:key/${keyIdOf(key)}`

const invalid = (message: string): Refusal =>
  new Refusal(400, 'ValidationException', `1 validation error detected: ${message}`)
