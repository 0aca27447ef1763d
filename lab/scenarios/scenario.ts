/** What a scenario is: a small world as data, its faults, and what an audit of it should say. */

import type { RawObject } from '#base/raw-object.ts'
import type { Machine } from '#lab/machines/machine.ts'
import type { ChangeFault, KubeletStart } from '#lab/machines/start.ts'
import type { KubernetesNode, KubernetesPod } from '#model/input/record.ts'

export interface Scenario {
  name: string
  /** One line for people. */
  about: string
  /** Names are unique among all scenarios in one account and region, so that several can share one lab. */
  clusters: readonly ClusterScenario[]
  /** IAM roles of this world beside the lab's own principal. */
  roles?: readonly RoleScenario[]
  /** Items in a page of EKS lists; default 100, as EKS has it. */
  eksPageSize?: number
  /** EKS answers so many requests with ThrottlingException before it answers any. */
  eksThrottlesFirst?: number
  /** What no principal may do, `eks:DescribeCluster`. */
  eksDenied?: readonly string[]
  launchTemplates?: readonly LaunchTemplateScenario[]
  /** Items in a page of EC2's lists; default 200. */
  ec2PageSize?: number
  /** What no principal may do, `ec2:DescribeVolumes`; true: nothing of EC2. */
  ec2Denied?: boolean | readonly string[]
  /** CloudWatch's alarms. */
  alarms?: readonly AlarmScenario[]
  /** No principal may call cloudwatch:DescribeAlarms. */
  alarmsDenied?: boolean
  s3?: Partial<S3Scenario>
  ssm?: Partial<SsmScenario>
  ses?: Partial<SesScenario>
  sns?: Partial<SnsScenario>
  events?: Partial<EventsScenario>
  /** Default: those that seal runs and approvals, and every principal may use them. */
  kms?: readonly KmsKeyScenario[]
  sfn?: Partial<SfnScenario>
  expect(): Expectation
}

export interface AlarmScenario {
  name: string
  state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA'
  /** Made of other alarms. */
  isComposite?: boolean
  /** Default: the lab's. */
  region?: string
}

export interface LaunchTemplateScenario {
  id: string
  name: string
  /** Default: the lab's. */
  region?: string
  account?: string
  /** Default: the first. */
  defaultVersion?: number
  /** `userData` is in base64, as EC2 has it. */
  versions: readonly { number: number; userData?: string }[]
}

/** SSM in the lab's account and region, and how it fails. */
export interface SsmScenario {
  /** What no principal may do, `ssm:SendCommand`. */
  denied: readonly string[]
  /** The first so many requests are answered ThrottlingException. */
  throttlesFirst: number
  /** The first so many of each of these actions likewise: `SendCommand`. */
  throttlesFirstOf: Readonly<Record<string, number>>
  /** So many questions after a command are answered as if it had not reached the instance yet. */
  unseenFirst: number
  /** Nothing listens at SSM's address. */
  down: boolean
}

/** S3 and how it fails. All buckets are the lab account's, in the lab's region. */
export interface S3Scenario {
  /** Default: `highwater-lab`. */
  buckets: readonly string[]
  /** Nothing listens at S3's address. */
  down: boolean
  /** What no principal may do. */
  denied: readonly S3Action[]
  /** The first so many requests are answered 503 SlowDown. */
  slowDownFirst: number
  /** Every write is answered 503 ServiceUnavailable. */
  full: boolean
  /** What KMS answers when an object is to be written or read under a key. Default: it lends every key. */
  kms: 'denied' | 'disabled' | 'missing' | null
}

export type S3Action =
  | 's3:PutObject'
  | 's3:GetObject'
  | 's3:DeleteObject'
  | 's3:ListBucket'
  | 's3:ListBucketVersions'

/** SES of the lab's account in the lab's region, and how it fails. */
export interface SesScenario {
  /** Verified addresses and domains, a domain with its subdomains. Default: `example.com`. */
  identities: readonly string[]
  /** Recipients have to be verified, too; 200 messages a day. */
  sandbox: boolean
  sendingPaused: boolean
  /** No principal may call ses:SendEmail. */
  denied: boolean
  /** The first so many SendEmail are answered with that error. */
  refuseFirst: {
    count: number
    error: 'TooManyRequestsException' | 'LimitExceededException'
  } | null
  /** On the account's suppression list: mail for them is taken, and goes nowhere. `since`: RFC 3339. */
  suppressed: readonly { address: string; reason: 'BOUNCE' | 'COMPLAINT'; since: string }[]
  /** No principal may call ses:GetSuppressedDestination. */
  suppressionDenied: boolean
  /** Nothing listens at SES's address. */
  down: boolean
}

/** An HMAC_256 key of the lab's account in the lab's region. */
export interface KmsKeyScenario {
  /** `alias/NAME` */
  alias: string
  isDisabled?: boolean
  /** Identities that its policy lets make codes, and check them; absent: all. */
  generate?: readonly string[]
  verify?: readonly string[]
}

/** SNS of the lab, and how it fails. */
export interface SnsScenario {
  /** Names of topics that are there. Default: `reports`. */
  topics: readonly string[]
  /** No principal may call sns:Publish. */
  denied: boolean
  /** Nobody may use the key of its topics. */
  kmsDenied: boolean
  /** Nothing listens at SNS's address. */
  down: boolean
}

/** EventBridge of the lab, and how it fails. */
export interface EventsScenario {
  /** Names of buses that are there. Default: `default`. */
  buses: readonly string[]
  /** No principal may call events:PutEvents. */
  denied: boolean
}

/** Step Functions of the lab, and how it fails. */
export interface SfnScenario {
  /** Names of state machines that are there. Default: `highwater`. */
  stateMachines: readonly string[]
  /** No principal may call states:StartExecution. */
  denied: boolean
}

/** Rules that an expectation may name. */
export type ExpectedRule =
  | 'alert-before-image-gc'
  | 'baseline-drift'
  | 'changed-not-restarted'
  | 'dead-container-pile'
  | 'disk-nearly-full'
  | 'eviction-before-image-gc'
  | 'eviction-due'
  | 'eviction-loop'
  | 'image-gc-dead'
  | 'image-gc-due'
  | 'pods-evicted'
  | 'leftover-taint'
  | 'log-rotation-drift'
  | 'lost-default-threshold'
  | 'lost-on-the-way'
  | 'memory-cgroup-leak'
  | 'node-not-ready-long'
  | 'node-without-instance'
  | 'peer-drift'
  | 'pull-failing-now'
  | 'rate-limited-registry'
  | 'reservation-without-eviction'
  | 'reserved-below-eks-formula'
  | 'serialized-pulls'
  | 'unpinned-sandbox-image'
  | 'unreachable-gc-low-threshold'
  | 'unread-node'
  | 'unrenewed-lease'
  | 'unwatched-imagefs'
  | 'version-skew-drift'
  | 'zero-min-reclaim-thrash'

/** Policy defaults hold, but for the way to read; of the rules above exactly these fire, none on a node that is not named. */
interface Expectation {
  /** Default: through the API server. */
  mode?: 'ssm'
  nodes: readonly { cluster: string; node: string; rules: readonly ExpectedRule[] }[]
  /** Clusters of which no node can be read. */
  notAudited: readonly string[]
  /** What is found of its clusters' own objects, by cluster and subject. */
  garbage?: readonly { cluster: string; rule: string; subject: string }[]
}

export interface ClusterScenario {
  name: string
  /** Kubernetes minor, `1.34`. */
  version: string
  /** Default: the lab's region. */
  region?: string
  /** Default: the lab's account. */
  account?: string
  /** EKS status; a cluster that is CREATING has no endpoint. Default ACTIVE. */
  status?: 'ACTIVE' | 'CREATING' | 'UPDATING'
  autoMode?: boolean
  /** The id of a local cluster on Outposts, which stands for the name in tokens. Default: the cluster is none. Source: EKS user guide, local clusters. */
  localId?: string
  /** DescribeCluster says that the endpoint is private. Whether it answers is a matter of `faults`. */
  privateEndpoint?: boolean
  /** What DescribeCluster tells of pod GC's threshold. Default: nothing, as of older clusters. */
  terminatedPodThreshold?: number
  tags?: Record<string, string>
  nodegroups: readonly NodegroupScenario[]
  /** Its insights. Default: none. */
  insights?: readonly InsightScenario[]
  nodes: NodeSource
  /** `v1.Event`s of the last hour. */
  events?: (at: string) => readonly RawObject[]
  /** By `plural` or `plural.group`, its other objects, as the API server lists them; of pods those that are on no node of `nodes`. */
  objects?: Readonly<Record<string, ObjectSource>>
  /** EBS volumes that bear its tags. */
  disks?: readonly DiskScenario[]
  /** Names of nodes whose instance is gone. */
  goneInstances?: readonly string[]
  /** By `plural.group`, the custom resources that say who makes nodes; a key that is absent is not installed. */
  nodeClasses?: Readonly<Record<string, readonly RawObject[]>>
  /** `policy/v1` PodDisruptionBudgets: as the API server lists them, or in short, and then their status follows from the pods that there are. */
  disruptionBudgets?: readonly (RawObject | DisruptionBudget)[]
  /** IAM principal (user or role ARN) → Kubernetes rights, `verb resource`. Default: the lab's principal may read what an audit reads. */
  access?: Readonly<Record<string, readonly string[]>>
  /** Its kubelets listen on their own port, too, each at an address of its own on loopback (127.…): on Linux, where all of 127.0.0.0/8 is this machine. */
  kubelets?: boolean
  faults?: ClusterFaults
}

/** As DescribeInsight returns it; ListInsights leaves out what EKS describes only there. */
export interface InsightScenario {
  id: string
  name: string
  /** Default: `UPGRADE_READINESS`. */
  category?: 'UPGRADE_READINESS' | 'MISCONFIGURATION'
  kubernetesVersion?: string
  insightStatus: { status: 'PASSING' | 'WARNING' | 'ERROR' | 'UNKNOWN'; reason: string }
  description: string
  recommendation: string
}

export interface DiskScenario {
  volumeId: string
  sizeGiB: number
  /** Default: it is attached to nothing. */
  isAttached?: boolean
  madeHoursAgo: number
  /** Default: gp3, with what comes with it. */
  type?: { name: string; iops: number }
}

export interface DisruptionBudget {
  namespace: string
  name: string
  matchLabels: Readonly<Record<string, string>>
  minAvailable: number
}

export interface ClusterFaults {
  /** What stands at the address that DescribeCluster gives. Default: the API server. */
  endpoint?: 'closed-port' | 'unresolvable'
  /** `other-host`: valid, but for another name. `other-authority`: signed by another CA than DescribeCluster shows. */
  certificate?: 'other-host' | 'other-authority'
  /** The same of its kubelets. */
  kubeletCertificate?: 'other-host' | 'other-authority'
  /** The first so many requests are answered 429. */
  tooManyRequests?: { first: number; retryAfterSeconds: number }
  /** A list that has come so many pages far finds its token expired, once each time that many pages were served. */
  continueExpiresAfterPages?: number
  /** The API server is away for so many requests: it breaks their connections. From the start on, or from when the first kubelet was started anew. */
  away?: { from: 'start' | 'first-restart'; requests: number }
}

export interface RoleScenario {
  arn: string
  /** AssumeRole is refused without it. */
  externalId?: string
  /** False: EKS answers AccessDeniedException. Default true. */
  mayReadEks?: boolean
}

export interface NodegroupScenario {
  name: string
  /** EKS enum, `AL2023_x86_64_STANDARD`. */
  amiType: string
  version: string
  releaseVersion: string
  instanceTypes: readonly string[]
  desiredSize: number
  /** GiB; absent where a launch template decides. */
  diskSize?: number
  launchTemplate?: { id: string; name: string; version: string }
}

/** Objects, each made when its page is: many cost nothing until asked. */
export interface ObjectSource {
  count: number
  item(index: number, at: string): RawObject
}

/** The nodes of a cluster, each made when it is asked for. */
export interface NodeSource {
  /** Sorted, as an API server lists them. */
  names(): readonly string[]
  /** Undefined when there is no node of that name. */
  node(name: string): LabNode | undefined
  /** A node that was asked for before, as it is now. Default: nodes stay as they are. */
  asNow?(name: string, node: LabNode): LabNode
  /** Who comes when a node's instance is terminated, by the name of the one that goes. */
  successors?: Readonly<Record<string, { name: string; node: LabNode }>>
}

/** One node: its bodies are functions of the lab's time (RFC 3339), so that large fleets cost nothing until asked. */
export interface LabNode {
  /** What `node` says of it, without making the rest. */
  providerId?: string
  node(at: string): KubernetesNode
  /** The body of `/configz`, `{"kubeletconfig":{…}}`. */
  configz(at: string): RawObject
  /** The body of `/stats/summary`. */
  summary(at: string): RawObject
  podKeys(): readonly PodKey[]
  /** The pod of `podKeys()[index]`. */
  pod(index: number, at: string): KubernetesPod
  fault?: NodeFault
  /** Its SSM agent; absent: SSM does not know the instance. */
  agent?: AgentScenario
  /** What its agent's scripts find; asked when the first one runs. */
  machine?(at: string): Machine
  /** How a change of it goes wrong. */
  changeFault?: ChangeFault
  /** The same node with its kubelet started anew. @param nowMs by the node's clock */
  asStarted?(start: KubeletStart, nowMs: number): LabNode
}

export interface AgentScenario {
  /** Default: one that is new enough for everything. */
  version?: string
  /** Default Linux. */
  platform?: 'Linux' | 'Windows'
  /** Default Online. */
  pingStatus?: 'Online' | 'ConnectionLost'
  /** Default: just now. */
  lastPingMinutesAgo?: number
  fault?: AgentFault
  /** Runs the script of a document's step on the node, as root's `sh` would. Default: it runs on the node's machine. */
  run?(script: string, environment: Readonly<Record<string, string>>): Promise<ScriptRun>
}

export interface ScriptRun {
  stdout: string
  stderr: string
  exitCode: number
  /** The fault of the node ended the command: it reports nothing. */
  isStruck?: boolean
}

/** How a command fails on one instance, in SSM's words for it. */
export type AgentFault =
  | { kind: 'status'; status: 'Failed' | 'TimedOut' | 'Cancelled'; details: string }
  /** It never comes further. */
  | { kind: 'stuck'; status: 'Pending' | 'InProgress' | 'Delayed' }
  | { kind: 'slow'; delayMs: number }
  /** It is delivered so much later, even to one who has given up by then. */
  | { kind: 'late'; delayMs: number }
  /** It is delivered, and done, a second time; the answer is that of the first. */
  | { kind: 'twice' }
  /** SSM still lists the instance, and refuses every command that names it; `isForgotten`: after the first one it does not list it any more. */
  | { kind: 'gone'; isForgotten?: boolean }
  /** The script is killed after so many characters of its output. */
  | { kind: 'killed'; afterCharacters: number }
  /** It ends well, and no more of its output than this arrives. */
  | { kind: 'truncated'; afterCharacters: number }
  /** It is set up with the identity of another instance. */
  | { kind: 'other-identity'; instanceId: string }

export interface PodKey {
  namespace: string
  name: string
}

/** How a kubelet fails behind the API server's proxy. */
export type NodeFault =
  /** Nothing listens on 10250: the API server answers 503. */
  | { kind: 'down' }
  | { kind: 'hanging' }
  /** The kubelet's own answer, as text. */
  | { kind: 'status'; status: number; body: string }
  /** Valid length, but the JSON stops in the middle. */
  | { kind: 'truncated' }
  /** The connection breaks in the middle of the body. */
  | { kind: 'broken' }
  /** enableDebuggingHandlers false: `/configz` is not there. */
  | { kind: 'no-debugging-handlers' }
  | { kind: 'slow'; delayMs: number }

/** A node source of nodes that are all at hand. */
export function fixedNodes(
  nodes: Readonly<Record<string, LabNode>>,
  successors?: NodeSource['successors'],
): NodeSource {
  const names = Object.keys(nodes).sort()
  return {
    names: () => names,
    node: name => (Object.hasOwn(nodes, name) ? nodes[name] : undefined),
    ...(successors && { successors }),
  }
}

/** An object source of objects that are all at hand, in the API server's order. */
export function fixedObjects(objects: (at: string) => readonly RawObject[]): ObjectSource {
  const made = new Map<string, readonly RawObject[]>()
  const all = (at: string) => {
    const known = made.get(at) ?? objects(at)
    made.set(at, known)
    return known
  }
  return {
    count: objects('2026-01-01T00:00:00Z').length,
    item: (index, at) => all(at)[index] ?? {},
  }
}
