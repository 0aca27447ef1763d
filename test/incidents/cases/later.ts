/** Threads of all subjects whose answers were first read after the cases were written. */
import type { Incident } from '../incident.ts'
import {
  byNodeClass,
  evictionOf,
  flaps,
  held,
  imageGc,
  images,
  nearMiss,
  nodeOf,
  setting,
  users,
} from '../short-forms.ts'

export const laterIncidents: Incident[] = [
  {
    name: 'core-files-in-a-container',
    thread: 'https://github.com/fluent/fluentd/issues/4416',
    found:
      'EKS: fluentd crashes and leaves 80 GB of /home/fluentd/core.* in its own container; the node has pressure for minutes, evicts it, and begins again.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 95 },
      diskPressure: true,
      workloads: [...users(4), { namespace: 'logging', owner: 'DaemonSet fluentd', layerGib: 80 }],
      held: { images: images(4, 0.4, 1.2) },
      events: flaps(5, 1440),
    }),
    cause: [held('writable-layers')],
    owner: 'logging/DaemonSet fluentd',
    steps: ['ask-owner', 'free'],
    words: [/fluentd/, /80(?:\.0)? GiB/, /ephemeral-storage/],
    never: [imageGc],
  },
  {
    name: 'log-shipper-keeps-deleted-files',
    thread: 'https://github.com/skalenetwork/skale-node/issues/614',
    found:
      'A disk of 210 GB is full; filebeat keeps deleted logs open. After its restart 52 GB are used.',
    world: nodeOf({
      disk: { gib: 210, usedGib: 208 },
      diskPressure: true,
      workloads: [...users(5), { namespace: 'elastic', owner: 'DaemonSet filebeat' }],
      held: {
        images: images(12, 1, 3),
        deletedOpen: { gib: 157, files: 640, owner: 'DaemonSet filebeat', process: 'filebeat' },
      },
    }),
    cause: [held('deleted-open-files')],
    owner: 'elastic/DaemonSet filebeat',
    steps: ['free'],
    words: [/filebeat/, /157(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'build-contexts-of-an-api',
    thread: 'https://github.com/kortix-ai/suna/pull/3449',
    found:
      'EKS, 50 GB: pods of one Deployment write 19.9, 12.1 and 4.9 GB of temporary files into their containers; 600 pods were evicted. The code cleans up now, and the chart has ephemeral-storage requests and limits.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 46.5 },
      diskPressure: true,
      workloads: [
        ...users(2),
        { namespace: 'prod', owner: 'Deployment kortix-api', pods: 2, layerGib: 16 },
      ],
      held: { images: images(4, 0.6, 1.8) },
    }),
    cause: [held('writable-layers')],
    owner: 'prod/Deployment kortix-api',
    steps: ['ask-owner'],
    words: [/kortix-api/, /ephemeral-storage/],
    never: [imageGc],
  },
  {
    name: 'small-files-of-a-local-volume',
    thread: 'https://github.com/curie-eng/curie/issues/2870',
    found:
      'All 13,107,200 inodes of the root filesystem are used, 32 GB are free, DiskPressure is False: one small file for each event in the local volume of the object store. Probes fail with "no space left on device".',
    world: nodeOf({
      disk: { gib: 200, usedGib: 168, inodes: { all: 13_107_200, free: 0 } },
      configuration: { evictionHard: { 'imagefs.available': '5%', 'nodefs.available': '5%' } },
      workloads: [
        ...users(6),
        { namespace: 'curie', owner: 'StatefulSet minio', claim: 'data-minio-0' },
      ],
      held: {
        images: images(10, 1, 3),
        localVolume: {
          path: '/var/lib/rancher/storage/pvc-3f2a_curie_data-minio-0',
          ...{ gib: 96, inodes: 11_900_000, owner: 'StatefulSet minio' },
        },
      },
    }),
    cause: [held('local-volumes')],
    owner: 'curie/StatefulSet minio',
    steps: ['ask-owner', 'free'],
    words: [/inode/i, /minio/],
    never: [imageGc],
  },
  {
    name: 'system-log-of-an-old-ami',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/477',
    found:
      '/var/log/messages grows until it has almost the whole disk, and the kubelet keeps failing to free space.',
    world: nodeOf({
      ...{ family: 'AL2', version: '1.32.7' },
      disk: { gib: 50, usedGib: 47.5 },
      diskPressure: true,
      workloads: users(3),
      held: { images: images(4, 0.5, 1.4), hostLogs: 36 },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 40 },
          message:
            'Failed to garbage collect required amount of images. Attempted to free 7516192768 bytes, but only found 0 bytes eligible to free.',
          ...{ firstMinutesAgo: 300, lastMinutesAgo: 4 },
        },
      ],
    }),
    cause: [held('host-logs')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/\/var\/log/, /36(?:\.0)? GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'images-deleted-by-age-again-and-again',
    thread: 'https://github.com/kubernetes/kubernetes/issues/132403',
    found:
      'With imageMaximumGCAge 168h the images of pods in CreateContainerConfigError are deleted and pulled again every five minutes.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 45 },
      configuration: { imageMaximumGCAge: '168h' },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'dev', owner: 'Deployment broken' },
          waiting: 'CreateContainerConfigError',
        },
      ],
      held: { images: images(8, 1, 3) },
      events: [
        {
          ...{ type: 'Normal', reason: 'Pulled', count: 288 },
          message:
            'Successfully pulled image "111122223333.dkr.ecr.us-east-1.amazonaws.com/broken:1" in 9.1s (9.1s including waiting). Image size: 73998917 bytes.',
          ...{ firstMinutesAgo: 1440, lastMinutesAgo: 3 },
        },
      ],
    }),
    cause: [setting('imageMaximumGCAge'), { kind: 'world' }],
    owner: 'platform',
    steps: ['set', 'ask-owner', 'read-more'],
    words: [/imageMaximumGCAge/],
    never: [/larger/],
  },
  {
    name: 'preloaded-images-deleted',
    thread: 'https://github.com/harvester/docs/pull/348',
    found:
      'An air-gapped cluster: image GC at 85 % deleted images that were loaded beforehand; pods show ErrImagePull, for no registry answers.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 79 },
      workloads: [
        ...users(10),
        { namespace: 'harvester', owner: 'Deployment upgrade', waiting: 'ErrImagePull' },
      ],
      held: { images: images(20, 1.2, 3.6) },
      events: [
        {
          ...{ type: 'Warning', reason: 'Failed', count: 60 },
          message:
            'Failed to pull image "111122223333.dkr.ecr.us-east-1.amazonaws.com/upgrade:1": failed to do request: Head "https://111122223333.dkr.ecr.us-east-1.amazonaws.com/v2/upgrade/manifests/1": dial tcp 10.20.30.40:443: i/o timeout',
          ...{ firstMinutesAgo: 180, lastMinutesAgo: 2 },
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'set'],
    words: [/pulls from\s+111122223333\.dkr\.ecr/, /pull/i],
    never: [/larger volume/],
  },
  {
    name: 'replicas-on-the-root-disk',
    thread: 'https://github.com/longhorn/longhorn/issues/1068',
    found:
      'Longhorn keeps its replicas in /var/lib/longhorn of the root disk up to 90 %; the kubelet evicts at 85 % of the image filesystem, so replicas move to the next node and fill that.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 70 },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'longhorn-system', owner: 'DaemonSet longhorn-manager' },
          hostPath: '/var/lib/longhorn/',
        },
      ],
      held: { images: images(8, 0.6, 1.8), folders: { '/var/lib/longhorn': 49 } },
    }),
    cause: [held('host-path', '/var/lib/longhorn')],
    owner: 'longhorn-system/DaemonSet longhorn-manager',
    steps: ['ask-owner'],
    words: [/\/var\/lib\/longhorn/, /49(?:\.0)? GiB/],
    never: [imageGc, /rm -rf/],
  },
  {
    name: 'replicas-of-a-manager-that-restarted',
    thread: 'https://github.com/longhorn/longhorn/issues/1068#near-miss',
    found: 'The manager restarted twenty minutes ago; its replicas are older, and a third is free.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 50 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'longhorn-system', owner: 'DaemonSet longhorn-manager' },
          ...{ hostPath: '/var/lib/longhorn/', ageMinutes: 20 },
        },
      ],
      held: { images: images(8, 0.3, 0.9), folders: { '/var/lib/longhorn': 36 } },
    }),
    ...nearMiss,
    never: [/wrote\s+36/],
  },
  {
    name: 'default-volume-of-karpenter',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/4149',
    found:
      'Karpenter gives a volume of 20 GB without blockDeviceMappings; four or five images of 4 to 5 GB fill it.',
    world: nodeOf(
      {
        nodeClass: 'default',
        disk: { gib: 20, usedGib: 18.6 },
        diskPressure: true,
        workloads: users(4),
        held: { images: images(4, 1.3, 3.7) },
      },
      byNodeClass('default', []),
    ),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/volumeSize\s+\d+(?:\.0)?\s+GiB/, /EC2NodeClass/],
    never: [/prune-images/],
  },
  {
    name: 'jobs-on-the-default-data-volume',
    thread: 'https://github.com/anthropics/claude-code/issues/17207',
    found:
      'Bottlerocket, an EC2NodeClass without blockDeviceMappings: 17 GB allocatable, threshold 3210844697. Dagster jobs request 1Gi of ephemeral storage, write more, and are evicted.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm6i.2xlarge' },
        nodeClass: 'default',
        disk: { gib: 19.94, usedGib: 17.1 },
        volumes: [
          { device: '/dev/xvda', gib: 4 },
          { device: '/dev/xvdb', gib: 20 },
        ],
        diskPressure: true,
        workloads: [
          ...users(2),
          {
            ...{ namespace: 'dagster', owner: 'Job dagster-run', pods: 4, layerGib: 2.4 },
            requests: { 'ephemeral-storage': '1Gi' },
          },
        ],
        held: { images: images(3, 0.7, 2) },
      },
      byNodeClass('default', [], { amiFamily: 'Bottlerocket' }),
    ),
    cause: [held('writable-layers')],
    owner: 'dagster/Job dagster-run',
    steps: ['ask-owner', 'resize'],
    words: [/dagster-run/, /ephemeral-storage/],
    never: [/prune-images/],
  },
  {
    name: 'containers-of-finished-jobs',
    thread: 'https://github.com/aws/amazon-vpc-cni-k8s/issues/2030',
    found:
      'Jobs with ttlSecondsAfterFinished 7200 keep their containers for two hours and fill the disk; the kubelet then deletes the pause image. 120 seconds ended it.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 74 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'dagster', owner: 'Job dagster-run', pods: 12, hasEnded: true },
      ],
      held: {
        images: images(6, 0.8, 2.4),
        dead: { gib: 51, containers: 12, owner: 'Job dagster-run' },
      },
    }),
    cause: [held('dead-containers')],
    owner: 'dagster/Job dagster-run',
    steps: ['free', 'ask-owner', 'set'],
    words: [/ttlSecondsAfterFinished/, /dagster-run/],
    never: [/imageGCHighThresholdPercent/],
  },
  {
    name: 'journal-beside-messages',
    thread: 'https://github.com/openshift/openshift-azure/issues/403',
    found:
      '/var has 22 GB and is 98 % full: 8.4 GB of journal and 5.8 GB of /var/log/messages. A limit of journald was set.',
    world: nodeOf({
      disk: { gib: 22, usedGib: 21.4 },
      diskPressure: true,
      workloads: users(2),
      held: { images: images(2, 0.5, 1.5), journal: 8.4, hostLogs: 5.8 },
    }),
    cause: [held('journal'), held('host-logs')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/SystemMaxUse|vacuum/, /8\.4 GiB/],
    never: [imageGc],
  },
  {
    name: 'cache-folders-of-a-builder',
    thread: 'https://github.com/pytorch/ci-infra/pull/1009',
    found:
      'Cache folders of deleted BuildKit pods grow by 110 to 150 GB a day on the NVMe disk; no eviction can free them, and a node wedges in weeks.',
    world: nodeOf({
      disk: { gib: 1700, usedGib: 1580, device: '/dev/md127', mount: '/mnt/k8s-disks/0' },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'buildkit', owner: 'Deployment buildkitd', pods: 2 },
          hostPath: '/mnt/k8s-disks/0/buildkit-cache',
        },
      ],
      held: { images: images(8, 1, 3), folders: { '/mnt/k8s-disks/0/buildkit-cache': 1490 } },
    }),
    cause: [held('host-path', '/mnt/k8s-disks/0/buildkit-cache')],
    owner: 'buildkit/Deployment buildkitd',
    steps: ['ask-owner'],
    words: [/buildkit-cache/, /neither\s+garbage\s+collection\s+nor\s+eviction/],
    never: [imageGc],
  },
  {
    name: 'second-runtime',
    thread: 'https://github.com/bsycorp/kind/issues/15',
    found:
      'The disk looks fine to Kubernetes; images and containers of Docker beside the cluster fill it. docker system prune ended it.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 55 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(4, 0.7, 2), otherRuntime: { '/var/lib/docker': 37 } },
    }),
    cause: [held('other-runtime', '/var/lib/docker')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/lib\/docker/],
    never: [imageGc],
  },
  {
    name: 'eviction-meets-image-gc',
    thread: 'https://github.com/kubernetes/kubernetes/issues/129616',
    found:
      'A separate image filesystem: pods are evicted at 15 % (threshold 4668496467, available 4527052Ki) while unused images lie there, for image GC begins at the same 85 %.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 30 },
      imageDisk: {
        ...{ gib: 28.99, usedGib: 24.67 },
        ...{ device: '/dev/nvme1n1', mount: '/var/lib/containerd' },
      },
      diskPressure: true,
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: users(4),
      held: { images: images(12, 0.7, 2) },
    }),
    cause: [setting('imageGCHighThresholdPercent'), held('images-unused')],
    owner: 'platform',
    steps: ['set', 'free'],
    words: [/imageGCHighThresholdPercent/],
    never: [/ephemeral-storage/],
  },
  {
    name: 'layers-on-a-smaller-image-disk',
    thread: 'https://github.com/kubernetes/kubernetes/issues/127642',
    found:
      '/var/lib/kubelet has 594 GB, /var/lib/containerd 300 GB. Pods are scheduled by the first, and users write into their containers, which fills the second.',
    world: nodeOf({
      disk: { gib: 594, usedGib: 40 },
      imageDisk: {
        ...{ gib: 300, usedGib: 287 },
        ...{ device: '/dev/mapper/k8s-containers', mount: '/var/lib/containerd' },
      },
      diskPressure: true,
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'lab', owner: 'Deployment notebook', layerGib: 228 },
          requests: { 'ephemeral-storage': '300Gi' },
          limits: { 'ephemeral-storage': '400Gi' },
        },
      ],
      held: { images: images(18, 1.1, 3.2) },
    }),
    cause: [held('writable-layers')],
    owner: 'lab/Deployment notebook',
    steps: ['ask-owner'],
    words: [/notebook/, /228(?:\.0)? GiB/, /emptyDir/],
    never: [/prune-images/],
  },
  {
    name: 'volume-in-memory',
    thread: 'https://github.com/kubernetes/kubernetes/issues/63126',
    found:
      'An emptyDir with medium Memory has no limit of its own: it takes the memory of the node until pods are evicted.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 30 },
      ...{ memoryPressure: true, availableMemoryGib: 0.08 },
      workloads: [
        ...users(4),
        { namespace: 'ml', owner: 'StatefulSet trainer', memoryDirGib: 24, memoryGib: 2 },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [held('memory-volumes')],
    owner: 'ml/StatefulSet trainer',
    steps: ['ask-owner', 'set'],
    words: [/trainer/, /sizeLimit/, /24(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'images-and-a-journal',
    thread: 'https://github.com/siutsin/otaru/pull/2605',
    found:
      'A node with an SSD of 64 GB has pressure mainly by cached images and a journal without limit (4 GB), not by the replicas of Longhorn that were suspected.',
    world: nodeOf({
      disk: { gib: 64, usedGib: 55.5 },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'longhorn-system', owner: 'DaemonSet longhorn-manager' },
          hostPath: '/var/lib/longhorn/',
        },
      ],
      held: { images: images(22, 0.6, 1.85), journal: 4, folders: { '/var/lib/longhorn': 3.2 } },
    }),
    cause: [setting('imageGCHighThresholdPercent'), held('images-unused')],
    owner: 'platform',
    steps: ['set', 'free'],
    words: [/imageGCHighThresholdPercent/, /logs\s+4\.1 GiB/],
    notCauses: ['host-path', 'unknown-folder'],
  },
  {
    name: 'declared-size-of-a-gpu-class',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/6358',
    found:
      'An EC2NodeClass maps 60Gi to /dev/xvda, and nodes of it keep the 20 GB of their AMI; images for GPUs do not fit.',
    world: nodeOf(
      {
        ...{ nodeClass: 'gpu', instanceType: 'm6i.2xlarge' },
        disk: { gib: 20, usedGib: 18.7 },
        diskPressure: true,
        workloads: users(2),
        held: { images: images(2, 3, 7.6) },
      },
      byNodeClass('gpu', [{ deviceName: '/dev/xvda', ebs: { volumeSize: '60Gi' } }]),
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['replace', 'resize'],
    words: [/60(?:\.0)? GiB|60Gi/, /20(?:\.0)? GiB/],
    never: [/prune-images/],
  },
  {
    name: 'processes-of-one-workload',
    thread: 'https://github.com/kubernetes/kubernetes/issues/54313',
    found:
      'A workload takes all process ids; the node stays Ready, and its pods crash with "resource temporarily unavailable".',
    world: nodeOf({
      disk: { gib: 100, usedGib: 30 },
      pids: { max: 32_768, used: 32_100 },
      workloads: [
        ...users(4),
        { namespace: 'test-pods', owner: 'Deployment unit-tests', processes: 30_900 },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [setting('evictionHard.pid.available'), setting('podPidsLimit')],
    owner: 'platform',
    steps: ['set', 'ask-owner'],
    words: [/unit-tests/, /podPidsLimit|pid\.available/],
    never: [imageGc],
  },
  {
    name: 'soft-threshold-without-a-period',
    thread: 'https://github.com/openshift/machine-config-operator/pull/1880',
    found:
      'evictionSoft was written without evictionSoftGracePeriod: the kubelet does not start with that file.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 30 },
      editedConfiguration: {
        evictionSoft: { 'memory.available': '90%', 'nodefs.available': '90%' },
      },
      workloads: users(4),
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [setting('configuration')],
    owner: 'platform',
    steps: ['set'],
    words: [/grace period must be specified/, /not start|refuse/i],
    never: [imageGc],
  },
  {
    name: 'threshold-of-a-hundred-million-inodes',
    thread: 'https://github.com/openshift/openshift-docs/pull/11816',
    found:
      'The documentation gave nodefs.inodesFree<100Mi: 104,857,600 inodes, more than a disk has, so a node has DiskPressure for ever. 5 % ended it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 22, inodes: { all: 52_428_800, free: 51_900_000 } },
      diskPressure: true,
      configuration: {
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'nodefs.available': '10%' },
          ...{ 'nodefs.inodesFree': '100Mi', 'imagefs.available': '15%' },
        },
      },
      workloads: users(4),
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [setting('evictionHard.nodefs.inodesFree')],
    owner: 'platform',
    steps: ['set'],
    words: [/nodefs\.inodesFree/, /5 ?%/],
    notCauses: ['images-in-use', 'system', 'images-unused'],
    never: [imageGc, /larger/],
  },
  {
    name: 'image-gc-as-designed',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/377',
    found:
      'At 85 % of 256 GB all images without a container go, as image GC is meant to work; the owner wants some to stay.',
    world: nodeOf({
      disk: { gib: 256, usedGib: 214 },
      workloads: users(12),
      held: { images: images(60, 1.1, 3.3) },
    }),
    ...nearMiss,
    never: [/drain/, /larger/],
  },
]
