/** Garbage among a cluster's own objects that the control plane's collectors leave: one section for each kind. */

import type { EksCluster } from '#model/input/record.ts'

/**
 * Kinds of cluster garbage that the policy can switch on. `nodes` needs no further list.
 * `owners` and `finalizers` need the lists of all other kinds except `pods`.
 */
export const garbageKinds = [
  'pods',
  'jobs',
  'leases',
  'nodes',
  'volumes',
  'certificates',
  'owners',
  'finalizers',
  'disks',
  'instances',
] as const
export type ClusterNeed = (typeof garbageKinds)[number]

/** Controller of an object, for example kind `CronJob` and its name. */
export interface Controller {
  kind: string
  name: string
}

/** A pod that has finished. */
export interface TerminatedPod {
  namespace: string
  name: string
  phase: string
  /** `Evicted`, `NodeShutdown`, …; null: the status has no reason. */
  reason: string | null
  controller: Controller | null
  createdMs: number | null
  /** When the last container ended; null: no container status has the time. */
  finishedMs: number | null
  isBeingDeleted: boolean
}

/** A finalizer of an object that is being deleted. */
export interface HeldFinalizer {
  finalizer: string
  /** Component that removes the finalizer; null: unknown. */
  controller: string | null
  /** `control-plane`: part of the control plane; `there`, `stopped`: state of its workload; `absent`: no workload has its name; `unknown`: no certain answer. */
  state: 'control-plane' | 'there' | 'absent' | 'stopped' | 'unknown'
}

/** A pod stuck in Terminating. */
export interface TerminatingPod {
  namespace: string
  name: string
  controller: Controller | null
  node: string | null
  /** When the grace period ended. */
  sinceMs: number
  finalizers: readonly HeldFinalizer[]
  /** `none`: assigned to no node; `gone`: the node does not exist; `not-read`: nodes were not read. */
  nodeState: 'none' | 'gone' | 'ready' | 'not-ready' | 'not-read'
  /** Pod GC deletes it in its next round, so only finalizers can hold it. */
  isTakenByPodGc: boolean
  /** The kubelet has released the pod: it deletes a pod with grace period 0 after its containers ended. */
  isLetGo: boolean
}

export interface PodGarbage {
  /** All finished pods, in the order in which pod GC deletes them. */
  terminated: readonly TerminatedPod[]
  /** Pod GC deletes the oldest finished pods above this number; 0 or less: none. `isAssumed`: upstream's default, because EKS reports no value. */
  threshold: { pods: number; isAssumed: boolean }
  /** Number of finished pods above the threshold. */
  excess: number
  terminating: readonly TerminatingPod[]
}

/** A Job that has finished. */
export interface FinishedJob {
  namespace: string
  name: string
  /** Owner whose deletion deletes the Job: its controller, else its first owner. */
  controller: Controller | null
  outcome: 'Complete' | 'Failed'
  finishedMs: number | null
  /** When the TTL expires. Null: the Job has no TTL, or its end time is unknown. */
  expiresMs: number | null
  ttlSeconds: number | null
  isBeingDeleted: boolean
  finalizers: readonly string[]
}

export interface CronJobGarbage {
  namespace: string
  name: string
  successful: { limit: number; count: number; excess: number }
  failed: { limit: number; count: number; excess: number }
}

export interface JobGarbage {
  finished: readonly FinishedJob[]
  cronJobs: readonly CronJobGarbage[]
}

export interface NodeLeaseGarbage {
  /** The node's name, which is also the lease's name. */
  node: string
  /**
   * `held`: the owner is the node of that name. `ownerless`: the node exists, and its kubelet sets the owner at the next renewal. `stale-owner`: the
   * owner is a former node of that name; the lease is deleted, and a live kubelet creates it anew. `collectable`: the node does not exist, so the
   * collector deletes the lease. `leftover`: no node, and no collector deletes it. `unknown`: nodes were not read, or it has another owner.
   */
  state: 'held' | 'ownerless' | 'stale-owner' | 'collectable' | 'leftover' | 'unknown'
  /** When the Lease was last renewed; if never, when it was created. */
  renewedMs: number | null
  /** Whether no kubelet renewed the lease for its whole duration. Null: unknown. */
  isExpired: boolean | null
}

export interface LeaseGarbage {
  /** All node Leases except those that a node holds and renews. */
  nodes: readonly NodeLeaseGarbage[]
}

export interface NodeGarbage {
  /** Nodes that are not Ready. `sinceMs`: since when; null: the condition has no time. */
  notReady: readonly {
    node: string
    ready: 'False' | 'Unknown' | null
    sinceMs: number | null
    reason: string | null
  }[]
}

/** A PersistentVolume whose PVC was deleted. */
export interface ReleasedVolume {
  volume: string
  /** `namespace/name` of the PVC; null: the volume names none. */
  claim: string | null
  storageClass: string | null
  /** Action of the PersistentVolume controller that `syncVolumes` of the replay computes. */
  action: 'retain' | 'leave-to-driver' | 'fail' | 'other'
  capacityBytes: number | null
  /** Driver of its CSI source, or `kubernetes.io/aws-ebs`. */
  driver: string | null
  /** The driver's handle of the volume; for EBS, the volume id. */
  handle: string | null
  /** `gp3`, if the driver names it. */
  volumeType: string | null
  /** When the volume was released. Null: the API server reports no time; it is not before `createdMs`. */
  sinceMs: number | null
  createdMs: number | null
  /** It has a deletionTimestamp and still exists. Objects stuck in Terminating are listed separately. */
  isBeingDeleted: boolean
}

/** A PVC or PersistentVolume stuck in Terminating. */
export interface HeldVolumeObject {
  /** Empty for a PersistentVolume. */
  namespace: string
  name: string
  sinceMs: number
  finalizers: readonly HeldFinalizer[]
  /** Objects that kubernetes.io/pvc-protection or pv-protection waits for; null: unknown. */
  usedBy: readonly string[] | null
}

export interface VolumeGarbage {
  released: readonly ReleasedVolume[]
  held: readonly HeldVolumeObject[]
}

/** A certificate signing request that still exists. */
export interface CertificateRequest {
  name: string
  signer: string
  /** User name of the requestor. */
  requestor: string
  createdMs: number | null
  state: 'pending' | 'approved' | 'issued' | 'denied' | 'failed'
  /** Since when the request is in `state`; null: the request has no time. */
  sinceMs: number | null
  /** Why the cleaner should have deleted the request more than one round ago; null: the request is not overdue. */
  overdue: string | null
  /** No cleaner of this version deletes the request in its present state. */
  isNeverCollected: boolean
}

export interface CertificateGarbage {
  requests: readonly CertificateRequest[]
}

/** Objects of one kind in one namespace with the same owners. */
export interface OwnedGroup {
  kind: string
  namespace: string
  count: number
  /** Names of the first objects. */
  names: readonly string[]
  /** When the oldest object was created. */
  createdMs: number | null
}

export interface OwnerGarbage {
  /**
   * Objects without a remaining owner, so they should be deleted; pods are not checked. `isReplaced`: another object has the owner's name now. `likely`:
   * an owner is a pod. Pods are read node by node, before all other objects, and pods of deleted nodes might be missing.
   */
  dangling: readonly (OwnedGroup & {
    owner: string
    isReplaced: boolean
    confidence: 'certain' | 'likely'
  })[]
  /** Foreground deletion, blocked by these dependents; empty: no known dependent blocks it. */
  blocked: readonly {
    kind: string
    namespace: string
    name: string
    sinceMs: number
    dependents: readonly OwnedGroup[]
  }[]
  /** Objects whose labels or annotations name a controller, without an ownerReference. */
  orphaned: readonly {
    kind: string
    namespace: string
    name: string
    controllerKind: string
    createdMs: number | null
    /** Number of pods that the object wants. For a pod: 1, or 0 if finished. Null: not applicable, or unset. */
    replicas: number | null
  }[]
}

export interface HeldObject {
  /** `plural` or `plural.group`. */
  resource: string
  kind: string
  namespace: string
  name: string
  sinceMs: number
  /** When the TTL of a finished Job expires; null: it has no TTL. */
  expiresMs: number | null
  finalizers: readonly HeldFinalizer[]
}

/** Objects that finalizers keep in Terminating, except pods, PersistentVolumes and PVCs, which have their own sections. */
export interface FinalizerGarbage {
  held: readonly HeldObject[]
}

/** EBS volumes of a cluster in its account. */
export interface DiskGarbage {
  /** Disks attached to no instance. No known PersistentVolume names the disk, or one without a PVC does. */
  unattached: readonly {
    volumeId: string
    capacityBytes: number | null
    volumeType: string | null
    /** Provisioned IOPS; null, here and in `throughputMiBps`: unknown. */
    iops: number | null
    throughputMiBps: number | null
    /** Available PersistentVolume that names the disk; null: none names it. */
    volume: string | null
    /** When the disk was created or `volume` became Available, whichever is later. */
    createdMs: number | null
  }[]
  /** Whether all PersistentVolumes were read. An unread one might name a disk. */
  areVolumesKnown: boolean
}

export interface InstanceGarbage {
  /** Nodes that are not Ready and whose instance is not among the cluster's. `sinceMs`: since when they are not Ready. */
  withoutInstance: readonly { node: string; instanceId: string; sinceMs: number | null }[]
}

/** Sections by kind. */
export interface ClusterSections extends Record<ClusterNeed, unknown> {
  pods: PodGarbage
  jobs: JobGarbage
  leases: LeaseGarbage
  nodes: NodeGarbage
  volumes: VolumeGarbage
  certificates: CertificateGarbage
  owners: OwnerGarbage
  finalizers: FinalizerGarbage
  disks: DiskGarbage
  instances: InstanceGarbage
}

/** Control plane whose collectors the replay computes. */
export interface ControlPlane {
  /** `1.34`, `v1.34.1-eks-…`; null: unknown, as is the version of every kubelet. */
  version: string | null
  /** Neither EKS nor the API server reported the version. `version` is the newest kubelet's; the real one is not older. */
  isAssumed: boolean
}

/** Garbage of one cluster. Null section: not requested, or unread with its reasons in `missing`. */
export type ClusterPrediction = { readonly [Need in ClusterNeed]: ClusterSections[Need] | null } & {
  cluster: string
  /** RFC 3339: the snapshot's time. */
  at: string
  eks: EksCluster | null
  controlPlane: ControlPlane
  missing: Partial<Record<ClusterNeed, readonly string[]>>
  /** Open questions about a known section: its garbage might be worse than shown. */
  doubts: Partial<Record<ClusterNeed, readonly string[]>>
  /** Requested resources: why each was not read, or not completely; null: it was read. */
  resources: Readonly<Record<string, string | null>>
}

/* The table of a cluster's garbage: one row for each rule that found something. */

/**
 * What happens to the objects without an operator's action. `never`: no collector deletes them;
 * `late`: a collector should have deleted them already; `held`: deletion is pending; `threshold`:
 * pod GC deletes the oldest finished pods above a cluster-wide limit; `with`: they are deleted with
 * their owner. Sorted by urgency.
 */
export const garbageFates = ['never', 'late', 'held', 'threshold', 'with'] as const
export type GarbageFate = (typeof garbageFates)[number]

/** Number of objects in one namespace. */
export interface GarbageShare {
  name: string
  count: number
}

export interface GarbageRow {
  rule: string
  count: number
  /** Since when the oldest object is garbage; null: unknown. */
  oldestMs: number | null
  /** Namespaces with most objects; empty for objects of the whole cluster. */
  namespaces: GarbageShare[]
  /** Number of further namespaces. */
  namespacesLeftOut: number
  /** Null: the objects hold no disk, or its size is unknown. */
  bytes: number | null
  /** EBS list price of us-east-1; null: unknown. */
  monthlyUsd: number | null
  fate: GarbageFate
}

/** Kinds of garbage that could not be searched, and why. */
export interface GarbageGap {
  reason: string
  needs: ClusterNeed[]
}

export interface GarbageOverview {
  cluster: string
  /** RFC 3339: when the cluster was observed. */
  at: string
  /** Sorted by fate, cost and count. */
  rows: GarbageRow[]
  /** Kinds that were searched and have no garbage. */
  clean: ClusterNeed[]
  gaps: GarbageGap[]
}
