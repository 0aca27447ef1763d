/** Threads of further subjects: other clients of containerd, memory of the runtime, caches of drivers. Each was written before its first run. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nearMiss, nodeOf, users } from '../short-forms.ts'

const unread = { kind: 'unread' } as const

export const freshIncidents: Incident[] = [
  {
    name: 'blobs-of-another-namespace',
    thread: 'https://github.com/containerd/nerdctl/issues/2048',
    found:
      'io.containerd.content.v1.content/blobs holds 132 GB and crictl lists few images: the blobs belong to another namespace of containerd, where images were built and pulled by hand.',
    world: nodeOf({
      disk: { gib: 180, usedGib: 166 },
      diskPressure: true,
      workloads: users(8, { logsGib: 0.1 }),
      held: {
        ...{ images: images(10, 0.6, 1.8), content: 132 },
        namespaces: [{ name: 'default', layersGib: 0, contentGib: 130 }],
      },
    }),
    cause: [held('other-namespaces')],
    owner: 'platform',
    steps: ['read-more', 'free'],
    words: [/130(?:\.0)? GiB/, /namespace/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc, /discard_unpacked_layers/, /drain the node: each/],
  },
  {
    name: 'log-of-a-cni-plugin-in-run',
    thread: 'https://github.com/cilium/cilium/issues/48279',
    found:
      'A node of 8 GB: cilium-cni.log and its seven backups fill /run (795 MB, a tmpfs), and no pod sandbox can be created. The disk is nearly empty.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.large', disk: { gib: 80, usedGib: 24 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment checkout', waiting: 'ContainerCreating' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', count: 41 },
              message:
                'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: unable to store init state before creating cgroup: write /run/containerd/runc/k8s.io/2b1c/.state-1: no space left on device',
              ...{ firstMinutesAgo: 55, lastMinutesAgo: 2 },
            },
          ],
        },
      ],
      held: { images: images(5, 0.4, 1.2) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/run/, /df /],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'memory-of-containerd',
    thread: 'https://github.com/containerd/containerd/issues/8292',
    found:
      'containerd itself holds 41557296 KiB of 62 GiB, with pods that use gRPC under load; after a while the node runs out of memory. A restart of containerd gives it back.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'r6i.2xlarge', disk: { gib: 100, usedGib: 38 } },
      ...{ memoryGib: 62, availableMemoryGib: 0.08, runtimeMemoryGib: 39.6 },
      memoryPressure: true,
      workloads: users(12, { memoryGib: 1.5 }),
      // Unused images lie on the disk: they are no memory.
      held: { images: images(20, 0.5, 1.5) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['free'],
    words: [/39\.6 GiB/, /restart containerd/],
    notCauses: ['resources.requests.memory'],
    never: [/larger volume/, imageGc, /unused image/],
  },
  {
    name: 'cache-of-mount-pods',
    thread: 'https://github.com/juicedata/juicefs/issues/2777',
    found:
      'Kafka on JuiceFS: the claims are small, but the mount pods of the driver keep 89 GB of blocks in /var/jfsCache of the host; its default is 100 GiB.',
    world: nodeOf({
      disk: { gib: 120, usedGib: 110 },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'kafka', owner: 'StatefulSet kafka' },
          ...{ claim: 'data-kafka-0', claimGib: { size: 20, used: 1.1 } },
        },
        { ...{ namespace: 'kube-system', owner: 'Bare juicefs-pvc' }, hostPath: '/var/jfsCache' },
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet juicefs-csi-node' },
          hostPath: '/var/lib/kubelet',
        },
      ],
      held: { images: images(6, 0.6, 1.8), folders: { '/var/jfsCache': 89 } },
    }),
    cause: [held('host-path', '/var/jfsCache')],
    owner: 'kube-system/Bare juicefs-pvc',
    steps: ['ask-owner', 'free'],
    words: [/\/var\/jfsCache/, /juicefs-pvc/, /89(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'pod-volumes'],
    never: [imageGc],
  },
  {
    name: 'small-volume-of-the-kubelet',
    thread: 'https://github.com/kubernetes/kubernetes/issues/13508',
    found:
      'The kubelet has a logical volume of 1.4 GB beside 30 GB of the runtime, of which 3.2 GB are used: the small one is full after some days.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', diskPressure: true },
        disk: {
          ...{ gib: 1.4, usedGib: 1.39, device: '/dev/dm-1' },
          mount: '/mnt/ephemeral/kubernetes',
        },
        imageDisk: { gib: 30, usedGib: 3.2, device: '/dev/dm-0', mount: '/mnt/ephemeral/docker' },
        volumes: [{ device: '/dev/xvda', gib: 8 }],
        workloads: users(6),
        held: { images: images(6, 0.15, 0.45) },
      },
      {
        nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', diskSize: 8 }],
      },
    ),
    cause: [unread, { kind: 'device' }],
    owner: 'platform',
    steps: ['read-more', 'resize'],
    words: [/1\.4 GiB/],
    notCauses: ['images-in-use', 'images-unused', 'not-images'],
    never: [imageGc],
  },
  {
    name: 'build-node-that-gc-cannot-free',
    thread: 'https://github.com/jupyterhub/mybinder.org-deploy/issues/2854',
    found:
      'A node for builds is full since eleven days: 3041 times image GC wanted to free 41585983488 bytes and freed 0. The builds are not images of the kubelet. They deleted the node.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 193.7, usedGib: 193.6 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'ovh2', owner: 'DaemonSet ovh2-dind', hostPath: '/var/lib/dind' },
      ],
      held: { images: images(6, 0.7, 2), folders: { '/var/lib/dind': 160 } },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 3041 },
          message:
            'failed to garbage collect required amount of images. Wanted to free 41585983488 bytes, but freed 0 bytes',
          ...{ firstMinutesAgo: 15_840, lastMinutesAgo: 3 },
        },
      ],
    }),
    cause: [unread, held('host-path', '/var/lib/dind')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/var\/lib\/dind/],
    notCauses: ['images-in-use', 'images-unused', 'not-images'],
    never: [imageGc],
  },
  {
    name: 'evicted-with-the-largest-use-of-all',
    thread: 'https://github.com/velero-io/velero/issues/7718',
    found:
      'The kubelet evicts velero at 7549392Ki of 7775265486 bytes: it was using 4579368Ki. That is a fifteenth of what the disk holds; nobody looked at the rest.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 72.4, usedGib: 65.2 }, diskPressure: true },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'velero', owner: 'Deployment velero' },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 7775265486, available: 7549392Ki. Container velero was using 4579368Ki, request is 0, has larger consumption of ephemeral-storage. ',
        },
      ],
      held: { images: images(7, 0.6, 1.8), folders: { '/srv/backup': 46 } },
    }),
    cause: [unread],
    owner: 'platform',
    steps: ['read-more'],
    words: [/velero/],
    notCauses: ['writable-layers', 'pod-volumes', 'images-in-use', 'not-images'],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'images-of-one-release-on-35-gib',
    thread: 'https://github.com/crc-org/snc/pull/1243',
    found:
      'All images of a release are in use on a disk of 35 GiB; the kubelet comes under disk pressure while it installs them. 43 GiB ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 35, usedGib: 32 }, diskPressure: true },
      workloads: users(40),
      held: { images: images(40, 0.26, 0.68) },
    }),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/35(?:\.0)? GiB/, /images in use/i],
    notCauses: ['not-images'],
    never: [/prune-images|crictl rmi/],
  },
  {
    name: 'audit-log-of-a-static-pod',
    thread: 'https://github.com/kubernetes-retired/kube-aws/issues/322',
    found:
      'A static pod writes its audit log to stdout: its one log file has 16 GB on a disk of 27 GB, of which 7.5 GB are free. Nothing rotates it.',
    world: nodeOf({
      disk: { gib: 27, usedGib: 19.5 },
      workloads: [
        ...users(2),
        { namespace: 'kube-system', owner: 'Node ip-172-31-146-7', logsGib: 16 },
      ],
      held: { images: images(2, 0.2, 0.6) },
    }),
    cause: [held('container-logs')],
    owner: 'platform',
    steps: ['free', 'ask-owner', 'set'],
    words: [/16(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc, /delete pod/],
  },
  {
    name: 'home-of-a-developer',
    thread: 'https://github.com/openshift/origin/issues/18046',
    found:
      'A disk of 460 GB has 393 GB used and 44 GB available: disk pressure. The runtime has 21 GB of it; the rest is of the person who works there.',
    world: nodeOf({
      ...{ mode: 'proxy', diskPressure: true },
      disk: { gib: 460, usedGib: 393, reservedGib: 23 },
      workloads: users(8),
      held: { images: images(8, 0.9, 2.6), folders: { '/home': 340 } },
    }),
    cause: [unread],
    owner: 'platform',
    steps: ['read-more'],
    notCauses: ['images-in-use', 'images-unused', 'not-images', 'writable-layers'],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'containerd-that-grows-each-day',
    thread: 'https://github.com/containerd/containerd/issues/12738',
    found:
      'EKS 1.32, containerd 2.1.4: with jobs every two minutes the memory of containerd grows for days until the node does not respond and is NotReady.',
    world: nodeOf({
      ...{ mode: 'proxy', version: '1.32.7', runtimeVersion: '2.1.4' },
      disk: { gib: 80, usedGib: 30 },
      ...{ availableMemoryGib: 0.09, runtimeMemoryGib: 22, memoryPressure: true },
      workloads: users(10, { memoryGib: 0.7 }),
      held: { images: images(10, 0.4, 1.2) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['free'],
    words: [/containerd/, /22(?:\.0)? GiB/],
    notCauses: ['resources.requests.memory'],
    never: [/larger volume/],
  },
  {
    name: 'write-ahead-log-of-a-generator',
    thread: 'https://github.com/grafana/tempo/issues/1667',
    found:
      'Some pods of the metrics generator of Tempo keep all segments of their log in an emptyDir; it grows without end. After a restart of the pod it is small again.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92 },
      diskPressure: true,
      workloads: [
        ...users(6),
        { namespace: 'tempo', owner: 'Deployment tempo-metrics-generator', emptyDirGib: 61 },
      ],
      held: { images: images(8, 0.7, 2.1) },
    }),
    cause: [held('pod-volumes')],
    owner: 'tempo/Deployment tempo-metrics-generator',
    steps: ['ask-owner', 'free'],
    words: [
      /delete\s+Pod\s+tempo\/tempo-metrics-generator-/,
      /kubectl --context prod delete pod -n tempo /,
      /tempo-metrics-generator/,
      /61(?:\.0)? GiB/,
    ],
    notCauses: ['images-in-use'],
    never: [imageGc],
  },
  {
    name: 'cache-of-files-as-memory-of-a-pod',
    thread: 'https://github.com/Azure/AKS/issues/2067',
    found:
      'A pod reads many files: their page cache counts as its working set until the node is short of memory and evicts it. Its own memory stays the same. A limit makes the kernel drop the cache.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 35 } },
      ...{ availableMemoryGib: 0.08, memoryPressure: true },
      workloads: [
        ...users(6, { memoryGib: 0.4 }),
        {
          ...{ namespace: 'apps', owner: 'StatefulSet indexer' },
          ...{ memoryGib: 26, anonymousGib: 1.2 },
        },
      ],
      held: { images: images(6, 0.4, 1.2) },
    }),
    cause: [{ kind: 'setting', field: 'resources.requests.memory' }],
    owner: 'apps/StatefulSet indexer',
    steps: ['ask-owner'],
    words: [/indexer/, /cache/],
    never: [/reboot/, /larger volume/],
  },
  {
    name: 'standard-output-that-became-a-file',
    thread: 'https://github.com/kubernetes-retired/kube-aws/issues/419',
    found:
      'A program rotated /dev/stdout: the tmpfs /dev of its container is full (1.9 GB), and it cannot write its log. 4.4 of 27 GB of the disk are used.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.large', disk: { gib: 27, usedGib: 4.4 } },
      workloads: [
        ...users(2),
        { namespace: 'kube-system', owner: 'Node ip-172-31-146-7', memoryGib: 2.1 },
      ],
      held: { images: images(2, 0.2, 0.6) },
    }),
    ...nearMiss,
    notCauses: ['writable-layers', 'container-logs', 'memory-volumes'],
  },
  {
    name: 'buffers-of-another-shipper',
    thread: 'https://github.com/fluent/fluent-bit/issues/2578',
    found:
      'The buffers of fluent-bit below /var/log have 29 GB, 27 of them in one folder tail.0: the output is slower than the input.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 46 },
      diskPressure: true,
      workloads: [
        ...users(5),
        { namespace: 'logging', owner: 'DaemonSet fluent-bit', hostPath: '/var/log' },
        { namespace: 'monitoring', owner: 'DaemonSet promtail', hostPath: '/var/log' },
      ],
      held: { images: images(5, 0.5, 1.5), folders: { '/var/log/fluent-bit-buffers': 29 } },
    }),
    cause: [held('host-path', '/var/log/fluent-bit-buffers'), held('host-logs', '/var/log')],
    owner: 'platform',
    steps: ['free', 'ask-owner'],
    words: [/\/var\/log\/fluent-bit-buffers/, /29(?:\.0)? GiB/],
    notCauses: ['container-logs', 'images-in-use'],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'release-of-a-build-cluster-without-room',
    thread: 'https://github.com/openshift/installer/issues/641',
    found:
      'The disk of a node has only the size of the downloaded image, 7.7 GB: with load it is 97 % full and evicts. 20 GB ended it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', disk: { gib: 7.7, usedGib: 7.5 }, diskPressure: true },
        workloads: users(9),
        held: { images: images(9, 0.14, 0.4) },
      },
      {
        nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', diskSize: 8 }],
      },
    ),
    cause: [held('images-in-use'), { kind: 'device' }, unread],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    words: [/7\.7 GiB/],
    notCauses: ['not-images', 'writable-layers'],
    never: [/prune-images|crictl rmi/],
  },
]
