/** In the demo, each node with a finding about its disk shows what holds it: on the page and in the terminal with --verbose. The mail shows the nodes of its verdict. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import type { FindingsDocument } from '#model/finding/finding.ts'
import { english } from '#report/languages/language.ts'
import { highwater, temporaryFolder } from '#test/cli.ts'

const { words } = english

vi.setConfig({ testTimeout: 240_000 })

const diskFamilies = ['image-gc', 'eviction', 'logs', 'container-gc']
const lineBreaks = /\s+/g
const flat = (text: string) => text.replaceAll('\u00a0', ' ').replace(lineBreaks, ' ')

/** `name, cluster name`, by findings alone. */
function nodesWithFindings({ findings }: FindingsDocument): string[] {
  const about = findings.filter(({ family }) => diskFamilies.includes(family))
  expect(about.filter(({ nodes }) => nodes.count > nodes.sample.length)).toEqual([])
  const places = about.flatMap(({ cluster, nodes }) =>
    nodes.sample.map(name => `${name}, cluster ${cluster}`),
  )
  return [...new Set(places)].toSorted()
}

/** Nodes that report the size of a disk. From Bottlerocket's control container none is seen. */
function nodesWithDisk(snapshot: string): Set<string> {
  const records = gunzipSync(readFileSync(snapshot)).toString().trim().split('\n')
  return new Set(
    records
      .map(line => JSON.parse(line))
      .filter(
        ({ summary, host }) => summary?.node?.fs !== undefined || host?.filesystems?.length > 0,
      )
      .map(({ node, cluster }) => `${node.metadata.name}, cluster ${cluster}`),
  )
}

/** Texts after each node's name, up to the next one. */
function textsOf(output: string, places: readonly string[]): string[] {
  const found = flat(output)
  return places.map(place =>
    found
      .split(place)
      .slice(1)
      .map(text => text.split(', cluster ')[0])
      .join(' '),
  )
}

it('shows the ledger of each node with a finding about its disk', async () => {
  const out = join(temporaryFolder(), 'out')
  expect((await highwater(['demo', '--out', out])).code).toBe(0)
  const read = (name: string) => readFileSync(join(out, name), 'utf8')
  const terminal = await highwater([
    'audit',
    '--verbose',
    '--snapshot',
    join(out, 'snapshot.ndjson.gz'),
    '--out',
    join(out, 'again'),
  ])
  const document = JSON.parse(read('findings.json')) as FindingsDocument
  const sum = (part: 'nodes' | 'read' | 'partlyRead') =>
    document.clusters.reduce((total, { coverage }) => total + coverage[part], 0)
  // One number each: the verdict counts as findings.json does.
  const scope = words.verdict.scope(
    document.clusters.length,
    sum('read'),
    sum('nodes'),
    sum('partlyRead'),
  )
  for (const text of [read('report.html'), read('email.txt'), terminal.stdout]) {
    expect(flat(text)).toContain(flat(scope))
  }
  const html = read('report.html')
  const targets = [...html.matchAll(/ href="#([^"?]+)/g)].map(([, id]) => id)
  expect(targets.filter(id => !html.includes(` id="${id}"`))).toEqual([])
  const withDisk = nodesWithDisk(join(out, 'snapshot.ndjson.gz'))
  const places = nodesWithFindings(document)
  expect(places.filter(place => withDisk.has(place)).length).toBeGreaterThan(15)
  const outputs = {
    page: read('report.html').split('id="ledger"')[1] ?? '',
    terminal: terminal.stdout.split(words.ledger.title)[1] ?? '',
  }
  const mail = flat(read('email.txt').split(words.mail.headings.causes)[0] ?? '')
  expect(
    mail.match(/ of \d[\d.,]* [KMG]iB, \d[\d.,]* [KMG]iB free | [KMG]iB are (?!short)/g),
  ).toHaveLength(4)
  for (const [name, output] of Object.entries(outputs)) {
    const texts = textsOf(output, places)
    const isRead = (place: string) => withDisk.has(place)
    // The used bytes and the largest holders of a disk. Nodes without a size of a disk are named as such.
    const without = places.filter((place, index) => {
      const [before = '', after] = flat(output).split(place, 2)
      if (!isRead(place))
        return after === undefined || !/no size of a disk was read: [^:]*$/.test(before)
      return !/\d [KMG]iB of \d[\d.,]* [KMG]iB used\b.*\d [KMG]iB/.test(texts[index] ?? '')
    })
    expect({ name, without }).toEqual({ name, without: [] })
  }
})
