/**
 * The layout of the kubelet's filesystems. The eviction manager determines it once.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize (the part that runs while dedicatedImageFs is nil)
 * Read at       1.29 to 1.37; split filesystems since 1.29
 * Left out      how the kubelet determines the layout: devices, CRI statistics, cAdvisor's labels
 */
import type { FilesystemLayout } from '#model/prediction/prediction.ts'
import type { Kubelet } from '#replay/kubelet.ts'

export interface DiskLayout {
  dedicatedImageFs: boolean
  /** Writable layers are on another filesystem than images. */
  splitContainerImageFs: boolean
}

export const diskLayoutOf = (layout: FilesystemLayout): DiskLayout => ({
  dedicatedImageFs: layout !== 'shared',
  splitContainerImageFs: layout === 'split',
})

/** A kubelet that detects a split but has the feature off reports one error. From then on it neither collects nor evicts under pressure. */
export const isRefusedLayout = ({ splitContainerImageFs }: DiskLayout, kubelet: Kubelet): boolean =>
  splitContainerImageFs && !kubelet.isGateOn('KubeletSeparateDiskGC')

/** Whether images and containers share nodefs, share a disk of their own, or only images have a disk of their own. */
export function placementOf({
  dedicatedImageFs,
  splitContainerImageFs,
}: DiskLayout): FilesystemLayout {
  // Only the containers have a disk of their own: upstream treats that as one filesystem.
  if (!dedicatedImageFs) return 'shared'
  return splitContainerImageFs ? 'split' : 'imagefs'
}
