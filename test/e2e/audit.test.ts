/** From a lab to the report: every scenario says what an audit of it should find. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { garbageResources } from '#facts/kubernetes/garbage-resources.ts'
import { faults } from '#lab/scenarios/faults.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { everything } from '#model/input/record.ts'
import { savedFleet } from '#pipeline/audit/fleet.ts'
import { auditLive, auditRecords, firedRules, labOf, nodesWithDetails } from '#test/lab-audit.ts'

/** Time-outs that a healthy lab keeps easily, and that keep a hanging node from holding up the test. */
const timeoutsMs = { list: 2000, configz: 400, summary: 400, inspect: 2000 }

function expectedRules(scenarios: Scenario[]): Record<string, string[]> {
  const named = scenarios
    .flatMap(scenario => scenario.expect().nodes)
    .filter(({ rules }) => rules.length > 0)
  return Object.fromEntries(
    named.map(({ cluster, node, rules }) => [`${cluster}/${node}`, [...rules].toSorted()]),
  )
}

describe.each([
  ['recorded and incidents', [recorded, incidents]],
  ['a generated fleet', [fleet({ nodes: 60, seed: 3 })]],
])('%s', (_, scenarios) => {
  it('fires every rule where the scenario says, and nowhere else', async () => {
    await labOf(scenarios)
    const { document } = await auditLive()
    expect(firedRules(document)).toEqual(expectedRules(scenarios))
  })

  it('lists every node in the report', async () => {
    await labOf(scenarios)
    const { nodes, files } = await auditLive()
    const names = scenarios.flatMap(({ clusters }) =>
      clusters.flatMap(cluster => cluster.nodes.names()),
    )
    expect(nodes.map(({ identity }) => identity.name).toSorted()).toEqual(names.toSorted())
    const page = files.find(({ name }) => name === 'report.html')?.body ?? ''
    expect(names.filter(name => !page.includes(name))).toEqual([])
  })

  it('gives the same findings from the snapshot that the live audit saved', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'highwater-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    await labOf(scenarios)
    const snapshotPath = join(folder, 'snapshot.ndjson.gz')
    const live = await auditLive({ snapshotPath })
    const saved = await auditRecords(savedFleet(snapshotPath, everything))
    expect(JSON.stringify(saved.document)).toBe(JSON.stringify(live.document))
    expect(nodesWithDetails(saved)).toEqual(nodesWithDetails(live))
  })
})

describe('a world with faults', () => {
  it('is reported all the same, with every fault named', async () => {
    await labOf([faults, recorded])
    const { document, nodes, files } = await auditLive({ policy: { timeoutsMs } })
    expect(firedRules(document)).toEqual(expectedRules([faults, recorded]))
    const wholeClusters = document.notAudited
      .filter(({ node }) => node === null)
      .map(({ cluster }) => cluster)
    expect(wholeClusters).toEqual([...faults.expect().notAudited].toSorted())
    for (const { reason } of document.notAudited) expect(reason.length).toBeGreaterThan(20)
    const reasons = Object.fromEntries(
      nodes
        .filter(({ coverage }) => coverage !== 'read')
        .map(({ identity, errors }) => [identity.name, errors]),
    )
    expect(Object.keys(reasons).length).toBeGreaterThanOrEqual(3)
    for (const name of Object.keys(reasons)) expect(files[0]?.body).toContain(name)
  })

  it('opens few connections and asks every node once', async () => {
    const lab = await labOf([fleet({ nodes: 100 })])
    await auditLive()
    const { connections, routes } = lab.requests()
    expect(connections['kubernetes/fleet']).toBeLessThanOrEqual(20)
    expect(routes['kubernetes/fleet']).toEqual({
      listNodes: 1,
      // Beside each node's own: those of no node, and those that are over.
      listPods: 102,
      configz: 100,
      'stats/summary': 100,
      listEvents: 1,
      'list poddisruptionbudgets': 1,
      'group karpenter.sh': 1,
      'group karpenter.k8s.aws': 1,
      'group eks.amazonaws.com': 1,
      ...Object.fromEntries(
        garbageResources.map(({ resource }) => [`list ${resource.split('.')[0]}`, 1]),
      ),
      version: 1,
    })
  })
})

describe('the deadline', () => {
  it('ends the run with what was read, and names what was not reached', async () => {
    const lab = await labOf([fleet({ nodes: 60 })])
    const controller = new AbortController()
    const pace = { requestsPerSecond: 50, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 5 }
    const answered = () => lab.requests().routes['kubernetes/fleet']?.['stats/summary'] ?? 0
    const watch = setInterval(
      () => answered() >= 40 && controller.abort(new Error('not reached before the deadline')),
      5,
    )
    onTestFinished(() => clearInterval(watch))
    const { document, nodes } = await auditLive({ policy: { pace }, signal: controller.signal })
    expect(nodes).toHaveLength(60)
    const { read, partlyRead, notRead } = document.clusters[0]?.coverage ?? {
      read: 0,
      partlyRead: 0,
      notRead: 0,
    }
    expect(read).toBeGreaterThan(3)
    expect(partlyRead + notRead).toBe(60 - read)
    expect(JSON.stringify(document.findings)).toContain('reached before the deadline')
  })
})

describe('a disk that takes no snapshot', () => {
  it('costs the snapshot and not the audit', async () => {
    await labOf([recorded])
    const result = await auditLive({ snapshotPath: '/dev/full/snapshot.ndjson' })
    expect(result.document.clusters[0]?.coverage.read).toBe(2)
    expect(result.deliveries).toMatchObject([
      {
        channel: 'snapshot',
        location: null,
        error: expect.stringContaining('/dev/full/snapshot.ndjson'),
      },
    ])
  })
})

describe('what the world says', () => {
  it('is what the report says: other numbers, other findings', async () => {
    const everyNode = (
      scenario: Scenario,
      change: (configz: Record<string, unknown>) => void,
    ): Scenario => ({
      ...scenario,
      clusters: scenario.clusters.map(cluster => ({
        ...cluster,
        nodes: {
          names: cluster.nodes.names,
          node(name) {
            const node = cluster.nodes.node(name)
            return node && { ...node, configz: at => changed(node.configz(at), change) }
          },
        },
      })),
    })
    await labOf([
      everyNode(recorded, configz =>
        Object.assign(configz, { imageGCHighThresholdPercent: 75, imageGCLowThresholdPercent: 60 }),
      ),
    ])
    const { document } = await auditLive()
    expect(document.findings.filter(({ rule }) => rule === 'alert-before-image-gc')).toEqual([])
  })
})

function changed(
  body: Record<string, unknown>,
  change: (configz: Record<string, unknown>) => void,
): Record<string, unknown> {
  const copy = structuredClone(body)
  change(copy.kubeletconfig as Record<string, unknown>)
  return copy
}
