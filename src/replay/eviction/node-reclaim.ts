/**
 * What the kubelet reclaims on the node before it evicts a pod.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  buildSignalToNodeReclaimFuncs
 * Read at       1.29 to 1.37; split filesystems since 1.29; pressure on containerfs reclaims only since 1.32
 */
import { nodeReclaimKinds as kinds, type ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import type { Signal } from '#model/prediction.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { type DiskLayout, isRefusedLayout, placementOf } from './layout.ts'

const nothing: readonly ReclaimKind[] = []

/** In upstream's order. Empty: pressure on this signal evicts at once. */
export function nodeReclaim(
  signal: Signal,
  layout: DiskLayout,
  kubelet: Kubelet,
): readonly ReclaimKind[] {
  if (isRefusedLayout(layout, kubelet)) return nothing
  const placement = placementOf(layout)
  if (signal.startsWith('nodefs.')) return kinds[placement].nodefs
  if (signal.startsWith('imagefs.')) return kinds[placement].imagefs
  if (!signal.startsWith('containerfs.') || !kubelet.features.has('containerfsNodeReclaim'))
    return nothing
  return placement === 'imagefs' ? kinds.imagefs.imagefs : kinds[placement].nodefs
}
