import { expect, it } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import { keys, readJson } from '#pipeline/fan-out/files.ts'
import { temporaryFolder } from '#test/cli.ts'

it.each([
  ['is nested too deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['has too many values', `[${'0,'.repeat(3_100_000)}0]`],
])('a file between two functions that %s is broken, and is not parsed', async (_, text) => {
  const store = folderStore(temporaryFolder())
  const key = keys.run('2026-11-21T05-00-00Z')
  await store.write(key, text, 'application/json')
  await expect(readJson(store, key)).rejects.toThrow(/run\.json is broken: .*(deeper|values)/)
})
