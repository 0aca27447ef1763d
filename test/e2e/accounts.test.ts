/** Several accounts: roles to assume, some of them guarded by an external id, and two clusters that share a name. */
import { describe, expect, it } from 'vitest'
import { recorded } from '#lab/scenarios/recorded.ts'
import type { ClusterScenario, Scenario } from '#lab/scenarios/scenario.ts'
import { labAccount } from '#lab/world.ts'
import type { AccountSelection } from '#model/policy.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'

const member = '444455556666'
const role = `arn:aws:iam::${member}:role/highwater`
const [cluster] = recorded.clusters as [ClusterScenario]

const world: Scenario = {
  ...recorded,
  name: 'accounts',
  roles: [{ arn: role, externalId: 'agreed-4711' }],
  clusters: [
    { ...cluster, name: 'own' },
    { ...cluster, name: 'members', account: member, access: { [role]: ['list nodes', 'list pods', 'get nodes/proxy'] } },
  ],
}
const own: AccountSelection = { roleArn: null, externalId: null, regions: null }

describe('accounts of the policy', () => {
  it('are read with their role and its external id, down to the kubelets', async () => {
    await labOf([world])
    const { document } = await auditLive({ policy: { accounts: [own, { ...own, roleArn: role, externalId: 'agreed-4711' }] } })
    expect(document.clusters.map(({ name, coverage }) => [name, coverage.read])).toEqual([
      ['members', 2],
      ['own', 2],
    ])
  })

  it('that cannot be entered are listed, and the others are still audited', async () => {
    await labOf([world])
    const { document } = await auditLive({ policy: { accounts: [own, { ...own, roleArn: role, externalId: 'wrong' }] } })
    expect(document.clusters.find(({ name }) => name === 'own')?.coverage.read).toBe(2)
    expect(document.notAudited).toMatchObject([
      { cluster: `${role}/us-east-1/*`, node: null, reason: expect.stringContaining('not allowed') },
    ])
  })

  it('may be none but one that cannot be entered: then nothing can be audited', async () => {
    await labOf([world])
    await expect(auditLive({ policy: { accounts: [{ ...own, roleArn: role, externalId: 'wrong' }] } })).rejects.toThrow('not allowed')
  })

  it('are told apart where they share a cluster name', async () => {
    await labOf([{ ...world, clusters: [{ ...cluster, name: 'own' }] }])
    const { document } = await auditLive({ policy: { accounts: [own, own] } })
    expect(document.clusters.map(({ name }) => name)).toEqual([`${labAccount}/us-east-1/own`])
  })
})
