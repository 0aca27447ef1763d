import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { vectorFiles } from '#test/vectors.ts'
import { differences } from './conformance.ts'
import { families } from './families.ts'
import type { Family } from './family.ts'

it.each(vectorFiles())(
  '$family answers as upstream $version',
  ({ family: name, version, cases }) => {
    const family = families.find(known => known.name === name)
    if (family === undefined) throw new Error(`no family is called ${name}`)
    expect(cases.length).toBeGreaterThan(0)
    expect(differences(family, version, cases)).toEqual([])
  },
)

const echo = (answer: (input: never) => unknown): Family<never> => ({ name: 'echo', answer })

describe('differences', () => {
  const found = (answer: unknown, expected: unknown) =>
    differences(
      echo(() => answer),
      'v1.34',
      [{ name: 'one', input: {}, expected }],
    ).length

  it('takes absent and undefined for the same, and any order of keys', () => {
    expect(found({ b: 1, a: undefined }, { b: 1 })).toBe(0)
    expect(found({ b: 1, a: 2 }, { a: 2, b: 1 })).toBe(0)
  })

  it('takes null, another order of a list, another number for different', () => {
    expect(found({ a: null }, {})).toBe(1)
    expect(found([1, 2], [2, 1])).toBe(1)
    expect(found(1, '1')).toBe(1)
    expect(found(Number.NaN, 0)).toBe(1)
  })

  it('takes alternatives for a set, and wants all of them', () => {
    expect(found({ anyOf: [1, 2] }, { anyOf: [2, 1] })).toBe(0)
    expect(found({ anyOf: [1, 1] }, 1)).toBe(0)
    expect(found({ anyOf: [1] }, { anyOf: [2, 1] })).toBe(1)
    expect(found({ anyOf: [1, 2] }, { anyOf: [1] })).toBe(1)
    expect(found({ anyOf: [1, 2] }, { anyOf: [1, 2], error: null })).toBe(1)
  })

  it('takes an error for an answer that differs', () => {
    const broken = echo(() => {
      throw new Error('broken')
    })
    expect(
      differences(broken, 'v1.34', [{ name: 'one', input: {}, expected: 1 }])[0]?.answer,
    ).toContain('threw Error: broken')
  })

  it('lets no answer change what the next one reads', () => {
    const greedy = echo((input: { list: number[] }) => input.list.push(1))
    const cases = [{ name: 'one', input: { list: [] }, expected: 1 }]
    expect(differences(greedy, 'v1.34', cases)).toEqual([])
    expect(differences(greedy, 'v1.34', cases)).toEqual([])
  })
})

describe('npm run conformance', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const run = (directory?: string) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        new URL('./main.ts', import.meta.url).pathname,
        ...(directory === undefined ? [] : [directory]),
      ],
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
