/** Threads about components that hold a node's disk or memory, or only seem to. What is expected was written from the thread, before the first run. */
import type { ExpectedCause, Incident } from '../incident.ts'
import { held, imageGc, images, nearMiss, nodeOf, setting, users } from '../short-forms.ts'

/** Nothing but objects of the API server: the kubelet does not answer. */
const unread = ['configz', 'summary'] as const
const largerDisk = /larger (?:disk|volume)/
const unreadCauses: ExpectedCause[] = [{ kind: 'unread' }, held('unread')]

/** Of a node that has memory: what is reserved for its system is another matter. */
const shortOfMemory = /MemoryPressure|requests\.memory|vllm|cluster-\w/

/** The node is not of EKS. */
const elsewhere = {
  family: 'Ubuntu' as const,
  osImage: 'Ubuntu 22.04.5 LTS',
  volumes: [],
  providerId: '',
}

export const componentIncidents: Incident[] = [
  {
    name: 'replicas-that-no-volume-claims',
    thread: 'https://github.com/devantler-tech/platform/issues/3201',
    found:
      'Fourteen replica folders of Longhorn without a volume. 24 % of the disk are free: Longhorn calls that its own DiskPressure and takes no replicas. The kubelet is far from a threshold.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 100, usedGib: 76 } },
      workloads: users(5),
      held: { images: images(6, 0.9, 2.7), folders: { '/var/lib/longhorn/replicas': 44 } },
    }),
    ...nearMiss,
    notCauses: ['not-images', 'images-in-use', 'images-unused'],
    never: [largerDisk, imageGc, /DiskPressure is True/],
  },
  {
    name: 'failed-replicas-by-the-api',
    thread: 'https://github.com/longhorn/longhorn/issues/2461',
    found:
      'Longhorn on EKS: one node was unstable, its replicas were rebuilt elsewhere, and the failed ones stay on its disk. Only the use of the disk was seen.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 92 }, diskPressure: true },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'longhorn-system', owner: 'DaemonSet longhorn-manager' },
          hostPath: '/var/lib/longhorn',
        },
      ],
      held: { images: images(5, 0.9, 2.7), folders: { '/var/lib/longhorn/replicas': 58 } },
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/longhorn/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'snapshots-of-three-replicas',
    thread: 'https://github.com/openebs/openebs/issues/2530',
    found:
      'Volumes of Cassandra hold 12 GB each, and the Jiva replicas of each below /var/openebs hold much more: internal snapshots of rebuilds. The nodes ran out of disk.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 150, usedGib: 139 }, diskPressure: true },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'openebs', owner: 'Deployment jiva-cassandra-0-rep' },
          hostPath: '/var/openebs/pvc-cassandra-0',
        },
        {
          ...{ namespace: 'openebs', owner: 'Deployment jiva-cassandra-1-rep' },
          hostPath: '/var/openebs/pvc-cassandra-1',
        },
      ],
      held: {
        images: images(5, 0.9, 2.7),
        folders: { '/var/openebs/pvc-cassandra-0': 58, '/var/openebs/pvc-cassandra-1': 41 },
      },
    }),
    cause: [held('host-path', '/var/openebs'), held('unknown-folder', '/var/openebs')],
    owner: 'openebs/Deployment jiva-cassandra-0-rep',
    steps: ['ask-owner', 'free', 'read-more'],
    words: [/\/var\/openebs/, /58(?:\.0)? GiB/],
    never: [imageGc, /sudo rm/],
  },
  {
    name: 'write-ahead-log-of-a-datastore',
    thread: 'https://github.com/k3s-io/k3s/issues/3660',
    found:
      'state.db-wal of k3s has 240 GB: no reader ends, so SQLite never truncates it. A newer kine truncates at its start. Deleting the file of a running database loses it.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 290, usedGib: 271 }, diskPressure: true },
      workloads: users(5),
      held: { images: images(6, 0.9, 2.7), folders: { '/var/lib/rancher/k3s/server/db': 223.5 } },
    }),
    cause: [held('unknown-folder', '/var/lib/rancher/k3s')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/var\/lib\/rancher\/k3s/, /223\.5 GiB/],
    notCauses: ['images-in-use', 'not-images'],
    never: [imageGc, largerDisk, /sudo rm/],
  },
  {
    name: 'daemon-beside-a-runner',
    thread: 'https://github.com/actions/actions-runner-controller/issues/2695',
    found:
      'A runner is evicted: "Container runner was using 3914072Ki, which exceeds its request of 0. Container docker was using 91249008Ki". Its disk is free again afterwards. Volumes for the daemon ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 120, usedGib: 23 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'runners', owner: 'EphemeralRunner gha-build', container: 'docker' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container runner was using 3914072Ki, which exceeds its request of 0. Container docker was using 91249008Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [held('writable-layers'), held('pod-volumes'), setting('resources')],
    owner: 'runners/EphemeralRunner gha-build',
    steps: ['ask-owner', 'set'],
    words: [/gha-build/, /87(?:\.0)? GiB|91249008Ki|90\.8 GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'buffers-below-the-logs-of-the-host',
    thread: 'https://github.com/sassoftware/viya4-monitoring-kubernetes/issues/751',
    found:
      'The hostPath /var/log/v4m-fb-storage of Fluent Bit fills up, with one day of retention, too. Another place for the buffer ended it.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 100, usedGib: 92 }, diskPressure: true },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'logging', owner: 'DaemonSet v4m-fb' },
          hostPath: '/var/log/v4m-fb-storage',
        },
      ],
      held: { images: images(5, 0.9, 2.7), folders: { '/var/log/v4m-fb-storage': 57 } },
    }),
    cause: [
      held('host-path', '/var/log/v4m-fb-storage'),
      held('host-logs', '/var/log/v4m-fb-storage'),
    ],
    owner: 'logging/DaemonSet v4m-fb',
    steps: ['ask-owner', 'free'],
    words: [/v4m-fb-storage/, /57(?:\.0)? GiB/],
    never: [imageGc, largerDisk, /logrotate/],
  },
  {
    name: 'agent-that-logs-into-its-layer',
    thread: 'https://github.com/DataDog/docker-dd-agent/issues/310',
    found:
      'With DD_LOGS_STDOUT=true the agent logs into /var/log/datadog of its container, too: its layer grows on small disks.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'datadog', owner: 'DaemonSet dd-agent', layerGib: 8.6 },
      ],
      held: { images: images(4, 0.5, 1.5) },
    }),
    cause: [held('writable-layers')],
    owner: 'datadog/DaemonSet dd-agent',
    steps: ['free', 'ask-owner'],
    words: [/dd-agent/, /8\.6 GiB/],
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'logs-that-rotate-every-three-minutes',
    thread: 'https://github.com/kubernetes/enhancements/pull/5022',
    found:
      'taskmanager writes so fast that the kubelet rotates every three minutes, 181176268 bytes after compression; then the disk is full, and the next compression fails: the log is never rotated again.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 100, usedGib: 93 }, diskPressure: true },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'tardis', owner: 'Deployment tardis-tm', container: 'taskmanager' },
          logsGib: 61,
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [held('container-logs')],
    owner: 'tardis/Deployment tardis-tm',
    steps: ['free', 'ask-owner'],
    words: [/tardis-tm/, /61(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'agent-of-the-network-that-takes-all-memory',
    thread: 'https://github.com/cilium/cilium/issues/8142',
    found:
      'cilium-agent allocates 12 GB within five minutes and in the worst case all memory of the node, until the kernel kills. About 100 pods on each node. A newer cilium ended it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', memoryPressure: true },
      ...{ memoryGib: 31, availableMemoryGib: 0.06, disk: { gib: 100, usedGib: 34 } },
      workloads: [
        ...users(14, { memoryGib: 0.9, requests: { memory: '1Gi' } }),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet cilium', memoryGib: 14.8 },
          ...{ anonymousGib: 14.2, requests: { memory: '512Mi' } },
        },
      ],
      held: { images: images(6, 0.8, 2.4) },
    }),
    cause: [setting('resources.requests.memory'), setting('resources.limits.memory')],
    owner: 'kube-system/DaemonSet cilium',
    steps: ['ask-owner', 'set', 'free'],
    words: [/cilium/, /14\.8 GiB/],
    never: [largerDisk, imageGc, /cache\s+of\s+files/],
  },
  {
    name: 'test-of-an-adapter-on-two-volumes',
    thread: 'https://github.com/aws/aws-k8s-tester/pull/472',
    found:
      'Bottlerocket: "Threshold quantity: 2867269745, available: 1396568Ki". The template maps a size to /dev/xvda; the data volume is /dev/xvdb.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
        ...{ disk: { gib: 17.8, usedGib: 16.47 }, diskPressure: true },
        volumes: [
          { device: '/dev/xvda', gib: 100 },
          { device: '/dev/xvdb', gib: 18 },
        ],
        workloads: [
          ...users(2),
          {
            ...{ namespace: 'default', owner: 'Job efa-test' },
            evicted:
              'The node was low on resource: ephemeral-storage. Threshold quantity: 2867269745, available: 1396568Ki. ',
          },
        ],
        held: { images: images(3, 1.6, 4.9) },
      },
      {
        nodegroups: [
          {
            ...{ nodegroupName: 'workers', amiType: 'BOTTLEROCKET_x86_64' },
            launchTemplate: { id: 'lt-0e', name: 'efa', version: '1' },
          },
        ],
        launchTemplates: [
          {
            ...{ launchTemplateId: 'lt-0e', launchTemplateName: 'efa', versionNumber: 1 },
            volumes: [{ deviceName: '/dev/xvda', sizeGiB: 100 }],
          },
        ],
      },
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set', 'replace'],
    words: [/\/dev\/xvdb/],
    never: [/prune-images|growpart/],
  },
  {
    name: 'images-that-nobody-pruned-since-docker',
    thread: 'https://github.com/canonical/microk8s/issues/482',
    found:
      'microk8s now uses containerd: neither inodes nor bytes are left, and the images that Docker users pruned by hand stay. A lower image-gc-high-threshold ended it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', diskPressure: true },
      disk: { gib: 60, usedGib: 57.2, inodes: { all: 3_900_000, free: 26_000 } },
      workloads: users(4),
      held: { images: images(44, 0.36, 1.1) },
    }),
    cause: [held('images-unused'), held('images'), setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['free', 'set', 'read-more'],
    words: [/image/i, /inode/],
    notCauses: ['writable-layers', 'not-images'],
    never: [/drain/],
  },
  {
    name: 'forty-nine-gigabytes-are-free',
    thread: 'https://github.com/fusor/catasb/pull/201',
    found:
      'A cluster on a laptop: 90 % of the disk are used with 49G free, and pods are evicted for imagefs. What fills the disk is not the cluster; room had to be made.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: 'docker://1.13.1', diskPressure: true },
      disk: { gib: 456, usedGib: 410.4 },
      workloads: users(5),
      held: { images: images(7, 0.5, 1.5), folders: { '/home/developer': 370 } },
    }),
    cause: [...unreadCauses, setting('evictionHard')],
    owner: 'platform',
    steps: ['read-more', 'set'],
    notCauses: ['images-in-use', 'images-unused', 'not-images', 'writable-layers'],
    never: [imageGc, /drain/],
  },
  {
    name: 'disk-of-a-virtual-node-above-a-default-limit',
    thread: 'https://github.com/cozystack/cozystack/pull/2317',
    found:
      'A LimitRange gives virt-launcher 2Gi of ephemeral-storage; the virtual machine has an emptyDisk of 20Gi, unpacks its images there, and is evicted again and again. The host has room.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 400, usedGib: 96 } },
      // Talos, on which cozystack runs, reserves for its system.
      configuration: { systemReserved: { cpu: '50m', memory: '384Mi', pid: '100' } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'tenant', owner: 'VirtualMachineInstance kubernetes-md0' },
          limits: { 'ephemeral-storage': '2Gi' },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [held('writable-layers'), held('pod-volumes'), setting('resources')],
    owner: 'tenant/VirtualMachineInstance kubernetes-md0',
    steps: ['ask-owner', 'set'],
    words: [/kubernetes-md0/, /2Gi|2(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'seventeen-tebibytes-free-of-a-hundred-gigabytes',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/51',
    found:
      'A flipped bit in the superblock: df says -16T used and 17T available of 100G, the kubelet "available 70376773459968 is larger than capacity". No threshold is ever met, and the disk fills. xfs_repair or a new node ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: -16_320 } },
      workloads: users(5),
      held: { images: images(6, 0.9, 2.7) },
    }),
    cause: [{ kind: 'device' }, { kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['replace', 'read-more'],
    words: [/capacity/],
    never: [largerDisk, imageGc],
  },
  {
    name: 'launcher-that-is-only-the-victim',
    thread: 'https://github.com/llm-d-incubation/llm-d-fast-model-actuation/issues/623',
    found:
      'Launchers of vLLM are evicted four times on the same node. One holds 694 MB of a model and 30 MB of caches: the rest of the disk is of others, which nobody read.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 120, usedGib: 109 }, diskPressure: true },
      workloads: [
        ...users(4),
        { namespace: 'fma', owner: 'ReplicaSet launcher', layerGib: 0.68 },
        {
          ...{ namespace: 'fma', owner: 'ReplicaSet my-request' },
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
      ],
      held: { images: images(5, 2.1, 6), folders: { '/var/lib/containers': 62 } },
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    notCauses: ['writable-layers', 'pod-volumes'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'own-logs-of-a-windows-kubelet',
    thread: 'https://github.com/Azure/AKS/issues/1378',
    found:
      'Nothing rotates the logs of kubelet and kube-proxy on Windows: the drive of the system runs full. Deleting them by hand or a new image ended it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.7.27', diskPressure: true },
        disk: { gib: 127, usedGib: 118 },
        workloads: users(3),
        held: { images: images(3, 2, 5), folders: { '/k': 74 } },
      },
      {
        nodegroups: [
          { nodegroupName: 'workers', amiType: 'WINDOWS_CORE_2022_x86_64', diskSize: 127 },
        ],
      },
    ),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/PowerShell|C:\\|Get-ChildItem/],
    never: [imageGc, largerDisk, /journalctl|du -x|sudo |\/var\/lib/],
  },
  {
    name: 'virtual-machine-evicted-for-sixty-megabytes',
    thread: 'https://github.com/deckhouse/virtualization/pull/2549',
    found:
      'Under DiskPressure virt-launcher is evicted: its logs made it use 63 MB of a request of 50M. A request of 200M keeps it from being the first; what fills the disk is another matter.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 200, usedGib: 183 }, diskPressure: true },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'vms', owner: 'VirtualMachineInstance db-1', container: 'd8v-compute' },
          requests: { 'ephemeral-storage': '50M' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container d8v-compute was using 61524Ki, request is 50M, has larger consumption of ephemeral-storage. ',
        },
      ],
      held: { images: images(6, 0.9, 2.7), folders: { '/var/lib/linstor': 120 } },
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/db-1/],
    notCauses: ['container-logs', 'writable-layers', 'pod-volumes'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'memory-pressure-that-binds-a-volume',
    thread: 'https://github.com/openebs/lvm-localpv/issues/182',
    found:
      'A worker reports MemoryPressure; the driver makes the volume there, and the pod can run nowhere. Who uses the memory, nobody has read.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', unread, memoryPressure: true, pressureMinutes: 40 },
      ...{ memoryGib: 30, availableMemoryGib: 0.05, disk: { gib: 100, usedGib: 30 } },
      workloads: users(4),
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/MemoryPressure/],
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'agent-of-a-build-that-leaves-its-pod',
    thread: 'https://github.com/jenkinsci/kubernetes-plugin/pull/1712',
    found:
      '"Threshold quantity: 19245089737, available: 16938436Ki": the evicted agent was using 2719916Ki, a sixtieth of what the disk holds. Evicted agents are kept, to see what they used.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 179.23, usedGib: 163.08 }, diskPressure: true },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'jenkins', owner: 'Bare agent-k2x1' },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 19245089737, available: 16938436Ki. Container jnlp was using 2719916Ki, request is 0, has larger consumption of ephemeral-storage. ',
        },
      ],
      held: { images: images(8, 0.9, 2.7), folders: { '/data/cache': 118 } },
    }),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/agent-k2x1/],
    notCauses: ['writable-layers', 'pod-volumes', 'images-in-use'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'daemon-that-counts-nothing',
    thread: 'https://github.com/moby/moby/issues/43586',
    found:
      'docker system df shows 0 B of everything, and /var/lib/docker has 76G in overlay2. No prune of Docker frees it: with the daemon stopped the folder was deleted.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 110, usedGib: 101.5 }, diskPressure: true },
      workloads: users(4),
      held: { images: images(4, 0.8, 2.4), otherRuntime: { '/var/lib/docker': 70.8 } },
    }),
    cause: [held('other-runtime', '/var/lib/docker')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/lib\/docker/, /70\.8 GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'cache-of-files-of-a-model-server',
    thread: 'https://github.com/vllm-project/vllm/issues/3035',
    found:
      'vLLM loads a model: of the 32 GB of its pod 4 GB are RSS and 28 GB cache, which the kernel drops when it needs memory. With 116 GB the cache has 100. The node has room.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', instanceType: 'r6i.2xlarge' },
      ...{ memoryGib: 62, availableMemoryGib: 26 },
      disk: { gib: 500, usedGib: 240 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'models', owner: 'Deployment vllm', memoryGib: 31, anonymousGib: 4 },
          ...{ requests: { memory: '32Gi' }, limits: { memory: '32Gi' } },
        },
      ],
      held: { images: images(4, 2.5, 7) },
    }),
    ...nearMiss,
    never: [shortOfMemory, largerDisk],
  },
  {
    name: 'monitor-that-warns-at-44-percent',
    thread: 'https://github.com/rook/rook/issues/2197',
    found:
      'Ceph says "mon d is low on available space" and takes it back minutes later. 56 % of the disk below /var are free, and 3 % are of Rook.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 50, usedGib: 22 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'rook-ceph', owner: 'Deployment rook-ceph-mon-d' },
          hostPath: '/var/lib/rook/mon-d',
        },
      ],
      held: { images: images(4, 0.9, 2.7), folders: { '/var/lib/rook/mon-d': 1.5 } },
    }),
    ...nearMiss,
    notCauses: ['host-path', 'unknown-folder', 'images-in-use'],
    never: [largerDisk, imageGc],
  },
  {
    name: 'proxy-that-opens-too-many-files',
    thread: 'https://github.com/kubernetes/kubernetes/issues/104303',
    found:
      'kube-proxy does not start: "failed complete: too many open files". The limit is that of inotify instances. Its disk and memory are in order.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 40 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet kube-proxy' },
          ...{ waiting: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' },
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: ['images-in-use', 'writable-layers'],
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'signal-that-windows-does-not-observe',
    thread: 'https://github.com/kubernetes/kubernetes/issues/130142',
    found:
      'The kubelet on Windows logs "no observation found for eviction signal containerfs.inodesFree": Windows has no inodes. It is noise; nothing is short.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.7.27' },
        disk: { gib: 100, usedGib: 44, inodes: { all: 0, free: 0 } },
        workloads: users(3),
        held: { images: images(3, 2, 5) },
      },
      {
        nodegroups: [
          { nodegroupName: 'workers', amiType: 'WINDOWS_CORE_2022_x86_64', diskSize: 100 },
        ],
      },
    ),
    ...nearMiss,
    notCauses: ['images-in-use', 'unread'],
    never: [/inode/i, largerDisk],
  },
  {
    name: 'drain-that-reads-as-a-memory-kill',
    thread: 'https://github.com/kubernetes/kops/issues/18040',
    found:
      'Pods that the termination handler drains show OOMKilled with exit code 143. No memory was short: requests of 512Mi, no limit.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', availableMemoryGib: 18, disk: { gib: 100, usedGib: 38 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'zookeeper', owner: 'StatefulSet cluster', memoryGib: 0.5 },
          requests: { memory: '512Mi' },
          events: [
            {
              ...{ type: 'Normal', reason: 'Killing', firstMinutesAgo: 50 },
              message: 'Stopping container zookeeper',
            },
          ],
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: ['memory.available', 'resources.requests.memory'],
    never: [largerDisk, shortOfMemory],
  },
  {
    name: 'twelve-gigabytes-below-containerd',
    thread: 'https://github.com/kubernetes-sigs/kubespray/issues/10195',
    found:
      'overlayfs 6.2GB, native 3.5GB and content 2.5GB below /var/lib/containerd seem large to their reader, who prunes without effect. It is what the running images need.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 40, usedGib: 19 } },
      workloads: users(8),
      held: { images: images(8, 0.3, 0.75), content: 2.4 },
    }),
    ...nearMiss,
    notCauses: ['image-content', 'leftover-snapshots', 'images-in-use', 'not-images'],
    never: [largerDisk, imageGc],
  },
  {
    name: 'snapshots-of-a-pool-that-counts-zero-at-first',
    thread: 'https://github.com/containerd/containerd/issues/7354',
    found:
      'ZFS: 1347 snapshots for 68 containers seem too many, and the kubelet once says "invalid capacity 0 on image filesystem". Use moves between 34 and 80 % as image GC comes and goes.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: '1.5.9', disk: { gib: 200, usedGib: 60 } },
      imageDisk: {
        gib: 100,
        usedGib: 78,
        device: 'rpool/containerd',
        mount: '/var/lib/containerd',
      },
      workloads: users(20),
      held: { images: images(38, 0.65, 1.9) },
      events: [
        {
          ...{ type: 'Warning', reason: 'InvalidDiskCapacity', count: 1 },
          message: 'invalid capacity 0 on image filesystem',
          ...{ firstMinutesAgo: 4300 },
        },
      ],
    }),
    ...nearMiss,
    notCauses: ['not-images', 'leftover-snapshots', 'images-in-use'],
    never: [largerDisk, /drain/],
  },
  {
    name: 'a-thousand-collectors-without-a-processor',
    thread: 'https://github.com/aquasecurity/trivy-operator/issues/1012',
    found:
      'trivy-operator creates more than 1000 node-collector pods within 15 minutes, rejected with OutOfCpu. No disk and no memory is short.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 35 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'trivy-system', owner: 'Job node-collector', pods: 40 },
          ...{ waiting: 'OutOfcpu' },
          message: 'Pod was rejected: Node didn’t have enough resource: cpu',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: ['dead-containers', 'images-in-use'],
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'handler-that-its-own-limit-kills',
    thread: 'https://github.com/mitodl/ol-infrastructure/pull/5088',
    found:
      'aws-node-termination-handler is killed at its own limit of 24Mi, 86 times in 29 hours. The node has memory; a limit of 64Mi ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', availableMemoryGib: 14, disk: { gib: 100, usedGib: 38 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet aws-node-termination-handler' },
          ...{ memoryGib: 0.022, limits: { memory: '24Mi' }, requests: { memory: '24Mi' } },
          events: [
            {
              ...{ type: 'Warning', reason: 'BackOff', count: 86 },
              message: 'Back-off restarting failed container aws-node-termination-handler',
              ...{ firstMinutesAgo: 1740, lastMinutesAgo: 4 },
            },
          ],
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    ...nearMiss,
    never: [largerDisk, imageGc, /larger instance/, /drain/],
  },
  {
    name: 'mounts-that-a-manager-cannot-start',
    thread: 'https://github.com/kubediag/kubediag/issues/91',
    found:
      'Pods stay in ContainerCreating: "Failed to start transient scope unit: Argument list too long". An old systemd leaks units of mounts. No disk is full.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 41 } },
      workloads: [
        ...users(5),
        {
          ...{
            namespace: 'default',
            owner: 'Deployment productpage',
            waiting: 'ContainerCreating',
          },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedMount', count: 8 },
              message:
                'MountVolume.SetUp failed for volume "istio-envoy" : mount failed: exit status 1\nMounting command: systemd-run\nOutput: Failed to start transient scope unit: Argument list too long',
              ...{ firstMinutesAgo: 12, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/Argument\s+list\s+too\s+long|systemd-run|FailedMount/],
    notCauses: ['images-in-use', 'pod-volumes'],
    never: [largerDisk, imageGc],
  },
]
