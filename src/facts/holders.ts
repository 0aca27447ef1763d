/** The holders of a node's disks: a new holder is one row and one measurement. */

import type { FreedBy, HolderNote, StepActionId } from '#model/finding.ts'
import type { DiskHolder } from '#model/prediction.ts'

export interface HolderFacts extends HolderNote {
  what: string
  freedBy: FreedBy
  /** `platform`: who runs the nodes. `owner`: who runs the workload. `vendor`: who makes the image or the runtime. */
  actor: 'platform' | 'owner' | 'vendor'
  /** The usual contents of a node: a cause only if they hold a large part of the disk. */
  isUsual?: true
  /** In order: first what frees bytes now, last what keeps them from coming back. */
  steps: readonly StepActionId[]
  source: string
}

/** Nothing frees it: it is left until who runs the nodes deletes it. */
const left = {
  freedBy: 'nothing',
  actor: 'platform',
  notFreedBy: ['image-gc', 'container-gc', 'pod-deletion', 'restart'],
} as const
const ofVendor = { ...left, actor: 'vendor' } as const
const ofOwner = { ...left, actor: 'owner' } as const
const ofPods = { freedBy: 'pod-deletion', actor: 'owner' } as const
/** Of the usual contents of a node. */
const usual = { ...ofVendor, isUsual: true } as const
const imageDeletion = 'pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace'

export const holders: Readonly<Record<DiskHolder, HolderFacts>> = {
  'images-in-use': {
    what: 'unpacked images that containers use',
    writer: 'the runtime, as it pulls what pods name',
    freedBy: 'pod-deletion',
    actor: 'platform',
    notFreedBy: ['image-gc', 'container-gc', 'restart'],
    steps: ['larger-disk'],
    source: imageDeletion,
  },
  'images-unused': {
    what: 'unpacked images that no container uses',
    writer: 'the runtime, for pods that have gone',
    freedBy: 'image-gc',
    actor: 'platform',
    notFreedBy: ['container-gc', 'pod-deletion', 'restart'],
    steps: ['prune-images'],
    source: imageDeletion,
  },
  'images-pinned': {
    what: 'images that image GC may not delete',
    writer: 'the runtime, and who makes the AMI',
    ...left,
    steps: ['larger-disk'],
    source: 'containerd internal/cri/labels PinnedImageLabelKey',
  },
  images: {
    what: 'images whose use is unknown',
    writer: 'the runtime, as it pulls what pods name',
    freedBy: 'image-gc',
    actor: 'platform',
    notFreedBy: ['container-gc', 'restart'],
    steps: ['read-on-node', 'prune-images'],
    source: imageDeletion,
  },
  'not-images': {
    what: 'runtime data beside images and running containers, snapshots unread',
    writer: 'the runtime, as it unpacks',
    ...ofVendor,
    notFreedBy: ['image-gc'],
    steps: ['read-on-node', 'replace-node', 'upgrade-runtime'],
    source: 'containerd internal/cri/server/images/imagefs_info.go: all snapshots count',
  },
  'image-content': {
    what: 'packed layers beside the unpacked ones',
    writer: 'the runtime: the packed layers of a pull',
    freedBy: 'image-deletion',
    actor: 'platform',
    notFreedBy: ['container-gc', 'pod-deletion', 'restart'],
    steps: ['set-discard-unpacked'],
    source: 'containerd internal/cri/config ImageConfig.DiscardUnpackedLayers',
  },
  'leftover-snapshots': {
    what: 'snapshots that no image and no container has',
    writer: 'the runtime: pulls and builds that were broken off',
    ...ofVendor,
    steps: ['replace-node', 'upgrade-runtime'],
    source:
      'containerd/containerd#13416: no garbage collection removes a snapshot with a lease or root label',
  },
  'other-namespaces': {
    what: 'images and layers that the CRI does not see',
    writer: 'nerdctl, ctr, buildkitd and Docker',
    ...left,
    steps: ['clean-namespace'],
    source: 'containerd docs/namespaces.md: the CRI sees the namespace k8s.io alone',
  },
  'writable-layers': {
    what: 'what containers write beside their volumes',
    writer: 'processes of containers, outside their volumes',
    ...ofPods,
    notFreedBy: ['image-gc'],
    steps: ['set-ephemeral-storage'],
    source: 'pkg/kubelet/eviction/helpers.go podDiskUsage',
  },
  'dead-containers': {
    what: 'layers of containers that ended',
    writer: 'processes of containers that ended',
    freedBy: 'container-gc',
    actor: 'platform',
    notFreedBy: ['image-gc', 'restart'],
    steps: ['prune-dead-containers', 'ask-owner'],
    source: 'pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers',
  },
  'container-logs': {
    what: 'logs of containers',
    writer: 'the runtime: stdout and stderr of containers',
    ...ofPods,
    notFreedBy: ['image-gc', 'restart'],
    steps: ['restart-pod', 'ask-owner'],
    source: 'pkg/kubelet/logs/container_log_manager.go rotateLogs',
  },
  'log-debris': {
    what: 'logs of deleted pods',
    writer: 'the runtime, for pods that have gone',
    ...left,
    notFreedBy: ['image-gc', 'pod-deletion', 'restart'],
    steps: ['delete-place'],
    source: 'pkg/kubelet/kuberuntime/kuberuntime_gc.go evictPodLogsDirectories',
  },
  'pod-volumes': {
    what: 'emptyDir volumes on disk',
    writer: 'processes of containers, into emptyDir volumes',
    ...ofPods,
    notFreedBy: ['image-gc', 'container-gc', 'restart'],
    steps: ['set-volume-limit'],
    source: 'pkg/kubelet/eviction/helpers.go podDiskUsage',
  },
  'memory-volumes': {
    what: 'emptyDir volumes in memory',
    writer: 'processes of containers, into emptyDir volumes in memory',
    ...ofPods,
    notFreedBy: ['image-gc', 'container-gc', 'restart'],
    steps: ['set-volume-limit'],
    source: 'kubernetes.io/docs/concepts/storage/volumes emptyDir medium Memory',
  },
  'pod-folders': {
    what: 'files in folders of pods beside their volumes',
    writer: 'processes of containers, where a volume should be mounted',
    ...ofPods,
    notFreedBy: ['image-gc', 'container-gc', 'restart'],
    steps: ['restart-pod', 'ask-owner'],
    source:
      'kubernetes/kubernetes#109955, #105440: beside volumes are the folders of volumes that are not mounted, termination logs and the hosts file',
  },
  'image-volumes': {
    what: 'volumes that images declare (VOLUME)',
    writer: 'processes of containers, where the image declares a volume',
    ...ofPods,
    notFreedBy: ['image-gc'],
    steps: ['move-to-volume'],
    source:
      'containerd internal/cri/server/container_create.go volumeMounts; kubernetes/kubernetes#120149',
  },
  'orphaned-pods': {
    what: 'folders of deleted pods',
    writer: 'processes of pods that have gone',
    ...left,
    steps: ['delete-pod-folder', 'read-journal'],
    source:
      'pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs; kubernetes/kubernetes#60987: a deletion by hand went on into volumes',
  },
  kubelet: {
    what: "the kubelet's own folders",
    writer: 'the kubelet, its plugins and checkpoints of containers',
    ...usual,
    steps: ['look-on-node'],
    source: 'pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs',
  },
  journal: {
    what: 'the journal of systemd',
    writer: 'every service of the node, above all the kubelet and the runtime',
    ...left,
    steps: ['vacuum-journal'],
    source: 'journald.conf(5) SystemMaxUse',
  },
  'host-logs': {
    what: 'logs outside pods',
    writer: 'services of the node: audit, cloud-init, rsyslog, agents',
    ...left,
    steps: ['delete-place', 'check-rotation'],
    source: 'logrotate(8)',
  },
  'core-dumps': {
    what: 'memory of crashed processes',
    writer: 'the kernel, for processes that crashed',
    ...left,
    steps: ['delete-place', 'find-crash'],
    source: 'core(5), coredump.conf(5) MaxUse',
  },
  'package-caches': {
    what: 'downloads of package managers',
    writer: 'dnf, apt and pip of the node',
    ...left,
    steps: ['delete-place'],
    source: 'dnf(8) clean',
  },
  'temporary-files': {
    what: '/tmp and /var/tmp',
    writer: 'users who log in, user data and services',
    ...left,
    steps: ['delete-place'],
    source: 'tmpfiles.d(5)',
  },
  'other-runtime': {
    what: 'folders of a runtime that the kubelet does not use',
    writer: 'the runtime that the node used before, or builds beside it',
    ...left,
    steps: ['delete-place'],
    source: imageDeletion,
  },
  system: {
    what: 'operating system and home folders',
    writer: 'who makes the AMI',
    ...usual,
    steps: ['larger-disk'],
    source: 'hier(7)',
  },
  'deleted-open-files': {
    what: 'deleted files that a process has open',
    writer: 'processes that write on into a file after its deletion',
    freedBy: 'process-end',
    actor: 'owner',
    notFreedBy: ['image-gc', 'container-gc'],
    steps: ['restart-pod'],
    source: 'unlink(2); kubernetes/kubernetes#83107',
  },
  'reserved-blocks': {
    what: 'blocks that only root may use',
    writer: 'mkfs, as it makes the filesystem',
    ...usual,
    steps: ['larger-disk'],
    source: 'mke2fs(8) -m',
  },
  'host-path': {
    what: 'folders that pods mount as hostPath',
    writer: 'processes of containers, into folders of the node',
    ...ofOwner,
    steps: ['clean-with-owner'],
    source: 'kubernetes/kubernetes#35017: no eviction frees a hostPath volume',
  },
  'local-volumes': {
    what: 'PersistentVolumes that are folders of the node',
    writer: 'processes of containers, into their claims',
    ...ofOwner,
    steps: ['clean-claim'],
    source: 'kubernetes.io/docs/concepts/storage/volumes local: no capacity isolation',
  },
  'unknown-folder': {
    what: 'a large folder that no other row has',
    writer: 'programs of the node that the table does not know',
    ...left,
    steps: ['delete-place'],
    source: 'hier(7)',
  },
  unread: {
    what: 'used space that no measurement covers',
    writer: 'what no measurement covers',
    ...left,
    notFreedBy: [],
    steps: ['read-on-node'],
    source: 'docs/dev/formats.md highwater.ledger/1',
  },
  'not-explained': {
    what: 'the rest after all measurements',
    writer: 'pods or services, often before a disk was mounted above the folder',
    ...left,
    notFreedBy: ['image-gc'],
    steps: ['look-under-mounts'],
    source:
      'docs/dev/formats.md highwater.ledger/1; kubernetes/kubernetes#71869: data in a folder that another disk was mounted on later',
  },
}
