/** Use of a node's disks by holder (the contract `highwater.ledger/1`, a part of the node's prediction). Bytes are disk space, not file lengths. */

import { controllerOf, type KubernetesPod } from '#model/input/kubernetes.ts'

/**
 * `not-images`: bytes of the runtime that its images and its running containers cannot hold, if the node did not list its snapshots;
 * `unread`: used space that no measurement covers. `not-explained`: the rest after all measurements succeeded.
 */
export type DiskHolder =
  | 'images-in-use'
  | 'images-unused'
  | 'images-pinned'
  | 'images'
  | 'not-images'
  | 'image-content'
  | 'leftover-snapshots'
  | 'other-namespaces'
  | 'writable-layers'
  | 'dead-containers'
  | 'container-logs'
  | 'log-debris'
  | 'pod-volumes'
  | 'memory-volumes'
  /** In folders of pods and in no volume. */
  | 'pod-folders'
  /** In folders of containers, for volumes that their images declare. Neither kubelet nor runtime counts them. */
  | 'image-volumes'
  /** hostPath and local volumes of pods. */
  | 'host-path'
  | 'local-volumes'
  | 'orphaned-pods'
  | 'kubelet'
  | 'journal'
  | 'host-logs'
  | 'core-dumps'
  | 'package-caches'
  | 'temporary-files'
  | 'other-runtime'
  | 'system'
  /** A folder that no other line explains. */
  | 'unknown-folder'
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
  /** Computed: the used bytes minus the other lines. */
  | 'rest'

export interface LedgerLine {
  holder: DiskHolder
  bytes: number
  /** Bounds of `bytes`. `highBytes` can exceed the used bytes if readings of different moments disagree. */
  lowBytes: number
  highBytes: number
  /** Null: unknown. These inodes are then part of the rest. */
  inodes: number | null
  source: LedgerSource
}

/** The lines' bytes add up to exactly `usedBytes`: capacity minus available bytes, as image GC counts. */
export interface FilesystemLedger {
  filesystem: 'nodefs' | 'imagefs'
  capacityBytes: number
  usedBytes: number
  /** Null: the filesystem has no inode table, or its inodes were not read. */
  usedInodes: number | null
  lines: LedgerLine[]
}

export type HolderOwner =
  /** `workload`: `Kind name` of the controller, for a ReplicaSet of its Deployment. Null: no controller. */
  | {
      kind: 'container'
      namespace: string
      pod: string
      container: string
      workload: string | null
    }
  /** `volume`: its name in the pod. Null: the whole pod. */
  | { kind: 'pod'; namespace: string; pod: string; workload: string | null; volume: string | null }
  /** `namespace` and `pod` null: a process of the host, or of a pod that the API does not list for this node. */
  | { kind: 'process'; command: string; pid: number; namespace: string | null; pod: string | null }
  /** `workloads`: `namespace/Kind name`, sorted, at most five. `isInUse` null: not every container was read. `isEvicted`: a pod that the kubelet evicted here runs it. */
  | {
      kind: 'image'
      reference: string
      workloads: string[]
      isInUse: boolean | null
      isEvicted?: true
      /** Of an image that no container uses: whose ended pods ran it here, or who runs another version of it. Absent: not known. */
      lastUsers?: string[]
    }

export type PodHolder = Extract<HolderOwner, { kind: 'pod' }>
export type ContainerHolder = Extract<HolderOwner, { kind: 'container' }>

export const podOwner = (pod: KubernetesPod, volume: string | null): PodHolder => ({
  kind: 'pod',
  ...placeInCluster(pod),
  volume,
})

export const containerOwner = (pod: KubernetesPod, container: string): ContainerHolder => ({
  kind: 'container',
  ...placeInCluster(pod),
  container,
})

function placeInCluster(pod: KubernetesPod) {
  const { namespace = '', name = '' } = pod.metadata ?? {}
  return { namespace, pod: name, workload: controllerOf(pod) }
}

/** One part of a holder, with owner and place. */
export interface HolderPart {
  holder: DiskHolder
  /** `memory`: a volume in memory, which is part of no filesystem's ledger. */
  filesystem: 'nodefs' | 'imagefs' | 'memory'
  /** Bounds; equal if measured. `highBytes` null: no upper bound. */
  lowBytes: number
  highBytes: number | null
  /** Null: unknown. */
  inodes: number | null
  /** Absolute folder or file on the node. Null: not one place. */
  place: string | null
  /** Null: no owner in the cluster, or not known. */
  owner: HolderOwner | null
}

/** Local storage of pods. */
export interface DiskUse {
  bytes: number
  layerBytes: number
  logBytes: number
  volumeBytes: number
  /** Request and limit of `ephemeral-storage`; null: no container sets one. */
  requestBytes: number | null
  limitBytes: number | null
}

export interface PodDiskUse extends DiskUse {
  namespace: string
  name: string
  /** `Kind name` of the controller; for a ReplicaSet, of its Deployment. Null: no controller. */
  owner: string | null
}

/** The pods of one owner, or of one namespace, on this node. */
export interface GroupDiskUse extends DiskUse {
  namespace: string
  /** `Kind name` of the owner; `Pod name` for a pod without a controller. Null: the whole namespace. */
  owner: string | null
  pods: number
}

/** @param pods number of pods that the use is of */
export function addUse(sum: GroupDiskUse, use: DiskUse, pods: number) {
  sum.pods += pods
  sum.bytes += use.bytes
  sum.layerBytes += use.layerBytes
  sum.logBytes += use.logBytes
  sum.volumeBytes += use.volumeBytes
  sum.requestBytes = sumOfSet(sum.requestBytes, use.requestBytes)
  sum.limitBytes = sumOfSet(sum.limitBytes, use.limitBytes)
}

const sumOfSet = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : a + b

/** Bytes that can be freed without harm to running pods, and bytes that cannot be used. Null: unknown. */
export interface Freeable {
  /** Unpacked and packed layers of all unused images, at most: the most that lower thresholds can free. */
  unusedImageBytes: number | null
  /** The part that the kubelet deletes now, under pressure or by a round of image GC that is due, at most. Absent: none, or unknown. */
  deletedNow?: { why: 'pressure' | 'image-gc'; bytes: number }
  deadContainerBytes: number | null
  /** Bytes of logs and folders of deleted pods. Leftover snapshots are not freeable: only a new node is without them. */
  debrisBytes: number | null
  /** Available bytes below the highest hard threshold: the kubelet evicts before pods can use them. */
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

/** Share of its volume that a filesystem has. Partitions and metadata take the rest. */
export const shareOfVolume = { least: 0.85, most: 1.02 }

export const hasVolumeSize = (capacityBytes: number, sizeBytes: number) =>
  capacityBytes >= shareOfVolume.least * sizeBytes &&
  capacityBytes <= shareOfVolume.most * sizeBytes

/** Owners that a ledger lists at most. */
export const listedOwners = 5

export interface NodeLedger {
  schema: 'highwater.ledger/1'
  /** Whether nodefs is imagefs too. False: it is not, or is not known to be. */
  isShared: boolean
  filesystems: FilesystemLedger[]
  /** At most five of a holder and filesystem, largest first. Only pods that the API lists for this node are owners. */
  parts: HolderPart[]
  /** Up to five pods, largest first. Empty: there are no statistics of pods. */
  pods: PodDiskUse[]
  /** Up to five owners, largest first. */
  owners: GroupDiskUse[]
  /** Up to twenty namespaces, largest first. */
  namespaces: GroupDiskUse[]
  freeable: Freeable
  /** Up to eight volumes, sorted by device. Null: not read. Empty: EC2 lists no volume. */
  volumes: NodeVolume[] | null
  /** Why the volumes were not read. Null: they were read, or EC2 was not queried. */
  volumesUnread: string | null
}

type ImageOwner = Extract<HolderOwner, { kind: 'image' }>

/** What the report shows of a node's disks. */
export interface DiskLedger extends Omit<NodeLedger, 'parts'> {
  /** The images that can be the largest, largest first. Absent: none of a GiB. */
  images?: (Pick<ImageOwner, 'reference' | 'workloads' | 'isInUse' | 'lastUsers'> &
    Record<'lowBytes' | 'highBytes', number>)[]
}

const shownImages = 5
const leastImageBytes = 2 ** 30

export function shownLedger({ parts, ...ledger }: NodeLedger): DiskLedger {
  const images = parts
    .flatMap(({ owner, lowBytes, highBytes }) => {
      if (owner?.kind !== 'image' || (highBytes ?? lowBytes) < leastImageBytes) return []
      const { kind: _, isEvicted: __, ...image } = owner
      return [{ ...image, lowBytes, highBytes: highBytes ?? lowBytes }]
    })
    .toSorted((a, b) => b.highBytes - a.highBytes)
    .slice(0, shownImages)
  return { ...ledger, ...(images.length > 0 && { images }) }
}

export const fullestOf = (disks: readonly FilesystemLedger[]): FilesystemLedger | undefined =>
  disks.toSorted((a, b) => b.usedBytes / b.capacityBytes - a.usedBytes / a.capacityBytes)[0]
