/**
 * Data read of a cluster itself. snapshot/cluster-input.ts checks it once: each field has its type,
 * or is absent.
 */
import type { ReadError } from './record.ts'

/** From EKS DescribeCluster. */
export interface EksCluster {
  name?: string
  arn?: string
  version?: string
  status?: string
  tags?: Record<string, string>
  accessConfig?: { authenticationMode?: string }
  computeConfig?: { enabled?: boolean }
  kubeControllerManagerConfig?: { podGcControllerConfig?: { terminatedPodGcThreshold?: number } }
}

/** From EKS DescribeNodegroup. */
export interface Nodegroup {
  nodegroupName?: string
  amiType?: string
  tags?: Record<string, string>
  labels?: Record<string, string>
  /** GiB. Absent: a launch template defines the volumes. */
  diskSize?: number
  launchTemplate?: { id?: string; name?: string; version?: string }
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
    template?: { spec?: { nodeClassRef?: { name?: string }; kubelet?: Record<string, unknown> } }
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

/** Both forms of an event: core/v1, and events.k8s.io/v1 with its own names for the same fields. */
export interface KubernetesEvent {
  metadata?: { uid?: string }
  involvedObject?: InvolvedObject
  regarding?: InvolvedObject
  reason?: string
  message?: string
  note?: string
  count?: number
  deprecatedCount?: number
  series?: { count?: number; lastObservedTime?: string }
  firstTimestamp?: string
  lastTimestamp?: string
  eventTime?: string
  deprecatedFirstTimestamp?: string
  deprecatedLastTimestamp?: string
  source?: { host?: string }
  deprecatedSource?: { host?: string }
  reportingInstance?: string
}

export interface InvolvedObject {
  kind?: string
  namespace?: string
  name?: string
  uid?: string
}

export interface ClusterInput {
  kind: 'Cluster'
  cluster: string
  /** Null, here and in the fields below: not read. */
  eks: EksCluster | null
  nodegroups: readonly Nodegroup[] | null
  launchTemplates: readonly LaunchTemplateVersion[] | null
  errors: readonly ReadError[] | null
}
