/** Runs that remember each other, as a terminal makes them: `audit --store`, `history`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FindingsDocument } from '#model/finding.ts'
import { english } from '#report/languages/language.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { type SavedNode, savedSnapshot } from '#test/saved-snapshot.ts'

// Whole audits, several in a test.
vi.setConfig({ testTimeout: 60_000 })

const sound = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
const soundNode = (name: string): SavedNode => ({ name, configuration: sound })
const badNode = (name: string): SavedNode => ({ name })
const at = (day: number, hour = 7) => `2026-11-${day}T${String(hour).padStart(2, '0')}:00:00Z`

async function audit(
  store: string | null,
  takenAt: string,
  nodes: SavedNode[],
  ...options: string[]
) {
  const snapshot = savedSnapshot(nodes, { takenAt })
  const place = store === null ? [] : ['--store', store]
  const run = await inProcess([
    'audit',
    '--snapshot',
    snapshot,
    '--out',
    temporaryFolder(),
    '--format',
    'json',
    ...place,
    ...options,
  ])
  return { ...run, document: JSON.parse(run.stdout) as FindingsDocument }
}

const changesOf = ({ document: { delta, findings } }: Awaited<ReturnType<typeof audit>>) => {
  const rule = (id: string) => findings.find(finding => finding.id === id)?.rule ?? id
  return {
    new: delta.new.map(rule),
    resolved: delta.resolved,
    worse: delta.worse?.map(rule),
    regressed: delta.regressed?.map(rule),
  }
}
const sinceOf = ({ document }: Awaited<ReturnType<typeof audit>>) =>
  Object.fromEntries(document.findings.map(({ rule, since }) => [rule, since]))
const keysIn = (store: string) =>
  readdirSync(store, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(store.length + 1))
    .sort()

describe('two consecutive runs', () => {
  it('show exactly what changed between them: one node, one rule', async () => {
    const store = temporaryFolder()
    const first = await audit(store, at(20), [soundNode('a'), soundNode('b')])
    expect(changesOf(first)).toEqual({ new: [], resolved: [], worse: [], regressed: [] })
    const second = await audit(store, at(21), [badNode('a'), soundNode('b')])
    const appeared = second.document.findings.filter(
      ({ id }) => !first.document.findings.some(before => before.id === id),
    )
    expect(appeared.map(({ rule }) => rule)).toContain('alert-before-image-gc')
    expect(second.document.delta.new).toEqual(appeared.map(({ id }) => id).sort())
    expect(second.document.delta.resolved).toEqual([])
    for (const { id, since } of second.document.findings)
      expect(since).toBe(second.document.delta.new.includes(id) ? '2026-11-21' : '2026-11-20')
    const third = await audit(store, at(22), [soundNode('a'), soundNode('b')])
    expect(third.document.delta).toEqual({
      new: [],
      resolved: second.document.delta.new,
      worse: [],
      regressed: [],
    })
    const fourth = await audit(store, at(23), [badNode('a'), soundNode('b')])
    expect(fourth.document.delta).toMatchObject({
      new: second.document.delta.new,
      regressed: second.document.delta.new,
    })
  })

  it('show it on the page: what is new and back again, with its card, and nothing else', async () => {
    const store = temporaryFolder()
    const newsOf = async (day: number, nodes: SavedNode[]) => {
      const out = temporaryFolder()
      await inProcess([
        'audit',
        '--snapshot',
        savedSnapshot(nodes, { takenAt: at(day) }),
        '--out',
        out,
        '--store',
        store,
      ])
      const [, news = ''] =
        /<details class="section" id="changes"([\s\S]*?)<\/details>/.exec(
          readFileSync(join(out, 'report.html'), 'utf8'),
        ) ?? []
      return news
    }
    expect(await newsOf(20, [soundNode('a'), soundNode('b')])).toBe('')
    const second = await newsOf(21, [badNode('a'), soundNode('b')])
    expect(second).toContain(
      'Compared with the run of <time datetime="2026-11-20T07:00:00.000Z">2026-11-20 07:00 UTC</time>',
    )
    expect(second).toMatch(/<span class="word">New<\/span>.*<a href="#finding-[\w-]+">/)
    expect(second).not.toContain(english.words.returned.endings.fixed)
    expect(await newsOf(22, [soundNode('a'), soundNode('b')])).toContain(
      `<span class="word">${english.words.returned.endings.fixed}</span>`,
    )
    expect(await newsOf(23, [badNode('a'), soundNode('b')])).toContain(
      '<span class="word">Back again</span>',
    )
    expect(await newsOf(24, [badNode('a'), soundNode('b')])).toContain(english.words.changes.none)
  })

  it('differ from a run without history in nothing but first days and delta', async () => {
    const nodes = Array.from({ length: 30 }, (_, index) => badNode(`node-${index}`))
    const plain = (await audit(null, at(20), nodes)).document
    const remembered = (await audit(temporaryFolder(), at(20), nodes)).document
    const undated = remembered.findings.map(finding => ({ ...finding, since: null }))
    expect({ ...remembered, findings: undated, delta: plain.delta }).toEqual(plain)
    expect(
      plain.findings.some(({ nodes: { count, sample } }) => count === 30 && sample.length === 20),
    ).toBe(true)
  })

  it('say nothing of a node that was not read', async () => {
    const store = temporaryFolder()
    await audit(store, at(20), [badNode('a')])
    const unread = await audit(store, at(21), [
      { name: 'a', unread: ['configz', 'summary', 'pods'] },
    ])
    expect(unread.document.delta.resolved).toEqual([])
    const back = await audit(store, at(22), [badNode('a')])
    expect(sinceOf(back)['alert-before-image-gc']).toBe('2026-11-20')
    expect(back.document.delta.new).toEqual([])
  })
})

it('prints the mail’s summary, and names undecided findings', async () => {
  const store = temporaryFolder()
  const summaryOf = async (day: number, nodes: SavedNode[]) => {
    const snapshot = savedSnapshot(nodes, { takenAt: at(day) })
    const { stdout } = await inProcess([
      'audit',
      '--snapshot',
      snapshot,
      '--out',
      temporaryFolder(),
      '--store',
      store,
    ])
    return stdout.replace(/\s+/g, ' ')
  }
  const { terminal, changes } = english.words
  const { counts } = changes
  expect(await summaryOf(20, [badNode('a')])).not.toContain(english.words.terminal.since(['']))
  const unread = await summaryOf(21, [{ name: 'a', unread: ['configz', 'summary', 'pods'] }])
  expect(unread).toContain(
    terminal.since([counts.new(1), counts.cannotTell(1, 0), counts.unread(1)]),
  )
  expect(unread).toMatch(/ unclear: .* \(prod, nodegroup workers\)/)
  const [, resolved] = /(\d+) resolved/.exec(await summaryOf(22, [soundNode('a')])) ?? []
  expect(resolved).toBe('2')
  await summaryOf(23, [{ name: 'a', unread: ['configz', 'summary', 'pods'] }, soundNode('c')])
  expect(await summaryOf(24, [soundNode('c')])).toContain(counts.gone(1))
})

describe('a run of another part of the fleet', () => {
  it('takes nothing from what is remembered, were it of nothing at all', async () => {
    const store = temporaryFolder()
    const first = await audit(store, at(20), [badNode('a')])
    const out = temporaryFolder()
    const empty = join(out, 'empty.ndjson')
    writeFileSync(
      empty,
      `${JSON.stringify({ kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt: at(21) })}\n`,
    )
    await inProcess(['audit', '--snapshot', empty, '--out', out, '--store', store])
    const page = readFileSync(join(out, 'report.html'), 'utf8')
    expect(page).toContain(english.words.changes.absent(['prod'], 0, 1, ['1 medium']))
    const third = await audit(store, at(22), [badNode('a')])
    expect(changesOf(third)).toEqual({ new: [], resolved: [], worse: [], regressed: [] })
    expect(sinceOf(third)).toEqual(
      Object.fromEntries(first.document.findings.map(({ rule }) => [rule, '2026-11-20'])),
    )
  })
})

describe('the store', () => {
  it('has three files for a run of one cluster, and a second delivery of the run changes none', async () => {
    const store = temporaryFolder()
    await audit(store, at(20), [badNode('a')])
    await audit(store, at(21), [soundNode('a')])
    expect(keysIn(store)).toEqual([
      'history/nodes/prod/2026-11-20.ndjson.gz',
      'history/nodes/prod/2026-11-21.ndjson.gz',
      'history/runs/2026-11-20T07-00-00Z.json.gz',
      'history/runs/2026-11-21T07-00-00Z.json.gz',
      'history/trends/prod.json.gz',
    ])
    const contents = () =>
      keysIn(store).map(key => gunzipSync(readFileSync(join(store, key))).toString())
    const before = contents()
    const again = await audit(store, at(21), [soundNode('a')])
    expect(again.document.delta.resolved).toHaveLength(1)
    expect(contents()).toEqual(before)
  })

  it('keeps one point a day of a cluster, and forgets after the days of the policy', async () => {
    const store = temporaryFolder()
    const policy = join(temporaryFolder(), 'highwater.yaml')
    writeFileSync(policy, 'history: { retentionDays: 2 }\n')
    onTestFinished(() => void vi.useRealTimers())
    vi.setSystemTime(at(23, 8))
    for (const [day, hour] of [
      [20, 7],
      [21, 7],
      [21, 19],
      [22, 7],
      [23, 7],
    ] as const)
      await audit(store, at(day, hour), [badNode('a')], '--policy', policy)
    const trend = JSON.parse(
      gunzipSync(readFileSync(join(store, 'history/trends/prod.json.gz'))).toString(),
    )
    expect(
      trend.points.map(({ day, runId }: { day: string; runId: string }) => [day, runId]),
    ).toEqual([
      ['2026-11-21', '2026-11-21T19-00-00Z'],
      ['2026-11-22', '2026-11-22T07-00-00Z'],
      ['2026-11-23', '2026-11-23T07-00-00Z'],
    ])
    expect(keysIn(store).filter(key => key.includes('2026-11-20'))).toEqual([])
  })

  it('forgets nothing for a snapshot that names a time to come', async () => {
    const store = temporaryFolder()
    onTestFinished(() => void vi.useRealTimers())
    vi.setSystemTime(at(22))
    for (const day of [20, 21]) await audit(store, at(day), [badNode('a')])
    const before = keysIn(store)
    await audit(store, '9000-11-22T07:00:00Z', [badNode('a')])
    expect(keysIn(store)).toEqual(expect.arrayContaining(before))
    const trend = gunzipSync(readFileSync(join(store, 'history/trends/prod.json.gz'))).toString()
    expect(trend).toContain('2026-11-20')
  })

  it('is not touched by a part of the fleet, which gets its first days all the same', async () => {
    const store = temporaryFolder()
    await audit(store, at(20), [badNode('a'), badNode('b')])
    const before = keysIn(store)
    const part = await audit(store, at(21), [badNode('a'), badNode('b')], '--node', 'a')
    expect(keysIn(store)).toEqual(before)
    expect(sinceOf(part)['alert-before-image-gc']).toBe('2026-11-20')
    expect(part.document.delta.resolved).toEqual([])
  })

  it('says of a node that was repaired what is fixed since the last run, and nothing of others', async () => {
    const store = temporaryFolder()
    const first = await audit(store, at(20), [badNode('a'), badNode('b'), soundNode('c')])
    const part = await audit(
      store,
      at(21),
      [soundNode('a'), badNode('b'), badNode('c')],
      '--node',
      'a',
    )
    const { resolved } = part.document.delta
    expect(resolved).toContain(
      first.document.findings.find(({ rule }) => rule === 'alert-before-image-gc')!.id,
    )
    expect(part.document.delta).toEqual({ new: [], resolved, worse: [], regressed: [] })
    const other = await audit(store, at(21), [badNode('a'), badNode('b')], '--node', 'b')
    expect(other.document.delta).toEqual({ new: [], resolved: [], worse: [], regressed: [] })
    const worse = await audit(store, at(21), [badNode('a'), badNode('c')], '--node', 'c')
    expect(worse.document.delta.resolved).toEqual([])
    // Left out by severity is not fixed.
    const severe = await audit(
      store,
      at(21),
      [badNode('a')],
      '--node',
      'a',
      '--severity',
      'critical',
    )
    expect(severe.document.delta.resolved).toEqual([])
  })

  it('with a damaged file continues from the file before it, with a note', async () => {
    const store = temporaryFolder()
    await audit(store, at(20), [badNode('a')])
    mkdirSync(join(store, 'history/runs'), { recursive: true })
    writeFileSync(join(store, 'history/runs/2026-11-21T07-00-00Z.json.gz'), 'not gzip')
    const { code, stderr, document } = await audit(store, at(22), [badNode('a')])
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('2026-11-21T07-00-00Z.json.gz cannot be parsed'),
    })
    expect(document.findings[0]?.since).toBe('2026-11-20')
  })

  it('that cannot be written costs history, and no report', async () => {
    const file = join(temporaryFolder(), 'a-file')
    writeFileSync(file, '')
    const { code, stderr, document } = await audit(file, at(20), [badNode('a')])
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/history could not be/),
    })
    expect(document.findings.length).toBeGreaterThan(0)
  })
})

describe('highwater history', () => {
  const remembered = async () => {
    const store = temporaryFolder()
    await audit(store, at(20), [badNode('a'), soundNode('b')])
    await audit(store, at(21), [soundNode('b')])
    return store
  }

  it('prints what was known of a node that is gone', async () => {
    const { code, stdout } = await inProcess(['history', 'a', '--store', await remembered()])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^prod \/ a\n/)
    expect(stdout).toContain('known from 2026-11-20 to 2026-11-20, and gone in the last run')
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /image GC 85\/80; eviction .* Its disk for images, 3.9 GiB; use rounded up, as image GC counts it [▁-█] 2026-11-20 \d+ % used, .* until image GC, .* until eviction Found on it .*alert-before-image-gc +on 2026-11-20/,
    )
  })

  it('prints what was known before of an unread node', async () => {
    const store = await remembered()
    await audit(store, at(22), [{ name: 'b', unread: ['configz', 'summary', 'pods'] }])
    const { stdout } = await inProcess(['history', 'b', '--store', store])
    expect(stdout.replace(/\s+/g, ' ')).toContain('read on 1 of 3 days')
    expect(stdout).toContain('image GC 70/50')
    expect(stdout).toMatch(/2026-11-22 {2}not read: configz, summary, pods: HTTP 503/)
  })

  it('leaves out lines and files that are not ours', async () => {
    const store = await remembered()
    const shard = join(store, 'history/nodes/prod/2026-11-21.ndjson.gz')
    writeFileSync(
      shard,
      gzipSync(`{"node":"b","at":"x","coverage":"read"}\nnot json\n${'['.repeat(9000)}`),
    )
    writeFileSync(join(store, 'history/trends/prod.json.gz'), 'not gzip')
    expect(
      JSON.parse((await inProcess(['history', 'b', '--store', store, '--format', 'json'])).stdout)
        .clusters[0].days,
    ).toHaveLength(1)
    expect((await inProcess(['history', '--store', store])).code).toBe(2)
    await audit(store, at(23), [soundNode('b')])
    expect((await inProcess(['history', '--store', store])).stdout).toMatch(
      /^prod: 2026-11-23 to 2026-11-23/,
    )
  })

  it('bounds and cleans lines that are hostile, and leaves out longer ones', async () => {
    const store = await remembered()
    const shard = join(store, 'history/nodes/prod/2026-11-21.ndjson.gz')
    const line = JSON.parse(gunzipSync(readFileSync(shard)).toString())
    const evil = '\u001b[2J\u202e<script>'
    const at = '2026-11-21T03:12:00Z'
    const happened = [{ at, what: 'evicted', subject: evil, message: evil, resource: 'memory' }]
    const basis = {
      at,
      thresholds: [],
      held: [],
      firstVictims: [{ signal: 'memory.available', pods: [evil] }],
    }
    const hostile = [
      { ...line, node: 'long', rules: Array(18).fill('x'.repeat(500)) },
      { ...line, node: 'shape', beforeEvictions: [{ ...basis, held: [{ bytes: -1 }] }] },
      { ...line, node: 'kind', happened: [{ ...happened[0], what: 'exploded' }] },
      {
        ...{ ...line, node: 'evil', happened, beforeEvictions: [basis], kubeletVersion: evil },
        held: [{ filesystem: evil, holder: 'constructor', bytes: 1 }],
      },
    ]
    writeFileSync(shard, gzipSync(hostile.map(one => JSON.stringify(one)).join('\n')))
    const known = async (node: string) => inProcess(['history', node, '--store', store])
    for (const node of ['long', 'shape', 'kind'])
      expect((await known(node)).stderr).toContain(`remembers no node ${node}`)
    const { code, stdout } = await known('evil')
    expect(code).toBe(0)
    expect(stdout).toContain('2026-11-21 03:12 UTC  evicted')
    for (const text of ['\u001b', '\u202e', 'native code']) expect(stdout).not.toContain(text)
    await audit(store, at.replace('03:12', '09:00'), [soundNode('b')])
    const lines = gunzipSync(readFileSync(shard)).toString().trim().split('\n')
    expect(lines.map(text => JSON.parse(text).node)).toEqual(['b', 'evil'])
  })

  it('prints how a disk filled, earlier settings, and the dates of findings', async () => {
    const store = temporaryFolder()
    for (const [index, usedPercent] of [40, 44, null, 48, 52, 88].entries())
      await audit(store, at(15 + index), [
        usedPercent === null
          ? { name: 'a', unread: ['configz', 'summary', 'pods'] }
          : { ...(index < 4 ? badNode('a') : soundNode('a')), usedPercent },
      ])
    const { stdout } = await inProcess(['history', 'a', '--store', store])
    const text = stdout.replace(/\s+/g, ' ')
    expect(text).toContain('read on 1 of 6 days')
    expect(text).toContain('image GC 70/50 (85/80 until 2026-11-18); eviction')
    expect(stdout).toMatch(/^ {2}▄▄ ▄▅█$/m)
    expect(text).toContain(
      'nodefs grew by about 158.1 MiB a day (79.0 MiB–1.4 GiB): 5 readings in 5 d.',
    )
    expect(stdout).toMatch(/^ {2}2026-11-20 {2}88 % used, image GC due, 79\.0 MiB until eviction$/m)
    expect(stdout).toMatch(/^ {2}image-gc-due +on 2026-11-20$/m)
    expect(stdout).toMatch(/^ {2}alert-before-image-gc +2026-11-15 to 2026-11-18, not since$/m)
    expect(
      JSON.parse((await inProcess(['history', 'a', '--store', store, '--format', 'json'])).stdout)
        .clusters[0],
    ).toMatchObject({ growth: { nodefs: { isSeen: true, readings: 5, falls: 0 } } })
  })

  it('explains each eviction by the last reading before it, of three audits of a day', async () => {
    const store = temporaryFolder()
    const evicted = { first: at(20, 8), second: at(20, 13), third: at(20, 22) }
    const disk = (percent: number) => ({
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': `${percent}%` },
    })
    for (const [hour, usedPercent, percent, names] of [
      [7, 91, 9, []],
      [12, 60, 12, ['first']],
      [19, 70, 15, ['first', 'second']],
    ] as const) {
      const pods = Object.fromEntries(names.map(name => [name, evicted[name]]))
      const node = { name: 'a', configuration: disk(percent), usedPercent, evicted: pods }
      await audit(store, at(20, hour), [node])
    }
    const print = async (...args: string[]) =>
      (await inProcess(['history', 'a', '--store', store, ...args])).stdout
    const [day] = JSON.parse(await print('--format', 'json')).clusters[0].days
    expect(day.beforeEvictions.map((basis: { at: string }) => basis.at.slice(11, 16))).toEqual([
      '07:00',
      '12:00',
    ])
    const bytesHeld = (read: typeof day) =>
      read.held.reduce((sum: number, { bytes }: { bytes: number }) => sum + bytes, 0)
    expect(bytesHeld(day.beforeEvictions[0])).toBeGreaterThan(bytesHeld(day))
    const text = (await print()).replace(/\s+/g, ' ')
    for (const [name, time, read, threshold] of [
      ['first', '08:00', '07:00', 'nodefs.available<9%'],
      ['second', '13:00', '12:00', 'nodefs.available<12%'],
    ] as const) {
      const [, why] = text.split(`2026-11-20 ${time} UTC evicted shop/${name}: `)
      expect(why).toMatch(
        new RegExp(
          `^The node was low on resource: ephemeral-storage. read 2026-11-20 ${read} UTC: eviction .*${threshold}.* disk held by .*first victims for ephemeral-storage: `,
        ),
      )
    }
  })

  it.each([
    { low: 'memory', rank: 'first victims for memory: ip-10-99-0-61-ec2-internal/crashing' },
    { low: 'pids', rank: 'order of eviction for pids not known: that reading has none' },
    { low: 'patience', rank: 'no order of eviction: its message names no resource of the node' },
  ])('names the order of an eviction for $low, or why it is not known', async ({ low, rank }) => {
    const store = temporaryFolder()
    for (const [hour, names] of [
      [7, []],
      [12, ['first']],
    ] as const) {
      const pods = Object.fromEntries(names.map(name => [name, at(20, 8)]))
      await audit(store, at(20, hour), [{ name: 'a', evicted: pods, low }])
    }
    const { stdout } = await inProcess(['history', 'a', '--store', store])
    const [, why] = stdout
      .replace(/\s+/g, ' ')
      .split(`UTC evicted shop/first: The node was low on resource: ${low}.`)
    expect(why).toContain(rank)
  })

  it('shows an eviction once that two days of runs read, and each one of a recreated pod', async () => {
    const store = temporaryFolder()
    for (const [day, evicted] of [
      [20, at(20, 6)],
      [21, at(20, 6)],
      [22, at(22, 1)],
    ] as const)
      await audit(store, at(day), [{ name: 'a', evicted: { 'db-0': evicted } }])
    const { stdout } = await inProcess(['history', 'a', '--store', store])
    expect(stdout.match(/.*evicted shop\/db-0/g)).toEqual([
      '  2026-11-20 06:00 UTC  evicted shop/db-0',
      '  2026-11-22 01:00 UTC  evicted shop/db-0',
    ])
  })

  it('does not know whether a node is there if the last run left out its cluster', async () => {
    const store = temporaryFolder()
    await audit(store, at(20), [soundNode('a')])
    const [name] = readdirSync(join(store, 'history/runs'))
    const path = join(store, 'history/runs', name!)
    const run = JSON.parse(gunzipSync(readFileSync(path)).toString())
    run.readings[0].isCarried = true
    writeFileSync(path, gzipSync(JSON.stringify(run)))
    const { stdout } = await inProcess(['history', 'a', '--store', store])
    expect(stdout).toContain('whether it is still there is not known')
  })

  it('prints the days as data, of one that is there', async () => {
    const { stdout } = await inProcess([
      'history',
      'b',
      '--store',
      await remembered(),
      '--format',
      'json',
    ])
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'highwater.node-history/1',
      node: 'b',
      clusters: [
        {
          cluster: 'prod',
          isPresent: true,
          days: [
            { day: '2026-11-21' },
            { day: '2026-11-20', imageGC: { highThresholdPercent: 70 } },
          ],
        },
      ],
    })
    const one = await inProcess([
      'history',
      'b',
      '--store',
      await remembered(),
      '--format',
      'json',
      '--days',
      '1',
      '--cluster',
      'prod',
    ])
    expect(JSON.parse(one.stdout).clusters[0].days).toHaveLength(1)
  })

  it('without a node prints the trend per cluster', async () => {
    const store = await remembered()
    const { code, stdout } = await inProcess(['history', '--store', store])
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^prod: 2026-11-20 to 2026-11-21\n {2}grade +([A-F])([A-F]) {2}\2\n {2}findings +[▁-█]{2} {2}\d+.*\n {2}near image GC {2}▁▁ {2}0 nodes\n {2}workers +[▁-█]{2} {2}fullest [\d.]+ %, [\d.]+ [GM]iB until image GC\n/,
    )
    const json = JSON.parse(
      (await inProcess(['history', '--store', store, '--format', 'json'])).stdout,
    )
    expect(json).toMatchObject({
      schema: 'highwater.trends/1',
      clusters: [
        {
          cluster: 'prod',
          points: [{ day: '2026-11-20', groups: [{ nodes: 2 }] }, { groups: [{ nodes: 1 }] }],
        },
      ],
    })
  })

  it.each([
    [['history', 'nobody'], /remembers no node nobody/],
    [['history'], /remembers no run/],
    [['history', 'a', '--days', '0'], /from 1 to 3650/],
  ])('%j of nothing: exit 2', async (args, message) => {
    const { code, stderr } = await inProcess([...args, '--store', temporaryFolder()])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) })
  })

  it('names what is no place', async () => {
    expect((await inProcess(['history', '--store', 's3://B'])).stderr).toMatch(
      /store: write s3:\/\/bucket\/prefix/,
    )
  })
})
