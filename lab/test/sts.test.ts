import { EKSClient, ListClustersCommand } from '@aws-sdk/client-eks'
import {
  AssumeRoleCommand,
  GetCallerIdentityCommand,
  GetSessionTokenCommand,
  STSClient,
} from '@aws-sdk/client-sts'
import { fromTemporaryCredentials } from '@aws-sdk/credential-providers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { enterLab, scenario } from './support.ts'

const member = '444455556666'
const reader = `arn:aws:iam::${member}:role/audit/highwater-reader`
const guarded = `arn:aws:iam::${member}:role/guarded`
const blind = `arn:aws:iam::${member}:role/blind`

let lab: Lab
beforeAll(async () => {
  const roles = [
    { arn: reader },
    { arn: guarded, externalId: 'agreed-4711' },
    { arn: blind, mayReadEks: false },
  ]
  lab = await enterLab(scenario([{ name: 'own' }, { name: 'members', account: member }], { roles }))
})
afterAll(() => lab.close())

const sts = () => new STSClient({ maxAttempts: 1 })
const assume = (RoleArn: string, more: { ExternalId?: string; DurationSeconds?: number } = {}) =>
  new AssumeRoleCommand({ RoleArn, RoleSessionName: 'test', ...more })
const temporary = (RoleArn: string, ExternalId?: string) =>
  fromTemporaryCredentials({
    params: { RoleArn, RoleSessionName: 'nightly', ...(ExternalId && { ExternalId }) },
  })

describe('STS in the lab', () => {
  it('knows who asks', async () => {
    expect(await sts().send(new GetCallerIdentityCommand({}))).toMatchObject({
      Account: '111122223333',
      Arn: 'arn:aws:iam::111122223333:user/highwater',
    })
  })

  it("gives a role's credentials, which EKS takes for the role's own account", async () => {
    const credentials = temporary(reader)
    expect(
      (await new EKSClient({ credentials }).send(new ListClustersCommand({}))).clusters,
    ).toEqual(['members'])
    expect((await new EKSClient({}).send(new ListClustersCommand({}))).clusters).toEqual(['own'])
    expect((await new STSClient({ credentials }).send(new GetCallerIdentityCommand({}))).Arn).toBe(
      `arn:aws:sts::${member}:assumed-role/highwater-reader/nightly`,
    )
  })

  it('does not take temporary credentials without their session token', async () => {
    const { sessionToken: _, ...halved } = await temporary(reader)()
    await expect(
      new EKSClient({ credentials: halved, maxAttempts: 1 }).send(new ListClustersCommand({})),
    ).rejects.toMatchObject({ name: 'UnrecognizedClientException' })
  })

  it('says when the role may not read EKS', async () => {
    await expect(
      new EKSClient({ credentials: temporary(blind), maxAttempts: 1 }).send(
        new ListClustersCommand({}),
      ),
    ).rejects.toMatchObject({ name: 'AccessDeniedException', $metadata: { httpStatusCode: 403 } })
  })

  it.each([
    ['the agreed one', 'agreed-4711', true],
    ['none', undefined, false],
    ['another', 'agreed-4712', false],
  ])("asks a guarded role's caller for the external id: %s", async (_, ExternalId, isGood) => {
    const answer = sts().send(assume(guarded, ExternalId === undefined ? {} : { ExternalId }))
    if (isGood) expect((await answer).Credentials?.AccessKeyId).toMatch(/^ASIA/)
    else
      await expect(answer).rejects.toMatchObject({
        name: 'AccessDenied',
        $metadata: { httpStatusCode: 403 },
      })
  })

  it.each([
    [43_200, true],
    [43_201, false],
    [900, true],
    [899, false],
  ])('gives a session of %i s: %s', async (DurationSeconds, isGood) => {
    const answer = sts().send(assume(reader, { DurationSeconds }))
    if (isGood)
      expect((await answer).Credentials?.Expiration?.getTime()).toBeGreaterThan(
        Date.now() + (DurationSeconds - 60) * 1000,
      )
    else await expect(answer).rejects.toMatchObject({ name: 'ValidationError' })
  })

  it('gives a chained role one hour at most', async () => {
    const chained = new STSClient({ credentials: temporary(reader), maxAttempts: 1 })
    expect(await chained.send(assume(blind, { DurationSeconds: 3600 }))).toMatchObject({
      Credentials: { SessionToken: expect.any(String) },
    })
    await expect(chained.send(assume(blind, { DurationSeconds: 3601 }))).rejects.toMatchObject({
      name: 'ValidationError',
    })
  })

  it('refuses a role that is not there, a wrong secret, and what it does not know', async () => {
    await expect(sts().send(assume(`arn:aws:iam::${member}:role/nobody`))).rejects.toMatchObject({
      name: 'AccessDenied',
    })
    const credentials = { accessKeyId: lab.environment.AWS_ACCESS_KEY_ID!, secretAccessKey: 'x' }
    await expect(
      new STSClient({ credentials, maxAttempts: 1 }).send(new GetCallerIdentityCommand({})),
    ).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' })
    await expect(sts().send(new GetSessionTokenCommand({}))).rejects.toMatchObject({
      name: 'NotImplemented',
      $metadata: { httpStatusCode: 501 },
    })
  })
})
