/** The policy file in the bucket is in the wrong hands: what it may not widen, and that an audit still comes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { recorded } from '#lab/scenarios/recorded.ts'
import { defaultPolicy, type Policy, type PolicyGrants } from '#model/policy.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { grantedPolicy } from '#pipeline/runtime/runtime.ts'
import { parsePolicy } from '#policy/parse.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invoke, invokeRemediate } from '#test/lambda.ts'

vi.setConfig({ testTimeout: 60_000 })

const grants: PolicyGrants = {
  memberRoles: ['arn:aws:iam::444455556666:role/highwater'],
  kubeletRoles: ['arn:aws:iam::111122223333:role/highwater-prod-SeenByKubeletsRole-*'],
  showsOwnToken: false,
  plans: false,
  approvals: false,
  mail: ['example.com', 'kim@other.test'],
  inspectOutputBucket: 'answers',
}
const of = (text: string, more: Partial<PolicyGrants> = {}) =>
  grantedPolicy(parsePolicy(text, 'policy', policyTerms), { ...grants, ...more })
const member = 'arn:aws:iam::444455556666:role/highwater'

it.each<[string, string, string, Partial<Policy>]>([
  [
    'a role of an account that the stack does not name',
    "accounts: [{ roleArn: null }, { roleArn: 'arn:aws:iam::999999999999:role/highwater' }]",
    "accounts.roleArn of the policy is refused: the stack's parameter memberRoleArns (HIGHWATER_MEMBER_ROLE_ARNS) does not allow arn:aws:iam::999999999999:role/highwater",
    { accounts: [{ roleArn: null, externalId: null, regions: null, remediateRoleArn: undefined }] },
  ],
  [
    'only such a role',
    "accounts: [{ roleArn: 'arn:aws:iam::444455556666:role/admin' }]",
    'arn:aws:iam::444455556666:role/admin',
    { accounts: defaultPolicy.accounts },
  ],
  [
    'another role to change nodes',
    `accounts: [{ roleArn: '${member}', remediateRoleArn: 'arn:aws:iam::444455556666:role/admin' }]`,
    'accounts.remediateRoleArn of the policy is refused',
    { accounts: [{ roleArn: member, externalId: null, regions: null, remediateRoleArn: null }] },
  ],
  [
    'the role of a member for kubelets to see',
    `modes: [{ match: { cluster: a }, mode: ssm }, { mode: kubelet }]\nkubelet: { roleArn: '${member}' }`,
    'readsByKubelet or kubeletRole (HIGHWATER_KUBELET_ROLE_ARNS) does not allow',
    { kubelet: defaultPolicy.kubelet, modes: [{ match: { cluster: 'a' }, mode: 'ssm' }] },
  ],
  [
    'the own token for kubelets to see',
    'modes: [{ mode: kubelet }]\nkubelet: { useOwnToken: true }',
    "kubelet.useOwnToken of the policy is refused: the stack's parameter showsOwnToken",
    { kubelet: defaultPolicy.kubelet, modes: [] },
  ],
  [
    'approvals by itself, with a key that others may use',
    'remediation: { auto: { fields: [imageGCHighThresholdPercent], clusters: [a], nodesPerDay: 1 } }',
    "remediation.auto of the policy is refused: the stack's parameter applierArns (HIGHWATER_SHARES_RUN_KEY) does not allow approvals by the policy, because those identities could seal them",
    { remediation: defaultPolicy.remediation },
  ],
  [
    'another bucket for what nodes answer',
    'inspectOutput: { bucket: elsewhere }',
    'inspectOutputBucket (HIGHWATER_INSPECT_OUTPUT_BUCKET) does not allow elsewhere',
    { inspectOutput: null },
  ],
])('refuses %s, and goes on without', (_, text, message, kept) => {
  const { policy, refused } = of(text)
  expect(refused).toEqual([expect.stringContaining(message)])
  expect(policy).toMatchObject(kept)
})

it('keeps what the stack allows as it is', () => {
  const text = `
accounts: [{ roleArn: null }, { roleArn: '${member}', remediateRoleArn: '${member}-remediate' }]
modes: [{ mode: kubelet }]
kubelet: { roleArn: 'arn:aws:iam::111122223333:role/highwater-prod-SeenByKubeletsRole-C3' }
inspectOutput: { bucket: answers }
report:
  recipients: [Team@Example.com, kim@other.test]
  owners: [{ name: payments, match: {}, recipients: [payments@example.com] }]
  bouncesTo: bounces@example.com
  unsubscribe: { mailto: out@example.com, url: 'https://lists.example.com/out', oneClick: true }
`
  const whole = parsePolicy(text, 'policy', policyTerms)
  expect(of(text)).toEqual({ policy: whole, refused: [] })
  const planning = 'remediation: { mode: plan }'
  expect(of(planning, { plans: true }).policy.remediation.mode).toBe('plan')
  expect(of(planning)).toMatchObject({
    policy: { remediation: { mode: 'off' } },
    refused: [
      "remediation.mode of the policy is refused: the stack's parameter remediation (HIGHWATER_REMEDIATION) does not allow plan",
    ],
  })
  const own = 'modes: [{ mode: kubelet }]\nkubelet: { useOwnToken: true }'
  expect(of(own, { showsOwnToken: true }).refused).toEqual([])
  expect(of(own, { showsOwnToken: true }).policy.modes).toHaveLength(1)
})

it.each([
  ['recipients: [a@evil.test]', 'report.recipients', { recipients: null }],
  ['recipients: [a@evil.test, b@example.com]', 'a@evil.test', { recipients: ['b@example.com'] }],
  ['recipients: [a@sub.example.com]', 'a@sub.example.com', { recipients: null }],
  ['recipients: [a@notexample.com]', 'a@notexample.com', { recipients: null }],
  ['recipients: [bob@other.test]', 'bob@other.test', { recipients: null }],
  [
    'owners: [{ name: pay, match: {}, recipients: [a@evil.test] }]',
    'report.owners pay',
    { owners: [{ name: 'pay', recipients: [] }] },
  ],
  ['bouncesTo: a@evil.test', 'report.bouncesTo', { bouncesTo: null }],
  [
    'unsubscribe: { mailto: a@evil.test }',
    'report.unsubscribe.mailto',
    { unsubscribe: { mailto: null } },
  ],
  [
    "unsubscribe: { url: 'https://evil.test/example.com', oneClick: true }",
    'report.unsubscribe.url',
    { unsubscribe: { url: null, oneClick: false } },
  ],
])('mails no one beyond the stack: %s', (report, message, kept) => {
  const { policy, refused } = of(`report: { ${report} }`)
  expect(refused).toEqual([expect.stringContaining(message)])
  expect(refused[0]).toContain('policyRecipients (HIGHWATER_POLICY_RECIPIENTS)')
  expect(policy.report).toMatchObject(kept)
})

it('names five of many, and counts the others', () => {
  const many = Array.from({ length: 8 }, (_, index) => `a${index}@evil.test`)
  expect(of(`report: { recipients: [${many}] }`).refused[0]).toMatch(/a4@evil\.test and 3 more$/)
})

describe('the function', () => {
  const evil = `
accounts: [{ roleArn: null }, { roleArn: 'arn:aws:iam::999999999999:role/highwater', regions: [us-east-1] }]
report: { recipients: [mallory@evil.test], owners: [{ name: all, match: {}, recipients: [eve@evil.test] }] }
`
  async function world() {
    const storeFolder = temporaryFolder()
    const lab = await labOf([recorded], { storeFolder })
    const bucket = join(storeFolder, 'highwater-lab')
    mkdirSync(bucket, { recursive: true })
    writeFileSync(join(bucket, 'highwater.yaml'), evil)
    return { lab, bucket }
  }

  it('audits and mails its own people, names what it refused in report and log, and ends red', async () => {
    const { lab, bucket } = await world()
    const tick = JSON.parse(readFileSync('events/scheduled.json', 'utf8'))
    await expect(invoke(tick)).rejects.toThrow(/memberRoleArns.*999999999999.*mallory@evil\.test/)
    expect(lab.mails().flatMap(({ to }) => to)).toEqual(['team@example.com'])
    const run = join(bucket, 'runs', '2026-11-21T05-00-00Z')
    const { clusters } = JSON.parse(readFileSync(join(run, 'findings.json'), 'utf8'))
    expect(clusters).toMatchObject([{ coverage: { nodes: 2, read: 2 } }])
    expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain('mallory@evil.test')
  })

  it('changes nothing by such a policy, and says why', async () => {
    await world()
    await expect(invokeRemediate({ action: 'plan' })).rejects.toThrow('999999999999')
  })
})
