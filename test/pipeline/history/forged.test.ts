/** History files in the wrong hands: they cost the comparison, and nothing of them moves a terminal. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { inputLimits } from '#base/limits.ts'
import { listOf } from '#base/list-of.ts'
import type { Store } from '#clients/store/store.ts'
import { jsonIn, readText } from '#pipeline/history/keys.ts'
import { factsIn } from '#pipeline/history/saved.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

vi.setConfig({ testTimeout: 60_000 })

const evil = '\u001b[2J\u009b2J\u202eapproved'

describe('a file with more than history has', () => {
  it('is not parsed: too long, too deep, too many values, too long a line', async () => {
    const { maxBytes, maxValues } = inputLimits.history
    for (const length of [maxBytes + 1, maxBytes / 2]) {
      const body = gzipSync(Buffer.alloc(length, ' '), { level: 1 })
      const store = { read: async () => ({ body, version: '1' }) } as unknown as Store
      await expect(readText(store, 'history/x', maxBytes)).resolves.toMatchObject({
        flaw: expect.stringMatching(/times as long|more than/),
      })
    }
    expect(jsonIn(`[${'0,'.repeat(maxValues)}0]`)).toBeUndefined()
    expect(jsonIn(`${'['.repeat(100)}${']'.repeat(100)}`)).toBeUndefined()
    for (const line of ['\n', '0\n', '{}\n'])
      expect([...factsIn(line.repeat(10_000_000))]).toEqual([])
  })

  it('has one mistake for a million wrong items', () => {
    const { error } = listOf(z.object({ name: z.string() })).safeParse(
      Array.from({ length: 1_000_000 }, () => 0),
    )
    expect(error?.issues).toMatchObject([{ path: [0] }])
    const second = listOf(z.object({ name: z.string() })).safeParse([{ name: 'a' }, { name: 1 }])
    expect(second.error?.issues).toMatchObject([{ path: [1, 'name'] }])
  })
})

const day = '2026-11-20'
const largestLine = JSON.stringify({
  ...{ node: 'NAME', at: `${day}T05:00:00Z`, runId: 'r', coverage: 'read', mode: 'proxy' },
  ...{ group: { kind: 'Nodegroup', namespace: null, name: 'w' }, amiFamily: 'AL2023' },
  ...{ kubeletVersion: null, instanceType: null, layout: null, nodefs: null, imagefs: null },
  ...{ imageGC: null, thresholds: null, fill: null, rules: [], missed: '', leftOut: 0 },
  ...{
    held: [],
    firstVictims: [],
    happened: [],
    rounds: [],
    beforeEvictions: [],
    imagesSince: null,
  },
  images: Array.from({ length: 32 }, (_, index) => [`i${index}`, index, day]),
})
const linesOf = (bytes: number) =>
  Array.from({ length: Math.floor(bytes / largestLine.length) }, (_, index) =>
    largestLine.replace('NAME', `n${index}`),
  ).join('\n')

describe('days of nodes that are valid, and too long', () => {
  it('cost 20 clusters their growth, and not the process its memory', async () => {
    const { maxBytes } = inputLimits.history
    const days = [maxBytes, maxBytes / 4, maxBytes / 64].map(bytes => gzipSync(linesOf(bytes)))
    const worker = new Worker(
      `const { parentPort, workerData: days } = require('node:worker_threads')
      const store = {
        location: 's3://bucket',
        async read(key) {
          const index = Number(/\\d+/.exec(key)?.[0])
          if (!key.includes('${day}')) return null
          return { body: Buffer.from(days[index % days.length]), version: '1' }
        },
      }
      const clusters = Array.from({ length: 20 }, (_, index) => ({ name: 'c' + index }))
      const previous = { document: { run: { takenAt: '${day}T05:00:00Z' }, clusters } }
      import('#pipeline/history/history.ts')
        .then(({ earlierOf }) => earlierOf(store, previous, 'own'))
        .then(({ nodes, unread }) => parentPort.postMessage([nodes.size, unread]))`,
      { eval: true, workerData: days, resourceLimits: { maxOldGenerationSizeMb: 256 } },
    )
    const [nodes, unread] = await new Promise<[number, string[]]>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    await worker.terminate()
    expect(nodes).toBeGreaterThan(500)
    expect(unread.length).toBeGreaterThan(10)
    expect(unread[0]).toContain(`s3://bucket/history/nodes/c0/${day}.ndjson.gz was not read`)
  })

  it('are named in the report, and are written anew', async () => {
    const store = temporaryFolder()
    const audited = async (takenAt: string) => {
      const out = temporaryFolder()
      const snapshot = savedSnapshot([{ name: 'a' }], { takenAt })
      await inProcess(['audit', '--snapshot', snapshot, '--store', store, '--out', out])
      const { run } = JSON.parse(readFileSync(join(out, 'findings.json'), 'utf8'))
      return { page: readFileSync(join(out, 'report.html'), 'utf8'), errors: run.inputErrors }
    }
    const first = await audited('2026-11-20T07:00:00Z')
    expect(first.errors).toEqual([])
    const key = readdirSync(store, { recursive: true, encoding: 'utf8' }).find(path =>
      /nodes\/.*\.gz$/.test(path),
    )
    const file = join(store, key ?? '')
    writeFileSync(
      file,
      gzipSync(Buffer.alloc(inputLimits.history.maxBytes + 1, `${largestLine}\n`)),
    )
    const { page, errors } = await audited('2026-11-21T07:00:00Z')
    expect(errors).toEqual([expect.stringContaining(`${key} was not read`)])
    expect(page).toContain(`${key} was not read`)
    expect((await audited('2026-11-21T08:00:00Z')).errors).toEqual([])
  })
})

/** Each copy has one text of the value replaced. */
function* forgeries(value: unknown): Generator<unknown> {
  if (typeof value === 'string') yield evil
  if (typeof value !== 'object' || value === null) return
  for (const [key, each] of Object.entries(value))
    for (const other of forgeries(each))
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other }
}

describe('a forged day of a node', () => {
  it('shows nothing that would move a terminal, whichever text is forged', async () => {
    const store = temporaryFolder()
    const takenAt = '2026-11-20T07:00:00Z'
    const snapshot = savedSnapshot([{ name: 'a' }], { takenAt })
    await inProcess(['audit', '--snapshot', snapshot, '--store', store, '--out', temporaryFolder()])
    const [name = ''] = readdirSync(store, { recursive: true, encoding: 'utf8' }).filter(path =>
      /nodes\/.*\.gz$/.test(path),
    )
    const file = join(store, name)
    const facts = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8'))
    const happened = {
      at: takenAt,
      what: 'evicted',
      subject: 'pod',
      message: 'text',
      resource: 'memory',
    }
    const round = { at: takenAt, wantedBytes: 1, countedBytes: 1, freedBytes: 1, predictedBytes: 1 }
    const held = [{ filesystem: 'nodefs', holder: 'images', bytes: 1 }]
    const thresholds = [{ signal: 'nodefs.available', value: '10%', hard: true, margin: 1 }]
    const firstVictims = [{ signal: 'nodefs.available', pods: ['pod'] }]
    const basis = { at: takenAt, thresholds, held, firstVictims }
    const lists = { happened: [happened], rounds: [round], beforeEvictions: [basis] }
    let shown = 0
    for (const forged of forgeries({ ...facts, ...lists, ...basis, rules: ['rule'] })) {
      writeFileSync(file, gzipSync(JSON.stringify({ ...(forged as object), node: 'a' })))
      const { code, stdout } = await inProcess(['history', 'a', '--store', store])
      if (code === 0) shown++
      expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u)
    }
    expect(shown).toBeGreaterThan(10)
  })
})
