/** How many requests an audit takes, and how many bytes it parses. Times: `npm run bench -- audit`. */
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import packageJson from '#package.json' with { type: 'json' }
import { auditRows } from './bench/parts/audit.ts'

const program = [resolve(packageJson.bin.highwater)]

const pairOf = async (nodes: number) => {
  const rows = await auditRows(nodes, { program, runs: 1, hasPeers: false, say: () => undefined })
  return rows.map(({ name, requests, bodyBytes }) => ({ name, requests, bodyBytes }))
}

describe('an audit through the API server', () => {
  it('takes three requests a node beside its lists, and parses nothing twice', async () => {
    const few = await pairOf(4)
    const more = await pairOf(14)
    expect(few.map(({ name }) => name)).toEqual(['audit', 'floor'])
    const [audit, floor] = few
    expect(floor).toEqual({ ...audit, name: 'floor' })
    expect(more[0]!.requests - audit!.requests).toBe(3 * 10)
    const bytesPerNode = (more[0]!.bodyBytes - audit!.bodyBytes) / 10
    expect(bytesPerNode).toBeGreaterThan(150_000)
    expect(bytesPerNode).toBeLessThan(180_000)
  })
})
