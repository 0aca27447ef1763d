import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '#remediate/plan/canonical.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'

afterEach(() => void vi.unstubAllEnvs())

function policy(text: string) {
  const folder = temporaryFolder()
  const file = join(folder, 'highwater.yaml')
  writeFileSync(file, text)
  const store = join(folder, 'store')
  const approve = (...args: string[]) =>
    inProcess(['approve-policy', file, '--by', 'Ada Lovelace', '--store', store, ...args])
  return { store, approve }
}

describe('highwater approve-policy', () => {
  it('keeps the approval of that text, by its SHA-256, with who gave it', async () => {
    const text = 'remediation: { maxErrors: 1 }\n'
    const { store, approve } = policy(text)
    const { code, stdout } = await approve()
    expect(code).toBe(0)
    const name = `policy-${sha256(text)}.json`
    expect(stdout).toContain(join('remediation', 'approvals', name))
    const folder = join(store, 'remediation', 'approvals')
    expect(readdirSync(folder)).toEqual([name])
    expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toMatchObject({
      schema: 'highwater.policy-approval/1',
      policy: sha256(text),
      by: 'Ada Lovelace',
      identity: expect.stringMatching(/ \(uid \d+\) on /),
      seal: expect.any(String),
    })
  })

  it.each<[string, string, string[], RegExp]>([
    ['no policy', 'alertPercent: 800\n', [], /highwater\.yaml:1:15: alertPercent/],
    ['an end that has passed', '{}\n', ['--until', '2020-01-01T00:00:00Z'], /ends after now/],
    ['an end too far', '{}\n', ['--until', '2199-01-01T00:00:00Z'], /within 366 days/],
    ['a bucket without a key', '{}\n', ['--store', 's3://bucket/x'], /HIGHWATER_APPROVAL_KEY_ID/],
  ])('refuses %s', async (_, text, args, message) => {
    vi.stubEnv('AWS_REGION', 'us-east-1')
    const { approve } = policy(text)
    expect(await approve(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(message),
    })
  })
})
