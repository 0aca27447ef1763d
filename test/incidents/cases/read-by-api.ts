/** Nodes of which only the API was read. Cause, owner and step were written before the first run. */
import type { Incident } from '../incident.ts'
import { evictionOf, held, images, nearMiss, nodeOf, setting, users } from '../short-forms.ts'

/** Nothing that ends a cause in a pod. */
const imageGc = /imageGCHighThresholdPercent|prune-images|crictl rmi/

export const apiIncidents: Incident[] = [
  {
    name: 'four-restores-on-a-system-disk',
    thread: 'https://github.com/velero-io/velero/issues/7725',
    found:
      'Each restore of the data mover keeps a cache of 5 GB in the root filesystem of the node-agent. A system disk of 20 GB holds no more than four; then pods of the node are evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.6 }, diskPressure: true },
      workloads: [
        ...users(2),
        { namespace: 'velero', owner: 'DaemonSet node-agent', layerGib: 10.4 },
      ],
      held: { images: images(3, 0.4, 1.1) },
    }),
    cause: [held('writable-layers')],
    owner: 'velero/DaemonSet node-agent',
    steps: ['ask-owner'],
    words: [/node-agent/, /10\.4 GiB/],
    never: [imageGc],
  },
  {
    name: 'logs-of-a-dag-processor',
    thread: 'https://github.com/apache/airflow/pull/30623',
    found:
      '3.5 TiB of scheduler logs in the emptyDir of a standalone dag processor, which no groomer cleans: other pods of the node are evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 4000, usedGib: 3660 }, diskPressure: true },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'airflow', owner: 'Deployment airflow-test-dag-processor' },
          emptyDirGib: 3584,
        },
      ],
      held: { images: images(6, 1, 3) },
    }),
    cause: [held('pod-volumes')],
    owner: 'airflow/Deployment airflow-test-dag-processor',
    steps: ['ask-owner'],
    words: [/dag-processor/, /3\.5 TiB|3584(?:\.0)? GiB/, /sizeLimit|ephemeral-storage/],
    never: [imageGc, /volumeSize/],
  },
  {
    name: 'inodes-of-images-that-gc-does-not-count',
    thread: 'https://github.com/kubernetes/kubernetes/issues/41033',
    found:
      'Large images use more than 90 % of the inodes and less than 50 % of the bytes. Image GC counts bytes alone, so it never begins.',
    world: nodeOf({
      ...{ mode: 'proxy', diskPressure: true },
      disk: { gib: 100, usedGib: 46, inodes: { all: 6_553_600, free: 250_000 } },
      workloads: users(4),
      held: { images: images(18, 0.8, 2.2) },
    }),
    cause: [
      { kind: 'unread' },
      held('unread'),
      held('images'),
      held('images-unused'),
      setting('imageMaximumGCAge'),
      setting('imageGCHighThresholdPercent'),
    ],
    owner: 'platform',
    steps: ['read-more', 'free', 'set'],
    words: [/inode/i],
    notCauses: ['writable-layers', 'pod-volumes'],
  },
  {
    name: 'image-that-no-registry-has',
    thread: 'https://github.com/wso2/labs-agentic-engineer/pull/472',
    found:
      'Images are imported on the node, and no registry has them. Image GC at 85 % deletes one, and its next pod waits with ErrImageNeverPull until somebody imports it again. A pin ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 60, usedGib: 47.5 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'agents', owner: 'Deployment agent-manager' },
          waiting: 'ErrImageNeverPull',
          message: 'Container image "agent-manager:dev" is not present with pull policy of Never',
        },
      ],
      held: { images: images(14, 1, 3) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['ask-owner', 'set', 'read-more', 'free'],
    words: [/agent-manager/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/prune-images|larger volume|drain/],
  },
  {
    name: 'both-copies-of-a-failed-rollout',
    thread: 'https://github.com/akash-network/support/issues/138',
    found:
      'Threshold quantity 15763389861, available 12139364Ki: a failed deployment leaves its old pod while the new one downloads the same models into its own layer.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 146.81, usedGib: 135.2 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'lease', owner: 'Deployment comfy2', pods: 2, layerGib: 41 },
      ],
      held: { images: images(5, 3, 8.5) },
    }),
    cause: [held('writable-layers')],
    owner: 'lease/Deployment comfy2',
    steps: ['ask-owner'],
    words: [/comfy2/, /82(?:\.0)? GiB|41(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'request-above-allocatable',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/4017',
    found:
      'A pod requests 48Gi of ephemeral storage; nodes with 50Gi offer 43.98 GiB and come and go. The disk is 12 % full: nothing fills it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 50, usedGib: 5.7 }, ageDays: 0.05 },
      workloads: users(2),
      held: { images: images(2, 0.4, 1.1) },
    }),
    ...nearMiss,
    never: [/larger volume|prune-images|drain/],
  },
  {
    name: 'small-nodefs-beside-a-large-imagefs',
    thread: 'https://github.com/kubernetes/kubernetes/issues/60558',
    found:
      'imagefs has 500 GB and is almost empty, nodefs has 50 GB. Temporary data of pods fill nodefs, and they are evicted by DiskPressure.',
    world: nodeOf({
      ...{ mode: 'proxy', diskPressure: true },
      disk: { gib: 50, usedGib: 46.3 },
      imageDisk: { gib: 500, usedGib: 22, device: '/dev/nvme1n1', mount: '/var/lib/containerd' },
      workloads: [
        ...users(4),
        { namespace: 'etl', owner: 'StatefulSet loader', pods: 2, emptyDirGib: 19.5 },
      ],
      held: { images: images(6, 1, 3) },
    }),
    cause: [held('pod-volumes')],
    owner: 'etl/StatefulSet loader',
    steps: ['ask-owner'],
    words: [/loader/, /39(?:\.0)? GiB|19\.5 GiB/],
    notCauses: ['images-in-use', 'images-unused', 'images'],
    never: [imageGc],
  },
  {
    name: 'tag-that-its-registry-lost',
    thread: 'https://github.com/enix/kube-image-keeper/issues/540',
    found:
      'After an upgrade a pod waits in ImagePullBackOff: its node no longer has the image, the cache deleted its copy, and the registry has no such tag.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 39 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'default', owner: 'Deployment ord-handling' },
          waiting: 'ImagePullBackOff',
          message:
            'Back-off pulling image "registry.example.com/ord-handling:v1.7.18": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/ord-handling:v1.7.18": failed to resolve reference "registry.example.com/ord-handling:v1.7.18": registry.example.com/ord-handling:v1.7.18: not found',
        },
      ],
      held: { images: images(6, 1, 3) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'default/Deployment ord-handling',
    steps: ['ask-owner', 'set', 'read-more'],
    words: [/ord-handling/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/prune-images|larger volume|drain/],
  },
  {
    name: 'full-claims-on-an-empty-node',
    thread: 'https://github.com/elastic/cloud-on-k8s/issues/6334',
    found:
      'The claim of 80 GB of a search node is full; the disk of the node is 14 % full. The dashboard showed the wrong one.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 217, usedGib: 29 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'cdn-bigdata', owner: 'StatefulSet sophie-int-es-data-hot' },
          ...{ claim: 'elasticsearch-data', claimGib: { size: 78, used: 76.5 } },
        },
      ],
      held: { images: images(5, 1, 3) },
    }),
    ...nearMiss,
    never: [/larger volume|prune-images|drain/],
  },
  {
    name: 'cache-of-244-mib',
    thread: 'https://github.com/velero-io/velero/issues/8443',
    found:
      'The cache of a node-agent grows to 244 MB on one node and 11 MB on others. It has limits of its own, and no disk is near full.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 33 } },
      workloads: [
        ...users(5),
        { namespace: 'velero-ns', owner: 'DaemonSet node-agent', layerGib: 0.238 },
      ],
      held: { images: images(5, 1.2, 3.5) },
    }),
    ...nearMiss,
    notCauses: ['writable-layers'],
    never: [/node-agent/],
  },
  {
    name: 'processes-without-a-threshold',
    thread: 'https://github.com/kubernetes/kubernetes/issues/98206',
    found:
      'pid_max is 32768, podPidsLimit is -1, and no threshold watches pid.available: nothing is evicted before fork fails.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 31 } },
      pids: { max: 32_768, used: 31_900 },
      configuration: { podPidsLimit: -1 },
      workloads: [
        ...users(4),
        { namespace: 'compute', owner: 'Deployment solver', processes: 28_400 },
      ],
      held: { images: images(4, 1, 3) },
    }),
    cause: [setting('evictionHard'), setting('podPidsLimit')],
    owner: 'platform',
    steps: ['set'],
    words: [/process/i, /solver/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [/prune-images|larger volume/],
  },
  {
    name: 'folder-of-an-evicted-pod',
    thread: 'https://github.com/kubernetes/kubernetes/issues/35406',
    found:
      'The emptyDir of an evicted pod is not removed: 10 GiB stay below the folder of the kubelet, and the node keeps DiskPressure.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.5 }, diskPressure: true },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'default', owner: 'Job hello-pod' },
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
      ],
      held: { images: images(2, 0.5, 1.4), orphans: { gib: 10, folders: 1 } },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    notCauses: ['images', 'images-in-use', 'images-unused', 'not-images'],
    never: [imageGc],
  },
  {
    name: 'debug-logs-after-an-incident',
    thread: 'https://www.michal-drozd.com/en/blog/kubernetes-ephemeral-storage-eviction-log-storm/',
    found:
      'Debug logging of one service stays on after an incident: tens of GB below /var/log/pods on a nodefs of its own; unrelated pods are evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', diskPressure: true },
      disk: { gib: 60, usedGib: 55.2 },
      imageDisk: { gib: 100, usedGib: 28, device: '/dev/nvme1n1', mount: '/var/lib/containerd' },
      configuration: { containerLogMaxSize: '5Gi', containerLogMaxFiles: 10 },
      workloads: [
        ...users(5),
        { namespace: 'shop', owner: 'Deployment api', pods: 2, logsGib: 21.5 },
      ],
      held: { images: images(8, 1, 3) },
    }),
    cause: [held('container-logs'), setting('containerLogMaxSize')],
    owner: 'shop/Deployment api',
    steps: ['free', 'set', 'ask-owner'],
    words: [/shop\/.*api|api/, /containerLogMaxSize/],
    notCauses: ['images-in-use', 'images-unused', 'images'],
    never: [imageGc],
  },
  {
    name: 'heap-dumps-of-ten-pods',
    thread: 'https://groupmind.one/leaf/343e7eb9-0132-4769-9bd7-db15268ddfe9',
    found:
      'Ten pods of one Java service write a heap dump of 2 GB at each out-of-memory error into an emptyDir: 60 GB, and the kubelet evicts everything.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 91.5 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'orders', owner: 'Deployment orders', pods: 10, emptyDirGib: 6 },
      ],
      held: { images: images(6, 1, 3) },
    }),
    cause: [held('pod-volumes')],
    owner: 'orders/Deployment orders',
    steps: ['ask-owner'],
    words: [/orders/, /60(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'gc-that-finds-nothing-and-nobody-knows-why',
    thread: 'https://github.com/Azure/AKS/issues/2721',
    found:
      'Wanted to free 16251283046 bytes, but freed 0; "invalid capacity 0 on image filesystem". The thread never finds what holds the disk: the node has to be read.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 123.9, usedGib: 114.3 }, diskPressure: true },
      workloads: users(12),
      held: { images: images(12, 1, 2.8), folders: { '/var/data': 62 } },
      events: [
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 40 },
          message:
            'failed to garbage collect required amount of images. Wanted to free 16251283046 bytes, but freed 0 bytes',
          ...{ firstMinutesAgo: 700, lastMinutesAgo: 4 },
        },
        {
          ...{ type: 'Warning', reason: 'InvalidDiskCapacity', count: 1 },
          message: 'invalid capacity 0 on image filesystem',
          ...{ firstMinutesAgo: 900, lastMinutesAgo: 900 },
        },
      ],
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    notCauses: ['images', 'images-unused', 'images-in-use'],
    never: [/prune-images|imageGCHighThresholdPercent/, /invalid capacity/],
  },
  {
    name: 'scratch-space-in-the-tmp-of-the-host',
    thread: 'https://github.com/radanalyticsio/spark-operator/issues/295',
    found:
      'Executors mount /tmp of the host and spill there. The message of their eviction has 107260Ki for the container: the kubelet does not see the host folder.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 91.8 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'default', owner: 'Pod spark-driver', pods: 4, hostPath: '/tmp' },
      ],
      held: { images: images(5, 1, 3), temporary: 70 },
    }),
    cause: [{ kind: 'unread' }, held('unread'), held('host-path', '/tmp')],
    owner: 'platform',
    steps: ['read-more', 'ask-owner'],
    words: [/\/tmp/],
    notCauses: ['images', 'images-in-use', 'writable-layers', 'not-images'],
    never: [imageGc],
  },
  {
    name: 'thresholds-of-gc-behind-eviction',
    thread: 'https://github.com/microsoft/pai/pull/241',
    found:
      'Image GC is set to 98 and 95 % so that large images stay; the node evicts at 10 % of nodefs, so no image is ever freed before pods go.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 200, usedGib: 176 } },
      configuration: {
        ...{ imageGCHighThresholdPercent: 98, imageGCLowThresholdPercent: 95 },
        ...evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '10%' }),
      },
      workloads: users(4),
      held: { images: images(16, 4, 10.2) },
    }),
    cause: [setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['set'],
    words: [/imageGCHighThresholdPercent/, /98/],
  },
  {
    name: 'memory-kept-after-a-backup',
    thread: 'https://github.com/velero-io/velero/issues/8138',
    found:
      'The node-agent keeps more than 6 GiB of memory after each backup, without a limit. Pods are evicted for memory; the disk has nothing to do with it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 27 }, memoryPressure: true },
      availableMemoryGib: 0.08,
      workloads: [
        ...users(6, { memoryGib: 1.5 }),
        { namespace: 'velero', owner: 'DaemonSet node-agent', memoryGib: 13.4 },
      ],
      held: { images: images(6, 1, 3) },
    }),
    cause: [setting('resources.requests.memory')],
    owner: 'velero/DaemonSet node-agent',
    steps: ['ask-owner', 'set'],
    words: [/node-agent/, /memory/, /drain\s+the\s+node/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [/larger volume|volumeSize|prune-images|containerLogMax/],
  },
  {
    name: 'datasets-of-deleted-images',
    thread: 'https://github.com/containerd/zfs/issues/30',
    found:
      'The ZFS snapshotter leaves datasets of images that were deleted long ago, 86 GiB in all. Nothing mounts them: the API shows only that the space left of both filesystems shrinks.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 32.5, usedGib: 30 } },
      imageDisk: { gib: 2.625, usedGib: 0.125 },
      configuration: evictionOf({ 'nodefs.available': '1Gi', 'imagefs.available': '1Gi' }),
      workloads: users(1),
      held: { images: images(1, 0.02, 0.1) },
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/parts\s+of\s+one\s+pool/, /ZFS\s+datasets/, /zfs list -o space/],
    never: [imageGc, /folders/],
  },
]
