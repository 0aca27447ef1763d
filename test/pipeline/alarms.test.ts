import { describe, expect, it } from 'vitest'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { alarmsAgainst, freshClusters } from '#pipeline/remediation/run/fresh.ts'
import { budgetResource } from '#remediate/pods.ts'
import { labOf } from '#test/lab-audit.ts'

const policyOf = (
  alarms: string[],
  accounts: Policy['accounts'] = defaultPolicy.accounts,
): Policy => ({ ...defaultPolicy, accounts, remediation: { ...defaultPolicy.remediation, alarms } })
const against = (policy: Policy) => alarmsAgainst(policy, new AbortController().signal)
const world = (more: Partial<Scenario>) => labOf([scenario([], more)])
const own = { roleArn: null, externalId: null }

describe('alarms of the policy', () => {
  it('that are in ALARM speak against a change, simple or composite; others do not', async () => {
    const lab = await world({
      alarms: [
        { name: 'errors', state: 'ALARM' },
        { name: 'latency', state: 'OK' },
        { name: 'sparse', state: 'INSUFFICIENT_DATA' },
        { name: 'shop', state: 'ALARM', isComposite: true },
        { name: 'not-ours', state: 'ALARM' },
      ],
    })
    expect(await against(policyOf(['errors', 'latency', 'sparse', 'shop']))).toMatchSnapshot()
    expect(lab.requests().routes.cloudwatch).toEqual({ DescribeAlarms: 1 })
  })

  it('are read page by page', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `a${String(index).padStart(3, '0')}`)
    await world({ alarms: names.map(name => ({ name, state: 'ALARM' as const })) })
    expect(await against(policyOf(names))).toHaveLength(100)
  })

  it('that are nowhere speak against it, too', async () => {
    await world({ alarms: [{ name: 'errors', state: 'OK' }] })
    expect(await against(policyOf(['errors', 'erors']))).toMatchSnapshot()
  })

  it('are looked for in every region', async () => {
    await world({
      alarms: [
        { name: 'here', state: 'OK' },
        { name: 'there', state: 'ALARM', region: 'eu-west-1' },
      ],
    })
    const policy = policyOf(['here', 'there'], [{ ...own, regions: ['us-east-1', 'eu-west-1'] }])
    expect(await against(policy)).toMatchSnapshot()
  })

  it('that may not be read speak against it, with the right that is missing', async () => {
    await world({ alarms: [{ name: 'errors', state: 'OK' }], alarmsDenied: true })
    expect(await against(policyOf(['errors']))).toEqual([
      expect.stringMatching(
        /^states could not all be read: CloudWatch DescribeAlarms errors in us-east-1: not allowed .*Grant cloudwatch:DescribeAlarms/,
      ),
    ])
  })

  it('are not asked for where the policy names none', async () => {
    const lab = await world({ alarmsDenied: true })
    expect(await against(defaultPolicy)).toEqual([])
    expect(lab.requests().routes.cloudwatch).toBeUndefined()
  })

  it('stand beside each cluster that is read anew', async () => {
    await labOf([
      scenario([{ name: 'c', nodes: nodes(1) }], { alarms: [{ name: 'errors', state: 'ALARM' }] }),
    ])
    const found = await freshClusters([{ cluster: 'c', node: 'ip-10-0-0-1.ec2.internal' }], {
      policy: policyOf(['errors']),
      signal: new AbortController().signal,
    })
    expect(found.get('c')).toMatchObject({
      alarms: ['errors is in ALARM in us-east-1'],
      nodes: [{}],
    })
  })
})

it.each([
  [undefined, [{ metadata: { name: 'b' } }]],
  [[{ what: budgetResource, message: 'cut' } as const], null],
])('budgets of a page with the errors %j are %j', async (errors, budgets) => {
  const page = {
    ...{ kind: 'Objects' as const, cluster: 'c', resource: budgetResource },
    ...{ items: [{ metadata: { name: 'b' } }], ...(errors && { errors }) },
  }
  const found = await freshClusters([{ cluster: 'c', node: 'n' }], {
    policy: defaultPolicy,
    signal: new AbortController().signal,
    read: async function* () {
      yield page
    },
  })
  expect(found.get('c')?.budgets).toEqual(budgets)
})
