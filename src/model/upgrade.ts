/** What `highwater upgrade --format json` prints (`highwater.upgrade/1`). */

import type { Insight, NodeOwner, Subject } from '#model/input/record.ts'
import type { NodeSample } from './finding.ts'
import type { KubeletUpgrade } from './prediction.ts'

/** What the minor of its control plane changes on a node that is behind. Lists are bounded. */
export type NextUpgrade = Omit<KubeletUpgrade, 'changedBehaviors' | 'changedGates'>

/** Changes by a newer kubelet minor, for the nodes of one group with the same changes. */
export interface FleetUpgrade extends KubeletUpgrade {
  cluster: string
  group: Subject
  nodes: NodeSample
}

/**
 * A step of a group's upgrade. `control-plane`: EKS accepts no kubelet newer than its control plane; `in-between`: the nodes are too old for a
 * control plane of the minor, so they are upgraded before it; `other-ami`: EKS publishes no AMI of the
 * group's family for this minor, so another group replaces it; `settings`: take away what the kubelet refuses; `replace`: start nodes of the new release.
 */
export const upgradeSteps = [
  'control-plane',
  'in-between',
  'other-ami',
  'settings',
  'replace',
] as const
export type UpgradeStep = (typeof upgradeSteps)[number]

export interface PlannedUpgrade extends FleetUpgrade {
  /** Version of the control plane, as EKS returns it. Null: not read. */
  controlPlane: string | null
  owner: NodeOwner
  /** Minors that a kubelet may be older than a control plane of the minor. Null: a version is unknown. */
  allowedBehind: number | null
  /** In their order. */
  steps: UpgradeStep[]
}

/** Upgrade insights of EKS that do not pass, the worst first. */
export interface ClusterInsights {
  cluster: string
  insights: Insight[]
  /** Why they, or some, were not read. Null: all were read. */
  unread: string | null
}

export interface UpgradeDocument {
  schema: 'highwater.upgrade/1'
  takenAt: string
  /** The kubelet version, `v1.36.0`. */
  to: string
  upgrades: PlannedUpgrade[]
  /** Nodes that run this minor or a newer one. */
  upToDate: number
  /** Nodes whose kubelet AWS upgrades (Fargate, EKS Auto Mode), and nodes of an unknown or unsupported version. */
  leftOut: number
  /** A cluster whose insights the snapshot does not have, and no reason for it, is absent. */
  insights: ClusterInsights[]
  /** Lines of the input that are no records. */
  inputErrors: string[]
}
