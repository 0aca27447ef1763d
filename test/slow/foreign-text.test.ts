/** Foreign text costs what it is worth: the worst texts of each reader take time in proportion to their length. */
import { describe, expect, it, vi } from 'vitest'
import { parseYaml, TextBudget } from '#base/foreign-text.ts'
import { readUserData } from '#clients/user-data.ts'
import { contentReader } from '#remediate/plan/step-truth.ts'
import { isLinear, numbered, repeated } from '#test/linear.ts'

vi.setConfig({ testTimeout: 120_000 })

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
})

const mime = 'Content-Type: multipart/mixed; boundary="a"\n\n'
const userDataPieces: [reader: string, start: string, pieces: string[]][] = [
  [
    'a script',
    '#!/bin/bash\n',
    [
      ...[
        '<<A\n\nA\n',
        '<<X\n',
        '"',
        "'",
        '$(',
        'a=',
        'a"b ',
        '\\',
        'KUBELET=',
        '--v=1 ',
        '`\n',
        '.a["',
      ],
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
  it('take linear time', () => {
    const read = (length: number) => {
      const content = numbered(length, index => `k${index}: 1\n`)
      contentReader()({ method: 'nodeadm', content })
    }
    expect(isLinear(read, 49_000)).toBe(true)
  })
})
