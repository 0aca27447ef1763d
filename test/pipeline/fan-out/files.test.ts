import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { keepInMemory } from '#base/keep.ts'
import { folderStore } from '#clients/store/folder-store.ts'
import { openSharedParts } from '#judge/run/kept-prediction.ts'
import { keys, readJson, readJudged } from '#pipeline/fan-out/files.ts'
import { temporaryFolder } from '#test/cli.ts'

const run = '2026-11-21T05-00-00Z'
async function judgedOf(packed: Buffer) {
  const store = folderStore(temporaryFolder())
  const key = keys.judged(run, 0)
  await store.write(key, packed, 'application/gzip')
  return readJudged(store, key, { share: openSharedParts(), keep: keepInMemory })
}

it.each([
  ['is nested too deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['has too many values', `[${'0,'.repeat(3_100_000)}0]`],
])('a file between two functions that %s is broken, and is not parsed', async (_, text) => {
  const store = folderStore(temporaryFolder())
  const key = keys.run(run)
  await store.write(key, text, 'application/json')
  await expect(readJson(store, key)).rejects.toThrow(/run\.json is broken: .*(deeper|values)/)
  await expect(judgedOf(gzipSync(`${text}\n`))).rejects.toThrow(/is broken: .*(deeper|longer)/)
})

describe('a judged cluster', () => {
  const random = randomBytes(30_000).toString('base64')
  const prediction = { filesystems: {}, eviction: null }
  const node = { identity: { group: {} }, outcomes: {}, prediction, details: {} }

  it.each([
    ['is longer than its gzip can be', ' '.repeat(2 ** 21), /far longer than its gzip/],
    [
      'has more lines than nodes fit',
      `{}\n${`${JSON.stringify(node)}\n`.repeat(2_000)}`,
      /no such file has so many lines/,
    ],
    [
      'has more values than its length admits',
      `[${'{},'.repeat(9_000)}{}]`,
      /more than \d+ values/,
    ],
    ['is empty', '', /it is empty/],
  ])('that %s is broken', async (_, text, message) => {
    await expect(judgedOf(gzipSync(text))).rejects.toThrow(message)
  })

  it('is read, also if it is long', async () => {
    const lines = [{ random }, ...Array(20).fill({ ...node, random })]
    const packed = gzipSync(lines.map(line => JSON.stringify(line)).join('\n'))
    await expect(judgedOf(packed)).resolves.toMatchObject({ random })
  })
})
