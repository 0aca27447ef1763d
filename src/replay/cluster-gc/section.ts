/** A section of the cluster's garbage. It keeps the fields that its replay needs, and returns the result at the end. */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { ClusterNeed, ClusterSections, HeldFinalizer } from '#model/cluster-garbage.ts'
import type { EksCluster } from '#model/cluster-input.ts'
import type { ClusterObject, KubernetesNode } from '#model/kubernetes.ts'

/** What is known when everything has come. */
export interface SectionContext {
  nowMs: number
  /** Of the control plane: the cluster's version, else what its API server says, else that of its newest kubelet. */
  features: KubeletFeatures
  eks: EksCluster | null
  /** Slim Node objects (`slimNode`); null where not all of them were read. */
  nodes: readonly KubernetesNode[] | null
  /** Whether the list of a resource was read to its end. */
  isWhole(resource: string): boolean
  /** Whether the pods of every node were read. */
  arePodsKnown: boolean
  /** The controller that would remove it, and whether it is installed. */
  holderOf(finalizer: string): HeldFinalizer
}

export interface Section<Need extends ClusterNeed> {
  /** The lists it stands on: where one is not there, the section is not known. `events` are read in any case. */
  resources: readonly string[]
  /** What it takes besides, where it was read: of these it does without. */
  also?: readonly string[]
  /** The section also takes other objects of the cluster. */
  takesOthers?: true
  /** It stands on the list of nodes, too: without the whole of it nothing is known. */
  needsNodes?: true
  open(): OpenSection<ClusterSections[Need]>
}

export interface OpenSection<Result> {
  /** One of the section's objects, by resource; pods come with their nodes, too. Keep nothing of it that is not needed. */
  take(resource: string, object: ClusterObject): void
  close(context: SectionContext): Result
}
