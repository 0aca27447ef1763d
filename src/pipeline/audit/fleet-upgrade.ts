/** What newer kubelets change on the nodes of a snapshot: the kubelets of a newer snapshot, or a requested version. */

import { sharedValue } from '#base/once.ts'
import { byText, nodeKey } from '#base/text.ts'
import { isInsightError, openInsights } from '#facts/eks/insights.ts'
import { isAmiPublished, nodeIdentity } from '#facts/eks/node-identity.ts'
import { featuresOf, requireSupported } from '#facts/kubelet/features.ts'
import { isOlderMinor, versionSkew } from '#facts/kubernetes/version-skew.ts'
import { shorten } from '#judge/text.ts'
import {
  type ClusterInput,
  InputErrors,
  type MalformedLine,
  type NodeIdentity,
  type NodeInput,
  type Selection,
  type SnapshotRecord,
  type Subject,
} from '#model/input/record.ts'
import type { AuditedNode } from '#model/report.ts'
import {
  type ClusterInsights,
  type FleetUpgrade,
  type NextUpgrade,
  type PlannedUpgrade,
  type UpgradeDocument,
  type UpgradeStep,
  upgradeSteps,
} from '#model/upgrade.ts'
import { kubeletUpgrade } from '#replay/kubelet-upgrade.ts'
import { clusterInput, nodeInput } from '#snapshot/input.ts'
import { savedFleet } from './fleet.ts'

const sampleSize = 20
/** Of a node that an audit meets. */
const mostErrors = 5
const errorLength = 400
const mostSettings = 20

/** Cluster and group of a node. A replaced node has another name, but the same place. */
const placeOf = (cluster: string, group: Subject) => JSON.stringify([cluster, group])

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
) {
  const targets = newestVersions(now)
  const targetOf = (cluster: string, group: Subject, version: string | null) => {
    const target = targets.get(placeOf(cluster, group)) ?? null
    return isOlderMinor(version, target) ? target : null
  }
  const isUpgraded = ({ cluster, identity }: AuditedNode) =>
    targetOf(cluster, identity.group, identity.kubeletVersion) !== null
  if (!old.some(isUpgraded)) return []
  const upgrades = openUpgrades<FleetUpgrade>()
  let takenAt = ''
  for await (const read of savedFleet(oldFile, selection)) {
    if (read.kind === 'Snapshot') takenAt = read.takenAt
    if (read.kind !== 'Node') continue
    const input = nodeInput(read)
    const { name, group, kubeletVersion } = nodeIdentity(input.node)
    const target = targetOf(input.cluster, group, kubeletVersion)
    if (target !== null)
      upgrades.take(name, {
        cluster: input.cluster,
        group,
        ...kubeletUpgrade(input, takenAt, target),
      })
  }
  return upgrades.list()
}

/**
 * What a kubelet of version `to` changes on each node with an older minor, by group, and the steps to it.
 *
 * @throws OperatorError if the minor is not supported; the errors of the source
 */
export async function plannedUpgrades(
  source: AsyncIterable<SnapshotRecord | MalformedLine>,
  to: string,
  onNode: (name: string) => void,
): Promise<UpgradeDocument> {
  requireSupported(to)
  const upgrades = openUpgrades<Unplanned>()
  const controlPlanes = new Map<string, string | null>()
  const insights = new Map<string, ClusterInsights[]>()
  const inputErrors = new InputErrors()
  const counts = { upToDate: 0, leftOut: 0 }
  const seen = new Set<string>()
  let takenAt = ''
  for await (const read of source) {
    if (read.kind === 'Malformed') inputErrors.add(`line ${read.line}: ${read.message}`)
    if (read.kind === 'Snapshot') takenAt = read.takenAt
    if (read.kind === 'Cluster') {
      const input = clusterInput(read)
      controlPlanes.set(input.cluster, input.eks?.version ?? null)
      insights.set(input.cluster, insightsOf(input))
    }
    if (read.kind !== 'Node') continue
    const input = nodeInput(read)
    const { name, group, owner, amiFamily, kubeletVersion } = nodeIdentity(input.node)
    // As in an audit, only the first of two records of a node counts.
    const key = nodeKey(input.cluster, name)
    if (seen.has(key)) continue
    seen.add(key)
    onNode(name)
    const isUnknown = !featuresOf(kubeletVersion).exact
    if (isUnknown || owner === 'fargate' || owner === 'auto-mode') counts.leftOut++
    else if (!isOlderMinor(kubeletVersion, to)) counts.upToDate++
    else
      upgrades.take(name, {
        cluster: input.cluster,
        group,
        owner,
        amiFamily,
        ...kubeletUpgrade(input, takenAt, to),
      })
  }
  return {
    schema: 'highwater.upgrade/1',
    takenAt,
    to,
    upgrades: upgrades
      .list()
      .map(upgrade => withSteps(upgrade, controlPlanes.get(upgrade.cluster) ?? null)),
    ...counts,
    insights: [...insights.values()].flat().toSorted((a, b) => byText(a.cluster, b.cluster)),
    inputErrors: inputErrors.list(),
  }
}

/** Empty: the record has neither insights nor a reason why. */
function insightsOf({ cluster, insights, errors }: ClusterInput): ClusterInsights[] {
  const failed = errors?.find(isInsightError)
  if (!insights && !failed) return []
  const unread = failed ? shorten(failed.message) : null
  return [{ cluster, insights: openInsights(insights ?? []), unread }]
}

/** The upgrade of each node to the minor of its control plane, and the release of its nodegroup. Clusters come before their nodes. */
export function openNextUpgrades() {
  const controlPlanes = new Map<string, string | undefined>()
  const releases = new Map<string, string>()
  return {
    takeCluster({ cluster, eks, nodegroups }: ClusterInput) {
      controlPlanes.set(cluster, eks?.version)
      for (const { nodegroupName = '', releaseVersion } of nodegroups ?? [])
        if (releaseVersion !== undefined)
          releases.set(`${cluster}/${nodegroupName}`, shorten(releaseVersion))
    },
    /** Without an upgrade: the kubelet is as new as its control plane, AWS upgrades it, or a version is unknown. */
    nextUpgrade(
      input: NodeInput,
      { owner, group, kubeletVersion }: NodeIdentity,
      takenAt: string,
    ): Pick<AuditedNode, 'upgrade' | 'release'> {
      const release =
        owner === 'managed-nodegroup' ? releases.get(`${input.cluster}/${group.name}`) : undefined
      const ofGroup = release === undefined ? {} : { release }
      const controlPlane = controlPlanes.get(input.cluster) ?? null
      const isOurs = owner !== 'fargate' && owner !== 'auto-mode'
      const isKnown = featuresOf(kubeletVersion).exact && featuresOf(controlPlane).exact
      if (!isOurs || !isKnown || !isOlderMinor(kubeletVersion, controlPlane)) return ofGroup
      const to = `v1.${featuresOf(controlPlane).minor}.0`
      const {
        changedBehaviors: _,
        changedGates: __,
        ...changes
      } = kubeletUpgrade(input, takenAt, to)
      const upgrade = sharedValue<NextUpgrade>({
        ...changes,
        errors: changes.errors.slice(0, mostErrors).map(error => shorten(error, errorLength)),
        changedSettings: changes.changedSettings
          .slice(0, mostSettings)
          .map(({ field, before, after }) => ({
            field: shorten(field),
            before: boundedValue(before),
            after: boundedValue(after),
          })),
      })
      return { upgrade, ...ofGroup }
    },
  }
}

/** A longer value is text of limited length. */
function boundedValue(value: unknown) {
  const text = JSON.stringify(value)
  return text.length > errorLength ? shorten(text, errorLength) : value
}

type Unplanned = FleetUpgrade & Pick<NodeIdentity, 'owner' | 'amiFamily'>

function withSteps(
  { amiFamily, ...upgrade }: Unplanned,
  controlPlane: string | null,
): PlannedUpgrade {
  const { from, to, errors } = upgrade
  const skew = versionSkew(from, to)
  const hasOtherAmi = !isAmiPublished(amiFamily, to)
  const isNeeded: Record<UpgradeStep, boolean> = {
    'control-plane': isOlderMinor(controlPlane, to),
    'in-between': skew?.state === 'tooOld',
    'other-ami': hasOtherAmi,
    settings: errors.length > 0 && !hasOtherAmi,
    replace: !hasOtherAmi,
  }
  const allowedBehind = skew?.allowedBehind ?? null
  return {
    ...upgrade,
    controlPlane,
    allowedBehind,
    steps: upgradeSteps.filter(step => isNeeded[step]),
  }
}

/** The newest kubelet version of each place. */
function newestVersions(nodes: readonly AuditedNode[]): ReadonlyMap<string, string> {
  const newest = new Map<string, string>()
  for (const { cluster, identity } of nodes) {
    const { group, kubeletVersion } = identity
    const place = placeOf(cluster, group)
    const known = newest.get(place)
    if (kubeletVersion !== null && (known === undefined || isOlderMinor(known, kubeletVersion)))
      newest.set(place, kubeletVersion)
  }
  return newest
}

/** Nodes with equal changes are one entry. In each cluster, nodes that would not start come first. */
function openUpgrades<Upgrade extends FleetUpgrade>() {
  const upgrades = new Map<string, Upgrade>()
  return {
    take(name: string, upgrade: Omit<Upgrade, 'nodes'>) {
      const key = JSON.stringify(upgrade)
      const { count, sample } = upgrades.get(key)?.nodes ?? { count: 0, sample: [] }
      const named = [...sample, name].toSorted(byText).slice(0, sampleSize)
      upgrades.set(key, { ...upgrade, nodes: { count: count + 1, sample: named } } as Upgrade)
    },
    list: () =>
      [...upgrades.values()].toSorted(
        (a, b) =>
          byText(a.cluster, b.cluster) ||
          Number(b.errors.length > 0) - Number(a.errors.length > 0) ||
          byText(a.group.name, b.group.name),
      ),
  }
}
