/** What holds a node's disks: the contract `highwater.ledger/1`, a part of the node's prediction. Bytes are disk space, not file lengths. */

/** `unread`: what nothing measured. `not-explained`: the rest although everything was measured. */
export type DiskHolder =
  | 'images-in-use'
  | 'images-unused'
  | 'images-pinned'
  | 'images'
  | 'image-content'
  | 'leftover-snapshots'
  | 'writable-layers'
  | 'dead-containers'
  | 'container-logs'
  | 'log-debris'
  | 'pod-volumes'
  | 'orphaned-pods'
  | 'kubelet'
  | 'journal'
  | 'host-logs'
  | 'core-dumps'
  | 'package-caches'
  | 'temporary-files'
  | 'other-runtime'
  | 'system'
  | 'deleted-open-files'
  | 'reserved-blocks'
  | 'unread'
  | 'not-explained'

export type LedgerSource =
  | 'stats summary'
  | 'crictl'
  | 'ctr'
  | 'du'
  | '/proc'
  | 'df'
  /** The used bytes without the other lines. */
  | 'rest'

export interface LedgerLine {
  holder: DiskHolder
  bytes: number
  /** Bounds of `bytes`. `highBytes` may pass the used bytes where readings of different moments disagree. */
  lowBytes: number
  highBytes: number
  /** Null: not known. They are then part of the rest. */
  inodes: number | null
  source: LedgerSource
}

/** The bytes of all lines are exactly `usedBytes`: capacity without what is available, as image GC counts it. */
export interface FilesystemLedger {
  filesystem: 'nodefs' | 'imagefs'
  capacityBytes: number
  usedBytes: number
  /** Null: the filesystem has no table of inodes, or none was read. */
  usedInodes: number | null
  lines: LedgerLine[]
}

/** Local storage of one pod. */
export interface PodDiskUse {
  namespace: string
  name: string
  /** `Kind name`, of a ReplicaSet its Deployment; null: no controller. */
  owner: string | null
  bytes: number
  layerBytes: number
  logBytes: number
  volumeBytes: number
  /** Request and limit of `ephemeral-storage`; null: not set. */
  requestBytes: number | null
  limitBytes: number | null
}

/** The pods of one owner, or of one namespace, on this node. */
export interface GroupDiskUse {
  namespace: string
  /** `Kind name`, of a pod without a controller `Pod name`; null: the whole namespace. */
  owner: string | null
  pods: number
  bytes: number
}

/** What can be freed without the loss of anything that runs, and what cannot be used. Null: not known. */
export interface Freeable {
  /** What the next round of image GC deletes; 0: none is due. */
  nextImageGcBytes: number | null
  /** Every unused image: the most that lower thresholds free. */
  unusedImageBytes: number | null
  deadContainerBytes: number | null
  /** Logs above what rotation keeps. */
  unrotatedLogBytes: number | null
  /** Logs and folders of deleted pods, leftover snapshots. */
  debrisBytes: number | null
  /** Sum of the known values except the next image GC, which is part of the unused images. */
  totalBytes: number
  /** Available bytes below the highest hard threshold: the kubelet evicts before they are used. */
  unusableBytes: number | null
}

/** An EBS volume. Null: EC2 does not report it. */
export interface NodeVolume {
  volumeId: string | null
  /** `/dev/xvda`. */
  device: string | null
  /** `gp3`. */
  type: string | null
  sizeBytes: number | null
  iops: number | null
}

export interface NodeLedger {
  schema: 'highwater.ledger/1'
  filesystems: FilesystemLedger[]
  /** Up to five, largest first; empty: no statistics of pods. */
  pods: PodDiskUse[]
  /** Up to five, largest first. */
  owners: GroupDiskUse[]
  /** Up to twenty, largest first. */
  namespaces: GroupDiskUse[]
  freeable: Freeable
  /** By device, up to eight; null: not read; empty: EC2 lists none. */
  volumes: NodeVolume[] | null
  /** Why they were not read; null: they were, or EC2 was not asked. */
  volumesUnread: string | null
}
