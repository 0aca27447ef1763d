/** What a collector is: one question to one node, or to one cluster. */
import type { KubernetesClient } from '#clients/kubernetes.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { Policy } from '#model/policy.ts'
import type { Source } from '#model/read-mode.ts'
import type { NodeRecord, RawObject, ReadError } from '#model/record.ts'
import type { Inspector } from './inspect/inspector.ts'

export interface CollectContext {
  kubernetes: KubernetesClient
  /** For the account and region of the cluster; null: it is not known where its instances are. */
  inspector: Inspector | null
  signal: AbortSignal
  timeoutsMs: Policy['timeoutsMs']
  /** Tries of one request; fewer for a node that does not post its status. */
  attempts?: number
}

/** What a question can answer. */
export type Answered = Exclude<Source, 'node'>

/** What one question has brought: an answer may hold several sources, and say what of them it lacks. */
export type Told = Partial<Pick<NodeRecord, Answered>> & { errors?: ReadError[] }

/** It asks and throws when it cannot; the runner turns that into entries of the record's `errors`. */
export interface Collector {
  /** The record's keys that it promises, and the names under which its failure is reported. */
  answers: readonly Answered[]
  /** What the identity needs: in the cluster `verb resource`, in the account IAM actions. */
  permissions: { kubernetes: string[]; aws?: string[] }
  /** Whether it asks the kubelet itself, or its machine: Fargate's cannot be asked. */
  isAnsweredByKubelet: boolean
  collect(node: NodeIdentity, context: CollectContext): Promise<Told>
}

/** It asks a cluster for objects of one kind, page by page, and throws for what it could not read: what came before stays. */
export interface ClusterCollector {
  /** The record's resource, `plural` or `plural.group`, and the name under which its failure is reported. */
  resource: string
  permissions: { kubernetes: string[] }
  collect(context: Omit<CollectContext, 'attempts' | 'inspector'>): AsyncGenerator<RawObject[]>
}
