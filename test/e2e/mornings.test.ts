/** The demo's three mornings, as a reader tries them: what changed between them stands on page, mail and terminal, and nothing else does. */
import '#test/short-waits.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { FindingsDocument } from '#model/finding/finding.ts'
import { english } from '#report/languages/language.ts'
import { highwater, type Run, temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'

const { words } = english

// Each starts a lab and audits it.
vi.setConfig({ testTimeout: 240_000 })

interface Morning extends Run {
  document: FindingsDocument
  news: string
  page: string
  mail: string
}

const flat = (text: string) =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('\u00a0', ' ')
    .replace(/\s+/g, ' ')

async function morning(out: string, number: number): Promise<Morning> {
  const run = await inProcess(['demo', '--out', out, '--morning', String(number)])
  const read = (name: string) => readFileSync(join(out, name), 'utf8')
  const [news = ''] =
    /<details class="section" id="changes"[\s\S]*?<\/details>/.exec(read('report.html')) ?? []
  return {
    ...run,
    document: JSON.parse(read('findings.json')),
    news,
    page: flat(read('report.html')),
    mail: flat(read('email.txt')),
  }
}

const repaired = 'kubespray-worker-1'
const named = ({ findings }: FindingsDocument, ids: string[]) =>
  ids.map(id => {
    const finding = findings.find(one => one.id === id)
    return `${finding?.rule} on ${finding?.subject.name}`
  })

/** Findings without a command or a durable change. */
const withoutStep = ({ findings }: FindingsDocument) =>
  findings
    .filter(
      ({ steps, fix: { durable } }) =>
        durable.length === 0 && steps.every(({ commands }) => commands.length === 0),
    )
    .map(({ rule, subject }) => `${rule} on ${subject.name}`)

const kept = ({ cause, fix, steps }: FindingsDocument['findings'][number]) => ({
  cause,
  fix,
  steps,
})

/** Commands of Kubernetes name their context, all others their region. */
const placeOf = (command: string) =>
  (command.startsWith('kubectl') ? / --context \S/ : / --region \S/).test(command)

it('shows on the second morning what was repaired, on the third that it is lost, and nothing else', async () => {
  const out = temporaryFolder()
  const first = await morning(out, 1)
  const mended = first.document.findings.filter(
    ({ rule, subject }) =>
      subject.name === repaired &&
      ['alert-before-image-gc', 'eviction-before-image-gc'].includes(rule),
  )
  expect(withoutStep(first.document)).toEqual([])
  const commands = first.document.findings.flatMap(({ steps }) =>
    steps.flatMap(step => step.commands.map(({ command }) => command)),
  )
  expect(commands.filter(command => !placeOf(command))).toEqual([])
  const ids = mended.map(({ id }) => id).toSorted()
  expect(ids).toHaveLength(2)
  expect(first.document.delta).toEqual({ new: [], resolved: [], worse: [], regressed: [] })

  const second = await morning(out, 2)
  expect(second.code).toBe(0)
  expect(second.document.delta).toEqual({ new: [], resolved: ids, worse: [], regressed: [] })
  expect(second.document.findings.map(({ id }) => id).toSorted()).toEqual(
    first.document.findings
      .map(({ id }) => id)
      .filter(id => !ids.includes(id))
      .toSorted(),
  )
  // A cause that stays keeps its setting, its values and its steps.
  const before = new Map(first.document.findings.map(one => [one.id, one]))
  for (const { id, cause, fix, steps } of second.document.findings)
    expect({ id, cause, fix, steps }).toEqual({ id, ...kept(before.get(id)!) })
  expect(flat(second.news)).toContain(words.changes.counts.resolved(2))
  expect(second.mail).toMatch(/Since the run of \S+ \S+ UTC: 2 resolved\./)
  expect(second.stdout).toContain(words.changes.counts.resolved(2))

  const third = await morning(out, 3)
  expect(named(third.document, third.document.delta.new)).toEqual(named(first.document, ids))
  expect(third.document.delta).toEqual({ new: ids, resolved: [], worse: [], regressed: ids })
  const idle = third.document.findings.find(({ rule }) => rule === 'idle-images')!
  // Two earlier mornings show that no container used these images.
  expect(idle.evidence.map(({ what }) => what)).toContain(
    'image registry.example.com/models/rank:1, unused since 2026-11-22',
  )
  for (const { document } of [first, second])
    expect(document.unknowns.filter(({ rule }) => rule === 'idle-images')).toMatchObject([
      { subject: { name: 'probe-worker-1' } },
      // SSM shows no images of these nodes.
      { subject: { name: 'bottlerocket' } },
      { subject: { name: 'silent' } },
    ])
  expect(flat(third.news).match(/Back again/g)).toHaveLength(2)
  expect(flat(third.news)).toMatch(
    new RegExp(`Node ${repaired}, cluster incidents: fixed on \\S+, open before since \\S+`),
  )
  expect(third.mail).toContain(words.changes.counts.regressed(2))

  const days = [first, second, third].map(({ document: { run } }) => run.takenAt.slice(0, 10))
  expect(days).toEqual(['2026-11-22', '2026-11-23', '2026-11-24'])
  expect(first.page).not.toContain(`>${words.trends.title}<`)
  expect(third.page).toContain('3 days from 2026-11-22 to 2026-11-24')

  const again = await morning(out, 3)
  expect(again.stdout).toContain('published and mailed before')
  expect(again.document).toEqual(third.document)
  const history = await highwater([
    'history',
    repaired,
    '--store',
    join(out, 'lab-s3', 'highwater-lab'),
  ])
  expect(flat(history.stdout)).toContain('in the last run')
})
