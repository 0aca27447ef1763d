/** Of these evictions and failures only events and states of containers are left. */
import type { Incident } from '../incident.ts'
import { images, nearMiss, nodeOf, users } from '../short-forms.ts'
import type { Workload } from '../world.ts'

/** An event of a pod that is gone. */
const ofGone = (namespace: string, name: string, message: string, minutes = 20) => ({
  about: { kind: 'Pod' as const, namespace, name },
  ...{ reason: 'Evicted', type: 'Warning' as const, message, firstMinutesAgo: minutes },
})

const ofHostPath: Workload = {
  ...{ namespace: 'optscale', owner: 'StatefulSet minio', waiting: 'ContainerCreating' },
  hostPath: '/optscale/minio',
  events: [
    {
      ...{ type: 'Warning', reason: 'FailedMount', count: 34 },
      message:
        'MountVolume.SetUp failed for volume "minio-persistent-storage" : mkdir /optscale: read-only file system',
      ...{ firstMinutesAgo: 54, lastMinutesAgo: 1 },
    },
  ],
}

export const eventIncidents: readonly Incident[] = [
  {
    name: 'evicted-pod-of-which-an-event-is-left',
    thread: 'https://github.com/cloud-ark/kubeplus/issues/1382',
    found:
      'A node of 20 GiB evicts the pod of an operator at a threshold of 2146223340 bytes; its containers used 10 MiB and 51 MiB.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 11 } },
      workloads: [...users(3), { namespace: 'kubeplus', owner: 'Deployment kubeplus' }],
      held: { images: images(3, 0.8, 2.4) },
      events: [
        ofGone(
          'kubeplus',
          'kubeplus-6b4d79dbf8-x2k7d',
          'The node was low on resource: ephemeral-storage. Threshold quantity: 2146223340, available: 1883424Ki. Container helmer was using 10304Ki, request is 10Mi, has larger consumption of ephemeral-storage. Container consumerui was using 52676Ki, request is 10Mi, has larger consumption of ephemeral-storage. ',
        ),
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/kubeplus-6b4d79dbf8-x2k7d/, /Deployment kubeplus/, /nodefs\.available 10%/],
  },
  {
    name: 'limit-of-watched-files',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/501',
    found:
      'A build with Metro ends with "ENOSPC: System limit for number of file watchers reached". fs.inotify.max_user_watches is 8192 on the node; the disk has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 24 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'mobile', owner: 'Deployment rn-dev' },
          endedWith:
            "Error: ENOSPC: System limit for number of file watchers reached, watch '/app/node_modules/react-native'",
        },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/raise fs\.inotify\.max_user_watches/, /sysctl/],
    never: [/was full then/],
  },
  {
    name: 'open-files-of-a-program',
    thread: 'https://github.com/expo/exp/issues/5',
    found: 'Near miss: EMFILE at open() is the limit of one process, not of watched files.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 24 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'mobile', owner: 'Deployment rn-dev' },
          endedWith: "Error: EMFILE: too many open files, open '/app/watch/a.js'",
        },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    ...nearMiss,
    never: [/inotify/],
  },
  {
    name: 'read-only-disk-of-the-runtime',
    thread: 'https://github.com/kubernetes/kubernetes/issues/12905',
    found:
      'The filesystem of the runtime, a disk of its own below /mnt/ephemeral, has become read-only; that of the node has not. It has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 33 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'ci', owner: 'Deployment build-cache', waiting: 'ContainerCreating' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', count: 167 },
              message:
                'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd task: mkdir /mnt/ephemeral/containerd/io.containerd.grpc.v1.cri/sandboxes/0c1d: read-only file system',
              ...{ firstMinutesAgo: 37, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['replace'],
    words: [/read-only file system/, /No new pod can start/, /dmesg/],
  },
  {
    name: 'read-only-volume-of-a-container',
    thread: 'https://github.com/kubernetes/kubernetes/issues/121294',
    found:
      'Near miss: a settings file is mounted below a volume that the container mounts read-only; runc says "read-only file system".',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 33 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'ci', owner: 'Deployment build-cache', waiting: 'RunContainerError' },
          message:
            'failed to create containerd task: runc create failed: error mounting "/var/lib/kubelet/pods/0c1d/volumes/kubernetes.io~configmap/settings" to rootfs at "/data": mkdir /run/containerd/io.containerd.runtime.v2.task/k8s.io/0c1d/rootfs/data: read-only file system',
        },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    ...nearMiss,
    never: [/can no longer be written/],
  },
  {
    name: 'folder-of-a-root-that-is-read-only-by-design',
    thread: 'https://github.com/hystax/optscale/issues/700',
    found:
      'EKS with Bottlerocket: the pod waits, FailedMount 34 times: "mkdir /optscale: read-only file system". It has a hostPath; use a claim.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Bottlerocket', disk: { gib: 80, usedGib: 20 } },
      workloads: [...users(3), ofHostPath],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'optscale/StatefulSet minio',
    steps: ['ask-owner'],
    words: [/read-only by design/, /a claim in place of its hostPath/, /below \/local or \/mnt/],
    never: [/is attached/, /volumeattachments/, /dmesg/],
  },
  {
    name: 'folder-of-a-root-that-became-read-only',
    thread: 'https://github.com/kubernetes/kubernetes/issues/99126',
    found:
      'The same words on a node whose root is not read-only by design: its disk failed, and the node has to go.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 20 } },
      workloads: [...users(3), ofHostPath],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['replace'],
    words: [/read-only file system/, /dmesg/],
    never: [/by design/],
  },
]
