import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openKeptFile } from '#pipeline/audit/kept-file.ts'

const parent = mkdtempSync(join(tmpdir(), 'kept-file-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))

describe('a kept file', () => {
  it('reads each value again, as often as it is asked, and has no name', () => {
    const { keep, close } = openKeptFile(parent)
    const values = [{ name: 'é'.repeat(9) }, [], { lines: [1, null, 'x'] }, 'text']
    const reads = values.map(value => keep(value))
    expect(reads.toReversed().map(read => read())).toEqual(values.toReversed())
    expect(reads[0]?.()).not.toBe(values[0])
    expect(readdirSync(parent)).toEqual([])
    close()
  })

  it('is memory from the first write that fails', () => {
    const { keep, close } = openKeptFile(parent)
    close()
    const value = { kept: true }
    expect(keep(value)()).toBe(value)
  })

  it('is memory, if the folder cannot be written', () => {
    const value = { kept: true }
    const { keep, close } = openKeptFile(join(parent, 'missing'))
    expect(keep(value)()).toBe(value)
    close()
  })
})
