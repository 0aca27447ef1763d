/** Examples of rules that read a cluster's own objects: a rule says only what matters to it, of the rest there is nothing. */

import type { ClusterPrediction, ClusterSections, TerminatedPod } from '#model/cluster-garbage.ts'
import type { EksCluster } from '#model/input/record.ts'
import { exampleTime } from '#test/example.ts'

export interface ClusterExample extends Partial<ClusterSections> {
  eks?: EksCluster
  controlPlane?: ClusterPrediction['controlPlane']
}

const nothing: ClusterSections = {
  pods: {
    terminated: [],
    threshold: { pods: 12_500, isAssumed: true },
    excess: 0,
    terminating: [],
  },
  jobs: { finished: [], cronJobs: [] },
  leases: { nodes: [] },
  nodes: { notReady: [] },
  volumes: { released: [], held: [] },
  certificates: { requests: [] },
  owners: { dangling: [], blocked: [], orphaned: [] },
  finalizers: { held: [] },
  disks: { unattached: [], areVolumesKnown: true },
  instances: { withoutInstance: [] },
}

export const exampleCluster = ({
  eks,
  controlPlane,
  ...sections
}: ClusterExample): ClusterPrediction => ({
  cluster: 'prod',
  at: exampleTime,
  eks: eks ?? null,
  controlPlane: controlPlane ?? { version: '1.34', isAssumed: false },
  ...nothing,
  ...sections,
  missing: {},
  doubts: {},
  resources: {},
})

/** So many hours before the example's "now", in ms. */
export const hoursBefore = (hours: number): number => Date.parse(exampleTime) - hours * 3_600_000

/** For examples: a pod that ended so many hours ago. */
export const failedPod = (endedMs: number, reason: string | null): TerminatedPod => ({
  namespace: 'shop',
  name: 'cart-7d9c6bf5c8-x2x4z',
  phase: 'Failed',
  reason,
  controller: { kind: 'ReplicaSet', name: 'cart-7d9c6bf5c8' },
  createdMs: endedMs,
  finishedMs: endedMs,
  isBeingDeleted: false,
})
