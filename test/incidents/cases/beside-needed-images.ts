/** What stands beside images in use: layers and logs of one owner, a runtime that hangs, a pod's own limit. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, users } from '../short-forms.ts'
import type { NodeWorld } from '../world.ts'

const exporter = (layerGib: number) => ({
  ...{ namespace: 'gpu-operator', owner: 'DaemonSet nvidia-dcgm-exporter', layerGib },
  image: 'nvcr.io/nvidia/k8s/dcgm-exporter:2.0.13-2.1.2-ubuntu20.04',
})

const calmGpuNode = (layerGib: number): NodeWorld => ({
  disk: { gib: 200, usedGib: 90 },
  workloads: [...users(3), exporter(layerGib)],
  held: { images: images(5, 3, 8) },
})

const larger = /larger volume|larger disk/

const timeout = (reason: string, count: number) => {
  const ended = 'rpc error: code = DeadlineExceeded desc = context deadline exceeded'
  return {
    ...{ type: 'Warning' as const, reason, count, firstMinutesAgo: 62, lastMinutesAgo: 2 },
    message:
      reason === 'FailedKillPod'
        ? `error killing pod: failed to "KillPodSandbox" for "7c3f1f0e" with KillPodSandboxError: "${ended}"`
        : `Failed to create pod sandbox: ${ended}`,
  }
}

export const besideImageIncidents: readonly Incident[] = [
  {
    name: 'log-in-the-layer-of-an-exporter',
    thread: 'https://github.com/NVIDIA/gpu-monitoring-tools/issues/146',
    found:
      'nv-hostengine.log grows to 50 GB in the container of dcgm-exporter; the node of 200 GB has DiskPressure. A restart of the pod frees it.',
    world: {
      nodes: [
        {
          ...{ disk: { gib: 200, usedGib: 182 }, diskPressure: true },
          workloads: [...users(6), exporter(46.6)],
          held: { images: images(6, 4.6, 12.3) },
        },
        ...[0.4, 1.4, 2.4].map(calmGpuNode),
      ],
    },
    cause: [held('writable-layers')],
    owner: 'gpu-operator/DaemonSet nvidia-dcgm-exporter',
    steps: ['free', 'ask-owner'],
    words: [/restart\s+Pod\s+gpu-operator\/nvidia-dcgm-exporter/, /or\s+write\s+less/],
    never: [larger, /also\s+73\.\d GiB/, /above\s+46\.6/],
  },
  {
    name: 'logs-of-dead-instances',
    thread: 'https://github.com/containerd/containerd/issues/3351',
    found:
      'A container with 84 restarts: the logs of its dead instances stay, 20 GB of them, with containerLogMaxSize 10Mi and five files. Image GC fails on the node of 100 GB.',
    world: {
      nodes: [
        {
          disk: { gib: 93.1, usedGib: 82 },
          configuration: { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 },
          workloads: [
            ...users(12),
            {
              ...{ namespace: 'stream', owner: 'Deployment enricher', container: 'enricher' },
              ...{ logsGib: 18.6, restarts: 84 },
            },
          ],
          held: { images: images(14, 1.3, 3.5) },
        },
        {
          disk: { gib: 93.1, usedGib: 42 },
          configuration: { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 },
          ...{ workloads: users(5), held: { images: images(7, 1.3, 3.5) } },
        },
      ],
    },
    cause: [held('container-logs')],
    owner: 'stream/Deployment enricher',
    steps: ['free', 'ask-owner'],
    words: [/84\s+restarts/, /end\s+the\s+crash\s+loop/, /restart\s+Pod\s+stream\/enricher/],
    never: [larger, /containerLogMaxSize/, /core\*/],
  },
  {
    name: 'shims-that-pile-up',
    thread: 'https://github.com/containerd/containerd/issues/13692',
    found:
      'Sandboxes are not made and pods do not end: context deadline exceeded. The node flaps NotReady, with 478 shims and a load of 492; its disk is used by 35 %, and process ids are free.',
    world: {
      nodes: [
        {
          ...{
            mode: 'proxy',
            disk: { gib: 119, usedGib: 41.7 },
            pids: { max: 4_194_304, used: 6900 },
          },
          workloads: [
            ...users(4),
            ...[19, 16, 11].map((count, index) => ({
              ...{ namespace: 'ci', owner: `Bare runner-${index}`, waiting: 'ContainerCreating' },
              events: [timeout('FailedCreatePodSandBox', count)],
            })),
            {
              ...{ namespace: 'ci', owner: 'Bare runner-9', deletedMinutesAgo: 64 },
              events: [timeout('FailedKillPod', 22)],
            },
          ],
          events: [
            {
              ...{ type: 'Normal', reason: 'NodeNotReady', count: 6 },
              message: 'Node status is now: NodeNotReady',
              ...{ firstMinutesAgo: 140, lastMinutesAgo: 22 },
            },
          ],
        },
      ],
    },
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /46\s+sandbox\s+creations\s+and\s+22\s+pod\s+terminations\s+failed,\s+of\s+4\s+pods/,
      /deleted\s+64\s+min\s+ago/,
      /NotReady\s+6\s+times/,
      /No\s+disk\s+is\s+full\.\s+Process\s+ids\s+are\s+free/,
    ],
    never: [larger, imageGc],
  },
  {
    name: 'limit-of-a-pod-on-a-calm-node',
    thread: 'https://github.com/AMD-AGI/GEAK/issues/429',
    found:
      'A pod is evicted at its own limit of 128Gi on a node whose disk of 3.5 TB is used by 19 %.',
    world: {
      nodes: [
        {
          ...{ mode: 'proxy', disk: { gib: 3260, usedGib: 620 } },
          workloads: [
            ...users(3),
            {
              ...{ namespace: 'karun', owner: 'Job ka-6923c693806c' },
              evicted:
                'Pod ephemeral local storage usage exceeds the total limit of containers 128Gi. ',
            },
          ],
          held: { images: images(25, 2, 5) },
        },
      ],
    },
    cause: [{ kind: 'setting', field: 'resources.limits.ephemeral-storage' }],
    owner: 'karun/Job ka-6923c693806c',
    steps: ['ask-owner'],
    words: [/the\s+disk\s+of\s+the\s+node\s+is\s+not\s+the\s+cause/],
  },
]
