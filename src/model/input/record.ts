/**
 * The snapshot's records, one JSON object per line (the contract `highwater.snapshot/1`). Every later stage reads only these records.
 * Kubernetes, CRI and AWS objects keep their API's field names. Parsers check data from outside; it is never trusted.
 */

import type * as api from '@kubernetes/client-node'
import type { RawObject } from '#base/raw-object.ts'
import { isDnsName, matchesGlob } from '#base/text.ts'
import type { RunningConfiguration } from '#model/kubelet/configuration.ts'
import type { Host, Item, Runtime } from './inspection.ts'
import { list, type Shaped, type ShapeOf, text } from './shape.ts'

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

/* Kubernetes objects in a snapshot: the API's JSON shapes, without the fields that no rule reads. */

/** JSON form of a client-node type: dates are RFC 3339 strings, and any field can be absent. */
type Json<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Key in keyof T]?: Json<T[Key]> }
      : T

export type KubernetesNode = Json<api.V1Node>
export type KubernetesPod = Json<api.V1Pod>
export type PodSpec = NonNullable<KubernetesPod['spec']>
export type PodStatus = NonNullable<KubernetesPod['status']>
export type ContainerSpec = NonNullable<PodSpec['containers']>[number]
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]
export type VolumeSource = NonNullable<PodSpec['volumes']>[number]

/** Identity of an object. For unknown kinds, only the identity is kept. */
export interface ClusterObject {
  metadata?: Json<api.V1ObjectMeta>
}
export type ObjectReference = Json<api.V1OwnerReference>
export type CertificateSigningRequest = Json<api.V1CertificateSigningRequest>
export type ControllerRevision = Json<api.V1ControllerRevision>
export type CronJob = Json<api.V1CronJob>
export type DaemonSet = Json<api.V1DaemonSet>
export type Deployment = Json<api.V1Deployment>
export type Job = Json<api.V1Job>
export type Lease = Json<api.V1Lease>
export type PersistentVolume = Json<api.V1PersistentVolume>
export type PersistentVolumeClaim = Json<api.V1PersistentVolumeClaim>
export type ReplicaSet = Json<api.V1ReplicaSet>
export type ServerVersion = Json<api.VersionInfo> & ClusterObject
export type StatefulSet = Json<api.V1StatefulSet>

/**
 * The owner that starts a pod again: its controller, or its node if it is a mirror pod. The API server checks neither kind nor name: who makes the
 * pod could write any words there.
 */
export const controllerReferenceOf = ({ metadata }: KubernetesPod): ObjectReference | undefined =>
  metadata?.ownerReferences?.find(
    ({ controller, kind = '', name = '' }) =>
      controller === true && /^[A-Za-z]\w{0,62}$/.test(kind) && isDnsName(name),
  )

/** @param workload `Kind name`, as `controllerOf` writes it */
export function parseWorkload(workload: string) {
  const [kind = '', ...name] = workload.split(' ')
  return { kind, name: name.join(' ') }
}

/** Whether an operator runs the workload. The operator may make it from another object, and revert a change of it. @param workload likewise */
export const isOfCustomKind = (workload: string): boolean =>
  !/^(?:CronJob|DaemonSet|Deployment|Job|Pod|ReplicaSet|ReplicationController|StatefulSet) /.test(
    workload,
  )

/** `Deployment shop/web`. @param workload likewise */
export function placedWorkload(namespace: string, workload: string) {
  const { kind, name } = parseWorkload(workload)
  return `${kind} ${namespace}/${name}`
}

/** Kind and name. A ReplicaSet counts as its Deployment if its name ends with the pods' hash. */
export function controllerOf(pod: KubernetesPod): string | null {
  const owner = controllerReferenceOf(pod)
  if (owner?.name === undefined || owner.kind === 'Node') return null
  const hash = pod.metadata?.labels?.['pod-template-hash']
  const isOfDeployment = owner.kind === 'ReplicaSet' && owner.name.endsWith(`-${hash}`)
  return isOfDeployment
    ? `Deployment ${owner.name.slice(0, -(hash?.length ?? 0) - 1)}`
    : `${owner.kind} ${owner.name}`
}

/** The statuses of a pod's containers and init containers. */
export const statusesOf = ({ status }: KubernetesPod) => [
  ...(status?.containerStatuses ?? []),
  ...(status?.initContainerStatuses ?? []),
]

/** Whether the kubelet waits before it starts the container again. */
export const waitsForRestart = ({ state }: ContainerStatus) =>
  state?.waiting?.reason === 'CrashLoopBackOff'

/** Whether a container of the pod may write into the volume. */
export const isVolumeWritable = ({ spec }: KubernetesPod, volume: string | undefined) =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ volumeMounts }) =>
    volumeMounts?.some(({ name, readOnly }) => name === volume && readOnly !== true),
  )

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

/*
 * Data read of one node. snapshot/input.ts parses it once; replay, judge and remediate read only the result. A field has the type that
 * its shape keeps, or is absent. Kubernetes, CRI and kubelet objects keep their API's field names.
 */

const memory = {
  time: 'text',
  availableBytes: 'statistic',
  usageBytes: 'number',
  workingSetBytes: 'statistic',
} as const
const filesystem = {
  time: 'text',
  availableBytes: 'statistic',
  capacityBytes: 'statistic',
  usedBytes: 'statistic',
  inodesFree: 'number',
  inodes: 'number',
  inodesUsed: 'statistic',
} as const
/** What a pod uses. The rest repeats the node's disk, and nothing reads it. */
const ofPod = {
  memory: { workingSetBytes: 'statistic' },
  filesystem: { usedBytes: 'statistic', inodesUsed: 'statistic' },
} as const
/** Answer of `/stats/summary`. A statistic of -1: the answer had no number there. */
export const summaryShape = {
  node: {
    nodeName: 'text',
    startTime: 'text',
    systemContainers: list({ name: 'text', startTime: 'text', memory }),
    memory,
    fs: filesystem,
    runtime: { imageFs: filesystem, containerFs: filesystem },
    rlimit: { time: 'text', maxpid: 'number', curproc: 'number' },
  },
  pods: list({
    podRef: { name: 'text', namespace: 'text', uid: 'text' },
    containers: list({
      name: 'text',
      startTime: 'text',
      memory: ofPod.memory,
      rootfs: ofPod.filesystem,
      logs: ofPod.filesystem,
    }),
    memory: { ...ofPod.memory, rssBytes: 'statistic' },
    volume: list({
      ...ofPod.filesystem,
      availableBytes: 'statistic',
      capacityBytes: 'statistic',
      inodesFree: 'number',
      inodes: 'number',
      name: 'text',
      pvcRef: { name: 'text', namespace: 'text' },
    }),
    'ephemeral-storage': ofPod.filesystem,
    process_stats: { process_count: 'statistic' },
  }),
} as const

export type Summary = Shaped<typeof summaryShape>
export type MemoryStats = Shaped<typeof memory>
export type FilesystemStats = Shaped<typeof filesystem>
export type PodSummary = Item<Summary['pods']>
export type ContainerSummary = Item<PodSummary['containers']>

/** Times that the kubelet keeps in memory and that a snapshot can contain. Null: not since the kubelet's start. */
export const knownShape = {
  kubeletStartedAt: 'text',
  images: list({ id: 'text', firstDetected: 'text?', lastUsed: 'text?' }),
} as const
export type KnownImages = Shaped<typeof knownShape>

/** An EBS volume of the node, from EC2 DescribeVolumes. `Size` in GiB; `Device`: `/dev/xvda`. */
export const volumeShape = {
  VolumeId: 'text',
  Size: 'integer',
  VolumeType: 'text',
  Iops: 'integer',
  Device: 'text',
} as const
export type AttachedVolume = Shaped<typeof volumeShape>

/** Data of one node. Null: not read. `errors` has the reason if a collector tried to read it. */
export interface NodeInput {
  kind: 'Node'
  cluster: string
  /** RFC 3339: this node's "now"; null: the snapshot's. */
  at: string | null
  mode: ReadMode
  /** What the writer of the record promised to read in this mode. */
  promised: readonly Source[]
  node: KubernetesNode
  configuration: RunningConfiguration | null
  summary: Summary | null
  pods: readonly KubernetesPod[] | null
  runtime: Runtime | null
  host: Host | null
  known: KnownImages | null
  volumes: readonly AttachedVolume[] | null
  /** Absent: the PersistentVolumes of the cluster were not read before the node was taken. */
  localVolumes?: LocalVolumes
  errors: readonly ReadError[]
}

/** Claims, as `namespace/name`, with another size than the node's disk: they are no folders of it. */
export const claimsElsewhere = (
  summary: Summary | null | undefined,
  diskBytes: number | null | undefined,
): ReadonlySet<string> =>
  new Set(
    summary?.pods?.flatMap(({ podRef, volume = [] }) =>
      volume.flatMap(({ pvcRef, capacityBytes }) =>
        pvcRef && capacityBytes !== diskBytes ? `${podRef?.namespace}/${pvcRef.name}` : [],
      ),
    ),
  )

/** Folders of nodes that are PersistentVolumes (local or hostPath) in use, without a slash at the end. */
export interface LocalVolumes {
  /** By claim, as `namespace/name`. */
  ofClaims: ReadonlyMap<string, string>
  /** Each of them (true), and each folder around it (false). */
  places: ReadonlyMap<string, boolean>
  /** Of deleted claims, by the label kubernetes.io/hostname of their node. */
  released: ReadonlyMap<string, readonly ReleasedFolder[]>
}

export interface ReleasedFolder {
  volume: string
  /** `namespace/name` */
  claim: string
  /** The folder around it. */
  place: string
}

/*
 * Data read of a cluster itself. snapshot/input.ts checks it once: each field has its type,
 * or is absent.
 */

/** From EKS DescribeCluster. */
export const eksClusterShape = {
  name: 'text',
  arn: 'text',
  version: 'text',
  status: 'text',
  tags: 'texts',
  accessConfig: { authenticationMode: 'text' },
  computeConfig: { enabled: 'boolean' },
  kubeControllerManagerConfig: { podGcControllerConfig: { terminatedPodGcThreshold: 'integer' } },
} as const
export type EksCluster = Shaped<typeof eksClusterShape>

/** From EKS DescribeNodegroup. */
export const nodegroupShape = {
  nodegroupName: 'text',
  clusterName: 'text',
  version: 'text',
  releaseVersion: 'text',
  amiType: 'text',
  status: 'text',
  /** GiB. Absent: a launch template defines the volumes. */
  diskSize: 'number',
  labels: 'texts',
  tags: 'texts',
  launchTemplate: { id: 'text', name: 'text', version: 'text' },
} as const
export type Nodegroup = Shaped<typeof nodegroupShape>

/** From EKS DescribeInsight; from ListInsights if the former failed, without `recommendation`. */
export interface Insight {
  id?: string
  name?: string
  kubernetesVersion?: string
  /** RFC 3339. */
  lastRefreshTime?: string
  /** `ERROR`, `WARNING` or `UNKNOWN` */
  insightStatus?: { status?: string; reason?: string }
  recommendation?: string
}
export const insightShape: ShapeOf<Insight> = {
  id: text(100),
  name: text(200),
  kubernetesVersion: text(40),
  lastRefreshTime: text(40),
  insightStatus: { status: text(40), reason: text(1_000) },
  recommendation: text(2_000),
}

/** Kubelet settings of a launch template, or of one part of user data. */
export interface KubeletSource {
  config?: Record<string, unknown>
  flags?: string[]
  source?: string
}

export interface LaunchTemplateVersion {
  launchTemplateId?: string
  launchTemplateName?: string
  versionNumber?: number
  /** EBS volumes with a size in the launch template. Absent: not read. */
  volumes?: { deviceName?: string; sizeGiB?: number }[]
  /** Null: the user data has no kubelet settings. Absent: unknown. */
  kubelet?: KubeletSource | null
}

export interface NodePool {
  metadata?: { name?: string }
  spec?: {
    template?: {
      spec?: {
        nodeClassRef?: { name?: string }
        kubelet?: Record<string, unknown>
        requirements?: { key?: string; operator?: string; values?: string[] }[]
      }
    }
  }
}

/** `ec2nodeclasses.karpenter.k8s.aws`. */
export interface NodeClass {
  metadata?: { name?: string; annotations?: Record<string, string> }
  spec?: {
    amiFamily?: string
    amiSelectorTerms?: { alias?: string }[]
    blockDeviceMappings?: {
      deviceName?: string
      rootVolume?: boolean
      ebs?: { volumeSize?: string }
    }[]
    instanceStorePolicy?: string
    kubelet?: Record<string, unknown>
    /** Null: user data exists and was not read. */
    userData?: KubeletSource[] | null
  }
}

/** Upstream: pkg/apis/core/validation/events.go NoteLengthLimit; older events have no limit. */
const messageMaxLength = 1024
const involvedObject = {
  apiVersion: 'text',
  kind: 'text',
  namespace: 'text',
  name: 'text',
  uid: 'text',
} as const
/** Both forms of an event: core/v1, and events.k8s.io/v1 with its own names for the same fields. */
export const eventShape = {
  metadata: { name: 'text', namespace: 'text', uid: 'text', creationTimestamp: 'text' },
  involvedObject,
  regarding: involvedObject,
  reason: 'text',
  message: text(messageMaxLength),
  note: text(messageMaxLength),
  type: 'text',
  count: 'integer',
  firstTimestamp: 'text',
  lastTimestamp: 'text',
  eventTime: 'text',
  series: { count: 'integer', lastObservedTime: 'text' },
  source: { component: 'text', host: 'text' },
  deprecatedCount: 'integer',
  deprecatedFirstTimestamp: 'text',
  deprecatedLastTimestamp: 'text',
  deprecatedSource: { component: 'text', host: 'text' },
  reportingInstance: 'text',
} as const
export type KubernetesEvent = Shaped<typeof eventShape>
export type InvolvedObject = Shaped<typeof involvedObject>

export interface ClusterInput {
  cluster: string
  /** Null, here and in the fields below: not read. */
  eks: EksCluster | null
  nodegroups: readonly Nodegroup[] | null
  launchTemplates: readonly LaunchTemplateVersion[] | null
  /** Upgrade insights of EKS that do not pass, the worst first. */
  insights: readonly Insight[] | null
  errors: readonly ReadError[] | null
}

/*
 * Objects of a cluster. snapshot/input.ts checks them once: each field has its type, or is absent. Kubernetes and AWS objects
 * keep their API's field names.
 */

/** From EC2 DescribeVolumes. */
export interface EbsVolume extends ClusterObject {
  VolumeId?: string
  /** GiB. */
  Size?: number
  VolumeType?: string
  Iops?: number
  /** MiB/s. */
  Throughput?: number
  State?: string
  CreateTime?: string
}

/** From EC2 DescribeInstances. */
interface Ec2Instance extends ClusterObject {
  InstanceId?: string
  PrivateDnsName?: string
}

/** Objects that are searched for garbage, by resource name. */
export interface GarbageObjects {
  pods: KubernetesPod
  'jobs.batch': Job
  'cronjobs.batch': CronJob
  'leases.coordination.k8s.io': Lease
  'deployments.apps': Deployment
  'replicasets.apps': ReplicaSet
  'statefulsets.apps': StatefulSet
  'daemonsets.apps': DaemonSet
  persistentvolumeclaims: PersistentVolumeClaim
  persistentvolumes: PersistentVolume
  'certificatesigningrequests.certificates.k8s.io': CertificateSigningRequest
  'volumes.ec2.amazonaws.com': EbsVolume
  'instances.ec2.amazonaws.com': Ec2Instance
  serverversions: ServerVersion
  'controllerrevisions.apps': ControllerRevision
}

/** All objects that are read of a cluster, by resource name. */
export interface ReadObjects extends GarbageObjects {
  events: KubernetesEvent
  'events.events.k8s.io': KubernetesEvent
  'nodepools.karpenter.sh': NodePool
  'ec2nodeclasses.karpenter.k8s.aws': NodeClass
}

/** The objects of one resource. @property resource `plural` or `plural.group` */
export interface ObjectsInput {
  cluster: string
  resource: string
  items: readonly ClusterObject[]
  errors?: readonly ReadError[] | undefined
}

/** Whether an object belongs to a resource and so has its type: the snapshot has checked the object's fields. */
export const isObjectOf = <Resource extends keyof ReadObjects>(
  wanted: Resource,
  resource: string,
  _object: ClusterObject,
): _object is ReadObjects[Resource] => resource === wanted

/** Errors of the input: the first hundred as text, the rest as a number. */
export class InputErrors {
  readonly #kept: string[] = []
  #more = 0

  constructor(errors: readonly string[] = []) {
    for (const error of errors) this.add(error)
  }

  add(error: string) {
    if (this.#kept.length < mostKept) this.#kept.push(error)
    else this.#more++
  }

  list() {
    return this.#more === 0 ? [...this.#kept] : [...this.#kept, `and ${this.#more} more`]
  }
}

/** Errors of a cluster's records, of which a later one can repeat those of an earlier one. */
export class ReadErrors {
  readonly #errors = new Map<string, ReadError>()

  add(errors: readonly ReadError[] | null = []) {
    for (const error of errors ?? []) this.#errors.set(`${error.what} ${error.message}`, error)
  }

  list = () => [...this.#errors.values()]
}

const mostKept = 100

/** The pod's emptyDirs that lie on a disk, and on another one than the kubelet's folder. */
export function volumesElsewhere(
  { volume = [] }: PodSummary,
  pod: KubernetesPod | undefined,
  nodefsBytes: number | null,
) {
  const onDisk = new Set(
    pod?.spec?.volumes?.flatMap(({ name, emptyDir }) =>
      emptyDir && emptyDir.medium !== 'Memory' ? name : [],
    ),
  )
  return volume.filter(
    ({ name, pvcRef, capacityBytes }) =>
      nodefsBytes !== null &&
      capacityBytes != null &&
      capacityBytes !== nodefsBytes &&
      !pvcRef &&
      onDisk.has(name),
  )
}
