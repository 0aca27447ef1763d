/** Threads of other clouds, other runtimes and the API alone. Cause, owner, step and words were written from the thread, before the first run. */
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

/** Nothing but objects of the API server: the kubelet does not answer. */
const unread = ['configz', 'summary'] as const

const largerDisk = /larger (?:disk|volume)/

const onAzure = {
  family: 'Ubuntu' as const,
  osImage: 'Ubuntu 22.04.5 LTS',
  volumes: [],
  providerId:
    'azure:///subscriptions/0/resourceGroups/mc/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/3',
}

export const strangerIncidents: Incident[] = [
  {
    name: 'termination-log-of-gigabytes',
    thread: 'https://github.com/kubernetes/kubernetes/issues/122224',
    found:
      'A pod writes to /dev/termination-log without end. The file lies in the folder of the pod, and no limit of ephemeral storage counts it: the pod is not evicted.',
    world: nodeOf({
      ...{ disk: { gib: 80, usedGib: 73.8 }, diskPressure: true },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'default', owner: 'Deployment termination-log-test' },
          limits: { 'ephemeral-storage': '1Gi' },
          podFolder: { path: 'containers/test', gib: 47, inodes: 3 },
        },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [held('pod-folders', '/var/lib/kubelet/pods')],
    owner: 'default/Deployment termination-log-test',
    steps: ['free', 'ask-owner'],
    words: [/termination-log-test/, /47(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'log-that-its-own-writer-holds',
    thread: 'https://github.com/fluent/fluentd/issues/2426',
    found:
      'td-agent keeps its own rotated log open: 6624796672 bytes of /var/log/td-agent/td-agent.log (deleted). Nothing but the process frees them.',
    world: nodeOf({
      ...{ disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
      workloads: users(3),
      held: {
        images: images(3, 0.5, 1.6),
        deletedOpen: { gib: 6.17, files: 1, process: 'fluentd' },
      },
    }),
    cause: [held('deleted-open-files')],
    owner: 'platform',
    steps: ['free'],
    words: [/restart\s+process\s+fluentd,\s+pid\s+4711,\s+by\s+its\s+unit/, /6\.2 GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'deleted-logs-of-which-the-api-knows-nothing',
    thread: 'https://github.com/fluent/fluent-bit/issues/794',
    found:
      'td-agent-bit holds deleted log files of 11.0 and 9.9 GB. Nobody sees them in the API, and du does not either.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 50, usedGib: 46 }, diskPressure: true },
      workloads: users(5),
      held: {
        images: images(5, 0.8, 2.4),
        deletedOpen: { gib: 19.4, files: 2, process: 'td-agent-bit' },
      },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'chunks-above-their-limit',
    thread: 'https://github.com/fluent/fluent-bit/issues/3794',
    found:
      'storage.path /var/log/flb-storage/ with a total limit of 20480M keeps on growing, until other pods of the node crash.',
    world: nodeOf({
      ...{ disk: { gib: 60, usedGib: 55.6 }, diskPressure: true },
      workloads: [
        ...users(5),
        { namespace: 'logging', owner: 'DaemonSet fluent-bit', hostPath: '/var/log' },
      ],
      held: { images: images(5, 0.8, 2.4), folders: { '/var/log/flb-storage': 31 } },
    }),
    cause: [held('host-path', '/var/log'), held('unknown-folder', '/var/log/flb-storage')],
    owner: 'logging/DaemonSet fluent-bit',
    steps: ['ask-owner', 'free'],
    words: [/flb-storage/, /31(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'state-of-a-log-router-by-the-api',
    thread: 'https://github.com/aws/aws-for-fluent-bit/issues/882',
    found:
      'Too many accumulated buffers in the hostPath /var/fluent-bit/state of aws-for-fluent-bit on EKS. The API alone does not show how much.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'AL2', disk: { gib: 80, usedGib: 73.6 }, diskPressure: true },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'amazon-cloudwatch', owner: 'DaemonSet fluent-bit', memoryGib: 1.2 },
          hostPath: '/var/fluent-bit/state',
        },
      ],
      held: { images: images(6, 0.8, 2.4), folders: { '/var/fluent-bit/state': 44 } },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/var\/fluent-bit\/state|fluent-bit/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'local-disk-that-nobody-needs',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/7943',
    found:
      'The default pool has a root volume of 100 GB, which is enough. Some instances have a local NVMe disk, which is wasted; nothing is full.',
    world: nodeOf({
      disk: { gib: 99.9, usedGib: 31 },
      devices: [
        { name: '/dev/nvme0n1', gib: 100, mounted: true },
        { name: '/dev/nvme1n1', gib: 110, mounted: false },
      ],
      workloads: users(5),
      held: { images: images(5, 0.8, 2.4) },
    }),
    ...nearMiss,
  },
  {
    name: 'kubelet-that-starts-again-and-again',
    thread: 'https://github.com/k3s-io/k3s/issues/9962',
    found:
      'The kubelet starts each 10 s, and each start says "invalid capacity 0 on image filesystem" once. The message comes with each start; the disk is not the cause.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 60, usedGib: 16 } },
      workloads: users(3),
      held: { images: images(3, 0.3, 0.9) },
      events: [
        {
          ...{ type: 'Normal', reason: 'Starting', count: 25 },
          message: 'Starting kubelet.',
          ...{ firstMinutesAgo: 5, lastMinutesAgo: 1 },
        },
        {
          ...{ type: 'Warning', reason: 'InvalidDiskCapacity', count: 25 },
          message: 'invalid capacity 0 on image filesystem',
          ...{ firstMinutesAgo: 5, lastMinutesAgo: 1 },
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/25 times/],
    notCauses: ['images-in-use', 'images-unused', 'not-images'],
    never: [/larger (?:disk|volume)/],
  },
  {
    name: 'filesystem-that-reports-nothing',
    thread: 'https://github.com/containerd/stargz-snapshotter/pull/2158',
    found:
      'InvalidDiskCapacity 257 times in 45h: the snapshotter answers statfs with zeros, so image GC does not run. df says 61G of 99G.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 99, usedGib: 61 }, without: ['imageFs'] },
      workloads: users(5),
      held: { images: images(20, 0.8, 2.4) },
      events: [
        {
          ...{ type: 'Warning', reason: 'InvalidDiskCapacity', count: 257 },
          message: 'invalid capacity 0 on image filesystem',
          ...{ firstMinutesAgo: 2700, lastMinutesAgo: 1 },
        },
      ],
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'replace', 'set'],
    words: [/invalid capacity|image filesystem/i],
    never: [/prune-images/, largerDisk],
  },
  {
    name: 'container-log-of-nine-gigabytes',
    thread: 'https://github.com/kubernetes/kubernetes/issues/68587',
    found:
      'logrotate does not rotate the log of one container of a master at 100M: 9.6 GB and 4.3 GB of json log.',
    world: nodeOf({
      ...{ mode: 'proxy', runtimeVersion: 'docker://20.10.17', providerId: '', volumes: [] },
      disk: { gib: 40, usedGib: 36.8 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'kube-system', owner: 'DaemonSet calico-node', logsGib: 13 },
      ],
      held: { images: images(8, 0.4, 1.2) },
    }),
    cause: [held('container-logs')],
    owner: 'kube-system/DaemonSet calico-node',
    steps: ['ask-owner', 'free', 'set'],
    words: [/calico-node/, /13(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'images-that-a-cloud-pulled-before',
    thread: 'https://github.com/elastic/cloud-on-k8s/pull/5925',
    found:
      'AKS with an OS disk of 30 GB: 24157M of 29599M are used by mcr.microsoft.com images that a new node has already. A disk of 120 GB ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', ...onAzure, ageDays: 2 },
      disk: { gib: 28.9, usedGib: 26.1 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(16, 0.4, 1.25) },
    }),
    cause: [
      held('images-unused'),
      held('images'),
      held('images-in-use'),
      setting('imageGCHighThresholdPercent'),
      { kind: 'device' },
    ],
    owner: 'platform',
    steps: ['resize', 'free', 'set', 'read-more'],
    never: [/EC2NodeClass|launch template|aws /],
  },
  {
    name: 'new-node-that-is-full-in-minutes',
    thread: 'https://github.com/Azure/ARO-HCP/pull/728',
    found:
      'Nodes that the autoscaler has just added get DiskPressure within minutes: their disk of 32 GB is too small for the images. A larger osDiskSize ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', ...onAzure, ageDays: 0.01 },
      disk: { gib: 30.9, usedGib: 28.1 },
      ...{ diskPressure: true, pressureMinutes: 3 },
      workloads: users(9),
      held: { images: images(9, 0.8, 2.4) },
    }),
    cause: [held('images-in-use'), held('images'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    never: [/prune-images/, /EC2NodeClass|launch template/],
  },
  {
    name: 'image-cache-on-a-disk-of-a-quarter',
    thread: 'https://github.com/cilium/cilium/pull/48481',
    found:
      'The AKS image brings images for a disk of 128 GB; these nodes have 28691Mi: 67, 83, 69 and 29 % are used. The last one was under pressure for five minutes and lost that cache. 64 GiB ended it.',
    world: {
      nodes: [
        [18.84, 11],
        [23.24, 14],
        [19.35, 12],
        [8.24, 2],
      ].map(([usedGib = 0, count = 0], index) => ({
        ...{ mode: 'proxy' as const, ...onAzure, ip: `10.224.0.${4 + index}`, ageDays: 0.1 },
        disk: { gib: 28.02, usedGib },
        workloads: users(2),
        held: { images: images(count, 0.4, 1.3) },
        ...(index === 3 && {
          events: [
            {
              ...{ type: 'Warning', reason: 'EvictionThresholdMet', count: 1 },
              message: 'Attempting to reclaim ephemeral-storage',
              ...{ firstMinutesAgo: 40, lastMinutesAgo: 40 },
            },
            {
              ...{ type: 'Normal', reason: 'NodeHasDiskPressure', count: 1 },
              message: 'Node vmss000003 status is now: NodeHasDiskPressure',
              ...{ firstMinutesAgo: 40, lastMinutesAgo: 40 },
            },
            {
              ...{ type: 'Normal', reason: 'NodeHasNoDiskPressure', count: 1 },
              message: 'Node vmss000003 status is now: NodeHasNoDiskPressure',
              ...{ firstMinutesAgo: 35, lastMinutesAgo: 35 },
            },
          ],
        }),
      })),
    },
    cause: [
      held('images-unused'),
      held('images'),
      setting('imageGCHighThresholdPercent'),
      { kind: 'device' },
    ],
    owner: 'platform',
    steps: ['resize', 'free', 'set'],
    never: [/EC2NodeClass|launch template/, /leftover/],
  },
  {
    name: 'volume-of-a-path-that-has-no-size',
    thread: 'https://github.com/rancher/local-path-provisioner/pull/322',
    found:
      'A pod fills its volume of local-path-provisioner, and with it the disk of the node. The helper that would delete it does not tolerate the taint.',
    world: nodeOf({
      ...{ disk: { gib: 80, usedGib: 73.9 }, diskPressure: true },
      workloads: [...users(3), { namespace: 'db', owner: 'StatefulSet postgres' }],
      held: {
        images: images(3, 0.8, 2.4),
        localVolume: {
          path: '/opt/local-path-provisioner/pvc-1f2a_db_data-postgres-0',
          ...{ gib: 58, owner: 'StatefulSet postgres' },
        },
      },
    }),
    cause: [held('local-volumes', '/opt/local-path-provisioner')],
    owner: 'db/StatefulSet postgres',
    steps: ['ask-owner'],
    words: [/postgres/, /58(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'agent-that-its-own-limit-ends',
    thread: 'https://github.com/aws/containers-roadmap/issues/2605',
    found:
      'eks-node-monitoring-agent leaks memory until its limit ends it, and is started again. The node has memory enough.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 24 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'kube-system', owner: 'DaemonSet eks-node-monitoring-agent' },
          ...{ memoryGib: 0.095, anonymousGib: 0.09 },
          requests: { memory: '30Mi' },
          limits: { memory: '100Mi' },
        },
      ],
      held: { images: images(5, 0.6, 1.8) },
    }),
    ...nearMiss,
  },
  {
    name: 'layers-that-a-mirror-keeps',
    thread: 'https://github.com/spegel-org/spegel/issues/282',
    found:
      'Spegel needs discard_unpacked_layers = false, and nodes run out of disk. Lower thresholds of image GC ended it.',
    world: nodeOf({
      ...{ disk: { gib: 100, usedGib: 91 }, diskPressure: true },
      workloads: users(9),
      containerd: { discardUnpackedLayers: false },
      held: { images: images(20, 1, 2.6), content: 22 },
    }),
    cause: [
      held('images-unused'),
      held('image-content'),
      setting('imageGCHighThresholdPercent'),
      setting('discard_unpacked_layers'),
    ],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/discard_unpacked_layers|imageGC|image GC/],
    never: [/leftover/],
  },
  {
    name: 'memory-below-zero',
    thread: 'https://github.com/kubernetes/kubernetes/issues/52386',
    found:
      'MemoryPressure for an hour and pods are evicted, while much memory is free and requests are 56 %. The kubelet had observed -2097758044639028Ki: its statistics are wrong.',
    world: nodeOf({
      ...{ mode: 'proxy', providerId: '', volumes: [], instanceType: 'r6i.2xlarge' },
      disk: { gib: 200, usedGib: 60 },
      ...{ memoryPressure: true, memoryGib: 62, availableMemoryGib: 37, pressureMinutes: 60 },
      podsMemory: { limitGib: 60.5, usedGib: 23 },
      workloads: users(6, { memoryGib: 3, requests: { memory: '6Gi' } }),
      held: { images: images(6, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'set'],
    words: [/MemoryPressure/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'ramdisks-that-outlive-their-use',
    thread: 'https://github.com/kubernetes/kubernetes/issues/72759',
    found:
      'Nodes on AWS die because of what pods leave in emptyDir.medium Memory; no sizeLimit is set.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 30 } },
      ...{ memoryPressure: true, memoryGib: 30.9, availableMemoryGib: 0.09 },
      workloads: [
        ...users(4, { memoryGib: 0.7 }),
        {
          ...{ namespace: 'batch', owner: 'Deployment transcoder', pods: 3 },
          ...{ memoryGib: 0.4, memoryDirGib: 7.6 },
        },
      ],
      held: { images: images(4, 0.8, 2.4) },
    }),
    cause: [held('memory-volumes')],
    owner: 'batch/Deployment transcoder',
    steps: ['ask-owner'],
    words: [/transcoder/, /sizeLimit/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'notebook-image-on-a-default-disk',
    thread: 'https://github.com/dandi/dandi-hub/issues/89',
    found:
      'A new node pulls dandiarchive/dandihub:latest; 20 s later "The node was low on resource: ephemeral-storage". The image needs a larger disk.',
    world: nodeOf({
      ...{ mode: 'proxy', ageDays: 0.01, disk: { gib: 19.9, usedGib: 18.1 } },
      ...{ diskPressure: true, pressureMinutes: 2 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'dandihub', owner: 'Bare jupyter-yarikoptic' },
          image: 'docker.io/dandiarchive/dandihub:latest',
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
      ],
      held: {
        images: [
          ...images(3, 0.2, 0.6),
          {
            name: 'docker.io/dandiarchive/dandihub:latest',
            ...{ packedGib: 3.9, unpackedGib: 11.8 },
          },
        ],
      },
    }),
    cause: [held('images-unused'), held('images'), held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    words: [/dandihub/],
    never: [/prune-images/],
  },
  {
    name: 'sensor-of-seven-gigabytes',
    thread: 'https://github.com/falcosecurity/falco/issues/1482',
    found:
      'Falco on GKE grows to 7 GB of memory under load and keeps it until its pod is deleted. Its request is 512Mi.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 'm5.xlarge', disk: { gib: 94, usedGib: 20 } },
      ...{ providerId: 'gce://project/us-central1-a/gke-pool-1', volumes: [] },
      ...{ memoryPressure: true, memoryGib: 15.4, availableMemoryGib: 0.07 },
      workloads: [
        ...users(8, { memoryGib: 0.8, requests: { memory: '1Gi' } }),
        {
          ...{ namespace: 'falco', owner: 'DaemonSet falco', memoryGib: 7, anonymousGib: 6.6 },
          requests: { memory: '512Mi' },
        },
      ],
      held: { images: images(8, 0.3, 0.9) },
    }),
    cause: [setting('resources')],
    owner: 'falco/DaemonSet falco',
    steps: ['ask-owner'],
    words: [/falco/, /7(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'control-plane-evicted-at-300-megabytes',
    thread: 'https://github.com/kubernetes/kubernetes/issues/74169',
    found:
      'All pods of a control plane are stopped, etcd among them: the disk is 97 % full, 300 MB are free. What fills it is not said.',
    world: nodeOf({
      ...{ mode: 'proxy', providerId: '', volumes: [], disk: { gib: 9.8, usedGib: 9.5 } },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'kube-system', owner: 'Node etcd' },
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
      ],
      held: { images: images(5, 0.1, 0.3), folders: { '/home': 4 } },
    }),
    cause: [{ kind: 'unread' }, held('unread'), { kind: 'device' }],
    owner: 'platform',
    steps: ['read-more', 'resize'],
    never: [imageGc, /EC2NodeClass|launch template/],
  },
  {
    name: 'claim-that-leftover-blocks-fill',
    thread: 'https://github.com/prometheus/prometheus/issues/8180',
    found:
      'Folders .tmp of failed compactions fill the volume of Prometheus, a PersistentVolumeClaim of about 100 GB. The disk of the node is not concerned.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'AL2', disk: { gib: 80, usedGib: 26 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'monitoring', owner: 'StatefulSet prometheus', claim: 'prometheus-db' },
          claimGib: { size: 98.3, used: 97.9 },
        },
      ],
      held: { images: images(5, 0.6, 1.8) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'monitoring/StatefulSet prometheus',
    steps: ['ask-owner'],
    words: [/prometheus-db/],
  },
  {
    name: 'partition-of-31-on-a-disk-of-1000',
    thread: 'https://github.com/redhat-developer/mapt/issues/524',
    found:
      'The volume has 1000 GiB, partition 4 and its filesystem 31G: 26G are used, and DiskPressure comes and goes. growpart and xfs_growfs ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', runtimeVersion: 'cri-o://1.32.4', disk: { gib: 30.5, usedGib: 25.9 } },
      volumes: [{ device: '/dev/xvda', gib: 1000 }],
      workloads: users(9),
      held: { images: images(9, 0.7, 2) },
      events: flaps(2, 50),
    }),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set', 'free', 'replace', 'read-more'],
    words: [/1000(?:\.0)? GiB/, /30\.5 GiB/],
    never: [/prune-images/],
  },
  {
    name: 'filesystem-that-an-installer-does-not-grow',
    thread: 'https://github.com/siderolabs/talos/issues/11752',
    found:
      'Talos on Proxmox: the EPHEMERAL partition does not grow with its disk, and pods fail with DiskPressure on a fresh node.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Hybrid', volumes: [], ageDays: 0.05 },
      osImage: 'Talos (v1.11.0)',
      disk: { gib: 5.2, usedGib: 4.9 },
      diskPressure: true,
      workloads: users(9),
      held: { images: images(9, 0.1, 0.36) },
    }),
    cause: [held('images-in-use'), held('images'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    never: [/prune-images/, /EC2NodeClass|launch template/],
  },
  {
    name: 'garbage-collection-at-the-threshold-of-eviction',
    thread: 'https://github.com/kubernetes/kops/issues/2454',
    found:
      'kops: eviction at imagefs.available<10% and image GC at 90 % act at the same time, on disks of 20 GB. GC at 70 % would come first.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 19.9, usedGib: 17.7 } },
      configuration: {
        ...evictionOf({
          ...{ 'nodefs.available': '10%', 'imagefs.available': '10%' },
          'imagefs.inodesFree': '5%',
        }),
        ...{ imageGCHighThresholdPercent: 90, imageGCLowThresholdPercent: 80 },
      },
      workloads: users(3),
      held: { images: images(13, 0.3, 1) },
    }),
    cause: [setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['set'],
    words: [/imageGCHighThresholdPercent/],
  },
  {
    name: 'images-that-stopped-containers-use',
    thread: 'https://github.com/openshift/release/issues/40',
    found:
      'Image GC frees about 7 GB and then fails: "image is being used by stopped container". Dead containers have to go first, and GC has to start earlier.',
    world: nodeOf({
      ...{ disk: { gib: 60, usedGib: 55.5 }, diskPressure: true },
      workloads: [...users(4), { namespace: 'ci', owner: 'Job build' }],
      held: { images: images(9, 0.8, 2.4), dead: { gib: 24, containers: 118, owner: 'Job build' } },
    }),
    cause: [held('dead-containers')],
    owner: 'ci/Job build',
    steps: ['free', 'set'],
    words: [/24(?:\.0)? GiB/],
    never: [/leftover/],
  },
  {
    name: 'thresholds-that-never-act',
    thread: 'https://github.com/kubernetes/kubernetes/issues/79929',
    found:
      'imageGCHighThresholdPercent 100 and eviction of disks at 0%: neither acts before the disk is full.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 96 } },
      configuration: {
        ...{ imageGCHighThresholdPercent: 100, imageGCLowThresholdPercent: 100 },
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'imagefs.available': '0%' },
          ...{ 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' },
        },
      },
      workloads: users(4),
      held: { images: images(36, 0.8, 2.3) },
    }),
    cause: [setting('imageGCHighThresholdPercent'), setting('evictionHard')],
    owner: 'platform',
    // A threshold above what is free evicts at once: room comes first.
    steps: ['set', 'read-more'],
    words: [/imageGCHighThresholdPercent|evictionHard/],
  },
  {
    name: 'objects-on-a-disk-of-their-own',
    thread: 'https://github.com/kubernetes/kubernetes/issues/81383',
    found:
      'MinIO has a disk of its own at /data/minio. Its pods are evicted all the same, since the root disk is always under pressure: MinIO holds nothing of it.',
    world: nodeOf({
      ...{ mode: 'proxy', providerId: '', volumes: [], disk: { gib: 50, usedGib: 46 } },
      ...{ diskPressure: true, pressureMinutes: 600 },
      workloads: [
        ...users(4),
        { namespace: 'default', owner: 'DaemonSet minio', hostPath: '/data/minio' },
      ],
      held: { images: images(4, 0.6, 1.8), folders: { '/var/crash': 33 } },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'pressure-by-a-count-that-failed',
    thread: 'https://github.com/kubernetes/kubernetes/issues/67129',
    found:
      'The kubelet fails to count a folder that changes, and reports DiskPressure while little of the disk is used.',
    world: nodeOf({
      ...{ mode: 'proxy', providerId: '', volumes: [], disk: { gib: 200, usedGib: 44 } },
      ...{ diskPressure: true, pressureMinutes: 45 },
      workloads: users(5),
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }, setting('evictionHard')],
    owner: 'platform',
    steps: ['read-more', 'set'],
    words: [/DiskPressure/],
    never: [/prune-images/, largerDisk],
  },
  {
    name: 'watches-that-are-used-up',
    thread: 'https://github.com/canonical/microk8s/issues/2477',
    found:
      'The kubelet does not start: "inotify_add_watch …: no space left on device". df says 135G of 491G. The node stays NotReady.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Hybrid', volumes: [], unread, silent: true },
      disk: { gib: 491, usedGib: 135 },
      workloads: users(3),
    }),
    cause: [{ kind: 'unread' }, { kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'garbage-collection-that-finds-nothing',
    thread: 'https://github.com/k3s-io/k3s/issues/796',
    found:
      'At 85 % image GC wants to free 5487241625 bytes and frees 0. Nobody found what else is on the disk.',
    world: nodeOf({
      ...{ mode: 'proxy', providerId: '', volumes: [], disk: { gib: 102.2, usedGib: 87.2 } },
      workloads: users(5),
      held: { images: images(5, 0.3, 0.9) },
      events: [
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 40 },
          message:
            'failed to garbage collect required amount of images. Wanted to free 5487241625 bytes, but freed 0 bytes',
          ...{ firstMinutesAgo: 200, lastMinutesAgo: 3 },
        },
      ],
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'disk-that-no-threshold-watches',
    thread: 'https://github.com/kubernetes/kubernetes/issues/32542',
    found:
      'The disk is full and the node says nothing: --eviction-hard is memory.available<100Mi alone. An emptyDir of Elasticsearch has 6.2 GiB, and container logs have more.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 29.9, usedGib: 29.6 } },
      configuration: { evictionHard: { 'memory.available': '100Mi' } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'kube-system', owner: 'StatefulSet elasticsearch-logging' },
          emptyDirGib: 12.4,
        },
      ],
      held: { images: images(4, 0.7, 2) },
    }),
    // What fills the disk comes before the setting that does not see it.
    cause: [held('pod-volumes')],
    owner: 'kube-system/StatefulSet elasticsearch-logging',
    steps: ['free', 'ask-owner'],
    words: [/evictionHard|nodefs\.available/],
    never: [imageGc],
  },
  {
    name: 'folders-of-155-pods',
    thread: 'https://github.com/longhorn/longhorn/issues/485',
    found:
      '"Orphaned pod found, but volume paths are still present on disk": 155 folders of pods that are gone. They were deleted by hand.',
    world: nodeOf({
      ...{ disk: { gib: 50, usedGib: 46 }, diskPressure: true },
      workloads: users(4),
      held: { images: images(4, 0.8, 2.4), orphans: { gib: 22, folders: 155 } },
    }),
    cause: [held('orphaned-pods', '/var/lib/kubelet/pods')],
    owner: 'platform',
    steps: ['free'],
    words: [/22(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'tests-above-a-default-limit',
    thread: 'https://github.com/inference-sim/inference-sim/pull/1753',
    found:
      'A LimitRange gives runners a limit of 4Gi: "Pod ephemeral local storage usage exceeds the total limit of containers 4Gi". One build needs more. The node has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 200, usedGib: 61 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'blis', owner: 'Deployment runner', pods: 3 },
          limits: { 'ephemeral-storage': '4Gi' },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 4Gi. ',
        },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [held('writable-layers'), held('pod-volumes'), setting('resources')],
    owner: 'blis/Deployment runner',
    steps: ['ask-owner'],
    words: [/runner/, /4Gi|4(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'temporary-files-of-an-agent',
    thread: 'https://github.com/harvester/harvester/issues/2821',
    found:
      'Files of rancher-system-agent below /var/lib/rancher/agent/tmp fill the disk. It is no pod.',
    world: nodeOf({
      ...{ family: 'Hybrid', volumes: [], disk: { gib: 100, usedGib: 92 }, diskPressure: true },
      workloads: users(6),
      held: { images: images(6, 1, 3), folders: { '/var/lib/rancher/agent/tmp': 58 } },
    }),
    cause: [held('unknown-folder', '/var/lib/rancher')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/var\/lib\/rancher/, /58(?:\.0)? GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'pressure-at-a-fifth-of-the-disk',
    thread: 'https://github.com/kubernetes/kubernetes/issues/78416',
    found:
      'imagefs.available 56694416Ki of 287191336Ki is 19.7 %, and the node is under DiskPressure: the threshold is 20%. Image GC starts at 85 %, later.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 50, usedGib: 14 }, diskPressure: true },
      imageDisk: { gib: 273.9, usedGib: 219.8, device: '/dev/nvme1n1', mount: '/var/lib/docker' },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '20%' }),
      workloads: users(9),
      held: { images: images(90, 0.8, 2.4) },
    }),
    cause: [setting('imageGCHighThresholdPercent'), setting('evictionHard')],
    owner: 'platform',
    // Under pressure, what makes room at once stands before the setting.
    steps: ['free', 'set'],
    words: [/imageGCHighThresholdPercent|imagefs\.available/],
    never: [largerDisk],
  },
  {
    name: 'messages-of-a-driver-in-two-logs',
    thread: 'https://github.com/Azure/AKS/issues/2802',
    found:
      '219G of 248G: messages.1 131G, messages 49G, syslog.1 23G, syslog 3.2G. rsyslog rotates weekly, and a CSI driver writes more than that holds.',
    world: nodeOf({
      ...{ ...onAzure, disk: { gib: 248, usedGib: 224 }, diskPressure: true },
      workloads: users(5),
      held: { images: images(5, 0.6, 1.8), hostLogs: 206, journal: 1.1 },
    }),
    cause: [held('host-logs', '/var/log')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/\/var\/log/, /206(?:\.\d)? GiB/],
    never: [imageGc, largerDisk, /EC2NodeClass|launch template/],
  },
  {
    name: 'instances-of-inotify',
    thread: 'https://github.com/k0sproject/k0s/issues/8113',
    found:
      'fs.inotify.max_user_instances of 128 is used up on a node, and a workload crashes again and again. No disk is full.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Hybrid', volumes: [], disk: { gib: 40, usedGib: 12 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'default', owner: 'Deployment watcher', waiting: 'CrashLoopBackOff' },
          message: 'back-off 5m0s restarting failed container=watcher',
        },
      ],
      held: { images: images(4, 0.3, 0.9) },
    }),
    ...nearMiss,
  },
  {
    name: 'node-that-stops-without-a-word',
    thread: 'https://github.com/canonical/microk8s/issues/298',
    found:
      'One t3.medium of an EKS cluster goes down twice a day. All its conditions are Unknown; KubeletHasSufficientPID was the last word of PIDPressure, and no cause.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 't3.medium', unread, silent: true },
      disk: { gib: 20, usedGib: 9 },
      workloads: users(5),
    }),
    cause: [{ kind: 'unread' }, { kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    never: [imageGc, largerDisk, /podPidsLimit/],
  },
  {
    name: 'docker-on-a-btrfs-volume',
    thread: 'https://github.com/epam/cloud-pipeline/issues/4360',
    found:
      'A disk at /ebs/docker/btrfs is full: FreeDiskSpaceFailed, then DiskPressure. Its images explain a small part.',
    world: nodeOf({
      ...{ mode: 'proxy', runtimeVersion: 'docker://20.10.17', disk: { gib: 40, usedGib: 14 } },
      imageDisk: { gib: 1000, usedGib: 940, device: '/dev/nvme1n1', mount: '/ebs/docker' },
      volumes: [
        { device: '/dev/xvda', gib: 40 },
        { device: '/dev/xvdb', gib: 1000 },
      ],
      diskPressure: true,
      workloads: users(6),
      held: { images: images(6, 4, 11), leftover: 860 },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 31 },
          message:
            'Failed to garbage collect required amount of images. Attempted to free 150323855360 bytes, but only found 0 bytes eligible to free.',
          ...{ firstMinutesAgo: 160, lastMinutesAgo: 4 },
        },
      ],
    }),
    cause: [held('not-images')],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/other than images/],
    never: [imageGc, /containerd|ctr /],
  },
]
