/**
 * Threads whose mechanisms no earlier case has, or that only look like a full disk. What is expected was written from the thread, before the
 * first run. Changed after it: a restart of the pod is a step, too (headers-in-the-layer); what was not read has no owner
 * (claim-of-ten-tebibytes); kubelets on Windows count no memory of their own, so that case no longer shows the kubelet
 * (kubelet-of-windows); the pressure lasts, and a restart is a step (allocatable-disk-below-zero); nothing that is read shows the kill
 * (kubelet-killed-in-its-own-reserve).
 */
import type { ExpectedCause, Incident } from '../incident.ts'
import {
  byNodeClass,
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
const emptyDisk = ['images-in-use', 'images-unused', 'not-images', 'writable-layers', 'system']

/** The node is not of EKS. */
const elsewhere = {
  family: 'Ubuntu' as const,
  osImage: 'Ubuntu 22.04.5 LTS',
  volumes: [],
  providerId: '',
}

const ofWindows = (gib: number) => ({
  nodegroups: [{ nodegroupName: 'workers', amiType: 'WINDOWS_CORE_2022_x86_64', diskSize: gib }],
})

export const unmetIncidents: Incident[] = [
  {
    name: 'keys-and-not-bytes',
    thread: 'https://github.com/nestybox/sysbox/issues/332',
    found:
      'Each day one to three of 33 runners of GitLab start no container: "join session keyring: create session key: disk quota exceeded". It is the quota of the kernel keyring; kernel.keys.maxkeys and maxbytes ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 37 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'gitlab', owner: 'Deployment runner', waiting: 'CreateContainerError' },
          message:
            'failed to create containerd task: OCI runtime create failed: container_linux.go:392: starting container process caused: process_linux.go:592: container init caused: join session keyring: create session key: disk quota exceeded: unknown',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'set'],
    words: [/key/i],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'log-of-exec-probes-in-run',
    thread: 'https://github.com/containerd/containerd/issues/6157',
    found:
      'runc writes each failed exec of a probe into log.json below /run/k3s/containerd/io.containerd.runtime.v2.task: the tmpfs /run is full, and no probe can run. The disk has room.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: '1.4.4' },
      disk: { gib: 60, usedGib: 21 },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'apps', owner: 'Deployment gateway' },
          events: [
            {
              ...{ type: 'Warning', reason: 'Unhealthy', count: 320 },
              message:
                'Readiness probe failed: rpc error: code = Unknown desc = failed to exec in container: failed to start exec "0e5a8e15": OCI runtime exec failed: exec failed: write /run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/7d99079f/.8dd0836b: no space left on device: unknown',
              ...{ firstMinutesAgo: 400, lastMinutesAgo: 2 },
            },
          ],
        },
      ],
      held: { images: images(4, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/run/, /no space left/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'snapshots-of-a-datastore-in-a-snap',
    thread: 'https://github.com/canonical/microk8s/issues/2167',
    found:
      'dqlite of MicroK8s deletes no snapshots: /var/snap/microk8s/2097/var/kubernetes/backend has over 20 GB of a card of 32 GB, and all pods are evicted. A newer MicroK8s ended it; files without their .meta can go by hand.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 29.8, usedGib: 27.6 }, diskPressure: true },
      workloads: users(3),
      held: {
        images: images(3, 0.3, 0.9),
        folders: { '/var/snap/microk8s/2097/var/kubernetes/backend': 20.4 },
      },
    }),
    cause: [held('unknown-folder', '/var/snap/microk8s')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/var\/snap\/microk8s/, /20\.4 GiB/],
    notCauses: ['images-in-use', 'not-images'],
    never: [imageGc, largerDisk, /sudo rm/],
  },
  {
    name: 'backups-of-a-datastore-each-five-minutes',
    thread: 'https://github.com/rancher/rancher/issues/14196',
    found:
      'Rancher writes a snapshot of etcd each five minutes, 152 MB, not compressed, below /opt. Their place and retention are of the cluster.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 60, usedGib: 55 }, diskPressure: true },
      workloads: users(4),
      held: { images: images(4, 0.5, 1.5), folders: { '/opt/rke/etcd-snapshots': 38 } },
    }),
    cause: [held('unknown-folder', '/opt/rke')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/opt\/rke/, /38(?:\.0)? GiB/, /retention|snapshot|backup/i],
    notCauses: ['images-in-use', 'not-images'],
    never: [imageGc, largerDisk, /sudo rm/],
  },
  {
    name: 'names-that-are-still-reserved',
    thread: 'https://github.com/containerd/containerd/issues/4604',
    found:
      'The kubelet gives up after 2 min, and the first request of the runtime still holds the name. All of these issues come from slow disk operations: a disk with more IOPS ends it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 22 } },
      volumes: [{ device: '/dev/xvda', gib: 100, type: 'gp2', iops: 300 }],
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'apps', owner: 'Deployment billing', pods: 9 },
          waiting: 'CreateContainerError',
          message:
            'failed to reserve container name "billing_billing-0_apps_1_0": name "billing_billing-0_apps_1_0" is reserved for "c1c4ca716667"',
        },
      ],
      held: { images: images(4, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/does not make them in time/, /gp2 with 300 IOPS/, /No disk is full/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'name-in-use-by-an-old-container',
    thread: 'https://github.com/kubernetes/kubernetes/issues/94557',
    found: 'No request is slow: the name belongs to a container that ended.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 22 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'apps', owner: 'Deployment billing', waiting: 'CreateContainerError' },
          message:
            'Conflict. The container name "/k8s_billing_0" is already in use by container c1c4',
        },
      ],
      held: { images: images(4, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [/does not make them in time/],
  },
  {
    name: 'runners-beyond-the-pods-of-a-node',
    thread: 'https://github.com/actions/actions-runner-controller/issues/4168',
    found:
      'Runners stay Failed: "Node didn\'t have enough resources: pods, requested: 1, used: 16, capacity: 16". People read it as an eviction by pressure.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 43 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'runners', owner: 'Job runner', pods: 4 },
          refused: {
            reason: 'OutOfpods',
            message:
              "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 16, capacity: 16",
          },
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'disk-that-became-read-only',
    thread: 'https://github.com/kubernetes/node-problem-detector/issues/274',
    found:
      'AWS: the disk of one node went into read-only mode during a deploy. Kubernetes made over 7000 pods there: "Update plugin resources failed due to failed to write checkpoint file: read-only file system". A new node ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 36 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment checkout', pods: 30 },
          ...{ waiting: 'UnexpectedAdmissionError' },
          message:
            'Pod Update plugin resources failed due to failed to write checkpoint file "kubelet_internal_checkpoint": open /var/lib/kubelet/device-plugins/.054640323: read-only file system, which is unexpected.',
          events: [
            {
              ...{ type: 'Warning', reason: 'UnexpectedAdmissionError', count: 1 },
              message:
                'Update plugin resources failed due to failed to write checkpoint file "kubelet_internal_checkpoint": open /var/lib/kubelet/device-plugins/.054640323: read-only file system, which is unexpected.',
              ...{ firstMinutesAgo: 7 },
            },
          ],
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }, { kind: 'device' }],
    owner: 'platform',
    steps: ['replace', 'read-more'],
    words: [/read-only/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk],
  },
  {
    name: 'chunks-of-a-filesystem-that-are-all-given-out',
    thread: 'https://github.com/moby/moby/issues/29601',
    found:
      'btrfs: df shows 19 % of 839G used, and nothing can be written: "No space left on device". All space is allocated to chunks; a balance frees it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy' },
      disk: { gib: 839, usedGib: 152, inodes: { all: 0, free: 0 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment api', waiting: 'CreateContainerError' },
          message:
            'failed to create containerd container: failed to create prepare snapshot dir: failed to create temp dir: mkdir /var/lib/containerd/io.containerd.snapshotter.v1.btrfs/new-1: no space left on device',
        },
      ],
      held: { images: images(6, 1.1, 3.2) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/no space left/, /btrfs/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'kubelet-killed-in-its-own-reserve',
    thread: 'https://github.com/awslabs/amazon-eks-ami/pull/419',
    found:
      't3.small: with enforced kubeReserved of 255Mi the kernel kills the kubelet in its own control group again and again ("oom_memcg=/podruntime.slice, task=kubelet"). The node has memory; a larger reserve, or none that is enforced, ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', instanceType: 't3.medium', memoryGib: 3.8, availableMemoryGib: 2.1 },
      ...{ disk: { gib: 20, usedGib: 8 }, kubeletMemoryGib: 0.05, runtimeMemoryGib: 0.19 },
      configuration: {
        kubeReserved: { cpu: '70m', memory: '255Mi', 'ephemeral-storage': '1Gi' },
        kubeReservedCgroup: '/podruntime.slice',
        enforceNodeAllocatable: ['pods', 'kube-reserved'],
      },
      workloads: users(4, { memoryGib: 0.15 }),
      held: { images: images(4, 0.4, 1.1) },
      events: [
        {
          ...{ type: 'Normal', reason: 'Starting', count: 46 },
          message: 'Starting kubelet.',
          ...{ firstMinutesAgo: 60, lastMinutesAgo: 1 },
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/kubeReserved|kube-reserved/, /46 times/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk],
  },
  {
    name: 'relabel-of-a-full-claim',
    thread: 'https://github.com/kubernetes/kubernetes/issues/73688',
    found:
      'The claim of a pod is 100 % full. With SELinux its container does not start again: relabelling the volume fails with "no space left on device". The disk of the node has room; the claim must grow.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 33 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'db', owner: 'StatefulSet postgres', claim: 'data-postgres-0' },
          ...{ claimGib: { size: 20, used: 20 } },
          events: [
            {
              ...{ type: 'Warning', reason: 'Failed', count: 12 },
              message:
                'Error: failed to start container "postgres": Error response from daemon: error setting label on mount source \'/var/lib/kubelet/pods/0c1d/volumes/kubernetes.io~csi/pvc-1/mount\': relabel failed: no space left on device',
              ...{ firstMinutesAgo: 50, lastMinutesAgo: 2 },
            },
          ],
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'db/StatefulSet postgres',
    steps: ['ask-owner'],
    words: [/postgres/, /claim|PersistentVolumeClaim|volume/],
    notCauses: emptyDisk,
    never: [imageGc, /larger disk/, /drain/],
  },
  {
    name: 'headers-in-the-layer-of-a-tunnel',
    thread: 'https://github.com/linuxserver/docker-wireguard/issues/32',
    found:
      'At its start the container downloads the headers of two dozen kernels and unpacks them below /usr/src in its layer, until all inodes are used.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 14, inodes: { all: 1_966_080, free: 21_000 } },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'vpn', owner: 'Deployment wireguard', layerGib: 3.1 },
          layerInodes: 1_540_000,
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [held('writable-layers')],
    owner: 'vpn/Deployment wireguard',
    steps: ['ask-owner', 'free'],
    words: [/wireguard/, /inode/i],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'store-of-a-package-manager',
    thread: 'https://github.com/abhayprabhakarannair/infra/issues/54',
    found:
      'A root disk of 40,958,427,136 bytes is 92 % used: /nix/store has 35 GB (apparent), 17,975 paths of it are dead a day after the last collection. nix store gc and thresholds for it end it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'ssm', osImage: 'NixOS 25.05' },
      disk: { gib: 38.15, usedGib: 33.96, reservedGib: 0.88 },
      workloads: users(2),
      held: { images: images(2, 0.3, 0.8), folders: { '/nix/store': 29.5 } },
    }),
    cause: [held('system', '/nix')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/nix\/store/, /29\.5 GiB/],
    notCauses: ['images-in-use', 'not-images'],
    never: [imageGc, /sudo rm/, /delete what is no longer/],
  },
  {
    name: 'cache-limit-of-a-mount-pod',
    thread: 'https://github.com/awslabs/mountpoint-s3-csi-driver/issues/575',
    found:
      'The pod that mounts a bucket is evicted because its emptyDir "local-cache" exceeds its limit, and no new one is made: the workload loses its files. The node has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 41 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'mount-s3', owner: 'Bare mp' },
          evicted: 'Usage of EmptyDir volume "local-cache" exceeds the limit "5Gi". ',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [
      held('pod-volumes'),
      setting('volumes.emptyDir.sizeLimit'),
      setting('emptyDir.sizeLimit'),
    ],
    owner: 'mount-s3/Bare mp',
    steps: ['ask-owner', 'set'],
    words: [/local-cache/, /5(?:\.0)? ?Gi/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'claim-of-ten-tebibytes-on-the-root-disk',
    thread: 'https://github.com/kubernetes-sigs/aws-ebs-csi-driver/issues/1166',
    found:
      'EKS: a pod with a claim of 10000Gi starts with the disk of the node in its place, and fills it. The statistics of the claim have the size of the node. Deleting the pod mounts the claim again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 93 }, diskPressure: true },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'ipfs', owner: 'StatefulSet ipfs', claim: 'ipfscache-ipfs-0' },
          ...{ claimGib: { size: 100, used: 93 } },
          podFolder: {
            path: 'volumes/kubernetes.io~csi/pvc-3a5c/mount',
            ...{ gib: 62, inodes: 90_000 },
          },
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [...unreadCauses, held('pod-folders'), held('pod-volumes')],
    owner: 'platform',
    steps: ['read-more', 'ask-owner', 'free'],
    words: [/ipfs/],
    notCauses: ['images-in-use', 'not-images', 'writable-layers'],
    never: [imageGc, largerDisk],
  },
  {
    name: 'checkpoint-that-stops-each-start',
    thread: 'https://github.com/kubernetes/kubernetes/issues/135711',
    found:
      'After a restart of the node the kubelet panics at each start: "could not restore state from checkpoint: invalid character". The file /var/lib/kubelet/pod_status_manager_state is damaged; draining the node and deleting the file ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', unread, silent: true },
      disk: { gib: 80, usedGib: 30 },
      workloads: users(5),
      events: [
        {
          ...{ type: 'Normal', reason: 'Starting', count: 41 },
          message: 'Starting kubelet.',
          ...{ firstMinutesAgo: 35, lastMinutesAgo: 1 },
        },
      ],
    }),
    cause: [{ kind: 'unread' }, { kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/Ready is Unknown/, /41 times/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'kubelet-of-windows-that-grows',
    thread: 'https://github.com/kubernetes/kubernetes/issues/98102',
    found:
      'Windows with containerd: the kubelet does not end its exec processes after it rotated logs; its memory grows until the node is short. A newer kubelet ended it, a restart of the kubelet for a while.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.7.27', memoryPressure: true },
        ...{ memoryGib: 31, availableMemoryGib: 0.3, kubeletMemoryGib: 12.4 },
        disk: { gib: 100, usedGib: 45, inodes: { all: 0, free: 0 } },
        workloads: users(3, { memoryGib: 1.2 }),
        held: { images: images(3, 2, 5) },
      },
      ofWindows(100),
    ),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    // A kubelet on Windows counts no memory of its own: only what all pods leave is seen.
    steps: ['free', 'replace', 'read-more'],
    words: [/27\.1 GiB/],
    notCauses: ['resources.requests.memory'],
    never: [largerDisk, /systemctl|sudo |journalctl/],
  },
  {
    name: 'layers-that-stay-without-their-images',
    thread: 'https://github.com/Siemens-Healthineers/K2s/issues/345',
    found:
      'Windows: all images are deleted, and the folder of containerd does not shrink; it grows until the disk is full. Only a reset of the storage ended it.',
    world: nodeOf(
      {
        ...{ ...elsewhere, family: 'Windows', osImage: 'Windows Server 2022 Datacenter' },
        ...{ mode: 'proxy', runtimeVersion: '1.7.13', diskPressure: true },
        disk: { gib: 120, usedGib: 111 },
        workloads: users(2),
        held: { images: images(2, 2, 5), deletedImages: 78 },
      },
      ofWindows(120),
    ),
    cause: [held('not-images')],
    owner: 'platform',
    steps: ['replace', 'free'],
    words: [/78(?:\.\d)? GiB|7\d(?:\.\d)? GiB/],
    never: [/prune-images|crictl rmi/, /systemctl|sudo |journalctl/],
  },
  {
    name: 'limit-of-nothing',
    thread: 'https://github.com/kubernetes/kubernetes/issues/93649',
    found:
      'A Deployment has ephemeral-storage: 0 as its limit: each pod is evicted seconds after its start, and a new one made, 2010 so far. The node has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 34 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'default', owner: 'Deployment eviction-es', container: 'main-app' },
          limits: { 'ephemeral-storage': '0' },
          requests: { 'ephemeral-storage': '0' },
        },
        {
          ...{ namespace: 'default', owner: 'Deployment eviction-es', container: 'main-app' },
          ...{ pods: 40, limits: { 'ephemeral-storage': '0' } },
          requests: { 'ephemeral-storage': '0' },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 0. ',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [
      held('writable-layers'),
      setting('resources.limits.ephemeral-storage'),
      setting('ephemeral-storage'),
      setting('resources'),
    ],
    owner: 'default/Deployment eviction-es',
    steps: ['ask-owner', 'set'],
    words: [/eviction-es/, /limit/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'allocatable-disk-below-zero',
    thread: 'https://github.com/kubernetes/kubernetes/issues/52336',
    found:
      'DiskPressure is True while disk and inodes are far from any threshold: this kubelet observes "allocatableNodeFs.available: -9112137624" of 200765316Ki. It is a defect of single versions.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', diskPressure: true, pressureMinutes: 60 },
      disk: { gib: 191.5, usedGib: 52 },
      workloads: users(6),
      held: { images: images(8, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    // A restart shows whether the kubelet still counts so; the journal names the signal.
    steps: ['set', 'read-more'],
    words: [/DiskPressure/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'mount-of-sys-without-space',
    thread: 'https://github.com/clearlinux/distribution/issues/2007',
    found:
      'CRI-O: after many creations and deletions no container of a storage driver starts on any node: mounting "/sys" fails with "no space left on device". Disk and inodes are free.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: 'cri-o://1.17.3' },
      disk: { gib: 32, usedGib: 9 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'default', owner: 'DaemonSet pmem-csi-node' },
          waiting: 'CreateContainerError',
          message:
            'container create failed: container_linux.go:349: starting container process caused "process_linux.go:449: container init caused \\"rootfs_linux.go:58: mounting \\\\\\"/sys\\\\\\" to rootfs \\\\\\"/var/lib/containers/storage/overlay/a12aa66f/merged\\\\\\" caused \\\\\\"no space left on device\\\\\\"\\""',
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/no space left/, /mount/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk],
  },
  {
    name: 'pressure-of-a-bottlerocket-with-one-gigabyte',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/3160',
    found:
      'Bottlerocket with 20 GB for /dev/xvda and 100 GB for /dev/xvdb: about 1 GB of the data volume is used, and DiskPressure stays. What the kubelet sees was asked, and not answered.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', diskPressure: true, pressureMinutes: 90 },
        disk: { gib: 98, usedGib: 1.2 },
        volumes: [
          { device: '/dev/xvda', gib: 20 },
          { device: '/dev/xvdb', gib: 100 },
        ],
        workloads: users(2),
        held: { images: images(2, 0.1, 0.3) },
      },
      { nodegroups: [{ nodegroupName: 'workers', amiType: 'BOTTLEROCKET_x86_64' }] },
    ),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/DiskPressure/],
    notCauses: emptyDisk,
    never: [imageGc, largerDisk, /growpart|\/dev\/xvda/],
  },
  {
    name: 'debug-line-of-each-request',
    thread: 'https://koti.dev/posts/crash-due-to-insufficient-disk-space',
    found:
      'A log for debugging writes a line of each request into /tmp: after forty minutes the pod is evicted by its own limit of 100Mi. Thirty minutes went into the metrics of the node, which has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 40 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment api', layerGib: 0.06 },
          limits: { 'ephemeral-storage': '100Mi' },
        },
        {
          ...{ namespace: 'apps', owner: 'Deployment api', pods: 2 },
          limits: { 'ephemeral-storage': '100Mi' },
          evicted:
            'Pod ephemeral local storage usage exceeds the total limit of containers 100Mi. ',
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [
      held('writable-layers'),
      setting('resources.limits.ephemeral-storage'),
      setting('ephemeral-storage'),
      setting('resources'),
    ],
    owner: 'apps/Deployment api',
    steps: ['ask-owner', 'set'],
    words: [/api/, /100(?:\.0)? ?Mi/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc, largerDisk, /drain/],
  },
  {
    name: 'disk-filled-while-certificates-were-expired',
    thread: 'https://github.com/kubernetes/kubernetes/issues/47526',
    found:
      'The certificates of a cluster expired, and failed attempts to connect filled the disks with logs. With new certificates the nodes are Ready, and full. New instances ended it.',
    world: nodeOf({
      ...{ ...elsewhere, disk: { gib: 40, usedGib: 37.4 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'kube-system', owner: 'DaemonSet kube-proxy', logsGib: 2.1 },
      ],
      held: { images: images(3, 0.5, 1.5), hostLogs: 24.5 },
    }),
    cause: [held('host-logs', '/var/log')],
    owner: 'platform',
    steps: ['free', 'replace'],
    words: [/\/var\/log/, /24\.5 GiB/],
    notCauses: ['container-logs', 'images-in-use'],
    never: [imageGc, largerDisk, /containerLogMaxSize/],
  },
  {
    name: 'card-of-a-very-limited-server',
    thread: 'https://github.com/kubernetes/kubernetes/issues/112293',
    found:
      'A control plane on a server with a very small disk comes under disk pressure with what it needs itself, and its taint keeps all else away. It needs a larger disk, or thresholds of its size.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', runtimeVersion: 'docker://20.10.17' },
      ...{ disk: { gib: 9.6, usedGib: 8.7 }, diskPressure: true, pressureMinutes: 300 },
      workloads: users(9),
      held: { images: images(9, 0.19, 0.52) },
    }),
    cause: [held('images-in-use'), { kind: 'device' }, ...unreadCauses],
    owner: 'platform',
    steps: ['resize', 'read-more', 'set'],
    words: [/9\.6 GiB/],
    notCauses: ['writable-layers', 'not-images'],
    never: [/prune-images|crictl rmi/],
  },
  {
    name: 'page-file-that-is-too-small',
    thread: 'https://github.com/Azure/AKS/issues/1941',
    found:
      'Windows: probes fail with "The paging file is too small for this operation to complete". Pods are far below their limits, 64 % of the memory are used; the page file has a fixed size of 8 GB. The disk is not the cause.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Windows', runtimeVersion: '1.7.27' },
        ...{ memoryGib: 32, availableMemoryGib: 11.5 },
        disk: { gib: 128, usedGib: 52, inodes: { all: 0, free: 0 } },
        workloads: [
          ...users(3, { memoryGib: 1.2 }),
          {
            ...{ namespace: 'web', owner: 'Deployment iis', memoryGib: 1.2 },
            ...{ requests: { memory: '1800Mi' }, limits: { memory: '1800Mi' } },
            events: [
              {
                ...{ type: 'Warning', reason: 'Unhealthy', count: 9 },
                message:
                  'Readiness probe errored: rpc error: code = Unknown desc = hcsshim::CreateProcess: failure in a Windows system call: The paging file is too small for this operation to complete. (0x5af)',
                ...{ firstMinutesAgo: 200, lastMinutesAgo: 15 },
              },
            ],
          },
        ],
        held: { images: images(3, 2, 5) },
      },
      ofWindows(128),
    ),
    ...nearMiss,
    notCauses: [...emptyDisk, 'resources.requests.memory'],
    never: [largerDisk, /drain/],
  },
  {
    name: 'index-of-files-each-morning',
    thread: 'https://github.com/Azure/aks-engine/issues/2971',
    found:
      'Nodes become NotReady at 06:25 each day, and many pods are killed: /etc/cron.daily/mlocate reads all files and starves the processors. No disk is full.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 44 } },
      workloads: users(8),
      held: { images: images(10, 0.9, 2.7) },
      events: [
        {
          ...{ type: 'Normal', reason: 'NodeNotReady', count: 3 },
          message: 'Node status is now: NodeNotReady',
          ...{ firstMinutesAgo: 2_880, lastMinutesAgo: 20 },
        },
        {
          ...{ type: 'Normal', reason: 'NodeReady', count: 3 },
          message: 'Node status is now: NodeReady',
          ...{ firstMinutesAgo: 2_870, lastMinutesAgo: 10 },
        },
      ],
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'name-that-stays-reserved',
    thread: 'https://github.com/amazonlinux/amazon-linux-2023/issues/1097',
    found:
      'AL2023, containerd 2.2.3: after one timeout of CreateContainer its name stays reserved, and each retry fails. A restart of containerd ended it. Disk and memory have room.',
    world: nodeOf({
      ...{ mode: 'proxy', version: '1.34.8', runtimeVersion: '2.2.3', instanceType: 'm7g.xlarge' },
      disk: { gib: 80, usedGib: 31 },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'apps', owner: 'Deployment orders', waiting: 'CreateContainerError' },
          message:
            'failed to reserve container name "orders_apps_0": check if another CreateContainer request is in progress: name "orders_apps_0" is reserved for "9c1f"',
          events: [
            {
              ...{ type: 'Warning', reason: 'Failed', count: 44 },
              message:
                'Error: failed to reserve container name "orders_apps_0": name "orders_apps_0" is reserved for "9c1f"',
              ...{ firstMinutesAgo: 90, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/after its restart/],
    notCauses: emptyDisk,
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'volume-without-burst-credits',
    thread: 'https://github.com/kubernetes/kubernetes/issues/42164',
    found:
      'ContainerGCFailed and ImageGCFailed with "context deadline exceeded", and NotReady: the burst balance of the EBS volume is at zero each time. Bytes and inodes are free.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 64, usedGib: 29 } },
      workloads: users(6),
      held: { images: images(8, 0.8, 2.4) },
      events: [
        {
          ...{ type: 'Warning', reason: 'ContainerGCFailed', count: 5 },
          message: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
          ...{ firstMinutesAgo: 240, lastMinutesAgo: 30 },
        },
        {
          ...{ type: 'Warning', reason: 'ImageGCFailed', count: 4 },
          message: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
          ...{ firstMinutesAgo: 240, lastMinutesAgo: 35 },
        },
      ],
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [largerDisk, /prune-images|crictl rmi/, /drain/],
  },
  {
    name: 'deletion-of-images-that-stalls-a-node',
    thread: 'https://github.com/kubernetes/kubernetes/issues/38710',
    found:
      'Image garbage collection on a gp2 volume of 60 GB freed what it wanted, and meanwhile pods do not answer and are restarted: the deletions use all its I/O. The disk has room again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 60, usedGib: 38 } },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'apps', owner: 'Deployment search' },
          events: [
            {
              ...{ type: 'Warning', reason: 'Unhealthy', count: 14 },
              message:
                'Liveness probe failed: Get "http://10.0.7.9:8080/": context deadline exceeded',
              ...{ firstMinutesAgo: 45, lastMinutesAgo: 25 },
            },
          ],
        },
      ],
      held: { images: images(10, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [largerDisk, /drain/],
  },
  {
    name: 'database-space-and-not-disk-space',
    thread: 'https://github.com/siderolabs/talos/issues/4888',
    found:
      'Talos: "etcdserver: mvcc: database space exceeded". It is the quota of etcd; 9 GB of a disk of 25 GB are used. Compaction and defragmentation end it.',
    world: nodeOf({
      ...{ ...elsewhere, osImage: 'Talos (v0.14.0)', disk: { gib: 25, usedGib: 9 } },
      mode: 'proxy',
      configuration: { systemReserved: { cpu: '50m', memory: '384Mi', pid: '100' } },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'kube-system', owner: 'Node talos-cp-1' },
          events: [
            {
              ...{ type: 'Warning', reason: 'Unhealthy', count: 6 },
              message:
                'Readiness probe failed: HTTP probe failed with statuscode: 500: etcdserver: mvcc: database space exceeded',
              ...{ firstMinutesAgo: 80, lastMinutesAgo: 3 },
            },
          ],
        },
      ],
      held: { images: images(2, 0.4, 1.2) },
    }),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'shared-memory-of-a-database',
    thread: 'https://github.com/sapcc/helm-charts/pull/5147',
    found:
      'PostgreSQL: "could not resize shared memory segment to 4194304 bytes: No space left on device". It is /dev/shm of the pod; a volume of 256Mi in memory ended it. The disk has room.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 100, usedGib: 39 } },
      workloads: [
        ...users(5),
        {
          ...{ namespace: 'keppel', owner: 'Deployment keppel-postgresql', memoryDirGib: 0.06 },
          events: [
            {
              ...{ type: 'Warning', reason: 'Unhealthy', count: 3 },
              message:
                'Liveness probe failed: psql: error: could not resize shared memory segment "/PostgreSQL.710526079" to 4194304 bytes: No space left on device',
              ...{ firstMinutesAgo: 70, lastMinutesAgo: 8 },
            },
          ],
        },
      ],
      held: { images: images(5, 0.9, 2.7) },
    }),
    ...nearMiss,
    notCauses: [...emptyDisk, 'memory-volumes'],
    never: [largerDisk, imageGc, /drain/],
  },
  {
    name: 'request-of-the-whole-volume',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/1905',
    found:
      'Karpenter made 235 nodes within 12 hours for one pod that requests 100Gi of ephemeral-storage: its volume of 100Gi has 98.49Gi. The nodes are empty and in order.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'default', ageDays: 0.1 },
        disk: { gib: 99.9, usedGib: 4.6 },
        volumes: [{ device: '/dev/xvda', gib: 100 }],
        workloads: users(2),
        held: { images: images(2, 0.2, 0.6) },
      },
      byNodeClass('default', [{ deviceName: '/dev/xvda', ebs: { volumeSize: '100Gi' } }]),
    ),
    ...nearMiss,
    notCauses: emptyDisk,
    never: [largerDisk, imageGc, /drain/],
  },
]
