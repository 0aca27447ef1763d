/** Disks that images in use hold, and that have room again without what one owner wrote beside them. */
import type { Incident } from '../incident.ts'
import { held, images, users } from '../short-forms.ts'
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

/** Once the pods are evicted whose images fill the rest. */
const larger = /larger volume|larger disk/

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
]
