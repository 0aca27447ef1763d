/** Threads by what their reporters had in hand. Cause, owner, step and words were written from the thread, before the first run. */
import type { ExpectedCause, Incident } from '../incident.ts'
import {
  byNodeClass,
  flaps,
  held,
  imageGc,
  images,
  nearMiss,
  nodeOf,
  setting,
  users,
} from '../short-forms.ts'

/** Nothing but objects of the API server: the kubelet does not answer. */
const unread = ['configz', 'summary'] as const
const largerDisk = /larger (?:disk|volume)/
const unreadCauses: ExpectedCause[] = [{ kind: 'unread' }, held('unread')]
/** What no Windows node has. */
const ofLinux = /journalctl|growpart|xfs_growfs|sudo |\/var\/lib/

/** The node is not of EKS. */
const elsewhere = {
  family: 'Ubuntu' as const,
  osImage: 'Ubuntu 22.04.5 LTS',
  volumes: [],
  providerId: '',
}

const windowsGroup = (diskSize: number) => ({
  nodegroups: [{ nodegroupName: 'workers', amiType: 'WINDOWS_CORE_2022_x86_64', diskSize }],
})

export const inHandIncidents: Incident[] = [
  {
    name: 'capacity-zero-on-windows',
    thread: 'https://github.com/kubernetes/kubernetes/issues/59742',
    found:
      'Windows: InvalidDiskCapacity and ImageGCFailed 1715 times in 5 days, "invalid capacity 0 on image filesystem". The kubelet has no statistics of the image filesystem, so image GC never runs. The disk has room.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Windows', runtimeVersion: 'docker://20.10.9' },
        ...{ without: ['imageFs'], disk: { gib: 128, usedGib: 41 } },
        workloads: users(3),
        held: { images: images(4, 2, 5) },
        events: ['InvalidDiskCapacity', 'ImageGCFailed'].map(reason => ({
          ...{ type: 'Warning' as const, reason, count: 1715 },
          message: 'invalid capacity 0 on image filesystem',
          ...{ firstMinutesAgo: 7200, lastMinutesAgo: 1 },
        })),
      },
      windowsGroup(128),
    ),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'replace', 'set'],
    words: [/image GC/i],
    never: [largerDisk, /prune-images/, ofLinux],
  },
  {
    name: 'restart-that-forgets-when-images-came',
    thread: 'https://github.com/kubernetes/kubernetes/issues/119711',
    found:
      'A restarted kubelet deletes unused images at once, although imageMinimumGCAge is 10m. The disk is above 85 %, and image GC does what it has to do.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 86.4 } },
      configuration: { imageMinimumGCAge: '10m0s' },
      workloads: users(8),
      held: { images: images(26, 0.9, 2.6) },
      events: [
        {
          ...{ type: 'Normal', reason: 'Starting', firstMinutesAgo: 3 },
          message: 'Starting kubelet.',
        },
      ],
    }),
    ...nearMiss,
    notCauses: ['not-images', 'leftover-snapshots', 'writable-layers'],
    never: [largerDisk, /drain/],
  },
  {
    name: 'windows-counts-more-than-its-disk',
    thread: 'https://github.com/kubernetes/kubernetes/issues/116020',
    found:
      'Windows: containerd cannot remove snapshots, and counts more bytes than the disk has. The disk is full in fact, and image GC frees nothing. A later build of Windows ended it; nodes were replaced.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.6.8', diskPressure: true },
        disk: { gib: 127, usedGib: 117 },
        workloads: users(3),
        held: { images: images(5, 2, 5.5), leftover: 120 },
      },
      windowsGroup(127),
    ),
    cause: [held('not-images'), { kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['replace', 'read-more'],
    never: [imageGc, ofLinux, /1[3-9]\d(?:\.\d)? GiB/],
  },
  {
    name: 'api-server-among-the-victims',
    thread: 'https://github.com/kubernetes-sigs/kubespray/issues/3049',
    found:
      'Under DiskPressure the kubelet evicts kube-apiserver, a static pod. Nobody has read what fills the disk of 50 GB.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', unread, disk: { gib: 50, usedGib: 45.6 } },
      ...{ diskPressure: true, pressureMinutes: 12 },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'kube-system', owner: 'Node kube-apiserver' },
          evicted: 'The node was low on resource: nodefs.',
        },
      ],
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/kube-apiserver/],
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'cache-that-reclaim-does-not-touch',
    thread: 'https://github.com/kubernetes/kubernetes/issues/117473',
    found:
      'cgroup v2: MemoryPressure and evictions while the kernel has much memory in buffers and cache. The page cache of a pod that reads many files counts as its working set.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', memoryPressure: true, instanceType: 'r6i.2xlarge' },
      ...{ memoryGib: 62, availableMemoryGib: 0.08, disk: { gib: 500, usedGib: 190 } },
      workloads: [
        ...users(5, { memoryGib: 1.6, requests: { memory: '2Gi' } }),
        {
          ...{ namespace: 'search', owner: 'StatefulSet opensearch', memoryGib: 47 },
          ...{ anonymousGib: 9, requests: { memory: '12Gi' } },
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [setting('resources.limits.memory'), setting('resources.requests.memory')],
    owner: 'search/StatefulSet opensearch',
    steps: ['ask-owner', 'set'],
    words: [/opensearch/, /cache\s+of\s+files/],
    notCauses: ['images-in-use', 'writable-layers'],
    never: [largerDisk, /prune-images|containerLogMax/],
  },
  {
    name: 'allocatable-is-not-what-is-free',
    thread: 'https://github.com/Azure/AKS/issues/1334',
    found:
      'Pods are evicted on one of two nodes. kubectl describe node shows 28043041951 bytes allocatable on both: it is what pods may request, not what is free. Nothing else was read.',
    world: {
      nodes: [true, false].map((diskPressure, index) => ({
        ...{ ...elsewhere, mode: 'proxy' as const, unread, ip: `10.240.0.${4 + index}` },
        disk: { gib: 29.019, usedGib: diskPressure ? 26.4 : 14 },
        ...{ diskPressure, pressureMinutes: 25 },
        workloads: [
          ...users(3),
          ...(diskPressure
            ? [
                {
                  ...{ namespace: 'default', owner: 'Deployment worker', pods: 3 },
                  evicted: 'The node was low on resource: ephemeral-storage. ',
                },
              ]
            : []),
        ],
      })),
    },
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/DiskPressure is True/],
    never: [imageGc, largerDisk, /28\.0 GB|26\.1 GiB (?:are )?free/],
  },
  {
    name: 'ten-gibibytes-of-thirty-nine',
    thread: 'https://github.com/kubernetes/kubernetes/issues/91600',
    found:
      'df shows plenty of space, and pods that use 92Ki are evicted. Capacity 41218252Ki, allocatable 30732492Ki: the eviction threshold is 10Gi, a quarter of the disk.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 39.309, usedGib: 30.1 } },
      ...{ diskPressure: true, pressureMinutes: 18 },
      configuration: {
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'nodefs.available': '10Gi' },
          ...{ 'nodefs.inodesFree': '5%', 'imagefs.available': '15%' },
        },
      },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet calico-node' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container calico-node was using 92Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [setting('evictionHard')],
    owner: 'platform',
    steps: ['set'],
    words: [/10(?:\.0)? ?Gi/],
    notCauses: ['writable-layers', 'pod-volumes'],
    never: [/prune-images/],
  },
  {
    name: 'log-limit-that-docker-does-not-know',
    thread: 'https://github.com/kubernetes/kubernetes/issues/106855',
    found:
      'containerLogMaxSize is set, and logs grow on: with Docker as its runtime the kubelet rotates nothing. max-size in log-opts of the daemon.json does.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: 'docker://20.10.8' },
      ...{ disk: { gib: 80, usedGib: 73.4 }, diskPressure: true },
      configuration: { containerLogMaxSize: '50Mi', containerLogMaxFiles: 3 },
      workloads: [...users(4), { namespace: 'shop', owner: 'Deployment gateway', logsGib: 41 }],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [held('container-logs')],
    owner: 'shop/Deployment gateway',
    steps: ['free', 'ask-owner', 'set'],
    words: [/gateway/, /41(?:\.0)? GiB/, /max-size|log-opts|daemon\.json/],
    never: [imageGc, largerDisk, /(?:set|lower) containerLogMax/],
  },
  {
    name: 'run-without-an-inode',
    thread: 'https://github.com/cri-o/cri-o/issues/7222',
    found:
      'No pod starts: "no space left on device". /run is a tmpfs of 819200 inodes, and /run/crio has 812088 folders of failed containers. The disk has room.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: 'cri-o://1.25.1' },
      disk: { gib: 200, usedGib: 60 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'apps', owner: 'Deployment api', waiting: 'ContainerCreating' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', count: 96 },
              message:
                'Failed to create pod sandbox: rpc error: code = Unknown desc = mkdir /run/crio/7c1bd0a4e2f8: no space left on device',
              ...{ firstMinutesAgo: 130, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'free'],
    words: [/\/run/, /inode/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'students-on-small-inode-tables',
    thread: 'https://github.com/berkeley-dsep-infra/infrastructure/issues/6',
    found:
      'Pods of students are evicted: nodes of 50G have no inodes left, half of the bytes are free. Disks of 100G have twice the inodes, and ended it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', diskPressure: true },
      disk: { gib: 50, usedGib: 23, inodes: { all: 3_276_800, free: 118_000 } },
      workloads: [...users(6), ...users(1, { namespace: 'datahub', owner: 'Bare jupyter-s1' })],
      held: { images: images(6, 1.1, 3.1) },
    }),
    cause: [...unreadCauses, held('images'), held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['read-more', 'resize'],
    words: [/inode/],
    notCauses: ['writable-layers', 'pod-volumes'],
  },
  {
    name: 'zombies-of-a-volume-driver',
    thread: 'https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/pull/2336',
    found:
      'The driver of persistent disks does not wait for commands that it pipes: their zombies use up the process ids of the node. A newer driver ended it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 38 } },
      pids: { max: 32_768, used: 32_100 },
      workloads: [
        ...users(5, { processes: 40 }),
        { namespace: 'kube-system', owner: 'DaemonSet pdcsi-node', processes: 30_900 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [setting('evictionHard'), setting('podPidsLimit')],
    owner: 'platform',
    steps: ['set', 'free', 'ask-owner'],
    words: [/pdcsi-node/, /32,?768|30,?900/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'one-volume-more-than-the-instance-takes',
    thread: 'https://github.com/kubernetes-sigs/aws-ebs-csi-driver/issues/1728',
    found:
      'A pod stays in Init:0/1: the instance takes 28 attachments, network interfaces included, and the driver allows one volume too many. No disk is short of space.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.xlarge', disk: { gib: 80, usedGib: 26 } },
      volumes: [
        { device: '/dev/xvda', gib: 80 },
        ...Array.from({ length: 26 }, (_, index) => ({
          device: `/dev/xvda${String.fromCodePoint(97 + index)}`,
          gib: 10,
        })),
      ],
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'default', owner: 'StatefulSet web', claim: 'data-web-26' },
          waiting: 'PodInitializing',
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedAttachVolume', count: 31 },
              ...{ component: 'attachdetach-controller', firstMinutesAgo: 55, lastMinutesAgo: 1 },
              message:
                'AttachVolume.Attach failed for volume "pvc-yyy" : rpc error: code = Internal desc = Could not attach volume "vol-0a1b2c3d" to node "i-0b2c3d4e": context deadline exceeded',
            },
          ],
        },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/FailedAttachVolume\s+31\s+times/, /volumeAttachLimit/],
    notCauses: ['pod-volumes', 'images-in-use'],
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'sixteen-gibibytes-of-a-quarter-tebibyte',
    thread: 'https://github.com/sustainable-computing-io/kepler/issues/1799',
    found:
      'nodefs.available falls to 8 % [16.80/193.64Gi] within nine minutes while kepler runs. inodesFree is 98 %. What grows is not in the statistics; kepler writes nothing.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', diskPressure: true, pressureMinutes: 9 },
      disk: { gib: 193.64, usedGib: 176.84, inodes: { all: 25_804_800, free: 25_428_939 } },
      ...{ memoryGib: 15.4, availableMemoryGib: 4.79 },
      workloads: [...users(7), { namespace: 'kepler', owner: 'DaemonSet kepler-exporter' }],
      held: { images: images(9, 0.6, 1.9) },
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/16\.8 GiB/],
    notCauses: ['writable-layers', 'images', 'images-in-use', 'not-images'],
    never: [imageGc, largerDisk, /kepler-exporter/],
  },
  {
    name: 'image-of-a-disk-in-root',
    thread: 'https://github.com/kubernetes/kubernetes/issues/86023',
    found:
      'dd writes /root/disk.img of 160G on a disk of 197G. nodefs.available<10Gi is met; the pods of a Deployment are evicted and made again, and their objects pile up.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 197, usedGib: 189.5 } },
      ...{ diskPressure: true, pressureMinutes: 40 },
      configuration: {
        evictionHard: {
          ...{ 'memory.available': '512Mi', 'nodefs.available': '10Gi' },
          ...{ 'imagefs.available': '5Gi', 'nodefs.inodesFree': '5%' },
        },
      },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'default', owner: 'Deployment nginx', pods: 30 },
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
      ],
      held: { images: images(5, 0.8, 2.4), folders: { '/root/disk.img': 160 } },
    }),
    cause: [held('unknown-folder', '/root')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/root\/disk\.img/, /160(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'garbage-collection-without-a-root-container',
    thread: 'https://github.com/kubernetes/kubernetes/issues/26000',
    found:
      'A disk of 32G is 91 % used, and image GC does nothing: "unable to find data for container /". The kubelet has no statistics of itself. Deleting unused images by hand frees 5 GB.',
    world: nodeOf({
      ...{ mode: 'proxy', unread: ['summary'], disk: { gib: 32, usedGib: 29 } },
      configuration: { evictionHard: { 'memory.available': '100Mi' } },
      workloads: users(4),
      held: { images: images(18, 0.4, 1.2) },
      events: [
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 180 },
          message: 'unable to find data for container /',
          ...{ firstMinutesAgo: 900, lastMinutesAgo: 4 },
        },
      ],
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'free', 'replace'],
    words: [/image GC/i, /unable to find data/],
    never: [largerDisk, /imageGCHighThresholdPercent/],
  },
  {
    name: 'host-of-a-cluster-in-a-container',
    thread: 'https://github.com/namespacelabs/foundation/issues/1055',
    found:
      'k3d: FreeDiskSpaceFailed, 7549477683 bytes wanted and 0 freed, and a pod with 108Ki is evicted. The node is a container: the disk that it counts is the host of a developer, full of other things.',
    world: nodeOf({
      ...{ ...elsewhere, osImage: 'K3s dev', mode: 'proxy', diskPressure: true },
      disk: { gib: 58.4, usedGib: 53.75 },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'fn-system', owner: 'Deployment orchestration-api-server' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container orchestration-api-server was using 108Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(2, 0.3, 0.9) },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 12 },
          message:
            'failed to garbage collect required amount of images. Wanted to free 7549477683 bytes, but freed 0 bytes',
          ...{ firstMinutesAgo: 59, lastMinutesAgo: 4 },
        },
      ],
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/not measured 51\.9 GiB to\s+53\.4 GiB/, /orchestration-api-server/],
    notCauses: ['images-unused', 'images-in-use', 'not-images', 'writable-layers'],
    never: [/prune-images/, largerDisk],
  },
  {
    name: 'packets-that-the-kernel-keeps',
    thread:
      'https://dev.to/ssshreyans26/why-your-kubernetes-pod-keeps-getting-killed-and-its-not-an-oomkill-3ji6',
    found:
      'EKS: a forgotten monitoring DaemonSet leaks 1.66 million network packets in the slab of the kernel, 55 % of the memory of a small node. The pod that dies uses 832 MiB and is not the cause.',
    world: nodeOf({
      ...{ instanceType: 't3.medium', memoryPressure: true },
      ...{ memoryGib: 3.8, availableMemoryGib: 0.09, disk: { gib: 50, usedGib: 19 } },
      workloads: [
        ...users(2, { memoryGib: 0.15 }),
        { namespace: 'monitoring', owner: 'DaemonSet ebpf-tracer', memoryGib: 0.1 },
        {
          ...{ namespace: 'live', owner: 'Deployment api', memoryGib: 0.8 },
          requests: { memory: '500Mi' },
        },
      ],
      held: { images: images(4, 0.6, 1.8) },
      kernel: { memoryCgroups: 210 },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'replace', 'free'],
    words: [/slab|kernel/i],
    notCauses: ['images-in-use', 'resources.requests.memory', 'resources.limits.memory'],
    never: [largerDisk, imageGc],
  },
  {
    name: 'threshold-of-a-volume-of-twenty',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/4542',
    found:
      'From AL2023 to Bottlerocket with the same EC2NodeClass: "Threshold quantity: 3170846026, available: 2914572Ki". The class maps /dev/xvda alone; the data volume /dev/xvdb has its default of 20 GB.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', nodeClass: 'default', unread: ['summary'] },
        ...{ disk: { gib: 19.687, usedGib: 16.907 }, diskPressure: true },
        volumes: [
          { device: '/dev/xvda', gib: 100 },
          { device: '/dev/xvdb', gib: 20 },
        ],
        workloads: [
          ...users(4),
          {
            ...{ namespace: 'default', owner: 'Deployment api' },
            evicted:
              'The node was low on resource: ephemeral-storage. Threshold quantity: 3170846026, available: 2914572Ki. Container api was using 28368Ki, request is 0, has larger consumption of ephemeral-storage. ',
          },
        ],
      },
      byNodeClass(
        'default',
        [{ deviceName: '/dev/xvda', ebs: { volumeSize: '100Gi', volumeType: 'gp3' } }],
        { amiFamily: 'Bottlerocket' },
      ),
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['set', 'replace', 'resize'],
    words: [/\/dev\/xvdb/],
    never: [imageGc],
  },
  {
    name: 'pressure-of-each-rollout',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/2065',
    found:
      'Bottlerocket on EKS at 82 to 84 %: each rollout of more than 20 images of 150 to 200 MB brings DiskPressure for a minute or two, because image GC begins at 85 % and needs minutes. A lower percentage ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Bottlerocket', disk: { gib: 29.5, usedGib: 24.5 } },
      workloads: users(22),
      held: { images: images(44, 0.17, 0.5) },
      events: flaps(9, 2880),
    }),
    cause: [
      setting('imageGCHighThresholdPercent'),
      held('images-unused'),
      held('images'),
      { kind: 'world' },
    ],
    owner: 'platform',
    steps: ['set', 'free'],
    words: [/imageGCHighThresholdPercent|image-gc-high-threshold-percent/],
    never: [/leftover/],
  },
  {
    name: 'data-disk-that-the-boot-did-not-see',
    thread: 'https://github.com/aws/eks-node-monitoring-agent/issues/179',
    found:
      'Bottlerocket: /dev/xvdb is attached and was not found at boot. The node is Ready and no condition says otherwise; no container is created: "mount callback failed on /var/lib/containerd/tmpmounts". A new node ended it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', nodeClass: 'default', ageDays: 0.2 },
        disk: { gib: 3.2, usedGib: 1.1 },
        volumes: [
          { device: '/dev/xvda', gib: 4 },
          { device: '/dev/xvdb', gib: 100 },
        ],
        workloads: [
          {
            ...{ namespace: 'apps', owner: 'Deployment api', pods: 4 },
            waiting: 'CreateContainerError',
            message:
              'failed to create containerd container: mount callback failed on /var/lib/containerd/tmpmounts/containerd-mount2992162305: no users found',
          },
        ],
      },
      byNodeClass(
        'default',
        [
          { deviceName: '/dev/xvda', ebs: { volumeSize: '4Gi', volumeType: 'gp3' } },
          { deviceName: '/dev/xvdb', ebs: { volumeSize: '100Gi', volumeType: 'gp3' } },
        ],
        { amiFamily: 'Bottlerocket' },
      ),
    ),
    cause: [{ kind: 'device' }, { kind: 'world' }],
    owner: 'platform',
    steps: ['replace', 'resize', 'read-more'],
    words: [/100(?:\.0)? ?Gi/],
    never: [imageGc],
  },
  {
    name: 'five-gibibytes-of-an-empty-dir',
    thread: 'https://github.com/kubernetes/kubernetes/issues/116986',
    found:
      'A pod with 100 of 160 GB of its memory limit is evicted: its emptyDir has passed its sizeLimit of 5Gi. The node has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 500, usedGib: 180 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'ml', owner: 'StatefulSet feature-server' },
          ...{ emptyDirGib: 0, sizeLimit: '5Gi' },
          evicted: 'Usage of EmptyDir volume "data" exceeds the limit "5Gi". ',
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [
      held('pod-volumes'),
      setting('volumes.emptyDir.sizeLimit'),
      setting('emptyDir.sizeLimit'),
      setting('sizeLimit'),
      setting('resources.limits.ephemeral-storage'),
      { kind: 'world' },
    ],
    owner: 'ml/StatefulSet feature-server',
    steps: ['ask-owner', 'set'],
    words: [/feature-server/, /5(?:\.0)? ?Gi/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [largerDisk, /drain|prune-images/],
  },
  {
    name: 'thin-pool-that-no-threshold-watches',
    thread: 'https://github.com/kubernetes/kubernetes/issues/110461',
    found:
      'The thin pool of the devmapper snapshotter is full: no container starts, and DiskPressure stays False. The kubelet finds no filesystem at the mount point, so it has no statistics of images.',
    world: nodeOf({
      ...{ ...elsewhere, without: ['imageFs', 'layers'], runtimeVersion: '1.6.6' },
      ...{ disk: { gib: 100, usedGib: 24 }, containerd: { snapshotter: 'devmapper' } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'apps', owner: 'Deployment api', waiting: 'ContainerCreating' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', count: 44 },
              message:
                'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd container: failed to create snapshot: failed to create thin device "containerd-pool-snap-91": no space left on device',
              ...{ firstMinutesAgo: 80, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'free'],
    words: [/devmapper|thin/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'pressure-of-a-folder-that-moved',
    thread: 'https://github.com/kubernetes/kubernetes/issues/96732',
    found:
      'Docker writes to /data/docker since its folder was changed; the kubelet still looks at /var/lib/docker. DiskPressure stays, with 73 % on the root disk and 4 % on the other. A restart of the kubelet ended it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: 'docker://19.3.13' },
      ...{ diskPressure: true, pressureMinutes: 700, disk: { gib: 100, usedGib: 73 } },
      imageDisk: { gib: 500, usedGib: 20, device: '/dev/sdb1', mount: '/data' },
      workloads: users(4),
      held: { images: images(6, 1, 3) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'free', 'set'],
    words: [/DiskPressure/, /restart[\s\S]*kubelet/],
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'pull-of-two-hundred-thousand-files',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/985',
    found:
      '30 pods of an image with 200,000 small files start at once, and all pods of the node freeze: the disk of 3000 IOPS is busy. Bytes and inodes are free.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.xlarge' },
      disk: { gib: 50, usedGib: 24, inodes: { all: 26_213_872, free: 24_800_000 } },
      workloads: [
        {
          ...{ namespace: 'default', owner: 'Deployment stress-test-pulling-big-image', pods: 30 },
          image: 'docker.io/paskalmaksim/stress-test-pulling-big-image:200k',
        },
      ],
      held: {
        images: [
          {
            name: 'docker.io/paskalmaksim/stress-test-pulling-big-image:200k',
            ...{ packedGib: 0.6, unpackedGib: 0.9 },
          },
        ],
      },
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'not-images', 'writable-layers'],
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'limit-on-a-disk-that-is-not-counted',
    thread: 'https://github.com/kubernetes/kubernetes/issues/99280',
    found:
      'containerd has its root on a disk of its own, /var/containers, which the kubelet does not find: it counts no layer, and a pod beyond its ephemeral-storage limit is not evicted after days.',
    world: nodeOf({
      ...{ ...elsewhere, without: ['imageFs', 'layers'], disk: { gib: 60, usedGib: 21 } },
      imageDisk: { gib: 100, usedGib: 93, device: '/dev/sdb1', mount: '/var/containers' },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'default', owner: 'Deployment writer', layerGib: 62 },
          limits: { 'ephemeral-storage': '10Gi' },
        },
      ],
      held: { images: images(6, 0.9, 2.5) },
    }),
    cause: [held('writable-layers')],
    owner: 'default/Deployment writer',
    steps: ['ask-owner', 'free'],
    words: [/writer/, /62(?:\.0)? GiB/, /10(?:\.0)? ?Gi/],
    never: [imageGc],
  },
  {
    name: 'thirty-of-two-hundred-on-windows',
    thread: 'https://github.com/Azure/acs-engine/issues/2015',
    found:
      'Windows: "There is not enough space on the disk" at the seventh image, and no DiskPressure. The volume has 200 GB; drive C: was not extended beyond 30.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.6.8' },
        disk: { gib: 30, usedGib: 28.9 },
        volumes: [{ device: '/dev/sda1', gib: 200 }],
        workloads: [
          ...users(3),
          {
            ...{ namespace: 'default', owner: 'Deployment iis-7', waiting: 'ErrImagePull' },
            message:
              'rpc error: code = Unknown desc = write C:\\Windows\\TEMP\\GetImageBlob713357907: There is not enough space on the disk.',
          },
        ],
        held: { images: images(3, 1.8, 5) },
      },
      windowsGroup(200),
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set', 'replace'],
    words: [/200(?:\.0)? ?Gi/],
    never: [ofLinux, /prune-images/],
  },
  {
    name: 'database-on-four-gigabytes-of-instance-store',
    thread: 'https://github.com/kubernetes/kubernetes/issues/25174',
    found:
      'AWS: the kubelet keeps its pods on an instance store of 4 GB, and the emptyDir of InfluxDB fills it. The root volume of 32 GB has plenty.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 3.7, usedGib: 3.5 }, diskPressure: true },
      imageDisk: { gib: 32, usedGib: 9 },
      volumes: [{ device: '/dev/xvda', gib: 32 }],
      workloads: [
        ...users(3),
        { namespace: 'kube-system', owner: 'Deployment monitoring-influxdb', emptyDirGib: 2.6 },
      ],
      held: { images: images(4, 0.5, 1.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'kube-system/Deployment monitoring-influxdb',
    steps: ['ask-owner', 'free'],
    words: [/monitoring-influxdb/, /2\.6 GiB/],
    never: [imageGc, /growpart/],
  },
  {
    name: 'statistics-without-a-pod',
    thread: 'https://github.com/kubernetes/kubernetes/issues/122686',
    found:
      'Docker: the kubelet logs "RecentStats: unable to find data in memory cache" and shows no metrics of containers. The node has room, and nothing is evicted.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: 'docker://20.10.24', without: ['pods'] },
      disk: { gib: 200, usedGib: 90 },
      workloads: users(9),
      held: { images: images(14, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'not-images', 'unread'],
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'small-bottlerocket-that-falls-silent',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/7029',
    found:
      'Small Bottlerocket nodes of Karpenter stop posting their status and stay NotReady: memory runs out below the kubelet. Nothing of them can be read.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', nodeClass: 'default', silent: true },
        ...{ instanceType: 'm6i.large', unread, disk: { gib: 20, usedGib: 6 }, ageDays: 1 },
        workloads: users(5),
      },
      byNodeClass(
        'default',
        [
          { deviceName: '/dev/xvda', ebs: { volumeSize: '4Gi', volumeType: 'gp3' } },
          { deviceName: '/dev/xvdb', ebs: { volumeSize: '20Gi', volumeType: 'gp3' } },
        ],
        { amiFamily: 'Bottlerocket' },
      ),
    ),
    cause: [{ kind: 'unread' }, { kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'replace', 'free'],
    words: [/Ready is Unknown/],
    never: [largerDisk, imageGc],
  },
  {
    name: 'gpu-node-that-dies-of-its-memory',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/6670',
    found:
      'GPU nodes of Karpenter: SystemOOM, then NotReady, and nobody can log in. DaemonSets without requests run beside one pod that requests nearly all of the memory. Only the events tell it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'gpu', silent: true, unread, ageDays: 0.5 },
        ...{ instanceType: 'r6i.2xlarge', disk: { gib: 200, usedGib: 80 } },
        workloads: [
          ...users(3),
          {
            ...{ namespace: 'ml', owner: 'Job train' },
            ...{ requests: { memory: '55Gi' }, limits: { memory: '55Gi' } },
          },
        ],
        events: [
          {
            ...{ type: 'Warning', reason: 'SystemOOM', count: 3 },
            message: 'System OOM encountered, victim process: python3, pid: 21734',
            ...{ firstMinutesAgo: 41, lastMinutesAgo: 37 },
          },
        ],
      },
      byNodeClass('gpu', [
        { deviceName: '/dev/xvda', ebs: { volumeSize: '200Gi', volumeType: 'gp3' } },
      ]),
    ),
    cause: [
      { kind: 'unread' },
      { kind: 'world' },
      setting('kubeReserved'),
      setting('evictionHard'),
    ],
    owner: 'platform',
    steps: ['read-more', 'replace', 'set', 'free'],
    words: [/Ready is Unknown/, /kernel\s+killed\s+processes/],
    never: [largerDisk, imageGc],
  },
]
