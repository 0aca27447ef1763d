/** Snapshots from strangers: what they may cost. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { InputErrors } from '#model/input/input-errors.ts'
import type { MalformedLine, SnapshotRecord } from '#model/input/record.ts'
import { readSnapshot } from '#snapshot/read.ts'
import { temporaryFolder } from '#test/cli.ts'

const header =
  '{"kind":"Snapshot","schema":"highwater.snapshot/1","takenAt":"2026-11-21T05:00:00Z"}\n'

function file(text: string): string {
  const path = join(temporaryFolder(), 'snapshot.ndjson.gz')
  writeFileSync(path, gzipSync(header + text))
  return path
}

const numbered = (length: number) => Array.from({ length }, (_, index) => `"k${index}":1`).join(',')

describe('a hostile snapshot', () => {
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
