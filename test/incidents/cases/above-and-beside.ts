/** Threads whose holder lies above or beside what names it: a folder above a mount, one log of two, pods of one set. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nearMiss, nodeOf, users } from '../short-forms.ts'

const largerDisk = /larger (?:disk|volume)/

export const aboveIncidents: Incident[] = [
  {
    name: 'docker-graph-of-jobs-below-a-measured-folder',
    thread: 'https://github.com/kubernetes/test-infra/issues/5617',
    found:
      'Jobs keep the root of their Docker in the hostPath /mnt/disks/ssd0/docker-graph: 279.3 GB of images and volumes of jobs that ended. A job may run there now.',
    world: nodeOf({
      ...{ disk: { gib: 320, usedGib: 292 }, diskPressure: true },
      workloads: [
        ...users(3),
        ...['pull-cross-4121', 'ci-cross-887'].map((name, index) => ({
          ...{ namespace: 'test-pods', owner: `Bare ${name}`, hasEnded: index > 0 },
          hostPath: '/mnt/disks/ssd0/docker-graph',
        })),
      ],
      held: { images: images(3, 0.5, 1.5), folders: { '/mnt/disks': 279.3 } },
    }),
    cause: [held('host-path', '/mnt/disks')],
    owner: 'test-pods/Bare pull-cross-4121',
    steps: ['ask-owner'],
    words: [/\/mnt\/disks\/ssd0\/docker-graph/, /delete only\s+what its owner\s+names/],
    notCauses: ['unknown-folder'],
    never: [/delete what is no longer needed/, imageGc, largerDisk],
  },
  {
    name: 'mounts-of-several-teams-below-a-shared-folder',
    thread: 'https://github.com/kubernetes/test-infra/issues/5617',
    found: 'The same disk, measured at /mnt, and with folders of two teams in it.',
    world: nodeOf({
      ...{ disk: { gib: 320, usedGib: 292 }, diskPressure: true },
      workloads: [
        ...users(3),
        ...['ci', 'search'].map(namespace => ({
          ...{ namespace, owner: 'StatefulSet store', hostPath: `/mnt/disks/${namespace}` },
        })),
      ],
      held: { images: images(3, 0.5, 1.5), folders: { '/mnt': 279.3 } },
    }),
    cause: [held('unknown-folder', '/mnt')],
    owner: 'platform',
    steps: ['ask-owner'],
    words: [/\/mnt\/disks\/ci \(StatefulSet ci\/store\)/, /StatefulSet search\/store/],
    never: [/delete what is no longer needed/, imageGc, largerDisk],
  },
  {
    name: 'executors-that-write-together',
    thread: 'https://github.com/kubeflow/spark-operator/issues/1546',
    found:
      'The driver was evicted with 48136Ki, and the executors had filled the disk with what they spill: their emptyDir spark-local-dir-1.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 84, usedGib: 75.2 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'data', owner: 'SparkApplication daily-agg', pods: 3 },
          ...{ emptyDirGib: 22, ageMinutes: 74 },
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'data/SparkApplication daily-agg',
    steps: ['ask-owner', 'free'],
    words: [
      /3 pods wrote 66\.0 GiB in 74\s+min, about 913\.\d\s+MiB a minute together/,
      /\(SparkApplication\s+data\/daily-agg,\s+volume\s+data\)/,
    ],
    never: [imageGc, largerDisk],
  },
  {
    name: 'executor-below-its-own-limit',
    thread: 'https://github.com/kubeflow/spark-operator/issues/1546#near-miss',
    found: 'An executor that the sizeLimit of its emptyDir ends long before the disk is full.',
    world: nodeOf({
      disk: { gib: 84, usedGib: 47 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'data', owner: 'SparkApplication daily-agg' },
          ...{ emptyDirGib: 34, sizeLimit: '36Gi', ageMinutes: 25 },
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    ...nearMiss,
    never: [/wrote\s+34/],
  },
  {
    name: 'one-log-in-two-files',
    thread: 'https://github.com/NVIDIA/gpu-operator/issues/111',
    found:
      'The loop of a container writes each line 141.8 million times a day, and syslog keeps them: 86.1 GB in /var/log/messages-20201029, and the next file grows.',
    world: nodeOf({
      ...{ disk: { gib: 160, usedGib: 148 }, diskPressure: true },
      workloads: users(3),
      held: {
        images: images(3, 0.5, 1.5),
        folders: { '/var/log/messages-20261120': 80.2, '/var/log/messages': 19.4 },
      },
    }),
    cause: [held('host-logs', '/var/log/messages-20261120')],
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /\/var\/log\/messages\s+has 19\.4\s+GiB more, written after the rotation/,
      /which lines\s+repeat at the end of \/var\/log\/messages, and/,
      /tail -c 1000000 \/var\/log\/messages \|/,
    ],
    never: [/du -h/, /logrotate/, imageGc, largerDisk],
  },
  {
    name: 'image-that-never-fits',
    thread: 'https://github.com/containerd/containerd/issues/4249',
    found:
      'An image of 12 GB needs 24 GB while it is unpacked, on a disk of 20 GB: "no space left on device" at each attempt. What was written is deleted again, so the disk looks half empty.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 8.3 } },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'ml', owner: 'Deployment notebook', waiting: 'ImagePullBackOff' },
          image: 'docker.io/ml/miniconda:2026.11',
          message:
            'Back-off pulling image "docker.io/ml/miniconda:2026.11": ErrImagePull: failed to extract layer sha256:7a04: write /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/116/fs/a: no space left on device',
        },
      ],
      held: { images: images(2, 0.4, 1.2) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/ml\/miniconda:2026\.11/, /11\.7\s+GiB\s+are\s+free\s+now/, /larger\s+disk/],
    never: [/if images\s+hold it/, /fewer pods/, imageGc],
  },
  {
    name: 'images-on-a-small-disk-beside-a-large-one',
    thread: 'https://github.com/kubernetes/kubernetes/issues/23168',
    found:
      'The images lie on an LVM volume of 3.9 GB of the instance store, which is full; the root disk of 32 GB has 10 % in use.',
    world: nodeOf({
      ...{ disk: { gib: 32, usedGib: 3 }, diskPressure: true, family: 'Ubuntu' },
      imageDisk: {
        ...{ gib: 3.9, usedGib: 3.7 },
        ...{ device: '/dev/mapper/vg--ephemeral-ephemeral', mount: '/var/lib/containerd' },
      },
      workloads: users(3),
      containerd: { discardUnpackedLayers: false },
      held: { images: images(3, 0.3, 0.84), content: 0.96 },
    }),
    cause: [{ kind: 'device', what: 'too-small' }],
    owner: 'platform',
    steps: ['resize'],
    words: [
      /vg--ephemeral-ephemeral\s+at\s+\/var\/lib\/containerd/,
      /29\.0\s+GiB\s+free/,
      /discard_unpacked_layers/,
      /packed\s+image\s+layers\s+983\.0\s+MiB/,
    ],
    never: [/fewer\s+pods/, imageGc],
  },
]
