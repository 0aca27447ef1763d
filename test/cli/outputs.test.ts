/** The forms of a report that are asked for beside page and findings. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { moreFormats } from '#model/format-id.ts'
import { formatsWith } from '#report/formats/index.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

const always = ['email.html', 'email.txt', 'findings.json', 'report.html', 'snapshot.ndjson.gz']

async function audited(...options: string[]) {
  const out = temporaryFolder()
  const run = await inProcess([
    'audit',
    '--snapshot',
    savedSnapshot([{ name: 'a' }]),
    '--out',
    out,
    ...options,
  ])
  return {
    ...run,
    files: readdirSync(out).sort(),
    read: (name: string) => readFileSync(join(out, name), 'utf8'),
  }
}

describe('highwater audit', () => {
  it('writes what it always wrote where nothing more is asked for', async () => {
    expect((await audited()).files).toEqual(always)
  })

  it('writes what --outputs names', async () => {
    const { files } = await audited('--outputs', 'sarif,csv', '--outputs', 'prometheus-rules')
    expect(files).toEqual(
      [...always, 'findings.csv', 'findings.sarif', 'prometheus-rules.yaml'].sort(),
    )
  })

  it('writes what the policy names', async () => {
    const policy = join(temporaryFolder(), 'highwater.yaml')
    writeFileSync(policy, 'report: { formats: [junit] }\n')
    expect((await audited('--policy', policy)).files).toContain('junit.xml')
  })

  it.each(moreFormats)('prints --format %s as it writes it', async id => {
    const { stdout, read } = await audited('--format', id)
    expect(stdout).toBe(read(formatsWith([id]).find(format => format.id === id)!.name))
    expect(stdout).not.toBe('')
  })

  it('names the formats there are where it does not know one', async () => {
    const { code, stderr } = await inProcess(['audit', '--outputs', 'csv,pdf'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/pdf\. There are sarif/),
    })
  })
})

describe('highwater audit of kubelets of other minors', () => {
  it('predicts nothing for them, and names the minors that are supported', async () => {
    const snapshot = savedSnapshot([
      { name: 'old', kubeletVersion: 'v1.28.15-eks-1552ad0' },
      { name: 'supported', kubeletVersion: 'v1.34.4' },
    ])
    const out = temporaryFolder()
    await inProcess(['audit', '--snapshot', snapshot, '--out', out])
    const { unknowns } = JSON.parse(readFileSync(join(out, 'findings.json'), 'utf8'))
    const reasons = unknowns.filter(({ reason }: { reason: string }) =>
      reason.includes('Kubernetes 1.28 is not supported: 1.29 to 1.37 are'),
    )
    expect(reasons.map(({ rule }: { rule: string }) => rule)).toEqual(
      expect.arrayContaining(['eviction-before-image-gc', 'image-gc-disabled']),
    )
    const { stdout } = await inProcess(['predict', '--snapshot', snapshot, '--format', 'json'])
    const { nodes } = JSON.parse(stdout)
    expect(nodes).toMatchObject([
      { node: 'old', imageGC: null, eviction: null, allocatable: null },
      { node: 'supported', imageGC: expect.any(Object), eviction: expect.any(Object) },
    ])
  })
})
