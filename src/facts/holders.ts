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
  source: string
}

const imageGc = 'pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace'
const podFolders = 'pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs'
const summary = 'pkg/kubelet/eviction/helpers.go podDiskUsage'

export const holders: Readonly<Record<DiskHolder, HolderFacts>> = {
  'images-in-use': {
    freedBy: 'pod-deletion',
    actor: 'platform',
    steps: ['larger-disk'],
    source: imageGc,
  },
  'images-unused': {
    freedBy: 'image-gc',
    actor: 'platform',
    steps: ['prune-images'],
    source: imageGc,
  },
  'images-pinned': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['larger-disk'],
    source: 'containerd internal/cri/labels PinnedImageLabelKey',
  },
  images: {
    freedBy: 'image-gc',
    actor: 'platform',
    steps: ['read-on-node', 'prune-images'],
    source: imageGc,
  },
  'not-images': {
    freedBy: 'nothing',
    actor: 'vendor',
    steps: ['read-on-node', 'replace-node', 'upgrade-runtime'],
    source: 'containerd internal/cri/server/images/imagefs_info.go: all snapshots count',
  },
  'image-content': {
    freedBy: 'image-deletion',
    actor: 'platform',
    steps: ['set-discard-unpacked'],
    source: 'containerd internal/cri/config ImageConfig.DiscardUnpackedLayers',
  },
  'leftover-snapshots': {
    freedBy: 'nothing',
    actor: 'vendor',
    steps: ['replace-node', 'upgrade-runtime'],
    source:
      'containerd/containerd#13416: no garbage collection removes a snapshot with a lease or root label',
  },
  'other-namespaces': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['clean-namespace'],
    source: 'containerd docs/namespaces.md: the CRI sees the namespace k8s.io alone',
  },
  'writable-layers': {
    freedBy: 'pod-deletion',
    actor: 'owner',
    steps: ['set-ephemeral-storage'],
    source: summary,
  },
  'dead-containers': {
    freedBy: 'container-gc',
    actor: 'platform',
    steps: ['prune-dead-containers', 'ask-owner'],
    source: 'pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers',
  },
  'container-logs': {
    freedBy: 'pod-deletion',
    actor: 'owner',
    steps: ['restart-pod', 'ask-owner'],
    source: 'pkg/kubelet/logs/container_log_manager.go rotateLogs',
  },
  'log-debris': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-place'],
    source: 'pkg/kubelet/kuberuntime/kuberuntime_gc.go evictPodLogsDirectories',
  },
  'pod-volumes': {
    freedBy: 'pod-deletion',
    actor: 'owner',
    steps: ['set-volume-limit'],
    source: summary,
  },
  'memory-volumes': {
    freedBy: 'pod-deletion',
    actor: 'owner',
    steps: ['set-volume-limit'],
    source: 'kubernetes.io/docs/concepts/storage/volumes emptyDir medium Memory',
  },
  'pod-folders': {
    freedBy: 'pod-deletion',
    actor: 'owner',
    steps: ['restart-pod', 'ask-owner'],
    source:
      'kubernetes/kubernetes#109955, #105440: beside volumes are the folders of volumes that are not mounted, termination logs and the hosts file',
  },
  'image-volumes': {
    freedBy: 'pod-deletion',
    actor: 'owner',
    steps: ['look-on-node', 'move-to-volume'],
    source:
      'containerd internal/cri/server/container_create.go volumeMounts; kubernetes/kubernetes#120149',
  },
  'orphaned-pods': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-pod-folder', 'read-journal'],
    source: `${podFolders}; kubernetes/kubernetes#60987: a deletion by hand went on into volumes`,
  },
  kubelet: {
    freedBy: 'nothing',
    actor: 'vendor',
    isUsual: true,
    steps: ['look-on-node'],
    source: podFolders,
  },
  journal: {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['vacuum-journal'],
    source: 'journald.conf(5) SystemMaxUse',
  },
  'host-logs': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-place', 'check-rotation'],
    source: 'logrotate(8)',
  },
  'core-dumps': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-place'],
    source: 'core(5)',
  },
  'package-caches': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-place'],
    source: 'dnf(8) clean',
  },
  'temporary-files': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-place'],
    source: 'tmpfiles.d(5)',
  },
  'other-runtime': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-place'],
    source: imageGc,
  },
  system: {
    freedBy: 'nothing',
    actor: 'vendor',
    isUsual: true,
    steps: ['larger-disk'],
    source: 'hier(7)',
  },
  'deleted-open-files': {
    freedBy: 'process-end',
    actor: 'owner',
    steps: ['restart-pod'],
    source: 'unlink(2); kubernetes/kubernetes#83107',
  },
  'reserved-blocks': {
    freedBy: 'nothing',
    actor: 'vendor',
    isUsual: true,
    steps: ['larger-disk'],
    source: 'mke2fs(8) -m',
  },
  'host-path': {
    freedBy: 'nothing',
    actor: 'owner',
    steps: ['clean-with-owner'],
    source: 'kubernetes/kubernetes#35017: no eviction frees a hostPath volume',
  },
  'local-volumes': {
    freedBy: 'nothing',
    actor: 'owner',
    steps: ['ask-owner'],
    source: 'kubernetes.io/docs/concepts/storage/volumes local: no capacity isolation',
  },
  'unknown-folder': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['delete-place'],
    source: 'hier(7)',
  },
  unread: {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['read-on-node'],
    source: 'docs/dev/formats.md highwater.ledger/1',
  },
  'not-explained': {
    freedBy: 'nothing',
    actor: 'platform',
    steps: ['look-under-mounts'],
    source:
      'docs/dev/formats.md highwater.ledger/1; kubernetes/kubernetes#71869: data in a folder that another disk was mounted on later',
  },
}
