/**
 * The demo's three mornings, as a reader tries them: what changed between them stands on page, mail and terminal, and nothing else does. Each node with a
 * finding about its disk shows what holds it: on the page and in the terminal with --verbose. The mail shows the nodes of its verdict.
 */
import '#test/short-waits.ts'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { FindingsDocument } from '#model/finding.ts'
import { english } from '#report/languages/language.ts'
import { highwater, type Run } from '#test/cli.ts'
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

const out = mkdtempSync(join(tmpdir(), 'highwater-mornings-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))
/** As a reader starts it. */
let first: Morning
beforeAll(async () => {
  first = written(await highwater(['demo', '--out', out], { cwd: out }))
}, 240_000)

const morning = async (number: number): Promise<Morning> =>
  written(await inProcess(['demo', '--out', out, '--morning', String(number)]))

/** The files of a run. */
function written(run: Run): Morning {
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

const diskFamilies = ['image-gc', 'eviction', 'logs', 'container-gc']
const spaced = (text: string) => text.replaceAll('\u00a0', ' ').replace(/\s+/g, ' ')

/** `name, cluster name`, by findings alone. */
function nodesWithFindings({ findings }: FindingsDocument): string[] {
  const about = findings.filter(({ family }) => diskFamilies.includes(family))
  expect(about.filter(({ nodes }) => nodes.count > nodes.sample.length)).toEqual([])
  const places = about.flatMap(({ cluster, nodes }) =>
    nodes.sample.map(name => `${name}, cluster ${cluster}`),
  )
  return [...new Set(places)].toSorted()
}

/** Nodes that report the size of a disk. From Bottlerocket's control container none is seen. */
function nodesWithDisk(snapshot: string): Set<string> {
  const records = gunzipSync(readFileSync(snapshot)).toString().trim().split('\n')
  return new Set(
    records
      .map(line => JSON.parse(line))
      .filter(
        ({ summary, host }) => summary?.node?.fs !== undefined || host?.filesystems?.length > 0,
      )
      .map(({ node, cluster }) => `${node.metadata.name}, cluster ${cluster}`),
  )
}

/** Texts after each node's name, up to the next one. */
function textsOf(output: string, places: readonly string[]): string[] {
  const found = spaced(output)
  return places.map(place =>
    found
      .split(place)
      .slice(1)
      .map(text => text.split(', cluster ')[0])
      .join(' '),
  )
}

/** Commands of Kubernetes name their context, all others their region. */
const placeOf = (command: string) =>
  (command.startsWith('kubectl') ? / --context \S/ : / --region \S/).test(command)

it('shows on the first morning the ledger of each node with a finding about its disk', async () => {
  expect(first.code).toBe(0)
  const read = (name: string) => readFileSync(join(out, name), 'utf8')
  const terminal = await highwater([
    'audit',
    '--verbose',
    '--snapshot',
    join(out, 'snapshot.ndjson.gz'),
    '--out',
    join(out, 'again'),
  ])
  const document = JSON.parse(read('findings.json')) as FindingsDocument
  const sum = (part: 'nodes' | 'read' | 'partlyRead') =>
    document.clusters.reduce((total, { coverage }) => total + coverage[part], 0)
  // One number each: the verdict counts as findings.json does.
  const scope = words.verdict.scope(
    document.clusters.length,
    sum('read'),
    sum('nodes'),
    sum('partlyRead'),
  )
  for (const text of [read('report.html'), read('email.txt'), terminal.stdout]) {
    expect(spaced(text)).toContain(spaced(scope))
  }
  const html = read('report.html')
  const targets = [...html.matchAll(/ href="#([^"?]+)/g)].map(([, id]) => id)
  expect(targets.filter(id => !html.includes(` id="${id}"`))).toEqual([])
  const withDisk = nodesWithDisk(join(out, 'snapshot.ndjson.gz'))
  const places = nodesWithFindings(document)
  expect(places.filter(place => withDisk.has(place)).length).toBeGreaterThan(15)
  const outputs = {
    page: read('report.html').split('id="ledger"')[1] ?? '',
    terminal: terminal.stdout.split(words.ledger.title)[1] ?? '',
  }
  const mail = spaced(read('email.txt').split(words.mail.headings.causes)[0] ?? '')
  expect(
    mail.match(
      / of \d[\d.,]* [KMG]iB, \d[\d.,]* [KMG]iB free | images in use \d|[KMG]iB (?:images in use|volumes of pods) /g,
    ),
  ).toHaveLength(5)
  for (const [name, output] of Object.entries(outputs)) {
    const texts = textsOf(output, places)
    const isRead = (place: string) => withDisk.has(place)
    // The used bytes and the largest holders of a disk. Nodes without a size of a disk are named as such.
    const without = places.filter((place, index) => {
      const [before = '', after] = spaced(output).split(place, 2)
      if (!isRead(place))
        return after === undefined || !/no size of a disk was read: [^:]*$/.test(before)
      return !/\d [KMG]iB of \d[\d.,]* [KMG]iB used\b.*\d [KMG]iB/.test(texts[index] ?? '')
    })
    expect({ name, without }).toEqual({ name, without: [] })
  }
})

it('shows on the second morning what was repaired, on the third that it is lost, and nothing else', async () => {
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

  const second = await morning(2)
  expect(second.code).toBe(0)
  // A disk that has passed 60 % makes the setting of its alert more than LOW.
  const worse = second.document.findings.flatMap(({ id, rule, subject }) =>
    rule === 'alert-before-image-gc' && subject.name === 'general' ? [id] : [],
  )
  expect(second.document.delta).toEqual({ new: [], resolved: ids, worse, regressed: [] })
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
  expect(second.mail).toMatch(/Since \S+ \S+ UTC: 1 worse, 2 resolved\./)
  expect(second.stdout).toContain(words.changes.counts.resolved(2))

  // Whatever a later morning left is gone: each starts with what the one before it kept.
  const later = ['lab-s3', 'lab-mornings/3/lab-s3'].map(folder =>
    join(out, folder, 'of-a-later-run'),
  )
  for (const path of later) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '')
  }
  const third = await morning(3)
  expect(later.filter(path => existsSync(path))).toEqual([])
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

  const history = await highwater([
    'history',
    repaired,
    '--store',
    join(out, 'lab-s3', 'highwater-lab'),
  ])
  expect(flat(history.stdout)).toContain('in the last run')
})
