/** Nodes that told of themselves what a plan needs: their files by content and hash, their flags, a disk, pods. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RawObject } from '#base/raw-object.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { temporaryFolder } from './cli.ts'

const takenAt = '2026-11-21T00:00:00Z'
export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

export type Family = 'AL2' | 'AL2023' | 'old AL2023' | 'Bottlerocket' | 'Ubuntu' | 'hybrid'

const images: Record<Family, string> = {
  AL2: 'Amazon Linux 2',
  AL2023: 'Amazon Linux 2023.9.20251117',
  'old AL2023': 'Amazon Linux 2023.6.20250203',
  Bottlerocket: 'Bottlerocket OS 1.51.0 (aws-k8s-1.34)',
  Ubuntu: 'Ubuntu 22.04.5 LTS',
  hybrid: 'Ubuntu 24.04.1 LTS',
}
const kind = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
const trio = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' }
/** As nodeadm and jq write it. */
export const indentOf = (family: Family): number =>
  family === 'AL2' || family === 'Ubuntu' ? 2 : 4
export const pathOf = (family: Family): string =>
  `/etc/kubernetes/kubelet/${family === 'AL2' || family === 'Ubuntu' ? 'kubelet-config.json' : 'config.json'}`
export const mainFile: RawObject = {
  ...kind,
  clusterDNS: ['172.20.0.10'],
  evictionHard: trio,
  maxPods: 58,
  serializeImagePulls: false,
}
/** `mainFile` with every default, of the fields that are read. */
const running: RawObject = {
  imageMinimumGCAge: '2m0s',
  imageMaximumGCAge: '0s',
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  evictionHard: trio,
  evictionPressureTransitionPeriod: '5m0s',
  mergeDefaultEvictionSettings: false,
  containerLogMaxSize: '10Mi',
  containerLogMaxFiles: 5,
  containerLogMaxWorkers: 1,
  containerLogMonitorInterval: '10s',
  enforceNodeAllocatable: ['pods'],
  maxPods: 58,
  nodeStatusMaxImages: 50,
  serializeImagePulls: false,
  registryPullQPS: 5,
  registryBurst: 10,
  podPidsLimit: -1,
  localStorageCapacityIsolation: true,
}

export interface FleetNode {
  name?: string
  family?: Family
  minor?: string
  /** Null: it belongs to none. */
  nodegroup?: string | null
  labels?: Record<string, string>
  /** GiB of the 100 that the one disk has. */
  available?: number
  /** In place of what the configuration file says, and of what runs. */
  file?: RawObject
  configz?: RawObject
  /** How the file is written; a text is the file's own. */
  text?: string
  flags?: string[]
  dropIns?: Record<string, RawObject>
  /** Files of the drop-ins' folder, which this kubelet does not read; null: their content is unread. */
  ignored?: Record<string, RawObject | null>
  pods?: NonNullable<NodeRecord['pods']>
  images?: RawObject[]
  record?: Partial<NodeRecord>
}

const GiB = 2 ** 30

export function fleetNode(node: FleetNode = {}): NodeRecord {
  const {
    name = 'ip-10-0-0-1.ec2.internal',
    family = 'AL2023',
    minor = '34',
    nodegroup = 'workers',
    available = 60,
    labels = {},
  } = node
  const filesystem = {
    time: takenAt,
    capacityBytes: 100 * GiB,
    availableBytes: available * GiB,
    inodes: 50_000_000,
    inodesFree: 49_000_000,
  }
  const fs = { ...filesystem, usedBytes: (100 - available) * GiB }
  return {
    kind: 'Node',
    cluster: 'prod',
    at: takenAt,
    node: {
      metadata: {
        name,
        labels: {
          'node.kubernetes.io/instance-type': 'm5.xlarge',
          ...(nodegroup !== null && { 'eks.amazonaws.com/nodegroup': nodegroup }),
          ...(family === 'hybrid' && { 'eks.amazonaws.com/compute-type': 'hybrid' }),
          ...labels,
        },
      },
      spec: { providerID: `aws:///eu-west-1a/i-${hashOf(name).slice(0, 17)}` },
      status: {
        capacity: { cpu: '4', memory: '16Gi', 'ephemeral-storage': `${100 * GiB}`, pods: '58' },
        allocatable: { cpu: '4', memory: '16Gi', 'ephemeral-storage': `${90 * GiB}`, pods: '58' },
        conditions: [{ type: 'Ready', status: 'True' }],
        nodeInfo: {
          kubeletVersion: `v1.${minor}.1-eks-0000000`,
          operatingSystem: 'linux',
          osImage: images[family],
        },
      },
    },
    configz: { kubeletconfig: { ...running, ...node.configz } },
    summary: {
      node: {
        nodeName: name,
        memory: { time: takenAt, availableBytes: 8 * GiB, workingSetBytes: 8 * GiB },
        fs,
        runtime: { imageFs: fs, containerFs: fs },
      },
      pods: [],
    },
    pods: node.pods ?? [],
    runtime: { images: node.images ?? [], containers: [], sandboxes: [] },
    host: hostOf(node, family),
    errors: [],
    ...node.record,
  }
}

function hostOf(
  { file = mainFile, text, flags = [], dropIns = {}, ignored = {} }: FleetNode,
  family: Family,
): RawObject {
  if (family === 'Bottlerocket') {
    const kubernetes = { 'cluster-name': 'prod', 'max-pods': 58, 'eviction-hard': { ...trio } }
    return {
      schema: 'highwater.host/1',
      bottlerocket: { kubernetes, os: { version_id: '1.51.0' } },
    }
  }
  const path = pathOf(family)
  const folder =
    Object.keys(dropIns).length > 0 ? ['--config-dir=/etc/kubernetes/kubelet/config.json.d'] : []
  const written = text ?? `${JSON.stringify(file, null, indentOf(family))}\n`
  const asleep = Object.entries(ignored).map(([name, content]) => ({
    path: `/etc/kubernetes/kubelet/config.json.d/${name}`,
    role: 'ignored' as const,
    ...(content !== null && { content: { ...kind, ...content } }),
  }))
  const entries = Object.entries(dropIns).map(([dropIn, content]) => ({
    path: `/etc/kubernetes/kubelet/config.json.d/${dropIn}`,
    role: 'drop-in',
    sha256: hashOf(JSON.stringify(content)),
    content: { ...kind, ...content },
  }))
  return {
    schema: 'highwater.host/1',
    kubelet: {
      startedAt: '2026-11-01T00:00:00Z',
      commandLine: ['/usr/bin/kubelet', `--config=${path}`, ...folder, ...flags],
      files: [
        { path, role: 'config', sha256: hashOf(written), content: file },
        ...entries,
        ...asleep,
      ],
    },
  }
}

/** A ready pod of a Deployment, with a readiness probe. */
export const readyPod = (
  name: string,
  owner: string,
  changed: RawObject = {},
): NonNullable<NodeRecord['pods']>[number] => ({
  metadata: {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    labels: { app: owner },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: owner,
        uid: `uid-${owner}`,
        controller: true,
      },
    ],
  },
  spec: {
    containers: [
      { name: 'app', image: 'shop:1', readinessProbe: { periodSeconds: 10 }, ...changed },
    ],
  },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [
      {
        name: 'app',
        ready: true,
        started: true,
        state: { running: { startedAt: '2026-11-20T00:00:00Z' } },
      },
    ],
  },
})

/** An image that nobody uses, `size` GiB. */
export const idleImage = (name: string, size: number): RawObject => ({
  id: `sha256:${hashOf(name)}`,
  repoTags: [name],
  repoDigests: [],
  size: `${size * GiB}`,
  pinned: false,
})

/** A snapshot file, gone after the test. */
export function snapshotOf(nodes: readonly NodeRecord[], ...others: object[]): string {
  const header = {
    kind: 'Snapshot',
    schema: 'highwater.snapshot/1',
    takenAt,
    account: '111122223333',
    region: 'eu-west-1',
  }
  return snapshotWith([header, { kind: 'Cluster', cluster: 'prod' }, ...nodes, ...others])
}

/** The path of a snapshot. */
export function snapshotWith(records: readonly object[]): string {
  const path = join(temporaryFolder(), 'snapshot.ndjson')
  writeFileSync(path, records.map(record => JSON.stringify(record)).join('\n'))
  return path
}
