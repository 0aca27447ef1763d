/** A section of the cluster's garbage. It keeps the fields that its replay needs, and returns the result at the end. */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { ClusterNeed, ClusterSections, HeldFinalizer } from '#model/finding/cluster-garbage.ts'
import type { EksCluster } from '#model/input/cluster-input.ts'
import type { ClusterObject, KubernetesNode } from '#model/input/kubernetes.ts'

/** What is known after all records have arrived. */
export interface SectionContext {
  nowMs: number
  /** Features of the control plane's version: as EKS reports it, else its API server, else its newest kubelet. */
  features: KubeletFeatures
  eks: EksCluster | null
  /** Slim Node objects (`slimNode`); null: not all of them were read. */
  nodes: readonly KubernetesNode[] | null
  /** Whether the list of a resource was read to its end. */
  isWhole(resource: string): boolean
  /** Whether the pods of every node were read. */
  arePodsKnown: boolean
  /** The controller that would remove the finalizer, and whether it is installed. */
  holderOf(finalizer: string): HeldFinalizer
}

export interface Section<Need extends ClusterNeed> {
  /** Required lists. If one was not read, the section is unknown. `events` are read in any case. */
  resources: readonly string[]
  /** Optional lists, used if they were read. */
  also?: readonly string[]
  /** The section also takes other objects of the cluster. */
  takesOthers?: true
  /** The section also requires the whole list of nodes; without it the section is unknown. */
  needsNodes?: true
  open(): OpenSection<ClusterSections[Need]>
}

export interface OpenSection<Result> {
  /** Takes one object. Pods also arrive with their nodes. An implementation must keep only the fields that it needs. */
  take(resource: string, object: ClusterObject): void
  close(context: SectionContext): Result
}
