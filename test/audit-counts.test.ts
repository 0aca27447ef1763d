/** How many requests an audit takes, how many bytes it parses, and how many raw answers it keeps. Times: `npm run bench -- audit`. */
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import packageJson from '#package.json' with { type: 'json' }
import { liveFleet } from '#pipeline/audit/fleet.ts'
import { prune } from '#snapshot/prune.ts'
import { labOf } from '#test/lab-audit.ts'
import { auditOnce, auditRows } from './bench/parts/audit.ts'

const program = [resolve(packageJson.bin.highwater)]

describe('an audit through the API server', () => {
  it('takes three requests a node beside its lists, and parses nothing twice', async () => {
    const rows = await auditRows(4, { program, runs: 1, hasPeers: false, say: () => undefined })
    const few = rows.map(({ name, requests, bodyBytes }) => ({ name, requests, bodyBytes }))
    const more = await auditOnce(14, program)
    expect(few.map(({ name }) => name)).toEqual(['audit', 'collect', 'floor'])
    const [audit, collect, floor] = few
    expect(collect).toEqual({ ...audit, name: 'collect' })
    expect(floor).toEqual({ ...audit, name: 'floor' })
    expect(more.requests - audit!.requests).toBe(3 * 10)
    const bytesPerNode = (more.bodyBytes - audit!.bodyBytes) / 10
    expect(bytesPerNode).toBeGreaterThan(150_000)
    expect(bytesPerNode).toBeLessThan(180_000)
  })

  it('keeps no raw answer in the record of a node, and one object of equal configurations', async () => {
    await labOf([fleet({ nodes: 6, isEdited: false })])
    const { signal } = new AbortController()
    const source = liveFleet({ policy: defaultPolicy, selection: everything, signal })
    const nodes = (await Array.fromAsync(source)).filter(record => record.kind === 'Node')
    const parts = ['node', 'configz', 'summary', 'pods'] as const
    // To cut a part again changes nothing.
    const isRaw = (record: (typeof nodes)[number]) =>
      parts.filter(
        part =>
          !record[part] || JSON.stringify(prune(record)[part]) !== JSON.stringify(record[part]),
      )
    expect(nodes.flatMap(isRaw)).toEqual([])
    const configurations = nodes.map(({ configz }) => configz)
    const texts = configurations.map(configz => JSON.stringify(configz))
    expect(new Set(configurations).size).toBe(new Set(texts).size)
    expect(nodes).toHaveLength(6)
  })
})
