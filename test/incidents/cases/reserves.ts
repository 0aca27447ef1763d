/** Threads of reserves, volumes of images, sidecars, victims without a cause, and near misses. Expected answers were written before the first run. */
import type { Incident } from '../incident.ts'
import {
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

export const reserveIncidents: Incident[] = [
  {
    name: 'reserve-below-the-system',
    thread: 'https://github.com/aws/containers-roadmap/issues/1847',
    found:
      'Nodes of EKS reserve 1Gi of ephemeral-storage, and the system alone uses 4.1 of 20 GB. Pods that stay within their requests fill the node until it has DiskPressure. A larger reserve ended it.',
    world: nodeOf({
      disk: { gib: 19.99, usedGib: 18.3 },
      diskPressure: true,
      workloads: [
        users(1)[0]!,
        {
          ...{ namespace: 'batch', owner: 'Deployment worker', pods: 3, emptyDirGib: 4.5 },
          requests: { 'ephemeral-storage': '5Gi' },
          limits: { 'ephemeral-storage': '5Gi' },
        },
      ],
      held: { images: images(1, 0.4, 1.1) },
    }),
    cause: [setting('kubeReserved'), setting('systemReserved')],
    owner: 'platform',
    steps: ['set', 'resize'],
    words: [/ephemeral-storage/, /[Rr]eserved/],
    never: [imageGc],
  },
  {
    name: 'reserve-above-the-disk',
    thread: 'https://github.com/cloudpilot-ai/karpenter-provider-gcp/issues/220',
    found:
      'A disk of 30 GB gets kubeReserved ephemeral-storage 76Gi. The kubelet does not start: "reservation of 76Gi but capacity of 27226542080".',
    world: nodeOf({
      disk: { gib: 25.36, usedGib: 7 },
      editedConfiguration: {
        kubeReserved: { cpu: '70m', memory: '574Mi', 'ephemeral-storage': '76Gi' },
      },
      workloads: users(2),
      held: { images: images(2, 0.6, 1.8) },
    }),
    cause: [setting('kubeReserved'), setting('configuration')],
    owner: 'platform',
    steps: ['set'],
    words: [/reservation of/, /refuse/i],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'artifacts-of-a-wait-container',
    thread: 'https://github.com/argoproj/argo-workflows/issues/3479',
    found:
      'The container "wait" of a workflow packs output artifacts in its /tmp, which is the disk of the node; no volume can be mounted there. Large artifacts fill the disk.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 92 }, diskPressure: true },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'argo', owner: 'Workflow etl', container: 'wait', layerGib: 58 },
          image: 'quay.io/argoproj/argoexec:v3.4.9',
        },
      ],
      held: { images: images(8, 0.9, 2.6) },
    }),
    cause: [held('writable-layers')],
    owner: 'argo/Workflow etl',
    steps: ['ask-owner'],
    words: [/container wait/, /58(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc],
  },
  {
    name: 'volume-of-an-image',
    thread: 'https://github.com/helm/charts/pull/9873',
    found:
      'The image of a build agent with Docker declares VOLUME /var/lib/docker. Neither the kubelet nor the runtime counts that volume: 19.6G there with a limit of 15GB, and the pod runs on. An emptyDir there makes the limit work.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 46 },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'gocd', owner: 'Deployment gocd-agent', layerGib: 6.4 },
          limits: { 'ephemeral-storage': '15G' },
        },
      ],
      held: {
        images: images(5, 0.8, 2.4),
        folders: { '/var/lib/containerd/io.containerd.grpc.v1.cri/containers': 19.6 },
      },
    }),
    cause: [held('image-volumes', '/var/lib/containerd')],
    owner: 'platform',
    steps: ['read-more', 'ask-owner'],
    words: [/19\.6 GiB/, /VOLUME|volumes? of (?:an|its|their) images?|declare/i],
    never: [imageGc, /rm -rf/],
  },
  {
    name: 'pods-of-a-large-instance',
    thread: 'https://github.com/zalando-incubator/kubernetes-on-aws/pull/7093',
    found:
      'Karpenter packs pods onto large instances and does not look at their small disks: the images in use fill the disk, and pods are evicted. At most 32 pods for a node ended it.',
    world: nodeOf(
      {
        ...{ nodeClass: 'default', instanceType: 'm6i.2xlarge' },
        disk: { gib: 50, usedGib: 46.4 },
        diskPressure: true,
        workloads: users(52),
        held: { images: images(52, 0.28, 0.8) },
      },
      { nodegroups: [] },
    ),
    cause: [held('images-in-use')],
    owner: 'platform',
    steps: ['resize', 'set'],
    words: [/images? in use|use/i, /volumeSize|maxPods/],
    never: [/prune-images/],
  },
  {
    name: 'build-cache-in-tmp',
    thread: 'https://github.com/buildkite/agent-stack-k8s/pull/446',
    found:
      'Build jobs mount folders of /tmp of the node as hostPath for the caches of Go. /tmp runs out of space, and the kubelet kills pods. The caches moved to /var/cache.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 74.5 },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'buildkite', owner: 'Job build', pods: 3 },
          hostPath: '/tmp/cache/go-build',
        },
      ],
      held: { images: images(6, 0.9, 2.7), folders: { '/tmp/cache/go-build': 44 } },
    }),
    cause: [held('host-path', '/tmp/cache')],
    owner: 'buildkite/Job build',
    steps: ['ask-owner'],
    words: [/\/tmp\/cache\/go-build/, /44(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'scans-that-were-evicted',
    thread: 'https://github.com/kubescape/kubescape/issues/389',
    found:
      'A cron job scans images for vulnerabilities: "Container armo-vuln-scan was using 7197816Ki, which exceeds its request of 0". The node had DiskPressure 25 times in 8 days, and has room between the runs. A request of ephemeral-storage was the answer.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 40, usedGib: 30 } },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'armo-system', owner: 'Job armo-vuln-scan', pods: 2 },
          evicted:
            'The node was low on resource: ephemeral-storage. Container armo-vuln-scan was using 7197816Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(9, 0.8, 2.4) },
      events: flaps(25, 8 * 24 * 60),
    }),
    cause: [
      { kind: 'world' },
      held('writable-layers'),
      setting('resources.requests.ephemeral-storage'),
    ],
    owner: 'armo-system/Job armo-vuln-scan',
    steps: ['ask-owner', 'set'],
    words: [/armo-vuln-scan/, /25/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/drain|prune-images/],
  },
  {
    name: 'logs-of-every-sidecar',
    thread: 'https://github.com/istio/istio/issues/53509',
    found:
      'Ten files of 100m for each container: the log of each istio-proxy grows to 942888Ki, and no setting of the mesh requests ephemeral-storage for it. Pods are evicted.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 74 },
      diskPressure: true,
      configuration: { containerLogMaxSize: '100Mi', containerLogMaxFiles: 10 },
      workloads: Array.from({ length: 45 }, (_, index) => ({
        ...{ namespace: 'shop', owner: `Deployment svc-${index}`, container: 'istio-proxy' },
        ...{ image: images(1, 1, 1)[0]!.name, logsGib: 0.9 },
      })),
      held: { images: images(8, 0.9, 2.6) },
    }),
    cause: [
      held('container-logs'),
      setting('containerLogMaxSize'),
      setting('containerLogMaxFiles'),
    ],
    owner: 'platform',
    steps: ['set'],
    words: [/containerLogMax(?:Size|Files)/, /40\.\d GiB/],
    never: [imageGc],
  },
  {
    name: 'victims-of-120-gib',
    thread: 'https://github.com/sustainable-computing-io/susql-operator/issues/140',
    found:
      'Threshold 24068434671, available 23201836Ki: pods of 106 MB without a request are evicted now and then. The thread blames their own logging, which cannot fill 149 GiB.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 149.43, usedGib: 127.3 }, diskPressure: true },
      configuration: evictionOf({ 'nodefs.available': '15%', 'imagefs.available': '15%' }),
      workloads: [
        ...users(4),
        { namespace: 'susql', owner: 'Deployment susql-controller', layerGib: 0.1 },
      ],
      held: { images: images(5, 0.9, 2.6), folders: { '/var/lib/kubevirt-images': 102 } },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/neither images nor pods|not measured|unread|does not show/i],
    notCauses: ['images-unused', 'images-in-use', 'container-logs', 'writable-layers'],
    never: [/susql-controller.{0,80}ephemeral-storage/],
  },
  {
    name: 'log-rotation-that-ignores-its-file',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/883',
    found:
      'logrotate ignores /etc/logrotate.conf of the AMI because of its mode 0664. /var/log/messages grows until the node has DiskPressure and evicts many pods.',
    world: nodeOf({
      ...{ family: 'AL2', disk: { gib: 80, usedGib: 73.5 }, diskPressure: true },
      workloads: users(6),
      held: { images: images(8, 0.9, 2.6), hostLogs: 41 },
    }),
    cause: [held('host-logs', '/var/log')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/logrotate/, /41(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'other-data-on-the-disk-of-k3s',
    thread: 'https://github.com/k3s-io/k3s/issues/6290',
    found:
      'k3s and Docker share a disk with other data. At 85 % image GC wants to free 15152714547 bytes and frees 0; its own images are deleted and the node is tainted. Images are not what fills it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 282, usedGib: 255 }, diskPressure: true },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '10%' }),
      workloads: users(4),
      held: { images: images(4, 0.6, 1.7), folders: { '/data': 231 } },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 1 },
          message:
            'failed to garbage collect required amount of images. Wanted to free 15152714547 bytes, but freed 0 bytes',
          ...{ firstMinutesAgo: 11, lastMinutesAgo: 11 },
        },
      ],
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/neither images nor pods|not measured|unread|does not show/i],
    notCauses: ['images-unused', 'images-in-use', 'imageGCHighThresholdPercent'],
    never: [imageGc],
  },
  {
    name: 'mounts-and-not-bytes',
    thread: 'https://github.com/kubernetes/cloud-provider-openstack/issues/772',
    found:
      'A CSI driver mounts /var/lib/kubelet/pods with bidirectional propagation, and each new pod doubles the entries of the mount table, until mount(2) answers "no space left on device". The disk has room.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 34 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet csi-cinder-nodeplugin' },
          ...{ hostPath: '/var/lib/kubelet', waiting: 'CreateContainerError' },
          message:
            'failed to generate container spec: mount /var/lib/kubelet/pods:/var/lib/kubelet/pods: no space left on device',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/no space left/],
    notCauses: ['images-in-use', 'images-unused', 'host-path'],
    never: [/larger volume|prune-images|volumeSize/],
  },
  {
    name: 'memory-cgroups-and-not-bytes',
    thread: 'https://github.com/huzhengchuan/dailywork/issues/58',
    found:
      'mkdir /sys/fs/cgroup/memory/kubepods/burstable/pod…: no space left on device. An old kernel keeps 64,734 memory cgroups of deleted containers, and 65,535 is its limit. No disk is full.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 31 },
      kernel: { release: '3.10.0-693.el7.x86_64', cgroupVersion: 1, memoryCgroups: 64_734 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment web', waiting: 'CreateContainerError' },
          message:
            'mkdir /sys/fs/cgroup/memory/kubepods/burstable/pod0c1d: no space left on device',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }, setting('kernel')],
    owner: 'platform',
    steps: ['replace', 'free', 'set'],
    words: [/cgroup/i, /64,?734/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/larger volume|prune-images|volumeSize/],
  },
  {
    name: 'request-as-large-as-the-disk',
    thread: 'https://github.com/pytorch/ci-infra/pull/1073',
    found:
      'A runner requests 600Gi of ephemeral-storage on nodes with a disk of 600 GB: no node can hold it, and jobs wait for ever. The disk is nearly empty.',
    world: nodeOf(
      {
        ...{ nodeClass: 'gpu', disk: { gib: 558.6, usedGib: 71 } },
        workloads: [
          ...users(4),
          {
            ...{ namespace: 'arc-runners', owner: 'Job l4-runner', layerGib: 9 },
            requests: { 'ephemeral-storage': '150Gi' },
          },
        ],
        held: { images: images(6, 2.6, 7) },
      },
      { nodegroups: [] },
    ),
    ...nearMiss,
    notCauses: ['writable-layers', 'images-in-use'],
    never: [/larger volume|prune-images|volumeSize/],
  },
]
