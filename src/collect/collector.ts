/** Types of collectors: each makes one request, to a node or to a cluster. */

import type { RawObject } from '#base/raw-object.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import type { KubeletApi } from '#clients/kubernetes/kubelet.ts'
import type { GetOptions, KubernetesClient } from '#clients/kubernetes/kubernetes.ts'
import type { KubeletAddress } from '#facts/kubelet/endpoints.ts'
import type { ClusterNeed } from '#model/cluster-garbage.ts'
import type { NodeIdentity, NodeRecord, ReadError, Source } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type { Inspector } from './inspect/inspector.ts'

/** Context of every call to a cluster. */
export interface ClusterContext {
  kubernetes: KubernetesClient
  signal: AbortSignal
  timeoutsMs: Policy['timeoutsMs']
}

export interface CollectContext extends ClusterContext {
  /** For the cluster's account and region; null: the place of the instances is unknown. */
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

/** Options for a request that the kubelet answers, directly or through the API server. */
export const kubeletOptions = (
  { signal, attempts, timeoutsMs }: NodeContext,
  kind: 'configz' | 'summary',
): GetOptions => ({ signal, attempts, timeoutMs: timeoutsMs[kind], isProxied: true, kind })

/** The keys of a node's record that a request can fill. */
export type Answered = Exclude<Source, 'node'>

/** The result of one request. An answer may fill several keys, and `errors` has the reasons for missing parts. */
export type CollectedParts = Partial<Pick<NodeRecord, Answered>> & { errors?: ReadError[] }

/** Requests data and throws on failure. The caller adds the error to the record's `errors`. */
export interface Collector {
  /** The record's keys that the collector fills. Its failure is reported under the same names. */
  answers: readonly Answered[]
  /** Rights that the call needs: `verb resource` in the cluster, IAM actions in the account. */
  permissions: { kubernetes: string[]; aws?: string[] }
  /** What the collector reads, and what is unknown without the right: a noun phrase. */
  purpose: string
  /** Whether it calls the kubelet or the machine, which is not possible on Fargate. */
  isAnsweredByKubelet: boolean
  /** @returns a function that parses the answer. A run calls it after all answers of the node have arrived, so that parsed answers do not wait in memory. */
  collect(node: NodeIdentity, context: NodeContext): Promise<() => CollectedParts>
}

/** Context of requests for garbage, which are sent after the nodes have been read. */
export interface ObjectsContext extends ClusterContext {
  /** Names of the nodes whose records contain their pods. */
  nodesWithPods: ReadonlySet<string>
  /** Place in AWS; null: EKS does not know the cluster, or its region is unknown. */
  aws: ClusterInAws | null
}

/** An EKS cluster, with credentials to read its account. */
export interface ClusterInAws {
  name: string
  region: string
  credentials: CredentialSource
}

/** Lists one kind of object, page by page. Throws on failure; pages yielded before are kept. */
export interface ClusterCollector {
  /** The record's resource, `plural` or `plural.group`, and the name under which its failure is reported. */
  resource: string
  /** Policy kinds; any one turns the collector on. Absent: always on. Garbage is collected only for whole clusters. */
  garbage?: readonly ClusterNeed[]
  permissions: { kubernetes: string[]; aws?: string[] }
  /** Objects of the AWS account. If the account is unknown, the collector does not run. */
  isOfAws?: true
  /** Like the `purpose` of a Collector. */
  purpose: string
  collect(context: ObjectsContext): AsyncGenerator<RawObject[]>
}
