/** Threads of all subjects, most read by the API alone. Cause, owner and step were written before the first run. */
import type { Incident } from '../incident.ts'
import { evictionOf, held, imageGc, images, nearMiss, nodeOf, users } from '../short-forms.ts'

const unread = { kind: 'unread' } as const

export const heldOutIncidents: Incident[] = [
  {
    name: 'metrics-store-in-an-empty-dir',
    thread: 'https://github.com/operate-first/operations/issues/351',
    found:
      'A node is under disk pressure: a Prometheus pod keeps almost 200 GB in an emptyDir. A claim ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 280, usedGib: 257 }, diskPressure: true },
      workloads: [
        ...users(8, { logsGib: 0.3 }),
        {
          ...{ namespace: 'openshift-monitoring', owner: 'StatefulSet prometheus-k8s' },
          emptyDirGib: 198,
        },
      ],
      held: { images: images(12, 0.9, 2.7) },
    }),
    cause: [held('pod-volumes')],
    owner: 'openshift-monitoring/StatefulSet prometheus-k8s',
    steps: ['ask-owner'],
    words: [/prometheus-k8s/, /198(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc],
  },
  {
    name: 'rotated-logs-kept-open-by-a-log-router',
    thread: 'https://github.com/vmware-archive/kube-fluentd-operator/issues/336',
    found:
      'Under a heavy load of logs the log router keeps deleted files open, until the disk of the node is full. A restart of its pods gives all of it back.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 93 },
      diskPressure: true,
      workloads: [
        ...users(6, { logsGib: 0.4 }),
        { namespace: 'kube-system', owner: 'DaemonSet log-router', hostPath: '/var/log' },
      ],
      held: {
        images: images(6, 0.8, 2.4),
        deletedOpen: { gib: 58, files: 1_100, owner: 'DaemonSet log-router', process: 'ruby' },
      },
    }),
    cause: [held('deleted-open-files')],
    owner: 'kube-system/DaemonSet log-router',
    steps: ['free'],
    words: [/log-router/, /58(?:\.0)? GiB/, /restart/],
    notCauses: ['container-logs', 'images-in-use'],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'images-of-docker-in-docker-on-the-host',
    thread: 'https://github.com/jupyterhub/mybinder.org-deploy/issues/754',
    found:
      'The image cache of docker-in-docker lies in /var/lib/dind of the host and fills long-lived nodes; no garbage collection of the kubelet sees it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 500, usedGib: 461 }, diskPressure: true },
      workloads: [
        ...users(10),
        { namespace: 'prod', owner: 'DaemonSet dind', hostPath: '/var/lib/dind' },
      ],
      held: { images: images(14, 1.1, 3.2), folders: { '/var/lib/dind': 380 } },
    }),
    cause: [unread, held('host-path', '/var/lib/dind')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/var\/lib\/dind/, /dind/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [imageGc, /drain the node: each/],
  },
  {
    name: 'image-larger-than-the-free-space',
    thread: 'https://github.com/tableau/tableau-server-in-kubernetes/issues/14',
    found:
      'A pull fails with "no space left on device": the image is so large that the disk of the node cannot take it. 50 GB ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 9.5 } },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'tableau', owner: 'StatefulSet tableau-server', waiting: 'ErrImagePull' },
          message:
            'failed to pull and unpack image "111122223333.dkr.ecr.us-east-1.amazonaws.com/tableau-server:1": failed to extract layer sha256:4f4fb700ef54: write /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/91/fs/tableau-server.rpm: no space left on device: unknown',
        },
      ],
      held: { images: images(2, 0.8, 2.3) },
    }),
    cause: [{ kind: 'device' }, { kind: 'world' }, held('images-in-use')],
    owner: 'platform',
    steps: ['resize'],
    words: [/no space left|larger|volumeSize/i],
    never: [imageGc, /pin the images/],
  },
  {
    name: 'pinned-pause-image-gone',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/2166',
    found:
      'AMI 1.30-v20241024: new pods wait, for the pause image is missing on one node, and containerd has no credentials for ECR to pull it again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 52 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment api', waiting: 'ContainerCreating' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', count: 210 },
              message:
                'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5": failed to pull image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5": failed to pull and unpack image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5": failed to resolve reference "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5": pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials',
              ...{ firstMinutesAgo: 48, lastMinutesAgo: 2 },
            },
          ],
        },
      ],
      held: { images: images(8, 1, 3) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set', 'read-more', 'replace', 'free'],
    words: [/pause/],
    never: [/larger volume/, /imageGCHighThresholdPercent/],
  },
  {
    name: 'full-tmpfs-beside-a-free-disk',
    thread: 'https://github.com/kubernetes/kubernetes/issues/73208',
    found:
      'Logs of the container runtime fill /run, a tmpfs of 7.4 GB. The disk of the node is 16 % full.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 95, usedGib: 15 } },
      workloads: users(4),
      held: { images: images(4, 0.7, 2) },
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'images-unused', 'host-logs'],
    never: [/drain|larger volume/],
  },
  {
    name: 'core-files-in-a-claim',
    thread: 'https://github.com/zalando/postgres-operator/issues/902',
    found:
      'Core files of PostgreSQL fill a volume of 200 GB within 15 minutes. The volume is a claim on a disk of its own; the disk of the node has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 50, usedGib: 14 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'db', owner: 'StatefulSet postgres-patroni' },
          ...{ claim: 'pgdata-postgres-patroni-0', claimGib: { size: 200, used: 199.9 } },
        },
      ],
      held: { images: images(4, 0.7, 2) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'db/StatefulSet postgres-patroni',
    steps: ['ask-owner'],
    words: [/pgdata-postgres-patroni-0/],
    notCauses: ['core-dumps', 'pod-volumes', 'writable-layers'],
    never: [/drain|larger volume|coredump/],
  },
  {
    name: 'scheduler-that-logs-into-its-layer',
    thread: 'https://github.com/volcano-sh/volcano/issues/759',
    found:
      'With -alsologtostderr and no log_dir the scheduler writes its log into /tmp of its container, without an end, until it is evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 40, usedGib: 37 }, diskPressure: true },
      workloads: [
        ...users(4, { logsGib: 0.2 }),
        { namespace: 'volcano-system', owner: 'Deployment volcano-scheduler', layerGib: 17.5 },
        {
          ...{ namespace: 'volcano-system', owner: 'Deployment volcano-scheduler' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container volcano-scheduler was using 18022400Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(5, 0.9, 2.6) },
    }),
    cause: [held('writable-layers')],
    owner: 'volcano-system/Deployment volcano-scheduler',
    steps: ['ask-owner'],
    words: [/volcano-scheduler/, /17\.5 GiB/],
    notCauses: ['container-logs', 'images-in-use'],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'cache-of-a-storage-driver',
    thread: 'https://github.com/seaweedfs/seaweedfs-csi-driver/issues/20',
    found:
      'The CSI driver writes its cache into /tmp of its container, without a limit, until the disk of the node is full.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 60, usedGib: 55.5 }, diskPressure: true },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'default', owner: 'DaemonSet csi-seaweedfs-node', layerGib: 27 },
          hostPath: '/var/lib/kubelet/plugins',
        },
      ],
      held: { images: images(8, 0.9, 2.6) },
    }),
    cause: [held('writable-layers')],
    owner: 'default/DaemonSet csi-seaweedfs-node',
    steps: ['ask-owner'],
    words: [/csi-seaweedfs-node/, /27(?:\.\d)? GiB/],
    // Its restart ends the mounts of other pods.
    never: [imageGc, /restart DaemonSet/],
  },
  {
    name: 'first-victim-with-one-gibibyte',
    thread: 'https://github.com/Tanguille/cluster/pull/4607',
    found:
      'Threshold 80463020976, available 78017988Ki: the first victim used 1.1 GiB without a request, and all pods together less than 3 GiB. What holds the other 670 GiB is not in the pods.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 749.37, usedGib: 674.96 }, diskPressure: true },
      workloads: [
        ...users(6),
        { namespace: 'media', owner: 'Deployment fileflows', layerGib: 1.27 },
        { namespace: 'default', owner: 'Deployment nextcloud', layerGib: 0.65 },
        {
          ...{ namespace: 'ai', owner: 'StatefulSet qwen38-27b-vllm', layerGib: 0.33 },
          hostPath: '/var/mnt/kv',
        },
      ],
      held: { images: images(9, 2.2, 5), folders: { '/var/mnt/kv': 590 } },
    }),
    cause: [unread],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/var\/mnt\/kv/],
    notCauses: ['writable-layers', 'images-in-use', 'images-unused', 'not-images'],
    never: [imageGc, /fileflows.{0,60}ephemeral-storage/],
  },
  {
    name: 'log-of-a-discovery-daemon',
    thread: 'https://github.com/rook/rook/issues/16253',
    found:
      'rook-discover writes ceph-volume.log into /var/log/ceph of its container: 200 GB after 200 days; the root disk is full and pods are evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 300, usedGib: 276 }, diskPressure: true },
      workloads: [
        ...users(9, { logsGib: 0.5 }),
        { namespace: 'rook-ceph', owner: 'DaemonSet rook-discover', layerGib: 200 },
      ],
      held: { images: images(10, 1.3, 3.8) },
    }),
    cause: [held('writable-layers')],
    owner: 'rook-ceph/DaemonSet rook-discover',
    steps: ['ask-owner'],
    words: [/rook-discover/, /200(?:\.\d)? GiB/],
    notCauses: ['host-logs', 'container-logs', 'images-in-use'],
    never: [imageGc, /journal|drain/],
  },
  {
    name: 'block-file-of-a-storage-cluster',
    thread: 'https://github.com/rook/rook/issues/1292',
    found:
      'The file bluestore-block below /var/lib/rook/osd0 has 390 of 453 GB of the root disk, though the cluster stores little: the kubelet reports disk pressure.',
    world: nodeOf({
      disk: { gib: 453, usedGib: 401 },
      diskPressure: true,
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: [
        ...users(3),
        { namespace: 'rook', owner: 'DaemonSet osd', hostPath: '/var/lib/rook' },
      ],
      held: { images: images(3, 0.6, 1.8), folders: { '/var/lib/rook': 390 } },
    }),
    cause: [held('host-path', '/var/lib/rook')],
    owner: 'rook/DaemonSet osd',
    steps: ['ask-owner'],
    words: [/\/var\/lib\/rook/, /390(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'evictionHard.imagefs.available'],
    never: [imageGc],
  },
  {
    name: 'tables-of-a-log-in-a-local-volume',
    thread: 'https://github.com/openreplay/openreplay/issues/4515',
    found:
      'Tables of the own log of ClickHouse have 107 GiB of a local volume, and no clean-up of the product sees them: disk pressure, and all pods go.',
    world: nodeOf({
      mode: 'ssm',
      disk: { gib: 160, usedGib: 148 },
      diskPressure: true,
      workloads: [
        ...users(8),
        { namespace: 'db', owner: 'StatefulSet clickhouse', claim: 'data-clickhouse-0' },
      ],
      held: {
        images: images(10, 0.8, 2.4),
        localVolume: {
          path: '/var/lib/rancher/k3s/storage/pvc-7c1f_db_data-clickhouse-0',
          ...{ gib: 108, owner: 'StatefulSet clickhouse' },
        },
      },
    }),
    cause: [held('local-volumes')],
    owner: 'db/StatefulSet clickhouse',
    steps: ['ask-owner'],
    words: [/clickhouse/, /108(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'broker-without-a-claim',
    thread: 'https://github.com/risingwavelabs/risingwave/issues/8250',
    found:
      'EKS: the data of a Kafka broker lies in an emptyDir, for its persistence is off. The broker itself is evicted, again and again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 73.5 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'longevity', owner: 'StatefulSet benchmark-kafka', emptyDirGib: 54 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'longevity/StatefulSet benchmark-kafka',
    steps: ['ask-owner'],
    words: [/benchmark-kafka/, /54(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'layers-of-weekly-updates',
    thread: 'https://github.com/tscibilia/home-ops/issues/3495',
    found:
      'Layers of old images take 69 to 73 % of 400 GiB: another product warns at 70 %. The kubelet deletes nothing below 85 %, and nothing is wrong with the node.',
    world: nodeOf({
      ...{ disk: { gib: 400, usedGib: 292 }, workloads: users(20) },
      held: { images: images(90, 1, 2.9) },
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'system'],
    never: [/drain|larger volume|replace the node/],
  },
  {
    name: 'log-of-a-proxy-in-a-loop',
    thread: 'https://github.com/kubernetes/kubernetes/issues/3943',
    found:
      'kube-proxy repeats one error without end: /var/log/kube-proxy.log has 8.7 GB and fills the disk of the node.',
    world: nodeOf({
      mode: 'ssm',
      disk: { gib: 16, usedGib: 15.2 },
      diskPressure: true,
      workloads: users(2),
      held: { images: images(2, 0.4, 1.1), hostLogs: 8.7 },
    }),
    cause: [held('host-logs', '/var/log')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/log/, /8\.7 GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'kubelet-on-a-small-root-disk',
    thread: 'https://github.com/kubernetes/kubernetes/issues/66961',
    found:
      'The root folder of Docker has 672 GB free, and the node has disk pressure: /var/lib/kubelet lies on the small root disk, of which 3 GB are left.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 40, usedGib: 37 },
      imageDisk: { gib: 1000, usedGib: 328, device: '/dev/nvme1n1', mount: '/opt/avatar' },
      diskPressure: true,
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: users(5),
      held: { images: images(40, 2.4, 6.8) },
    }),
    cause: [unread],
    owner: 'platform',
    steps: ['read-more'],
    words: [/nodefs/],
    notCauses: ['images-in-use', 'images-unused', 'evictionHard.imagefs.available'],
    never: [imageGc],
  },
  {
    name: 'snapshots-of-image-builds',
    thread: 'https://github.com/GoogleContainerTools/kaniko/issues/1945',
    found:
      'kaniko keeps its snapshots in /kaniko of the container, beside the volume for /builds: several builds at once fill the disk of the node.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 74 }, diskPressure: true },
      workloads: [
        ...users(4),
        {
          namespace: 'gitlab',
          owner: 'Bare runner-build',
          pods: 4,
          layerGib: 12.5,
          emptyDirGib: 1,
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [held('writable-layers')],
    owner: 'gitlab/Bare runner-build',
    steps: ['ask-owner'],
    words: [/runner-build/, /50(?:\.0)? GiB|12\.5 GiB/],
    notCauses: ['pod-volumes', 'images-in-use'],
    never: [imageGc],
  },
  {
    name: 'log-above-its-limit-for-a-moment',
    thread: 'https://github.com/kubernetes/kubernetes/issues/134287',
    found:
      'containerLogMaxSize is 1536Ki, and one log had 8 MB before it was rotated: the kubelet looks only every few seconds. The disk has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 33 } },
      configuration: { containerLogMaxSize: '1536Ki', containerLogMaxFiles: 12 },
      workloads: users(5, { logsGib: 0.02 }),
      held: { images: images(5, 1, 3) },
    }),
    ...nearMiss,
    notCauses: ['container-logs'],
    never: [/drain|larger volume/],
  },
]
