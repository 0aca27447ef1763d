/** Threads whose holder lies above or beside what names it: a folder above a mount, one log of two, pods of one set. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nodeOf, users } from '../short-forms.ts'

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
]
