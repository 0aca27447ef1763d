/** What was read of a cluster itself, cut to its shape once (snapshot/cluster-input.ts): a field has its type, or is absent. */
import type { ReadError } from './record.ts'

/** Of EKS DescribeCluster, what the replay of its controllers reads. */
export interface EksCluster {
  version?: string
  computeConfig?: { enabled?: boolean }
  kubeControllerManagerConfig?: { podGcControllerConfig?: { terminatedPodGcThreshold?: number } }
}

export interface ClusterInput {
  kind: 'Cluster'
  cluster: string
  /** Null: not read. */
  eks: EksCluster | null
  /** Null: this record does not say. */
  errors: readonly ReadError[] | null
}
