/** Clusters whose API server is somewhere else: in a VPC of its own, or on an Outpost. */
import { expect, it } from 'vitest'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'

async function audited(cluster: Partial<ClusterScenario>) {
  await labOf([scenario([{ name: 'c', nodes: nodes(1), ...cluster }])])
  const { document } = await auditLive()
  return {
    read: document.clusters.map(({ coverage }) => coverage.read),
    reasons: document.notAudited.map(({ reason }) => reason),
  }
}
const closed = { faults: { endpoint: 'closed-port' } } as const
const isPrivate =
  'The endpoint is private: only its VPC, and what is routed to it, can reach it on port 443'

it('a private endpoint that does not answer has its own error', async () => {
  expect((await audited({ ...closed, privateEndpoint: true })).reasons).toEqual([
    expect.stringMatching(`refused the connection.*${isPrivate}`),
  ])
})

it('an open endpoint that does not answer is not, nor is a private one that refuses the identity', async () => {
  expect((await audited(closed)).reasons).toEqual([expect.not.stringContaining('private')])
  const refused = await audited({ privateEndpoint: true, access: {} })
  expect(refused.reasons).toEqual([expect.stringMatching(/40[13]/)])
  expect(refused.reasons).toEqual([expect.not.stringContaining('private')])
})

it('a private endpoint that can be reached is read as any other', async () => {
  expect(await audited({ privateEndpoint: true })).toEqual({ read: [1], reasons: [] })
})

it('a local cluster on an Outpost is entered by its id', async () => {
  expect(await audited({ localId: 'b1946ac9-2492-d234-7c62-35b4d2611184' })).toEqual({
    read: [1],
    reasons: [],
  })
})
