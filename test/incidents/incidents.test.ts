import { describe, expect, it } from 'vitest'
import { incidents } from './cases/index.ts'
import { judgedIncident } from './judged.ts'

it('names a thread for each incident, and each incident once', () => {
  expect(new Set(incidents.map(({ name }) => name)).size).toBe(incidents.length)
  for (const { thread } of incidents) expect(() => new URL(thread)).not.toThrow()
})

describe.each(incidents)('$name ($thread)', incident => {
  it('is read and judged in full', async () => {
    const { document, nodes, ruleErrors } = await judgedIncident(incident)
    expect(ruleErrors).toEqual([])
    expect(document.run.inputErrors).toEqual([])
    const { coverage } = document.clusters[0]!
    expect(coverage.notRead).toBe(0)
    // What the world says that the node holds is what the ledger explains.
    for (const { ledger, mode } of nodes)
      if (mode === 'both')
        for (const { lines, usedBytes } of ledger?.filesystems ?? [])
          expect(lines.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(usedBytes)
  })
})
