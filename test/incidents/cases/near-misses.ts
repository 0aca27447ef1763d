/** Threads that look like a cause and have another one, and healthy twins of incidents. */
import type { Incident } from '../incident.ts'
import {
  byNodeClass,
  flaps,
  held,
  images,
  nearMiss,
  nodeOf,
  setting,
  users,
} from '../short-forms.ts'

export const nearMisses: Incident[] = [
  {
    name: 'packed-layers-on-purpose',
    thread: 'https://github.com/spegel-org/spegel/pull/237',
    found:
      'Spegel needs the packed layers, so discard_unpacked_layers is false on purpose; the disk has room.',
    world: nodeOf({
      disk: { gib: 200, usedGib: 70 },
      containerd: { discardUnpackedLayers: false },
      workloads: users(8),
      held: { images: images(8, 2, 4), content: 16 },
    }),
    ...nearMiss,
    never: [/discard_unpacked_layers/],
  },
  {
    name: 'only-the-data-volume-mapped',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/8747',
    found:
      'An EC2NodeClass of Bottlerocket maps /dev/xvdb alone; /dev/xvda keeps the 2 GiB of its image. Containers have the whole data volume.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
        nodeClass: 'bottlerocket',
        disk: { gib: 99, usedGib: 30 },
        volumes: [
          { device: '/dev/xvda', gib: 2 },
          { device: '/dev/xvdb', gib: 100 },
        ],
        workloads: users(6),
        held: { images: images(8, 0.8, 2.3) },
      },
      byNodeClass(
        'bottlerocket',
        [{ deviceName: '/dev/xvdb', ebs: { volumeSize: '100Gi', volumeType: 'gp3' } }],
        { amiFamily: 'Bottlerocket' },
      ),
    ),
    ...nearMiss,
  },
  {
    name: 'alert-before-image-gc',
    thread: 'https://github.com/Azure/AKS/issues/2312',
    found:
      'An alert at 80 % fires each time that the disk fills with unused images; image GC begins at 85 % and ends it. The level of the alert is wrong, not the disk.',
    world: nodeOf({
      disk: { gib: 128, usedGib: 105 },
      workloads: users(8),
      held: { images: images(40, 0.8, 2.4) },
    }),
    ...nearMiss,
    never: [/drain/],
  },
  {
    name: 'pressure-without-a-full-disk',
    thread: 'https://github.com/kubernetes/kubernetes/issues/58820',
    found:
      'DiskPressure and "Attempting to reclaim nodefsInodes" come and go, while 17 % of the bytes and 38 % of the inodes are used.',
    world: nodeOf({
      disk: { gib: 95, usedGib: 16, inodes: { all: 6_000_000, free: 3_700_000 } },
      workloads: users(4),
      held: { images: images(4, 0.6, 1.8) },
      events: flaps(6, 2 * 24 * 60),
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'ask-owner', 'set'],
    words: [/6 times|6 ×|DiskPressure/],
    notCauses: ['images-unused', 'images-in-use', 'system', 'not-explained'],
    never: [/prune-images|drain|larger volume/],
  },
  {
    name: 'own-limit-exceeded',
    thread: 'https://github.com/inference-sim/inference-sim/issues/1753',
    found:
      'A pod is evicted because it exceeds its own limit of 4Gi of ephemeral-storage; the disk of the node has room.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 38 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'sim', owner: 'Job sweep', layerGib: 5.5 },
          limits: { 'ephemeral-storage': '4Gi' },
        },
      ],
      held: { images: images(5, 0.8, 2.5) },
    }),
    cause: [held('writable-layers'), setting('resources.limits.ephemeral-storage')],
    owner: 'sim/Job sweep',
    steps: ['ask-owner', 'set'],
    words: [/sweep/, /5\.5 GiB/],
    notCauses: ['images-unused', 'images-in-use'],
    never: [/prune-images|drain|larger volume/],
  },
  {
    name: 'memory-volume-under-disk-pressure',
    thread: 'https://github.com/kubernetes/kubernetes/issues/128604',
    found:
      'A pod with an emptyDir in memory is evicted under DiskPressure. Its volume takes no disk; another pod holds it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92 },
      diskPressure: true,
      workloads: [
        ...users(5),
        { ...{ namespace: 'ingress-haproxy', owner: 'Deployment haproxy' }, memoryDirGib: 6 },
        { namespace: 'data', owner: 'StatefulSet sorter', emptyDirGib: 64 },
      ],
      held: { images: images(5, 0.8, 2.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'data/StatefulSet sorter',
    steps: ['ask-owner', 'set'],
    words: [/sorter/],
    never: [/haproxy.{0,60}(?:sizeLimit|ephemeral-storage)/],
  },
  {
    name: 'deleted-files-on-a-volume',
    thread: 'https://github.com/grafana/loki/issues/14914',
    found:
      'df and du differ by 4 GB because loki keeps deleted files open, on its own PersistentVolume. The disk of the node is not concerned.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 41 },
      workloads: [
        ...users(6),
        { namespace: 'loki', owner: 'StatefulSet loki-stack', claim: 'storage-loki-0' },
      ],
      held: { images: images(6, 0.8, 2.5) },
    }),
    ...nearMiss,
    never: [/deleted files/],
  },
  {
    name: 'fargate',
    thread: 'https://github.com/aws/containers-roadmap/issues/1794',
    found:
      'An image of 8.5 GB does not fit the 20 GB of a Fargate pod. The pod requests more ephemeral-storage; nobody can set its kubelet.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Fargate', disk: { gib: 20, usedGib: 19 } },
      workloads: users(1),
      held: { images: images(1, 8.5, 16) },
    }),
    ...nearMiss,
    never: [/highwater plan|imageGCHighThresholdPercent|drain/],
  },
  {
    name: 'auto-mode-thresholds',
    thread: 'https://github.com/aws/containers-roadmap/issues/2876',
    found:
      'Auto Mode on storage-optimised instances: imagefs.available=15% of 937 GB keeps 132 GB unusable, and Auto Mode has no setting for it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Auto Mode' },
        disk: { gib: 872, usedGib: 300 },
        workloads: users(8),
        held: { images: images(20, 1, 2.8) },
      },
      { nodegroups: [] },
    ),
    ...nearMiss,
    never: [/highwater plan/],
  },
  {
    name: 'healthy-after-eviction',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/856',
    found:
      'Does a full disk heal itself? The kubelet evicted a greedy pod, and the node has room again.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 45 },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'data', owner: 'Job sort' },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 10737418240, available: 10200000Ki. Container sort was using 51Gi, request is 0, has larger consumption of ephemeral-storage. ',
        },
      ],
      held: { images: images(6, 0.8, 2.5) },
    }),
    ...nearMiss,
    never: [/prune-images|drain/],
  },
]
