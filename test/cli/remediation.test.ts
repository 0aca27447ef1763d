/** What the commands that change nodes share. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withRemediation } from '#cli/remediation.ts'
import type { RemediationRun } from '#model/plan.ts'
import type { AccountSelection } from '#model/policy.ts'
import { temporaryFolder } from '#test/cli.ts'

it('enters another account by the role that may change nodes there, and by the one that reads where the policy names no other', async () => {
  const folder = temporaryFolder()
  const policy = join(folder, 'highwater.yaml')
  const role = (name: string) => `arn:aws:iam::444455556666:role/${name}`
  writeFileSync(
    policy,
    `accounts: [{ roleArn: '${role('a')}', remediateRoleArn: '${role('b')}' }, { roleArn: '${role('c')}' }]\n`,
  )
  let accounts: AccountSelection[] = []
  const options = {
    region: [],
    tag: {},
    context: [],
    policy,
    store: folder,
    format: 'json' as const,
  }
  await withRemediation(options, async live => {
    accounts = live.policy.accounts
    return {} as RemediationRun
  })
  expect(accounts.map(({ roleArn }) => roleArn)).toEqual([role('b'), role('c')])
})
