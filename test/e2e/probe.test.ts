/** A cluster that grants nobody its kubelets: what is found there is told by scripts that really run, one on each node's own machine. */
import { expect, it } from 'vitest'
import { incidents } from '#lab/scenarios/incidents.ts'
import { probe } from '#lab/scenarios/probe.ts'
import { auditLive, firedRules, labOf } from '#test/lab-audit.ts'

const generous = { timeout: 60_000 }
const ssm = { modes: [{ match: {}, mode: 'ssm' as const }] }
const { nodes: expected } = probe.expect()

it('fires by SSM every rule where the scenario says, and nowhere else, without asking a kubelet', generous, async () => {
  const lab = await labOf([probe])
  const { document } = await auditLive({ policy: ssm })
  const named = expected.filter(({ rules }) => rules.length > 0)
  expect(firedRules(document)).toEqual(Object.fromEntries(named.map(({ cluster, node, rules }) => [`${cluster}/${node}`, [...rules]])))
  expect(lab.requests().routes['kubernetes/probe']).not.toHaveProperty('configz')
  expect(lab.requests().routes['kubernetes/probe']).not.toHaveProperty('stats/summary')
  const unread = expected.filter(({ rules }) => rules.includes('unread-node')).length
  expect(document.clusters[0]?.coverage).toMatchObject({ read: expected.length - unread, partlyRead: unread, notRead: 0 })
})

it('can say of none of these nodes through the API server what it runs with', generous, async () => {
  await labOf([probe])
  const { document } = await auditLive()
  const fired = firedRules(document)
  expect(Object.keys(fired)).toHaveLength(expected.length)
  expect(Object.values(fired).every(rules => rules.includes('unread-node'))).toBe(true)
})

it('finds by SSM why a kubelet does not answer', generous, async () => {
  await labOf([incidents])
  const refused = 'incidents/ip-10-0-1-41.ec2.internal'
  expect(firedRules((await auditLive()).document)[refused]).toEqual(['unread-node'])
  expect(firedRules((await auditLive({ policy: ssm })).document)[refused]).toContain('invalid-kubelet-configuration')
})
