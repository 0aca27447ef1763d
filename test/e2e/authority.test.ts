/** The certificate authority of an API server changes while the service lives: it is read from EKS at each run, and always checked. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recorded } from '#lab/scenarios/recorded.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invoke } from '#test/lambda.ts'

const tick = (day: number) => ({
  source: 'highwater.schedule',
  scheduledTime: `2026-11-${day}T05:00:00Z`,
})
const read = (answer: Awaited<ReturnType<typeof invoke>>) =>
  answer.clusters.map(({ coverage }) => coverage.read)

describe('a function that lives on when the authority is rotated', { timeout: 60_000 }, () => {
  it.each(['new', 'both'] as const)('reads it anew: EKS shows %s', async shown => {
    const world = await labOf([recorded], { storeFolder: temporaryFolder() })
    expect(read(await invoke(tick(21)))).toEqual([2])
    world.rotateAuthority('recorded', shown)
    expect(read(await invoke(tick(22)))).toEqual([2])
  })

  it('sends nothing to a server that EKS does not vouch for, and says what is wrong', async () => {
    const storeFolder = temporaryFolder()
    const world = await labOf([recorded], { storeFolder })
    expect(read(await invoke(tick(21)))).toEqual([2])
    world.rotateAuthority('recorded', 'old')
    const asked = () =>
      JSON.stringify(
        Object.entries(world.requests().routes).filter(([api]) => api.startsWith('kubernetes')),
      )
    const before = asked()
    expect(before).toContain('listNodes')
    await expect(invoke(tick(22))).rejects.toThrow(
      /no node was read: of 1 cluster it is not known which nodes there are/,
    )
    expect(asked()).toBe(before)
    const findings: FindingsDocument = JSON.parse(
      readFileSync(
        join(storeFolder, 'highwater-lab/runs/2026-11-22T05-00-00Z/findings.json'),
        'utf8',
      ),
    )
    expect(findings.notAudited[0]?.reason).toMatch(
      /not signed by the cluster's CA, or the CA has been rotated. Nothing was sent/,
    )
  })
})
