/** Threads about a drain that loses pods, a failed disk, and limits that are no disk. What is expected was written from the thread, before the first run. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nodeOf, setting, users } from '../short-forms.ts'

/** The node is not of EKS. */
const elsewhere = {
  family: 'Ubuntu' as const,
  osImage: 'Ubuntu 22.04.5 LTS',
  volumes: [],
  providerId: '',
}
const largerDisk = /larger (?:disk|volume)/

export const limitIncidents: Incident[] = [
  {
    name: 'tests-of-ci-whose-pods-nothing-starts-again',
    thread: 'https://github.com/openshift/release/issues/468',
    found:
      'Images of CI of 4 to 9 GB take a disk of 125 GiB from the threshold of image GC past that of eviction: both are at 85 %. The pods of the tests have no controller: a drain ends them for good.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 125, usedGib: 108.5 }, diskPressure: true },
      configuration: {
        ...{ imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 },
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'nodefs.available': '10%' },
          ...{ 'nodefs.inodesFree': '5%', 'imagefs.available': '15%' },
        },
      },
      workloads: [
        ...users(4),
        { namespace: 'ci', owner: 'Bare pull-ci-test', pods: 8, layerGib: 1.7 },
      ],
      held: { images: images(12, 3, 7.4) },
    }),
    cause: [setting('imageGCHighThresholdPercent'), held('images-unused')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/unused images/],
    never: [/kubectl \S+ \S+ drain/],
  },
  {
    name: 'remounted-read-only-and-ready',
    thread: 'https://github.com/kubernetes/node-problem-detector/issues/1071',
    found:
      'After an error of the disk the kernel makes the filesystem read-only. The node stays Ready: pods hang in Terminating for 96 minutes, and new ones are still sent to it. Cordon it, and replace disk or node.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 80, usedGib: 6.1 } },
      workloads: [
        { namespace: 'default', owner: 'Deployment hello', pods: 2, deletedMinutesAgo: 96 },
      ],
      held: { images: images(2, 0.3, 0.9) },
      conditions: [
        {
          ...{ type: 'ReadonlyFilesystem', status: 'True', reason: 'FilesystemIsReadOnly' },
          message: 'Remounting filesystem read-only',
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['replace'],
    words: [/read-only/, /cordon/, /2 pods hang in Terminating/, /default\/hello/],
    never: [imageGc, largerDisk, /du -/],
  },
]
