/** `npm run conformance`, with all golden vectors of every proved minor. `test/vectors` has a small part of them. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
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

describe('npm run conformance', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const run = (directory?: string) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, ...(directory === undefined ? [] : [directory])],
      { encoding: 'utf8', cwd: folder, env: { ...process.env, INIT_CWD: folder } },
    )
    return { status, stdout, stderr }
  }
  const write = (path: string, content: unknown) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(
      join(folder, path),
      typeof content === 'string' ? content : JSON.stringify(content),
    )
  }
  const right = { name: 'right', input: { quantity: '1Ki' }, expected: upstreamOf('1Ki') }
  const wrong = { ...right, name: 'wrong', expected: { ok: false, error: 'no' } }

  it('prints a line for each family and version, and exits with 0', () => {
    write('good/v1.31/quantity.json', [right, right])
    write('good/v1.35/quantity.json', [right])
    expect(run('good')).toEqual({
      status: 0,
      stdout: 'quantity v1.31 2/2\nquantity v1.35 1/1\n',
      stderr: '',
    })
  })

  it('prints the first three differences with input and both answers, and exits with 1', () => {
    write('bad/v1.34/quantity.json', [
      right,
      ...Array.from({ length: 5 }, (_, index) => ({ ...wrong, name: `wrong ${index}` })),
    ])
    const { status, stdout } = run('bad')
    expect(status).toBe(1)
    expect(stdout).toMatch(
      /^quantity v1\.34 1\/6\n {2}wrong 0\n {4}input {4}\{"quantity":"1Ki"\}\n {4}upstream \{"ok":false,"error":"no"\}\n {4}ours {5}\{"ok":true,/,
    )
    expect(stdout.match(/wrong \d/g)).toEqual(['wrong 0', 'wrong 1', 'wrong 2'])
  })

  it('runs what it knows, and exits with 1 for a family that it does not know', () => {
    write('unknown/v1.34/quantity.json', [right])
    write('unknown/v1.34/teapot.json', [])
    const { status, stdout } = run('unknown')
    expect(status).toBe(1)
    expect(stdout).toContain('quantity v1.34 1/1\n')
    expect(stdout).toContain('no family is called "teapot"')
  })

  it.each([
    ['no JSON', '{', 'it cannot be read'],
    ['no list', {}, 'it is no list of cases'],
    ['a case without input', [{ name: 'x', expected: 1 }], 'a case lacks name, input or expected'],
  ])('exits with 1 for a file with %s', (_, content, message) => {
    write('broken/v1.34/quantity.json', content)
    const { status, stdout } = run('broken')
    expect({ status, said: stdout.includes(message) }).toEqual({ status: 1, said: true })
  })

  it('learns the version from an index beside the files, and asks where there is none', () => {
    write('flat/quantity.json', [right])
    expect(run('flat').stdout).toContain('of which version?')
    write('flat/index.json', { upstream: 'k8s.io/kubernetes v1.33.1' })
    expect(run('flat')).toMatchObject({ status: 0, stdout: 'quantity v1.33.1 1/1\n' })
  })

  it('exits with 2 where there is nothing to run', () => {
    mkdirSync(join(folder, 'empty'))
    expect(run('empty').status).toBe(2)
    expect(run('absent').status).toBe(2)
    expect(run().status).toBe(2)
  })
})

function upstreamOf(quantity: string): unknown {
  const cases = JSON.parse(
    readFileSync(new URL('../vectors/v1.34/quantity.json', import.meta.url), 'utf8'),
  ) as { input: { quantity: string }; expected: unknown }[]
  return cases.find(({ input }) => input.quantity === quantity)?.expected
}
