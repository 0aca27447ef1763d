/** The documents that nobody generates: what they quote is in the code, and what they lead to is there. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { parseThresholdConfig, thresholdsMet } from '#replay/eviction/thresholds.ts'
import { amountToFree, usagePercentOf } from '#replay/image-gc/usage.ts'

const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')]
const read = (file: string) => readFileSync(file, 'utf8')

/** Links to files, without those to sites and within the page. */
const linksOf = (text: string) =>
  [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s]+)\)/g)].map(([, link = '']) => {
    const [path = '', anchor] = link.split('#')
    return { path, anchor }
  })

/** As GitHub makes them of headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

describe('links', () => {
  it.each(documents)('%s leads to files and headings that are there', file => {
    const text = read(file)
    for (const { path, anchor } of linksOf(text)) {
      const target = normalize(join(dirname(file), path))
      expect({ path, isThere: existsSync(target) }).toEqual({ path, isThere: true })
      if (anchor !== undefined && target.endsWith('.md'))
        expect(anchorsOf(read(target))).toContain(anchor)
    }
    for (const [, anchor = ''] of text.matchAll(/\]\(#([^)\s]+)\)/g))
      expect(anchorsOf(text)).toContain(anchor)
  })

  it.each(globSync('docs/**/*.md').filter(file => !file.startsWith('docs/dev/')))(
    '%s is reached from the README',
    file => {
      const reached = new Set<string>()
      const follow = (from: string) => {
        if (reached.has(from) || !existsSync(from)) return
        reached.add(from)
        if (from.endsWith('.md'))
          for (const { path } of linksOf(read(from))) follow(normalize(join(dirname(from), path)))
      }
      follow('README.md')
      const isReached = reached.has(file) || reached.has(dirname(file))
      expect({ file, isReached }).toEqual({ file, isReached: true })
    },
  )
})

it('docs/threat-model.md has two printed pages', () => {
  const words = read('docs/threat-model.md')
    .split(/\s+/)
    .filter(word => /\w/.test(word))
  expect(words.length).toBeLessThanOrEqual(1_100)
})

describe('docs/troubleshooting.md', () => {
  // What a message is made of in the code: texts between the places where names are filled in.
  const code = globSync('src/**/*.ts')
    .map(read)
    .join('\n')
    .replace(/\\'/g, "'")
    // A text that goes on in the next line.
    .replace(/['`] \+\n\s*['`]/g, '')
  const rows = read('docs/troubleshooting.md')
    .split('\n')
    .filter(line => /^\| `/.test(line))
    .map(line => line.split(' | ')[0] ?? '')
  const quoted = rows.map(cell =>
    [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) =>
      text.split('…').map(part => part.trim()),
    ),
  )

  it('has messages', () => {
    expect(rows.length).toBeGreaterThan(40)
    for (const parts of quoted)
      expect(Math.max(...parts.map(({ length }) => length))).toBeGreaterThanOrEqual(10)
  })

  it.each(rows.map((row, index) => [row, quoted[index] ?? []] as const))(
    '%s is in the code',
    (_, parts) => {
      expect(parts.filter(part => part.length > 2 && !code.includes(part))).toEqual([])
    },
  )
})

describe('docs/air-gapped.md', () => {
  const text = read('docs/air-gapped.md')

  it('names every endpoint with what needs it, and no other', () => {
    const rows = [...text.matchAll(/^\| `([a-z0-9]+)` \| (?:interface|gateway) \| .+ \|$/gm)]
    // Services of src/clients, as PrivateLink names them.
    const called = [
      'eks',
      'ec2',
      'sts',
      's3',
      'ssm',
      'email',
      'sns',
      'events',
      'states',
      'monitoring',
      'kms',
    ]
    expect(rows.map(([, name]) => name)).toEqual(called)
    // SSM's agent, in the nodes' own subnets.
    for (const name of ['ssm', 'ssmmessages', 'ec2messages']) expect(text).toContain(`\`${name}\``)
  })
})

describe('README.md', () => {
  it('has at most 8 KB', () => {
    expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(8192)
  })

  it('names the minors that are proved: those with vectors, and no other is supported', () => {
    const minors = (text: string) =>
      [...text.matchAll(/1\.(\d+)(?: to 1\.(\d+))?/g)].flatMap(([, from = '', to = from]) =>
        Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index),
      )
    const row = (name: string) =>
      read('README.md')
        .split('\n')
        .find(line => line.startsWith(`| Kubernetes, ${name}`)) ?? ''
    const proved = globSync('test/vectors/v1.*').map(path => Number(path.split('v1.')[1]))
    expect(minors(row('proved'))).toEqual(proved.toSorted((a, b) => a - b))
    const all = Array.from({ length: 60 }, (_, minor) => minor)
    expect(all.filter(minor => featuresOf(`v1.${minor}.0`).exact)).toEqual(minors(row('proved')))
  })
})

/** A disk of 100 GiB, looked at in steps of 0.1 %, drawn with one character for 2 %. */
function figure(name: string, high: number, low: number, evictionHard: Record<string, string>) {
  const capacity = 100 * 1024 ** 3
  const availableAt = (tenths: number) => Math.floor((capacity * (1000 - tenths)) / 1000)
  const first = (isMet: (available: number) => boolean) =>
    Array.from({ length: 1001 }, (_, tenths) => tenths).find(tenths => isMet(availableAt(tenths)))!
  const thresholds = parseThresholdConfig({ evictionHard })
  const starts = first(available => usagePercentOf(capacity, available) >= high)
  const evicts = first(available => {
    const observed = { available, capacity, time: null }
    const observations = { 'nodefs.available': observed, 'imagefs.available': observed }
    return thresholdsMet(thresholds, observations, false).length > 0
  })
  const usage = { capacityBytes: capacity, availableBytes: 0, usagePercent: 100 }
  const frees = 1000 - Math.round((1000 * amountToFree(usage, low)) / capacity)
  const bar = Array.from({ length: 51 }, () => '-')
  for (const [mark, tenths] of [
    ['L', frees],
    ['G', starts - 1],
    ['E', evicts - 1],
  ] as const)
    bar[Math.round(tenths / 20)] = mark
  const percent = (tenths: number) => `${Math.round(tenths / 10)} %`
  const marks = `L ${percent(frees)}, G ${percent(starts - 1)}, E ${percent(evicts - 1)}`
  return `${name}\n0 % ${bar.join('')} 100 %\n${marks}\n`
}

describe('docs/image-gc-and-eviction.md', () => {
  it('shows what the replay computes', () => {
    const figures = [
      figure('Amazon Linux 2023: 85/80, nodefs.available<10%', 85, 80, {
        'nodefs.available': '10%',
      }),
      figure('upstream: 85/80, nodefs.available<10%, imagefs.available<15%', 85, 80, {
        'nodefs.available': '10%',
        'imagefs.available': '15%',
      }),
      figure('85/80, nodefs.available<20%', 85, 80, { 'nodefs.available': '20%' }),
      figure('70/60, nodefs.available<10%', 70, 60, { 'nodefs.available': '10%' }),
    ].join('\n')
    const text = read('docs/image-gc-and-eviction.md')
    const [, shown] = /<!-- figures -->\n```text\n([^`]*)```\n<!-- \/figures -->/.exec(text) ?? []
    expect(shown).toBe(figures)
  })
})
