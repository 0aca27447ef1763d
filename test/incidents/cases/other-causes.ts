/** Causes that are no holder of a disk, and near misses. Most show only what the API has. Cause, owner and step were written before the first run. */
import type { Incident } from '../incident.ts'
import { byNodeClass, held, imageGc, images, nearMiss, nodeOf, users } from '../short-forms.ts'

/** What frees or enlarges a disk, where the disk is not the cause. */
const diskSteps = /prune-images|crictl rmi|larger volume|volumeSize|imageGCHighThresholdPercent/

const pauseImage = '602401143452.dkr.ecr.us-east-2.amazonaws.com/eks/pause:3.1-eksbuild.1'

const creating = (owner: string, namespace: string, message: string, pods = 1) => ({
  ...{ namespace, owner, pods, waiting: 'ContainerCreating', message: undefined },
  events: [
    {
      ...{ type: 'Warning' as const, reason: 'FailedCreatePodSandBox', count: 37, message },
      ...{ firstMinutesAgo: 52, lastMinutesAgo: 1 },
    },
  ],
})

export const otherCauseIncidents: Incident[] = [
  {
    name: 'fragmented-free-space',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/1224',
    found:
      'XFS of 80 GB with 41 GB used and free inodes refuses new files: its free space is in small pieces, because Fluent Bit writes small chunks to the disk while its output is down.',
    world: nodeOf({
      ...{
        mode: 'proxy',
        disk: { gib: 80, usedGib: 41, inodes: { all: 41_942_464, free: 40_917_310 } },
      },
      workloads: [
        ...users(5, { logsGib: 0.35 }),
        {
          ...{ namespace: 'logging', owner: 'DaemonSet fluent-bit' },
          hostPath: '/var/fluent-bit/state',
        },
        {
          ...{ namespace: 'apps', owner: 'Deployment checkout', waiting: 'CreateContainerError' },
          message:
            'failed to create containerd container: create snapshot: mkdir /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/new-1913: no space left on device',
        },
      ],
      held: { images: images(6, 1, 2.9), folders: { '/var/fluent-bit': 14.2 } },
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/no space left/i, /kubelet\s+reports\s+have\s+room/],
    notCauses: ['images-in-use', 'images-unused', 'host-path'],
    never: [diskSteps],
  },
  {
    name: 'sandbox-image-behind-a-mount',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/2161',
    found:
      'User data mounts /dev/xvdb on /var/lib/containerd of AL2023 and so hides the pause image that the AMI brings: no pod starts, and the node stays NotReady. The image is localhost/kubernetes/pause; no registry has it.',
    world: nodeOf({
      ...{ mode: 'proxy', ageDays: 0.03 },
      disk: { gib: 50, usedGib: 4.1 },
      imageDisk: { gib: 100, usedGib: 0.8, device: '/dev/nvme1n1', mount: '/var/lib/containerd' },
      volumes: [
        { device: '/dev/xvda', gib: 50 },
        { device: '/dev/xvdb', gib: 100 },
      ],
      workloads: [
        creating(
          'DaemonSet aws-node',
          'kube-system',
          'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to start sandbox "5f1d": failed to get sandbox image "localhost/kubernetes/pause": failed to pull image "localhost/kubernetes/pause": failed to pull and unpack image "localhost/kubernetes/pause:latest": failed to resolve reference "localhost/kubernetes/pause:latest": failed to do request: Head "http://localhost/v2/kubernetes/pause/manifests/latest": dial tcp 127.0.0.1:80: connect: connection refused',
        ),
        creating(
          'DaemonSet kube-proxy',
          'kube-system',
          'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to start sandbox "77ac": failed to get sandbox image "localhost/kubernetes/pause": failed to pull image "localhost/kubernetes/pause": failed to pull and unpack image "localhost/kubernetes/pause:latest": failed to resolve reference "localhost/kubernetes/pause:latest": failed to do request: Head "http://localhost/v2/kubernetes/pause/manifests/latest": dial tcp 127.0.0.1:80: connect: connection refused',
        ),
      ],
      held: {},
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'set', 'replace', 'free'],
    words: [/sandbox image/i, /mount/],
    never: [diskSteps],
  },
  {
    name: 'data-partition-on-the-system-volume',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/2915',
    found:
      'Bottlerocket 1.13.0 with a system volume of 4 GiB, not 2: it makes its data partition in the rest of the system volume, and the data volume stays unused. Containers fail to unpack. The default size of /dev/xvda ended it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
        osImage: 'Bottlerocket OS 1.13.0 (aws-k8s-1.22)',
        disk: { gib: 1.95, usedGib: 1.83 },
        diskPressure: true,
        volumes: [
          { device: '/dev/xvda', gib: 4 },
          { device: '/dev/xvdb', gib: 50 },
        ],
        workloads: [
          { namespace: 'kube-system', owner: 'DaemonSet aws-node' },
          { namespace: 'kube-system', owner: 'DaemonSet kube-proxy' },
          {
            ...{ namespace: 'apps', owner: 'Deployment web', pods: 2, waiting: 'ErrImagePull' },
            message:
              'failed to pull and unpack image "111122223333.dkr.ecr.us-east-1.amazonaws.com/web:1": failed to extract layer sha256:91ab: write /var/lib/containerd/tmpmounts/containerd-mount118/usr/lib/libicudata.so: no space left on device: unknown',
          },
        ],
        held: { images: images(2, 0.25, 0.6) },
      },
      {
        nodegroups: [
          {
            ...{ nodegroupName: 'workers', amiType: 'BOTTLEROCKET_x86_64' },
            launchTemplate: { id: 'lt-0d', name: 'workers', version: '7' },
          },
        ],
        launchTemplates: [
          {
            ...{ launchTemplateId: 'lt-0d', launchTemplateName: 'workers', versionNumber: 7 },
            volumes: [
              { deviceName: '/dev/xvda', sizeGiB: 4 },
              { deviceName: '/dev/xvdb', sizeGiB: 50 },
            ],
          },
        ],
      },
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set'],
    words: [/50\.0 GiB/, /\/dev\/xvda/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/prune-images|crictl rmi|larger disk|reboot/],
  },
  {
    name: 'system-volume-that-stays-small',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/6214',
    found:
      'An EC2NodeClass of Bottlerocket asks for 5 GiB of /dev/xvda; /dev/root stays at 904 MB and 71 %. That partition is immutable and has a fixed size: nothing is wrong. The data volume has 50 GB, 3.6 GB of them used.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', nodeClass: 'default', ageDays: 0.2 },
        disk: { gib: 49.9, usedGib: 3.6 },
        volumes: [
          { device: '/dev/xvda', gib: 5 },
          { device: '/dev/xvdb', gib: 50 },
        ],
        workloads: users(3),
        held: { images: images(3, 0.3, 0.8) },
      },
      byNodeClass(
        'default',
        [
          { deviceName: '/dev/xvda', ebs: { volumeSize: '5Gi', volumeType: 'gp3' } },
          { deviceName: '/dev/xvdb', ebs: { volumeSize: '50Gi', volumeType: 'gp3' } },
        ],
        { amiFamily: 'Bottlerocket' },
      ),
    ),
    ...nearMiss,
    never: [diskSteps, /xvd[ab]/],
  },
  {
    name: 'shims-of-ended-cron-jobs',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/4651',
    found:
      'A node for 120 CronJobs loses memory day by day: containerd 2.1.4 leaves a shim of pods that have ended. Pods take 100 to 160 MiB each. Another containerd, and new nodes until then, ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Bottlerocket', memoryPressure: true },
      osImage: 'Bottlerocket OS 1.47.0 (aws-k8s-1.33)',
      runtimeVersion: '2.1.4+bottlerocket',
      disk: { gib: 80, usedGib: 24.6 },
      availableMemoryGib: 0.09,
      pids: { max: 4_194_304, used: 9_830 },
      workloads: [
        ...users(3, { memoryGib: 0.4 }),
        { namespace: 'batch', owner: 'Job import-29301', memoryGib: 0.14 },
        { namespace: 'batch', owner: 'Job rates-29301', memoryGib: 0.16 },
        { namespace: 'batch', owner: 'Job mails-29300', pods: 9, hasEnded: true },
      ],
      held: { images: images(9, 0.6, 1.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['replace', 'read-more', 'set'],
    words: [/get --raw \/api\/v1\/nodes\/\S+\/proxy\/stats\/summary/, /no pod uses much memory/],
    notCauses: ['resources.requests.memory', 'images-unused'],
    never: [diskSteps, /import-29301|rates-29301/],
  },
  {
    name: 'shims-that-take-the-process-ids',
    thread: 'https://github.com/containerd/containerd/issues/8381',
    found:
      'containerd 1.6.20 leaves shims of deleted containers until the node has no process ids. Its pods have few processes. A restart of containerd does not end them; a new node does.',
    world: nodeOf({
      ...{ mode: 'proxy', version: '1.32.9', runtimeVersion: '1.6.20' },
      disk: { gib: 100, usedGib: 37 },
      pids: { max: 32_768, used: 32_110 },
      configuration: { podPidsLimit: -1 },
      workloads: [
        ...users(6, { processes: 14 }),
        { namespace: 'ci', owner: 'Job build-881', processes: 61 },
        { namespace: 'ci', owner: 'Job build-880', pods: 5, hasEnded: true },
      ],
      held: { images: images(8, 1, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['replace', 'read-more'],
    words: [/threads\s+or\s+zombies\s+of\s+pods,\s+or\s+programs\s+of\s+the\s+host/],
    notCauses: ['podPidsLimit', 'evictionHard.pid.available', 'images-unused'],
    never: [diskSteps, /build-881/],
  },
  {
    name: 'a-file-for-each-log-line',
    thread: 'https://www.michal-drozd.com/en/blog/kubernetes-inode-exhaustion-overlayfs/',
    found:
      'A logging sidecar writes one JSON file for each entry into its own layer: 500 MB, 12 million inodes. 98 % of the inodes of the node are used, 40 GB of its disk are free, and PostgreSQL cannot write its log.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 100, usedGib: 60, inodes: { all: 12_480_000, free: 249_600 } },
      diskPressure: true,
      workloads: [
        ...users(5),
        { namespace: 'db', owner: 'StatefulSet postgres', layerGib: 0.6, memoryGib: 3 },
        {
          ...{ namespace: 'payments', owner: 'Deployment ledger', container: 'log-sidecar' },
          ...{ layerGib: 0.5, layerInodes: 11_800_000 },
        },
      ],
      held: { images: images(9, 1.7, 4.6) },
    }),
    cause: [held('writable-layers')],
    owner: 'payments/Deployment ledger',
    steps: ['ask-owner', 'free'],
    words: [/inode/i, /ledger/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [diskSteps, /postgres/, /--limits=ephemeral-storage/],
  },
  {
    name: 'seccomp-filter-of-a-kernel',
    thread: 'https://changelog.skyscrapers.eu/kubernetes/2023/05/30/bpf-jit-limit-postmortem.html',
    found:
      'A kernel of the EKS AMI leaks BPF memory: new pods of CronJobs stay in ContainerCreating with errno 524. A newer AMI ended it. No disk has anything to do with it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 58 } },
      workloads: [
        ...users(6),
        creating(
          'Job report-28051',
          'batch',
          'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: unable to init seccomp: error loading seccomp filter into kernel: error loading seccomp filter: errno 524: unknown',
          3,
        ),
      ],
      held: { images: images(12, 1.1, 3.1) },
    }),
    ...nearMiss,
    never: [diskSteps, /drain/],
  },
  {
    name: 'core-images-that-gc-deleted',
    thread:
      'https://knowledge.broadcom.com/external/article/380917/core-images-deleted-by-garbage-collector.html',
    found:
      'Image GC begins at 85 % and deletes the images of CoreDNS and the metrics server, which only the node had; DiskPressure never comes, so the watch that loads them again never runs. Their pods wait with ImagePullBackOff.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 81.2, usedGib: 65.4 } },
      workloads: [
        ...users(7),
        {
          ...{ namespace: 'kube-system', owner: 'Deployment coredns', pods: 2 },
          image: 'docker.io/vmware/coredns:v1.10.1',
          ...{ waiting: 'ImagePullBackOff' },
          message:
            'Back-off pulling image "docker.io/vmware/coredns:v1.10.1": ErrImagePull: failed to pull and unpack image "docker.io/vmware/coredns:v1.10.1": failed to resolve reference "docker.io/vmware/coredns:v1.10.1": pull access denied, repository does not exist or may require authorization',
        },
        {
          ...{ namespace: 'kube-system', owner: 'Deployment metrics-server' },
          image: 'docker.io/vmware/metrics-server:v0.6.4',
          ...{ waiting: 'ImagePullBackOff' },
          message:
            'Back-off pulling image "docker.io/vmware/metrics-server:v0.6.4": ErrImagePull: failed to pull and unpack image "docker.io/vmware/metrics-server:v0.6.4": failed to resolve reference "docker.io/vmware/metrics-server:v0.6.4": pull access denied, repository does not exist or may require authorization',
        },
      ],
      held: { images: images(17, 1.2, 3.3) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['ask-owner', 'set', 'read-more'],
    words: [/coredns/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/prune-images|crictl rmi|larger volume|volumeSize|drain/],
  },
  {
    name: 'pause-image-that-needs-a-login',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/3745',
    found:
      'Bottlerocket 1.18.0 on Kubernetes 1.29: image GC deletes the pause image, and containerd has no credentials to pull it again. New pods fail on nodes that run for more than 12 hours. 1.19.0 pins it.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Bottlerocket', ageDays: 1.4 },
      osImage: 'Bottlerocket OS 1.18.0 (aws-k8s-1.29)',
      disk: { gib: 79.9, usedGib: 61.8 },
      volumes: [
        { device: '/dev/xvda', gib: 2 },
        { device: '/dev/xvdb', gib: 80 },
      ],
      workloads: [
        ...users(7),
        creating(
          'StatefulSet runner',
          'ci',
          `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "${pauseImage}": failed to pull image "${pauseImage}": failed to pull and unpack image "${pauseImage}": failed to resolve reference "${pauseImage}": pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials`,
          4,
        ),
      ],
      held: { images: images(16, 1.2, 3.3) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['replace', 'read-more', 'set', 'free'],
    words: [/sandbox image|pause/i],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/prune-images|crictl rmi|larger volume|volumeSize/],
  },
  {
    name: 'snapshots-of-another-client',
    thread: 'https://github.com/containerd/containerd/issues/10548',
    found:
      'Docker keeps its images in containerd, in a namespace of its own: 46 GB of snapshots and 14 GB of blobs that neither its prune nor the removal of all images frees. 97 % of the disk is used.',
    world: nodeOf({
      disk: { gib: 90, usedGib: 87.3 },
      diskPressure: true,
      workloads: users(4),
      held: {
        ...{ images: images(4, 1.1, 3.2), content: 14 },
        namespaces: [{ name: 'moby', layersGib: 46, contentGib: 14 }],
      },
    }),
    cause: [held('other-namespaces')],
    owner: 'platform',
    steps: ['free'],
    words: [/60(?:\.0)? GiB/, /moby/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc, /snapshots rm|rm -rf/],
  },
  {
    name: 'half-a-pull',
    thread: 'https://github.com/containerd/containerd/issues/3089',
    found:
      'An interrupted pull leaves an empty folder in the content store of one node; each later pull of that image fails there with "not found". Other nodes have the image. The folder has to go.',
    world: {
      nodes: [
        {
          ...{ mode: 'proxy', disk: { gib: 100, usedGib: 44 } },
          workloads: [
            ...users(5),
            {
              ...{ namespace: 'shop', owner: 'Deployment search', waiting: 'ImagePullBackOff' },
              message:
                'Back-off pulling image "111122223333.dkr.ecr.us-east-1.amazonaws.com/search:1": ErrImagePull: rpc error: code = Unknown desc = failed to pull and unpack image "111122223333.dkr.ecr.us-east-1.amazonaws.com/search:1": failed reading status of resume write: stat /var/lib/containerd/io.containerd.content.v1.content/ingest/cddbab0c1f2bab91536889d3938a596ee7838e2db8c9f4e30bc6094216c8a02d/data: no such file or directory: not found',
            },
          ],
          held: { images: images(6, 1, 3) },
        },
        {
          ...{ mode: 'proxy', disk: { gib: 100, usedGib: 39 } },
          workloads: [...users(4), { namespace: 'shop', owner: 'Deployment search', pods: 2 }],
          held: { images: images(5, 1, 3) },
        },
      ],
    },
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'free', 'replace'],
    words: [/file of the node/, /shop\/search/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [diskSteps, /neither on its node nor in its registry|wrong name/i],
  },
  {
    name: 'three-volumes-of-a-hardened-image',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/3962',
    found:
      'A hardened AMI has a small root and larger volumes for /var/lib/kubelet and /var/lib/containerd; Karpenter takes the first mapping for the ephemeral storage. The disks of the node are fine.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'hardened' },
        disk: { gib: 99.9, usedGib: 21.7 },
        imageDisk: {
          gib: 59.9,
          usedGib: 22.4,
          device: '/dev/nvme2n1',
          mount: '/var/lib/containerd',
        },
        volumes: [
          { device: '/dev/xvda', gib: 20 },
          { device: '/dev/xvdb', gib: 100 },
          { device: '/dev/xvdc', gib: 60 },
        ],
        workloads: users(7),
        held: { images: images(7, 1.1, 3) },
      },
      byNodeClass(
        'hardened',
        [
          { deviceName: '/dev/xvda', ebs: { volumeSize: '20Gi' } },
          { deviceName: '/dev/xvdb', ebs: { volumeSize: '100Gi' } },
          { deviceName: '/dev/xvdc', ebs: { volumeSize: '60Gi' } },
        ],
        { amiFamily: 'AL2' },
      ),
    ),
    ...nearMiss,
    never: [diskSteps, /xvd[abc]/],
  },
  {
    name: 'images-just-below-the-threshold',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/107',
    found:
      'The disks of nodes fill with old images over time, and the reporter wants a daily clean-up. The kubelet frees them at 85 %: nothing has to be done.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 50, usedGib: 40.6 }, ageDays: 61 },
      workloads: users(4, { logsGib: 0.04 }),
      held: { images: images(28, 0.41, 1.2) },
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'images-unused', 'images'],
    never: [/prune-images|crictl rmi|drain/],
  },
  {
    name: 'windows-logs-that-stop-rotating',
    thread: 'https://github.com/containerd/containerd/issues/7075',
    found:
      'On Windows nodes with containerd the rotation of a log ends after its first round, and 0.log grows without end: 58 GB of one service. The rotation settings are right.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.6.6' },
      disk: { gib: 100, usedGib: 93.1 },
      diskPressure: true,
      workloads: [
        ...users(2),
        { namespace: 'legacy', owner: 'Deployment iis', pods: 2, logsGib: 29 },
      ],
      held: { images: images(2, 2.1, 6.2) },
    }),
    cause: [held('container-logs')],
    owner: 'legacy/Deployment iis',
    steps: ['free', 'ask-owner', 'read-more'],
    words: [/iis/, /58(?:\.0)? GiB|29(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'images-unused', 'containerLogMaxSize'],
    never: [imageGc, /journalctl|sudo|truncate -s/],
  },
  {
    name: 'runners-that-have-ended',
    thread: 'https://incidents.pgmac.net.au/docs/incidents/2026-01-06-cluster-cascade-failure.html',
    found:
      'Disks of three nodes are 97 to 100 % full; 571 runner pods have ended and still have their objects, which nothing deletes. What fills the disk has to be read on the node: audit logs and replicas of volumes.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 97.9, usedGib: 95.6 }, diskPressure: true },
      workloads: [
        ...users(6),
        { namespace: 'arc-runners', owner: 'Bare runner', pods: 190, hasEnded: true },
        { namespace: 'openebs', owner: 'Deployment jiva-rep', pods: 7, hostPath: '/var/openebs' },
      ],
      held: { images: images(7, 1, 3), folders: { '/var/openebs': 52 }, hostLogs: 11 },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 88 },
          message:
            'Failed to garbage collect required amount of images. Attempted to free 17394617548 bytes, but only found 0 bytes eligible to free.',
          ...{ firstMinutesAgo: 470, lastMinutesAgo: 2 },
        },
      ],
    }),
    cause: [{ kind: 'unread' }, held('unread'), held('host-path', '/var/openebs')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/var\/openebs/],
    notCauses: ['images-in-use', 'images-unused', 'images', 'not-images'],
    never: [imageGc, /delete pods?\b.*runner/],
  },
  {
    name: 'not-ready-by-a-cni-version',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/837',
    found:
      'Nodes flap between Ready and NotReady: the PLEG is not healthy. A version of the VPC CNI is the cause, and nodes have to be replaced after its update. No disk has anything to do with it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 47.9 }, instanceType: 'm5.xlarge' },
      workloads: [
        ...users(7, { logsGib: 0.2 }),
        { namespace: 'kube-system', owner: 'DaemonSet aws-node' },
      ],
      held: { images: images(10, 1.1, 3.2) },
      events: [
        {
          ...{ type: 'Normal', reason: 'NodeNotReady', count: 31 },
          message: 'Node status is now: NodeNotReady',
          ...{ firstMinutesAgo: 900, lastMinutesAgo: 11 },
        },
        {
          ...{ type: 'Normal', reason: 'NodeReady', count: 31 },
          message: 'Node status is now: NodeReady',
          ...{ firstMinutesAgo: 897, lastMinutesAgo: 8 },
        },
      ],
    }),
    ...nearMiss,
    never: [diskSteps, /drain/],
  },
]
