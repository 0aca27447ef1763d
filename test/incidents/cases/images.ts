/** What images hold, and the settings of image GC and eviction. */
import type { Incident } from '../incident.ts'
import {
  evictionOf,
  flaps,
  held,
  images,
  nodeClass,
  nodeOf,
  setting,
  users,
} from '../short-forms.ts'

export const imageIncidents: Incident[] = [
  {
    name: 'images-in-use-too-large',
    thread:
      'https://incidents.pgmac.net.au/incidents/2026-03-28-arc-pods-pending-kubelet-sync-stall',
    found:
      'FreeDiskSpaceFailed: the kubelet cannot free 16.2 GiB, 0 bytes are eligible, because all images are in use. The disk is too small.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 91 },
      diskPressure: true,
      workloads: users(24),
      held: { images: images(24, 1.3, 3.3) },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 30 },
          message:
            'Failed to garbage collect required amount of images. Attempted to free 17394617549 bytes, but only found 0 bytes eligible to free.',
          ...{ firstMinutesAgo: 300, lastMinutesAgo: 4 },
        },
      ],
    }),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger|GiB volume|volumeSize|resize/i],
    notCauses: ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent', 'images-unused'],
    never: [/prune-images/],
  },
  {
    name: 'images-in-use-on-10-gb',
    thread: 'https://github.com/pangeo-data/pangeo-cloud-federation/issues/274',
    found: 'Many evicted pods on EKS: the volume of the hub node had 10 GB and was too small.',
    world: nodeOf({
      disk: { gib: 10, usedGib: 9.2 },
      diskPressure: true,
      workloads: users(6),
      held: { images: images(6, 0.34, 1) },
    }),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger|GiB volume|volumeSize|resize/i],
    never: [/prune-images/],
  },
  {
    name: 'one-image-of-a-model',
    thread: 'https://github.com/aws-samples/deepseek-using-vllm-on-eks/issues/11',
    found:
      'A container with a model inside has more than 30 GB: the node runs out of ephemeral storage at the start. A node class with a larger disk ended it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'inference' },
        disk: { gib: 80, usedGib: 75 },
        diskPressure: true,
        workloads: users(1),
        held: { images: images(1, 31, 68) },
      },
      {
        objects: {
          'ec2nodeclasses.karpenter.k8s.aws': [
            nodeClass('inference', [{ deviceName: '/dev/xvda', ebs: { volumeSize: '80Gi' } }]),
          ],
        },
      },
    ),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger|volumeSize|resize/i],
    notCauses: ['images-unused', 'imageGCHighThresholdPercent'],
    never: [/prune-images/],
  },
  {
    name: 'unused-images-and-flaps',
    thread: 'https://github.com/KeeperHub/keeperhub/pull/1740',
    found:
      'EKS nodes flap through DiskPressure 13 times in 4.75 days: 45 GiB of images on a volume of 64 GiB, because GC begins at 85 %. Image GC at 70 % and a larger disk ended it.',
    world: nodeOf({
      disk: { gib: 64, usedGib: 53.5 },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: users(6),
      held: { images: images(30, 0.5, 1.5) },
      events: flaps(13, 4.75 * 24 * 60),
    }),
    cause: [
      setting('imageGCHighThresholdPercent'),
      setting('evictionHard'),
      { kind: 'world' },
      held('images-unused'),
    ],
    owner: 'platform',
    steps: ['set'],
    words: [/imageGCHighThresholdPercent/, /13/],
  },
  {
    name: 'eviction-before-image-gc',
    thread: 'https://github.com/vtmocanu/uzi/issues/225',
    found:
      'Image GC begins at 85 %, eviction at imagefs.available<15 %: on 20941697024 bytes the node evicts before it frees images.',
    world: nodeOf({
      disk: { gib: 19.5, usedGib: 16.7 },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      diskPressure: true,
      workloads: users(3),
      held: { images: images(13, 0.35, 1) },
    }),
    cause: [setting('imageGCHighThresholdPercent'), setting('evictionHard'), held('images-unused')],
    owner: 'platform',
    steps: ['set', 'free'],
    words: [/imageGCHighThresholdPercent/],
  },
  {
    name: 'image-of-each-upgrade',
    thread: 'https://github.com/hivecommons/hive/issues/2349',
    found:
      'Disks of 35.4 GiB, 77 % used, and 2.7 GB for each upgrade of a floating tag: three or four pulls fill the disk, and the pressure moves from node to node.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 35.4, usedGib: 31.3 } },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      diskPressure: true,
      workloads: users(3),
      held: { images: images(9, 2.57, 2.95) },
      events: flaps(4, 8 * 60),
    }),
    cause: [
      setting('imageGCHighThresholdPercent'),
      setting('evictionHard'),
      { kind: 'world' },
      held('images-unused'),
    ],
    owner: 'platform',
    steps: ['set', 'resize', 'free', 'read-more'],
    words: [/imageGCHighThresholdPercent/],
  },
  {
    name: 'lost-default-thresholds',
    thread: 'https://github.com/Azure/karpenter-provider-azure/issues/988',
    found:
      'evictionHard has only memory.available, so nothing is evicted when the disk fills, and nodes fail until somebody acts. 10 % of nodefs as on AWS is missing.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 97 },
      configuration: { evictionHard: { 'memory.available': '750Mi' } },
      workloads: [...users(6), { namespace: 'data', owner: 'Deployment cache', emptyDirGib: 66 }],
      held: { images: images(6, 0.8, 2.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'data/Deployment cache',
    steps: ['free', 'ask-owner'],
    words: [/A default eviction threshold is lost/, /cache/],
  },
  {
    name: 'unwatched-image-disk',
    thread: 'https://github.com/aws-samples/karpenter-blueprints/pull/51',
    found:
      'Images on a small EBS volume, everything else on RAID0 of NVMe: no threshold watches the image disk.',
    world: nodeOf({
      disk: { gib: 900, usedGib: 50, device: '/dev/md127', mount: '/mnt/k8s-disks/0' },
      imageDisk: { gib: 40, usedGib: 36, device: '/dev/nvme0n1p1', mount: '/' },
      configuration: evictionOf({ 'nodefs.available': '10%' }),
      workloads: users(4),
      held: { images: images(12, 1, 2.9) },
    }),
    cause: [setting('evictionHard'), setting('imageGCHighThresholdPercent'), held('images-unused')],
    owner: 'platform',
    steps: ['set', 'free', 'resize'],
    words: [/once\s+2\.0\s+GiB\s+more\s+are\s+free,\s+set\s+evictionHard\.imagefs\.available/],
    notCauses: ['evictionHard.nodefs.available'],
    never: [/evictionHard\.nodefs\.available/],
  },
  {
    name: 'inodes-without-threshold',
    thread: 'https://github.com/kubernetes/kubernetes/issues/21546',
    found: 'A node says it is healthy and every action of the runtime hangs: no inode is left.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 44, inodes: { all: 6_553_600, free: 65_536 } },
      configuration: { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } },
      workloads: users(5),
      held: { images: images(5, 0.8, 2.5) },
    }),
    cause: [setting('evictionHard'), held('system')],
    owner: 'platform',
    // A threshold above what is free evicts at once: room comes first.
    steps: ['set', 'free', 'read-more'],
    words: [/inode/i],
    notCauses: ['imageGCHighThresholdPercent'],
  },
  {
    name: 'sandbox-image-deleted',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/1597',
    found:
      'After an upgrade to 1.29 image GC deletes the pause image, which containerd cannot pull again from ECR; it has to be pinned.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 51 },
      containerd: {
        sandboxImage: '602401143452.dkr.ecr.eu-west-2.amazonaws.com/eks/pause-unpinned:3.5',
      },
      workloads: users(4),
      held: {
        images: [
          ...images(12, 1, 3),
          {
            name: '602401143452.dkr.ecr.eu-west-2.amazonaws.com/eks/pause-unpinned:3.5',
            ...{ packedGib: 0.0003, unpackedGib: 0.0007 },
          },
        ],
      },
    }),
    cause: [{ kind: 'world' }, setting('sandbox_image'), held('images-unused')],
    owner: 'platform',
    steps: ['set', 'replace'],
    words: [/Now:\s+see\s+which\s+images\s+image\s+GC\s+would\s+delete/, /pause|sandbox image/i],
  },
]
