import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import { openSharedParts } from '#judge/run/shared-parts.ts'
import { keys, readJson } from '#pipeline/fan-out/files.ts'
import { readJudged } from '#pipeline/fan-out/judged-files.ts'
import { temporaryFolder } from '#test/cli.ts'

const never = () => {
  throw new Error('no node was read')
}

it.each([
  ['is nested too deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['has too many values', `[${'0,'.repeat(3_100_000)}0]`],
])('a file between two functions that %s is broken, and is not parsed', async (_, text) => {
  const store = folderStore(temporaryFolder())
  const key = keys.run('2026-11-21T05-00-00Z')
  await store.write(key, text, 'application/json')
  await expect(readJson(store, key)).rejects.toThrow(/run\.json is broken: .*(deeper|values)/)
  await store.write(key, gzipSync(`${text}\n`), 'application/gzip')
  const memory = { share: openSharedParts(), keep: never }
  await expect(readJudged(store, key, memory)).rejects.toThrow(/is broken: .*(deeper|values)/)
})
