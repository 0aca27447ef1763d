/** All golden vectors of every proved minor, by `npm run conformance`. `test/vectors` has a small part of them. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { temporaryFolder } from '#test/cli.ts'

const folder = new URL('./vectors/', import.meta.url)
const program = new URL('../conformance/main.ts', import.meta.url).pathname
const versions = readdirSync(folder).map(file => file.replace('.json.gz', ''))

it.each(versions)('answers as upstream %s', version => {
  const packed = readFileSync(new URL(`${version}.json.gz`, folder))
  const { families } = JSON.parse(gunzipSync(packed).toString('utf8'))
  const vectors = join(temporaryFolder(), version)
  mkdirSync(vectors)
  for (const [name, cases] of Object.entries(families))
    writeFileSync(join(vectors, `${name}.json`), JSON.stringify(cases))
  const { status, stdout } = spawnSync(process.execPath, [program, vectors], { encoding: 'utf8' })
  expect(stdout.split('\n').filter(line => /^\S+ v1\.\d+ (\d{2,})\/\1$/.test(line))).toHaveLength(
    15,
  )
  expect(status).toBe(0)
})
