/** Several accounts: roles to assume, some of them guarded by an external id, and clusters that share a name. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recorded } from '#lab/scenarios/recorded.ts'
import type { ClusterScenario, Scenario } from '#lab/scenarios/scenario.ts'
import { labAccount } from '#lab/world.ts'
import type { FindingsDocument } from '#model/finding.ts'
import type { AccountSelection, Policy } from '#model/policy.ts'
import { temporaryFolder } from '#test/cli.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'
import { invoke, serviceEnvironment } from '#test/lambda.ts'

const member = '444455556666'
const role = `arn:aws:iam::${member}:role/highwater`
const [cluster] = recorded.clusters as [ClusterScenario]
const letIn = { [role]: ['list nodes', 'list pods', 'get nodes/proxy'] }

const world: Scenario = {
  ...recorded,
  name: 'accounts',
  roles: [{ arn: role, externalId: 'agreed-4711' }],
  clusters: [
    { ...cluster, name: 'own' },
    { ...cluster, name: 'members', account: member, access: letIn },
  ],
}
/** Both accounts call their cluster alike. */
const alike: Scenario = {
  ...world,
  clusters: [
    { ...cluster, name: 'prod' },
    { ...cluster, name: 'prod', account: member, access: letIn },
  ],
}
const own: AccountSelection = { roleArn: null, externalId: null, regions: null }
const members: AccountSelection = { ...own, roleArn: role, externalId: 'agreed-4711' }
const ownName = (name: string) => `${labAccount}/us-east-1/${name}`
const membersName = (name: string) => `${member}/us-east-1/${name}`

async function namesOf(
  policy: Partial<Policy>,
  selection: { clusters?: string[] } = {},
): Promise<string[]> {
  const { document } = await auditLive({ policy, selection })
  return document.clusters.map(({ name }) => name).toSorted()
}

describe('accounts of the policy', () => {
  it('are read with their role and its external id, down to the kubelets', async () => {
    await labOf([world])
    const { document } = await auditLive({ policy: { accounts: [own, members] } })
    expect(document.clusters.map(({ name, coverage }) => [name, coverage.read]).toSorted()).toEqual(
      [
        [ownName('own'), 2],
        [membersName('members'), 2],
      ],
    )
  })

  it('that cannot be entered are listed, and the others are still audited', async () => {
    await labOf([world])
    const { document } = await auditLive({
      policy: { accounts: [own, { ...members, externalId: 'wrong' }] },
    })
    expect(document.clusters.find(({ name }) => name === ownName('own'))?.coverage.read).toBe(2)
    expect(document.notAudited).toMatchObject([
      {
        cluster: membersName('*'),
        node: null,
        cause: 'clusters',
        reason: expect.stringContaining(role),
      },
    ])
  })

  it('may be none but one that cannot be entered: then nothing can be audited', async () => {
    await labOf([world])
    await expect(
      auditLive({ policy: { accounts: [{ ...members, externalId: 'wrong' }] } }),
    ).rejects.toThrow('not allowed')
  })

  it('that share a cluster name are distinct; a day on which one cannot be entered makes nothing new, and nothing gone', async () => {
    const storeFolder = temporaryFolder()
    await labOf([alike], { storeFolder })
    Object.assign(process.env, serviceEnvironment)
    mkdirSync(join(storeFolder, 'highwater-lab'))
    const ran = async (day: string, externalId: string): Promise<FindingsDocument> => {
      const written = `accounts: [{ roleArn: null }, { roleArn: '${role}', externalId: ${externalId} }]\n`
      writeFileSync(join(storeFolder, 'highwater-lab/highwater.yaml'), written)
      await invoke({ source: 'highwater.schedule', scheduledTime: `${day}T05:00:00Z` })
      return JSON.parse(
        readFileSync(
          join(storeFolder, `highwater-lab/runs/${day}T05-00-00Z/findings.json`),
          'utf8',
        ),
      )
    }
    const idsIn = ({ findings }: FindingsDocument, name: string) =>
      findings.filter(one => one.cluster === name).map(({ id }) => id)
    const first = await ran('2026-11-18', 'agreed-4711')
    expect(first.clusters.map(({ name }) => name).toSorted()).toEqual([
      ownName('prod'),
      membersName('prod'),
    ])
    expect(idsIn(first, membersName('prod')).length).toBeGreaterThan(0)
    const second = await ran('2026-11-19', 'wrong')
    expect(idsIn(second, ownName('prod'))).toEqual(idsIn(first, ownName('prod')))
    expect(second.delta).toMatchObject({ new: [], resolved: [], worse: [], regressed: [] })
    const third = await ran('2026-11-20', 'agreed-4711')
    expect(third.findings.map(({ id }) => id)).toEqual(first.findings.map(({ id }) => id))
    expect(third.delta).toMatchObject({ new: [], resolved: [], worse: [], regressed: [] })
  })

  it.each([['prod'], [ownName('prod')], [`${labAccount}/*`]])(
    'are read by the modes of the policy, also where names are shared: %s',
    async pattern => {
      await labOf([alike])
      const { document } = await auditLive({
        policy: { accounts: [own, members], modes: [{ match: { cluster: pattern }, mode: 'ssm' }] },
      })
      const modes = Object.fromEntries(
        document.clusters.map(({ name, readings }) => [name, readings?.map(({ mode }) => mode)]),
      )
      expect(modes).toEqual({
        [ownName('prod')]: ['ssm'],
        [membersName('prod')]: [pattern === 'prod' ? 'ssm' : 'proxy'],
      })
    },
  )

  it('have clusters that are chosen by their own name, or in full', async () => {
    await labOf([alike])
    const both = [ownName('prod'), membersName('prod')]
    const accounts = [own, members]
    expect(await namesOf({ accounts }, { clusters: ['prod'] })).toEqual(both)
    expect(await namesOf({ accounts }, { clusters: [membersName('prod')] })).toEqual([
      membersName('prod'),
    ])
    expect(await namesOf({ accounts, clusters: { names: [ownName('prod')], tags: {} } })).toEqual([
      ownName('prod'),
    ])
    await expect(namesOf({ accounts }, { clusters: [ownName('stage')] })).rejects.toThrow(
      `There are: ${both.join(', ')}`,
    )
  })

  it('keep their names where a cluster cannot be described, or regions were chosen', async () => {
    await labOf([{ ...alike, eksDenied: ['eks:DescribeCluster'] }])
    const { document } = await auditLive({ policy: { accounts: [own, members] } })
    expect(document.notAudited.map(({ cluster: name }) => name).toSorted()).toEqual([
      ownName('prod'),
      membersName('prod'),
    ])
    const both: AccountSelection[] = [{ ...own, regions: ['us-east-1', 'us-west-2'] }]
    const narrowed = await auditLive({
      policy: { accounts: [{ ...own, regions: ['us-east-1'] }], narrowedFrom: both },
    })
    expect(narrowed.document.notAudited.map(({ cluster: name }) => name)).toEqual([ownName('prod')])
  })

  it.each([
    ['a region twice', [{ ...own, regions: ['us-east-1', 'us-east-1'] }]],
    ['one’s own region by its name, too', [own, { ...own, regions: ['us-east-1'] }]],
    ['an account twice', [own, own]],
  ])('that are named twice (%s) are read once, and are one', async (_, accounts) => {
    const lab = await labOf([world])
    expect(await namesOf({ accounts: [own] })).toEqual(['own'])
    const once = lab.requests().routes
    expect(await namesOf({ accounts })).toEqual(['own'])
    const twice = lab.requests().routes
    for (const [server, routes] of Object.entries(once))
      for (const [route, count] of Object.entries(routes))
        expect([server, route, twice[server]?.[route]]).toEqual([server, route, 2 * count])
  })

  it('that two roles lead to are read once, by the first that leads there', async () => {
    const second = `arn:aws:iam::${labAccount}:role/second`
    const byRole = { ...own, roleArn: second, externalId: 'agreed-4711' }
    const lab = await labOf([{ ...world, roles: [{ arn: second, externalId: 'agreed-4711' }] }])
    for (const accounts of [
      [own, byRole],
      [{ ...byRole, externalId: 'wrong' }, own],
    ]) {
      const before = lab.requests().routes['kubernetes/own']?.listNodes ?? 0
      const { document } = await auditLive({ policy: { accounts } })
      expect(document.clusters.map(({ name, coverage }) => [name, coverage.read])).toEqual([
        [ownName('own'), 2],
      ])
      expect(document.notAudited).toEqual([])
      expect(lab.requests().routes['kubernetes/own']?.listNodes).toBe(before + 1)
    }
  })
})
