/** Threads of other products on the nodes. Cause, owner, step and words were written from the thread, before the first run. */
import type { ExpectedCause, Incident } from '../incident.ts'
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

/** Nothing but objects of the API server: the kubelet does not answer. */
const unread = ['configz', 'summary'] as const
const largerDisk = /larger (?:disk|volume)/
const unreadCauses: ExpectedCause[] = [{ kind: 'unread' }, held('unread')]

/** The node is not of EKS. */
const elsewhere = {
  family: 'Ubuntu' as const,
  osImage: 'Ubuntu 22.04.5 LTS',
  volumes: [],
  providerId: '',
}

export const foreignIncidents: Incident[] = [
  {
    name: 'backups-of-each-play',
    thread: 'https://github.com/kubernetes-sigs/kubespray/issues/6621',
    found:
      'Each run of the playbook copies the data of etcd to /var/backups: 50 % of the root filesystem. Pods are evicted; only older copies have to go.',
    world: nodeOf({
      ...elsewhere,
      disk: { gib: 40, usedGib: 36.9 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(4, 0.7, 2.1), folders: { '/var/backups': 20.1 } },
    }),
    cause: [held('unknown-folder', '/var/backups')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/backups/, /20\.1 GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'copies-of-each-upgrade',
    thread: 'https://github.com/kubernetes-sigs/kubespray/issues/13412',
    found:
      'kubeadm leaves a copy of etcd of 702M in /etc/kubernetes/tmp at each upgrade, and nothing deletes it. SSM alone was read.',
    world: nodeOf({
      ...{ mode: 'ssm', disk: { gib: 20, usedGib: 17.6 } },
      workloads: users(3),
      held: { images: images(3, 0.3, 0.9), folders: { '/etc/kubernetes/tmp': 9.6 } },
    }),
    cause: [held('unknown-folder', '/etc/kubernetes')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/etc\/kubernetes\/tmp/],
    never: [/not of Kubernetes/, imageGc, largerDisk],
  },
  {
    name: 'dangling-volumes-of-the-runtime',
    thread: 'https://github.com/rancher/rancher/issues/15388',
    found:
      'Volumes of ended etcd backups are left in /var/lib/docker/volumes, and all hosts of the control plane get DiskPressure. The kubelet uses this Docker: its whole folder must not be deleted.',
    world: nodeOf({
      ...elsewhere,
      runtimeVersion: 'docker://20.10.24',
      disk: { gib: 60, usedGib: 55.2 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(4, 0.7, 2.1), folders: { '/var/lib/docker/volumes': 36 } },
    }),
    cause: [
      held('unknown-folder', '/var/lib/docker/volumes'),
      held('other-runtime', '/var/lib/docker/volumes'),
    ],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [
      /docker\s+volume\s+ls/,
      /docker\s+volume\s+rm/,
      /\/var\/lib\/docker\/volumes/,
      /36(?:\.0)? GiB/,
    ],
    never: [imageGc, largerDisk, /stop docker|rm -rf(?: --)? \/var\/lib\/docker(?:\s|$)/],
  },
  {
    name: 'images-of-sixty-days',
    thread: 'https://github.com/k3s-io/k3s/issues/1976',
    found:
      '/var/lib/rancher/k3s is 12 GB on a worker after 60 days; crictl rmi --prune frees 9.4 GB. The disk is large enough, and the kubelet would delete them in time.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', ageDays: 60 },
      disk: { gib: 50, usedGib: 19 },
      workloads: users(3),
      held: { images: images(14, 0.3, 0.8) },
    }),
    ...nearMiss,
    notCauses: ['images-unused', 'not-images'],
    never: [/drain|prune-images/],
  },
  {
    name: 'pods-rejected-while-the-kubelet-starts',
    thread: 'https://github.com/kubernetes/kubernetes/issues/70618',
    found:
      'After a restart of the kubelet all pods are rejected: "Node didn\'t have enough resource: ephemeral-storage, requested: 10485760, used: 0, capacity: 0". The disk has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 31 } },
      workloads: users(5, {
        events: [
          {
            ...{ type: 'Warning', reason: 'OutOfephemeral-storage', count: 1 },
            message:
              "Node didn't have enough resource: ephemeral-storage, requested: 10485760, used: 0, capacity: 0",
            ...{ firstMinutesAgo: 12, lastMinutesAgo: 12 },
          },
        ],
      }),
      held: { images: images(5, 0.8, 2.4) },
      events: [
        {
          ...{ type: 'Normal', reason: 'Starting', count: 1 },
          message: 'Starting kubelet.',
          ...{ firstMinutesAgo: 12, lastMinutesAgo: 12 },
        },
      ],
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [largerDisk, /drain/],
  },
  {
    name: 'write-ahead-log-above-100-mebibytes',
    thread: 'https://github.com/grafana/loki/issues/19127',
    found:
      'loki-ingester is evicted: it exceeds its own limit of 100Mi of ephemeral-storage with its write-ahead log. A larger limit or a claim ends it; the node has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 26 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'monitoring', owner: 'StatefulSet loki-ingester-zone-a' },
          limits: { 'ephemeral-storage': '100Mi' },
          evicted:
            'Pod ephemeral local storage usage exceeds the total limit of containers 100Mi. ',
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [
      held('writable-layers'),
      held('pod-volumes'),
      setting('resources.limits.ephemeral-storage'),
      { kind: 'world' },
    ],
    owner: 'monitoring/StatefulSet loki-ingester-zone-a',
    steps: ['ask-owner', 'set'],
    words: [/loki-ingester-zone-a/, /100 ?Mi/],
    notCauses: ['images-in-use', 'images-unused', 'unread'],
    never: [largerDisk, /drain|prune-images/],
  },
  {
    name: 'threshold-of-two-gibibytes',
    thread: 'https://github.com/cloud-ark/kubeplus/issues/1382',
    found:
      'Threshold quantity: 2146223340, available: 1883424Ki: a disk of 20 GiB. helmer used 10304Ki; what fills the disk is not known from the events alone.',
    world: nodeOf({
      ...{ mode: 'proxy', unread, disk: { gib: 19.988, usedGib: 18.19 } },
      ...{ diskPressure: true, pressureMinutes: 6 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'default', owner: 'Deployment kubeplus-deployment' },
          requests: { 'ephemeral-storage': '10Mi' },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 2146223340, available: 1883424Ki. Container helmer was using 10304Ki, request is 10Mi, has larger consumption of ephemeral-storage. Container consumerui was using 52676Ki, request is 10Mi, has larger consumption of ephemeral-storage. ',
        },
      ],
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/1\.8\s+GiB/, /2\.0\s+GiB/],
    never: [imageGc, /move .* to (?:a|its own) volume/],
  },
  {
    name: 'home-server-without-room',
    thread: 'https://github.com/2i2c-org/infrastructure/issues/1081',
    found:
      'All user pods fail at their start: the NFS server of the home directories is full. The disks of the nodes have room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 29 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'prod', owner: 'Bare jupyter-ada', claim: 'home-nfs' },
          claimGib: { size: 4900, used: 4899.9 },
        },
      ],
      held: { images: images(4, 1.6, 4.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'prod/Bare jupyter-ada',
    steps: ['ask-owner'],
    words: [/home-nfs/],
    notCauses: ['pod-volumes', 'images-in-use', 'writable-layers'],
    never: [/drain|volumeSize|prune-images/],
  },
  {
    name: 'controller-that-leaks-memory',
    thread: 'https://github.com/projectcalico/kube-controllers/issues/375',
    found:
      'calico-kube-controllers leaks memory for 39 days until the kubelet evicts to reclaim memory. It has no limit. The kubelet alone was read.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.xlarge', memoryPressure: true },
      ...{ memoryGib: 15.4, availableMemoryGib: 0.08 },
      disk: { gib: 80, usedGib: 25 },
      workloads: [
        ...users(5, { memoryGib: 0.9, requests: { memory: '1Gi' } }),
        { namespace: 'kube-system', owner: 'Deployment calico-kube-controllers', memoryGib: 8.4 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [setting('resources.requests.memory'), setting('resources.limits.memory')],
    owner: 'kube-system/Deployment calico-kube-controllers',
    steps: ['ask-owner', 'set'],
    words: [/calico-kube-controllers/, /memory/],
    notCauses: ['images-in-use', 'writable-layers'],
    never: [largerDisk, /prune-images|containerLogMax/],
  },
  {
    name: 'builder-that-holds-its-image-in-memory',
    thread: 'https://github.com/GoogleContainerTools/kaniko/issues/909',
    found:
      'A kaniko pod without limits builds an image of 8 GB and takes 15 of 16 GB of memory of its node; it is killed.',
    world: nodeOf({
      ...{ instanceType: 'm5.xlarge', memoryPressure: true },
      ...{ memoryGib: 15.4, availableMemoryGib: 0.06 },
      disk: { gib: 100, usedGib: 44 },
      workloads: [
        ...users(3),
        { namespace: 'ci', owner: 'Bare kaniko-notebook', memoryGib: 13.2, layerGib: 8 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [setting('resources.requests.memory'), setting('resources.limits.memory')],
    owner: 'ci/Bare kaniko-notebook',
    steps: ['ask-owner', 'set'],
    words: [/delete\s+Pod\s+ci\/kaniko-notebook/, /memory/, /13\.2 GiB Pod ci/],
    notCauses: ['images-in-use', 'writable-layers'],
    never: [largerDisk, /drain/, /prune-images|containerLogMax/],
  },
  {
    name: 'pods-that-restart-without-pressure',
    thread: 'https://github.com/containerd/containerd/issues/7276',
    found:
      'All pods of nodes restart with SandboxChanged: SystemdCgroup = true is missing in the configuration of containerd. The disk and the memory have room.',
    world: nodeOf({
      disk: { gib: 120, usedGib: 38 },
      workloads: users(6, {
        events: [
          {
            ...{ type: 'Normal', reason: 'SandboxChanged', count: 3 },
            message: 'Pod sandbox changed, it will be killed and re-created.',
            ...{ firstMinutesAgo: 90, lastMinutesAgo: 14 },
          },
        ],
      }),
      held: { images: images(6, 0.8, 2.4) },
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'images-unused', 'leftover-snapshots'],
    never: [largerDisk, imageGc],
  },
  {
    name: 'build-that-copies-a-home',
    thread: 'https://github.com/okd-project/okd/issues/838',
    found:
      'A build that changes the owner of files writes without end and consumes all ephemeral storage of its node. The build pod has no limit.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 119, usedGib: 108 }, diskPressure: true },
      workloads: [
        ...users(5),
        { namespace: 'coder-jawnsy-119', owner: 'Bare example-3-build', layerGib: 79 },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [held('writable-layers')],
    owner: 'coder-jawnsy-119/Bare example-3-build',
    steps: ['ask-owner', 'free'],
    words: [/example-3-build/, /79(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'snapshots-of-a-build-agent',
    thread: 'https://github.com/clemlesne/blue-agent/issues/22',
    found:
      'azp-agent has volumes of 40G for its cache and its temporary files, and buildkit writes its snapshots beside them: /var/lib/buildkit is in the layer of the container.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 27.6 },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'agents', owner: 'Deployment azp-agent' },
          ...{ layerGib: 14.2, claim: 'azp-cache', claimGib: { size: 40, used: 3 } },
        },
      ],
      held: { images: images(4, 0.6, 1.9) },
    }),
    cause: [held('writable-layers')],
    owner: 'agents/Deployment azp-agent',
    steps: ['ask-owner', 'free'],
    words: [/azp-agent/, /14\.2 GiB/],
    never: [imageGc],
  },
  {
    name: 'image-gc-without-container-filesystems',
    thread: 'https://github.com/rancher/rancher/issues/47698',
    found:
      'Kubernetes 1.31 asks for the filesystem of containers, and cri-dockerd does not report one: ImageGCFailed again and again. A newer cri-dockerd, or KubeletSeparateDiskGC off, ends it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: 'docker://26.1.3', without: ['imageFs'] },
      disk: { gib: 80, usedGib: 47 },
      workloads: users(5),
      held: { images: images(14, 0.5, 1.5) },
      events: [
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 310 },
          message:
            'missing image stats: &ImageFsInfoResponse{ImageFilesystems:[]*FilesystemUsage{&FilesystemUsage{Timestamp:1729236001883118031,FsId:&FilesystemIdentifier{Mountpoint:/var/lib/docker,},UsedBytes:&UInt64Value{Value:3767446738,},InodesUsed:&UInt64Value{Value:227193,},},},ContainerFilesystems:[]*FilesystemUsage{},}',
          ...{ firstMinutesAgo: 1550, lastMinutesAgo: 2 },
        },
      ],
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'set', 'replace'],
    words: [/image GC/i],
    never: [/prune-images/, largerDisk, /imageGCHighThresholdPercent/],
  },
  {
    name: 'sessions-of-a-web-client',
    thread: 'https://github.com/dbeaver/cloudbeaver/issues/1366',
    found:
      'cloudbeaver keeps a file for each session below its workspace until df -i shows no free inode. Bytes are plenty.',
    world: nodeOf({
      ...{ mode: 'proxy', diskPressure: true },
      disk: { gib: 60, usedGib: 24, inodes: { all: 3_932_160, free: 118_000 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'tools', owner: 'Deployment cloudbeaver' },
          ...{ layerGib: 9, layerInodes: 3_310_000 },
        },
      ],
      held: { images: images(4, 0.7, 2.1) },
    }),
    cause: [held('writable-layers')],
    owner: 'tools/Deployment cloudbeaver',
    steps: ['ask-owner', 'free'],
    words: [/cloudbeaver/, /inode/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc],
  },
  {
    name: 'runner-that-is-only-the-victim',
    thread: 'https://github.com/actions/actions-runner-controller/issues/780',
    found:
      'A runner is evicted: docker was using 324Ki, runner was using 104Ki. Neither fills the node; the statistics were not read.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', unread: ['summary'] as const, ip: '10.42.3.2' },
      disk: { gib: 100, usedGib: 91 },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'actions-runner-system', owner: 'Deployment cicd-ghe-runner' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container docker was using 324Ki, which exceeds its request of 0. Container runner was using 104Ki, which exceeds its request of 0. ',
        },
      ],
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    notCauses: ['writable-layers', 'pod-volumes', 'images-in-use'],
    never: [imageGc, largerDisk, /move .* to (?:a|its own) volume/],
  },
  {
    name: 'space-that-du-does-not-find',
    thread: 'https://github.com/actions/actions-runner-controller/issues/4056',
    found:
      'df shows 700 GB, du 200 GB, and only on nodes with runners in dind mode: files that are deleted and still open. They stay after each job.',
    world: nodeOf({
      ...elsewhere,
      disk: { gib: 740, usedGib: 701 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'arc-runners', owner: 'Bare dind-runner', memoryGib: 2 },
      ],
      held: {
        images: images(8, 2, 6),
        deletedOpen: { gib: 497, files: 5210, owner: 'Bare dind-runner', process: 'dockerd' },
      },
    }),
    cause: [held('deleted-open-files')],
    owner: 'arc-runners/Bare dind-runner',
    steps: ['free', 'ask-owner'],
    words: [/dockerd/, /497(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'one-docker-folder-for-all-runners',
    thread: 'https://github.com/s3gw-tech/s3gw/issues/756',
    found:
      'All runners share one folder of Docker by a hostPath: 642G. docker system prune in their dockerd frees 292 GB. The kubelet does not know it.',
    world: nodeOf({
      disk: { gib: 760, usedGib: 702 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { ...{ namespace: 'ci', owner: 'Deployment runners', hostPath: '/var/lib/runner-docker' } },
      ],
      held: { images: images(3, 1.2, 3.6), folders: { '/var/lib/runner-docker': 642 } },
    }),
    cause: [
      held('host-path', '/var/lib/runner-docker'),
      held('other-runtime', '/var/lib/runner-docker'),
    ],
    owner: 'ci/Deployment runners',
    steps: ['ask-owner'],
    words: [/runner-docker/, /642(?:\.0)? GiB/],
    never: [imageGc, largerDisk, /Now: look into/],
  },
  {
    name: 'write-ahead-log-that-nothing-truncates',
    thread: 'https://github.com/prometheus/prometheus/issues/6408',
    found:
      'One of two replicas of Prometheus keeps each segment of its write-ahead log: 19 GB and more. Its storage is an emptyDir, and a restart deletes the segments.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 40, usedGib: 36.8 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'monitoring', owner: 'StatefulSet prometheus-k8s', emptyDirGib: 19.4 },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'monitoring/StatefulSet prometheus-k8s',
    steps: ['ask-owner', 'free'],
    words: [/prometheus-k8s/, /19\.4 GiB/],
    never: [imageGc],
  },
  {
    name: 'four-restores-in-one-agent',
    thread: 'https://github.com/velero-io/velero/issues/7499',
    found:
      'A restore of Velero fails: the cache of kopia in the layer of node-agent takes what is free on the node. Part of the statistics lack the layers; SSM was read.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 55.4 },
      ...{ diskPressure: true, without: ['layers'] as const },
      workloads: [
        ...users(4),
        { namespace: 'velero', owner: 'DaemonSet node-agent', layerGib: 36 },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [held('writable-layers')],
    owner: 'velero/DaemonSet node-agent',
    steps: ['ask-owner', 'free'],
    words: [/restart\s+Pod\s+velero\/node-agent/, /node-agent/, /36(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'both-percentages-of-image-gc-equal',
    thread: 'https://github.com/openshift/openshift-docs/pull/89161',
    found:
      'imageGCHighThresholdPercent and imageGCLowThresholdPercent with the same value: the kubelet does not start, and the node becomes NotReady at the next restart.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 40 },
      editedConfiguration: { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80 },
      workloads: users(4),
      held: { images: images(6, 0.8, 2.4) },
    }),
    cause: [setting('imageGCHighThresholdPercent'), setting('imageGCLowThresholdPercent')],
    owner: 'platform',
    steps: ['set'],
    words: [/imageGC(?:High|Low)ThresholdPercent/],
    never: [largerDisk, /prune-images/],
  },
  {
    name: 'mount-that-is-only-a-folder',
    thread: 'https://github.com/kubernetes-csi/csi-driver-nfs/issues/762',
    found:
      'A claim seems mounted, and the pod writes to the disk of the node below volumes/kubernetes.io~csi. The kubelet counts nothing of it.',
    world: nodeOf({
      ...elsewhere,
      disk: { gib: 80, usedGib: 74.1 },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'sandboxer', owner: 'Bare user-info-san', claim: 'shares' },
          podFolder: { path: 'volumes/kubernetes.io~csi/pvc-3d5ca3d0', gib: 54, inodes: 41_000 },
        },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [held('pod-folders', '/var/lib/kubelet/pods')],
    owner: 'sandboxer/Bare user-info-san',
    steps: ['ask-owner', 'free', 'read-more'],
    words: [/user-info-san/, /54(?:\.0)? GiB/, /into\s+the\s+volume/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'mount-lost-in-an-overload-by-the-api',
    thread: 'https://github.com/democratic-csi/democratic-csi/issues/344',
    found:
      'The mount of an NFS volume is lost under load, and the application writes into the folder below. By the API the pod uses almost nothing.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 60, usedGib: 55.6 }, diskPressure: true },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'media', owner: 'StatefulSet library', claim: 'media' },
          podFolder: { path: 'volumes/kubernetes.io~csi/pvc-d832c53e', gib: 37, inodes: 9000 },
        },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    notCauses: ['images-in-use', 'writable-layers', 'not-images'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'threads-above-the-limit-of-a-pod',
    thread: 'https://github.com/Azure/aks-engine/issues/1270',
    found:
      'After an upgrade pods crash: pthread_create() failed (11: Resource temporarily unavailable). podPidsLimit is 100 since then. The node has process ids enough.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 34 } },
      configuration: { podPidsLimit: 100 },
      pids: { max: 4_194_304, used: 2100 },
      workloads: [
        ...users(4),
        { namespace: 'web', owner: 'Deployment backend', pods: 2, processes: 100 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [setting('podPidsLimit')],
    owner: 'platform',
    steps: ['set', 'ask-owner'],
    words: [/podPidsLimit/, /backend/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [largerDisk, imageGc],
  },
  {
    name: 'disk-raised-for-a-newer-minor',
    thread: 'https://github.com/zalando-incubator/kubernetes-on-aws/pull/7171',
    found:
      'Since 1.26 pods are evicted on many clusters because the root volume of 50 GiB is too small for images and their layers. A larger volume ended it.',
    world: {
      ...byNodeClass('default', [
        { deviceName: '/dev/xvda', ebs: { volumeSize: '50Gi', volumeType: 'gp3' } },
      ]),
      nodes: [46.2, 46.9].map((usedGib, index) => ({
        ...{ mode: 'proxy' as const, nodeClass: 'default', ip: `10.0.9.${20 + index}` },
        disk: { gib: 49.9, usedGib },
        ...{ diskPressure: true, pressureMinutes: 20 },
        workloads: users(16),
        held: { images: images(16, 0.9, 2.6) },
      })),
    },
    cause: [held('images-in-use'), held('images'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    words: [/measure\s+the\s+disk[\s\S]*give\s+the\s+nodes[\s\S]*EC2NodeClass\s+default/],
    never: [/prune-images/, /delete-emptydir-data/],
  },
  {
    name: 'tags-of-each-merge',
    thread: 'https://github.com/zalando-incubator/kubernetes-on-aws/pull/7352',
    found:
      'After nine days a node is 80 % full of tags of sunrise-frontend, one of each merge. The default of image GC starts too late for them; no node is under pressure.',
    world: nodeOf({
      ...{ ageDays: 9, disk: { gib: 100, usedGib: 79.5 } },
      workloads: users(6),
      held: { images: images(58, 0.4, 1.15) },
    }),
    cause: [held('images-unused'), setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['set', 'free'],
    words: [/image GC|imageGC/],
    never: [largerDisk, /leftover/],
  },
  {
    name: 'workflows-that-nobody-deletes',
    thread: 'https://github.com/kubeflow/kubeflow/issues/2820',
    found:
      'EvictionThresholdMet 536 times in five days; image GC wants to free 8211752550 bytes and frees 0: the image is used by a running container. 4042 workflows keep their pods.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 94, usedGib: 82.5 } },
      workloads: [
        ...users(24),
        { namespace: 'kubeflow-test', owner: 'Bare kubeflow-presubmit', pods: 20, hasEnded: true },
      ],
      held: { images: images(24, 1.1, 3.1) },
      events: [
        ...flaps(144, 7200),
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 155 },
          message:
            'wanted to free 8211752550 bytes, but freed 0 bytes space with errors in image deletion: rpc error: code = Unknown desc = Error response from daemon: conflict: unable to delete 99e59f495ffa (cannot be forced) - image is being used by running container ef8d170f2284',
          ...{ firstMinutesAgo: 720, lastMinutesAgo: 2 },
        },
      ],
    }),
    cause: [
      held('images-in-use'),
      held('images'),
      { kind: 'world' },
      { kind: 'device' },
      held('unread'),
    ],
    owner: 'platform',
    steps: ['resize', 'read-more', 'free'],
    notCauses: ['writable-layers', 'pod-volumes'],
    words: [/measure\s+the\s+disk/],
    never: [/prune-images/, /leftover/],
  },
  {
    name: 'emitters-that-fill-the-disk',
    thread: 'https://github.com/fluent/fluent-bit/issues/3718',
    found:
      'rewrite_tag with filesystem storage fills the emptyDir of fluent-bit, emitter by emitter, until the node is under pressure. A restart works off the rest.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 27.6 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'logging', owner: 'Deployment fluentbit-aggregator', emptyDirGib: 13.8 },
      ],
      held: { images: images(4, 0.5, 1.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'logging/Deployment fluentbit-aggregator',
    steps: ['ask-owner', 'free'],
    words: [/fluentbit-aggregator/, /13\.8 GiB/],
    never: [imageGc],
  },
  {
    name: 'shipper-with-eighteen-gibibytes',
    thread: 'https://github.com/fluent/fluent-bit/issues/11279',
    found:
      'fluent-bit 4.1.1 under back-pressure takes 18Gi of memory and has no limit. Pods of the node are evicted for memory.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', memoryPressure: true, availableMemoryGib: 0.07 },
      disk: { gib: 150, usedGib: 51 },
      workloads: [
        ...users(5, { memoryGib: 1.9, requests: { memory: '2Gi' } }),
        { namespace: 'logging', owner: 'DaemonSet fluent-bit', memoryGib: 18 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [setting('resources.requests.memory'), setting('resources.limits.memory')],
    owner: 'logging/DaemonSet fluent-bit',
    steps: ['ask-owner', 'set'],
    words: [/fluent-bit/, /18(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'host-path'],
    never: [largerDisk, /prune-images/],
  },
  {
    name: 'best-effort-javas-on-8-gi',
    thread: 'https://github.com/jetstack/tarmak/issues/289',
    found:
      'Eight best-effort pods of Java with 1 GB each on an m4.large that reserves almost nothing: the node stops posting its status. The kubelet needs more reserved memory.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.large', memoryGib: 7.7, availableMemoryGib: 0.12 },
      disk: { gib: 50, usedGib: 17 },
      configuration: { kubeReserved: { cpu: '70m', memory: '100Mi' } },
      workloads: [
        { namespace: 'default', owner: 'Deployment java-example', pods: 8, memoryGib: 0.85 },
      ],
      held: { images: images(2, 0.4, 1.2) },
    }),
    cause: [setting('kubeReserved'), setting('evictionHard'), setting('systemReserved')],
    owner: 'platform',
    steps: ['set'],
    words: [/memory/],
    notCauses: ['images-in-use'],
    never: [largerDisk, imageGc],
  },
  {
    name: 'executors-that-are-victims',
    thread: 'https://github.com/kubeflow/spark-operator/issues/772',
    found:
      'A Spark executor is evicted: it was using 160Ki. Another executor of the same node has spilled into its emptyDir; no ephemeral-storage is requested.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 73 }, diskPressure: true },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'spark', owner: 'Bare executor-4', pods: 1 },
          evicted:
            'The node was low on resource: ephemeral-storage. Container executor was using 160Ki, which exceeds its request of 0. ',
        },
        { namespace: 'spark', owner: 'Bare executor-7', emptyDirGib: 57 },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'spark/Bare executor-7',
    steps: ['ask-owner', 'free'],
    words: [/executor-7/, /57(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'work-folder-above-one-gibibyte',
    thread: 'https://github.com/bitnami/charts/issues/14538',
    found:
      'A worker of bitnami/spark is evicted at each second job: it exceeds its limit of 1Gi of ephemeral-storage, which the namespace sets. Its node has room.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 33 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'my-namespace', owner: 'StatefulSet my-release-worker', layerGib: 1.2 },
          limits: { 'ephemeral-storage': '1Gi' },
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [held('writable-layers'), setting('resources.limits.ephemeral-storage')],
    owner: 'my-namespace/StatefulSet my-release-worker',
    steps: ['ask-owner', 'set'],
    words: [/my-release-worker/, /1\.2 GiB/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [largerDisk, /drain|prune-images/],
  },
  {
    name: 'pods-that-wait-for-a-busy-mount',
    thread: 'https://github.com/kubernetes/kubernetes/issues/122342',
    found:
      'Pods of a StatefulSet stay in Terminating: their device is mounted by other references. The node has no pressure; a claim holds the data.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 27 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'default', owner: 'StatefulSet nginx', pods: 2, deletedMinutesAgo: 25 },
          ...{ claim: 'www-nginx-1', claimGib: { size: 10, used: 1 } },
        },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    ...nearMiss,
    notCauses: ['pod-volumes', 'orphaned-pods', 'images-in-use'],
    never: [largerDisk, imageGc],
  },
  {
    name: 'threshold-of-memory-that-no-provisioner-knows',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/8367',
    found:
      'A custom AMI evicts at 5 % of memory. Karpenter does not know it, and now and then a pod does not fit its new node. No node is under pressure.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'default', disk: { gib: 80, usedGib: 22 } },
        configuration: {
          evictionHard: {
            ...{ 'memory.available': '5%', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
          },
        },
        workloads: users(5),
        held: { images: images(5, 0.8, 2.4) },
      },
      byNodeClass('default', [
        { deviceName: '/dev/xvda', ebs: { volumeSize: '80Gi', volumeType: 'gp3' } },
      ]),
    ),
    ...nearMiss,
    notCauses: ['images-in-use', 'images-unused'],
    never: [largerDisk, /drain/],
  },
  {
    name: 'first-pressure-of-a-node-of-40-minutes',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/1415',
    found:
      'Nodes of Karpenter get NodeHasDiskPressure about 40 minutes after their start: 20 GB, and one workload that writes. What it writes was not found.',
    world: nodeOf({
      ...{ mode: 'proxy', ageDays: 0.03, disk: { gib: 19.9, usedGib: 18.1 } },
      ...{ diskPressure: true, pressureMinutes: 2 },
      workloads: [
        ...users(3),
        { namespace: 'batch', owner: 'Deployment importer', pods: 2, layerGib: 4.1 },
      ],
      held: { images: images(3, 0.6, 1.7) },
    }),
    cause: [held('writable-layers')],
    owner: 'batch/Deployment importer',
    steps: ['ask-owner', 'free'],
    words: [/importer/, /8\.2 GiB|4\.1 GiB/],
    never: [imageGc],
  },
  {
    name: 'memory-that-only-the-kernel-holds',
    thread: 'https://github.com/sipb/homeworld/issues/458',
    found:
      'Nodes crash each week without memory: 22 GB of kernel dynamic memory, 0.7 GB of all processes. A pod that is started each few seconds is its cause.',
    world: nodeOf({
      ...{ ...elsewhere, memoryPressure: true, availableMemoryGib: 0.09 },
      disk: { gib: 120, usedGib: 33 },
      workloads: users(4),
      held: { images: images(4, 0.8, 2.4) },
      kernel: { memoryCgroups: 310 },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'replace', 'free'],
    words: [/memory/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [largerDisk, imageGc],
  },
  {
    name: 'kubelet-with-a-flag-of-yesterday',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/1398',
    found:
      'The kubelet of a GPU AMI does not start: "failed to parse kubelet flag: unknown flag: --container-runtime". The node is silent. An AMI of another day ends it.',
    world: nodeOf({
      ...{ mode: 'proxy', unread, silent: true, ageDays: 0.2 },
      disk: { gib: 50, usedGib: 12 },
      workloads: users(2),
    }),
    cause: [{ kind: 'unread' }, { kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'replace', 'free'],
    words: [/Ready is Unknown/],
    never: [largerDisk, imageGc],
  },
  {
    name: 'metrics-of-hundreds-of-pods',
    thread: 'https://github.com/vanvalenlab/kiosk-console/issues/296',
    found:
      'Prometheus is evicted again and again for memory while it watches hundreds of pods; it requests 500Mi and uses 7 GB. A larger request on a larger node ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.large', memoryPressure: true },
      ...{ memoryGib: 7.7, availableMemoryGib: 0.09 },
      disk: { gib: 60, usedGib: 19 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'monitoring', owner: 'StatefulSet prometheus-operator', memoryGib: 5.9 },
          requests: { memory: '500Mi' },
        },
      ],
      held: { images: images(4, 0.6, 1.8) },
    }),
    cause: [setting('resources.requests.memory'), setting('resources.limits.memory')],
    owner: 'monitoring/StatefulSet prometheus-operator',
    steps: ['ask-owner', 'set'],
    words: [/prometheus-operator/, /5\.9 GiB/],
    notCauses: ['images-in-use', 'writable-layers'],
    never: [largerDisk, /prune-images/],
  },
  {
    name: 'seven-days-of-tags-below-the-threshold',
    thread: 'https://github.com/davealtena/homelab/pull/1411',
    found:
      'Ceph warns at 70 % of the disk; image GC starts at 85 %. 478 superseded tags are below it. Percentages of 70 and 55 and an age of 168h ended it; the kubelet itself has no pressure.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', ageDays: 60, disk: { gib: 230, usedGib: 163 } },
      configuration: { nodeStatusMaxImages: -1 },
      workloads: users(12),
      held: { images: images(128, 0.35, 1.05) },
    }),
    ...nearMiss,
    notCauses: ['not-images', 'leftover-snapshots'],
    never: [largerDisk, /drain/],
  },
  {
    name: 'thresholds-of-a-hardened-file-lost-inodes',
    thread: 'https://github.com/kubernetes/website/pull/36960',
    found:
      'evictionHard with memory.available alone sets the other thresholds to 0. The disk of 60 GiB is 93 % full of the layer of one workload, and the kubelet does nothing.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 55.8 },
      configuration: {
        evictionHard: { 'memory.available': '200Mi' },
        imageGCHighThresholdPercent: 85,
        imageGCLowThresholdPercent: 80,
      },
      workloads: [...users(4), { namespace: 'shop', owner: 'Deployment thumbnails', layerGib: 38 }],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [held('writable-layers'), setting('evictionHard')],
    owner: 'shop/Deployment thumbnails',
    steps: ['free'],
    words: [/Now: delete\s+Pod\s+shop\/thumbnails/, /default eviction threshold is lost/],
    never: [imageGc],
  },
  {
    name: 'flaps-of-a-small-image-disk',
    thread: 'https://github.com/elastic/helm-charts/issues/643',
    found:
      'Kibana is evicted each few minutes on EKS 1.15: the node had condition DiskPressure. Image GC and pulls take turns on a disk of 20 GiB.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 19.9, usedGib: 17.6 } },
      configuration: { evictionHard: evictionOf({ 'nodefs.available': '10%' }).evictionHard },
      workloads: users(5),
      held: { images: images(9, 0.6, 1.65) },
      events: flaps(31, 1440),
    }),
    cause: [
      held('images-in-use'),
      held('images-unused'),
      held('images'),
      setting('imageGCHighThresholdPercent'),
      setting('evictionHard'),
      { kind: 'device' },
    ],
    owner: 'platform',
    steps: ['resize', 'free', 'set', 'read-more'],
    words: [/31/],
    never: [/leftover/],
  },
]
