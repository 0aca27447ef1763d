/**
 * Data read of one node. snapshot/node-input.ts parses it once; replay, judge and remediate read only the result. A field has the type that
 * its shape keeps, or is absent. Kubernetes, CRI and kubelet objects keep their API's field names.
 */

import type { RunningConfiguration } from '#model/kubelet/configuration.ts'
import type { Host, Item, Runtime } from './inspection.ts'
import type { KubernetesNode, KubernetesPod } from './kubernetes.ts'
import type { ReadError, ReadMode, Source } from './record.ts'
import { list, type Shaped } from './shape.ts'

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
  errors: readonly ReadError[]
}
