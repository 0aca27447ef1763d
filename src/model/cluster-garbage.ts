/** What the control plane's collectors have left of a cluster's own objects, and will leave: one section for each concern. */
import type { EksCluster } from './cluster-input.ts'

/**
 * Kinds of cluster garbage that the policy can switch on. `nodes` needs no list of its own.
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

/** Controller of an object, for example kind `CronJob` and its name; null: it has none. */
export interface Controller {
  kind: string
  name: string
}

/** A pod that has finished. */
export interface TerminatedPod {
  namespace: string
  name: string
  phase: string
  /** `Evicted`, `NodeShutdown`, …; null where the status has none. */
  reason: string | null
  controller: Controller | null
  node: string | null
  createdMs: number | null
  /** When its last container ended; null where no container says it. */
  finishedMs: number | null
  isBeingDeleted: boolean
}

/** A finalizer of an object that is being deleted. */
export interface HeldFinalizer {
  finalizer: string
  /** Component that removes the finalizer; null: unknown. */
  controller: string | null
  /** `control-plane`: it is part of that; `there`, `stopped`: as its workload is; `absent`: no workload is called like it; `unknown`: it could not be looked up, or not for certain. */
  state: 'control-plane' | 'there' | 'absent' | 'stopped' | 'unknown'
}

/** A pod whose deletion does not end. */
export interface TerminatingPod {
  namespace: string
  name: string
  controller: Controller | null
  node: string | null
  /** When its grace period was over. */
  sinceMs: number
  finalizers: readonly HeldFinalizer[]
  /** `not-read`: it is not known whether there is such a node. */
  nodeState: 'none' | 'gone' | 'ready' | 'not-ready' | 'not-read'
  /** Pod GC deletes it in its next round, so only finalizers can hold it. */
  isTakenByPodGc: boolean
  /** Its kubelet holds it no longer: it was deleted without a grace period, as a kubelet does that has ended it. */
  isLetGo: boolean
}

export interface PodGarbage {
  /** All that have finished, first to go first. */
  terminated: readonly TerminatedPod[]
  /** From how many on pod GC deletes the oldest; `isAssumed`: upstream's default, for EKS does not say. 0 or less: it deletes none. */
  threshold: { pods: number; isAssumed: boolean }
  /** How many of them are more than the threshold. */
  excess: number
  terminating: readonly TerminatingPod[]
}

/** A Job that has finished. */
export interface FinishedJob {
  namespace: string
  name: string
  /** The owner whose deletion deletes it: its controller, else its first owner. */
  controller: Controller | null
  outcome: 'Complete' | 'Failed'
  finishedMs: number | null
  /** When its time to live is over; null: it has none, or it is not known when it finished. */
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
  node: string
  /** As `nodeLeases` of the replay says. */
  state: 'held' | 'ownerless' | 'stale-owner' | 'collectable' | 'leftover' | 'unknown'
  /** When it was last renewed, or made where it never was. */
  renewedMs: number | null
  isExpired: boolean | null
}

export interface LeaseGarbage {
  /** All but those that a node holds and renews. */
  nodes: readonly NodeLeaseGarbage[]
}

export interface NodeGarbage {
  /** Nodes that are not Ready; `sinceMs`: since when, null where the condition does not say. */
  notReady: readonly {
    node: string
    ready: 'False' | 'Unknown' | null
    sinceMs: number | null
    reason: string | null
  }[]
}

/** A PersistentVolume whose claim is gone. */
export interface ReleasedVolume {
  volume: string
  /** `namespace/name`; null where it says none. */
  claim: string | null
  storageClass: string | null
  reclaimPolicy: string
  /** As `syncVolumes` of the replay says. */
  action: 'retain' | 'leave-to-driver' | 'fail' | 'other'
  capacityBytes: number | null
  /** Driver of its CSI source, or `kubernetes.io/aws-ebs`. */
  driver: string | null
  /** What the driver calls it: of EBS the volume's id. */
  handle: string | null
  /** `gp3`, if the driver names it. */
  volumeType: string | null
  /** Since when it is released; null: its API server does not say, and it was not before it was made. */
  sinceMs: number | null
  createdMs: number | null
  /** It has a deletionTimestamp and still exists. Objects stuck in Terminating are listed separately. */
  isBeingDeleted: boolean
}

/** A claim or a volume whose deletion does not end. */
export interface HeldVolumeObject {
  /** Empty of a volume. */
  namespace: string
  name: string
  sinceMs: number
  finalizers: readonly HeldFinalizer[]
  /** What kubernetes.io/pvc-protection or pv-protection waits for; null: not known. */
  usedBy: readonly string[] | null
}

export interface VolumeGarbage {
  released: readonly ReleasedVolume[]
  held: readonly HeldVolumeObject[]
}

/** A certificate signing request that is still there. */
export interface CertificateRequest {
  name: string
  signer: string
  /** User name of the requestor. */
  requestor: string
  createdMs: number | null
  state: 'pending' | 'approved' | 'issued' | 'denied' | 'failed'
  /** Since when it is so; null: it does not say. */
  sinceMs: number | null
  /** Why the cleaner should have deleted it more than one of its rounds ago; null: it should not have. */
  overdue: string | null
  /** No cleaner of this version deletes it in its present state. */
  isNeverCollected: boolean
}

export interface CertificateGarbage {
  requests: readonly CertificateRequest[]
}

/** Objects that are alike: of one kind, in one namespace, with the same owners. */
export interface OwnedGroup {
  kind: string
  namespace: string
  count: number
  /** The first of them. */
  names: readonly string[]
  /** When the oldest was made. */
  createdMs: number | null
}

export interface OwnerGarbage {
  /**
   * Every owner is gone, and so should they be; pods are not looked at. `isReplaced`: another object has the owner's name now; `likely`: an owner is
   * a pod, and these are read node by node, before anything else, and not all of those whose node is gone.
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
    /** Number of pods that it wants; a pod counts 1, a finished pod 0. Null: not applicable, or unset. */
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

/** Objects in deletion that finalizers hold, but for pods, volumes and their claims, which have sections of their own. */
export interface FinalizerGarbage {
  held: readonly HeldObject[]
}

/** Disks of a cluster in its account. */
export interface DiskGarbage {
  /** Attached to nothing, and named by no PersistentVolume that is known, or by one that no claim has. */
  unattached: readonly {
    volumeId: string
    capacityBytes: number | null
    volumeType: string | null
    zone: string | null
    /** What it was given beyond its size; null: not known. */
    iops: number | null
    throughputMiBps: number | null
    /** The PersistentVolume that names it and is Available; null: none names it. */
    volume: string | null
    /** When it was made, or that volume became Available. */
    createdMs: number | null
  }[]
  /** Whether all PersistentVolumes were read: one that was not may name a disk. */
  areVolumesKnown: boolean
}

export interface InstanceGarbage {
  /** Nodes that are not Ready, and whose instance is not among the cluster's; `sinceMs`: not Ready since then. */
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

/** By whose rules the control plane's own collectors are replayed. */
export interface ControlPlane {
  /** `1.34`, `v1.34.1-eks-…`; null: not known, and of no kubelet either. */
  version: string | null
  /** Neither EKS nor the API server said it: it is that of the newest kubelet, and no older. */
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
  /** What stays open about a section that is known: it can turn out worse than it looks. */
  doubts: Partial<Record<ClusterNeed, readonly string[]>>
  /** Requested resources: why each was not read, or not completely; null: it was read. */
  resources: Readonly<Record<string, string | null>>
}
