/** A node's origin and kind, from its labels and status. */
import type { Subject } from '#model/finding/subject.ts'

/** The tool that created the node. It decides where a durable fix belongs. Upstream labels: docs of EKS, Karpenter and eksctl. */
export type NodeOwner =
  | 'fargate'
  | 'hybrid'
  | 'auto-mode'
  | 'karpenter'
  | 'managed-nodegroup'
  | 'eksctl'
  | 'self-managed'

/** AMI families, recognized by `status.nodeInfo.osImage`. */
export const amiFamilies = ['AL2', 'AL2023', 'Bottlerocket', 'Windows', 'other'] as const
export type AmiFamily = (typeof amiFamilies)[number]

export interface NodeIdentity {
  name: string
  /** The nodegroup or nodepool, else the node itself. */
  group: Subject
  owner: NodeOwner
  /** eksctl created the node or its managed nodegroup. The launch template is then eksctl's own. */
  isEksctl: boolean
  amiFamily: AmiFamily
  operatingSystem: 'linux' | 'windows'
  instanceType: string | null
  /** Id of the EC2 instance, or of an SSM hybrid activation. */
  instanceId: string | null
  /** `status.nodeInfo.bootID`: changes with every start of the machine, or of another machine with the same name. Null: the node reports none. */
  bootId: string | null
  kubeletVersion: string | null
  /** `status.conditions[Ready].status`; null when the node reports none. */
  ready: 'True' | 'False' | 'Unknown' | null
}
