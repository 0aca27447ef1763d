import { describe, expect, it } from 'vitest'
import type { Insight } from '#model/input/record.ts'
import type { AuditedNode } from '#model/report.ts'
import { openNextUpgrades } from '#pipeline/audit/fleet-upgrade.ts'
import { withNewerReleases } from '#pipeline/audit/newer-releases.ts'
import { withKubelet } from '#replay/kubelet-upgrade.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { pageView, upgradesView } from '#report/page/view.ts'
import { clusterOf, inputOf } from '#test/at-the-door.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'
import {
  auditedNode,
  clusterResult,
  findingsDocument,
  nodegroup,
  quietReport,
  sharedDisk,
} from '#test/report-builder.ts'

const disk = sharedDisk(50)

function viewOf(nodes: AuditedNode[], region: string | null = null, insights?: Insight[]) {
  const clusters = [clusterResult('prod', { insights })]
  const { run } = findingsDocument()
  return upgradesView(
    quietReport(withNewerReleases(nodes), { clusters, run: { ...run, region } }),
    english,
  )
}

function upgradeOf(controlPlane: string | null, kubeletVersion: string) {
  const upgrades = openNextUpgrades()
  const input = withKubelet(inputOf(buildNode().record), kubeletVersion)
  upgrades.takeCluster(
    clusterOf({ cluster: input.cluster, ...(controlPlane && { eks: { version: controlPlane } }) }),
  )
  const { identity } = auditedNode('n1', disk)
  return upgrades.nextUpgrade(
    input,
    { ...identity, owner: 'managed-nodegroup', kubeletVersion },
    takenAt,
  ).upgrade
}

it('is that to the minor of the control plane, with what the kubelet refuses', () => {
  const upgrade = upgradeOf('1.36', 'v1.32.9-eks-113cf36')
  expect(upgrade).toMatchObject({ from: 'v1.32.9-eks-113cf36', to: 'v1.36.0' })
})

it.each<[string, string | null, string]>([
  ['as new as its control plane', '1.32', 'v1.32.9'],
  ['newer', '1.31', 'v1.32.9'],
  ['of an unknown minor', '1.32', 'v9'],
  ['beside a control plane that was not read', null, 'v1.32.9'],
  ['beside a control plane of an unknown minor', '1.99', 'v1.32.9'],
])('is absent for a kubelet %s', (_, controlPlane, kubeletVersion) => {
  expect(upgradeOf(controlPlane, kubeletVersion)).toBeUndefined()
})

const upgrade = {
  ...{ from: 'v1.32.9', to: 'v1.36.0', basis: 'files' as const },
  ...{ errors: [], changedSettings: [], changedOrders: [] },
}

it('has a row for equal nodes of a group; kubelets that would not start come first', () => {
  const refused = { ...upgrade, errors: ['unknown flag: --container-runtime'] }
  const view = viewOf([
    auditedNode('a', disk, { upgrade }),
    auditedNode('b', disk, { upgrade: refused }),
    auditedNode('c', disk, { upgrade }),
    auditedNode('d', disk),
  ])
  expect(view?.rows.map(({ nodes, isRefused, lines }) => [nodes, isRefused, lines])).toEqual([
    ['1 node', true, ['kubelet v1.36.0 would not start: unknown flag: --container-runtime']],
    ['2 nodes', false, ['kubelet v1.36.0 starts with the files on the disk']],
  ])
  expect(view?.commands).toHaveLength(1)
  expect(view?.commands[0]).toMatch(/^highwater upgrade --to 1\.36 --cluster /)
})

it('stands on the page, with its command', () => {
  const page = renderPage(pageView(quietReport([auditedNode('a', disk, { upgrade })]), english))
  const section = /id="upgrades">[\s\S]*?<\/details>/.exec(page)?.[0] ?? ''
  expect(section).toContain('kubelet v1.36.0 starts with the files on the disk')
  expect(section).toContain('<code>highwater upgrade --to 1.36 --cluster ')
})

it('is left out where no node is behind', () => {
  expect(viewOf([auditedNode('a', disk)])).toBeNull()
})

it('has the release of a managed nodegroup', () => {
  const upgrades = openNextUpgrades()
  const input = inputOf(buildNode().record)
  const { identity } = auditedNode('n1', disk)
  const group = { kind: 'Nodegroup', namespace: null, name: 'general' } as const
  const nodegroups = [{ nodegroupName: 'general', releaseVersion: '1.34.1-20251003' }]
  upgrades.takeCluster(clusterOf({ cluster: input.cluster, nodegroups }))
  const releaseFor = (owner: 'karpenter' | 'managed-nodegroup') =>
    upgrades.nextUpgrade(input, { ...identity, owner, group }, takenAt).release
  expect([releaseFor('managed-nodegroup'), releaseFor('karpenter')]).toEqual([
    '1.34.1-20251003',
    undefined,
  ])
})

describe('nodegroups with an older release', () => {
  const ofGroup = (name: string, release: string, kubeletVersion = 'v1.34.1') => {
    const node = auditedNode(name, disk, { release })
    const group = { kind: 'Nodegroup', namespace: null, name } as const
    return { ...node, identity: { ...node.identity, group, kubeletVersion } }
  }

  it('have a row with the newest of their minor', () => {
    const nodes = [
      ofGroup('old', '1.34.1-20251003'),
      ofGroup('new', '1.34.1-20251120'),
      ofGroup('other-minor', '1.33.5-20240101', 'v1.33.5'),
    ]
    const view = viewOf(nodes, 'eu-west-1')
    expect(view?.rows.map(({ versions, note }) => [versions, note])).toEqual([
      [
        '1.34.1-20251003 → 1.34.1-20251120 (command replaces 1 node)',
        expect.stringContaining('Nodegroup new runs'),
      ],
    ])
    expect(view?.commands[0]).toMatch(
      /^aws eks update-nodegroup-version --region eu-west-1 .*--nodegroup-name old --release-version 1\.34\.1-20251120$/,
    )
    // Without a region, the command could reach a cluster of the same name elsewhere.
    expect(viewOf(nodes)?.commands).toEqual([])
  })

  it('have no command for a name that a shell would read', () => {
    const nodes = [ofGroup('a;reboot', '1.34.1-20251003'), ofGroup('b', '1.34.1-20251120')]
    expect(viewOf(nodes, 'eu-west-1')).toMatchObject({ rows: [{}], commands: [] })
  })

  it.each([
    ['1.51.0-ffffffff', '1.51.0-00000001', 0],
    ['1.51.0-ffffffff', '1.52.0-00000001', 1],
    ['1.9.0-00000001', '1.10.0-ffffffff', 1],
  ])('of Bottlerocket %s beside %s: %i', (old, newer, rows) => {
    const view = viewOf([ofGroup('a', old), ofGroup('b', newer)])
    expect(view?.rows ?? []).toHaveLength(rows)
  })
})

describe('upgrade insights of EKS', () => {
  const insight = (name: string, status: string): Insight => ({
    name,
    kubernetesVersion: '1.36',
    insightStatus: { status, reason: 'Found 2 nodes.' },
    recommendation: 'Update\nthe <nodes>.',
  })

  it('have rows of their own, also if no node is behind', () => {
    const insights = [insight('Kubelet version skew', 'ERROR'), insight('Add-ons', 'WARNING')]
    expect(viewOf([auditedNode('a', disk)], null, insights)).toMatchObject({
      count: '2',
      rows: [],
      insights: [
        {
          where: 'prod',
          isError: true,
          what: 'ERROR for Kubernetes 1.36: Kubelet version skew',
          lines: ['Found 2 nodes.', 'Update the <nodes>.'],
        },
        { isError: false, what: 'WARNING for Kubernetes 1.36: Add-ons' },
      ],
      moreInsights: null,
    })
  })

  it('are 20 at most', () => {
    const insights = Array.from({ length: 23 }, (_, index) => insight(`${index}`, 'WARNING'))
    const view = viewOf([], null, insights)
    expect(view?.insights).toHaveLength(20)
    expect(view?.moreInsights).toMatch(/^3 more/)
  })
})

it('names no group of another owner as the one with the newer release', () => {
  const ofGroup = (name: string, release: string) => {
    const node = auditedNode(name, disk, { release })
    return { ...node, identity: { ...node.identity, group: nodegroup(name) } }
  }
  const all = withNewerReleases([ofGroup('a', '1.34.1-20251003'), ofGroup('b', '1.34.1-20251120')])
  expect(all[0]?.newerRelease?.group.name).toBe('b')
  expect(withNewerReleases(all.slice(0, 1))[0]?.newerRelease).toBeUndefined()
})
