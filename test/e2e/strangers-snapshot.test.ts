/** A snapshot in the wrong hands, through the real command line: it costs bounded time, and what is sound is reported. */
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { highwater, signalledHighwater, temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { fleetNode, snapshotOf } from '#test/plan-fleet.ts'

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

it('with 200,000 clusters in 30 KB is not read to its end', async () => {
  const { code, stderr, elapsedMs } = await audited(
    '{"kind":"Cluster","cluster":"c"}\n'.repeat(200_000) + sound,
  )
  expect(stderr).not.toContain('highwater made a mistake')
  expect(stderr).toContain('has no node that could be audited')
  expect(code).toBe(2)
  expect(elapsedMs).toBeLessThan(120_000)
})

it('with 2,000 clusters is reported', async () => {
  const { code, stderr, report, elapsedMs } = await audited(
    '{"kind":"Cluster","cluster":"c"}\n'.repeat(2_000) + sound,
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

/** A sparse file of 60 GB. */
function endlessSnapshot(folder: string): string {
  const file = join(folder, 'endless.ndjson')
  writeFileSync(file, `${JSON.stringify(header)}\n`)
  truncateSync(file, 60e9)
  return file
}

it.skipIf(process.platform !== 'linux').each([
  ['plan', 'SIGINT'],
  ['plan', 'SIGTERM'],
  ['verify', 'SIGINT'],
  ['verify', 'SIGTERM'],
] as const)('%s ends by %s while it reads an endless file', async (command, signal) => {
  const folder = temporaryFolder()
  const file = endlessSnapshot(folder)
  const policy = join(folder, 'highwater.yaml')
  writeFileSync(policy, '{}')
  const plan = join(folder, 'plan.json')
  const fleet = ['--policy', policy, '--snapshot']
  if (command === 'verify')
    await inProcess([
      ...['plan', ...fleet, snapshotOf([fleetNode({ name: 'a' })]), '--out', plan],
      ...['--set', 'imageGCHighThresholdPercent=70', '--set', 'imageGCLowThresholdPercent=50'],
    ])
  const args = command === 'plan' ? ['--out', plan] : [plan]
  const run = await signalledHighwater([command, ...args, ...fleet, file], signal, file)
  expect(run.stdout).toBe('')
  expect(run.stderr).toContain('the run was interrupted')
  expect(run.stderr).not.toContain('highwater made a mistake')
  expect(run.code).toBe(4)
  expect(run.elapsedMs).toBeLessThan(15_000)
  if (command === 'plan') expect(existsSync(plan)).toBe(false)
})
