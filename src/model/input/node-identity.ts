/** A node's origin and kind, from its labels and status; what findings are about; and the modes of reading a node. */

/** Kinds of objects that findings are about. */
export const subjectKinds = [
  'Nodegroup',
  'NodePool',
  'Node',
  'Cluster',
  'Pod',
  'Namespace',
] as const

/** What a finding is about. Of nodes: their nodegroup or nodepool, if any, so the id survives a new AMI. Of other objects: their namespace. */
export interface Subject {
  kind: (typeof subjectKinds)[number]
  namespace: string | null
  name: string
}

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

/* Modes of reading a node, and the sources that each mode promises. */

/** `proxy`: the kubelet through the API server. `ssm`: a fixed script on the node. `both`: `proxy` and `ssm`. `kubelet`: the kubelet directly. */
export const readModes = ['proxy', 'ssm', 'both', 'kubelet'] as const
export type ReadMode = (typeof readModes)[number]
export const defaultReadMode: ReadMode = 'proxy'

/** Sources of data about a node, in the order in which reports list missing ones. */
export const sources = ['node', 'pods', 'configz', 'summary', 'host', 'runtime'] as const
export type Source = (typeof sources)[number]

/** Sources that a mode promises to read of each node. If all were read, coverage counts the node as *read*. */
export const promisedSources: Readonly<Record<ReadMode, readonly Source[]>> = {
  proxy: ['node', 'pods', 'configz', 'summary'],
  ssm: ['node', 'pods', 'host', 'runtime'],
  both: sources,
  kubelet: ['node', 'pods', 'configz', 'summary'],
}

export const isReadMode = (value: unknown): value is ReadMode =>
  readModes.some(mode => mode === value)
