/** What the host holds: journal, core dumps, folders that nobody knows, folders of deleted pods. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nodeOf, users } from '../short-forms.ts'

export const hostIncidents: Incident[] = [
  {
    name: 'core-dumps',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/2215',
    found:
      'AMI v20250403 brings containerd 1.7.27: ctr crashes beside a security agent and leaves core dumps in / until pods are evicted for ephemeral storage.',
    world: nodeOf({
      runtimeVersion: '1.7.27',
      disk: { gib: 40, usedGib: 37 },
      diskPressure: true,
      workloads: users(5),
      held: { images: images(5, 0.6, 1.8), coreDumps: { path: '/', gib: 21 } },
    }),
    cause: [held('core-dumps')],
    owner: 'platform',
    steps: ['free', 'set', 'replace'],
    words: [/core dump/i, /process\s+that\s+crashes/, /core_pattern/],
    never: [imageGc],
  },
  {
    name: 'core-dumps-of-a-pod',
    thread: 'https://github.com/k3s-io/k3s/issues/2372',
    found: 'Core files of several GB fill a disk of 99 GB to 100 %.',
    world: nodeOf({
      disk: { gib: 99, usedGib: 96 },
      diskPressure: true,
      workloads: users(5),
      held: {
        images: images(5, 0.6, 1.8),
        coreDumps: { path: '/var/lib/systemd/coredump', gib: 71 },
      },
    }),
    cause: [held('core-dumps')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/core dump/i, /process\s+that\s+crashes/, /MaxUse/],
    never: [imageGc],
  },
  {
    name: 'journal',
    thread: 'https://github.com/kubernetes/kubernetes/issues/47057',
    found:
      'The persistent journal fills the disk until the node fails; a limit of journald ended it.',
    world: nodeOf({
      disk: { gib: 20, usedGib: 18.4 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(4, 0.3, 1), journal: 9.1 },
    }),
    cause: [held('journal')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/journal/i, /SystemMaxUse|vacuum/],
    never: [imageGc],
  },
  {
    name: 'host-logs',
    thread: 'https://github.com/rancher/rancher/issues/33567',
    found:
      'A log of the kubelet has 27 GB and grows; rotation of container logs does not rotate it.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 46 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(4, 0.8, 2.5), hostLogs: 27 },
    }),
    cause: [held('host-logs')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/\/var\/log/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'orphaned-pods',
    thread: 'https://github.com/kubernetes/kubernetes/issues/134075',
    found:
      'The kubelet logs "Orphaned pod found, but volume paths are still present on disk", 8,549 errors like it: folders of deleted pods stay.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92 },
      diskPressure: true,
      workloads: users(5),
      held: { images: images(5, 0.8, 2.5), orphans: { gib: 56, folders: 40 } },
    }),
    cause: [held('orphaned-pods')],
    owner: 'platform',
    steps: ['free'],
    words: [/deleted pods|no pod/i, /nothing is mounted/],
    never: [imageGc],
  },
  {
    name: 'local-volume',
    thread: 'https://github.com/SREGym/SREGym/issues/537',
    found:
      'loki-0 has a claim of 10 GiB from openebs-hostpath: /var/openebs/local has 39 GB of a root disk of 63 GB; the node had pressure 11 times in two days.',
    world: nodeOf({
      disk: { gib: 63, usedGib: 56.8 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'observe', owner: 'StatefulSet loki', claim: 'storage-loki-0' },
      ],
      held: {
        images: images(4, 0.9, 2.6),
        localVolume: {
          path: '/var/openebs/local/pvc-0b6b4b61-765c-4b90-950d-7f7167c5c9d6',
          ...{ gib: 39, owner: 'StatefulSet loki' },
        },
      },
    }),
    cause: [held('local-volumes', '/var/openebs')],
    owner: 'observe/StatefulSet loki',
    steps: ['free', 'ask-owner'],
    words: [/\/var\/openebs/],
    never: [imageGc],
  },
  {
    name: 'local-volume-of-api',
    thread: 'https://github.com/SREGym/SREGym/issues/537',
    found: 'The same node, if only the API can be read: 39 GB are neither images nor pods.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 63, usedGib: 56.8 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'observe', owner: 'StatefulSet loki', claim: 'storage-loki-0' },
      ],
      held: { images: images(4, 0.9, 2.6), folders: { '/var/openebs': 39 } },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/neither images nor pods|no image|not .*images|not measured|unread/i],
    notCauses: ['images-unused', 'images-in-use', 'imageGCHighThresholdPercent'],
    never: [imageGc],
  },
  {
    name: 'host-path',
    thread: 'https://github.com/kubernetes/kubernetes/issues/35017',
    found:
      'A pod writes 10 GiB into a hostPath below /tmp; eviction deletes the pod and not the file, so the node stays under DiskPressure.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 26.2 },
      configuration: { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '5Gi' } },
      diskPressure: true,
      workloads: [...users(4), { namespace: 'demo', owner: 'Deployment hello', hostPath: '/tmp' }],
      held: { images: images(4, 0.9, 2.6), temporary: 10 },
    }),
    cause: [held('temporary-files')],
    owner: 'demo/Deployment hello',
    steps: ['free', 'ask-owner'],
    words: [/\/tmp/],
    never: [imageGc],
  },
  {
    name: 'host-path-of-nobody',
    thread: 'https://github.com/kubernetes/kubernetes/issues/127548',
    found:
      'A pod fills a hostPath; 15 innocent pods are evicted before it, and the disk stays full.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 93 },
      diskPressure: true,
      workloads: [
        ...users(6),
        { namespace: 'default', owner: 'Deployment disk-eater', hostPath: '/var/eater' },
      ],
      held: { images: images(6, 0.8, 2.5), folders: { '/var/eater': 66 } },
    }),
    cause: [held('host-path', '/var/eater')],
    owner: 'default/Deployment disk-eater',
    steps: ['free', 'ask-owner'],
    words: [/\/var\/eater/],
    never: [imageGc],
  },
  {
    name: 'one-large-file',
    thread: 'https://github.com/rancher/rke2/issues/1830',
    found:
      'One file of 17 GB below /var/lib on a disk of 30 GB (96 % used): every unused image and the sandbox image are deleted, and the disk stays full.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 28.5 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(4, 0.6, 1.8), folders: { '/var/lib/bigfile': 17 } },
    }),
    cause: [held('unknown-folder', '/var/lib/bigfile')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/lib\/bigfile/],
    never: [imageGc],
  },
]
