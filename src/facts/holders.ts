/** The holders of a node's disks, each with what writes it, what frees it, who has to act, and the steps that end it. A new holder is one row and one measurement. */

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

/** What frees it and who acts, then the steps in order. */
const row =
  (freedBy: FreedBy, actor: HolderFacts['actor']) =>
  (...steps: StepActionId[]): HolderFacts => ({ freedBy, actor, steps })
/** Nothing frees it: it is left until who runs the nodes deletes it. */
const left = row('nothing', 'platform')
const ofVendor = row('nothing', 'vendor')
const ofOwner = row('nothing', 'owner')
const ofPods = row('pod-deletion', 'owner')
/** Of the usual contents of a node. */
const usualHolder = (step: StepActionId): HolderFacts => ({ ...ofVendor(step), isUsual: true })

export const holders: Readonly<Record<DiskHolder, HolderFacts>> = {
  // Written by: the runtime, as it pulls what pods name
  // Source: pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace
  'images-in-use': row('pod-deletion', 'platform')('larger-disk'),
  // Written by: the runtime, for pods that have gone
  // Source: pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace
  'images-unused': row('image-gc', 'platform')('prune-images'),
  // Written by: the runtime, and who makes the AMI
  // Source: containerd internal/cri/labels PinnedImageLabelKey
  'images-pinned': left('larger-disk'),
  // Written by: the runtime, as it pulls what pods name
  // Source: pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace
  images: row('image-gc', 'platform')('read-on-node', 'prune-images'),
  // Written by: the runtime, as it unpacks
  // Source: containerd internal/cri/server/images/imagefs_info.go: all snapshots count
  'not-images': ofVendor('read-on-node', 'replace-node', 'upgrade-runtime'),
  // Written by: the runtime: the packed layers of a pull
  // Source: containerd internal/cri/config ImageConfig.DiscardUnpackedLayers
  'image-content': row('image-deletion', 'platform')('set-discard-unpacked'),
  // Written by: the runtime: pulls and builds that were broken off
  // Source: containerd/containerd#13416: no garbage collection removes a snapshot with a lease or root label
  'leftover-snapshots': ofVendor('replace-node', 'upgrade-runtime'),
  // Written by: nerdctl, ctr, buildkitd and Docker
  // Source: containerd docs/namespaces.md: the CRI sees the namespace k8s.io alone
  'other-namespaces': left('clean-namespace'),
  // Written by: processes of containers, outside their volumes
  // Source: pkg/kubelet/eviction/helpers.go podDiskUsage
  'writable-layers': ofPods('set-ephemeral-storage'),
  // Written by: processes of containers that ended
  // Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers
  'dead-containers': row('container-gc', 'platform')('prune-dead-containers', 'ask-owner'),
  // Written by: the runtime: stdout and stderr of containers
  // Source: pkg/kubelet/logs/container_log_manager.go rotateLogs
  'container-logs': ofPods('restart-pod', 'ask-owner'),
  // Written by: the runtime, for pods that have gone
  // Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictPodLogsDirectories
  'log-debris': left('delete-place'),
  // Written by: processes of containers, into emptyDir volumes
  // Source: pkg/kubelet/eviction/helpers.go podDiskUsage
  'pod-volumes': ofPods('set-volume-limit'),
  // Written by: processes of containers, into emptyDir volumes in memory
  // Source: kubernetes.io/docs/concepts/storage/volumes emptyDir medium Memory
  'memory-volumes': ofPods('set-volume-limit'),
  // Written by: processes of containers, where a volume should be mounted
  // Source: kubernetes/kubernetes#109955, #105440: beside volumes are the folders of volumes that are not mounted, termination logs and the hosts file
  'pod-folders': ofPods('restart-pod', 'ask-owner'),
  // Written by: processes of containers, where the image declares a volume
  // Source: containerd internal/cri/server/container_create.go volumeMounts; kubernetes/kubernetes#120149
  'image-volumes': ofPods('look-on-node', 'move-to-volume'),
  // Written by: processes of pods that have gone
  // Source: pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs; kubernetes/kubernetes#60987: a deletion by hand went on into volumes
  'orphaned-pods': left('delete-pod-folder', 'read-journal'),
  // Written by: the kubelet, its plugins and checkpoints of containers
  // Source: pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs
  kubelet: usualHolder('look-on-node'),
  // Written by: every service of the node, above all the kubelet and the runtime
  // Source: journald.conf(5) SystemMaxUse
  journal: left('vacuum-journal'),
  // Written by: services of the node: audit, cloud-init, rsyslog, agents
  // Source: logrotate(8)
  'host-logs': left('delete-place', 'check-rotation'),
  // Written by: the kernel, for processes that crashed
  // Source: core(5)
  'core-dumps': left('delete-place'),
  // Written by: dnf, apt and pip of the node
  // Source: dnf(8) clean
  'package-caches': left('delete-place'),
  // Written by: users who log in, user data and services
  // Source: tmpfiles.d(5)
  'temporary-files': left('delete-place'),
  // Written by: the runtime that the node used before, or builds beside it
  // Source: pkg/kubelet/images/image_gc_manager.go detectImages, freeSpace
  'other-runtime': left('delete-place'),
  // Written by: who makes the AMI
  // Source: hier(7)
  system: usualHolder('larger-disk'),
  // Written by: processes that write on into a file after its deletion
  // Source: unlink(2); kubernetes/kubernetes#83107
  'deleted-open-files': row('process-end', 'owner')('restart-pod'),
  // Written by: mkfs, as it makes the filesystem
  // Source: mke2fs(8) -m
  'reserved-blocks': usualHolder('larger-disk'),
  // Written by: processes of containers, into folders of the node
  // Source: kubernetes/kubernetes#35017: no eviction frees a hostPath volume
  'host-path': ofOwner('clean-with-owner'),
  // Written by: processes of containers, into volumes of the kind local
  // Source: kubernetes.io/docs/concepts/storage/volumes local: no capacity isolation
  'local-volumes': ofOwner('ask-owner'),
  // Written by: programs of the node that the table does not know
  // Source: hier(7)
  'unknown-folder': left('delete-place'),
  // Source: docs/dev/formats.md highwater.ledger/1
  unread: left('read-on-node'),
  // Written by: often pods or services, before a disk was mounted above the folder
  // Source: docs/dev/formats.md highwater.ledger/1; kubernetes/kubernetes#71869: data in a folder that another disk was mounted on later
  'not-explained': left('look-under-mounts'),
}
