/** Which nodegroups run an older AMI release than another one of their image and minor. */
import { byReleaseVersion } from '#facts/eks/release.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import type { AuditedNode } from '#model/report.ts'

/** Null: another minor comes first, or the node has no release. */
const imageOf = ({ release, upgrade, identity: { amiFamily, kubeletVersion } }: AuditedNode) =>
  release === undefined || upgrade !== undefined
    ? null
    : JSON.stringify([amiFamily, featuresOf(kubeletVersion).minor])

/** @param nodes of the report; an owner's report names no group of others */
export function withNewerReleases(nodes: readonly AuditedNode[]): AuditedNode[] {
  const newest = new Map<string | null, NonNullable<AuditedNode['newerRelease']>>()
  for (const node of nodes) {
    const { cluster, identity, release } = node
    const known = newest.get(imageOf(node))
    if (release !== undefined && byReleaseVersion(known?.release ?? '', release) < 0)
      newest.set(imageOf(node), { release, cluster, group: identity.group })
  }
  return nodes.map(({ newerRelease: _, ...node }) => {
    const image = imageOf(node)
    const newer = image === null ? undefined : newest.get(image)
    const isBehind = newer && byReleaseVersion(node.release ?? '', newer.release) < 0
    return isBehind ? { ...node, newerRelease: newer } : node
  })
}
