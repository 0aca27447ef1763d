/**
 * Objects of a cluster. snapshot/cluster-input.ts checks them once: each field has its type, or is absent. Kubernetes and AWS objects
 * keep their API's field names.
 */
import type { KubernetesEvent, NodeClass, NodePool } from './cluster-input.ts'
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
  AvailabilityZone?: string
}

/** From EC2 DescribeInstances. */
export interface Ec2Instance extends ClusterObject {
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
}

/** Whether an object belongs to a resource and so has its type: the snapshot has checked the object's fields. */
export const isOf = <Resource extends keyof ReadObjects>(
  wanted: Resource,
  resource: string,
  _object: ClusterObject,
): _object is ReadObjects[Resource] => resource === wanted
