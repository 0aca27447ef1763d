/**
 * Data read of a cluster itself. snapshot/cluster-input.ts checks it once: each field has its type,
 * or is absent.
 */

import type {
  CertificateSigningRequest,
  ClusterObject,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  KubernetesPod,
  Lease,
  PersistentVolume,
  PersistentVolumeClaim,
  ReplicaSet,
  ServerVersion,
  StatefulSet,
} from './kubernetes.ts'
import type { ReadError } from './record.ts'
import { type Shaped, type ShapeOf, text } from './shape.ts'

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
 * Objects of a cluster. snapshot/cluster-input.ts checks them once: each field has its type, or is absent. Kubernetes and AWS objects
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
