/**
 * The disk use above which an alert is useful, for each cohort of nodes. Alerts fire only after
 * image GC could have run, or after the eviction threshold is met. If nodes of a cohort differ, the
 * highest level counts.
 */

import type { Subject } from '#model/input/record.ts'
import { startsAboveUsedPercent } from '#model/kubelet/image-gc-trigger.ts'
import type { AuditedNode } from '#model/report.ts'
import { cohortsOf, evictionOf, variantsOf } from './parts/fleet.ts'

export interface AlertLevels {
  cluster: string
  /** Null: the nodes have no group, and `names` selects them. */
  group: Subject | null
  names: string[]
  /** Null: image GC is off or unknown on all nodes, or the alert level is 100 %. */
  imageGcUsedPercent: {
    /** Used percent above which the alert fires. Never below the high threshold. */
    alertAt: number
    /** Image GC starts just above high − 1, because used is 100 − floor(available %). */
    startsAbove: number
    isAfterEviction: boolean
  } | null
  evictions: { signal: string; on: string[]; limit: { percent: number } | { bytes: number } }[]
  /** Mount points that can hold images, by AMI family and layout. */
  imagefs: string[]
  /**
   * Null: all nodes have the same layout, or the nodes have no group. Else nodes are selected by
   * whether they have a separate mount for images.
   */
  layout: { id: 'shared' | 'imagefs'; ownMounts: string[] } | null
  /** Number of nodes whose settings differ from those of the largest variant. */
  differing: number
}

/**
 * Margin above the high threshold of image GC, in percentage points. The default policy assumes
 * this growth within one GC period (assumedGrowthPercent).
 */
const marginPercent = 2
const namedAtOnce = 200

/**
 * Mount points with the data of kubelet and runtime. Source: awslabs/amazon-eks-ami nodeadm
 * (localStorage), bottlerocket-os/bottlerocket (data volume).
 */
const mounts = {
  root: {
    nodefs: ['/', '/var', '/var/lib/kubelet'],
    imagefs: ['/var/lib/containerd', '/mnt/k8s-disks/[0-9]+'],
  },
  bottlerocket: { nodefs: ['/local', '/var'], imagefs: ['/local', '/var/lib/containerd'] },
}

export function alertLevels(nodes: AuditedNode[]): AlertLevels[] {
  const judged = nodes.filter(
    ({ identity: { owner, operatingSystem } }) =>
      owner !== 'fargate' && operatingSystem === 'linux',
  )
  // A group with two kubelet minors has two cohorts but one label, so its cohorts are joined.
  const byGroup = Map.groupBy(
    cohortsOf(judged).flatMap(({ members }) => members),
    ({ cluster, identity: { group } }) =>
      JSON.stringify(group.kind === 'Node' ? [cluster] : [cluster, group.kind, group.name]),
  )
  return [...byGroup.values()]
    .flatMap(byLayout)
    .flatMap(({ members, isMixed }) => chunkMembers(members).map(chunk => levelsOf(chunk, isMixed)))
    .filter(
      ({ imageGcUsedPercent, evictions }) => imageGcUsedPercent !== null || evictions.length > 0,
    )
}

const layoutOf = ({ prediction: { filesystems } }: AuditedNode) => filesystems.layout
const isShared = (node: AuditedNode) => layoutOf(node) === 'shared'
const isApart = (node: AuditedNode) => layoutOf(node) !== null && !isShared(node)

/**
 * Nodes of one group can have one or two disks. If both occur, each layout is judged separately.
 * Nodes with an unknown layout are then judged with the one-disk nodes.
 */
function byLayout(members: AuditedNode[]): { members: AuditedNode[]; isMixed: boolean }[] {
  const isMixed = members.some(isShared) && members.some(isApart)
  if (!isMixed) return [{ members, isMixed }]
  return [members.filter(node => !isApart(node)), members.filter(isApart)].map(part => ({
    members: part,
    isMixed,
  }))
}

/** A group is one chunk. Rules name nodes without a group, so these are split into chunks. */
function chunkMembers(members: AuditedNode[]) {
  if (members[0]?.identity.group.kind !== 'Node') return [members]
  return Array.from({ length: Math.ceil(members.length / namedAtOnce) }, (_, index) =>
    members.slice(index * namedAtOnce, (index + 1) * namedAtOnce),
  )
}

function levelsOf(members: AuditedNode[], isMixed: boolean): AlertLevels {
  const { cluster, identity } = members[0]!
  const { nodefs, imagefs } =
    identity.amiFamily === 'Bottlerocket' ? mounts.bottlerocket : mounts.root
  const ownMounts = imagefs.filter(mount => !nodefs.includes(mount))
  const isOneDisk = !members.some(isApart)
  const separate = isMixed ? ownMounts : imagefs
  const images = isOneDisk ? nodefs : separate
  const variants = variantsOf(members)
  return {
    cluster,
    group: identity.group.kind === 'Node' ? null : identity.group,
    names: members.map(({ identity: { name } }) => name).toSorted(),
    imageGcUsedPercent: imageGcLevel(members),
    evictions: evictionLevels(members, { 'nodefs.available': nodefs, 'imagefs.available': images }),
    imagefs: images,
    // Rules select nodes without a group by name, so these nodes need no layout.
    layout:
      isMixed && identity.group.kind !== 'Node'
        ? { id: isOneDisk ? 'shared' : 'imagefs', ownMounts }
        : null,
    differing: members.length - (variants[0]?.length ?? 0),
  }
}

function imageGcLevel(members: AuditedNode[]) {
  const enabled = members.flatMap(({ prediction: { imageGC } }) =>
    imageGC?.enabled ? [imageGC.highThresholdPercent] : [],
  )
  if (enabled.length === 0) return null
  const high = Math.max(...enabled)
  const evictionAt = Math.min(...members.map(evictionUsedPercent))
  const between = Math.min(high + marginPercent, (high + evictionAt) / 2)
  const alertAt = Math.round(Math.max(high, between) * 10) / 10
  const startsAbove = startsAboveUsedPercent(high)
  // Disk use never exceeds 100 %, so such an alert could not fire.
  return alertAt >= 100
    ? null
    : { alertAt, startsAbove, isAfterEviction: evictionAt <= startsAbove }
}

/** Used percent at which a hard threshold of the image filesystem is met first; 100 if none is. */
function evictionUsedPercent(node: AuditedNode) {
  const { filesystems } = node.prediction
  const capacity = filesystems.imagefs?.capacityBytes
  const isShared = filesystems.layout === 'shared'
  const met = (evictionOf(node)?.thresholds ?? [])
    .filter(
      ({ signal, hard }) =>
        hard && (signal === 'imagefs.available' || (isShared && signal === 'nodefs.available')),
    )
    .flatMap(({ resolved }) =>
      resolved === null || !capacity ? [] : [100 - (resolved / capacity) * 100],
    )
  return Math.min(100, ...met)
}

function evictionLevels(
  members: AuditedNode[],
  mountsOf: Record<string, string[]>,
): AlertLevels['evictions'] {
  return Object.entries(mountsOf).flatMap(([signal, on]): AlertLevels['evictions'] => {
    // A node without this threshold never evicts for this signal.
    const found = members.flatMap(node => {
      const eviction = evictionOf(node)
      const threshold = eviction?.thresholds.find(
        candidate => candidate.hard && candidate.signal === signal,
      )
      return threshold
        ? [
            {
              ...threshold,
              capacityBytes: eviction?.signals[threshold.signal]?.capacityBytes ?? null,
            },
          ]
        : []
    })
    if (found.length === 0) return []
    const isPercent = found.some(({ value }) => value.endsWith('%'))
    const limits = found.flatMap(({ value, resolved, capacityBytes }) => {
      if (value.endsWith('%')) return [Number.parseFloat(value)]
      if (resolved === null) return []
      if (!isPercent) return [resolved]
      return capacityBytes ? [(resolved / capacityBytes) * 100] : []
    })
    const least = Math.min(...limits.filter(limit => limit > 0))
    if (!Number.isFinite(least)) return []
    return [
      {
        signal,
        on,
        limit: isPercent ? { percent: Math.round(least * 100) / 100 } : { bytes: least },
      },
    ]
  })
}
