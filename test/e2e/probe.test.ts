/** A cluster that grants nobody its kubelets: what is found there is told by scripts that really run, one on each node's own machine. */
import '#test/short-waits.ts'
import { expect, it } from 'vitest'
import { incidents } from '#lab/scenarios/incidents.ts'
import { probe } from '#lab/scenarios/probe.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding.ts'
import type { Policy } from '#model/policy.ts'
import { auditLive, firedRules, labOf } from '#test/lab-audit.ts'

const generous = { timeout: 60_000 }
const ssm = { modes: [{ match: {}, mode: 'ssm' as const }] }
const { nodes: expected } = probe.expect()

type Certainty = FindingsDocument['findings'][number]['confidence'] | 'open' | 'nothing'

type Mode = 'proxy' | 'ssm' | 'both'

/** What each way of reading can say of the node that the scenario made for a rule. */
const named: [rule: string, address: string, found: Record<Mode, Certainty>][] = [
  ['unpinned-sandbox-image', '10-0-5-13', { proxy: 'open', ssm: 'certain', both: 'certain' }],
  ['memory-cgroup-leak', '10-0-5-12', { proxy: 'open', ssm: 'certain', both: 'certain' }],
  ['dead-container-pile', '10-0-5-31', { proxy: 'open', ssm: 'certain', both: 'certain' }],
  ['log-rotation-drift', '10-0-5-23', { proxy: 'open', ssm: 'certain', both: 'certain' }],
  // The Node object names fifty images; there may be others that could go.
  ['unreachable-gc-low-threshold', '10-0-5-32', { proxy: 'open', ssm: 'likely', both: 'certain' }],
  // What runs only the kubelet tells: to its API server, or to root, where its certificate lets him in.
  ['lost-on-the-way', '10-0-5-41', { proxy: 'open', ssm: 'likely', both: 'certain' }],
  ['changed-not-restarted', '10-0-5-11', { proxy: 'open', ssm: 'open', both: 'certain' }],
  ['changed-not-restarted', 'probe-worker-1', { proxy: 'open', ssm: 'certain', both: 'certain' }],
]

it(
  'fires by SSM every rule where the scenario says, and nowhere else, without asking a kubelet',
  generous,
  async () => {
    const lab = await labOf([probe])
    const { document } = await auditLive({ policy: ssm })
    const told = expected.filter(({ rules }) => rules.length > 0)
    expect(firedRules(document)).toEqual(
      Object.fromEntries(
        told.map(({ cluster, node, rules }) => [`${cluster}/${node}`, [...rules]]),
      ),
    )
    expect(lab.requests().routes['kubernetes/probe']).not.toHaveProperty('configz')
    expect(lab.requests().routes['kubernetes/probe']).not.toHaveProperty('stats/summary')
    const unread = expected.filter(({ rules }) => rules.includes('unread-node')).length
    expect(document.clusters[0]?.coverage).toMatchObject({
      read: expected.length - unread,
      partlyRead: unread,
      notRead: 0,
    })
    expectCertainties(document, 'ssm')
  },
)

/** Everybody may read the kubelets, too. */
const open: Scenario = {
  ...probe,
  clusters: probe.clusters.map(({ access: _, ...cluster }) => cluster),
}

function expectCertainties({ findings, unknowns }: FindingsDocument, mode: Mode) {
  const certaintyOf = (rule: string, address: string): Certainty => {
    const isThere = (entry: { rule: string; nodes: { sample: readonly string[] } }) =>
      entry.rule === rule && entry.nodes.sample.some(name => name.includes(address))
    return findings.find(isThere)?.confidence ?? (unknowns.some(isThere) ? 'open' : 'nothing')
  }
  expect(named.map(([rule, address]) => [rule, address, certaintyOf(rule, address)])).toEqual(
    named.map(([rule, address, found]) => [rule, address, found[mode]]),
  )
}

// The audit above is the one of mode ssm: it asks no kubelet, whoever may read it.
it.each(['proxy', 'both'] as const)(
  'says in mode %s of each rule as much as its source can tell',
  generous,
  async mode => {
    await labOf([open])
    const { document } = await auditLive({ policy: { modes: [{ match: {}, mode }] } })
    expectCertainties(document, mode)
  },
)

it(
  'can say of none of these nodes through the API server what it runs with',
  generous,
  async () => {
    await labOf([probe])
    const { document } = await auditLive()
    const fired = firedRules(document)
    expect(Object.keys(fired)).toHaveLength(expected.length)
    expect(Object.values(fired).every(rules => rules.includes('unread-node'))).toBe(true)
  },
)

it('finds by SSM why a kubelet does not answer', generous, async () => {
  await labOf([incidents])
  const refused = 'ip-10-0-1-41.ec2.internal'
  const rulesBy = async (policy: Partial<Policy>) => {
    const { document } = await auditLive({ policy, selection: { nodes: [refused] } })
    return firedRules(document)[`incidents/${refused}`]
  }
  expect(await rulesBy({})).toEqual(['unread-node'])
  expect(await rulesBy(ssm)).toContain('invalid-kubelet-configuration')
})
