import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import {
  type ClusterAccess,
  describe as describeCluster,
  enterLab,
  get,
  nodes,
  scenario,
  type TokenParts,
  token,
} from './support.ts'

const role = 'arn:aws:iam::111122223333:role/teams/auditor'

let lab: Lab
let access: ClusterAccess
beforeAll(async () => {
  lab = await enterLab(
    scenario(
      [
        {
          name: 'prod',
          nodes: nodes(1),
          access: { [labPrincipal]: auditorRights, [role]: auditorRights },
        },
        { name: 'other', nodes: nodes(1), access: {} },
      ],
      { roles: [{ arn: role }, { arn: `${role}-unmapped` }] },
    ),
  )
  access = await describeCluster('prod')
})
afterAll(() => lab.close())

const status = async (parts: TokenParts) =>
  (await get(access, '/api/v1/nodes', await token(lab, 'prod', parts))).status

async function assumed(RoleArn: string): Promise<TokenParts> {
  const { Credentials } = await new STSClient({}).send(
    new AssumeRoleCommand({ RoleArn, RoleSessionName: 'audit' }),
  )
  return {
    accessKeyId: Credentials!.AccessKeyId!,
    secretAccessKey: Credentials!.SecretAccessKey!,
    sessionToken: Credentials!.SessionToken!,
  }
}

describe('an EKS token', () => {
  it.each<[string, TokenParts]>([
    ['as clients make it', {}],
    ["of another region's STS", { region: 'eu-west-1' }],
    ['that names the longest expiry', { expiresIn: 900 }],
    ['14 minutes old', { ageMs: 14 * 60_000 }],
    ['a minute early', { ageMs: -60_000 }],
  ])('is taken %s', async (_, parts) => {
    expect(await status(parts)).toBe(200)
  })

  it.each<[string, TokenParts]>([
    ['16 minutes old', { ageMs: 16 * 60_000 }],
    ['from the future', { ageMs: -10 * 60_000 }],
    ['signed for another cluster', { signedCluster: 'other' }],
    ['that signs no cluster', { signedCluster: null }],
    ['with a wrong secret', { secretAccessKey: 'x' }],
    ['with an unknown key', { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' }],
    ['that expires after 901 s', { expiresIn: 901 }],
    ['for another host', { host: 'sts.example.com' }],
    [
      "for another partition's host",
      { host: 'sts.cn-north-1.amazonaws.com.cn', region: 'cn-north-1' },
    ],
    ['for another path', { path: '/x' }],
    ['for another action', { query: { Action: 'AssumeRole' } }],
    ['with a parameter too many', { query: { Foo: 'bar' } }],
    ['with a parameter twice', { rewrite: url => `${url}&Action=GetCallerIdentity` }],
    ['over plain http', { rewrite: url => url.replace('https:', 'http:') }],
    ['with a session token nobody gave', { sessionToken: 'x' }],
    ['longer than 4,096 bytes', { sessionToken: 'x'.repeat(4000) }],
  ])('is refused %s', async (_, parts) => {
    expect(await status(parts)).toBe(401)
  })

  it('is refused with base64 padding, without its prefix, and cut', async () => {
    const good = await token(lab, 'prod')
    const bare = good.slice('k8s-aws-v1.'.length)
    const padded = `k8s-aws-v1.${bare}${'='.repeat(4 - (bare.length % 4 || 4)) || '=='}`
    for (const wrong of [padded, bare, good.slice(0, -8), 'k8s-aws-v1.', 'k8s-aws-v1.%%%']) {
      expect((await get(access, '/api/v1/nodes', wrong)).status).toBe(401)
    }
  })

  it("is taken from a role's session, with its token and only where the role is mapped", async () => {
    const mapped = await assumed(role)
    expect(await status(mapped)).toBe(200)
    expect(await status({ ...mapped, sessionToken: '' })).toBe(401)
    expect(await status(await assumed(`${role}-unmapped`))).toBe(401)
  })

  it("is refused in the API server's own words, and where nobody is mapped", async () => {
    const other = await describeCluster('other')
    const answer = await get(other, '/api/v1/nodes', await token(lab, 'other'))
    expect(answer.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    })
  })
})

describe('without a token', () => {
  it('one is anonymous: the version may be read, nothing else', async () => {
    expect((await get(access, '/version')).json).toMatchObject({ major: '1', minor: '34' })
    const answer = await get(access, '/api/v1/nodes')
    expect(answer.status).toBe(403)
    expect(answer.json).toMatchObject({
      message:
        'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope',
    })
    expect((await get(access, '/api')).status).toBe(403)
  })
})
