/** Threads about a drain that loses pods, a failed disk, and limits that are no disk. What they found is of the thread; the words of cause and step were set with the mends. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nearMiss, nodeOf, setting, users } from '../short-forms.ts'

/** The node is not of EKS. */
const elsewhere = {
  family: 'Ubuntu' as const,
  osImage: 'Ubuntu 22.04.5 LTS',
  volumes: [],
  providerId: '',
}
const tagOf = (tag: number) => `registry.example.com/shop/backend:${tag}`
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
  {
    name: 'volume-in-memory-without-a-limit',
    thread: 'https://github.com/nebius/soperator/issues/980',
    found:
      'The emptyDir in-memory of a worker has medium Memory, no sizeLimit and no memory limit: it takes the memory of the node, and the kernel kills processes of the node. sizeLimit and a memory limit end it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 200, usedGib: 40 }, instanceType: 'r6i.2xlarge' },
      ...{ memoryGib: 61, availableMemoryGib: 9 },
      workloads: [
        ...users(2),
        { namespace: 'slurm', owner: 'StatefulSet worker', memoryDirGib: 40, memoryGib: 0.1 },
      ],
      held: { images: images(3, 2, 6) },
      events: [
        {
          ...{ type: 'Warning', reason: 'SystemOOM', count: 2 },
          message: 'System OOM encountered, victim process: slurmd, pid: 4711',
          ...{ firstMinutesAgo: 31, lastMinutesAgo: 30 },
        },
      ],
    }),
    cause: [held('memory-volumes')],
    owner: 'slurm/StatefulSet worker',
    steps: ['ask-owner', 'set'],
    words: [/sizeLimit/, /40(?:\.0)? GiB/, /StatefulSet slurm\/worker/, /limits of memory/],
    notCauses: ['pod-volumes', 'images-in-use'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'inodes-of-an-image-disk-with-old-tags',
    thread: 'https://github.com/kubernetes/kubernetes/issues/53887',
    found:
      '2379976 of 2621440 inodes of /dev/sdb (/mnt/docker) are used, and 41 % of its bytes: each deployment brings another tag of one image, and image GC looks at bytes only.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 20, usedGib: 5.6 } },
      imageDisk: {
        ...{ gib: 40, usedGib: 16.4, device: '/dev/sdb', mount: '/mnt/docker' },
        inodes: { all: 2_621_440, free: 241_464 },
      },
      workloads: [{ namespace: 'shop', owner: 'Deployment backend', image: tagOf(0), pods: 6 }],
      held: {
        images: Array.from({ length: 38 }, (_, index) => ({
          ...{ name: tagOf(index), packedGib: 0.16, unpackedGib: 0.41 },
        })),
      },
    }),
    cause: [held('images-unused'), held('images'), { kind: 'unread' }],
    owner: 'platform',
    steps: ['free'],
    words: [/inodes/, /imagefs/, /37\s+of the 38 images .*shop\/backend/s, /unused images/],
    notCauses: ['system', 'writable-layers'],
    never: [largerDisk, /\/ \/var/],
  },
  {
    name: 'inodes-of-old-images-that-the-runtime-counts',
    thread: 'https://github.com/kubernetes/kubernetes/issues/32400',
    found:
      'Continuous deployment brings images with many files: one node has no inode left and half of its bytes free. All old images were deleted by hand: image GC looks at bytes only.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', diskPressure: true },
      disk: { gib: 78, usedGib: 40, inodes: { all: 5_242_880, free: 190_000 } },
      snapshotInodes: 4_790_000,
      workloads: [{ namespace: 'shop', owner: 'Deployment backend', image: tagOf(0), pods: 2 }],
      held: {
        images: Array.from({ length: 30 }, (_, index) => ({
          ...{ name: tagOf(index), packedGib: 0.5, unpackedGib: 0.95 },
        })),
      },
    }),
    cause: [held('images'), setting('imageMaximumGCAge')],
    owner: 'platform',
    steps: ['free'],
    words: [/images 4,7\d\d,\d\d\d inodes/, /delete all unused images/, /imageMaximumGCAge/],
    notCauses: ['unread', 'images-in-use', 'writable-layers'],
    never: [largerDisk, /largest: /],
  },
  {
    name: 'earlier-builds-whose-use-nobody-read',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/3568',
    found:
      'Disks of nodes fill up with images of earlier builds. Nothing deletes them at once: image GC does, from its threshold on.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 19.7, usedGib: 15.9 } },
      workloads: [{ namespace: 'shop', owner: 'Deployment backend', image: tagOf(0) }],
      held: {
        images: Array.from({ length: 24 }, (_, index) => ({
          ...{ name: tagOf(index), packedGib: 0.23, unpackedGib: 0.56 },
        })),
      },
    }),
    ...nearMiss,
    words: [/^ +images [\d.]+ MiB to 1\d\.\d GiB/m],
    never: [largerDisk, /drain/],
  },
  {
    name: 'user-namespaces-that-the-kernel-does-not-permit',
    thread: 'https://github.com/open-telemetry/opentelemetry-operator/issues/4563',
    found:
      'A pod with hostUsers false does not start on Bottlerocket: unshare answers ENOSPC, because user.max_user_namespaces is 0. The disk is nearly empty.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 4 } },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'otel', owner: 'Deployment operator' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', count: 40 },
              message:
                'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create network namespace for sandbox "75d87": failed to start noop process for unshare: fork/exec /proc/self/exe: no space left on device',
              ...{ firstMinutesAgo: 9, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
      held: { images: images(2, 0.3, 0.9) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/user\.max_user_namespaces/, /settings\.kernel\.sysctl/],
    never: [imageGc, largerDisk, /inotify/],
  },
  {
    name: 'logs-that-six-files-of-200-mib-permit',
    thread: 'https://github.com/kubernetes/kubernetes/issues/129447',
    found:
      'containerLogMaxSize 200M and containerLogMaxFiles 6: each of 14 task managers keeps 1.1 GB of logs, and the disk is full. Smaller and fewer files.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
      configuration: { containerLogMaxSize: '200Mi', containerLogMaxFiles: 6 },
      workloads: Array.from({ length: 14 }, (_, index) => ({
        ...{ namespace: 'tardis', owner: `Deployment tm-${index}`, logsGib: 1.04 },
      })),
    }),
    cause: [held('container-logs')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/6 files of 200Mi/, /namespace tardis/, /containerLogMaxSize/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc],
  },
  {
    name: 'folder-of-the-kubelet-on-the-small-disk',
    thread: 'https://github.com/cloudfoundry-incubator/kubo-deployment/issues/351',
    found:
      'The kubelet counts 3030944Ki of the system partition; images are on another disk with much room. /var/lib/kubelet has to be there.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 2.9, usedGib: 2.65 }, diskPressure: true },
      imageDisk: { gib: 63, usedGib: 8.2, device: '/dev/sdb2', mount: '/var/vcap/data' },
      workloads: users(4),
      held: { images: images(4, 0.6, 1.8) },
    }),
    cause: [{ kind: 'unread' }, { kind: 'device' }],
    owner: 'platform',
    steps: ['read-more', 'resize'],
    words: [/kubelet's folder/, /2\.9 GiB/, /\/var\/lib\/kubelet/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc],
  },
]
