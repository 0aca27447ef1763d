/** Threads of all subjects. Cause, owner and step were written before the first run. */
import type { Incident } from '../incident.ts'
import {
  byNodeClass,
  held,
  imageGc,
  images,
  nearMiss,
  nodeOf,
  setting,
  users,
} from '../short-forms.ts'

export const blindIncidents: Incident[] = [
  {
    name: 'compiler-cache-above-the-disk',
    thread: 'https://github.com/coproduct-opensource/nucleus/pull/2669',
    found:
      'A cache of 30 GB for a compiler on a node of 96 GB, beside 28 GB of containerd and the checkouts of two builds: runner pods are evicted. A cap of 12 GB ended it.',
    world: nodeOf({
      disk: { gib: 96, usedGib: 88.5 },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'arc-runners', owner: 'StatefulSet runner', pods: 2, layerGib: 8 },
          hostPath: '/var/cache-builds/sccache',
        },
      ],
      held: { images: images(4, 2.4, 7), folders: { '/var/cache-builds/sccache': 30 } },
    }),
    cause: [held('host-path', '/var/cache-builds')],
    owner: 'arc-runners/StatefulSet runner',
    steps: ['ask-owner'],
    words: [/sccache/, /30(?:\.0)? GiB/],
    never: [/crictl rmi/],
  },
  {
    name: 'inodes-of-the-ssm-agent',
    thread: 'https://github.com/aws/amazon-ssm-agent/issues/72',
    found:
      'The SSM agent keeps the state of each finished command below /var/lib/amazon/ssm: all of 4 million inodes are used, and the instance locks up.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 31, inodes: { all: 4_000_000, free: 8_000 } },
      diskPressure: true,
      workloads: users(5),
      held: {
        images: images(5, 0.6, 1.8),
        listed: {
          ...{ holder: 'system', path: '/var/lib/amazon' },
          ...{ gib: 14, inodes: 3_600_000 },
        },
      },
    }),
    cause: [held('system', '/var/lib/amazon')],
    owner: 'platform',
    steps: ['free', 'read-more', 'replace'],
    words: [/inode/i, /\/var\/lib\/amazon/],
    never: [imageGc],
  },
  {
    name: 'inodes-of-many-deploys',
    thread: 'https://github.com/kubernetes/kubernetes/issues/32526',
    found:
      'Nodes on AWS run out of inodes again and again, simply by many deploys: each leaves an image.',
    world: nodeOf({
      disk: { gib: 120, usedGib: 66, inodes: { all: 1_310_720, free: 30_000 } },
      diskPressure: true,
      workloads: users(6),
      held: { images: images(60, 0.3, 0.95) },
    }),
    cause: [held('images-unused'), setting('imageMaximumGCAge')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/inode/i, /unused/, /imageMaximumGCAge 168h/],
    // Image GC begins by bytes.
    never: [/ephemeral-storage/, /imageGCHighThresholdPercent 80/],
  },
  {
    name: 'buffer-of-a-log-shipper',
    thread: 'https://github.com/ministryofjustice/cloud-platform/issues/7576',
    found:
      'EKS: Fluent Bit keeps about 120 GB of chunks below /var/log/flb-storage, without a limit; pods are evicted. storage.total_limit_size ends it.',
    world: nodeOf({
      disk: { gib: 200, usedGib: 184 },
      diskPressure: true,
      workloads: [
        ...users(6),
        { namespace: 'logging', owner: 'DaemonSet fluent-bit', hostPath: '/var/log' },
      ],
      held: { images: images(10, 1.2, 3.6), hostLogs: 121 },
    }),
    cause: [held('host-logs', '/var/log'), held('host-path', '/var/log')],
    owner: 'logging/DaemonSet fluent-bit',
    steps: ['free', 'ask-owner'],
    words: [/\/var\/log/, /fluent-bit/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'buffer-in-a-host-path',
    thread: 'https://github.com/rancher/rancher/issues/17324',
    found:
      'The buffer of fluentd below /var/lib/rancher/fluentd/log takes 50 GB of the node within days, and nothing deletes its files.',
    world: nodeOf({
      mode: 'ssm',
      disk: { gib: 80, usedGib: 73.5 },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'cattle-logging', owner: 'DaemonSet rancher-logging-fluentd' },
          hostPath: '/var/lib/rancher/fluentd/log',
        },
      ],
      held: { images: images(5, 0.9, 2.6), folders: { '/var/lib/rancher': 50 } },
    }),
    cause: [held('host-path', '/var/lib/rancher'), held('unknown-folder', '/var/lib/rancher')],
    owner: 'cattle-logging/DaemonSet rancher-logging-fluentd',
    steps: ['ask-owner', 'free'],
    words: [/\/var\/lib\/rancher/, /50(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'spill-of-executors',
    thread: 'https://github.com/stackabletech/spark-k8s-operator/issues/644',
    found:
      'Executors of one large Spark job spill into their emptyDir without end and fill the node; other pods suffer. A volume for spark-local-dir or a limit ends it.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 200, usedGib: 186 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'trino', owner: 'StatefulSet trino-worker', emptyDirGib: 6 },
        { namespace: 'spark', owner: 'Pod big-join-driver', pods: 3, emptyDirGib: 47 },
      ],
      held: { images: images(5, 1, 3) },
    }),
    cause: [held('pod-volumes')],
    owner: 'spark/Pod big-join-driver',
    steps: ['ask-owner'],
    words: [/big-join-driver/, /sizeLimit|ephemeral-storage/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc, /trino-worker.{0,80}sizeLimit/],
  },
  {
    name: 'shuffle-on-the-root-disk',
    thread: 'https://github.com/apache-spark-on-k8s/spark/issues/260',
    found:
      'TeraSort of 250 GB: executors write their shuffle files into the container on a root disk of 20 GB, and executors and data nodes are evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.6 }, diskPressure: true },
      workloads: [
        ...users(1),
        { namespace: 'default', owner: 'StatefulSet hdfs-datanode', logsGib: 0.3 },
        { namespace: 'default', owner: 'Pod terasort-driver', pods: 2, layerGib: 5.2 },
      ],
      held: { images: images(2, 0.6, 1.7) },
    }),
    cause: [held('writable-layers')],
    owner: 'default/Pod terasort-driver',
    steps: ['ask-owner', 'resize'],
    words: [/terasort-driver/, /ephemeral-storage|volume/],
    never: [imageGc],
  },
  {
    name: 'victims-without-requests',
    thread: 'https://github.com/spiceai/spiceai/issues/11433',
    found:
      'Executors with a request of 0 for ephemeral-storage and a few hundred KiB of use go first, while other pods fill the disk of the node.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 120, usedGib: 109.5 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'spice', owner: 'StatefulSet spice-executor', pods: 2, layerGib: 0.0004 },
        { namespace: 'etl', owner: 'Job nightly-load', pods: 2, emptyDirGib: 41 },
      ],
      held: { images: images(5, 0.8, 2.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'etl/Job nightly-load',
    steps: ['ask-owner'],
    words: [/nightly-load/, /82(?:\.0)? GiB|41(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'memory-of-a-pod-without-limit',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/1145',
    found:
      'A pod without a memory limit takes all memory of an m5.large; the node becomes NotReady for long, and no pod is killed. More reserved memory and an earlier threshold help.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 80, usedGib: 21 },
      availableMemoryGib: 0.11,
      workloads: [
        ...users(3),
        { namespace: 'default', owner: 'Deployment stress-ng', memoryGib: 27 },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [setting('evictionHard'), setting('systemReserved'), setting('kubeReserved')],
    owner: 'platform',
    steps: ['set'],
    words: [/memory/, /stress-ng/],
    notCauses: ['images-unused', 'images-in-use'],
    never: [imageGc],
  },
  {
    name: 'soft-threshold-behind-the-hard-one',
    thread: 'https://github.com/kubernetes-sigs/karpenter/issues/2852',
    found:
      'evictionHard memory.available is 5 %, evictionSoft 500Mi: on a large node the hard one is met first, and the soft one never.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'default' },
        disk: { gib: 100, usedGib: 30 },
        configuration: {
          evictionHard: {
            ...{ 'memory.available': '5%', 'nodefs.available': '10%' },
            'nodefs.inodesFree': '10%',
          },
          evictionSoft: {
            ...{ 'memory.available': '500Mi', 'nodefs.available': '15%' },
            'nodefs.inodesFree': '15%',
          },
          evictionSoftGracePeriod: {
            ...{ 'memory.available': '1m0s', 'nodefs.available': '1m30s' },
            'nodefs.inodesFree': '2m0s',
          },
        },
        workloads: users(4),
        held: { images: images(4, 0.8, 2.4) },
      },
      byNodeClass('default', [{ deviceName: '/dev/xvda', ebs: { volumeSize: '100Gi' } }]),
    ),
    cause: [setting('evictionSoft')],
    owner: 'platform',
    steps: ['set'],
    words: [/evictionSoft\.memory\.available/],
    never: [imageGc],
  },
  {
    name: 'every-threshold-off',
    thread: 'https://github.com/k3s-io/k3s/issues/7578',
    found:
      'evictionHard has 0 % for nodefs, its inodes and imagefs, and imageGCHighThresholdPercent is 100: nothing acts before the disk is full.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 97.5 },
      configuration: {
        imageGCHighThresholdPercent: 100,
        ...{ containerLogMaxSize: '100Mi', containerLogMaxFiles: 5 },
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'nodefs.available': '0%' },
          ...{ 'nodefs.inodesFree': '0%', 'imagefs.available': '0%' },
        },
      },
      workloads: users(4),
      held: { images: images(33, 0.9, 2.7) },
    }),
    cause: [setting('imageGCHighThresholdPercent'), setting('evictionHard'), held('images-unused')],
    owner: 'platform',
    steps: ['set', 'free'],
    words: [/imageGCHighThresholdPercent/, /nodefs\.available/],
  },
  {
    name: 'syslog-of-an-image-streamer',
    thread: 'https://github.com/Azure/AKS/issues/4194',
    found:
      'A daemon that streams images writes the same warning without end: /var/log/syslog and /var/log/messages have 62 GB each, and pods are evicted.',
    world: nodeOf({
      mode: 'ssm',
      disk: { gib: 150, usedGib: 139 },
      diskPressure: true,
      workloads: users(5),
      held: { images: images(5, 0.8, 2.4), hostLogs: 115.4 },
    }),
    cause: [held('host-logs', '/var/log')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/\/var\/log/, /115\.4 GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'log-file-inside-a-container',
    thread: 'https://github.com/cruise-control-for-kafka/cruise-control/issues/1854',
    found:
      'EKS: one container writes its log file of exceptions into its own layer and fills 20 GB within seven minutes; it is evicted, and begins again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
      workloads: [
        ...users(2),
        { namespace: 'kafka', owner: 'Deployment cruise-control', layerGib: 11.6 },
      ],
      held: { images: images(2, 0.5, 1.4) },
    }),
    cause: [held('writable-layers')],
    owner: 'kafka/Deployment cruise-control',
    steps: ['ask-owner'],
    words: [/cruise-control/, /11\.6 GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'own-limit-of-a-metrics-server',
    thread: 'https://github.com/nasa/harmony/pull/142',
    found:
      'Prometheus is evicted by its own limit of 500 MB of ephemeral storage when it adds a segment to its write-ahead log. The disk of the node has room.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 80, usedGib: 31 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'harmony', owner: 'Deployment prometheus' },
          ...{ layerGib: 0.42, limits: { 'ephemeral-storage': '500Mi' } },
        },
        {
          ...{ namespace: 'harmony', owner: 'Deployment prometheus', pods: 2 },
          limits: { 'ephemeral-storage': '500Mi' },
          evicted:
            'Pod ephemeral local storage usage exceeds the total limit of containers 500Mi. ',
        },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [
      held('writable-layers'),
      setting('resources.limits.ephemeral-storage'),
      setting('ephemeral-storage'),
    ],
    owner: 'harmony/Deployment prometheus',
    steps: ['ask-owner', 'set'],
    words: [/prometheus/, /500(?:\.0)? ?Mi/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/prune-images|drain|larger volume/],
  },
  {
    name: 'array-that-karpenter-does-not-know',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/7543',
    found:
      'User data makes one array of the NVMe disks, and the node class lacks instanceStorePolicy: RAID0. The disks of nodes are fine; pods with large requests find no node.',
    world: nodeOf(
      {
        nodeClass: 'dense',
        disk: { gib: 2300, usedGib: 410, device: '/dev/md127', mount: '/mnt/k8s-disks/0' },
        volumes: [{ device: '/dev/xvda', gib: 100 }],
        devices: [
          { name: '/dev/nvme0n1', gib: 100, mounted: true },
          { name: '/dev/nvme1n1', gib: 2328, mounted: true },
        ],
        workloads: users(6),
        held: { images: images(12, 1, 3) },
      },
      byNodeClass('dense', [{ deviceName: '/dev/xvda', ebs: { volumeSize: '100Gi' } }]),
    ),
    ...nearMiss,
    never: [/volumeSize|drain/],
  },
  {
    name: 'inodes-of-a-hardened-ami',
    thread: 'https://github.com/aws-samples/amazon-eks-custom-amis/issues/73',
    found:
      'A hardened AMI has a partition of its own for /var/lib/containerd with few inodes: they run out while most of its bytes are free, and pods fail with "no space left on device".',
    world: nodeOf({
      mode: 'ssm',
      disk: { gib: 20, usedGib: 7 },
      imageDisk: {
        ...{ gib: 50, usedGib: 22, inodes: { all: 460_000, free: 1_200 } },
        ...{ device: '/dev/mapper/data-containerd', mount: '/var/lib/containerd' },
      },
      configuration: {
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'nodefs.available': '10%' },
          'nodefs.inodesFree': '5%',
        },
      },
      workloads: users(5),
      held: { images: images(8, 0.9, 2.7) },
    }),
    cause: [
      setting('evictionHard.imagefs.inodesFree'),
      held('images-in-use'),
      held('images-unused'),
    ],
    owner: 'platform',
    steps: ['set', 'free', 'resize'],
    words: [/inode/i, /imagefs/],
    notCauses: ['evictionHard.nodefs.available', 'evictionHard.imagefs.available'],
  },
  {
    name: 'root-volume-of-20-gb',
    thread:
      'https://www.vipmind.me/infra/kube/make-sure-to-have-enough-root-disk-space-for-ec2-instnace-inside-eks-cluster.html',
    found:
      'EKS: pods are evicted by disk pressure. Logs and downloads were suspected; the images are too large for a root disk of 20 GB, and 200 GB ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.5 }, diskPressure: true },
      workloads: users(3, { logsGib: 0.2 }),
      held: { images: images(3, 1.8, 4.6) },
    }),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger|GiB volume|resize/i],
    never: [/prune-images|containerLogMaxSize/],
  },
  {
    name: 'image-of-a-gpu-and-its-layers',
    thread: 'https://github.com/zonca/jupyterhub-deploy-kubernetes-jetstream/issues/76',
    found:
      'A GPU node of 58 GB is 98 % full: 27 GB of snapshots and 17 GB of packed layers of images of 12 GB. The node pulls, fails, deletes and pulls again; a volume of 150 GB for containerd ended it.',
    world: nodeOf({
      disk: { gib: 58, usedGib: 56.6 },
      diskPressure: true,
      containerd: { discardUnpackedLayers: false },
      workloads: users(2),
      held: { images: images(2, 6.2, 13.5), content: 17 },
    }),
    cause: [held('images-in-use'), held('image-content'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set'],
    words: [/larger|GiB volume|discard_unpacked_layers/i],
    never: [/prune-images/],
  },
  {
    name: 'eviction-loop-of-a-server',
    thread: 'https://github.com/sematic-ai/sematic/issues/853',
    found:
      'EKS: jobs exhaust the disk of a node group; the server without requests is evicted every few minutes, and starts again on the same nodes.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 73.6 },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'sematic', owner: 'Deployment sematic-server-ee', pods: 6 },
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
        { namespace: 'sematic', owner: 'Job sematic-func', pods: 3, layerGib: 17 },
      ],
      held: { images: images(4, 0.9, 2.6) },
    }),
    cause: [held('writable-layers')],
    owner: 'sematic/Job sematic-func',
    steps: ['ask-owner'],
    words: [/sematic-func/, /51(?:\.0)? GiB|17(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'heap-dump-in-a-volume',
    thread: 'https://github.com/pravega/pravega-operator/issues/282',
    found:
      'A container that runs out of memory writes a heap dump of more than 17 GB into its emptyDir, and the pod is evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 40, usedGib: 36.8 }, diskPressure: true },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'pravega', owner: 'StatefulSet segmentstore' },
          ...{ emptyDirGib: 17.4, memoryGib: 9 },
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [held('pod-volumes')],
    owner: 'pravega/StatefulSet segmentstore',
    steps: ['ask-owner'],
    words: [/segmentstore/, /17\.4 GiB/],
    never: [imageGc],
  },
  {
    name: 'packed-layers-of-cancelled-pulls',
    thread: 'https://github.com/containerd/containerd/pull/4667',
    found:
      'Pulls of huge images are cancelled and begin again. A lease of 24 hours keeps what each has downloaded, so image GC frees nothing of it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92.4 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(5, 1, 3), content: 63 },
    }),
    cause: [held('image-content')],
    owner: 'platform',
    steps: ['replace', 'free', 'read-more'],
    words: [/63(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'images-unused', 'imageGCHighThresholdPercent'],
    never: [/discard_unpacked_layers/, imageGc],
  },
  {
    name: 'volume-grown-and-not-its-filesystem',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/1946',
    found:
      'The volume of a Bottlerocket node was enlarged under disk pressure; the partition keeps its size until the node reboots.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
        disk: { gib: 19.94, usedGib: 18.3 },
        diskPressure: true,
        volumes: [
          { device: '/dev/xvda', gib: 2 },
          { device: '/dev/xvdb', gib: 100 },
        ],
        workloads: users(6),
        held: { images: images(7, 0.8, 2.2) },
      },
      { nodegroups: [{ nodegroupName: 'workers', amiType: 'BOTTLEROCKET_x86_64', diskSize: 20 }] },
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'replace'],
    words: [/100(?:\.0)? GiB/, /reboot/i],
    never: [/prune-images/],
  },
  {
    name: 'scratch-folder-of-backups',
    thread: 'https://github.com/velero-io/velero/issues/2087',
    found:
      'Scheduled backups keep a cache in the emptyDir /scratch: 13 GB within two days for a database of 4 GB, and the pod is evicted. A volume of its own ended it.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 27.6 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'velero', owner: 'Deployment velero', emptyDirGib: 13 },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'velero/Deployment velero',
    steps: ['ask-owner'],
    words: [/velero/, /13(?:\.0)? GiB/, /sizeLimit|volume of its own/],
    never: [imageGc],
  },
  {
    name: 'cache-of-restores',
    thread: 'https://github.com/velero-io/velero/issues/7761',
    found:
      'The node agent restores several volumes at once and caches 5 GB for each in its container; the node of 20 GB evicts it, and the restores are cancelled. A larger disk ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.7 }, diskPressure: true },
      workloads: [
        ...users(1),
        { namespace: 'velero', owner: 'DaemonSet node-agent', layerGib: 11.8 },
      ],
      held: { images: images(2, 0.6, 1.7) },
    }),
    cause: [held('writable-layers')],
    owner: 'velero/DaemonSet node-agent',
    steps: ['ask-owner', 'resize'],
    words: [/node-agent/, /11\.8 GiB/],
    never: [imageGc],
  },
  {
    name: 'weights-beside-their-volume',
    thread: 'https://github.com/GoogleCloudPlatform/kubernetes-engine-samples/issues/1581',
    found:
      'Threshold 10120387530, available 9166736Ki: the container has 57900024Ki of weights in its own layer, not in the volume that was mounted for them.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 94.25, usedGib: 85.5 },
      diskPressure: true,
      workloads: [
        ...users(2),
        { ...{ namespace: 'default', owner: 'Deployment llm', layerGib: 55.2 }, claim: 'llm-data' },
      ],
      held: { images: images(3, 3.4, 8.6) },
    }),
    cause: [held('writable-layers')],
    owner: 'default/Deployment llm',
    steps: ['ask-owner'],
    words: [/llm/, /55\.2 GiB/, /volume/],
    never: [imageGc],
  },
  {
    name: 'weights-that-no-pod-mounts',
    thread: 'https://github.com/vllm-project/perf-eval/pull/35',
    found:
      'A hostPath with DirectoryOrCreate makes its folder on the root disk where nothing is mounted. Each benchmark leaves hundreds of GB of weights there; its pods are long gone.',
    world: nodeOf({
      mode: 'ssm',
      disk: { gib: 890, usedGib: 842 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(6, 6, 16), folders: { '/mnt/shared': 690 } },
    }),
    cause: [held('unknown-folder', '/mnt/shared')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/mnt\/shared/, /690(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'cache-of-a-model-server',
    thread: 'https://github.com/LMCache/LMCache/issues/1399',
    found:
      'Threshold 638834513199, available 434266920Ki: eight workers cache 640 GB each on the local disk, and the limit of 5632Gi lies above what the node evicts at.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 5949, usedGib: 5535 },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'serving', owner: 'Deployment vllm-lmcache', layerGib: 5330 },
          limits: { 'ephemeral-storage': '5632Gi' },
        },
      ],
      held: { images: images(4, 9, 24) },
    }),
    cause: [held('writable-layers')],
    owner: 'serving/Deployment vllm-lmcache',
    steps: ['ask-owner'],
    words: [/vllm-lmcache/, /5\.2 TiB|5,?330(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'victim-of-a-full-root-disk',
    thread: 'https://github.com/milvus-io/milvus/issues/49712',
    found:
      'Threshold 4267073189, available 2564520Ki: a pod of 39 MB without a request is evicted. Its data lies on another disk; something outside of Kubernetes fills the root disk.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 39.74, usedGib: 37.3 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'milvus', owner: 'Deployment streamingnode', layerGib: 0.04 },
      ],
      held: { images: images(4, 0.8, 2.3), folders: { '/root/datasets': 21 } },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/neither images nor pods|not measured|unread|does not show/i],
    notCauses: ['images-unused', 'images-in-use', 'imageGCHighThresholdPercent'],
    never: [imageGc, /streamingnode.{0,80}ephemeral-storage/],
  },
  {
    name: 'own-logs-of-a-log-agent',
    thread: 'https://devseatit.com/incidents/disk-space-exhaustion-node-failure',
    found:
      'The log agent of three of eight nodes does not rotate its own files: 47 of 100 GB. 47 pods are evicted; after cleaning, 45 % of a disk are used.',
    world: {
      nodes: [
        ...[94, 92.5, 95].map(usedGib => ({
          disk: { gib: 100, usedGib },
          diskPressure: true,
          workloads: [
            ...users(5),
            { namespace: 'logging', owner: 'DaemonSet fluentd', hostPath: '/var/log' },
          ],
          held: { images: images(12, 0.9, 2.8), hostLogs: 47 },
        })),
        ...[41, 44].map(usedGib => ({
          disk: { gib: 100, usedGib },
          workloads: users(5),
          held: { images: images(10, 0.9, 2.8) },
        })),
      ],
    },
    cause: [held('host-logs', '/var/log'), held('host-path', '/var/log')],
    owner: 'logging/DaemonSet fluentd',
    steps: ['free', 'ask-owner'],
    words: [/\/var\/log/, /3 nodes/, /fluentd/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'memory-of-a-metrics-server',
    thread: 'https://github.com/k3s-io/k3s/issues/11312',
    found:
      'Prometheus without a memory limit takes the memory of a node that reserves 600 MiB and evicts below 100Mi. The node becomes unreachable, and no pod is evicted.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 24 },
      availableMemoryGib: 0.13,
      configuration: {
        kubeReserved: { cpu: '50m', memory: '300Mi', 'ephemeral-storage': '1Gi' },
        systemReserved: { cpu: '250m', memory: '300Mi' },
      },
      workloads: [
        ...users(3),
        { namespace: 'monitoring', owner: 'StatefulSet prometheus', memoryGib: 26 },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [setting('evictionHard'), setting('systemReserved'), setting('kubeReserved')],
    owner: 'platform',
    steps: ['set'],
    words: [/memory/, /prometheus/],
    notCauses: ['images-unused', 'images-in-use'],
    never: [imageGc],
  },
  {
    name: 'defunct-processes-of-the-kubelet',
    thread: 'https://github.com/Azure/acs-engine/issues/521',
    found:
      '18,622 defunct children of the kubelet itself make a node unresponsive. No pod started them; a restart of the kubelet ended it.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 24 },
      pids: { max: 19_600, used: 19_350 },
      workloads: users(6),
      held: { images: images(6, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/process/i],
    never: [/app-\d/, imageGc],
  },
  {
    name: 'pods-of-a-job-that-never-ends',
    thread: 'https://github.com/jenkins-x/jx/issues/1108',
    found:
      'EKS: a Job whose container fails starts pods without end; their containers fill the volumes, and nodes are NotReady after ten hours.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 55.4 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'jx', owner: 'Job jenkins-x-gcpods', pods: 40, hasEnded: true },
      ],
      held: {
        images: images(5, 0.8, 2.3),
        dead: { gib: 34, containers: 40, owner: 'Job jenkins-x-gcpods' },
      },
    }),
    cause: [held('dead-containers')],
    owner: 'jx/Job jenkins-x-gcpods',
    steps: ['free', 'ask-owner'],
    words: [/jenkins-x-gcpods/, /34(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'partition-of-10-gb',
    thread: 'https://github.com/velero-io/velero/issues/7177',
    found:
      'Threshold 1072693263, available 916616Ki: a pod of 17 MB is evicted from a node whose partition has 10 GB. Its emptyDir was suspected; the partition is too small for the images.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 9.99, usedGib: 9.12 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'velero', owner: 'Deployment velero', emptyDirGib: 0.017 },
      ],
      held: { images: images(3, 0.8, 2.1) },
    }),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger|volumeSize/i],
    never: [/prune-images/, /velero.{0,80}sizeLimit/],
  },
  {
    name: 'instance-store-beside-17-gib',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/7594',
    found:
      'Nodes of i4i offer 17Gi of ephemeral-storage: without instanceStorePolicy their NVMe disks are not used, and only the root volume of 20 GB counts.',
    world: nodeOf(
      {
        nodeClass: 'default',
        disk: { gib: 20, usedGib: 11 },
        devices: [
          { name: '/dev/nvme0n1', gib: 20, mounted: true },
          { name: '/dev/nvme1n1', gib: 3492, mounted: false },
          { name: '/dev/nvme2n1', gib: 3492, mounted: false },
        ],
        workloads: users(3),
        held: { images: images(3, 0.8, 2.4) },
      },
      byNodeClass('default', []),
    ),
    cause: [{ kind: 'device', what: 'unused-disk' }],
    owner: 'platform',
    steps: ['set'],
    words: [/nvme1n1/, /RAID0/],
    never: [imageGc],
  },
  {
    name: 'reports-that-start-no-repair',
    thread: 'https://github.com/aws/eks-node-monitoring-agent/issues/90',
    found:
      'All reports of the node monitoring agent about storage are events; the condition stays True, so auto repair never starts.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 100, usedGib: 41 },
      conditions: [
        {
          ...{ type: 'StorageReady', status: 'True', reason: 'DiskIsReady' },
          message: 'Monitoring for the Disk system is active',
        },
      ],
      workloads: users(4),
      held: { images: images(6, 0.8, 2.4) },
      events: [
        {
          ...{ type: 'Warning', reason: 'StorageReady', count: 12 },
          message: 'IODelays: Process (containerd) has been delayed 14.2 seconds for I/O',
          ...{ firstMinutesAgo: 50, lastMinutesAgo: 4 },
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/IODelays/],
    never: [imageGc, /larger volume/],
  },
]
