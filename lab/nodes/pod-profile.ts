/** The pods that run on the lab's nodes: the cluster's own DaemonSets, and workloads as people have them. */
import type { StringMap } from '#model/kubelet/configuration.ts'
import { randomOf, suffixOf } from './random.ts'

export interface ContainerProfile {
  name: string
  image: string
  requests?: StringMap
  limits?: StringMap
  env?: StringMap
  /** Which probes it has, each asked once a second. */
  probes?: readonly ('readiness' | 'startup')[]
  memoryMiB: number
  /** Writable layer and logs. */
  rootfsMiB: number
  logsMiB: number
}

export interface PodProfile {
  namespace: string
  name: string
  /** `Pod`: a pod that another one has made, as a driver makes its executors. */
  owner: { kind: 'DaemonSet' | 'ReplicaSet' | 'StatefulSet' | 'Job' | 'Pod'; name: string }
  labels: StringMap
  annotations?: StringMap
  containers: readonly ContainerProfile[]
  emptyDir?: { name: string; usedMiB: number }
  priority?: { className: string; value: number }
  phase: 'Running' | 'Succeeded' | 'Failed'
  /** Why it failed: the kubelet's own reason and words. */
  failure?: { reason: string; message: string }
  /** Of one that has finished. Default: since two hours. */
  endedHoursAgo?: number
}

const nodeCritical = { className: 'system-node-critical', value: 2_000_001_000 }
const registry = '602401143452.dkr.ecr.us-east-1.amazonaws.com'
const container = (
  name: string,
  image: string,
  [memoryMiB, rootfsMiB, logsMiB]: [number, number, number],
  more: Partial<ContainerProfile> = {},
): ContainerProfile => ({ name, image, memoryMiB, rootfsMiB, logsMiB, ...more })

const daemon = (node: string, app: string, containers: ContainerProfile[]): PodProfile => ({
  namespace: 'kube-system',
  name: `${app}-${suffixOf(`${node}/${app}`)}`,
  owner: { kind: 'DaemonSet', name: app },
  labels: { 'k8s-app': app },
  containers,
  priority: nodeCritical,
  phase: 'Running',
})

/** No two pods use the same: a quarter more or less, by their names. */
const asUsed = (pods: PodProfile[]): PodProfile[] =>
  pods.map(pod => {
    const random = randomOf(`use/${pod.name}`)
    const varied = (mib: number) => Math.round(mib * (0.75 + random() / 2))
    return {
      ...pod,
      containers: pod.containers.map(({ memoryMiB, rootfsMiB, logsMiB, ...container }) => ({
        ...container,
        memoryMiB: varied(memoryMiB),
        rootfsMiB: varied(rootfsMiB),
        logsMiB: varied(logsMiB),
      })),
      ...(pod.emptyDir && { emptyDir: { ...pod.emptyDir, usedMiB: varied(pod.emptyDir.usedMiB) } }),
    }
  })

/** What runs on every node of an EKS cluster. */
export const systemPods = (node: string): PodProfile[] =>
  asUsed([
    daemon(node, 'aws-node', [
      container('aws-node', `${registry}/amazon-k8s-cni:v1.20.4-eksbuild.1`, [62, 3, 9], {
        requests: { cpu: '25m' },
        env: {
          AWS_VPC_K8S_CNI_LOGLEVEL: 'DEBUG',
          ENABLE_PREFIX_DELEGATION: 'false',
          WARM_ENI_TARGET: '1',
        },
      }),
      container(
        'aws-eks-nodeagent',
        `${registry}/amazon/aws-network-policy-agent:v1.2.6-eksbuild.1`,
        [21, 1, 2],
        { requests: { cpu: '25m' } },
      ),
    ]),
    daemon(node, 'kube-proxy', [
      container('kube-proxy', `${registry}/eks/kube-proxy:v1.32.6-eksbuild.2`, [28, 1, 1], {
        requests: { cpu: '100m' },
      }),
    ]),
    daemon(node, 'ebs-csi-node', [
      container('ebs-plugin', `${registry}/eks/aws-ebs-csi-driver:v1.48.0`, [34, 1, 3], {
        requests: { cpu: '10m', memory: '40Mi' },
        limits: { memory: '256Mi' },
      }),
      container(
        'node-driver-registrar',
        `${registry}/eks/csi-node-driver-registrar:v2.14.0`,
        [14, 1, 1],
        { requests: { cpu: '10m', memory: '40Mi' }, limits: { memory: '256Mi' } },
      ),
    ]),
  ])

/** A shop's front end, its cache, and a log shipper without requests. Values with `lab-secret` must never leave the cluster. */
export const workloadPods = (node: string): PodProfile[] =>
  asUsed([
    {
      namespace: 'shop',
      name: `checkout-7d9c6bf5c8-${suffixOf(`${node}/checkout`)}`,
      owner: { kind: 'ReplicaSet', name: 'checkout-7d9c6bf5c8' },
      labels: { app: 'checkout', 'pod-template-hash': '7d9c6bf5c8' },
      annotations: {
        'vault.hashicorp.com/agent-inject-secret-db': 'lab-secret/data/shop/checkout-db',
        'kubectl.kubernetes.io/restartedAt': '2026-11-14T09:12:44Z',
      },
      containers: [
        container(
          'checkout',
          '111122223333.dkr.ecr.us-east-1.amazonaws.com/shop/checkout:2026.11.3',
          [311, 18, 41],
          {
            requests: { cpu: '250m', memory: '256Mi' },
            limits: { memory: '512Mi' },
            env: {
              DATABASE_URL: 'postgres://checkout:lab-secret-Zx81@db.shop.internal:5432/checkout',
              PAYMENT_API_KEY: 'lab-secret-sk-4242',
            },
          },
        ),
      ],
      emptyDir: { name: 'tmp', usedMiB: 96 },
      phase: 'Running',
    },
    {
      namespace: 'shop',
      name: `cache-${suffixOf(`${node}/cache`, 3)}-0`,
      owner: { kind: 'StatefulSet', name: `cache-${suffixOf(`${node}/cache`, 3)}` },
      labels: { app: 'cache' },
      containers: [
        container('redis', 'public.ecr.aws/docker/library/redis:7.4', [188, 2, 6], {
          requests: { cpu: '200m', memory: '256Mi' },
          limits: { cpu: '200m', memory: '256Mi' },
          env: { REDIS_PASSWORD: 'lab-secret-cache-77' },
        }),
      ],
      phase: 'Running',
    },
    {
      namespace: 'observability',
      name: `log-shipper-${suffixOf(`${node}/log-shipper`)}`,
      owner: { kind: 'DaemonSet', name: 'log-shipper' },
      labels: { app: 'log-shipper' },
      annotations: { 'checksum/config': 'lab-secret-checksum-1f0c' },
      containers: [
        container(
          'fluent-bit',
          'public.ecr.aws/aws-observability/aws-for-fluent-bit:2.34.0',
          [74, 1, 12],
        ),
      ],
      phase: 'Running',
    },
  ])

/** A nightly report that has finished and still lies there. */
export const finishedPod = (node: string): PodProfile => ({
  namespace: 'batch',
  name: `nightly-report-29384710-${suffixOf(`${node}/report`)}`,
  owner: { kind: 'Job', name: 'nightly-report-29384710' },
  labels: { 'job-name': 'nightly-report-29384710' },
  containers: [
    container(
      'report',
      '111122223333.dkr.ecr.us-east-1.amazonaws.com/batch/report:5.2',
      [0, 0, 1],
      { requests: { cpu: '1', memory: '1Gi' } },
    ),
  ],
  phase: 'Succeeded',
})

/** A pod that the kubelet evicted for disk. Upstream's words: pkg/kubelet/eviction/helpers.go evictionMessage. */
export const evictedPod = (node: string, message: string): PodProfile => ({
  namespace: 'batch',
  name: `thumbnails-6b8f9d4c77-${suffixOf(`${node}/thumbnails`)}`,
  owner: { kind: 'ReplicaSet', name: 'thumbnails-6b8f9d4c77' },
  labels: { app: 'thumbnails', 'pod-template-hash': '6b8f9d4c77' },
  containers: [
    container(
      'thumbnails',
      '111122223333.dkr.ecr.us-east-1.amazonaws.com/media/thumbnails:91',
      [0, 0, 0],
    ),
  ],
  phase: 'Failed',
  failure: { reason: 'Evicted', message },
})

/** The same pods, of which the first container of one app holds other amounts. */
export const holding = (
  pods: readonly PodProfile[],
  app: string,
  { emptyDirMiB, ...held }: { rootfsMiB?: number; logsMiB?: number; emptyDirMiB?: number },
): PodProfile[] =>
  pods.map(pod =>
    pod.labels.app === app
      ? {
          ...pod,
          containers: pod.containers.map((container, index) =>
            index === 0 ? { ...container, ...held } : container,
          ),
          ...(emptyDirMiB !== undefined && { emptyDir: { name: 'work', usedMiB: emptyDirMiB } }),
        }
      : pod,
  )

export const ordinaryPods = (node: string): PodProfile[] => [
  ...systemPods(node),
  ...workloadPods(node),
  finishedPod(node),
]
