import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import { writeLatest } from '#pipeline/service/report.ts'
import { english } from '#report/languages/language.ts'
import { morningReport } from '#test/report-builder.ts'

const world = () => {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-latest-'))
  const store = folderStore(folder)
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const publish = (runId: string, takenAt: string) => {
    const report = morningReport()
    report.document.run = { ...report.document.run, takenAt }
    const files = ['report.html', 'findings.json', 'email.html'].map(name => ({
      name,
      contentType: 'text/plain',
      body: `${name} of ${runId}`,
    }))
    return writeLatest(store, { runId, report, files }, english)
  }
  return { store, read, publish }
}

it('lists the runs newest first, plots three, and keeps the newest as latest', async () => {
  const { store, read, publish } = world()
  await publish('run-1', '2026-11-20T05:00:00Z')
  await publish('run-3', '2026-11-22T05:00:00Z')
  expect(read('index.html')).not.toContain('class="spark wide"')
  await publish('run-2', '2026-11-21T05:00:00Z')
  await publish('run-2', '2026-11-21T05:00:00Z')
  const links = [...read('index.html').matchAll(/href="runs\/([^/]+)\/report.html"/g)]
  expect(links.map(([, run]) => run)).toEqual(['run-3', 'run-2', 'run-1'])
  expect(read('index.html').match(/class="spark wide"/g)).toHaveLength(2)
  expect(read('index.html')).toMatch(
    /: \d+ in 3 runs<.*>2026-11-20 05:00 UTC: \d+<.*>2026-11-22 05:00 UTC: \d+</s,
  )
  expect(read('latest/report.html')).toBe('report.html of run-3')
  expect(await store.read('latest/email.html')).toBeNull()
})

it('takes only well-formed runs of a forged list, and shows their texts as text', async () => {
  const { store, read, publish } = world()
  const good = {
    ...{ runId: 'earlier', at: '2026-11-01T05:00:00Z', verdict: '<script>alert(1)</script>' },
    ...{ severity: 'high', severe: 3, fullestPercent: 71 },
  }
  const forged = [
    good,
    { ...good, runId: '../../evil' },
    { ...good, runId: '..' },
    { ...good, runId: 'javascript:1//' },
    { ...good, at: 'never' },
    { ...good, severity: '"><img>' },
    { ...good, severe: '3' },
    { ...good, verdict: 'x'.repeat(2000) },
    null,
    'text',
  ]
  await store.write('latest/runs.json', JSON.stringify({ runs: forged }), 'application/json')
  await publish('run-1', '2026-11-20T05:00:00Z')
  const page = read('index.html')
  expect(JSON.parse(read('latest/runs.json')).runs).toHaveLength(2)
  expect(page).toContain('href="runs/earlier/report.html"')
  expect(page).not.toMatch(/<script|evil|<img/)
  for (const broken of ['{', '[]', '{"runs":7}']) {
    await store.write('latest/runs.json', broken, 'application/json')
    await publish('run-2', '2026-11-21T05:00:00Z')
    expect(JSON.parse(read('latest/runs.json')).runs).toHaveLength(1)
  }
})
