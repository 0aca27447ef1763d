/**
 * The snapshot's records, one JSON object per line (the contract `highwater.snapshot/1`). Every later stage reads only these records.
 * Kubernetes, CRI and AWS objects keep their API's field names. Parsers check data from outside; it is never trusted.
 */
import type { RawObject } from '#base/raw-object.ts'
import { matchesGlob } from '#base/text/glob.ts'
import type { KubernetesNode, KubernetesPod } from './kubernetes.ts'

export const snapshotSchema = 'highwater.snapshot/1'

/** Core resources of Kubernetes that can be listed. */
type CoreResource =
  | 'configmaps'
  | 'endpoints'
  | 'events'
  | 'limitranges'
  | 'namespaces'
  | 'nodes'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'pods'
  | 'podtemplates'
  | 'replicationcontrollers'
  | 'resourcequotas'
  | 'secrets'
  | 'serviceaccounts'
  | 'services'

/** `plural` of the core group, or `plural.group`. */
export type ResourceName = CoreResource | `${string}.${string}`

/** Something that could not be read: a source of a node, a part of the cluster, or the list of a resource. */
export type UnreadPart =
  | Source
  | ResourceName
  | 'clusters'
  | 'cluster'
  | 'nodegroups'
  | `nodegroup ${string}`
  | 'launchTemplates'
  | 'insights'
  | `insight ${string}`
  | 'volumes'

/** Why something could not be read. Code reads `what` and `status`; `message` is for people. */
export interface ReadError {
  what: UnreadPart
  message: string
  /** HTTP status of the API server's answer, if code depends on the status. */
  status?: number
  /** AWS refused the call: a right is missing, or the role could not be assumed. */
  refusal?: 'right' | 'role'
  /** Nothing listens on the kubelet's port: its connection was refused. */
  isKubeletDown?: true
  /** Absent: another reason, or one of the above. */
  reason?: ReadFailure
  /** What ended the run before this was read: `run's deadline of 840 s`, `run was interrupted`. */
  endedBy?: string
}

/** `host, runtime: SSM has lost the connection`: each message once. */
export const errorsText = (errors: readonly ReadError[]) =>
  [...Map.groupBy(errors, ({ message }) => message)]
    .map(([message, alike]) => `${alike.map(({ what }) => what).join(', ')}: ${message}`)
    .join('; ')

/** `agent-lost`: SSM does not reach the node's agent. `cut`: an answer came, and not all of it. `unreachable`: no connection to the kubelet's port. */
export type ReadFailure = 'agent-lost' | 'cut' | 'forbidden' | 'timeout' | 'unreachable'

export interface SnapshotHeader {
  kind: 'Snapshot'
  schema: typeof snapshotSchema
  /** RFC 3339, UTC: the "now" of every record without `at`. */
  takenAt: string
  account: string | null
  region: string | null
  /** Sources that the writer knew; the others were not unread. Absent: the first six. */
  parts?: readonly string[]
}

export interface ClusterRecord {
  kind: 'Cluster'
  /** Unique in a file: the EKS name, `account/region/name` if the policy names several accounts or regions, or a kubeconfig context. */
  cluster: string
  /** `DescribeCluster.cluster`, timestamps as RFC 3339 strings. */
  eks?: RawObject | null
  /** `DescribeNodegroup.nodegroup` of each nodegroup. */
  nodegroups?: RawObject[] | null
  launchTemplates?: RawObject[] | null
  /** `DescribeInsight.insight` of each upgrade insight that does not pass. */
  insights?: RawObject[] | null
  errors?: ReadError[]
}

export interface NodeRecord {
  kind: 'Node'
  cluster: string
  /** RFC 3339: this node's "now". Absent or null: the snapshot's `takenAt`. */
  at?: string | null
  /** Read mode, which decides the expected sources. Absent: `proxy`. */
  mode?: ReadMode
  node: KubernetesNode
  configz?: RawObject | null
  summary?: RawObject | null
  pods?: KubernetesPod[] | null
  runtime?: RawObject | null
  host?: RawObject | null
  known?: RawObject | null
  /** EBS volumes of the node from EC2 DescribeVolumes, each with the `Device` of its attachment. */
  volumes?: RawObject[] | null
  /** Set by the reader of the snapshot: these sources are not unread. Absent: none. */
  unknownSources?: readonly Source[]
  errors?: ReadError[]
}

export interface ObjectsRecord {
  kind: 'Objects'
  cluster: string
  /** `plural` or `plural.group`. */
  resource: string
  items: RawObject[]
  /** Parts of the items were not read. */
  errors?: ReadError[]
}

export type SnapshotRecord = SnapshotHeader | ClusterRecord | NodeRecord | ObjectsRecord

/** A line of a snapshot file that is not a valid record. The rest of the file is still audited. */
export interface MalformedLine {
  kind: 'Malformed'
  line: number
  message: string
}

/* The selected part of a fleet. An empty list selects everything. */

export interface Selection {
  /** Cluster names, short or full; `*` matches any characters. */
  clusters: string[]
  /** Nodegroup or nodepool names; `*` matches any characters. */
  nodegroups: string[]
  /** Exact node names. */
  nodes: string[]
}

export const everything: Selection = { clusters: [], nodegroups: [], nodes: [] }

export const selectsCluster = (selection: Selection, cluster: string) =>
  selection.clusters.length === 0 ||
  selection.clusters.some(pattern => matchesCluster(pattern, cluster))

export const selectsNode = (
  selection: Selection,
  { name, group }: Pick<NodeIdentity, 'name' | 'group'>,
) =>
  (selection.nodes.length === 0 || selection.nodes.includes(name)) &&
  (selection.nodegroups.length === 0 ||
    (group.kind !== 'Node' &&
      selection.nodegroups.some(pattern => matchesGlob(pattern, group.name))))

/** The selection leaves out no cluster, nodegroup or node. */
export const selectsEverything = (selection: Selection) =>
  Object.values(selection).every(names => names.length === 0)

/** The selection may leave out clusters, but no node of a selected cluster. */
export const selectsAllNodes = ({ nodes, nodegroups }: Selection) =>
  nodes.length === 0 && nodegroups.length === 0

/* A node's origin and kind, from its labels and status; what findings are about; and the modes of reading a node. */

/** Kinds of objects that findings are about. */
export const subjectKinds = [
  'Nodegroup',
  'NodePool',
  'InstanceGroup',
  'GKENodePool',
  'AgentPool',
  'Group',
  'Node',
  'Cluster',
  'Pod',
  'Namespace',
] as const

/**
 * Labels that name a node's group, and the kind of that group. The first that a node has counts. Source: docs of Karpenter, EKS, eksctl, kops, GKE
 * and AKS; the last one is of no tool.
 */
export const groupLabels = [
  ['karpenter.sh/nodepool', 'NodePool'],
  ['eks.amazonaws.com/nodegroup', 'Nodegroup'],
  ['alpha.eksctl.io/nodegroup-name', 'Nodegroup'],
  ['kops.k8s.io/instancegroup', 'InstanceGroup'],
  ['cloud.google.com/gke-nodepool', 'GKENodePool'],
  ['kubernetes.azure.com/agentpool', 'AgentPool'],
  ['agentpool', 'AgentPool'],
  ['node.kubernetes.io/instance-group', 'Group'],
] as const

export const isNodeGroup = ({ kind }: Pick<Subject, 'kind'>): boolean =>
  groupLabels.some(([, known]) => known === kind)

/** What a finding is about. Of nodes: their group, if any, so the id survives a new AMI. Of other objects: their namespace. */
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
  /** The group that a label names, else the node itself. */
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

/** The sources that every writer knew. Frozen: a new source is never added here, so that it is not unread in older snapshots. */
const firstSources: readonly string[] = ['node', 'pods', 'configz', 'summary', 'host', 'runtime']

/** The later sources that the writer of a snapshot did not know. */
export const sourcesUnknownTo = ({ parts }: Pick<SnapshotHeader, 'parts'>): Source[] =>
  sources.filter(source => ![...firstSources, ...(parts ?? [])].includes(source))

/** Sources that a mode promises to read of each node. If all were read, coverage counts the node as *read*. */
export const promisedSources: Readonly<Record<ReadMode, readonly Source[]>> = {
  proxy: ['node', 'pods', 'configz', 'summary'],
  ssm: ['node', 'pods', 'host', 'runtime'],
  both: sources,
  kubelet: ['node', 'pods', 'configz', 'summary'],
}

export const isReadMode = (value: unknown): value is ReadMode =>
  readModes.some(mode => mode === value)

/** Partition and account of an ARN. Source: IAM user guide, ARN format: partition second, account fifth; either may be empty. */
export const partitionInArn = (arn: string): string | null => arn.split(':')[1] || null
export const accountInArn = (arn: string): string | null => arn.split(':')[4] || null

/** Suffix of the name of a role that may change nodes in another account. The stack's remediation may assume such roles (test/pipeline/permissions.test.ts). */
export const remediateSuffix = '-remediate'

/* Names of clusters, and how patterns match them. */

/**
 * Cluster name in a fleet of several accounts or regions.
 * @param account null: the run's own account is unknown
 */
export const fullClusterName = (account: string | null, region: string, name: string) =>
  `${account ?? ownAccount}/${region}/${name}`

const ownAccount = 'this account'
/** Form of a full name. Context names that kubeconfig tools generate do not match. */
const fullName = new RegExp(`^(?:\\d{12}|${ownAccount})/[a-z0-9-]+/([^/]+)$`)

/** `account/region/prod` gives `prod`. */
export const plainClusterName = (cluster: string) => fullName.exec(cluster)?.[1] ?? cluster

/**
 * Whether a pattern matches a cluster's name in the report, or the last part of `account/region/name`. So patterns for one account and region stay valid
 * after the fleet gets more. Undefined: any cluster.
 */
export function matchesCluster(pattern: string | undefined, cluster: string) {
  if (pattern === undefined || matchesGlob(pattern, cluster)) return true
  const [, name] = fullName.exec(cluster) ?? []
  return name !== undefined && matchesGlob(pattern, name)
}
