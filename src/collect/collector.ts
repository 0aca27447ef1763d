/** What a collector is: one question to one node, or to one cluster. */

import type { CredentialSource } from '#clients/credentials.ts'
import type { KubeletApi } from '#clients/kubelet.ts'
import type { GetOptions, KubernetesClient } from '#clients/kubernetes.ts'
import type { KubeletAddress } from '#facts/kubelet/endpoints.ts'
import type { ClusterNeed } from '#model/cluster-garbage.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { Policy } from '#model/policy.ts'
import type { Source } from '#model/read-mode.ts'
import type { NodeRecord, RawObject, ReadError } from '#model/record.ts'
import type { Inspector } from './inspect/inspector.ts'

/** Context of every call to a cluster. */
export interface ClusterContext {
  kubernetes: KubernetesClient
  signal: AbortSignal
  timeoutsMs: Policy['timeoutsMs']
}

export interface CollectContext extends ClusterContext {
  /** For the account and region of the cluster; null: it is not known where its instances are. */
  inspector: Inspector | null
  /** Direct access to kubelets; null: no identity is configured. */
  kubelet: KubeletApi | null
}

export interface NodeContext extends CollectContext {
  /** The kubelet's address for direct calls. */
  address: KubeletAddress
  /** Tries of one request; fewer for a node that does not post its status. */
  attempts?: number
}

/** Of a question that the kubelet answers, itself or through the API server. */
export const kubeletOptions = (
  { signal, attempts, timeoutsMs }: NodeContext,
  kind: 'configz' | 'summary',
): GetOptions => ({ signal, attempts, timeoutMs: timeoutsMs[kind], isProxied: true, kind })

/** What a question can answer. */
export type Answered = Exclude<Source, 'node'>

/** The result of one request: an answer may have several sources, and errors for the parts that it lacks. */
export type CollectedParts = Partial<Pick<NodeRecord, Answered>> & { errors?: ReadError[] }

/** Requests data and throws on failure; the runner makes entries of the record's `errors`. */
export interface Collector {
  /** The record's keys that it promises, and the names under which its failure is reported. */
  answers: readonly Answered[]
  /** Rights that the call needs: `verb resource` in the cluster, IAM actions in the account. */
  permissions: { kubernetes: string[]; aws?: string[] }
  /** What it reads, and what is unknown without the right: a noun phrase. */
  purpose: string
  /** Whether it calls the kubelet or its machine: not possible on Fargate. */
  isAnsweredByKubelet: boolean
  /** @returns what parses the answer. A run calls it when all answers of the node are there, so that no parsed one waits. */
  collect(node: NodeIdentity, context: NodeContext): Promise<() => CollectedParts>
}

/** What questions about garbage take beside: they come when the nodes have been read. */
export interface ObjectsContext extends ClusterContext {
  /** Names of the nodes whose records contain their pods. */
  nodesWithPods: ReadonlySet<string>
  /** Where the cluster is in AWS; null: EKS does not know it, or its place is unknown. */
  aws: ClusterInAws | null
}

/** An EKS cluster, and with whose credentials its account is read. */
export interface ClusterInAws {
  name: string
  region: string
  credentials: CredentialSource
}

/** Lists one kind of objects, page by page. Throws on failure; earlier pages stay. */
export interface ClusterCollector {
  /** The record's resource, `plural` or `plural.group`, and the name under which its failure is reported. */
  resource: string
  /** Policy kinds that turn it on, any of them; absent: always on. Garbage is collected only for whole clusters. */
  garbage?: readonly ClusterNeed[]
  permissions: { kubernetes: string[]; aws?: string[] }
  /** Its objects belong to the account: without a known account it does not run. */
  isOfAws?: true
  /** As a collector's. */
  purpose: string
  collect(context: ObjectsContext): AsyncGenerator<RawObject[]>
}
