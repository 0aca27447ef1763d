/** Foreign text costs what it is worth: the worst texts of each reader take time in proportion to their length. */
import { describe, expect, it, vi } from 'vitest'
import { readUserData } from '#clients/user-data.ts'
import { parseYaml, TextBudget } from '#model/foreign-text.ts'
import { contentReader } from '#remediate/plan/written-fields.ts'

vi.setConfig({ testTimeout: 120_000 })

/** CPU time of this process, also if the text is refused. A busy machine changes it less than the clock. */
function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage()
  try {
    run()
  } catch {
    // A refusal costs time, too.
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const attempts = 5

/** CPU time of the best attempt, or of the first below the limit. */
function bestMs(run: () => unknown, limitMs: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts && best >= limitMs; attempt++)
    best = Math.min(best, cpuMs(run))
  return best
}

/** Below this time the noise of a busy machine counts more than the text. */
const noiseMs = 60

/** Whether twice the text takes at most three times the time. */
function isLinear(read: (length: number) => unknown, length: number): boolean {
  let once = Number.POSITIVE_INFINITY
  let twice = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts; attempt++) {
    twice = Math.min(
      twice,
      bestMs(() => read(2 * length), noiseMs),
    )
    if (twice < noiseMs) return true
    once = Math.min(
      once,
      bestMs(() => read(length), 0),
    )
    if (twice <= 3 * once) return true
  }
  return false
}

const repeated = (piece: string) => (length: number) =>
  piece.repeat(Math.floor(length / piece.length))
/** About `length` characters of pieces that differ. */
const numbered = (length: number, piece: (index: number) => string) =>
  Array.from({ length: Math.floor(length / piece(10_000).length) }, (_, index) =>
    piece(index),
  ).join('')

const yamlPieces = [
  ...['}', ']', '{', '[', '"', "'", '- ', '? ', ': ', '!', '! ', '&a ', '*a ', ',', '%', '"\\'],
  ...['---\n', '...\n', '#\n', '\n', '\r', '\t\n', '@', '`', '{}', '[]', '{a: ', '[a, ', '|\n'],
  ...['a: b: c\n', 'a: 1\n', '<<: {}\n', '%TAG !a! b\n', '- |\n\n', '- &a b\n', '<<: *a\n'],
]
const yamlShapes: [name: string, shape: (length: number) => string][] = [
  ...yamlPieces.map((piece): [string, (length: number) => string] => [
    JSON.stringify(piece),
    repeated(piece),
  ]),
  ['a list', length => `[${repeated('a,')(length)}]`],
  ['keys', length => numbered(length, index => `k${index}: 1\n`)],
  ['keys on one line', length => `{${numbered(length, index => `k${index}: 1,`)}}`],
  ['keys that are lists', length => `{${numbered(length, index => `[&a${index} 1]: 1,`)}}`],
  ['anchors and aliases', length => `[${numbered(length, index => `&a${index} 1,*a${index},`)}]`],
  ['an ordered map', length => `!!omap [${numbered(length, index => `k${index}: 1,`)}]`],
  ['a set', length => `!!set {${numbered(length, index => `k${index},`)}}`],
  ['tags', length => `[${repeated('!x a,')(length)}]`],
  ['closed lists', length => `${'['.repeat(length / 2)}${']'.repeat(length / 2)}`],
  [
    'keys in keys',
    length => `${'{'.repeat(60)}${'}: 1'.repeat(59)}}\n${repeated('# a\n')(length)}`,
  ],
  ['a long word', length => `a: ${'b'.repeat(length)}`],
  ['a long text', length => `a: "${repeated('b\n ')(length)}"`],
  ['a long block', length => `a: |\n${repeated(' b\n')(length)}`],
  ['comments in a map', length => `a:\n${repeated(' #\n')(length)}  b: 1`],
]

const unlimited = () =>
  new TextBudget({ maxCharacters: 1e9, maxTokens: 1e9, maxUnpackedBytes: 1e9 })

describe('the parser of YAML', () => {
  it.each(yamlShapes)('takes linear time for %s', (_, shape) => {
    const texts = new Map([20_000, 40_000].map(length => [length, shape(length)]))
    const form = { version: '1.1', hasUniqueKeys: true } as const
    const read = (length: number) => parseYaml(texts.get(length) ?? '', unlimited(), form)
    expect(isLinear(read, 20_000)).toBe(true)
  })

  it.each(['}', 'a: b: c\n', '@ x\n'])('stops at the first error of %j', piece => {
    const budget = unlimited()
    const spend = vi.spyOn(budget, 'spend')
    expect(() => parseYaml(repeated(piece)(200_000), budget)).toThrow('it is no YAML')
    expect(() => parseYaml(repeated(piece)(200_000), budget, { version: '1.1' })).toThrow()
    if (piece === '}') expect(spend.mock.calls.length).toBeLessThan(20)
  })

  it('takes what a budget allows, and no more', () => {
    const budget = new TextBudget({ maxCharacters: 100, maxTokens: 40, maxUnpackedBytes: 0 })
    expect(parseYaml('a: [b, c]', budget)).toEqual({ a: ['b', 'c'] })
    expect(() => parseYaml('[a, b, c, d, e, f]', budget)).toThrow('more values than are read')
    expect(() => parseYaml(`# ${'a'.repeat(90)}`, budget)).toThrow('more text than is read')
  })

  it('refuses keys that are no text, and other things that cost more than they show', () => {
    expect(() => parseYaml('{[a]: b}', unlimited())).toThrow('(KEY)')
    expect(() => parseYaml('[a]: b', unlimited())).toThrow('(KEY)')
    expect(() => parseYaml('['.repeat(1000), unlimited())).toThrow('(DEPTH)')
    expect(() => parseYaml(`[&a b, ${'*a, '.repeat(101)}]`, unlimited())).toThrow('(ALIASES)')
  })
})

const mime = 'Content-Type: multipart/mixed; boundary="a"\n\n'
const userDataPieces: [reader: string, start: string, pieces: string[]][] = [
  [
    'a script',
    '#!/bin/bash\n',
    [
      ...['<<A\n\nA\n', '"', "'", '$(', 'a=', 'a"b ', '\\', 'KUBELET=', '--v=1 ', '`\n', '.a["'],
      ...['a: {', '"a":"', 'a b', '--', '.aB', 'bootstrap.sh ', '--kubelet-extra-args '],
    ],
  ],
  ['a cloud-config', '#cloud-config\nwrite_files:\n', ['- content: a\n', '- content: "{}"\n']],
  ['commands', '#cloud-config\nruncmd:\n', ['- a\n', '- [a, b]\n', "- 'a=\"'\n"]],
  [
    'TOML',
    '[settings.kubernetes]\n',
    ['a.', '[', '[[a]]\n', '"', '#\n', 'a=[', "'''", '{a=', '\n', '1_', 'a=1\n', '[a.b]\n'],
  ],
  ['MIME', mime, ['--a\n', '--a\n\n#!x\n', '--a\nA: b\n', '\n ', `--a\n${mime}`]],
  ['base64', '', ['A', 'A\n']],
]

describe('user data', () => {
  it.each(
    userDataPieces.flatMap(([reader, start, pieces]) =>
      pieces.map(piece => [reader, JSON.stringify(piece), start, piece] as const),
    ),
  )('of %s takes linear time for %s', (_, __, start, piece) => {
    const read = (length: number) => readUserData(start + repeated(piece)(length))
    expect(isLinear(read, 60_000)).toBe(true)
  })
})

describe('the contents of a plan', () => {
  it('take a second at most', () => {
    const text = numbered(99_000, index => `k${index}: 1\n`)
    const read = () => {
      const writtenBy = contentReader()
      for (let step = 0; step < 10; step++)
        writtenBy({ method: 'nodeadm', content: `# ${step}\n${text}` })
    }
    expect(bestMs(read, 1500)).toBeLessThan(1500)
  })

  it('are read once if they are equal', () => {
    const writtenBy = contentReader()
    const step = { method: 'drop-in', content: '{"maxPods": 1}' } as const
    expect(writtenBy(step)).toEqual({ fields: { maxPods: 1 }, isWhole: false })
    expect(writtenBy(step)).toBe(writtenBy({ ...step }))
  })

  it('are YAML only for nodeadm', () => {
    const content = 'maxPods: 1'
    expect(contentReader()({ method: 'drop-in', content })).toBeNull()
    expect(contentReader()({ method: 'nodeadm', content })?.fields).toEqual({ maxPods: 1 })
  })
})
