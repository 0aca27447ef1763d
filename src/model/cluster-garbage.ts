/** What the control plane's collectors have left of a cluster's own objects, and will leave: one section for each concern. */
import type { GarbageKind } from './policy.ts'
import type { RawObject } from './record.ts'

/** Who controls an object, `CronJob` and its name; null: nobody. */
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

/** A pod whose deletion does not end. */
export interface TerminatingPod {
  namespace: string
  name: string
  node: string | null
  /** When its grace period was over. */
  sinceMs: number
  finalizers: readonly string[]
  /** `not-read`: it is not known whether there is such a node. */
  nodeState: 'none' | 'gone' | 'ready' | 'not-ready' | 'not-read'
  /** Pod GC deletes it in its next round, so only finalizers can hold it. */
  isTakenByPodGc: boolean
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
  isSuspended: boolean
  createdMs: number | null
  lastScheduledMs: number | null
  successful: { limit: number; count: number; excess: number }
  failed: { limit: number; count: number; excess: number }
}

export interface JobGarbage {
  finished: readonly FinishedJob[]
  cronJobs: readonly CronJobGarbage[]
  /** Jobs that were suspended and wait. */
  suspended: readonly { namespace: string; name: string; controller: Controller | null; createdMs: number | null }[]
}

export interface NodeLeaseGarbage {
  node: string
  /** As `nodeLeases` of the replay says. */
  state: 'held' | 'ownerless' | 'stale-owner' | 'collectable' | 'leftover' | 'unknown'
  renewedMs: number | null
  isExpired: boolean | null
}

export interface LeaseGarbage {
  /** All but those that a node holds and renews. */
  nodes: readonly NodeLeaseGarbage[]
  /** Expired ones of API servers; `isCollected`: by any kube-apiserver, within an hour. */
  identities: readonly { lease: string; renewedMs: number | null; isCollected: boolean }[]
}

/** Who keeps more of its history than its limit says. */
export interface HistoryGarbage {
  /** With more old ReplicaSets than their limit, or, where there is none, than upstream's default. */
  deployments: readonly {
    namespace: string
    name: string
    /** Null: none. */
    limit: number | null
    oldReplicaSets: number
    waitsFor: 'nothing' | 'deletion' | 'rollout'
    /** Beyond the limit, but with replicas, or a status that is not current. */
    kept: number
  }[]
  /** Which ControllerRevisions pods still use is not looked at: the excess may be less. */
  revisions: readonly { namespace: string; name: string; kind: 'StatefulSet' | 'DaemonSet'; limit: number; excess: number }[]
}

export interface NodeGarbage {
  /** Nodes that are not Ready; `sinceMs`: since when, null where the condition does not say. */
  notReady: readonly { node: string; ready: 'False' | 'Unknown' | null; sinceMs: number | null; reason: string | null }[]
  /** Taints whose reason is over: the node is Ready all the same. */
  leftTaints: readonly { node: string; key: string; effect: string; sinceMs: number | null }[]
}

/** What the garbage collector itself complained of in the events that are still there. */
export interface EventGarbage {
  failures: readonly { namespace: string; object: string; reason: string; message: string; count: number; lastMs: number | null }[]
}

/** By the words of the policy. */
export interface ClusterSections extends Record<GarbageKind, unknown> {
  pods: PodGarbage
  jobs: JobGarbage
  leases: LeaseGarbage
  history: HistoryGarbage
  nodes: NodeGarbage
  events: EventGarbage
}

export type ClusterNeed = GarbageKind

/** Of one cluster. A section that is null was not asked for, or could not be read, and then `missing` says why. */
export type ClusterPrediction = { readonly [Need in ClusterNeed]: ClusterSections[Need] | null } & {
  cluster: string
  /** RFC 3339: the snapshot's time. */
  at: string
  eks: RawObject | null
  missing: Partial<Record<ClusterNeed, string>>
  /** What stays open about a section that is known: it can turn out worse than it looks. */
  doubts: Partial<Record<ClusterNeed, string>>
  /** Of what was asked for, by resource: why it could not be read, or not to its end; null: it was. */
  resources: Readonly<Record<string, string | null>>
}
