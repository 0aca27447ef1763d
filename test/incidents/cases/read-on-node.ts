/** Nodes whose disks were measured. Cause, owner and step were written before the first run. */
import type { Incident } from '../incident.ts'
import { byNodeClass, held, imageGc, images, nodeOf, users } from '../short-forms.ts'

export const measuredIncidents: Incident[] = [
  {
    name: 'replicas-in-a-folder-of-their-own',
    thread: 'https://github.com/longhorn/longhorn/issues/6037',
    found:
      'Replicas of Longhorn are in /xos-storage/longhorn: 15309209600 bytes are available, 22033659494 are reserved, and the kubelet has disk pressure. More disks have to be added to Longhorn.',
    world: nodeOf({
      disk: { gib: 205.2, usedGib: 190.9 },
      diskPressure: true,
      workloads: [
        ...users(5),
        { namespace: 'monitoring', owner: 'DaemonSet node-exporter', hostPath: '/' },
        {
          ...{ namespace: 'longhorn-system', owner: 'DaemonSet longhorn-manager' },
          hostPath: '/xos-storage/longhorn',
        },
      ],
      held: { images: images(6, 1, 3), folders: { '/xos-storage/longhorn': 158 } },
    }),
    cause: [held('host-path', '/xos-storage'), held('unknown-folder', '/xos-storage')],
    owner: 'longhorn-system/DaemonSet longhorn-manager',
    steps: ['ask-owner'],
    words: [/\/xos-storage/, /158(?:\.0)? GiB/],
    never: [imageGc, /node-exporter/],
  },
  {
    name: 'file-of-an-experiment',
    thread: 'https://github.com/longhorn/longhorn/issues/11340',
    found:
      'dd writes output_file with 220 GB into the home folder of root on the host: the node is tainted with disk-pressure until it is deleted.',
    world: nodeOf({
      disk: { gib: 280, usedGib: 262 },
      diskPressure: true,
      workloads: users(6),
      held: { images: images(6, 1, 3), folders: { '/root': 220 } },
    }),
    cause: [held('unknown-folder', '/root'), held('system', '/root')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/root/, /220(?:\.0)? GiB/],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'buffers-that-keep-their-server-away',
    thread: 'https://github.com/openshift/elasticsearch-operator/pull/139',
    found:
      'Buffer files of fluentd stay in /var/lib/fluentd while the log store is down, and the pressure that they make keeps the log store from the node.',
    world: nodeOf({
      mode: 'ssm',
      disk: { gib: 120, usedGib: 110.5 },
      diskPressure: true,
      workloads: users(5),
      held: { images: images(6, 1, 3), folders: { '/var/lib/fluentd': 71 } },
    }),
    cause: [held('unknown-folder', '/var/lib/fluentd')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/var\/lib\/fluentd/, /71(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'core-files-outside-of-the-container',
    thread: 'https://github.com/kubernetes/kubernetes/issues/133169',
    found:
      'Core files of a pod appear in /var/crash of the host, although the pod mounts no such path: the handler of the kernel runs on the host.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 55.4 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(5, 1, 3), coreDumps: { path: '/var/crash', gib: 34 } },
    }),
    cause: [held('core-dumps', '/var/crash')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/crash/, /34(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'share-trees-of-deleted-pods',
    thread: 'https://github.com/smol-machines/smolvm/issues/901',
    found:
      'A runtime of virtual machines leaves one share tree for each pod, and the whole image of a crash-looping one, after the pods are deleted. Nothing collects them.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(5, 1, 3), folders: { '/var/lib/smolvm': 58 } },
    }),
    cause: [held('unknown-folder', '/var/lib/smolvm')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/var\/lib\/smolvm/, /58(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'df-and-du-differ-by-115-gib',
    thread: 'https://github.com/moby/moby/issues/25621',
    found:
      'df shows 135 of 150 GB, du shows 20 GB, the runtime counts 6 GB of images. No deleted file is open. What holds the rest was not found.',
    world: nodeOf({
      disk: { gib: 150, usedGib: 137 },
      diskPressure: true,
      workloads: users(6),
      held: { images: images(6, 0.4, 0.95), unexplained: 115 },
    }),
    cause: [held('not-explained'), { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/115(?:\.\d)? GiB/, /under mount points/],
    notCauses: ['images-in-use', 'images-unused', 'system', 'kubelet'],
    never: [imageGc, /rm -rf/],
  },
  {
    name: 'folder-of-a-released-volume',
    thread: 'https://github.com/rancher/local-path-provisioner/issues/452',
    found:
      'Released volumes of local-path are never deleted: the helper pod cannot run on a node with disk pressure, so their folders stay.',
    world: nodeOf(
      {
        disk: { gib: 100, usedGib: 91.5 },
        diskPressure: true,
        workloads: users(4),
        held: { images: images(5, 1, 3), folders: { '/opt/local-path-provisioner': 61 } },
      },
      {
        objects: {
          persistentvolumes: [
            {
              metadata: {
                ...{ name: 'pvc-3f138b3b', uid: 'pv-1' },
                creationTimestamp: '2026-03-02T10:00:00Z',
                annotations: { 'pv.kubernetes.io/provisioned-by': 'rancher.io/local-path' },
              },
              spec: {
                capacity: { storage: '64Gi' },
                persistentVolumeReclaimPolicy: 'Delete',
                claimRef: {
                  ...{ kind: 'PersistentVolumeClaim', namespace: 'default' },
                  ...{ name: 'persistence-rabbitmq-0', uid: 'claim-gone' },
                },
                local: { path: '/opt/local-path-provisioner/pvc-3f138b3b' },
              },
              status: { phase: 'Released' },
            },
          ],
        },
      },
    ),
    cause: [
      held('unknown-folder', '/opt/local-path-provisioner'),
      held('local-volumes', '/opt/local-path-provisioner'),
    ],
    owner: 'platform',
    steps: ['free', 'ask-owner', 'read-more'],
    words: [/\/opt\/local-path-provisioner/, /61(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'snapshotter-with-a-folder-of-its-own',
    thread: 'https://github.com/dragonflyoss/nydus/issues/1719',
    found:
      'The working folder of the nydus snapshotter holds metadata and cache of images that may be in use. It is cleaned when the image is removed; nobody may delete files in it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 91 },
      diskPressure: true,
      containerd: { snapshotter: 'nydus' },
      workloads: users(8),
      held: {
        images: images(8, 0.2, 0.6),
        folders: { '/var/lib/containerd/io.containerd.snapshotter.v1.nydus': 66 },
      },
    }),
    cause: [
      held('unknown-folder', '/var/lib/containerd/io.containerd.snapshotter.v1.nydus'),
      held('leftover-snapshots'),
    ],
    owner: 'platform',
    steps: ['read-more', 'replace', 'resize'],
    words: [/nydus/, /66(?:\.0)? GiB/],
    never: [/rm -rf|find .* -delete/],
  },
  {
    name: 'log-of-the-log-shipper',
    thread: 'https://github.com/kubernetes-retired/kube-aws/issues/1300',
    found:
      'fluentd writes its own log to /var/log/fluentd.log, which nothing rotates. The disk fills, and image GC deletes the image of the API server.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 46.6 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'kube-system', owner: 'DaemonSet fluentd', hostPath: '/var/log' },
      ],
      held: { images: images(4, 1, 3), hostLogs: 29 },
    }),
    cause: [held('host-logs', '/var/log'), held('host-path', '/var/log')],
    owner: 'kube-system/DaemonSet fluentd',
    steps: ['free', 'ask-owner'],
    words: [/\/var\/log/, /29(?:\.0)? GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'partition-of-a-hardened-image',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/3692',
    found:
      'A hardened AMI keeps /var in a logical volume of 10 GB. The volume that Karpenter maps has 100 GB, and pulls still fail with "no space left on device".',
    world: nodeOf(
      {
        nodeClass: 'hardened',
        disk: { gib: 9.8, usedGib: 9.1, device: '/dev/mapper/vg0-var', mount: '/var' },
        diskPressure: true,
        volumes: [{ device: '/dev/xvda', gib: 100 }],
        devices: [{ name: '/dev/nvme0n1', gib: 100, mounted: true }],
        workloads: users(3),
        held: { images: images(4, 0.6, 1.6) },
      },
      byNodeClass('hardened', [{ deviceName: '/dev/xvda', ebs: { volumeSize: '100Gi' } }]),
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/100(?:\.0)? ?GiB?|100Gi/, /9\.8 GiB/],
    never: [/prune-images|volumeSize: 1[1-9]\dGi/],
  },
]
