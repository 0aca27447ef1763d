/** What a collector is: one question to one node, or to one cluster. */
import type { KubeletApi } from '#clients/kubelet.ts'
import type { KubernetesClient } from '#clients/kubernetes.ts'
import type { KubeletAddress } from '#facts/kubelet/endpoints.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { Policy } from '#model/policy.ts'
import type { NodeRecord, RawObject } from '#model/record.ts'

export interface CollectContext {
  kubernetes: KubernetesClient
  signal: AbortSignal
  timeoutsMs: Policy['timeoutsMs']
  /** Tries of one request; fewer for a node that does not post its status. */
  attempts?: number
}

export interface NodeContext extends CollectContext {
  /** How kubelets are asked directly; null where no identity is there for it. */
  kubelet: KubeletApi | null
  /** Where this one would be. */
  address: KubeletAddress
}

/** It asks and throws when it cannot; the runner turns that into an entry of the record's `errors`. */
export interface Collector<Source extends 'pods' | 'configz' | 'summary' = 'pods' | 'configz' | 'summary'> {
  /** The record's key, and the name under which its failure is reported. */
  id: Source
  /** What the identity needs in the cluster, `verb resource`. */
  permissions: { kubernetes: string[] }
  /** What it brings, and stays unknown where the right is missing: a noun phrase. */
  tells: string
  /** Whether it asks the kubelet itself: Fargate's cannot be asked. */
  isAnsweredByKubelet: boolean
  collect(node: NodeIdentity, context: NodeContext): Promise<NonNullable<NodeRecord[Source]>>
}

/** It asks a cluster for objects of one kind, page by page, and throws for what it could not read: what came before stays. */
export interface ClusterCollector {
  /** The record's resource, `plural` or `plural.group`, and the name under which its failure is reported. */
  resource: string
  permissions: { kubernetes: string[] }
  /** As a collector's. */
  tells: string
  collect(context: Omit<CollectContext, 'attempts'>): AsyncGenerator<RawObject[]>
}
