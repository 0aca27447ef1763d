/** The lab's KMS by the product's own client: real codes, and the refusals that KMS knows. */
import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { kmsMacKey } from '#clients/aws/kms.ts'
import { type Lab, startLab } from '#lab/lab.ts'
import { probe } from '#lab/scenarios/probe.ts'
import { labApprovalKey, labRunKey } from '#lab/world.ts'

const user = 'arn:aws:iam::111122223333:user/highwater'
let lab: Lab

beforeEach(async () => {
  const keys = [
    { alias: labRunKey },
    { alias: labApprovalKey, generate: ['arn:aws:iam::111122223333:role/approvers'] },
    { alias: 'alias/disabled', isDisabled: true },
  ]
  lab = await startLab({ ...probe, kms: keys })
  for (const [name, value] of Object.entries(lab.environment)) vi.stubEnv(name, value)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await lab.close()
})

const keyOf = (keyId: string) => kmsMacKey({ keyId, region: 'us-east-1' })

describe('KMS', () => {
  it('makes a code of a message and checks it, by the key that made it alone', async () => {
    const runs = keyOf(labRunKey)
    const mac = await runs.mac('a run')
    expect(Buffer.from(mac, 'base64')).toHaveLength(32)
    expect(await runs.mac('a run')).toBe(mac)
    expect([await runs.isMac('a run', mac), await runs.isMac('another', mac)]).toEqual([
      true,
      false,
    ])
    expect(await keyOf(labApprovalKey).isMac('a run', mac)).toBe(false)
    const own = createHmac('sha256', 'guessed').update('a run').digest('base64')
    expect(await runs.isMac('a run', own)).toBe(false)
    expect(await runs.identity()).toBe(user)
  })

  it.each([
    [labApprovalKey, new RegExp(`${user} is not authorized to perform: kms:GenerateMac`)],
    ['alias/disabled', /is disabled.*the key spec HMAC_256/],
    ['alias/missing', /does not exist/],
  ])('refuses to make one by %s', async (keyId, message) => {
    await expect(keyOf(keyId).mac('x')).rejects.toThrow(message)
  })

  it('does not take a refusal for a wrong code', async () => {
    await expect(keyOf('alias/disabled').isMac('x', 'AAAA')).rejects.toThrow(/is disabled/)
  })
})
