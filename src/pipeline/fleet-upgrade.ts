/** Finds what kubelet upgrades between two snapshots change on the nodes of the older snapshot. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import type { FleetUpgrade } from '#model/delta.ts'
import type { KubeletUpgrade } from '#model/prediction.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Selection } from '#model/selection.ts'
import type { Subject } from '#model/subject.ts'
import { byText } from '#model/text-order.ts'
import { kubeletUpgrade } from '#replay/kubelet-upgrade.ts'
import { nodeInput } from '#snapshot/node-input.ts'
import { savedFleet } from './fleet.ts'

const sampleSize = 20

/** Cluster and group of a node. A replaced node has another name, but the same place. */
const placeOf = (cluster: string, group: Subject) => JSON.stringify([cluster, group])
const minorOf = (version: string | null) => featuresOf(version).minor ?? 0

/**
 * Nodes with the same changes are one entry.
 *
 * @param oldFile snapshot; it is read again only if NEW has a newer kubelet minor
 * @throws OperatorError
 */
export async function fleetUpgrades(
  oldFile: string,
  selection: Selection,
  old: readonly AuditedNode[],
  now: readonly AuditedNode[],
): Promise<FleetUpgrade[]> {
  const targets = newestVersions(now)
  const targetOf = (cluster: string, group: Subject, version: string | null) => {
    const target = targets.get(placeOf(cluster, group)) ?? null
    const isUpgrade = version !== null && minorOf(target) > minorOf(version)
    return isUpgrade ? target : null
  }
  const isUpgraded = ({ cluster, identity }: AuditedNode) =>
    targetOf(cluster, identity.group, identity.kubeletVersion) !== null
  if (!old.some(isUpgraded)) return []
  const upgrades = new Map<string, FleetUpgrade>()
  let takenAt = ''
  for await (const read of savedFleet(oldFile, selection)) {
    if (read.kind === 'Snapshot') takenAt = read.takenAt
    if (read.kind !== 'Node') continue
    const input = nodeInput(read)
    const { name, group, kubeletVersion } = nodeIdentity(input.node)
    const target = targetOf(input.cluster, group, kubeletVersion)
    if (target !== null)
      take(upgrades, input.cluster, group, name, kubeletUpgrade(input, takenAt, target))
  }
  return [...upgrades.values()].toSorted(
    (a, b) => byText(a.cluster, b.cluster) || byText(a.group.name, b.group.name),
  )
}

/** The newest kubelet version of each place. */
function newestVersions(nodes: readonly AuditedNode[]): ReadonlyMap<string, string> {
  const newest = new Map<string, string>()
  for (const { cluster, identity } of nodes) {
    const { group, kubeletVersion } = identity
    const place = placeOf(cluster, group)
    if (kubeletVersion !== null && minorOf(kubeletVersion) > minorOf(newest.get(place) ?? null))
      newest.set(place, kubeletVersion)
  }
  return newest
}

function take(
  upgrades: Map<string, FleetUpgrade>,
  cluster: string,
  group: Subject,
  name: string,
  upgrade: KubeletUpgrade,
): void {
  const key = JSON.stringify([cluster, group, upgrade])
  const known = upgrades.get(key) ?? { cluster, group, ...upgrade, nodes: { count: 0, sample: [] } }
  const { count, sample } = known.nodes
  const named = [...sample, name].toSorted(byText).slice(0, sampleSize)
  upgrades.set(key, { ...known, nodes: { count: count + 1, sample: named } })
}
