/**
 * `npx --no -- node tools/vectors/keep.ts OUT v1.38`: keeps generated vectors. All cases go to `test/e2e/vectors/v1.38.json.gz`, about 22 of each
 * family to `test/vectors/v1.38/`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const casesKept = 22
const root = join(import.meta.dirname, '../..')
const [out, minor] = process.argv.slice(2)
if (out === undefined || minor === undefined) {
  process.stderr.write('node tools/vectors/keep.ts OUT v1.38\n')
  process.exit(2)
}

const jsonOf = (file: string) => JSON.parse(readFileSync(join(out, file), 'utf8'))
const { upstream } = jsonOf('index.json')
const names = readdirSync(out).flatMap(file =>
  file.endsWith('.json') ? basename(file, '.json') : [],
)
const families: Record<string, { anyOf?: unknown }[]> = Object.fromEntries(
  names
    .filter(name => name !== 'index')
    .sort()
    .map(name => [name, jsonOf(`${name}.json`)]),
)
const packed = gzipSync(JSON.stringify({ upstream, families }), { level: 9 })
writeFileSync(join(root, `test/e2e/vectors/${minor}.json.gz`), packed)

const folder = join(root, 'test/vectors', minor)
mkdirSync(folder, { recursive: true })
const kept = Object.entries(families).map(([name, cases]) => {
  const step = Math.max(1, Math.floor(cases.length / (casesKept - 2)))
  const some = cases.filter((_, index) => index % step === 0).slice(0, casesKept)
  writeFileSync(
    join(folder, `${name}.json`),
    `[\n${some.map(each => JSON.stringify(each)).join(',\n')}\n]\n`,
  )
  return [name, some.length]
})
const index = { cases: Object.fromEntries(kept), upstream }
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index)}\n`)
