/**
 * The node's filesystems as the kubelet sees them, and their layout: one for all, or one of the runtime's own.
 *
 * Replays       pkg/kubelet/stats/provider.go HasDedicatedImageFs, which compares devices
 * Read at       1.29 to 1.37
 * Kept exactly  usedPercent is computed as in image GC
 *
 * The API does not show devices. If the node itself was not read, equal sizes make one filesystem likely, and unequal sizes make two
 * certain. Only CRI-O can split containers from images: there, sizes make no layout certain.
 */

import type { Host } from '#model/input/inspection.ts'
import type { FilesystemStats, Summary } from '#model/input/record.ts'
import type { FilesystemState, Filesystems } from '#model/prediction.ts'
import { usagePercentOf } from './image-gc/usage.ts'
import { availableOf, countOf } from './times.ts'

/** Relative tolerances: xfs allocates inodes dynamically, and samples are seconds apart. */
const inodesTolerance = 0.05
const availableTolerance = 0.02

/**
 * @param summary the body of /stats/summary
 * @param host data read on the node itself
 * @param runtime `containerd` keeps containers and images together; null: unknown, treated as containerd
 */
export function filesystemLayout(
  summary: Summary | null,
  host: Host | null,
  runtime: 'containerd' | 'cri-o' | null,
): Filesystems {
  const stats = summary?.node?.runtime
  const nodefs = stateOf(summary?.node?.fs) ?? measuredState(host, 'nodefs')
  const imagefs = stateOf(stats?.imageFs) ?? measuredState(host, 'imagefs')
  const containerfs = stateOf(stats?.containerFs) ?? measuredState(host, 'containerfs')
  const bySizes = layoutBySizes(nodefs, imagefs)
  const layout =
    layoutByDevices(host) ??
    (runtime === 'cri-o' ? layoutOfCrio(bySizes, nodefs, containerfs) : bySizes)
  const isContainerd = runtime === 'containerd'
  return { nodefs, imagefs, containerfs: containerfs ?? (isContainerd ? imagefs : null), ...layout }
}

const byRole = (host: Host | null, role: string) =>
  host?.filesystems?.find(filesystem => filesystem.role === role)

function stateOf(stats: FilesystemStats | undefined): FilesystemState | null {
  if (!stats) return null
  const capacityBytes = countOf(stats.capacityBytes)
  const availableBytes = availableOf(stats.availableBytes)
  return {
    capacityBytes,
    availableBytes,
    usedPercent:
      capacityBytes === null || capacityBytes === 0 || availableBytes === null
        ? null
        : usagePercentOf(capacityBytes, availableBytes),
    inodes: countOf(stats.inodes),
    inodesFree: availableOf(stats.inodesFree),
  }
}

/** The state from `df`. Available bytes are negative if root has used its reserved blocks. */
function measuredState(host: Host | null, role: string): FilesystemState | null {
  const measured = byRole(host, role)
  const state = stateOf(measured)
  const available = measured?.availableBytes
  if (!state || available === undefined || !Number.isSafeInteger(available) || available >= 0)
    return state
  const { capacityBytes } = state
  return {
    ...state,
    availableBytes: available,
    usedPercent: capacityBytes ? usagePercentOf(capacityBytes, available) : null,
  }
}

type Layout = Pick<Filesystems, 'layout' | 'layoutCertainty'>

function layoutByDevices(host: Host | null): Layout | null {
  const device = (role: string) => byRole(host, role)?.device
  const nodefs = device('nodefs')
  const imagefs = device('imagefs')
  if (nodefs === undefined || imagefs === undefined) return null
  const containerfs = device('containerfs') ?? imagefs
  if (imagefs === nodefs) return { layout: 'shared', layoutCertainty: 'certain' }
  return { layout: containerfs === nodefs ? 'split' : 'imagefs', layoutCertainty: 'certain' }
}

function layoutBySizes(nodefs: FilesystemState | null, imagefs: FilesystemState | null): Layout {
  const unknown: Layout = { layout: null, layoutCertainty: null }
  // A capacity of 0 is a statistic that failed, not a size to compare.
  if (!nodefs?.capacityBytes || !imagefs?.capacityBytes) return unknown
  if (nodefs.capacityBytes !== imagefs.capacityBytes)
    return { layout: 'imagefs', layoutCertainty: 'certain' }
  if (nodefs.availableBytes === null || imagefs.availableBytes === null) return unknown
  const isApart =
    Math.abs(nodefs.availableBytes - imagefs.availableBytes) >
    availableTolerance * nodefs.capacityBytes
  return {
    layout: isApart || !haveLikeInodes(nodefs, imagefs) ? 'imagefs' : 'shared',
    layoutCertainty: 'likely',
  }
}

/** With CRI-O, images alone may have their own disk; then containers are on nodefs. */
function layoutOfCrio(
  bySizes: Layout,
  nodefs: FilesystemState | null,
  containerfs: FilesystemState | null,
): Layout {
  if (bySizes.layout !== 'imagefs') return bySizes
  const isSplit = layoutBySizes(nodefs, containerfs).layout === 'shared'
  return { layout: isSplit ? 'split' : 'imagefs', layoutCertainty: 'likely' }
}

function haveLikeInodes({ inodes: a }: FilesystemState, { inodes: b }: FilesystemState) {
  return a === null || b === null || Math.abs(a - b) <= inodesTolerance * Math.max(a, b)
}
