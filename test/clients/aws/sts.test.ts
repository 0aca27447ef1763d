import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eksAuthorization, eksToken } from '#clients/aws/sts.ts'

const keys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const request = { region: 'eu-west-1', clusterId: 'my-cluster', credentials: async () => keys }
const at = new Date('2026-11-20T00:00:00Z')
const urlOf = (token: string) =>
  new URL(Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString())

describe('eksToken', () => {
  it('is byte for byte what botocore makes of the same request', async () => {
    const token = await eksToken(request, at)
    expect(token).toHaveLength(481)
    expect(createHash('sha256').update(token).digest('hex')).toBe(
      '88c8e501832acbc7d04599531465a61283fbe370087245a3b3c6cfc12b83fc28',
    )
    expect(urlOf(token).searchParams.get('X-Amz-Signature')).toBe(
      '6a037550a1f1bef58a1b135ece2c39b685e76810fee1ec8891d87950674e4fa2',
    )
  })

  it('carries a session token, signed', async () => {
    const token = await eksToken(
      { ...request, credentials: async () => ({ ...keys, sessionToken: 'TOKEN/with+chars==' }) },
      at,
    )
    expect(urlOf(token).searchParams.get('X-Amz-Signature')).toBe(
      'c8bd1b23ba785a0e0a91e74a60c1b380755e21e61a191bfb484029713924ef9b',
    )
  })

  it.each([
    ['us-east-1', 'sts.us-east-1.amazonaws.com'],
    ['cn-north-1', 'sts.cn-north-1.amazonaws.com.cn'],
  ])('is for the STS of the cluster’s own region and partition: %s', async (region, host) => {
    expect(urlOf(await eksToken({ ...request, region }, at)).host).toBe(host)
  })

  it('is refused here when no cluster would take it', async () => {
    const credentials = async () => ({ ...keys, sessionToken: 'x'.repeat(5000) })
    await expect(eksToken({ ...request, credentials }, at)).rejects.toThrow('more than the 4096')
  })
})

describe('eksAuthorization', () => {
  it('makes one token and keeps it, until it is asked to renew', async () => {
    let made = 0
    const authorization = eksAuthorization({
      ...request,
      credentials: async () => {
        made += 1
        return keys
      },
    })
    const first = await authorization(false)
    expect(first).toMatch(/^Bearer k8s-aws-v1\./)
    expect(await authorization(false)).toBe(first)
    expect(made).toBe(1)
    await authorization(true)
    expect(made).toBe(2)
  })
})
