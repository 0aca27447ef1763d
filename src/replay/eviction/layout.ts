/**
 * The layout of the kubelet's filesystems. The eviction manager determines it once.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize (the part that runs while dedicatedImageFs is nil)
 * Read at       1.24 to 1.37; split filesystems since 1.29
 * Left out      how a kubelet comes to its answer: devices, CRI statistics, cAdvisor's labels
 */
import type { FilesystemLayout } from '#model/prediction.ts'
import type { Kubelet } from '#replay/kubelet.ts'

export interface DiskLayout {
  dedicatedImageFs: boolean
  /** Writable layers are on another filesystem than images. Kubelets before 1.29 do not check. */
  splitContainerImageFs: boolean
}

export const diskLayoutOf = (layout: FilesystemLayout): DiskLayout => ({
  dedicatedImageFs: layout !== 'shared',
  splitContainerImageFs: layout === 'split',
})

/** A kubelet that knows of a split and may not use it reports an error once, and from then on neither collects nor evicts under pressure. */
export const isRefusedLayout = ({ splitContainerImageFs }: DiskLayout, kubelet: Kubelet): boolean =>
  splitContainerImageFs &&
  kubelet.features.has('containerfsSignals') &&
  !kubelet.isGateOn('KubeletSeparateDiskGC')

/** Images and containers beside everything else, together on a disk of their own, or images alone on one. */
export function placementOf(
  { dedicatedImageFs, splitContainerImageFs }: DiskLayout,
  { features }: Kubelet,
): FilesystemLayout {
  // Containers apart from images that share the disk of everything else: upstream takes that for one filesystem.
  if (!dedicatedImageFs) return 'shared'
  return splitContainerImageFs && features.has('containerfsSignals') ? 'split' : 'imagefs'
}
