/** The holders of a node's disks: what frees each, who has to act, and the steps that end it. A new holder is one row and one measurement. */

import type { FreedBy, StepActionId } from '#model/finding/cause.ts'
import type { DiskHolder } from '#model/prediction/disk-ledger.ts'

export interface HolderFacts {
  freedBy: FreedBy
  /** `platform`: who runs the nodes. `owner`: who runs the workload. `vendor`: who makes the image or the runtime. */
  actor: 'platform' | 'owner' | 'vendor'
  /** The usual contents of a node: a cause only if they hold a large part of the disk. */
  isUsual?: true
  /** In order: first what frees bytes now, last what keeps them from coming back. */
  steps: readonly StepActionId[]
}

export const holders: Readonly<Record<DiskHolder, HolderFacts>> = {
  // Source: pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace
  'images-in-use': { freedBy: 'pod-deletion', actor: 'platform', steps: ['larger-disk'] },
  // Source: pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace
  'images-unused': { freedBy: 'image-gc', actor: 'platform', steps: ['prune-images'] },
  // Source: containerd internal/cri/labels PinnedImageLabelKey
  'images-pinned': { freedBy: 'nothing', actor: 'platform', steps: ['larger-disk'] },
  // Source: pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace
  images: { freedBy: 'image-gc', actor: 'platform', steps: ['read-on-node', 'prune-images'] },
  // Source: containerd internal/cri/server/images/imagefs_info.go: all snapshots count
  'not-images': {
    freedBy: 'nothing',
    actor: 'vendor',
    steps: ['read-on-node', 'replace-node', 'upgrade-runtime'],
  },
  // Source: containerd internal/cri/config ImageConfig.DiscardUnpackedLayers
  'image-content': {
    freedBy: 'image-deletion',
    actor: 'platform',
    steps: ['set-discard-unpacked'],
  },
  // Source: containerd/containerd#13416: no garbage collection removes a snapshot with a lease or root label
  'leftover-snapshots': {
    freedBy: 'nothing',
    actor: 'vendor',
    steps: ['replace-node', 'upgrade-runtime'],
  },
  // Source: containerd docs/namespaces.md: the CRI sees the namespace k8s.io alone
  'other-namespaces': { freedBy: 'nothing', actor: 'platform', steps: ['clean-namespace'] },
  // Source: pkg/kubelet/eviction/helpers.go podDiskUsage
  'writable-layers': { freedBy: 'pod-deletion', actor: 'owner', steps: ['set-ephemeral-storage'] },
  // Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers
  'dead-containers': {
    freedBy: 'container-gc',
    actor: 'platform',
    steps: ['prune-dead-containers', 'ask-owner'],
  },
  // Source: pkg/kubelet/logs/container_log_manager.go rotateLogs
  'container-logs': {
    freedBy: 'pod-deletion',
    actor: 'owner',
    steps: ['restart-pod', 'ask-owner'],
  },
  // Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictPodLogsDirectories
  'log-debris': { freedBy: 'nothing', actor: 'platform', steps: ['delete-place'] },
  // Source: pkg/kubelet/eviction/helpers.go podDiskUsage
  'pod-volumes': { freedBy: 'pod-deletion', actor: 'owner', steps: ['set-volume-limit'] },
  // Source: kubernetes.io/docs/concepts/storage/volumes emptyDir medium Memory
  'memory-volumes': { freedBy: 'pod-deletion', actor: 'owner', steps: ['set-volume-limit'] },
  // Source: kubernetes/kubernetes#109955, #105440: beside volumes are the folders of volumes that are not mounted, termination logs and the hosts file
  'pod-folders': { freedBy: 'pod-deletion', actor: 'owner', steps: ['restart-pod', 'ask-owner'] },
  // Source: containerd internal/cri/server/container_create.go volumeMounts; kubernetes/kubernetes#120149
  'image-volumes': {
    freedBy: 'pod-deletion',
    actor: 'owner',
    steps: ['look-on-node', 'move-to-volume'],
  },
  // Source: pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs; kubernetes/kubernetes#60987: a deletion by hand went on into volumes
  'orphaned-pods': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-pod-folder', 'read-journal'],
  },
  // Source: pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs
  kubelet: { freedBy: 'nothing', actor: 'vendor', isUsual: true, steps: ['look-on-node'] },
  // Source: journald.conf(5) SystemMaxUse
  journal: { freedBy: 'nothing', actor: 'platform', steps: ['vacuum-journal'] },
  // Source: logrotate(8)
  'host-logs': { freedBy: 'nothing', actor: 'platform', steps: ['delete-place', 'check-rotation'] },
  // Source: core(5)
  'core-dumps': { freedBy: 'nothing', actor: 'platform', steps: ['delete-place'] },
  // Source: dnf(8) clean
  'package-caches': { freedBy: 'nothing', actor: 'platform', steps: ['delete-place'] },
  // Source: tmpfiles.d(5)
  'temporary-files': { freedBy: 'nothing', actor: 'platform', steps: ['delete-place'] },
  // Source: pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace
  'other-runtime': { freedBy: 'nothing', actor: 'platform', steps: ['delete-place'] },
  // Source: hier(7)
  system: { freedBy: 'nothing', actor: 'vendor', isUsual: true, steps: ['larger-disk'] },
  // Source: unlink(2); kubernetes/kubernetes#83107
  'deleted-open-files': { freedBy: 'process-end', actor: 'owner', steps: ['restart-pod'] },
  // Source: mke2fs(8) -m
  'reserved-blocks': { freedBy: 'nothing', actor: 'vendor', isUsual: true, steps: ['larger-disk'] },
  // Source: kubernetes/kubernetes#35017: no eviction frees a hostPath volume
  'host-path': { freedBy: 'nothing', actor: 'owner', steps: ['clean-with-owner'] },
  // Source: kubernetes.io/docs/concepts/storage/volumes local: no capacity isolation
  'local-volumes': { freedBy: 'nothing', actor: 'owner', steps: ['ask-owner'] },
  // Source: hier(7)
  'unknown-folder': { freedBy: 'nothing', actor: 'platform', steps: ['delete-place'] },
  // Source: docs/dev/formats.md highwater.ledger/1
  unread: { freedBy: 'nothing', actor: 'platform', steps: ['read-on-node'] },
  // Source: docs/dev/formats.md highwater.ledger/1; kubernetes/kubernetes#71869: data in a folder that another disk was mounted on later
  'not-explained': { freedBy: 'nothing', actor: 'platform', steps: ['look-under-mounts'] },
}
