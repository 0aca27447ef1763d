/** Threads of containers, volumes and images. Cause, owner, step and words were written from the thread, before the first run. */
import type { Incident } from '../incident.ts'
import {
  evictionOf,
  held,
  imageGc,
  images,
  nearMiss,
  nodeOf,
  setting,
  users,
} from '../short-forms.ts'

const wanted = (message: string, count: number, lastMinutesAgo: number) => ({
  ...{ type: 'Warning' as const, reason: 'FreeDiskSpaceFailed', count, message },
  ...{ firstMinutesAgo: 300, lastMinutesAgo },
})

export const firstRunIncidents: Incident[] = [
  {
    name: 'small-system-disk-beside-large-ones',
    thread: 'https://github.com/Azure/aks-engine/issues/4754',
    found:
      'A disk of 29 GB at 90 %, beside two empty ones of 787 GB and 1 TB. For 24 days image GC wants 1972314931 bytes and frees 0; images and containers are small.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 29, usedGib: 26 }, diskPressure: true },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: users(5),
      held: { images: images(5, 0.2, 0.6) },
      events: [
        wanted(
          'failed to garbage collect required amount of images. Wanted to free 1972314931 bytes, but freed 0 bytes',
          3935,
          3,
        ),
      ],
    }),
    cause: [{ kind: 'unread' }, held('not-images')],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/measure the disk|look which folders/],
    never: [imageGc],
  },
  {
    name: 'snapshots-that-grow-within-minutes',
    thread: 'https://github.com/rancher/k3os/issues/736',
    found:
      'Nodes of 20 GB: the folder of overlayfs snapshots grows within minutes, pods are evicted, and it is small again. The answer: a workload writes there.',
    world: nodeOf({
      ...{ disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'import', owner: 'Deployment importer', container: 'app', layerGib: 11.2 },
      ],
      held: { images: images(3, 0.4, 1.2) },
    }),
    cause: [held('writable-layers')],
    owner: 'import/Deployment importer',
    steps: ['ask-owner'],
    words: [/importer/, /11\.2 GiB/],
    never: [imageGc],
  },
  {
    name: 'log-of-a-network-agent',
    thread: 'https://github.com/rancher/rancher/issues/14647',
    found:
      'An alert: one container log of 10 GB, of calico-node, which ran for 7 days. Nothing rotates it.',
    world: nodeOf({
      disk: { gib: 20, usedGib: 17.8 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet canal', container: 'calico-node' },
          logsGib: 9.9,
        },
      ],
      held: { images: images(3, 0.4, 1.2) },
    }),
    cause: [held('container-logs')],
    owner: 'kube-system/DaemonSet canal',
    steps: ['free', 'ask-owner', 'set'],
    words: [/canal/, /9\.9 GiB/],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'indexes-of-a-chart-operator',
    thread: 'https://github.com/fluxcd/helm-operator/issues/449',
    found:
      'EKS 1.14: the pod is evicted again and again. "Container flux-helm-operator was using 8250536Ki, which exceeds its request of 0": thousands of charts in /root/.cache/helm/repository.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.3 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'flux', owner: 'Deployment flux-helm-operator', layerGib: 7.87 },
        {
          ...{ namespace: 'flux', owner: 'Deployment flux-helm-operator', pods: 3 },
          evicted:
            'The node was low on resource: ephemeral-storage. Container flux-helm-operator was using 8250536Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(4, 0.5, 1.4) },
    }),
    cause: [held('writable-layers')],
    owner: 'flux/Deployment flux-helm-operator',
    steps: ['ask-owner'],
    words: [/flux-helm-operator/, /3\s+pods\s+of\s+the\s+same\s+owner/, /into\s+a\s+volume/],
    never: [imageGc],
  },
  {
    name: 'cache-that-watches-the-disk-of-the-node',
    thread: 'https://github.com/NVIDIA/nvcf/issues/1576',
    found:
      'A cache of nginx in an emptyDir with a sizeLimit of 1500 GiB on a volume of 23.95 TiB: it clears by the free space of the node, never does, and the kubelet evicts the pod.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 24_524, usedGib: 2_900 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'nvcf', owner: 'StatefulSet container-cache' },
          ...{ emptyDirGib: 1502, sizeLimit: '1500Gi' },
        },
      ],
      held: { images: images(4, 4, 10) },
    }),
    cause: [held('pod-volumes')],
    owner: 'nvcf/StatefulSet container-cache',
    steps: ['ask-owner'],
    words: [/container-cache/, /1\.5 TiB|1,?50\d(?:\.\d)? GiB/],
    never: [imageGc, /larger volume|drain/],
  },
  {
    name: 'small-limit-of-a-tmp-volume',
    thread: 'https://github.com/decocms/studio/pull/7011',
    found:
      'Usage of EmptyDir volume "tmp" exceeds the limit "1Gi": 41 evictions in an afternoon; each retry fills /tmp of another pod.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 38 } },
      workloads: [
        ...users(4),
        {
          namespace: 'studio',
          owner: 'Deployment sandbox-medium',
          emptyDirGib: 0.4,
          sizeLimit: '1Gi',
        },
        {
          ...{ namespace: 'studio', owner: 'Deployment sandbox-medium', pods: 6 },
          evicted: 'Usage of EmptyDir volume "data" exceeds the limit "1Gi". ',
        },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [held('pod-volumes'), setting('sizeLimit')],
    owner: 'studio/Deployment sandbox-medium',
    steps: ['ask-owner', 'set'],
    words: [/sandbox-medium/, /sizeLimit/],
    never: [imageGc, /larger volume|drain/],
  },
  {
    name: 'workers-on-ten-gib',
    thread: 'https://github.com/concourse/hush-house/issues/8',
    found:
      'Workers are evicted with 73712Ki in use: the disk of the node has 10 GiB. 50 GiB ended it.',
    world: nodeOf({
      ...{ disk: { gib: 9.7, usedGib: 8.9 }, diskPressure: true },
      workloads: [
        ...users(5),
        { namespace: 'ci', owner: 'StatefulSet hush-house-worker', layerGib: 0.07 },
      ],
      held: { images: images(5, 0.4, 1) },
    }),
    cause: [held('images-in-use')],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger volume/],
    never: [/prune-images/, /ask .*hush-house/],
  },
  {
    name: 'images-of-models',
    thread: 'https://github.com/llmos-ai/llmos/issues/21',
    found:
      'Image GC attempts to free 4783028633 bytes, later 5780834713, and finds 0 bytes eligible: the large images of models are all in use.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 69.4 },
      workloads: users(5),
      held: { images: images(5, 5, 11) },
      events: [
        wanted(
          'Failed to garbage collect required amount of images. Attempted to free 5780834713 bytes, but only found 0 bytes eligible to free.',
          14,
          4,
        ),
      ],
    }),
    cause: [held('images-in-use')],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger volume/, /images in use/],
    never: [/prune-images/],
  },
  {
    name: 'image-gc-that-frees-less-each-time',
    thread: 'https://github.com/namespacelabs/foundation/issues/673',
    found:
      'EKS, pipelines: image GC wants 5272005017 bytes and frees 776830292, five minutes later 0. Pods of a pipeline are evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 72.6 }, diskPressure: true },
      workloads: users(24),
      held: { images: images(24, 0.7, 2.2) },
      events: [
        wanted(
          'failed to garbage collect required amount of images. Wanted to free 4766370201 bytes, but freed 0 bytes',
          11,
          4,
        ),
      ],
    }),
    cause: [{ kind: 'unread' }, held('images'), held('images-in-use')],
    owner: 'platform',
    steps: ['read-more', 'resize'],
    words: [/measure the disk|larger volume/],
    never: [/prune-images/],
  },
  {
    ...nearMiss,
    name: 'deleted-replicas-on-a-disk-of-their-own',
    thread: 'https://github.com/longhorn/longhorn/issues/1339',
    found:
      'df and du differ by 17 GB: a storage engine holds deleted files, on a filesystem of its own. The disk of the kubelet has room.',
    world: nodeOf({
      disk: { gib: 64, usedGib: 22 },
      workloads: [
        ...users(4),
        {
          namespace: 'longhorn-system',
          owner: 'DaemonSet longhorn-manager',
          hostPath: '/var/lib/rancher/longhorn',
        },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    notCauses: ['deleted-open-files', 'host-path'],
  },
]
