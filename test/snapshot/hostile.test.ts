/** Snapshots from strangers: what they may cost. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  InputErrors,
  type MalformedLine,
  type ObjectsRecord,
  type SnapshotRecord,
} from '#model/input/record.ts'
import { readSnapshot } from '#snapshot/read.ts'
import { temporaryFolder } from '#test/cli.ts'
import { isSlow } from '#test/slow.ts'

const header =
  '{"kind":"Snapshot","schema":"highwater.snapshot/1","takenAt":"2026-11-21T05:00:00Z"}\n'

function file(text: string): string {
  const path = join(temporaryFolder(), 'snapshot.ndjson.gz')
  writeFileSync(path, gzipSync(header + text))
  return path
}

const numbered = (length: number) => Array.from({ length }, (_, index) => `"k${index}":1`).join(',')

const pieces = ['password=a ', '| password | a |\n']
/** Lines of a record whose texts are as long as they may be. */
const longRecords: [name: string, record: (text: (index: number) => string) => object][] = [
  [
    'errors of a node',
    text => ({
      ...{ kind: 'Node', cluster: 'c', node: { metadata: { name: 'a' } } },
      errors: Array.from({ length: 900 }, (_, index) => ({ what: 'pods', message: text(index) })),
    }),
  ],
  [
    'messages of pods',
    text => ({
      ...{ kind: 'Node', cluster: 'c', node: { metadata: { name: 'a' } } },
      pods: Array.from({ length: 900 }, (_, index) => ({
        ...{ metadata: { name: `p${index}` }, status: { message: text(index) } },
      })),
    }),
  ],
]

describe('a hostile snapshot', () => {
  it.each(
    longRecords.flatMap(([name, record], index) =>
      // Each kind of record, and each piece.
      (isSlow ? pieces : [pieces[index]!]).map(piece => [name, piece, record] as const),
    ),
  )('loses most %s of %j: redaction of all would take seconds', async (_, piece, record) => {
    const text = (index: number) =>
      `${index} could not ${piece.repeat(Math.ceil(10_000 / piece.length))}`
    const path = join(temporaryFolder(), 'snapshot.ndjson')
    writeFileSync(path, `${header}${JSON.stringify(record(text))}\n`)
    const read = JSON.stringify((await Array.fromAsync(readSnapshot(path)))[1])
    const kept = new Set(read.match(/"\d+ could not /g))
    expect(kept.size).toBeGreaterThan(10)
    expect(kept.size).toBeLessThan(450)
  })

  it('keeps names, paths and digests behind the messages that are lost', async () => {
    const image = `registry.example.com/shop/web@sha256:${'0123456789abcdef'.repeat(4)}`
    const message = 'could not: token a b '.repeat(150)
    const pods = [
      ...Array.from({ length: 300 }, (_, index) => ({
        ...{ metadata: { name: 'a' }, status: { message: `${index} ${message}` } },
      })),
      { metadata: { name: 'b' }, spec: { containers: [{ name: 'c', image }] } },
    ]
    const path = join(temporaryFolder(), 'snapshot.ndjson')
    const node = { kind: 'Node', cluster: 'c', node: { metadata: { name: 'a' } }, pods }
    writeFileSync(path, `${header}${JSON.stringify(node)}\n`)
    const [, record] = await Array.fromAsync(readSnapshot(path))
    expect(record).toHaveProperty('pods.0.status.message', `0 ${message}`)
    expect(record).toHaveProperty('pods.299.status.message', '(removed)')
    expect(record).toHaveProperty('pods.300.spec.containers.0.image', image)
  })

  it('keeps the message of a pod beside 60 pods with messages of 30,000 characters', async () => {
    const long = 'could not: token a b '.repeat(1_500)
    const reason = 'The node was low on resource: memory. Container web was using 512Mi.'
    const pods = [...Array.from({ length: 60 }, () => long), reason].map((message, index) => ({
      ...{ metadata: { name: `p${index}` }, status: { message } },
    }))
    const path = join(temporaryFolder(), 'snapshot.ndjson')
    const node = { kind: 'Node', cluster: 'c', node: { metadata: { name: 'a' } }, pods }
    writeFileSync(path, `${header}${JSON.stringify(node)}\n`)
    const [, record] = await Array.fromAsync(readSnapshot(path))
    expect(record).toHaveProperty('pods.60.status.message', reason)
  })

  it('is read in pages of 500 objects, each redacted by itself', async () => {
    const message = `could not ${'password=a '.repeat(1_000)}`
    const items = Array.from({ length: 1_100 }, (_, index) => ({ message: `${index} ${message}` }))
    const path = join(temporaryFolder(), 'snapshot.ndjson')
    const events = { kind: 'Objects', cluster: 'c', resource: 'events', items }
    writeFileSync(path, `${header}${JSON.stringify(events)}\n`)
    const [, ...pages] = await Array.fromAsync(readSnapshot(path))
    const read = pages.map(page => (page.kind === 'Objects' ? page.items : []))
    expect(read.map(({ length }) => length)).toEqual([500, 500, 100])
    expect(read.flat().map(({ message }) => String(message).slice(0, 20))).toEqual(
      items.map(({ message }) => message.slice(0, 20)),
    )
  })

  const selecting = (text: string) => ({
    spec: {
      selector: {
        matchLabels: Object.fromEntries([...'abcdefghijkl'].map(key => [key, `${key} ${text}`])),
      },
    },
  })
  it.each([
    ['a fact', 'poddisruptionbudgets.policy', selecting, 13, true],
    ['no fact', 'poddisruptionbudgets.policy', selecting, 3, false],
    ['an event', 'events', (reason: string) => ({ reason, message: `${reason} x` }), 250, true],
    ['no event', 'events', (message: string) => ({ message }), 10, false],
  ])('names a resource of which %s is lost', async (_, resource, item, repeats, isCut) => {
    const items = Array.from({ length: 500 }, (_, index) =>
      item(`token=secret${index} `.repeat(repeats)),
    )
    const path = join(temporaryFolder(), 'snapshot.ndjson')
    const written = { kind: 'Objects', cluster: 'c', resource, items }
    writeFileSync(path, `${header}${JSON.stringify(written)}\n`)
    const [, record] = await Array.fromAsync(readSnapshot(path))
    const { errors } = record as ObjectsRecord
    const cut = errors?.map(({ what, reason }) => ({ what, reason }))
    expect(cut).toEqual(isCut ? [{ what: resource, reason: 'cut' }] : undefined)
  })

  it('loses a map of more labels than an object has', async () => {
    const labels = (count: number) =>
      `{"kind":"Node","cluster":"c","node":{"metadata":{"name":"a","labels":{${numbered(count).replaceAll(':1', ':"v"')}}}}}\n`
    const [, many, few] = await Array.fromAsync(readSnapshot(file(labels(1_001) + labels(1_000))))
    expect(many).toMatchObject({ kind: 'Node', node: { metadata: { name: 'a' } } })
    expect(many).not.toHaveProperty('node.metadata.labels')
    expect(few).toHaveProperty('node.metadata.labels.k999', 'v')
  })

  it('is not read after the lines that its packed length allows', async () => {
    const read = await Array.fromAsync(readSnapshot(file('x\n'.repeat(300_000))))
    expect(read.length).toBeGreaterThan(3_000)
    expect(read.length).toBeLessThan(3_100)
    expect(read.at(-1)).toMatchObject({ kind: 'Malformed' })
  })

  it.each([
    ['configz nested 5,000 levels', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['configz nested 100,000 levels', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['configz of 4,000,000 values', `{"a":[${'0,'.repeat(4_000_000)}0]}`],
    ['configz of 3,000 thresholds', `{"a":{${numbered(3_000)}}}`],
  ])('loses the line of a node with a %s, and no other', async (_, configz) => {
    const node = (name: string, body: string) =>
      `{"kind":"Node","cluster":"c","node":{"metadata":{"name":"${name}"}},"configz":${body}}\n`
    const path = join(temporaryFolder(), 'snapshot.ndjson')
    writeFileSync(path, header + node('bad', configz) + node('good', '{}'))
    const read = await Array.fromAsync(readSnapshot(path))
    expect(read.map(({ kind }) => kind)).toEqual(['Snapshot', 'Malformed', 'Node'])
  })

  it('loses a node whose kubelet has more values in its files than real ones', async () => {
    const read = await Array.fromAsync(
      readSnapshot(
        file(
          `{"kind":"Node","cluster":"c","node":{"metadata":{"name":"a"}},"host":{"kubelet":{"files":[{"content":{${numbered(20_000)}}}]}}}\n`,
        ),
      ),
    )
    expect(read.map(({ kind }) => kind)).toEqual(['Snapshot', 'Malformed'])
  })

  it('is left at once when the run ends', async () => {
    const end = new AbortController()
    const read: (SnapshotRecord | MalformedLine)[] = []
    const reading = (async () => {
      for await (const record of readSnapshot(
        file('{"kind":"Cluster","cluster":"c"}\n'.repeat(100_000)),
        { signal: end.signal },
      ))
        if (read.push(record) === 10) end.abort(new Error('stopped'))
    })()
    await expect(reading).rejects.toThrow('stopped')
    expect(read.length).toBeLessThan(5_000)
  })
})

it('keeps a hundred input errors and counts the rest', () => {
  const errors = new InputErrors(Array.from({ length: 150 }, (_, index) => `error ${index}`))
  expect(errors.list()).toHaveLength(101)
  expect(errors.list().at(-1)).toBe('and 50 more')
})
