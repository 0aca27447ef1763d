import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultPolicy } from '#model/policy.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { parsePolicy } from '#policy/parse.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { morningReport } from '#test/report-builder.ts'

it('init writes a policy that changes nothing, also without its comment signs, and never over another', async () => {
  const file = join(temporaryFolder(), 'highwater.yaml')
  expect(await inProcess(['init', file])).toMatchObject({ code: 0 })
  const text = readFileSync(file, 'utf8')
  expect(parsePolicy(text, file, policyTerms)).toEqual(defaultPolicy)
  const settings = text.replace(/^# (?=\w+:| {2})/gm, '')
  const { waivers, modes } = parsePolicy(settings, file, policyTerms)
  expect([waivers.length, modes.length]).toEqual([1, 1])
  expect(await inProcess(['init', file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('exists: nothing was written'),
  })
})

it('policy check names mistakes, and waivers that have ended or will soon', async () => {
  const file = join(temporaryFolder(), 'highwater.yaml')
  const day = (ahead: number) =>
    new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)
  const waiver = (until: string) => ({ rule: 'peer-drift', until, reason: 'new AMI' })
  writeFileSync(file, JSON.stringify({ waivers: [-1, 3, 30].map(day).map(waiver) }))
  const { code, stdout } = await inProcess(['policy', 'check', file])
  expect(code).toBe(0)
  expect(stdout.split('\n').slice(1, -1)).toEqual([
    `The waiver of peer-drift ended on ${day(-1)}: new AMI`,
    `The waiver of peer-drift ends on ${day(3)}: new AMI`,
  ])
  writeFileSync(file, 'severity: {}\n')
  expect(await inProcess(['policy', 'check', file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean severities?'),
  })
})

it('baseline writes a waiver with an end for each finding', async () => {
  const file = join(temporaryFolder(), 'findings.json')
  const { document } = morningReport()
  writeFileSync(file, JSON.stringify(document))
  const options = ['--reason', 'there before', '--until', '2027-01-31']
  const { code, stdout } = await inProcess(['baseline', file, ...options])
  expect(code).toBe(0)
  const { waivers } = parsePolicy(stdout, file, policyTerms)
  expect(waivers).toHaveLength(document.findings.length)
  const [finding] = document.findings
  expect(waivers[0]).toMatchObject({
    rule: finding?.rule,
    match: { cluster: finding?.cluster, name: finding?.subject.name },
    ...{ until: '2027-01-31', reason: 'there before' },
  })
})

it.each([
  ['a name that matches others', { subject: { kind: 'Node', namespace: null, name: '*' } }],
  ['a cluster that matches others', { cluster: 'p*' }],
  ['no rule', { rule: 7 }],
])('baseline refuses a finding with %s', async (_, changed) => {
  const file = join(temporaryFolder(), 'findings.json')
  const { document } = morningReport()
  const [finding] = document.findings
  writeFileSync(file, JSON.stringify({ ...document, findings: [{ ...finding, ...changed }] }))
  const { code, stdout, stderr } = await inProcess(['baseline', file, '--reason', 'there before'])
  expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' })
})

it('baseline refuses a file that is no document of findings', async () => {
  const file = join(temporaryFolder(), 'findings.json')
  writeFileSync(file, '{"schema":"highwater.findings/1","findings":[]}')
  expect(await inProcess(['baseline', file, '--reason', 'there before'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('run is not as it should be'),
  })
})
