/** What a team decides in highwater.yaml, from the file to the findings. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Finding, FindingsDocument } from '#model/finding.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

async function audited(policy: string, takenAt = '2026-11-20T07:00:00Z') {
  const folder = temporaryFolder()
  const path = join(folder, 'highwater.yaml')
  writeFileSync(path, policy)
  const snapshot = savedSnapshot([{ name: 'a' }], { takenAt })
  const { code, stdout, stderr } = await inProcess([
    'audit',
    '--snapshot',
    snapshot,
    '--policy',
    path,
    '--out',
    join(folder, 'out'),
    '--format',
    'json',
    '--fail-on',
    'medium',
  ])
  const document: FindingsDocument | null = stdout === '' ? null : JSON.parse(stdout)
  const of = (findings: Finding[] | undefined) =>
    findings?.find(({ rule }) => rule === 'alert-before-image-gc')
  return {
    code,
    stderr,
    open: of(document?.findings),
    waived: of(document?.waived),
    grade: document?.clusters[0]?.grade,
  }
}

const waiver = (until: string, match = '{}') =>
  `waivers:\n  - { rule: alert-before-image-gc, match: ${match}, until: ${until}, reason: a new alert comes }\n`

describe('a waiver', () => {
  it('moves its finding to waived, which counts for neither grade nor exit code', async () => {
    expect(await audited('')).toMatchObject({
      code: 1,
      open: { severity: 'medium', waived: null },
      waived: undefined,
      grade: 'C',
    })
    expect(await audited(waiver('2026-11-20'))).toMatchObject({
      code: 0,
      open: undefined,
      waived: { severity: 'medium', waived: { until: '2026-11-20', reason: 'a new alert comes' } },
      grade: 'A',
    })
  })

  it('that has expired by the day of the snapshot leaves the finding open, and a trace', async () => {
    const { code, open, waived } = await audited(waiver('2026-11-20'), '2026-11-21T00:00:00Z')
    expect({ code, waived }).toEqual({ code: 1, waived: undefined })
    expect(open?.evidence.at(-1)).toMatchSnapshot()
  })

  it('of another nodegroup covers nothing', async () => {
    expect((await audited(waiver('2026-12-31', '{ name: batch }'))).open).toMatchObject({
      severity: 'medium',
      waived: null,
    })
    expect(
      (await audited(waiver('2026-12-31', '{ cluster: pr*, name: workers }'))).open,
    ).toBeUndefined()
  })
})

describe('a severity', () => {
  it.each([
    ['critical', 1, 'F'],
    ['info', 0, 'A'],
  ])(
    'of %s replaces the rule’s own, and with it exit code and grade',
    async (severity, code, grade) => {
      expect(await audited(`severities: { alert-before-image-gc: ${severity} }\n`)).toMatchObject({
        code,
        open: { severity },
        grade,
      })
    },
  )
})

describe('an unknown rule', () => {
  it.each([
    [
      'waivers:\n  - { until: 2026-12-31, reason: x, rule: alert-before-gc }\n',
      /highwater\.yaml:2:\d+: waivers\.0\.rule: .*alert-before-image-gc/,
    ],
    [
      'alertPercent: 80\nseverities:\n  alert-before-gc: low\n',
      /highwater\.yaml:3:\d+: severities.*alert-before-gc/,
    ],
  ])('in %j is refused with its line, exit 2', async (policy, message) => {
    const { code, stderr, open } = await audited(policy)
    expect({ code, open }).toEqual({ code: 2, open: undefined })
    expect(stderr).toMatch(message)
  })
})
