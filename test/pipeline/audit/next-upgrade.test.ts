import { expect, it } from 'vitest'
import { openNextUpgrades } from '#pipeline/audit/fleet-upgrade.ts'
import { withKubelet } from '#replay/kubelet-upgrade.ts'
import { english } from '#report/languages/language.ts'
import { upgradesView } from '#report/page/upgrades.ts'
import { clusterOf, inputOf } from '#test/at-the-door.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'
import { auditedNode, sharedDisk } from '#test/report-builder.ts'

const disk = sharedDisk(50)

function upgradeOf(controlPlane: string | null, kubeletVersion: string) {
  const upgrades = openNextUpgrades()
  const input = withKubelet(inputOf(buildNode().record), kubeletVersion)
  upgrades.takeCluster(
    clusterOf({ cluster: input.cluster, ...(controlPlane && { eks: { version: controlPlane } }) }),
  )
  const { identity } = auditedNode('n1', disk)
  return upgrades.of(input, { ...identity, owner: 'managed-nodegroup', kubeletVersion }, takenAt)
    .upgrade
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
  const view = upgradesView(
    [
      auditedNode('a', disk, { upgrade }),
      auditedNode('b', disk, { upgrade: refused }),
      auditedNode('c', disk, { upgrade }),
      auditedNode('d', disk),
    ],
    english,
  )
  expect(view?.rows.map(({ nodes, isRefused, lines }) => [nodes, isRefused, lines])).toEqual([
    ['1 node', true, ['kubelet v1.36.0 would not start: unknown flag: --container-runtime']],
    ['2 nodes', false, ['kubelet v1.36.0 starts with the files on the disk']],
  ])
  expect(view?.commands).toHaveLength(1)
  expect(view?.commands[0]).toMatch(/^highwater upgrade --to 1\.36 --cluster /)
})

it('is left out where no node is behind', () => {
  expect(upgradesView([auditedNode('a', disk)], english)).toBeNull()
})
