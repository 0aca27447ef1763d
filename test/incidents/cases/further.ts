/** Threads of folders of pods, other platforms, logs inside containers, volumes and near misses. Expected answers were written before the first run. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nearMiss, nodeOf, setting, users } from '../short-forms.ts'

export const furtherIncidents: Incident[] = [
  {
    name: 'termination-logs-of-static-pods',
    thread: 'https://github.com/kubernetes/kubernetes/issues/105440',
    found:
      'kube-controller-manager and kube-scheduler restart for days. Each restart leaves an empty file in containers/ of the folder of the pod: 205,750 and 205,766 of them, and no inode is free. Deleting the files ended it.',
    world: nodeOf({
      disk: { gib: 20, usedGib: 9, inodes: { all: 600_000, free: 3_000 } },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'kube-system', owner: 'Bare kube-controller-manager' },
          podFolder: { path: 'containers/kube-controller-manager', gib: 0.01, inodes: 205_750 },
        },
        {
          ...{ namespace: 'kube-system', owner: 'Bare kube-scheduler' },
          podFolder: { path: 'containers/kube-scheduler', gib: 0.01, inodes: 205_766 },
        },
      ],
      held: { images: images(2, 0.6, 1.8) },
    }),
    cause: [held('pod-folders', '/var/lib/kubelet/pods')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/inode/i, /\/var\/lib\/kubelet\/pods/],
    never: [imageGc, /sizeLimit/],
  },
  {
    name: 'size-limit-of-a-volume',
    thread: 'https://github.com/artifact-keeper/artifact-keeper-iac/issues/345',
    found:
      'The emptyDir for /tmp of a scanner has a fixed sizeLimit of 256Mi; larger scans are evicted by it. Raising limits of ephemeral-storage (1Gi) does not help. The disk has room.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 128, usedGib: 44 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'artifact-keeper', owner: 'Deployment trivy', emptyDirGib: 0.21 },
          ...{ sizeLimit: '256Mi', limits: { 'ephemeral-storage': '1Gi' } },
        },
        {
          ...{ namespace: 'artifact-keeper', owner: 'Deployment trivy', pods: 3 },
          ...{ emptyDirGib: 0, sizeLimit: '256Mi', limits: { 'ephemeral-storage': '1Gi' } },
          evicted: 'Usage of EmptyDir volume "data" exceeds the limit "256Mi". ',
        },
      ],
      held: { images: images(6, 0.8, 2.4) },
    }),
    cause: [
      held('pod-volumes'),
      setting('volumes.emptyDir.sizeLimit'),
      setting('emptyDir.sizeLimit'),
    ],
    owner: 'artifact-keeper/Deployment trivy',
    steps: ['ask-owner', 'set'],
    words: [/trivy/, /256(?:\.0)? ?Mi/, /sizeLimit/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [/prune-images|larger volume|drain/],
  },
  {
    name: 'blob-cache-of-a-snapshotter',
    thread: 'https://github.com/containerd/nydus-snapshotter/issues/687',
    found:
      'The nydus snapshotter keeps blobs in cache/ beside its snapshots and does not delete them with their images. containerd counts none of these bytes, so image GC cannot free them.',
    world: nodeOf({
      disk: { gib: 200, usedGib: 184 },
      diskPressure: true,
      containerd: { snapshotter: 'nydus' },
      workloads: users(6),
      held: {
        images: images(8, 2.4, 7),
        folders: { '/var/lib/containerd/io.containerd.snapshotter.v1.nydus/cache': 110 },
      },
    }),
    cause: [held('unknown-folder', '/var/lib/containerd')],
    owner: 'platform',
    steps: ['read-more', 'free', 'replace'],
    words: [/110(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc],
  },
  {
    name: 'results-of-a-network-plugin',
    thread: 'https://github.com/cri-o/cri-o/issues/4296',
    found:
      'Each pod leaves a file cni-loopback in /var/lib/cni/results, and nothing deletes it: 8,112 files beside 29 containers on one node, until /var is full.',
    world: nodeOf({
      disk: { gib: 20, usedGib: 15, inodes: { all: 1_310_720, free: 21_000 } },
      diskPressure: true,
      workloads: users(3),
      held: {
        images: images(3, 0.6, 1.8),
        listed: {
          ...{ holder: 'unknown', path: '/var/lib/cni/results' },
          ...{ gib: 4.2, inodes: 1_080_000 },
        },
      },
    }),
    cause: [held('unknown-folder', '/var/lib/cni')],
    owner: 'platform',
    steps: ['free', 'read-more', 'replace'],
    words: [/inode/i, /\/var\/lib\/cni/],
    never: [imageGc],
  },
  {
    name: 'log-of-an-agent-inside-a-gateway',
    thread: 'https://github.com/nginx/nginx-gateway-fabric/issues/4647',
    found:
      'EKS: an agent beside nginx writes opentelemetry-collector-agent.log at debug level into its container: 2.7 GB in each of four pods of a node within a month, and the disk is full.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.5 }, diskPressure: true },
      workloads: [
        ...users(2),
        { namespace: 'nginx-gateway', owner: 'Deployment gateway', pods: 4, layerGib: 2.7 },
      ],
      held: { images: images(2, 0.5, 1.5) },
    }),
    cause: [held('writable-layers')],
    owner: 'nginx-gateway/Deployment gateway',
    steps: ['ask-owner'],
    words: [/gateway/, /10\.8 GiB|2\.7 GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'logs-of-a-daemon-in-etc',
    thread: 'https://github.com/tkestack/gpu-manager/issues/52',
    found:
      'gpu-manager writes its logs into the hostPath /etc/gpu-manager/log and deletes none; the disk fills. On EKS aws-node mounts a folder in /etc, too.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 73.5 },
      diskPressure: true,
      workloads: [
        { namespace: 'kube-system', owner: 'DaemonSet aws-node', hostPath: '/etc/cni/net.d' },
        ...users(3),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet gpu-manager' },
          hostPath: '/etc/gpu-manager/log',
        },
      ],
      held: { images: images(4, 0.9, 2.7), folders: { '/etc/gpu-manager/log': 52 } },
    }),
    cause: [held('host-path', '/etc')],
    owner: 'kube-system/DaemonSet gpu-manager',
    steps: ['ask-owner', 'free', 'read-more'],
    words: [/\/etc/, /52(?:\.0)? GiB/],
    never: [imageGc, /DaemonSet \S*aws-node/, /rm -rf \/etc/],
  },
  {
    name: 'minimum-reclaim-of-the-image-disk',
    thread: 'https://github.com/kubernetes/kubernetes/issues/99094',
    found:
      'evictionSoft and evictionMinimumReclaim of imagefs.available: the node enters DiskPressure at the first and leaves it at their sum. GC frees a part, and the node stays under pressure between the two.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 50, usedGib: 14 }, diskPressure: true },
      imageDisk: { gib: 100, usedGib: 78, device: '/dev/nvme1n1', mount: '/var/lib/containerd' },
      configuration: {
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'nodefs.available': '10%' },
          ...{ 'nodefs.inodesFree': '5%', 'imagefs.available': '5%' },
        },
        evictionSoft: { 'imagefs.available': '15%' },
        evictionSoftGracePeriod: { 'imagefs.available': '1m0s' },
        evictionMinimumReclaim: { 'imagefs.available': '10%' },
      },
      workloads: users(20),
      held: { images: images(20, 1.3, 3.9) },
      volumes: [
        { device: '/dev/xvda', gib: 50 },
        { device: '/dev/xvdb', gib: 100 },
      ],
    }),
    cause: [setting('evictionMinimumReclaim')],
    owner: 'platform',
    steps: ['set'],
    words: [/evictionMinimumReclaim/],
  },
  {
    name: 'search-index-in-an-empty-dir',
    thread: 'https://github.com/kubernetes/kubernetes/issues/13174',
    found:
      'AWS: a pod writes logs without end, and Elasticsearch indexes them in an emptyDir of 2.9 GB: the root disk of 7.8 GB is full.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 7.8, usedGib: 7.7 }, diskPressure: true },
      workloads: [
        { namespace: 'default', owner: 'Deployment catalog', logsGib: 0.6 },
        {
          ...{ namespace: 'kube-system', owner: 'ReplicationController elasticsearch-logging' },
          emptyDirGib: 2.9,
        },
      ],
      held: { images: images(2, 0.25, 0.8) },
      volumes: [{ device: '/dev/xvda', gib: 8 }],
    }),
    cause: [held('pod-volumes')],
    owner: 'kube-system/ReplicationController elasticsearch-logging',
    steps: ['ask-owner'],
    words: [/elasticsearch-logging/, /2\.9 GiB/],
    never: [imageGc],
  },
  {
    name: 'watches-and-not-bytes',
    thread: 'https://github.com/jetstack/tarmak/issues/756',
    found:
      'Containers fail with "no space left on device" because fs.inotify.max_user_watches is used up. Bytes and inodes are free.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 31 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment watcher', waiting: 'CreateContainerError' },
          message:
            'inotify_add_watch /sys/fs/cgroup/memory/kubepods/pod0c1d/3f2a: no space left on device',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/no space left/, /fs\.inotify\.max_user_watches/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/larger volume|prune-images|volumeSize/],
  },
  {
    name: 'hosts-file-without-end',
    thread: 'https://github.com/kubernetes/kubernetes/issues/93032',
    found:
      'A pod writes without end into its /etc/hosts, which is a file in the folder of the pod and in no volume: the disk of the node is full. Kubelets before 1.18.6 do not count it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 91.5 },
      diskPressure: true,
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment resolver' },
          podFolder: { path: 'etc-hosts', gib: 61, inodes: 1 },
        },
      ],
      held: { images: images(6, 0.9, 2.7) },
    }),
    cause: [held('pod-folders', '/var/lib/kubelet/pods')],
    owner: 'apps/Deployment resolver',
    steps: ['ask-owner', 'free', 'read-more'],
    words: [/resolver/, /61(?:\.0)? GiB/],
    never: [imageGc, /sizeLimit/],
  },
  {
    name: 'writes-beside-an-unmounted-volume',
    thread: 'https://github.com/kubernetes/kubernetes/issues/109955',
    found:
      'A CSI volume is no longer mounted, and the restarted container writes into the empty folder of it on the disk of the node, which fills. Deleting the pod, so that the volume is mounted again, ends it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92 },
      diskPressure: true,
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'data', owner: 'StatefulSet ledger', claim: 'data-ledger-0' },
          podFolder: {
            path: 'volumes/kubernetes.io~csi/pvc-785e53f4-e72e-4326-9e70-e8e881fad471',
            ...{ gib: 58, inodes: 4_100 },
          },
        },
      ],
      held: { images: images(6, 0.9, 2.7) },
    }),
    cause: [held('pod-folders', '/var/lib/kubelet/pods')],
    owner: 'data/StatefulSet ledger',
    steps: ['ask-owner', 'free'],
    words: [/ledger/, /58(?:\.0)? GiB/, /kubernetes\.io~csi|mounted/],
    never: [imageGc, /sizeLimit/],
  },
  {
    name: 'inode-threshold-above-what-is-free',
    thread: 'https://github.com/kubernetes/kubernetes/issues/83612',
    found:
      'nodefs.inodesFree was raised from 5 % to 15 % while about 10 % of 13 million inodes were free: after its restart the kubelet evicted every pod of the node.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 200, usedGib: 90, inodes: { all: 13_000_000, free: 1_300_000 } },
      diskPressure: true,
      configuration: {
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'nodefs.available': '10%' },
          ...{ 'nodefs.inodesFree': '15%', 'imagefs.available': '15%' },
        },
      },
      workloads: users(8),
      held: { images: images(20, 1.2, 3.6) },
    }),
    cause: [setting('evictionHard.nodefs.inodesFree')],
    owner: 'platform',
    steps: ['set'],
    words: [/nodefs\.inodesFree/, /15 ?%/],
    never: [/larger volume/],
  },
  {
    name: 'logs-of-a-network-plugin-without-rotation',
    thread: 'https://github.com/apprenda/kismatic/issues/673',
    found:
      'The log of calico-node has 17 GB on each node of 20 GB after two days, because nothing rotates logs of containers. A size limit of 100m and two files ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 30, usedGib: 27.6 }, diskPressure: true },
      configuration: { containerLogMaxSize: '100Gi', containerLogMaxFiles: 5 },
      workloads: [
        ...users(2),
        { namespace: 'kube-system', owner: 'DaemonSet calico-node', logsGib: 17 },
      ],
      held: { images: images(2, 0.6, 1.8) },
    }),
    cause: [held('container-logs'), setting('containerLogMaxSize')],
    owner: 'kube-system/DaemonSet calico-node',
    steps: ['set', 'free', 'ask-owner'],
    words: [/calico-node/, /17(?:\.0)? GiB/, /containerLogMaxSize/],
    never: [imageGc],
  },
  {
    name: 'alert-of-another-filesystem',
    thread: 'https://github.com/prometheus-community/helm-charts/issues/222',
    found:
      'An alert says that the root filesystem fills. It is the disk of the runtime that does, by the layer of helm-operator; the metrics have the wrong device.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 9 },
      imageDisk: { gib: 50, usedGib: 44, device: '/dev/nvme1n1', mount: '/var/lib/containerd' },
      workloads: [
        ...users(4),
        { namespace: 'flux', owner: 'Deployment helm-operator', layerGib: 26 },
      ],
      held: { images: images(6, 0.9, 2.7) },
      volumes: [
        { device: '/dev/xvda', gib: 30 },
        { device: '/dev/xvdb', gib: 50 },
      ],
    }),
    cause: [held('writable-layers')],
    owner: 'flux/Deployment helm-operator',
    steps: ['free', 'ask-owner'],
    words: [/helm-operator/, /26(?:\.0)? GiB/, /imagefs|image filesystem/],
    never: [imageGc],
  },
  {
    name: 'full-claim-of-a-builder',
    thread: 'https://github.com/moby/buildkit/issues/4218',
    found:
      'buildkitd fills its own volume of 130 GB, because its GC counts too little. The volume is a claim; the disk of the node has room.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 30 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'build', owner: 'StatefulSet buildkitd', claim: 'cache-buildkitd-0' },
          claimGib: { size: 130, used: 129.6 },
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'build/StatefulSet buildkitd',
    steps: ['ask-owner'],
    words: [/cache-buildkitd-0/],
    notCauses: ['pod-volumes', 'writable-layers', 'images-in-use'],
    never: [/drain|larger volume/],
  },
  {
    name: 'shared-memory-above-a-memory-limit',
    thread: 'https://github.com/kubernetes/kubernetes/issues/128339',
    found:
      'A volume in memory with sizeLimit 4Gi is counted to a container with a memory limit of 2Gi: it is OOM-killed at each start. Memory and disk of the node are free.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 29 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'default', owner: 'Bare example', memoryDirGib: 1.9, memoryGib: 0.1 },
          ...{ limits: { memory: '2Gi' }, requests: { memory: '2Gi' } },
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'images-unused', 'memory-volumes'],
    never: [/reboot|larger volume|drain/],
  },
  {
    name: 'snapshots-of-a-windows-node',
    thread: 'https://github.com/rancher/rke2/issues/3090',
    found:
      'Windows: snapshots of containerd fill drive C: within days, and the kubelet finds 0 bytes to free of 17,275,608,268 wanted. Folders cannot be deleted by hand; the nodes were replaced.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.5.9', diskPressure: true },
        disk: { gib: 100, usedGib: 96 },
        workloads: users(3),
        held: { images: images(4, 1.5, 4), leftover: 58 },
        events: [
          {
            ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 370 },
            message:
              'Failed to garbage collect required amount of images. Attempted to free 17275608268 bytes, but only found 0 bytes eligible to free.',
            ...{ firstMinutesAgo: 1_860, lastMinutesAgo: 4 },
          },
        ],
      },
      {
        nodegroups: [
          { nodegroupName: 'workers', amiType: 'WINDOWS_CORE_2022_x86_64', diskSize: 100 },
        ],
      },
    ),
    cause: [held('not-images')],
    owner: 'platform',
    steps: ['replace'],
    words: [/not .*images|snapshot/i],
    never: [imageGc, /--collect|journalctl|sudo |\/var\/lib/],
  },
  {
    name: 'metrics-written-beside-a-volume',
    thread: 'https://github.com/kiwix/operations/issues/32',
    found:
      'A pod for metrics is evicted every five days by DiskPressure. An hour after its start it has 15.9 GiB in its container, below /root, and only one folder is a volume. The node has 50 GB free by then.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 48 } },
      workloads: [
        ...users(4),
        { namespace: 'zim', owner: 'Deployment metrics', layerGib: 15.9 },
        {
          ...{ namespace: 'zim', owner: 'Deployment metrics', pods: 4 },
          evicted: 'The node had condition: [DiskPressure]. ',
        },
      ],
      held: { images: images(6, 0.9, 2.7) },
    }),
    cause: [held('writable-layers')],
    owner: 'zim/Deployment metrics',
    steps: ['ask-owner'],
    words: [/metrics/, /15\.9 GiB/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/larger volume|prune-images/],
  },
  {
    name: 'images-that-the-runtime-does-not-release',
    thread: 'https://github.com/cri-o/cri-o/issues/3302',
    found:
      'Image GC wants to free 12,543,375,769 bytes at 87 %, and the runtime refuses each image: "image is in use by a container", though the container is gone. Only an upgrade or a new node ends it.',
    world: nodeOf({
      disk: { gib: 167, usedGib: 145.5 },
      workloads: users(6),
      held: { images: images(52, 0.85, 2.6) },
      events: [
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 240 },
          message:
            'wanted to free 12543375769 bytes, but freed 0 bytes space with errors in image deletion: rpc error: code = Unknown desc = Image used by 4b8c2fe88586: image is in use by a container',
          ...{ firstMinutesAgo: 1_200, lastMinutesAgo: 3 },
        },
      ],
    }),
    cause: [{ kind: 'world' }, held('images-unused')],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/image GC|ImageGCFailed/i],
    never: [/imageGCHighThresholdPercent/, /prune-images/],
  },
  {
    name: 'rootless-builder-on-50-gb',
    thread: 'https://github.com/moby/buildkit/issues/1798',
    found:
      'EKS: a bare pod builds an image of 9 GB without overlayfs; each step copies all files into the layer of the container, until the node of 50 GB is full and the pod is evicted.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 46.4 },
      diskPressure: true,
      workloads: [...users(3), { namespace: 'default', owner: 'Bare buildkitd', layerGib: 33 }],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [held('writable-layers')],
    owner: 'default/Bare buildkitd',
    steps: ['ask-owner'],
    words: [/buildkitd/, /33(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'snapshots-of-a-database-on-the-host',
    thread: 'https://github.com/rancher/rancher/issues/24818',
    found:
      'Scheduled snapshots of etcd pile up in /opt/rke/etcd-snapshots of the node; as soon as space is free, the waiting ones are written and fill it again.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 55.5 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(5, 0.8, 2.4), folders: { '/opt/rke/etcd-snapshots': 34 } },
    }),
    cause: [held('unknown-folder', '/opt/rke')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/opt\/rke/, /34(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'log-of-a-metrics-exporter-in-its-container',
    thread: 'https://github.com/NVIDIA/gpu-monitoring-tools/issues/182',
    found:
      'dcgm-exporter writes nv-hostengine.log into its own container without rotation: 1.4 GB on one node, more than 8 GB on others. An environment variable made it silent.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'gpu-operator', owner: 'DaemonSet nvidia-dcgm-exporter', layerGib: 8.4 },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [held('writable-layers')],
    owner: 'gpu-operator/DaemonSet nvidia-dcgm-exporter',
    steps: ['ask-owner'],
    words: [/nvidia-dcgm-exporter/, /8\.4 GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'image-gc-that-fails-and-frees-enough',
    thread: 'https://github.com/kubernetes/kubernetes/issues/54440',
    found:
      'ImageGCFailed says that it freed 10,946,553,940 of 8,399,576,268 wanted bytes, with errors for images that stopped containers use. The disk has room: the event is noise.',
    world: nodeOf({
      disk: { gib: 160, usedGib: 122 },
      workloads: users(6),
      held: { images: images(40, 0.9, 2.7) },
      events: [
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 1 },
          message:
            'wanted to free 8399576268 bytes, but freed 10946553940 bytes space with errors in image deletion: rpc error: code = 2 desc = Error response from daemon: {"message":"conflict: unable to delete 837c76105ac2 (must be forced) - image is being used by stopped container d21ec541b826"}',
          ...{ firstMinutesAgo: 57, lastMinutesAgo: 57 },
        },
      ],
    }),
    ...nearMiss,
    notCauses: ['images-unused', 'images-in-use'],
    never: [/larger volume|drain|replace the node/],
  },
  {
    name: 'deleted-log-of-a-program-of-the-host',
    thread: 'https://github.com/grafana/loki/issues/3914',
    found:
      'promtail runs as a service of the host and keeps one deleted log file of 58,580,600,179 bytes open. Only its restart frees them.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 91 },
      diskPressure: true,
      workloads: users(5),
      held: {
        images: images(5, 0.9, 2.7),
        deletedOpen: { gib: 54.6, files: 1, process: 'promtail' },
      },
    }),
    cause: [held('deleted-open-files')],
    owner: 'platform',
    steps: ['free'],
    words: [/promtail, pid 4711,\s+by\s+its\s+unit/, /54\.6 GiB/, /systemctl restart/],
    never: [imageGc, /delete pod/, /the\s+pods\s+of\s+process/],
  },
  {
    name: 'verbose-log-of-the-kubelet',
    thread: 'https://github.com/kubernetes/kubernetes/issues/71031',
    found:
      'kubelet 1.12.2 writes 5 GB of syslog a day because of a bug; a root disk of 10 GB is full after a day. Only the API can be read. A release of the kubelet without the bug ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 10, usedGib: 9.2 }, diskPressure: true },
      workloads: users(2),
      held: { images: images(2, 0.3, 0.9), hostLogs: 5 },
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/mode both|measure/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers', 'container-logs'],
    never: [imageGc],
  },
  {
    name: 'workers-that-write-beside-their-volume',
    thread: 'https://github.com/hystax/optscale/issues/830',
    found:
      'Several workers of one product write into paths that are volumes in the pod and mounted in none of their containers: diworker and bumiworker fill the nodes, and diworker is evicted again and again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 91.5 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'optscale', owner: 'Deployment diworker', layerGib: 31 },
        { namespace: 'optscale', owner: 'Deployment bumiworker', layerGib: 17 },
        { namespace: 'optscale', owner: 'StatefulSet clickhouse', emptyDirGib: 4 },
      ],
      held: { images: images(6, 0.9, 2.7) },
    }),
    cause: [held('writable-layers')],
    owner: 'optscale/Deployment diworker',
    steps: ['ask-owner'],
    words: [/48\.0 GiB writable layers of containers \(31\.0 GiB: Deployment\s+optscale\/diworker/],
    never: [imageGc],
  },
  {
    name: 'blocks-that-only-root-can-use',
    thread: 'https://github.com/deckhouse/deckhouse/pull/1868',
    found:
      'ext4 reserves 5 % of the blocks for root: metrics of used bytes say 86 %, while what pods can use is nearly gone. The used bytes are images in use.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 86, reservedGib: 5 },
      diskPressure: true,
      workloads: users(24),
      held: { images: images(24, 1.1, 3.2) },
    }),
    cause: [held('images-in-use')],
    owner: 'platform',
    steps: ['resize'],
    words: [/host 13\.3 GiB/],
    never: [/prune-images|crictl rmi/],
  },
  {
    name: 'core-files-on-a-shared-volume',
    thread: 'https://github.com/2i2c-org/infrastructure/issues/3321',
    found:
      'Crashed notebooks write core files of up to 11 GB into a home folder on NFS. The disks of the nodes are not touched.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 36 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'prod', owner: 'Bare jupyter-user', claim: 'home-nfs' },
          claimGib: { size: 4_000, used: 3_700 },
        },
      ],
      held: { images: images(6, 1.1, 3.3) },
    }),
    ...nearMiss,
    notCauses: ['core-dumps', 'pod-volumes'],
    never: [/drain|larger volume|coredump/],
  },
]
