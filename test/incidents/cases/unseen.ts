/** Threads of all subjects. Cause, owner, step and words were written from the thread, before the first run. */
import type { Incident } from '../incident.ts'
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

const freedNothing = (bytes: number, count: number) => ({
  ...{ type: 'Warning' as const, reason: 'FreeDiskSpaceFailed', count },
  message: `Failed to garbage collect required amount of images. Attempted to free ${bytes} bytes, but only found 0 bytes eligible to free.`,
  ...{ firstMinutesAgo: 300, lastMinutesAgo: 4 },
})

export const unseenIncidents: Incident[] = [
  {
    name: 'chunks-of-a-log-shipper-in-var-log',
    thread: 'https://github.com/fluent/fluent-bit/issues/9669',
    found:
      'On one node of ten Fluent Bit does not flush its chunks: 20 GB in /var/log/flb-storage, which grow each day.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 45.5 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'logging', owner: 'DaemonSet fluent-bit', hostPath: '/var/log' },
        { namespace: 'kube-system', owner: 'DaemonSet proxy', hostPath: '/var/log' },
      ],
      held: { images: images(6, 0.8, 2.4), folders: { '/var/log/flb-storage': 20 } },
    }),
    cause: [held('host-logs'), held('host-path')],
    owner: 'logging/DaemonSet fluent-bit',
    steps: ['ask-owner', 'free'],
    words: [/flb-storage/, /20(?:\.\d)? GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'layers-without-images',
    thread: 'https://github.com/kubernetes/kops/issues/3197',
    found:
      'A node of CI stays under DiskPressure with all pods evicted. One image of 378 MB is left, and the layers below the runtime fill the disk all the same.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 64, usedGib: 60 },
      diskPressure: true,
      workloads: users(1),
      held: { images: images(1, 0.35, 0.9), leftover: 54 },
    }),
    cause: [held('not-images'), held('leftover-snapshots')],
    owner: 'platform',
    steps: ['replace', 'read-more'],
    words: [/other than images/, /replace/],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'eviction-by-memory-alone',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/3350',
    found:
      'Bottlerocket, 40 GB: /local fills to the last byte. evictionHard has memory.available alone, so no DiskPressure ever comes; image GC finds 0 bytes eligible, for all images are in use.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
      disk: { gib: 39.3, usedGib: 38.9 },
      volumes: [
        { device: '/dev/xvda', gib: 2 },
        { device: '/dev/xvdb', gib: 40 },
      ],
      configuration: { evictionHard: { 'memory.available': '5%' } },
      workloads: users(12),
      held: { images: images(12, 1, 3) },
      events: [freedNothing(37_203_380_633, 20)],
    }),
    cause: [setting('evictionHard'), held('images-in-use'), held('images')],
    owner: 'platform',
    steps: ['set', 'resize'],
    words: [/no threshold watches/, /larger volume/],
    never: [/prune-images/],
  },
  {
    name: 'copies-of-a-dump',
    thread: 'https://github.com/actions/actions-runner-controller/issues/1215',
    found:
      'EKS, m5.xlarge, 100 GB: sed -i on a dump of 20 GB in a self-hosted runner. The kubelet wants to free 11069618585 bytes and frees 0; the runner is evicted.',
    world: nodeOf({
      ...{ disk: { gib: 100, usedGib: 90.3 }, instanceType: 'm5.xlarge' },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'actions-runner-system', owner: 'Runner github-runner-jnp9m' },
          emptyDirGib: 62,
        },
      ],
      held: { images: images(6, 1, 3) },
      events: [freedNothing(11_069_618_585, 6)],
    }),
    cause: [held('pod-volumes')],
    owner: 'actions-runner-system/Runner github-runner-jnp9m',
    steps: ['ask-owner'],
    words: [/github-runner-jnp9m/, /ephemeral-storage|sizeLimit/],
    never: [imageGc],
  },
  {
    name: 'home-of-a-build-server',
    thread: 'https://github.com/jenkinsci/kubernetes-operator/issues/543',
    found:
      'The emptyDir of jenkins-home holds 10.84 GiB (11367196Ki) and the pod is evicted, with jobs that no backup has. Its pod belongs to a custom resource.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 27.6 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'ci', owner: 'Jenkins jenkins-prod', emptyDirGib: 10.84 },
      ],
      held: { images: images(4, 0.9, 2.7) },
    }),
    cause: [held('pod-volumes')],
    owner: 'ci/Jenkins jenkins-prod',
    steps: ['ask-owner'],
    words: [/jenkins-prod/, /10\.8 GiB/],
    never: [imageGc],
  },
  {
    name: 'container-of-25-gib',
    thread: 'https://github.com/kagent-dev/kagent/issues/636',
    found:
      'Threshold quantity: 8042683097, available: 7628688Ki. Container app was using 26158184Ki, request is 0. Nobody knows what it writes.',
    world: nodeOf({
      disk: { gib: 49.935, usedGib: 42.66 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'kagent', owner: 'Deployment kagent', container: 'app', layerGib: 24.95 },
      ],
      held: { images: images(4, 0.9, 2.7) },
    }),
    cause: [held('writable-layers')],
    owner: 'kagent/Deployment kagent',
    steps: ['ask-owner'],
    words: [/kagent/, /24\.9\d? GiB|25(?:\.0)? GiB/, /ephemeral-storage/],
    never: [imageGc],
  },
  {
    name: 'audit-log-that-halts-the-node',
    thread: 'https://github.com/aws-samples/amazon-eks-custom-amis/issues/50',
    found:
      'A hardened AMI audits each access below the runtime: /var/log/audit fills, and admin_space_left_action = halt stops the instance.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 28.2 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'logging', owner: 'DaemonSet fluent-bit', hostPath: '/var/log' },
      ],
      held: { images: images(4, 0.7, 2), folders: { '/var/log/audit': 16 } },
    }),
    cause: [held('host-logs')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/\/var\/log\/audit/, /16(?:\.\d)? GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'core-dumps-of-all-programs-in-one-folder',
    thread: 'https://github.com/openebs-archive/node-disk-manager/issues/279',
    found:
      'A DaemonSet sets core_pattern, so the core dumps of every program on the node go to its hostPath /var/openebs/sparse.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 74 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'openebs', owner: 'DaemonSet openebs-ndm', hostPath: '/var/openebs/sparse' },
      ],
      held: { images: images(5, 0.9, 2.7), folders: { '/var/openebs/sparse': 46 } },
    }),
    cause: [held('host-path', '/var/openebs/sparse')],
    owner: 'openebs/DaemonSet openebs-ndm',
    steps: ['ask-owner', 'free'],
    words: [/\/var\/openebs\/sparse/, /46(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'cache-above-its-own-limit',
    thread: 'https://github.com/awslabs/mountpoint-s3/issues/973',
    found:
      'A pod with request and limit 10Gi reads more than 10 GiB through a cache and is evicted: "Pod ephemeral local storage usage exceeds the total limit of containers 10Gi". 100 GiB of the node are free.',
    world: nodeOf({
      disk: { gib: 150, usedGib: 48 },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'ml', owner: 'Deployment loader', layerGib: 10.6 },
          requests: { 'ephemeral-storage': '10Gi' },
          limits: { 'ephemeral-storage': '10Gi' },
        },
        {
          ...{ namespace: 'ml', owner: 'Deployment loader' },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 10Gi. ',
        },
      ],
      held: { images: images(6, 1, 3) },
    }),
    cause: [held('writable-layers'), setting('resources.limits.ephemeral-storage')],
    owner: 'ml/Deployment loader',
    steps: ['ask-owner', 'set'],
    words: [/loader/, /10\.\d GiB/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/prune-images|drain|larger volume/],
  },
  {
    name: 'cache-that-leaves-15-percent',
    thread: 'https://github.com/signaleleven/s3fs-sidecar/issues/1',
    found:
      's3fs caches until 15 % of the disk are free, which is the threshold of imagefs: the workload is evicted each time that its cache is full. ensure_diskfree of 30 % ended it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 85.4 },
      diskPressure: true,
      workloads: [
        ...users(5),
        { namespace: 'media', owner: 'Deployment s3-reader', container: 's3fs', layerGib: 61 },
      ],
      held: { images: images(6, 0.9, 2.7) },
      events: flaps(9, 1440),
    }),
    cause: [held('writable-layers')],
    owner: 'media/Deployment s3-reader',
    steps: ['ask-owner'],
    words: [/s3-reader/, /ephemeral-storage/],
    never: [imageGc],
  },
  {
    name: 'image-of-9-gb-on-a-general-node',
    thread: 'https://github.com/nebari-dev/nebari/issues/707',
    found:
      'EKS: a flow with an image of 9 GB starts on the general node of 20 GB. Its pull fails with "no space left on device", and pods of the platform are evicted.',
    world: nodeOf({
      disk: { gib: 20, usedGib: 14.6 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'dev', owner: 'Job prefect-job', waiting: 'ErrImagePull' },
          message:
            'failed to pull and unpack image "111122223333.dkr.ecr.us-east-1.amazonaws.com/prefect-job:1": failed to extract layer sha256:5dacd731: write /var/lib/containerd/tmpmounts/containerd-mount252943319/opt/conda/lib/libtorch.so: no space left on device: unknown',
        },
      ],
      held: { images: images(4, 0.9, 2.6) },
    }),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/no room|too small/, /larger/],
    never: [/prune-images/],
  },
  {
    name: 'page-cache-as-memory-pressure',
    thread: 'https://github.com/kubernetes/kubernetes/issues/107899',
    found:
      'MemoryPressure on a small node without a pod that uses memory: cache of the kernel counts as used. The disk is fine; the node was replaced.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 22 },
      memoryPressure: true,
      availableMemoryGib: 0.09,
      workloads: users(2),
      held: { images: images(3, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/no pod uses much memory/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers', 'pod-volumes'],
    never: [/larger volume|volumeSize|prune-images|apps\/app-\d requests/],
  },
  {
    name: 'inodes-of-run',
    thread: 'https://github.com/gardenlinux/gardenlinux/issues/1226',
    found:
      'A process dumps core every three seconds for a month. /var/lib/systemd/coredump is cleaned, but folders in /run/systemd/propagate use all inodes of /run, a tmpfs.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 31 },
      workloads: users(6),
      held: {
        images: images(6, 0.9, 2.7),
        coreDumps: { path: '/var/lib/systemd/coredump', gib: 2.4 },
      },
    }),
    ...nearMiss,
    notCauses: ['core-dumps'],
    never: [/coredump/],
  },
  {
    name: 'traces-in-memory',
    thread: 'https://github.com/concourse/hush-house/issues/119',
    found:
      '"The node was low on resource: memory. Container jaeger was using 10083764Ki, which exceeds its request of 0." Traces are kept in memory; the disk is fine.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 24 },
      memoryPressure: true,
      availableMemoryGib: 0.09,
      workloads: [
        ...users(4),
        { namespace: 'tracing', owner: 'Deployment jaeger', memoryGib: 9.6 },
        {
          ...{ namespace: 'tracing', owner: 'Deployment jaeger' },
          evicted:
            'The node was low on resource: memory. Threshold quantity: 100Mi, available: 92160Ki. Container jaeger was using 10083764Ki, request is 0, has larger consumption of memory. ',
        },
      ],
      held: { images: images(4, 0.9, 2.7) },
    }),
    cause: [setting('resources.requests.memory')],
    owner: 'tracing/Deployment jaeger',
    steps: ['ask-owner', 'set'],
    words: [/jaeger/, /memory/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [/larger volume|volumeSize|prune-images|containerLogMax/],
  },
  {
    name: 'run-folder-of-one-mebibyte',
    thread: 'https://github.com/actions/actions-runner-controller/issues/2621',
    found:
      'Jobs that start many containers fail with "no space left on device": the emptyDir in memory for /run of the dockerd sidecar has a sizeLimit of 1M. The disk of the node is fine.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 37 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'arc', owner: 'Runner runner-x7k2p', container: 'docker' },
          memoryDirGib: 0.001,
        },
      ],
      held: { images: images(6, 0.9, 2.7) },
    }),
    ...nearMiss,
    never: [/larger volume|prune-images|drain/],
  },
  {
    name: 'rotated-logs-of-each-restart',
    thread: 'https://github.com/kubernetes/kubernetes/issues/91765',
    found:
      'A container that logs 200 KB/s and crashes every two minutes: rotation counts the files of the running instance alone, so each restart leaves its own rotated files.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 46 },
      diskPressure: true,
      workloads: [...users(3), { namespace: 'shop', owner: 'Deployment importer', logsGib: 31 }],
      held: { images: images(4, 0.9, 2.6) },
    }),
    cause: [held('container-logs')],
    owner: 'shop/Deployment importer',
    steps: ['free', 'ask-owner'],
    words: [/importer/, /31(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'image-gc-of-a-data-volume',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/8009',
    found:
      'Bottlerocket, /dev/xvdb of 35Gi, image GC at 80 and 70 %. The kubelet starts with "invalid capacity 0 on image filesystem"; images fill the volume, and pods are evicted before GC runs.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
        nodeClass: 'default',
        disk: { gib: 34.4, usedGib: 29.9 },
        volumes: [
          { device: '/dev/xvda', gib: 4 },
          { device: '/dev/xvdb', gib: 35 },
        ],
        diskPressure: true,
        configuration: { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 70 },
        workloads: users(3),
        held: { images: images(9, 1, 2.9) },
        events: [
          {
            ...{ type: 'Warning', reason: 'InvalidDiskCapacity', count: 1 },
            message: 'invalid capacity 0 on image filesystem',
            ...{ firstMinutesAgo: 300, lastMinutesAgo: 300 },
          },
        ],
      },
      byNodeClass(
        'default',
        [{ deviceName: '/dev/xvdb', ebs: { volumeSize: '35Gi', volumeType: 'gp3' } }],
        { amiFamily: 'Bottlerocket' },
      ),
    ),
    cause: [held('images'), held('images-unused'), setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['free', 'set', 'resize'],
    words: [/image/i, /volumeSize|crictl|imageGCHighThresholdPercent|larger/],
    never: [/invalid capacity/],
  },
  {
    name: 'base-image-in-a-build-agent',
    thread: 'https://github.com/ai-dynamo/nixl/pull/2240',
    found:
      'An agent of Jenkins, a pod without a controller, is evicted 22 s into podman build: the base image of many GB goes to its emptyDir. It needs requests and limits of ephemeral-storage, or a claim.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 55.2 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'nbu-swx-nixl', owner: 'Bare worker', emptyDirGib: 34 },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [held('pod-volumes')],
    owner: 'nbu-swx-nixl/Bare worker',
    steps: ['ask-owner'],
    words: [/nbu-swx-nixl\/worker/, /no owner in Kubernetes/, /34(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'orphaned-folders-without-bytes',
    thread: 'https://github.com/kubernetes/kubernetes/pull/140681',
    found:
      'After a hard reboot a vol_data.json of a few bytes keeps the folders of three deleted pods; the kubelet logs an error for them for ever. No space is lost.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 34 },
      workloads: users(6),
      held: { images: images(6, 0.9, 2.7), orphans: { gib: 0.0001, folders: 3 } },
    }),
    ...nearMiss,
    notCauses: ['orphaned-pods'],
    never: [/rm -rf/],
  },
  {
    name: 'processes-of-a-sidecar',
    thread: 'https://github.com/kubernetes/kubernetes/issues/86161',
    found:
      'A sidecar starts up to 500 sleeping processes up to its memory limit: SystemOOM 25 times in six days, and the node does not answer. The disk is fine.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 33 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'StatefulSet podb', container: 'nginx' },
          ...{ processes: 510, memoryGib: 2 },
          limits: { memory: '2Gi' },
          requests: { memory: '2Gi' },
        },
      ],
      held: { images: images(6, 0.9, 2.7) },
      events: [
        {
          ...{ type: 'Warning', reason: 'SystemOOM', count: 25 },
          message: 'System OOM encountered, victim process: nginx, pid: 21042',
          ...{ firstMinutesAgo: 9_000, lastMinutesAgo: 60 },
        },
      ],
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [/larger volume|prune-images/],
  },
]
