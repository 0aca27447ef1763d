/** Threads of rarer subjects: pods that cannot end, memory that the kubelet miscounts, mounts of their own, conditions that stay. Each was written before its first run. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nearMiss, nodeOf, setting, users } from '../short-forms.ts'

const unread = { kind: 'unread' } as const

export const rarerIncidents: Incident[] = [
  {
    name: 'volumes-of-pods-that-cannot-end',
    thread: 'https://github.com/kubevirt/project-infra/issues/5070',
    found:
      'Pods of CI jobs stay in Terminating for hours: their processes wait in the kernel (state D) for a network block device. Image GC attempts to free 60512096256 to 109088780288 bytes and finds 0. All nodes are cleaned up and rebooted.',
    world: nodeOf({
      disk: { gib: 500, usedGib: 466 },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'kubevirt-prow-jobs', owner: 'Bare pull-kubevirt-e2e', pods: 6 },
          ...{ emptyDirGib: 68, deletedMinutesAgo: 560 },
        },
      ],
      held: { images: images(7, 1.6, 4.8) },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 6 },
          message:
            'Failed to garbage collect required amount of images. Attempted to free 109088780288 bytes, but only found 0 bytes eligible to free.',
          ...{ firstMinutesAgo: 148, lastMinutesAgo: 3 },
        },
      ],
    }),
    cause: [held('pod-volumes')],
    owner: 'kubevirt-prow-jobs/Bare pull-kubevirt-e2e',
    steps: ['replace'],
    words: [/pull-kubevirt-e2e/, /Terminating/, /reboot/],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'full-volume-for-logs-alone',
    thread: 'https://github.com/giantswarm/aws-operator/pull/3643',
    found:
      'AWS: /var/log is a volume of its own, which the kubelet does not watch. The node problem detector says: "Disk /dev/nvme3n1 (mount point /var/log) is full." The other disks have room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 31 }, instanceType: 'm5.xlarge' },
      workloads: users(6),
      held: { images: images(6, 0.8, 2.4) },
      conditions: [
        {
          ...{ type: 'DiskFullVarLog', status: 'True', reason: 'DiskFullVarLog' },
          message: 'Disk /dev/nvme3n1 (mount point /var/log) is full.',
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'free'],
    words: [/DiskFullVarLog/, /\/var\/log/, /du -h -a -x -d 2 -0 \/var\/log /],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'memory-of-the-kubelet',
    thread: 'https://github.com/kubernetes/kops/issues/5916',
    found:
      'AWS, nodes of CI with many short pods: 100,000 mount units of systemd are never cleaned up, and the kubelet, which walks their cgroups, holds 5 GiB of memory.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 38 }, instanceType: 'm5.xlarge' },
      ...{ memoryPressure: true, memoryGib: 15.4, availableMemoryGib: 0.09, kubeletMemoryGib: 5 },
      workloads: users(9, { memoryGib: 1, requests: { memory: '1Gi' } }),
      held: { images: images(9, 0.5, 1.5) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['free', 'replace'],
    words: [/kubelet/, /5(?:\.\d)? GiB/],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'huge-pages-counted-as-available',
    thread: 'https://github.com/kubernetes/kubernetes/issues/137984',
    found:
      'The kubelet counts memory reserved for huge pages as available: eviction comes too late or never, and the kernel kills processes. The kubelet subtracts them from 1.37 on.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 41 } },
      ...{ hugePagesGib: 8, memoryGib: 30.9, availableMemoryGib: 8.2 },
      workloads: users(6, { memoryGib: 3.7 }),
      held: { images: images(6, 0.8, 2.4) },
      events: [
        {
          ...{ type: 'Warning', reason: 'SystemOOM', count: 3 },
          message: 'System OOM encountered, victim process: java, pid: 23041',
          ...{ firstMinutesAgo: 310, lastMinutesAgo: 22 },
        },
      ],
    }),
    cause: [setting('evictionHard'), setting('evictionSoft')],
    owner: 'platform',
    steps: ['set'],
    words: [/[Hh]uge ?pages/, /8(?:\.0)? GiB/, /set evictionSoft\.memory\.available 8292Mi/],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'memory-of-a-storage-driver',
    thread: 'https://github.com/kubernetes-sigs/aws-efs-csi-driver/issues/1640',
    found:
      'Bottlerocket 1.39.1: zombie stunnel processes pile up below the pod of efs-csi-node, and its memory grows until the node is under pressure.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
      disk: { gib: 78, usedGib: 30 },
      ...{ memoryPressure: true, memoryGib: 15.4, availableMemoryGib: 0.08 },
      pids: { max: 4_194_304, used: 3900 },
      workloads: [
        ...users(7, { memoryGib: 1, requests: { memory: '1Gi' } }),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet efs-csi-node' },
          ...{ container: 'efs-plugin', memoryGib: 6.2, anonymousGib: 6, processes: 2900 },
        },
      ],
      held: { images: images(7, 0.5, 1.5) },
    }),
    cause: [setting('resources')],
    owner: 'kube-system/DaemonSet efs-csi-node',
    steps: ['ask-owner'],
    words: [/efs-csi-node/, /6\.2 GiB/, /drain\s+the\s+node/],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'capacity-of-0-at-each-start',
    thread: 'https://github.com/rancher/rke2/issues/1073',
    found:
      'A fresh node on AWS: "invalid capacity 0 on image filesystem" at each start of the kubelet, before its first statistics. It can be ignored.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 14 },
      workloads: users(4),
      held: { images: images(4, 0.5, 1.5) },
      events: [
        {
          ...{ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' },
          firstMinutesAgo: 40,
        },
        {
          ...{ type: 'Warning', reason: 'InvalidDiskCapacity' },
          ...{ message: 'invalid capacity 0 on image filesystem', firstMinutesAgo: 40 },
        },
      ],
    }),
    ...nearMiss,
    never: [/InvalidDiskCapacity|invalid capacity/],
  },
  {
    name: 'pressure-that-stays-after-the-cleaning',
    thread: 'https://github.com/kubernetes/kubernetes/issues/83668',
    found:
      'Space and inodes were freed, and the node still reports DiskPressure and refuses pods. Removing the taint by hand does nothing; only a restart helps.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 200, usedGib: 62, inodes: { all: 13e6, free: 11e6 } } },
      ...{ diskPressure: true, pressureMinutes: 600 },
      workloads: users(5),
      held: { images: images(5, 0.8, 2.4) },
      events: [
        {
          ...{ type: 'Normal', reason: 'NodeHasDiskPressure', firstMinutesAgo: 600 },
          message: 'Node status is now: NodeHasDiskPressure',
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set', 'replace', 'free', 'read-more'],
    words: [/DiskPressure/, /restart/],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'daemon-log-of-19-gb',
    thread: 'https://github.com/kubernetes/kops/issues/3047',
    found:
      'kops on AWS, Debian: /var/log/daemon.log grows to 18 to 19 GB on every node, full of errors of the kubelet. It has to be rotated by hand.',
    world: nodeOf({
      ...{ disk: { gib: 64, usedGib: 59 }, instanceType: 'm5.xlarge' },
      diskPressure: true,
      workloads: users(7, { logsGib: 0.3 }),
      held: { images: images(8, 1, 3), folders: { '/var/log/daemon.log': 18.5 } },
    }),
    cause: [held('host-logs')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/\/var\/log\/daemon\.log/, /18\.5 GiB/],
    never: [imageGc, /containerLogMaxSize/],
  },
  {
    name: 'core-files-of-a-gateway',
    thread: 'https://github.com/istio/istio/issues/19522',
    found:
      'EKS: istio-proxy of the ingress gateway writes core.xxx files into its container, although core dumps are off, and fills the disks of its nodes.',
    world: nodeOf({
      ...{ disk: { gib: 80, usedGib: 74.5 }, instanceType: 'm5.xlarge' },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'istio-system', owner: 'Deployment istio-ingressgateway' },
          ...{ container: 'istio-proxy', layerGib: 49 },
        },
      ],
      held: { images: images(6, 0.9, 2.7) },
    }),
    cause: [held('writable-layers')],
    owner: 'istio-system/Deployment istio-ingressgateway',
    steps: ['ask-owner'],
    words: [/istio-proxy/, /49(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'image-gc-that-frees-0-on-10-gb',
    thread: 'https://github.com/kubernetes/kubernetes/issues/71869',
    found:
      '"Wanted to free 473842483 bytes, but freed 0 bytes": with thresholds of 85 and 80 % that is a disk of at most 9 GiB, whose images are all in use. Pods are evicted each time.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 8.8, usedGib: 7.52 }, instanceType: 'm5.large' },
      workloads: users(5),
      held: { images: images(5, 0.45, 1.2) },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 40 },
          message:
            'failed to garbage collect required amount of images. Wanted to free 473842483 bytes, but freed 0 bytes',
          ...{ firstMinutesAgo: 200, lastMinutesAgo: 3 },
        },
      ],
    }),
    cause: [held('images-in-use'), held('images'), unread],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    words: [/in use/, /larger volume/],
    never: [/prune-images/],
  },
  {
    name: 'upload-above-the-limit-of-its-pod',
    thread: 'https://github.com/artifact-keeper/artifact-keeper-iac/issues/153',
    found:
      'The backend streams uploads through an emptyDir under a limit of 1Gi: "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi". The node has room; the limit has to be raised.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 120, usedGib: 35 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'artifacts', owner: 'Deployment artifact-keeper-backend', pods: 3 },
          limits: { 'ephemeral-storage': '1Gi' },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [held('pod-volumes'), held('writable-layers'), setting('resources')],
    owner: 'artifacts/Deployment artifact-keeper-backend',
    steps: ['ask-owner'],
    words: [/artifact-keeper-backend/, /1Gi|1(?:\.0)? GiB/],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'backups-without-retention',
    thread: 'https://github.com/etcd-io/etcd/issues/12267',
    found:
      'kubespray writes a snapshot of etcd into /var/backups at each run and deletes none: the root disk fills and pods are evicted.',
    world: nodeOf({
      ...{ disk: { gib: 60, usedGib: 55.4 }, instanceType: 'm5.xlarge' },
      diskPressure: true,
      workloads: users(6),
      held: { images: images(7, 0.8, 2.4), folders: { '/var/backups': 26 } },
    }),
    cause: [held('unknown-folder', '/var/backups')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/backups/, /26(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'access-log-of-an-ingress-daemon',
    thread: 'https://github.com/kinvolk/lokomotive/issues/1206',
    found:
      'Envoy of Contour, a DaemonSet: its log on the node goes up to 300 GB. An eviction does not help, because the DaemonSet starts it again.',
    world: nodeOf({
      disk: { gib: 350, usedGib: 327 },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'projectcontour', owner: 'DaemonSet envoy', container: 'envoy' },
          logsGib: 300,
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [held('container-logs')],
    owner: 'projectcontour/DaemonSet envoy',
    steps: ['free', 'set', 'ask-owner'],
    words: [/envoy/, /300(?:\.0)? GiB/],
    never: [imageGc, /larger (?:disk|volume)/, /drain the node/],
  },
  {
    name: 'defunct-processes-of-a-sandbox',
    thread: 'https://github.com/UKGovernmentBEIS/inspect_k8s_sandbox/issues/251',
    found:
      'The first process of a sandbox pod, tail, reaps no children: 1802 zombies in one pod, until its own limit. The node has process ids enough.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 34 } },
      configuration: { podPidsLimit: 2048 },
      pids: { max: 4_194_304, used: 2300 },
      workloads: [
        ...users(3),
        { namespace: 'inspect', owner: 'StatefulSet agent-env', processes: 1806 },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    ...nearMiss,
  },
  {
    name: 'forks-that-fail-at-32768',
    thread: 'https://github.com/kubernetes/kubernetes/issues/79466',
    found:
      '"fork/exec /usr/bin/nice: resource temporarily unavailable": kernel.pid_max is 32768, and some program leaks threads. Raising it and finding the leak is the answer.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 41 } },
      pids: { max: 32_768, used: 32_410 },
      workloads: [
        ...users(5, { processes: 120 }),
        { namespace: 'crm', owner: 'Deployment timeaccounting', processes: 30_200 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [setting('evictionHard')],
    owner: 'platform',
    steps: ['set', 'ask-owner'],
    words: [/timeaccounting/, /pid/],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'full-claim-of-a-scheduler',
    thread: 'https://github.com/operate-first/operations/issues/489',
    found:
      'The claim of 1 GB with the logs of an Airflow scheduler is full, and the scheduler fails. The disk of the node has room.',
    world: nodeOf({
      disk: { gib: 120, usedGib: 38 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'openmetadata', owner: 'Deployment airflow-scheduler' },
          ...{ claim: 'airflow-logs', claimGib: { size: 1, used: 1 } },
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'openmetadata/Deployment airflow-scheduler',
    steps: ['ask-owner'],
    words: [/airflow-logs/],
    never: [imageGc, /drain/],
  },
]
