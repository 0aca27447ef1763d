/** A snapshot in the wrong hands, through the real command line: it costs bounded time, and what is sound is reported. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { highwater, temporaryFolder } from '#test/cli.ts'

vi.setConfig({ testTimeout: 240_000 })

const header = { kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt: '2026-11-21T05:00:00Z' }
const nodeLine = (name: string, configz: string) =>
  `{"kind":"Node","cluster":"c","node":{"metadata":{"name":"${name}"}},"configz":${configz}}\n`
const sound = nodeLine(
  'sound',
  JSON.stringify({
    kubeletconfig: {
      ...{ kind: 'KubeletConfiguration', imageMinimumGCAge: '2m0s' },
      ...{ nodeStatusUpdateFrequency: '10s', evictionPressureTransitionPeriod: '5m0s' },
    },
  }),
)

async function audited(lines: string) {
  const folder = temporaryFolder()
  const file = join(folder, 'snapshot.ndjson.gz')
  writeFileSync(file, gzipSync(`${JSON.stringify(header)}\n${lines}`))
  const startMs = Date.now()
  const out = join(folder, 'out')
  const { code, stderr } = await highwater(['audit', '--snapshot', file, '--out', out])
  const page = join(out, 'report.html')
  const report = existsSync(page) ? readFileSync(page, 'utf8') : ''
  return { code, stderr, report, elapsedMs: Date.now() - startMs }
}

it('with 200,000 clusters is reported', async () => {
  const { code, stderr, report, elapsedMs } = await audited(
    '{"kind":"Cluster","cluster":"c"}\n'.repeat(200_000) + sound,
  )
  expect(stderr).not.toContain('highwater made a mistake')
  expect([0, 3, 4], stderr.slice(-500)).toContain(code)
  expect(report).toContain('</html>')
  expect(elapsedMs).toBeLessThan(120_000)
})

it('with a configz of 5,000 levels is reported, and names the line', async () => {
  const configz = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`
  const { code, stderr, report } = await audited(
    `{"kind":"Cluster","cluster":"c"}\n${nodeLine('deep', configz)}${sound}`,
  )
  expect(stderr).not.toContain('highwater made a mistake')
  expect([0, 3, 4], stderr.slice(-500)).toContain(code)
  expect(report).toContain('line 3')
})
