/** A fleet to try changes of configuration files on: each image, each owner, a large disk and a small one. */
import { readFileSync } from 'node:fs'

const recorded = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/real/single-disk-${name}.json`, import.meta.url), 'utf8'),
  )

const GiB = 2 ** 30
const at = '2026-11-21T00:00:00Z'
const images = {
  AL2023: 'Amazon Linux 2023.9.20251020',
  AL2: 'Amazon Linux 2',
  Bottlerocket: 'Bottlerocket OS 1.49.0 (aws-k8s-1.34)',
}

interface GateGroup {
  nodes: number
  image: keyof typeof images
  version: string
  labels: Record<string, string>
  cores?: number
  memoryGiB?: number
  diskGiB?: number
  usedPercent?: number
  configuration?: Record<string, unknown>
}

const nodegroup = (name: string) => ({ 'eks.amazonaws.com/nodegroup': name })
const karpenter = (pool: string, nodeClass: string) => ({
  'karpenter.sh/nodepool': pool,
  'karpenter.k8s.aws/ec2nodeclass': nodeClass,
})

/** By name. */
const groups: Readonly<Record<string, GateGroup>> = {
  general: { nodes: 3, image: 'AL2023', version: 'v1.33.5', labels: nodegroup('general') },
  small: {
    ...{ nodes: 2, image: 'AL2023', version: 'v1.33.5', labels: nodegroup('small') },
    ...{ cores: 2, memoryGiB: 2, diskGiB: 20, usedPercent: 60 },
  },
  legacy: { nodes: 2, image: 'AL2', version: 'v1.31.13', labels: nodegroup('legacy') },
  vault: { ...{ nodes: 2, image: 'Bottlerocket', version: 'v1.34.1', labels: nodegroup('vault') } },
  spot: { nodes: 2, image: 'AL2023', version: 'v1.34.1', labels: karpenter('spot', 'spot') },
  metal: {
    nodes: 2,
    image: 'Bottlerocket',
    version: 'v1.34.1',
    labels: karpenter('metal', 'metal'),
  },
  old: { nodes: 1, image: 'AL2', version: 'v1.31.13', labels: karpenter('old', 'old') },
  batch: {
    ...{ nodes: 2, image: 'AL2023', version: 'v1.32.9' },
    labels: { 'alpha.eksctl.io/nodegroup-name': 'batch', 'alpha.eksctl.io/cluster-name': 'prod' },
  },
}

const linesByTimes = new Map<number, readonly string[]>()

/** Lines of a snapshot, made once: hundreds of tests change a copy. @param times how many times each group is as large */
export function gateWorld(times = 1): string[] {
  const lines = linesByTimes.get(times) ?? linesOf(times)
  linesByTimes.set(times, lines)
  return [...lines]
}

function linesOf(times: number): string[] {
  const header = {
    kind: 'Snapshot',
    schema: 'highwater.snapshot/1',
    takenAt: at,
    account: null,
    region: null,
  }
  const nodes = Object.entries(groups).flatMap(([name, group]) =>
    Array.from({ length: group.nodes * times }, (_, index) => nodeOf(`${name}-${index}`, group)),
  )
  return [header, { kind: 'Cluster', cluster: 'prod', errors: [] }, ...nodes].map(record =>
    JSON.stringify(record),
  )
}

function nodeOf(name: string, group: GateGroup): object {
  const {
    image,
    version,
    labels,
    cores = 8,
    memoryGiB = 32,
    diskGiB = 100,
    usedPercent = 50,
  } = group
  const node = recorded('node')
  const disk = Math.round(diskGiB * GiB)
  node.metadata.name = name
  node.metadata.labels = { 'kubernetes.io/os': 'linux', ...labels }
  Object.assign(node.status.nodeInfo, {
    kubeletVersion: `${version}-eks-1`,
    osImage: images[image],
  })
  const size = {
    cpu: String(cores),
    memory: `${memoryGiB * 1024 * 1024}Ki`,
    'ephemeral-storage': `${disk / 1024}Ki`,
    pods: '29',
  }
  Object.assign(node.status, { capacity: size, allocatable: size })
  const summary = recorded('stats-summary')
  const filesystem = {
    ...{ time: at, capacityBytes: disk, inodes: 5_000_000, inodesFree: 4_900_000 },
    availableBytes: Math.round(disk * (1 - usedPercent / 100)),
  }
  Object.assign(summary.node, {
    fs: filesystem,
    runtime: { imageFs: filesystem, containerFs: filesystem },
  })
  Object.assign(summary.node.memory, {
    availableBytes: Math.round(memoryGiB * GiB * 0.6),
    workingSetBytes: Math.round(memoryGiB * GiB * 0.4),
  })
  const ofPods = summary.node.systemContainers.find(
    (container: { name: string }) => container.name === 'pods',
  )
  ofPods.memory.availableBytes = memoryGiB * GiB - 574 * 2 ** 20 - ofPods.memory.workingSetBytes
  const configz = recorded('configz')
  const kubeReserved =
    memoryGiB < 4
      ? { cpu: '70m', memory: '574Mi', 'ephemeral-storage': '1Gi' }
      : { cpu: '90m', memory: '574Mi', 'ephemeral-storage': '1Gi' }
  const bottlerocket =
    image === 'Bottlerocket'
      ? {
          podPidsLimit: 1_048_576,
          evictionHard: {
            'memory.available': '100Mi',
            'nodefs.available': '10%',
            'nodefs.inodesFree': '5%',
            'imagefs.available': '15%',
          },
        }
      : {}
  Object.assign(configz.kubeletconfig, {
    kubeReserved,
    cgroupDriver: 'systemd',
    failSwapOn: true,
    ...bottlerocket,
    ...group.configuration,
  })
  return {
    kind: 'Node',
    cluster: 'prod',
    at,
    node,
    configz,
    summary,
    pods: recorded('pods').items,
    errors: [],
  }
}
