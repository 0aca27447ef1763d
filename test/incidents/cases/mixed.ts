/**
 * Threads with several causes, with a part of the evidence, or with a remedy on the side of AWS; and problems that are not of the disk. What is
 * expected was written from the thread, before the first run. Changed after it: ssh is a way to see the disk, too
 * (message-that-leaves-out-the-volume); two pressures within an hour are not yet named, and the thread names its image GC
 * (pressure-that-image-gc-ends-each-time).
 */
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

const largerDisk = /larger (?:disk|volume)/
const unreadCauses: ExpectedCause[] = [{ kind: 'unread' }, held('unread'), { kind: 'world' }]
const emptyDisk = ['images-in-use', 'images-unused', 'not-images', 'writable-layers', 'system']
/** No step of a full disk. */
const noDisk = [largerDisk, imageGc, /drain/]

/** The node is not of EKS. */
const elsewhere = {
  family: 'Ubuntu' as const,
  osImage: 'Ubuntu 22.04.5 LTS',
  volumes: [],
  providerId: '',
}

const healthy = (more: object) =>
  nodeOf({
    ...{ mode: 'proxy', disk: { gib: 100, usedGib: 38 } },
    held: { images: images(5, 0.9, 2.7) },
    ...more,
  })

export const mixedIncidents: Incident[] = [
  {
    name: 'runtime-that-answers-no-list',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/195',
    found:
      'A node becomes NotReady: "PLEG is not healthy: pleg was last seen active 4h19m46s ago", and the runtime does not answer. Processor, memory and disk were never high.',
    world: healthy({
      workloads: users(6),
      events: [
        {
          ...{ type: 'Normal', reason: 'NodeNotReady', count: 2 },
          message: 'Node status is now: NodeNotReady',
          ...{ firstMinutesAgo: 55, lastMinutesAgo: 12 },
        },
      ],
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'layer-that-is-not-known',
    thread: 'https://github.com/cri-o/cri-o/issues/4285',
    found:
      'After a power-off CRI-O makes no sandbox: "layer not known". Its folder overlay-images has to go. No disk is full.',
    world: healthy({
      ...{ ...elsewhere, runtimeVersion: 'cri-o://1.18.3' },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'openshift-cnv', owner: 'Deployment virt-operator' },
          waiting: 'ContainerCreating',
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', count: 31 },
              message:
                'Failed to create pod sandbox: rpc error: code = Unknown desc = error creating pod sandbox with name "k8s_virt-operator-74745fbc9c-xknls_openshift-cnv_6c53d52d_0": layer not known',
              ...{ firstMinutesAgo: 50, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'metrics-store-that-takes-all-operations',
    thread: 'https://github.com/kubernetes/kubernetes/issues/39028',
    found:
      'Prometheus reads 24 GB of its EBS volume at its start and takes all its operations. The runtime stalls, and pods end in "runContainer: operation timeout: context deadline exceeded". Bytes are free.',
    world: healthy({
      ...{ family: 'AL2', runtimeVersion: 'docker://20.10.25' },
      workloads: [
        ...users(4),
        {
          ...{
            namespace: 'monitoring',
            owner: 'StatefulSet prometheus',
            claim: 'data-prometheus-0',
          },
          claimGib: { size: 100, used: 24 },
          waiting: 'RunContainerError',
          message: 'runContainer: operation timeout: context deadline exceeded',
          events: [
            {
              ...{ type: 'Warning', reason: 'Failed', count: 7 },
              message: 'Error: runContainer: operation timeout: context deadline exceeded',
              ...{ firstMinutesAgo: 45, lastMinutesAgo: 3 },
            },
          ],
        },
      ],
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'threads-that-a-new-image-of-the-node-refuses',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/899',
    found:
      'From release v20220123 of the AMI to v20220406 aws-node fails: "failed to create new OS thread (have 22 already; errno=11)". The node has process ids and disk enough; the earlier release ended it.',
    world: healthy({
      pids: { max: 32_768, used: 1900 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet aws-node', waiting: 'CrashLoopBackOff' },
          message: 'back-off 5m0s restarting failed container=aws-node pod=aws-node-6kgps',
          events: [
            {
              ...{ type: 'Warning', reason: 'BackOff', count: 40 },
              message: 'Back-off restarting failed container aws-node in pod aws-node-6kgps',
              ...{ firstMinutesAgo: 50, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
    }),
    ...nearMiss,
    notCauses: [...emptyDisk, 'podPidsLimit', 'evictionHard'],
    never: noDisk,
  },
  {
    name: 'no-port-is-left-for-a-mount',
    thread: 'https://github.com/kubernetes-sigs/aws-efs-csi-driver/issues/103',
    found:
      'After some days no EFS volume can be mounted: "Failed to locate an available port in the range [20049, 20449]". Mounts of pods that have gone hold the ports; the disk is not the cause.',
    world: healthy({
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'web', owner: 'Deployment web', waiting: 'ContainerCreating' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedMount', count: 584 },
              message:
                'MountVolume.SetUp failed for volume "myproject-web-pv" : rpc error: code = Internal desc = Could not mount "fs-1234abcd:/" at "/var/lib/kubelet/pods/5e30c96b/volumes/kubernetes.io~csi/myproject-web-pv/mount": mount failed: exit status 1\nMounting command: mount\nOutput: Could not start amazon-efs-mount-watchdog, unrecognized init system "aws-efs-csi-dri"\nFailed to locate an available port in the range [20049, 20449], try specifying a different port range in /etc/amazon/efs/efs-utils.conf',
              ...{ firstMinutesAgo: 1320, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/FailedMount\s+584\s+times/],
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'restart-that-an-update-asked-for',
    thread: 'https://github.com/mysticaltech/terraform-hcloud-kube-hetzner/issues/321',
    found:
      'Nodes restart every few days, and "invalid capacity 0 on image filesystem" was suspected. The message comes with each start; updates of the system restart the nodes.',
    world: healthy({
      ...elsewhere,
      workloads: users(5),
      events: [
        {
          ...{ type: 'Warning', reason: 'Rebooted' },
          message: 'Node agent-1 has been rebooted, boot id: 1ffb1718-b703-42b8-a291-4145a35a0bb5',
          firstMinutesAgo: 30,
        },
        {
          ...{ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' },
          firstMinutesAgo: 30,
        },
        {
          ...{ type: 'Warning', reason: 'InvalidDiskCapacity' },
          ...{ message: 'invalid capacity 0 on image filesystem', firstMinutesAgo: 30 },
        },
      ],
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [...noDisk, /invalid capacity/],
  },
  {
    name: 'shim-that-cannot-fork',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/239',
    found:
      'Two pods of RabbitMQ fail after a day: "failed to start shim: fork/exec /usr/bin/docker-containerd-shim: resource temporarily unavailable". The node has process ids left: it is a limit of the service.',
    world: healthy({
      ...{ family: 'AL2', runtimeVersion: 'docker://20.10.25', pids: { max: 32_768, used: 5100 } },
      workloads: [
        ...users(3),
        { namespace: 'demo', owner: 'StatefulSet rabbit-1', processes: 420 },
        {
          ...{
            namespace: 'demo',
            owner: 'StatefulSet demo-rabbitmq',
            waiting: 'RunContainerError',
          },
          message:
            'failed to start shim: fork/exec /usr/bin/docker-containerd-shim: resource temporarily unavailable: unknown',
        },
      ],
    }),
    ...nearMiss,
    notCauses: [...emptyDisk, 'podPidsLimit', 'evictionHard'],
    never: noDisk,
  },
  {
    name: 'process-without-its-namespace',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/1651',
    found:
      'While a node starts, single pods end in StartError: "unable to create new parent process: namespace path: lstat /proc/0/ns/ipc: no such file or directory". It is a race of the runtime.',
    world: healthy({
      ageDays: 0.02,
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment gateway', waiting: 'CrashLoopBackOff' },
          events: [
            {
              ...{ type: 'Warning', reason: 'Failed', count: 2 },
              message:
                'Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to create new parent process: namespace path: lstat /proc/0/ns/ipc: no such file or directory: unknown',
              ...{ firstMinutesAgo: 25, lastMinutesAgo: 20 },
            },
          ],
        },
      ],
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'claim-without-inodes',
    thread: 'https://github.com/longhorn/longhorn/issues/4508',
    found:
      'A volume of 8 GiB with free bytes takes no file: 131072 of its 131072 inodes are used. The node has 66 % of its inodes and room on its disk.',
    world: healthy({
      ...{
        ...elsewhere,
        disk: { gib: 50, usedGib: 21, inodes: { all: 3_268_608, free: 2_160_072 } },
      },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'odoo', owner: 'Deployment odoo', claim: 'odoo-web' },
          claimGib: { size: 8, used: 3.1, inodes: { all: 131_072, free: 0 } },
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'odoo/Deployment odoo',
    steps: ['ask-owner'],
    words: [/0 of 131,072\s+inodes/],
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'restored-volume-with-its-old-filesystem',
    thread: 'https://github.com/kubernetes-sigs/aws-ebs-csi-driver/issues/569',
    found:
      'A claim restored from a smaller snapshot keeps the size of the snapshot: its filesystem was not grown, and it is full. The disk of the node has room.',
    world: healthy({
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'db', owner: 'StatefulSet mysql', claim: 'data-mysql-0' },
          claimGib: { size: 8, used: 7.95 },
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'db/StatefulSet mysql',
    steps: ['ask-owner'],
    words: [/data-mysql-0/],
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'jobs-that-ended-and-stay',
    thread: 'https://github.com/SlashNephy/infrastructure/pull/10300',
    found:
      '44 of 143 pods have ended and stay, because CronJobs keep three of each. They cost watches and log folders, not disk.',
    world: healthy({
      ...elsewhere,
      workloads: [
        ...users(30),
        { namespace: 'batch', owner: 'Job rclone', pods: 44, hasEnded: true },
      ],
    }),
    ...nearMiss,
    notCauses: [...emptyDisk, 'dead-containers', 'log-debris'],
    never: noDisk,
  },
  {
    name: 'log-size-that-doubles-each-minute',
    thread: 'https://github.com/kubernetes/kubernetes/issues/119691',
    found:
      'The kubelet counts the logs of a pod of 168 KB twice as large each minute, and evicts the pod by its own limit. The disk of the node has room.',
    world: healthy({
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'mesh', owner: 'Deployment sidecar', logsGib: 0.0002 },
          limits: { 'ephemeral-storage': '1Gi' },
        },
        {
          ...{ namespace: 'mesh', owner: 'Deployment sidecar', pods: 3 },
          limits: { 'ephemeral-storage': '1Gi' },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
        },
      ],
    }),
    cause: [
      held('writable-layers'),
      held('container-logs'),
      { kind: 'world' },
      setting('resources'),
      setting('resources.limits.ephemeral-storage'),
    ],
    owner: 'mesh/Deployment sidecar',
    steps: ['ask-owner', 'set', 'read-more'],
    words: [/sidecar/, /1(?:\.0)? ?Gi/],
    notCauses: emptyDisk.slice(0, 3),
    never: noDisk,
  },
  {
    name: 'images-and-a-journal-of-a-control-plane',
    thread: 'https://github.com/rounakdatta/homelab.setup/pull/169',
    found:
      'A control plane is at 94 % of its disk, and k3s restarts every ten minutes. Unused images and the journal hold it; pruning the images and vacuuming the journal is the answer.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 40, usedGib: 37.6 }, diskPressure: true },
      workloads: users(4),
      held: { images: [...images(4, 0.4, 1.2), ...images(16, 0.4, 1.1).slice(4)], journal: 8.2 },
      events: [
        {
          ...{ type: 'Normal', reason: 'Starting', count: 6 },
          message: 'Starting kubelet.',
          ...{ firstMinutesAgo: 58, lastMinutesAgo: 4 },
        },
      ],
    }),
    cause: [held('images-unused'), held('journal')],
    owner: 'platform',
    steps: ['free'],
    words: [/8\.2 GiB/, /journal/, /13\.2 GiB/],
    notCauses: ['images-in-use'],
    never: [largerDisk, /drain/],
  },
  {
    name: 'packed-layers-beside-unused-images',
    thread: 'https://github.com/secretflow/kuscia/issues/431',
    found:
      'A node with 34G left refuses pods by its disk-pressure taint: 100G are snapshots, and 71G lie beside them in the folder of the runtime.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 230, usedGib: 196 }, diskPressure: true },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: users(6),
      held: { images: images(20, 3.5, 4.9), content: 71 },
      containerd: { discardUnpackedLayers: false },
    }),
    cause: [held('image-content'), held('images-unused')],
    owner: 'platform',
    steps: ['set', 'free'],
    words: [/71(?:\.0)? GiB/, /packed/, /68\.6 GiB/],
    never: [largerDisk],
  },
  {
    name: 'image-and-tree-on-twenty-gigabytes',
    thread: 'https://github.com/incidentfox/incidentfox/pull/405',
    found:
      'A managed node group was made with 20 GB: an image of 4.3 GB and a tree of 3 GB that the pod downloads are too much, and the pod is evicted again and again. EKS changes no disk size in place: a new group with 50 GB ended it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodegroup: 'memory-intensive-nodes-r6i', instanceType: 'r6i.2xlarge' },
        ...{ disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
        workloads: [
          {
            ...{ namespace: 'rag', owner: 'Deployment incidentfox-ultimate-rag', layerGib: 3 },
            image: '111122223333.dkr.ecr.us-west-2.amazonaws.com/ultimate-rag:1',
          },
          {
            ...{ namespace: 'rag', owner: 'Deployment incidentfox-ultimate-rag', pods: 6 },
            evicted: 'The node was low on resource: ephemeral-storage. ',
          },
        ],
        held: {
          images: [
            {
              name: '111122223333.dkr.ecr.us-west-2.amazonaws.com/ultimate-rag:1',
              ...{ packedGib: 4.3, unpackedGib: 11.4 },
            },
          ],
        },
      },
      {
        nodegroups: [
          {
            nodegroupName: 'memory-intensive-nodes-r6i',
            ...{ amiType: 'AL2023_x86_64_STANDARD', diskSize: 20 },
          },
        ],
      },
    ),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/ultimate-rag/, /create-nodegroup|new node ?group|launch template/i],
    notCauses: ['images-unused'],
    never: [/prune-images|crictl rmi/],
  },
  {
    name: 'audit-and-system-logs-of-a-hardened-node',
    thread: 'https://github.com/department-of-veterans-affairs/va.gov-team/issues/74601',
    found:
      'Nodes of EKS fill: /var/log and /var/log/audit are not rotated as they should, or too many rotated files stay. Rotation and an agent that ships them are the answer.',
    world: nodeOf({
      ...{ disk: { gib: 40, usedGib: 37.1 }, diskPressure: true },
      workloads: users(4),
      held: { images: images(4, 0.6, 1.8), folders: { '/var/log/audit': 12.4 }, hostLogs: 9.1 },
    }),
    cause: [held('host-logs', '/var/log'), held('unknown-folder', '/var/log')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/\/var\/log/, /12\.4 GiB|21\.5 GiB/, /rotat/],
    notCauses: ['container-logs', 'images-in-use'],
    never: [imageGc, largerDisk, /containerLogMaxSize/],
  },
  {
    name: 'layers-that-docker-counts-as-nothing',
    thread: 'https://github.com/moby/moby/issues/47089',
    found:
      'Runners of builds fill: 65.7G in /var/lib/docker/overlay2 and 5.0G of volumes, while Docker counts 123.7 MB. Pruning frees almost nothing; the hosts are made anew.',
    world: nodeOf({
      ...{ disk: { gib: 100, usedGib: 91.5 }, diskPressure: true },
      workloads: users(4),
      held: {
        images: images(4, 0.8, 2.2),
        otherRuntime: { '/var/lib/docker/overlay2': 65.7, '/var/lib/docker/volumes': 5 },
      },
    }),
    cause: [held('other-runtime', '/var/lib/docker')],
    owner: 'platform',
    steps: ['free', 'replace'],
    words: [/\/var\/lib\/docker/, /65\.7 GiB|70\.7 GiB/],
    notCauses: ['images-in-use', 'leftover-snapshots'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'autoscaler-evicted-for-kilobytes',
    thread: 'https://github.com/zalando-incubator/kubernetes-on-aws/pull/6435',
    found:
      'A node comes under disk pressure, and the cluster autoscaler is among the first to go: it uses a few KB and requests none. What holds the disk was not looked for.',
    world: nodeOf({
      ...{
        mode: 'proxy',
        unread: ['summary'],
        disk: { gib: 50, usedGib: 45.6 },
        diskPressure: true,
      },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'kube-system', owner: 'Deployment kube-cluster-autoscaler' },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 5368709120, available: 4613734Ki. Container cluster-autoscaler was using 40Ki, request is 0, has larger consumption of ephemeral-storage. ',
        },
      ],
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/DiskPressure|disk pressure/, /kube-cluster-autoscaler/],
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'message-that-leaves-out-the-volume',
    thread: 'https://github.com/kubernetes/kubernetes/issues/130439',
    found:
      '"Threshold quantity: 94576558032, available: 92034400Ki. Container container-1 was using 122Ki": the message leaves out the emptyDir, which holds the disk. Only the statistics show it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', unread: ['summary'], diskPressure: true },
      disk: { gib: 880.8, usedGib: 793 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'default', owner: 'Deployment test-xxxxxsas', emptyDirGib: 610 },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 94576558032, available: 92034400Ki. Container container-1 was using 122Ki, request is 0, has larger consumption of ephemeral-storage. ',
        },
      ],
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/DiskPressure|disk pressure/, /folders\s+of\s+the\s+node/],
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'old-logs-that-the-api-does-not-show',
    thread: 'https://github.com/kubernetes/kubernetes/issues/125079',
    found:
      'Folders of deleted pods stay below /var/log/pods and use up the disk. The statistics of pods do not count them.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 91 }, diskPressure: true },
      workloads: users(5, { logsGib: 0.1 }),
      held: { images: images(5, 0.8, 2.2), logDebris: 72 },
    }),
    cause: [...unreadCauses, held('not-explained'), held('not-images')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/DiskPressure|disk pressure/],
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'driver-evicted-after-an-install',
    thread: 'https://github.com/longhorn/longhorn/issues/6023',
    found:
      'After Kyverno was installed the CSI plugin of Longhorn is evicted. Kyverno is not the cause: the disk of the node was too small, and more room and other thresholds ended it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', without: ['pods'], diskPressure: true },
      disk: { gib: 40, usedGib: 36.8 },
      workloads: [
        ...users(6),
        { namespace: 'kyverno', owner: 'Deployment kyverno' },
        {
          ...{ namespace: 'longhorn-system', owner: 'DaemonSet longhorn-csi-plugin' },
          evicted: 'The node had condition: [DiskPressure]. ',
        },
      ],
      held: { images: images(6, 0.9, 2.6) },
    }),
    cause: [...unreadCauses, held('images-in-use'), held('not-explained'), { kind: 'device' }],
    owner: 'platform',
    steps: ['read-more', 'resize'],
    words: [/40(?:\.0)? GiB|disk pressure|DiskPressure/],
    notCauses: ['images-unused', 'writable-layers', 'pod-volumes'],
    never: [imageGc, /kyverno\/Deployment/],
  },
  {
    name: 'pressure-that-turns-red-at-random',
    thread: 'https://github.com/rancher/rancher/issues/21069',
    found:
      'DiskPressure of single nodes turns red and green again. Nothing more than the events is known; logs are shipped to a store elsewhere.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', unread: ['summary', 'configz'] },
      disk: { gib: 60, usedGib: 50 },
      workloads: users(7),
      events: flaps(4, 300),
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/DiskPressure|disk pressure/, /4 times|4 ×|4x/],
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'two-hundred-gigabytes-beside-twenty',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/3676',
    found:
      'Karpenter starts an m6id.xlarge with 237 GB of local NVMe for a pod with a large request, and the pod does not fit: the root volume has its default of 20Gi, and the local disk is not used.',
    world: nodeOf(
      {
        ...{ mode: 'both', nodeClass: 'default', ageDays: 0.1 },
        disk: { gib: 20, usedGib: 9 },
        volumes: [{ device: '/dev/xvda', gib: 20 }],
        devices: [
          { name: '/dev/nvme0n1', gib: 20, mounted: true },
          { name: '/dev/nvme1n1', gib: 220, mounted: false },
        ],
        workloads: users(3),
        held: { images: images(3, 0.5, 1.4) },
      },
      byNodeClass('default', []),
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['set'],
    words: [/nvme1n1/, /RAID0/, /instanceStorePolicy/],
    never: [imageGc],
  },
  {
    name: 'system-image-of-five-gigabytes',
    thread: 'https://github.com/kubernetes-sigs/image-builder/issues/1852',
    found:
      'An image of a node has a disk of 5 GB: after the first two programs 4.0G of 4.3G are used, 113M are left, and the node is under disk pressure. The image needs a larger disk.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', ageDays: 0.05, osImage: 'Microsoft Azure Linux 3.0' },
      ...{ disk: { gib: 4.3, usedGib: 4.19 }, diskPressure: true },
      workloads: users(4),
      held: { images: images(4, 0.08, 0.2) },
    }),
    cause: [
      { kind: 'device' },
      held('images-in-use'),
      held('system'),
      held('not-explained'),
      ...unreadCauses,
    ],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    words: [/4\.3 GiB/],
    notCauses: ['writable-layers', 'images-unused', 'not-images'],
    never: [/prune-images|crictl rmi/],
  },
  {
    name: 'volumes-modified-by-hand',
    thread: 'https://github.com/cds-snc/notification-terraform/pull/863',
    found:
      'Nodes of EKS with 20gb come under disk pressure. Each volume is modified to 80gb by hand, and each node is cordoned, drained and restarted, because a new size needs new nodes.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 17.6 } },
      workloads: users(7),
      held: { images: images(7, 0.62, 1.8) },
      events: flaps(5, 600),
    }),
    cause: [held('images-in-use'), held('images'), { kind: 'device' }, { kind: 'world' }],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    words: [/20(?:\.0)? GiB/, /GiB volume|larger|diskSize|volume size/i],
    notCauses: ['images-unused'],
    never: [/prune-images|crictl rmi/],
  },
  {
    name: 'pressure-that-image-gc-ends-each-time',
    thread: 'https://github.com/ministryofjustice/cloud-platform/issues/5084',
    found:
      'Alarm and image GC both act at 85 % of 100 GB, and some volumes pass 95 % before images are gone. It ends by itself; 120 GB shall make it rare.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 71 } },
      workloads: users(10),
      held: { images: images(26, 0.8, 2.4) },
      events: flaps(2, 55),
    }),
    cause: [
      setting('imageGCHighThresholdPercent'),
      held('images-unused'),
      held('images'),
      { kind: 'device' },
      { kind: 'world' },
    ],
    owner: 'platform',
    steps: ['set', 'resize', 'free', 'read-more'],
    words: [/image garbage\s+collection/, /imageGCHighThresholdPercent/],
    notCauses: ['writable-layers', 'not-images', 'system'],
  },
  {
    name: 'inodes-of-images-of-each-deployment',
    thread: 'https://github.com/kubernetes-sigs/kubespray/issues/1797',
    found:
      'The inodes of a node run out and its bytes do not: images of each deployment stay. Old images have to go, or the filesystem needs more inodes.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', diskPressure: true },
      disk: { gib: 50, usedGib: 24, inodes: { all: 3_276_800, free: 98_000 } },
      configuration: evictionOf({ 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' }),
      workloads: users(5),
      held: { images: images(45, 0.15, 0.42) },
    }),
    cause: [
      held('images-unused'),
      held('images'),
      setting('imageMaximumGCAge'),
      setting('imageGCHighThresholdPercent'),
      ...unreadCauses,
    ],
    owner: 'platform',
    steps: ['free', 'set', 'read-more'],
    words: [/inode/],
    notCauses: ['images-in-use', 'writable-layers', 'system'],
    never: [/imageGCHighThresholdPercent/],
  },
  {
    name: 'thirty-million-inodes-of-builds',
    thread: 'https://github.com/moby/moby/issues/37077',
    found:
      'Builds fail with "no space left on device": 30484641 of 30736384 inodes are used, and the folder of Docker holds them, although images and containers are cleaned each day. Bytes are free.',
    world: nodeOf({
      ...{ ...elsewhere, diskPressure: true },
      disk: { gib: 469, usedGib: 240, inodes: { all: 30_736_384, free: 251_743 } },
      configuration: evictionOf({ 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' }),
      workloads: users(4),
      held: {
        images: images(4, 0.8, 2.2),
        listed: { holder: 'docker', path: '/data/docker', gib: 150, inodes: 29_100_000 },
      },
    }),
    cause: [held('other-runtime', '/data/docker')],
    owner: 'platform',
    steps: ['free', 'replace'],
    words: [/\/data\/docker/, /inode/, /29[.,]?1/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc],
  },
  {
    name: 'mount-that-cannot-fork',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/1548',
    found:
      'Nodes of EKS can start no pod reliably: "mount failed: fork/exec /usr/bin/mount: resource temporarily unavailable". No process can be made; what made the others is not known. The disk has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 42 }, pids: { max: 32_768, used: 32_640 } },
      workloads: [
        ...users(5, { processes: 40 }),
        {
          ...{ namespace: 'argo', owner: 'Job workflow', waiting: 'ContainerCreating' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedMount', count: 2 },
              message:
                'MountVolume.SetUp failed for volume "lakefs" : mount failed: fork/exec /usr/bin/mount: resource temporarily unavailable\nMounting command: mount\nMounting arguments: -t tmpfs -o size=63510704128 tmpfs /var/lib/kubelet/pods/1cbf573e-2101-468e-b6df-9251edd3ada2/volumes/kubernetes.io~secret/lakefs\nOutput:',
              ...{ firstMinutesAgo: 1, lastMinutesAgo: 0.5 },
            },
          ],
        },
      ],
      held: { images: images(8, 0.9, 2.6) },
    }),
    cause: [{ kind: 'world' }, setting('evictionHard')],
    owner: 'platform',
    steps: ['read-more', 'replace', 'set'],
    words: [/process/, /32[,.]?640|32[,.]?768/],
    notCauses: [...emptyDisk, 'podPidsLimit'],
    never: noDisk.slice(0, 2),
  },
  {
    name: 'search-files-of-a-package-manager',
    thread: 'https://github.com/amazonlinux/amazon-linux-2023/issues/955',
    found:
      'On AL2023 /var/cache/dnf grows by two files of 6 to 18 MB each day, amazonlinux-filenames.solvx.ZTz7PU: "dnf clean all" does not remove them. They have to be deleted as files.',
    world: nodeOf({
      ...{ disk: { gib: 20, usedGib: 18.3 }, diskPressure: true, ageDays: 330 },
      workloads: users(3),
      held: { images: images(3, 0.4, 1.1), packages: 9.4 },
    }),
    cause: [held('package-caches', '/var/cache')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/cache/, /9\.4 GiB/],
    notCauses: ['images-in-use', 'system'],
    never: [imageGc, largerDisk, /dnf clean all(?!.*(?:rm|delete|-exec))/],
  },
  {
    name: 'second-root-of-a-moved-docker',
    thread: 'https://github.com/containerd/containerd/issues/4295',
    found:
      'The data of Docker was moved to a large disk, and builds still fail with "no space left on device": containerd keeps its own folder on the small root disk, with containers of the namespace moby.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 30, usedGib: 28.1 }, diskPressure: true },
      workloads: users(2),
      held: {
        images: images(2, 0.5, 1.4),
        content: 4.4,
        namespaces: [{ name: 'moby', layersGib: 15, contentGib: 4.2 }],
      },
    }),
    cause: [held('other-namespaces')],
    owner: 'platform',
    steps: ['free'],
    words: [/moby/, /15(?:\.0)? GiB|19\.2 GiB/],
    notCauses: ['images-in-use', 'leftover-snapshots', 'image-content'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'images-of-automation-before-any-pressure',
    thread: 'https://github.com/kurokobo/awx-on-k3s/issues/405',
    found:
      'k3s: 149G below its containerd, 122G of them snapshots and 27G packed layers. Nothing is evicted yet; how to make it less is asked.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 250, usedGib: 163 } },
      workloads: users(6),
      held: { images: images(46, 1.1, 2.65), content: 27 },
      containerd: { discardUnpackedLayers: false },
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [largerDisk, /drain/],
  },
  {
    name: 'images-of-the-host-of-a-small-cluster',
    thread: 'https://github.com/k3d-io/k3d/issues/130',
    found:
      'A cluster in containers of Docker: image GC wants 9528868044 bytes and frees 25951436, and 33 pods are more than the disk has room for. The disk is that of the laptop, and other things fill it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 58.4, usedGib: 54.6 }, diskPressure: true },
      configuration: evictionOf({ 'nodefs.available': '5%', 'imagefs.available': '15%' }),
      workloads: users(33),
      held: { images: images(33, 0.06, 0.17) },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 3 },
          message:
            'failed to garbage collect required amount of images. Wanted to free 9528868044 bytes, but freed 25951436 bytes',
          ...{ firstMinutesAgo: 24, lastMinutesAgo: 14 },
        },
      ],
    }),
    cause: [...unreadCauses, held('not-explained')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/not\s+measured|folders/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk],
  },
  {
    name: 'work-trees-of-agents',
    thread: 'https://github.com/colophon-group/jobseek/issues/5705',
    found:
      'A root disk of 75 GiB goes from 82 % to 91 % within days: work trees of agents that ended hold it, not the data of the service. They were removed.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 75, usedGib: 68.2 }, diskPressure: true },
      workloads: users(5),
      held: { images: images(5, 0.8, 2.1), folders: { '/home/agent/worktrees': 41 } },
    }),
    cause: [held('unknown-folder', '/home'), held('system', '/home')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/home\/agent\/worktrees/, /41(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'browsers-that-nobody-reaps',
    thread: 'https://github.com/CopilotKit/CopilotKit/pull/6333',
    found:
      'Each test leaves five dead processes of a browser, because the first process of the container reaps none. At 1000, the limit of the pod, no browser starts any more. The node has process ids enough.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 41 } },
      configuration: { podPidsLimit: 1000 },
      pids: { max: 4_194_304, used: 2400 },
      workloads: [
        ...users(4),
        { namespace: 'showcase', owner: 'Deployment harness', processes: 998 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [setting('podPidsLimit')],
    owner: 'platform',
    steps: ['ask-owner', 'set', 'free'],
    words: [/harness/, /99[08]|1000/],
    notCauses: emptyDisk,
    never: noDisk,
  },
  {
    name: 'pods-evicted-after-images-made-room',
    thread: 'https://github.com/kubernetes/kubernetes/issues/41032',
    found:
      'Under disk pressure the kubelet deletes the unused images, which is enough, and evicts pods all the same: it does not see the new room yet. Many unused images are what brings it there.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 48 } },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'apps', owner: 'Deployment innocent', pods: 3 },
          evicted: 'The node was low on resource: [DiskPressure]. ',
        },
      ],
      held: { images: images(6, 2, 6) },
      events: flaps(1, 70),
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['set', 'read-more'],
    words: [/innocent.+ was\s+refused/s],
    notCauses: emptyDisk,
    never: noDisk.slice(0, 1),
  },
  {
    name: 'builder-without-overlays',
    thread: 'https://github.com/moby/buildkit/issues/2142',
    found:
      'BuildKit in a pod needs far more disk than its images: without overlayfs its native snapshotter copies each layer. Another snapshotter ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 120, usedGib: 110.5 }, diskPressure: true },
      workloads: [...users(4), { namespace: 'ci', owner: 'Deployment buildkitd', emptyDirGib: 74 }],
      held: { images: images(5, 0.9, 2.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'ci/Deployment buildkitd',
    steps: ['ask-owner', 'free', 'set'],
    words: [/buildkitd/, /74(?:\.0)? GiB/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'copies-that-ended-half-way',
    thread: 'https://github.com/containers/storage/pull/377',
    found:
      'A container that does not fit leaves its half copied layer behind: no list shows it, and system prune does not remove it. Each attempt leaves another.',
    world: nodeOf({
      ...{ ...elsewhere, runtimeVersion: 'cri-o://1.30.3', mode: 'proxy', diskPressure: true },
      disk: { gib: 60, usedGib: 56.8 },
      workloads: users(5),
      held: { images: images(5, 0.6, 1.7), leftover: 38 },
    }),
    cause: [held('not-images')],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/not images|other than images/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'failed-pods-of-a-cron-job',
    thread: 'https://github.com/Azure/AKS/issues/2414',
    found:
      '113 failed and 18 ended pods of CronJobs stay, although their history is limited to one and three. They cost metrics, not disk.',
    world: healthy({
      ...elsewhere,
      workloads: [
        ...users(8),
        { namespace: 'batch', owner: 'Job sync', pods: 113, hasEnded: true },
        { namespace: 'batch', owner: 'Job report', pods: 18, hasEnded: true },
      ],
    }),
    ...nearMiss,
    notCauses: [...emptyDisk, 'dead-containers', 'log-debris'],
    never: noDisk,
  },
  {
    name: 'snapshots-of-the-root-filesystem',
    thread: 'https://github.com/moby/moby/issues/33226',
    found:
      'btrfs: the folder of the runtime is part of the root filesystem, and automatic snapshots of the root filesystem keep all images and containers of the past. No folder shows the bytes.',
    world: nodeOf({
      ...{ ...elsewhere, osImage: 'openSUSE Leap 15.6' },
      ...{ disk: { gib: 80, usedGib: 74.5 }, diskPressure: true },
      workloads: users(5),
      held: { images: images(5, 0.8, 2.2), unexplained: 52 },
    }),
    cause: [held('not-explained')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/52(?:\.0)? GiB/, /mount points|snapshot/],
    notCauses: ['images-in-use', 'images-unused', 'leftover-snapshots'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'mesh-on-the-default-volume',
    thread: 'https://github.com/eksctl-io/eksctl/issues/780',
    found:
      'A dozen workloads such as Istio on nodes with the default volume of 20GB: pods are evicted by disk pressure. A default of 100GB was asked for.',
    world: nodeOf({
      ...{ disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
      workloads: users(12),
      held: { images: images(12, 0.34, 1.02) },
    }),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/12\.2 GiB/, /volumeSize|larger/],
    notCauses: ['images-unused', 'system'],
    never: [/prune-images|crictl rmi/],
  },
  {
    name: 'file-of-a-load-test',
    thread: 'https://github.com/ViaQ/cluster-logging-collector-benchmarks/pull/22',
    found:
      'The file stress.log of a load test grows over several tests, until the node has disk pressure. It is deleted before each test since then.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 100, usedGib: 93 }, diskPressure: true },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'openshift-logging', owner: 'Deployment stress' },
          hostPath: '/var/stress',
        },
      ],
      held: { images: images(4, 0.8, 2.2), folders: { '/var/stress/stress.log': 71 } },
    }),
    cause: [held('host-path', '/var/stress'), held('unknown-folder', '/var/stress')],
    owner: 'openshift-logging/Deployment stress',
    steps: ['ask-owner', 'free'],
    words: [/\/var\/stress/, /71(?:\.0)? GiB/, /stress/],
    notCauses: ['images-in-use', 'container-logs'],
    never: [imageGc, largerDisk],
  },
]
