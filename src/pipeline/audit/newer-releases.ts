/** Which nodegroups run an older AMI release than another one of their image and minor. */
import { byReleaseVersion } from '#facts/eks/node-identity.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import type { AuditedNode } from '#model/report.ts'

/** @param nodes of the report; an owner's report names no group of others */
export function withNewerReleases(nodes: readonly AuditedNode[]): AuditedNode[] {
  // Null: another minor comes first, or the node has no release.
  const images = nodes.map(({ release, upgrade, identity: { amiFamily, kubeletVersion } }) =>
    release === undefined || upgrade
      ? null
      : JSON.stringify([amiFamily, featuresOf(kubeletVersion).minor]),
  )
  const newest = new Map<string | null, NonNullable<AuditedNode['newerRelease']>>()
  for (const [index, { cluster, identity, release }] of nodes.entries()) {
    const image = images[index]!
    const known = newest.get(image)
    if (release !== undefined && byReleaseVersion(known?.release ?? '', release) < 0)
      newest.set(image, { release, cluster, group: identity.group })
  }
  return nodes.map((node, index) => {
    const image = images[index]!
    const newer = image === null ? undefined : newest.get(image)
    if (newer && byReleaseVersion(node.release ?? '', newer.release) < 0)
      return { ...node, newerRelease: newer }
    const { newerRelease, ...others } = node
    return newerRelease ? others : node
  })
}
