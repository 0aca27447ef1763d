/** History files in the wrong hands: they cost the comparison, and nothing of them moves a terminal. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { inputLimits } from '#model/input-limits.ts'
import { listOf } from '#pipeline/document-shape.ts'
import { jsonIn, unpacked } from '#pipeline/history/keys.ts'
import { parsedFacts } from '#pipeline/history/saved-facts.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

vi.setConfig({ testTimeout: 60_000 })

const evil = '\u001b[2J\u009b2J\u202eapproved'

describe('a file with more than history has', () => {
  it('is not parsed: too long, too deep, too many values, too long a line', () => {
    const { maxBytes, maxValues } = inputLimits.history
    expect(() => unpacked(gzipSync(Buffer.alloc(maxBytes + 1, ' '), { level: 1 }))).toThrow()
    expect(jsonIn(Buffer.from(`[${'0,'.repeat(maxValues)}0]`))).toBeUndefined()
    expect(jsonIn(Buffer.from(`${'['.repeat(100)}${']'.repeat(100)}`))).toBeUndefined()
    for (const line of ['\n', '0\n', '{}\n'])
      expect(parsedFacts(line.repeat(10_000_000))).toEqual([])
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
    const full = { ...facts, ...{ happened: [happened], rounds: [round], held } }
    let shown = 0
    const firstVictims = [{ signal: 'nodefs.available', pods: ['pod'] }]
    for (const forged of forgeries({ ...full, firstVictims, rules: ['rule'] })) {
      writeFileSync(file, gzipSync(JSON.stringify({ ...(forged as object), node: 'a' })))
      const { code, stdout } = await inProcess(['history', 'a', '--store', store])
      if (code === 0) shown++
      expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u)
    }
    expect(shown).toBeGreaterThan(10)
  })
})
