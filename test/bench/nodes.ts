/** Nodes to measure with: as full as EKS nodes get, the same in every run. */
import type { NodeRecord } from '#model/input/record.ts'

export const readAt = '2026-11-21T00:00:00Z'
const readMs = Date.parse(readAt)
const GiB = 2 ** 30
const MiB = 2 ** 20

export interface NodeSize {
  pods: number
  images: number
}

/** The same numbers for the same seed. Mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A node whose one disk is above both thresholds, with all that a node can tell of itself. */
export function benchRecord(index: number, { pods, images }: NodeSize): NodeRecord {
  const random = randomFrom(index + 1)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least))
  const capacityBytes = 100 * GiB + between(0, GiB)
  const disk = {
    time: readAt,
    capacityBytes,
    availableBytes: Math.floor(capacityBytes * 0.08) + between(0, MiB),
    inodes: 52_428_800,
    inodesFree: 40_000_000,
  }
  const imageIds = Array.from(
    { length: images },
    (_, image) => `sha256:${String(image).padStart(4, '0')}${String(index).padStart(60, '0')}`,
  )
  const names = Array.from({ length: pods }, (_, pod) => `workload-${index}-${pod}`)
  const containerIds = names.map(
    (_, pod) => `${String(index).padStart(32, '0')}${String(pod).padStart(32, '0')}`,
  )
  const imageOf = (pod: number) => imageIds[(pod * 7) % Math.ceil(images / 2)] ?? ''
  return {
    kind: 'Node',
    cluster: 'bench',
    at: readAt,
    node: {
      metadata: { name: `ip-10-0-${Math.floor(index / 250)}-${index % 250}.ec2.internal` },
      status: {
        capacity: {
          cpu: '8',
          memory: '32Gi',
          'ephemeral-storage': `${Math.floor(capacityBytes / 1024)}Ki`,
          pods: '110',
        },
        allocatable: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '1', pods: '110' },
        conditions: [
          { type: 'DiskPressure', status: 'False', lastTransitionTime: '2026-11-20T00:00:00Z' },
        ],
        nodeInfo: nodeInfo,
      },
    },
    configz: {
      kubeletconfig: {
        evictionHard: {
          'memory.available': '100Mi',
          'nodefs.available': '10%',
          'nodefs.inodesFree': '5%',
        },
        enforceNodeAllocatable: ['pods'],
        imageGCHighThresholdPercent: 85,
        imageGCLowThresholdPercent: 80,
        imageMinimumGCAge: '2m0s',
        imageMaximumGCAge: '0s',
        evictionPressureTransitionPeriod: '5m0s',
        maxPods: 110,
      },
    },
    summary: {
      node: {
        fs: disk,
        runtime: { imageFs: disk, containerFs: disk },
        memory: { time: readAt, availableBytes: 12 * GiB, workingSetBytes: 20 * GiB },
        rlimit: { time: readAt, maxpid: 32_768, curproc: 2_000 },
        systemContainers: [
          { name: 'kubelet', startTime: '2026-11-19T00:00:00Z' },
          {
            name: 'pods',
            memory: { time: readAt, availableBytes: 12 * GiB, workingSetBytes: 18 * GiB },
          },
        ],
      },
      pods: names.map(name => podStats(name, between)),
    },
    pods: names.map((name, pod) =>
      podManifest(name, pod, { image: imageOf(pod), id: containerIds[pod] ?? '' }, between),
    ),
    runtime: {
      images: imageIds.map((id, image) => ({
        id,
        repoTags: [`registry.example/team/app-${image}:v1`],
        repoDigests: [],
        size: String(between(20, 900) * MiB),
        pinned: image === 0,
      })),
      containers: names.map((name, pod) => ({
        id: containerIds[pod],
        podSandboxId: `s-${name}`,
        metadata: { name: 'app', attempt: 0 },
        image: { image: imageOf(pod) },
        imageRef: imageOf(pod),
        imageId: imageOf(pod),
        state: 'CONTAINER_RUNNING',
        createdAt: String(BigInt(readMs - 3_600_000) * 1_000_000n),
        labels: {
          'io.kubernetes.pod.uid': name,
          'io.kubernetes.pod.name': name,
          'io.kubernetes.pod.namespace': 'default',
        },
      })),
      sandboxes: [],
    },
    known: {
      images: imageIds.map((id, image) => ({
        id,
        firstDetected: new Date(readMs - 86_400_000 - image * 1_000).toISOString(),
        lastUsed:
          image % 3 === 0 ? null : new Date(readMs - 3_600_000 - image * 1_000).toISOString(),
      })),
    },
    errors: [],
  }
}

const nodeInfo = {
  kubeletVersion: 'v1.34.1-eks-0000000',
  operatingSystem: 'linux',
  containerRuntimeVersion: 'containerd://2.1.5',
}

type Between = (least: number, most: number) => number

const podManifest = (
  name: string,
  pod: number,
  { image, id }: { image: string; id: string },
  between: Between,
) => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: {
    priority: pod % 20 === 0 ? 1000 : 0,
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: 'app',
        image,
        resources: {
          requests: {
            cpu: '100m',
            memory: `${between(32, 512)}Mi`,
            'ephemeral-storage': `${between(10, 900)}Mi`,
          },
        },
      },
    ],
    volumes: [
      { name: 'tmp', emptyDir: {} },
      { name: 'config', configMap: { name: 'app' } },
    ],
  },
  status: {
    phase: 'Running',
    qosClass: 'Burstable',
    containerStatuses: [
      {
        name: 'app',
        image,
        imageID: image,
        containerID: `containerd://${id}`,
        state: { running: { startedAt: '2026-11-20T23:00:00Z' } },
      },
    ],
  },
})

function podStats(name: string, between: Between) {
  const used = (mebibytes: number) => ({
    time: readAt,
    usedBytes: between(1, mebibytes) * MiB + between(0, MiB),
    inodesUsed: between(1, 5_000),
  })
  return {
    podRef: { name, namespace: 'default', uid: name },
    containers: [
      {
        name: 'app',
        memory: { time: readAt, workingSetBytes: between(16, 700) * MiB },
        rootfs: used(400),
        logs: used(200),
      },
    ],
    memory: { time: readAt, workingSetBytes: between(16, 700) * MiB + between(0, MiB) },
    volume: [
      { name: 'tmp', ...used(600) },
      { name: 'config', ...used(1) },
    ],
    'ephemeral-storage': used(900),
    process_stats: { process_count: between(1, 60) },
  }
}
