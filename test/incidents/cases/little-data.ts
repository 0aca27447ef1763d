/** Threads of set-ups that are rarely seen, most of them with little data. Cause, owner, step and words were written from the thread, before the first run. */
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

/** Nothing but objects of the API server: the kubelet does not answer. */
const unread = ['configz', 'summary'] as const

const largerDisk = /larger (?:disk|volume)/

export const littleDataIncidents: Incident[] = [
  {
    name: 'class-raised-after-its-nodes',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/3404',
    found:
      'blockDeviceMappings had no size, so nodes have 20 GB. The template says 30Gi now; the nodes from before keep their volume until they are replaced.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'default', ageDays: 40 },
        disk: { gib: 19.9, usedGib: 18.3 },
        diskPressure: true,
        volumes: [{ device: '/dev/xvda', gib: 20 }],
        workloads: users(6),
        held: { images: images(6, 0.8, 2.3) },
      },
      byNodeClass('default', [
        { deviceName: '/dev/xvda', ebs: { volumeSize: '30Gi', volumeType: 'gp2' } },
      ]),
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['replace'],
    words: [/30(?:\.0)? ?Gi/, /19\.9 GiB/],
    never: [imageGc],
  },
  {
    name: 'data-volume-that-a-class-does-not-reach',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/4678',
    found:
      'Bottlerocket: the template maps xvda 4Gi and xvdb 40Gi; a new node has 20G on its data disk all the same.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', nodeClass: 'default', ageDays: 0.1 },
        disk: { gib: 19.6, usedGib: 13.1 },
        volumes: [
          { device: '/dev/xvda', gib: 4 },
          { device: '/dev/xvdb', gib: 20 },
        ],
        workloads: users(5),
        held: { images: images(5, 0.8, 2.3) },
      },
      byNodeClass(
        'default',
        [
          { deviceName: '/dev/xvda', ebs: { volumeSize: '4Gi', volumeType: 'gp3' } },
          { deviceName: '/dev/xvdb', ebs: { volumeSize: '40Gi', volumeType: 'gp3' } },
        ],
        { amiFamily: 'Bottlerocket' },
      ),
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['replace', 'set', 'resize', 'read-more'],
    words: [/40(?:\.0)? ?Gi/],
    never: [/prune-images/],
  },
  {
    name: 'threads-of-many-javas',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/737',
    found:
      'Nodes crash: kernel.pid_max is 32768, no limit per pod is set, and a lot of Java runs on them.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 27 } },
      pids: { max: 32_768, used: 32_150 },
      workloads: users(6, { processes: 5200 }),
      held: { images: images(6, 0.4, 1.1) },
    }),
    cause: [setting('evictionHard'), setting('podPidsLimit')],
    owner: 'platform',
    steps: ['set'],
    words: [/32,?768/, /podPidsLimit/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'zombies-of-probes',
    thread: 'https://github.com/datazip-inc/olake-helm/pull/176',
    found:
      'A probe leaves one zombie each time, 11,000 an hour with 20 pods. After 2 days no process starts (StartError), and the node stays Ready.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 30 } },
      pids: { max: 32_768, used: 31_600 },
      workloads: [
        ...users(2),
        { namespace: 'olake', owner: 'Deployment olake-worker', pods: 19, processes: 1570 },
        { namespace: 'olake', owner: 'Deployment olake-ui', processes: 900 },
      ],
      held: { images: images(2, 0.4, 1.1) },
    }),
    cause: [setting('evictionHard'), setting('podPidsLimit')],
    owner: 'platform',
    steps: ['set', 'ask-owner'],
    words: [/olake-worker/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'pods-bound-to-a-node-under-pressure',
    thread: 'https://github.com/kubernetes/kubernetes/issues/94245',
    found:
      'A Deployment with nodeName on a node under DiskPressure: each pod is rejected, and each is replaced at once. Nothing says what holds the disk.',
    world: nodeOf({
      ...{ mode: 'proxy', unread },
      disk: { gib: 100, usedGib: 91 },
      ...{ diskPressure: true, pressureMinutes: 300 },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'default', owner: 'Deployment web', pods: 45 },
          evicted: 'The node had condition: [DiskPressure]. ',
        },
      ],
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/DiskPressure is True/, /refuses new pods/],
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'daemons-evicted-by-the-hundred',
    thread: 'https://github.com/kubernetes/kube-scheduler/issues/5',
    found:
      'Hundreds of pods of a DaemonSet are evicted within 3 minutes and made again on the same node. Nobody has the numbers of the node.',
    world: nodeOf({
      ...{ mode: 'proxy', unread },
      disk: { gib: 200, usedGib: 184 },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet agent', pods: 60 },
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
      ],
      events: flaps(2, 60),
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'threshold-in-a-message',
    thread: 'https://github.com/akash-network/support/issues/226',
    found:
      'Threshold quantity: 31189488855, available: 29362700Ki. Container provider was using 26060Ki. Events alone; what fills 290 GiB is not known.',
    world: nodeOf({
      ...{ mode: 'proxy', unread },
      disk: { gib: 290.475, usedGib: 262.47 },
      ...{ diskPressure: true, pressureMinutes: 4 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'akash-services', owner: 'StatefulSet akash-provider' },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 31189488855, available: 29362700Ki. Container provider was using 26060Ki, request is 0, has larger consumption of ephemeral-storage. ',
        },
      ],
      events: [
        {
          ...{ type: 'Normal', reason: 'NodeHasDiskPressure', firstMinutesAgo: 4 },
          message: 'Node node1 status is now: NodeHasDiskPressure',
        },
      ],
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/28\.0\s+GiB/, /29\.0\s+GiB/, /290\.5\s+GiB/],
    never: [imageGc, largerDisk, /move .* to (?:a|its own) volume/],
  },
  {
    name: 'layers-that-no-statistics-count',
    thread: 'https://github.com/awslabs/soci-snapshotter/issues/1093',
    found:
      'The kubelet looks for the folder of snapshotter soci below /var/lib/containerd, where it is not: it knows no image filesystem and no writable layer. A pod with a limit of 20M writes 5 GB and is not evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', without: ['imageFs', 'layers'] },
      disk: { gib: 80, usedGib: 73.5 },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'default', owner: 'Deployment writer', pods: 10, layerGib: 5 },
          requests: { 'ephemeral-storage': '10M' },
          limits: { 'ephemeral-storage': '20M' },
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'inodes-of-images-in-a-builder',
    thread: 'https://github.com/jupyterhub/mybinder.org-deploy/issues/371',
    found:
      'The images of docker-in-docker lie in a hostPath, /var/lib/dind, that image GC does not know: about once a month the node has no inodes left, and bytes enough.',
    world: nodeOf({
      disk: { gib: 500, usedGib: 210, inodes: { all: 6_500_000, free: 140_000 } },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'prod', owner: 'DaemonSet binderhub-dind', hostPath: '/var/lib/dind' },
      ],
      held: {
        images: images(10, 1, 3),
        listed: { holder: 'unknown', path: '/var/lib/dind', gib: 96, inodes: 4_900_000 },
      },
    }),
    cause: [held('host-path'), held('unknown-folder')],
    owner: 'prod/DaemonSet binderhub-dind',
    steps: ['ask-owner', 'free'],
    words: [/\/var\/lib\/dind/, /inode/],
    never: [imageGc],
  },
  {
    name: 'one-log-file-for-each-call',
    thread: 'https://github.com/aws/amazon-vpc-cni-k8s/issues/1756',
    found:
      'The rotation of plugin.log fails for a program that runs once for each pod: it leaves a further compressed file each time.',
    world: nodeOf({
      disk: { gib: 20, usedGib: 9, inodes: { all: 1_310_720, free: 39_000 } },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet aws-node' },
          hostPath: '/var/log/aws-routed-eni',
        },
      ],
      held: {
        images: images(3, 0.3, 0.9),
        listed: {
          ...{ holder: 'unknown', path: '/var/log/aws-routed-eni' },
          ...{ gib: 0.9, inodes: 1_030_000 },
        },
      },
    }),
    cause: [held('host-path'), held('host-logs'), held('unknown-folder')],
    owner: 'kube-system/DaemonSet aws-node',
    steps: ['ask-owner', 'free'],
    words: [/aws-routed-eni/, /inode/],
    never: [imageGc],
  },
  {
    name: 'swap-that-the-kubelet-does-not-count',
    thread: 'https://github.com/k0sproject/k0s/issues/3830',
    found:
      'A node of 1 GiB with swap: pods are swapped out, and MemoryPressure comes all the same, for the kubelet counts memory alone. A larger node, or less on it.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 't3.medium' },
      disk: { gib: 30, usedGib: 11 },
      ...{ memoryPressure: true, memoryGib: 0.94, availableMemoryGib: 0.08 },
      ...{ kubeletMemoryGib: 0.12, runtimeMemoryGib: 0.1 },
      configuration: { failSwapOn: false, memorySwap: { swapBehavior: 'LimitedSwap' } },
      workloads: users(5, { memoryGib: 0.06 }),
      held: { images: images(5, 0.1, 0.3) },
    }),
    cause: [{ kind: 'world' }, setting('resources'), setting('evictionHard')],
    owner: 'platform',
    steps: ['resize', 'set', 'ask-owner'],
    notCauses: ['images', 'images-in-use'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'image-gc-that-knows-no-filesystem',
    thread: 'https://github.com/cri-o/cri-o/issues/4437',
    found:
      'ImageGCFailed 1416 times in 4d21h: failed to get imageFs info: non-existent label "crio-images". Images pile up; a timer with crictl rmi --prune helps until the kubelet knows its runtime.',
    world: nodeOf({
      ...{ mode: 'proxy', runtimeVersion: 'cri-o://1.19.0', without: ['imageFs'] },
      disk: { gib: 50, usedGib: 44.5 },
      workloads: users(5),
      held: { images: images(30, 0.5, 1.2) },
      events: [
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 1416 },
          message: 'failed to get imageFs info: non-existent label "crio-images"',
          ...{ firstMinutesAgo: 7020, lastMinutesAgo: 1 },
        },
      ],
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more', 'free', 'set', 'replace'],
    words: [/crio-images|image GC fails|imageFs/],
    never: [/imageGCHighThresholdPercent/],
  },
  {
    name: 'folders-that-another-runtime-leaves',
    thread: 'https://github.com/cri-o/cri-o/issues/6981',
    found:
      'CRI-O 1.23.3: /var/lib/containers/storage/overlay has root folders of many containers that are gone, until pods are evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', runtimeVersion: 'cri-o://1.23.3' },
      disk: { gib: 100, usedGib: 91 },
      diskPressure: true,
      workloads: users(6),
      held: { images: images(8, 0.5, 1.4), leftover: 68 },
    }),
    cause: [held('not-images')],
    owner: 'platform',
    steps: ['replace', 'read-more'],
    words: [/other than images/],
    never: [imageGc, /containerd|ctr /, largerDisk],
  },
  {
    name: 'memory-threshold-lost-beside-two-others',
    thread: 'https://github.com/k3s-io/k3s/issues/838',
    found:
      'Nothing is evicted, and the kernel kills programs of the node: SystemOOM 4 times, NodeNotReady 3 times. The kubelet has thresholds for nodefs and imagefs alone.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 't3.medium' },
      disk: { gib: 60, usedGib: 21 },
      ...{ memoryGib: 3.8, availableMemoryGib: 0.12 },
      configuration: { evictionHard: { 'imagefs.available': '5%', 'nodefs.available': '5%' } },
      workloads: users(6, { memoryGib: 0.5, limits: { memory: '1Gi' } }),
      held: { images: images(6, 0.2, 0.6) },
      events: [
        {
          ...{ type: 'Warning', reason: 'SystemOOM', count: 4 },
          message: 'System OOM encountered',
          ...{ firstMinutesAgo: 25, lastMinutesAgo: 12 },
        },
        {
          ...{ type: 'Normal', reason: 'NodeNotReady', count: 3 },
          message: 'Node kube-node-9f4e status is now: NodeNotReady',
          ...{ firstMinutesAgo: 46, lastMinutesAgo: 25 },
        },
      ],
    }),
    cause: [setting('evictionHard')],
    owner: 'platform',
    steps: ['set'],
    words: [/memory\.available/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'node-that-fell-silent',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/661',
    found:
      'Containers without limits take all memory of a c5.large. The node stays NotReady, and SSM does not reach it either. systemReserved 300Mi ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', unread, silent: true, instanceType: 't3.medium' },
      disk: { gib: 20, usedGib: 8 },
      workloads: users(5),
    }),
    cause: [{ kind: 'unread' }, { kind: 'world' }, setting('systemReserved')],
    owner: 'platform',
    steps: ['read-more', 'replace', 'set', 'free'],
    words: [/Ready is Unknown/, /replace the node/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'kernel-memory-of-a-cgroup-driver',
    thread: 'https://github.com/deckhouse/deckhouse/issues/2152',
    found:
      'With cgroupDriver systemd on an old kernel, 5.3, dynamic kernel memory grows each day, and no process has it. A reboot frees it, a newer kernel ends it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 34 } },
      ...{ memoryPressure: true, memoryGib: 30.9, availableMemoryGib: 0.07 },
      workloads: users(8, { memoryGib: 1 }),
      held: { images: images(8, 0.5, 1.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/outside of pods|no pod/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'sockets-that-use-up-tcp-mem',
    thread: 'https://github.com/kubernetes/kubernetes/issues/62334',
    found:
      'net.ipv4.tcp_mem is used up by the sockets of one pod: connections of the whole node hang. The kubelet measures nothing of it; disk, memory and process ids are fine.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 41 } },
      workloads: users(8, { memoryGib: 0.8 }),
      held: { images: images(8, 0.8, 2.4) },
    }),
    ...nearMiss,
  },
  {
    name: 'inodes-of-two-images',
    thread: 'https://github.com/vmware/photon/issues/619',
    found:
      'Two images take 200,000 of 524,288 inodes. That looks like much; 56 % are free, and nothing goes wrong.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 8, usedGib: 2.1, inodes: { all: 524_288, free: 295_431 } },
      workloads: users(2),
      held: { images: images(2, 0.15, 0.4) },
    }),
    ...nearMiss,
  },
  {
    name: 'disk-of-a-virtual-machine',
    thread: 'https://github.com/kubevirt/kubevirt/issues/1663',
    found:
      'virt-launcher keeps the ephemeral disk of a virtual machine in an emptyDir and is evicted with it. Its pod belongs to a VirtualMachineInstance.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 16.9, usedGib: 15.6 },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'default', owner: 'VirtualMachineInstance node-0' },
          ...{ container: 'compute', emptyDirGib: 9.2 },
        },
      ],
      held: { images: images(4, 0.3, 0.9) },
    }),
    cause: [held('pod-volumes')],
    owner: 'default/VirtualMachineInstance node-0',
    steps: ['ask-owner'],
    words: [/node-0/, /9\.2 GiB/],
    never: [imageGc],
  },
  {
    name: 'pressure-that-comes-and-goes-at-90-percent',
    thread: 'https://github.com/kubernetes/kubernetes/issues/115516',
    found:
      'A disk at 90 %: the node reports NodeHasDiskPressure and NodeHasNoDiskPressure in turn, every five minutes. What holds the disk is not in the thread.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 100, usedGib: 90.2 },
      diskPressure: true,
      workloads: users(6),
      held: { images: images(6, 0.5, 1.4), hostLogs: 3, folders: { '/opt/data': 60 } },
      events: flaps(12, 240),
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'filesystem-that-counts-no-inodes',
    thread: 'https://github.com/kubernetes/kubernetes/issues/92925',
    found:
      'btrfs has no fixed number of inodes and reports 0 of 0. /var/lib/kubelet is almost empty. The image disk went over its high threshold, and image GC frees more than its low threshold asks.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 100, usedGib: 12, inodes: { all: 0, free: 0 } },
      imageDisk: {
        ...{ gib: 200, usedGib: 130, device: '/dev/nvme1n1', mount: '/var/lib/containerd' },
        inodes: { all: 0, free: 0 },
      },
      workloads: users(10),
      held: { images: images(40, 1, 3) },
    }),
    ...nearMiss,
    never: [/inode/],
  },
  {
    name: 'dead-containers-on-8-gib',
    thread: 'https://github.com/kubernetes/kubernetes/issues/17994',
    found:
      'A root disk of 8G: 97 containers that have exited, 32 images that nothing uses. Removing both gave 1.8G; the disk is too small.',
    world: nodeOf({
      ...{ mode: 'ssm', disk: { gib: 7.9, usedGib: 7.3 }, diskPressure: true },
      workloads: users(4),
      held: {
        images: images(14, 0.06, 0.2),
        dead: { gib: 0.5, containers: 97, owner: 'Deployment app-0' },
      },
    }),
    cause: [
      held('images-unused'),
      held('dead-containers'),
      held('images-in-use'),
      held('system'),
      { kind: 'device' },
    ],
    owner: 'platform',
    steps: ['resize', 'free'],
    words: [/larger volume|GiB/],
  },
  {
    name: 'pressure-of-one-minute-at-81-percent',
    thread: 'https://github.com/openebs/openebs/issues/2535',
    found:
      'DiskPressure began 41 s ago, and df shows 41G of 50G, 81 %. Nobody found what had filled the disk for a moment.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 50, usedGib: 40.5 },
      ...{ diskPressure: true, pressureMinutes: 1 },
      workloads: users(8),
      held: { images: images(8, 0.5, 1.4) },
    }),
    cause: [{ kind: 'unread' }, { kind: 'world' }, held('unread'), setting('evictionHard')],
    owner: 'platform',
    steps: ['read-more', 'set', 'free'],
    never: [/prune-images/, largerDisk, /restart the kubelet/],
  },
  {
    name: 'logs-of-twenty-pods',
    thread: 'https://github.com/stefanprodan/k8s-scw-baremetal/issues/28',
    found:
      'No rotation of logs: after a few days /var/log/pods has 18G, with about 20 pods, none of which logs more than the others.',
    world: nodeOf({
      disk: { gib: 40, usedGib: 36.6 },
      diskPressure: true,
      workloads: users(20, { logsGib: 0.9 }),
      configuration: { containerLogMaxSize: '1Gi', containerLogMaxFiles: 5 },
      held: { images: images(20, 0.1, 0.3) },
    }),
    cause: [held('container-logs')],
    owner: 'platform',
    steps: ['set', 'ask-owner', 'read-more'],
    words: [/18(?:\.0)? GiB/, /containerLogMax/],
    never: [/prune-images/, largerDisk],
  },
  {
    name: 'mapped-files-of-a-search-engine',
    thread: 'https://github.com/elastic/cloud-on-k8s/issues/1635',
    found:
      'A pod with a heap of 1g and a request of 2Gb grows to 25 GB until it is evicted. The rest are files that it maps.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm6i.2xlarge', disk: { gib: 100, usedGib: 30 } },
      ...{ memoryPressure: true, memoryGib: 30.9, availableMemoryGib: 0.08 },
      workloads: [
        ...users(3, { memoryGib: 0.8 }),
        {
          ...{ namespace: 'elastic', owner: 'StatefulSet es-master' },
          ...{ memoryGib: 25, anonymousGib: 1.9, requests: { memory: '2G' } },
        },
      ],
      held: { images: images(4, 0.5, 1.4) },
    }),
    cause: [setting('resources')],
    owner: 'elastic/StatefulSet es-master',
    steps: ['ask-owner', 'set'],
    words: [/es-master/, /cache of files|files in memory/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'two-nodes-of-which-events-alone-are-known',
    thread: 'https://github.com/operate-first/apps/issues/1352',
    found:
      'Pods of many owners are evicted from two nodes, some with "was using 4Ki", the others with "The node had condition: [DiskPressure]". What fills the nodes is not known.',
    world: {
      nodes: ['10.0.7.31', '10.0.7.32'].map((ip, index) => ({
        ...{ ip, mode: 'proxy' as const, unread, diskPressure: true },
        disk: { gib: 120, usedGib: 110 },
        workloads: [
          ...users(2),
          {
            ...{ namespace: 'thoth', owner: `Job exposer-${index}`, pods: 3 },
            evicted:
              'The node was low on resource: ephemeral-storage. Container exposer was using 4Ki, which exceeds its request of 0. ',
          },
        ],
      })),
    },
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/DiskPressure is True/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'swap-of-the-host-in-compressed-memory',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/4903',
    found:
      'The host swaps into 1 GiB of compressed memory, and programs of the node stall. The kubelet counts nothing of it: memory.available stays far above its threshold.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.large' },
      disk: { gib: 78, usedGib: 24 },
      ...{ memoryGib: 7.6, availableMemoryGib: 0.8 },
      workloads: users(7, { memoryGib: 0.8 }),
      held: { images: images(7, 0.5, 1.5) },
    }),
    ...nearMiss,
  },
  {
    name: 'weights-in-an-image-volume',
    thread: 'https://github.com/kubernetes/enhancements/pull/4642',
    found:
      'Weights of 24 GiB are an image that a pod mounts as a volume. No container runs that image, and image GC must not count it as unused.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'c6i.4xlarge' },
      configuration: { featureGates: { ImageVolume: true } },
      disk: { gib: 60, usedGib: 54.8 },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{
            namespace: 'llm',
            owner: 'Deployment server',
            imageVolume: 'quay.io/models/large:1',
          },
        },
      ],
      held: {
        images: [
          ...images(2, 0.4, 1),
          { name: 'quay.io/models/large:1', packedGib: 24, unpackedGib: 47 },
        ],
      },
    }),
    cause: [held('images-in-use'), held('images')],
    owner: 'platform',
    steps: ['resize', 'ask-owner', 'read-more'],
    words: [/models\/large/],
    never: [/prune-images/],
  },
  {
    name: 'layers-beside-a-disk-of-images',
    thread: 'https://github.com/kubernetes/kubernetes/pull/120616',
    found:
      'KubeletSeparateDiskGC: images have a disk of their own, writable layers are on the disk of the kubelet. A container fills that disk; the image disk has room.',
    world: nodeOf({
      ...{ mode: 'proxy', runtimeVersion: 'cri-o://1.34.0', isSplit: true },
      disk: { gib: 50, usedGib: 46 },
      imageDisk: { gib: 200, usedGib: 40, device: '/dev/nvme1n1', mount: '/var/lib/images' },
      diskPressure: true,
      workloads: [...users(5), { namespace: 'etl', owner: 'Deployment importer', layerGib: 36 }],
      held: { images: images(12, 1, 3) },
    }),
    cause: [held('writable-layers')],
    owner: 'etl/Deployment importer',
    steps: ['ask-owner'],
    words: [/importer/, /36\.0 GiB/],
    never: [imageGc, /containerd/],
  },
  {
    name: 'libraries-in-an-editor-on-premises',
    thread: 'https://github.com/rancher/rancher/issues/30898',
    found:
      'No large logs: a code-server container with a large dlib build had filled the disk of the machine. Its deletion ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Hybrid', volumes: [] },
      disk: { gib: 30, usedGib: 27.6 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'dev', owner: 'Deployment code-server', layerGib: 13.5 },
      ],
      held: { images: images(4, 0.8, 2.2) },
    }),
    cause: [held('writable-layers')],
    owner: 'dev/Deployment code-server',
    steps: ['ask-owner'],
    words: [/code-server/, /13\.5 GiB/],
    never: [imageGc, /EC2NodeClass|launch template/],
  },
  {
    name: 'node-class-without-a-disk-of-its-own-size',
    thread: 'https://github.com/awsdocs/amazon-eks-user-guide/pull/1076',
    found:
      'Auto Mode gives a node 20 GB for its pods unless ephemeralStorage.size of its NodeClass says more, also where the instance has a larger NVMe disk.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Auto Mode' },
      disk: { gib: 19.5, usedGib: 17.9 },
      diskPressure: true,
      volumes: [],
      workloads: users(6),
      held: { images: images(6, 0.9, 2.6) },
    }),
    cause: [held('images-in-use'), held('images'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set'],
    words: [/NodeClass/],
    never: [/prune-images/, /launch template/],
  },
  {
    name: 'windows-disk-without-pressure',
    thread: 'https://github.com/kubernetes/kubernetes/issues/103032',
    found:
      'Drive C: of a Windows node has no byte left, and the node reports no DiskPressure. A large file of a person fills it.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.6.6' },
      disk: { gib: 127, usedGib: 126.9 },
      workloads: users(2),
      held: { images: images(3, 2, 5) },
    }),
    cause: [{ kind: 'unread' }, held('unread'), setting('evictionHard')],
    owner: 'platform',
    steps: ['read-more', 'set'],
    never: [/journalctl|du -x|\/var\/lib/, /prune-images/],
  },
  {
    name: 'volumes-of-a-build-daemon-beside-the-cluster',
    thread: 'https://github.com/ClickHouse/ClickHouse/pull/117168',
    found:
      'A host of 58 GiB has 4.3 GiB left. docker system prune reclaims 0B: the cache of a builder that is gone lies in a volume of Docker.',
    world: nodeOf({
      disk: { gib: 58, usedGib: 53.7 },
      diskPressure: true,
      workloads: users(3),
      held: { images: images(3, 0.4, 1.1), otherRuntime: { '/var/lib/docker/volumes': 39 } },
    }),
    cause: [held('other-runtime', '/var/lib/docker'), held('unknown-folder', '/var/lib/docker')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/docker/, /39(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'file-that-a-person-made',
    thread: 'https://github.com/kubernetes/kubernetes/issues/76598',
    found:
      'fallocate -l 100G /test by hand: a static pod is evicted, and stays Evicted when the file is gone. The file is what holds the disk.',
    world: nodeOf({
      disk: { gib: 120, usedGib: 110 },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'kube-system', owner: 'Node test-static-pod' },
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
      ],
      held: { images: images(2, 0.3, 0.9), folders: { '/test': 100 } },
    }),
    cause: [held('unknown-folder', '/test')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/test/, /100(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'reserve-that-takes-the-memory',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/2580',
    found:
      'kubeReserved is computed from a maxPodsExpression without its cap and takes nearly all memory; maxPods is 110 all the same. New nodes report memory pressure at once, and almost nothing is allocatable.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.large', ageDays: 0.02 },
      disk: { gib: 80, usedGib: 9 },
      ...{ memoryPressure: true, memoryGib: 7.6, availableMemoryGib: 5.9 },
      configuration: {
        maxPods: 110,
        kubeReserved: { cpu: '70m', 'ephemeral-storage': '1Gi', memory: '7450Mi' },
      },
      podsMemory: { limitGib: 0.32, usedGib: 0.28 },
      workloads: users(4, { memoryGib: 0.07 }),
      held: { images: images(4, 0.2, 0.6) },
    }),
    cause: [setting('kubeReserved.memory')],
    owner: 'platform',
    steps: ['set'],
    words: [/kubeReserved/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'objects-in-the-layer-of-a-driver',
    thread: 'https://github.com/minio/directpv/issues/564',
    found:
      'Folders pvc-… with the objects of MinIO lie in a snapshot of containerd: the driver writes into its own layer where its disk is not mounted.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 60, usedGib: 55 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'directpv', owner: 'DaemonSet node-server', layerGib: 41 },
      ],
      held: { images: images(3, 0.5, 1.4) },
    }),
    cause: [held('writable-layers')],
    owner: 'directpv/DaemonSet node-server',
    steps: ['ask-owner', 'free'],
    words: [/node-server/, /41\.0 GiB/],
    never: [imageGc, /leftover/],
  },
  {
    name: 'layers-that-grow-without-a-deployment',
    thread: 'https://github.com/kubernetes/kubernetes/issues/95408',
    found:
      'A new cluster without a deployment: overlay2 grows by itself, and within a day the nodes of 39G crash at 100 %. Logs are limited; nobody knows what it is.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 38.7, usedGib: 37.4 },
      diskPressure: true,
      workloads: users(9),
      held: { images: images(9, 0.1, 0.3), leftover: 30 },
    }),
    cause: [held('not-images')],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'audit-file-in-memory',
    thread: 'https://github.com/hashicorp/vault/issues/18664',
    found:
      'The audit file of Vault grows in an emptyDir that is a ramdisk, until the memory is used up. It has no limit, and only a rotation inside the pod would empty it.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.xlarge', disk: { gib: 80, usedGib: 20 } },
      ...{ memoryPressure: true, memoryGib: 15.4, availableMemoryGib: 0.07 },
      workloads: [
        ...users(4, { memoryGib: 0.6 }),
        { namespace: 'vault', owner: 'StatefulSet vault', memoryGib: 0.5, memoryDirGib: 10.8 },
      ],
      held: { images: images(5, 0.3, 0.8) },
    }),
    cause: [held('memory-volumes')],
    owner: 'vault/StatefulSet vault',
    steps: ['ask-owner'],
    words: [/vault/, /10\.8 GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'pods-that-fit-no-node-any-more',
    thread: 'https://github.com/Azure/AKS/issues/1339',
    found:
      'Pods are Pending with "0/3 nodes are available: 3 Insufficient memory": the requests of all pods use up what is allocatable. No node is under pressure.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 't3.medium', disk: { gib: 60, usedGib: 18 } },
      ...{ memoryGib: 3.8, availableMemoryGib: 1.6 },
      workloads: users(6, { memoryGib: 0.3, requests: { memory: '400Mi' } }),
      held: { images: images(6, 0.2, 0.6) },
    }),
    ...nearMiss,
  },
  {
    name: 'restarts-that-use-up-the-process-ids',
    thread: 'https://github.com/kubernetes/kubernetes/issues/78930',
    found:
      'A daemon in one pod of postgres starts its service again and again, until the node has no process ids left and is unavailable.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 33 } },
      pids: { max: 32_768, used: 31_400 },
      configuration: { evictionHard: { 'memory.available': '750Mi', 'pid.available': '2000' } },
      workloads: [
        ...users(5, { processes: 90 }),
        { namespace: 'db', owner: 'StatefulSet postgres', processes: 30_100 },
      ],
      held: { images: images(6, 0.4, 1.1) },
    }),
    cause: [setting('podPidsLimit')],
    owner: 'db/StatefulSet postgres',
    // The pod's end frees the ids at once.
    steps: ['free', 'ask-owner', 'set', 'read-more'],
    words: [/postgres/, /30100/],
    never: [imageGc, largerDisk, /measure the disk|what holds it/],
  },
]
