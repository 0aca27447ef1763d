/** Of these evictions and failures only events and states of containers are left. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nearMiss, nodeOf, setting, users } from '../short-forms.ts'
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

/** A local PersistentVolume with the claim's name. */
const localVolumeOf = (namespace: string, claim: string) => ({
  metadata: { name: `local-${claim}`, uid: `local-${claim}` },
  spec: {
    capacity: { storage: '16Gi' },
    claimRef: { namespace, name: claim, uid: claim },
    persistentVolumeReclaimPolicy: 'Delete',
    local: { path: `/var/lib/codefresh/dind-volumes/${claim}` },
  },
  status: { phase: 'Bound' },
})

/** Of Jenkins. */
const controller = (name: string): Workload => ({
  ...{ namespace: 'cloudbees', owner: `StatefulSet controller-${name}`, container: 'jenkins' },
  image: 'cloudbees/cloudbees-core-mm:2.401.3.3',
})

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
    name: 'caches-of-two-controllers',
    thread:
      'https://docs.cloudbees.com/docs/cloudbees-ci-kb/latest/cloudbees-ci-on-modern-cloud-platforms/after-upgrading-cbci-the-oc-ctrl-pods-are-evicted-due-to-ephemeral-storage-usage',
    found:
      'After an upgrade controllers of Jenkins keep caches of Git in /tmp, in their layers, and are evicted with 31 GiB. The next pod of one wrote 21.7 GiB in 27 minutes; another controller on the node holds 27.4 GiB.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 78.4 } },
      workloads: [
        ...users(3),
        { ...controller('a'), layerGib: 21.7, ageMinutes: 27 },
        { ...controller('b'), layerGib: 27.4 },
      ],
      held: { images: images(3, 0.8, 2.4) },
      events: [
        ofGone(
          'cloudbees',
          'controller-a-0',
          'The node was low on resource: ephemeral-storage. Threshold quantity: 10737418240, available: 9312744Ki. Container jenkins was using 32505856Ki, request is 0, has larger consumption of ephemeral-storage. ',
          28,
        ),
      ],
    }),
    cause: [held('writable-layers')],
    owner: 'cloudbees/StatefulSet controller-b',
    steps: ['ask-owner'],
    words: [
      /\[High\]/,
      /controller-a-\S+\s+wrote\s+21\.7\s+GiB\s+in\s+27\s+min/,
      /the\s+rest\s+lasts\s+14\s+minutes/,
      /write\s+the\s+27\.4\s+GiB\s+that\s+it\s+holds/,
      /controller-a,\s+container\s+jenkins:\s+21\.7\s+GiB/,
    ],
    never: [imageGc, /31\.0\s+GiB\s+that\s+it\s+holds/, /limits\s+with\s+room\s+to\s+grow/],
  },
  {
    name: 'terabyte-that-went-with-its-pod',
    thread: 'https://github.com/argoproj/argo-workflows/issues/13344',
    found:
      'A step of a workflow wrote about a terabyte and packed it as an artifact. Its pod was evicted; the message names the container wait with 24 KiB. The disk is free again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 1490, usedGib: 61 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'argo', owner: 'Workflow allocate' },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 159987490816, available: 151602396Ki. Container wait was using 24Ki, request is 0, has larger consumption of ephemeral-storage. ',
        },
      ],
      held: { images: images(3, 0.8, 2.4) },
    }),
    cause: [setting('resources.requests.ephemeral-storage')],
    owner: 'argo/Workflow allocate',
    steps: ['ask-owner'],
    words: [/Workflow\s+argo\/allocate/, /1\.3\s+TiB\s+came\s+free/, /into\s+a\s+volume/],
    never: [/24\.0 KiB/, imageGc],
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
  {
    name: 'artifact-of-an-old-kubelet',
    thread: 'https://github.com/argoproj/argo-workflows/issues/1742',
    found:
      'EKS 1.14, 20 GiB: an input artifact of more than 6 GB ends its pod: "The node was low on resource: ephemeral-storage". The artifact lies in an emptyDir.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 16.5 }, oldVersion: 'v1.14.9-eks-502bfb' },
      workloads: [
        ...users(2),
        { namespace: 'argo', owner: 'Workflow artifact-big', container: 'main', emptyDirGib: 6 },
        {
          ...{ namespace: 'argo', owner: 'Workflow artifact-small', container: 'main', pods: 2 },
          evicted:
            'The node was low on resource: ephemeral-storage. Container wait was using 60Ki, which exceeds its request of 0. Container main was using 6815892Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(2, 0.8, 2.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'argo/Workflow artifact-big',
    steps: ['ask-owner', 'free', 'resize'],
    words: [/2\s+pods\s+evicted/, /main\s+used\s+6\.5\s+GiB/, /free\s+now/],
    never: [/newest\s+release/],
  },
  {
    name: 'old-kubelet-with-room',
    thread: 'https://github.com/argoproj/argo-workflows/issues/1742',
    found:
      'Near miss: with smaller files no pod is evicted; half of the disk of the old kubelet is free.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 10 }, oldVersion: 'v1.25.16-eks-502bfb' },
      workloads: users(2),
      held: { images: images(2, 0.8, 2.4) },
    }),
    ...nearMiss,
  },
  {
    name: 'memory-before-a-node-went-silent',
    thread: 'https://github.com/gardener/machine-controller-manager/issues/208',
    found:
      'Burstable pods with low requests and high limits use up the memory: EvictionThresholdMet "Attempting to reclaim memory", NodeHasInsufficientMemory, NodeNotReady, again and again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 50, usedGib: 20 }, silentMinutes: 6 },
      unread: ['configz', 'summary'],
      workloads: [
        {
          ...{ namespace: 'bi', owner: 'Deployment analytics', pods: 5 },
          ...{ requests: { memory: '500Mi' }, limits: { memory: '8Gi' } },
        },
      ],
      events: [
        {
          ...{ type: 'Warning', reason: 'EvictionThresholdMet', count: 2 },
          ...{ message: 'Attempting to reclaim memory', firstMinutesAgo: 10, lastMinutesAgo: 9 },
        },
        {
          ...{ type: 'Normal', reason: 'NodeHasInsufficientMemory', firstMinutesAgo: 9 },
          message: 'Node status is now: NodeHasInsufficientMemory',
        },
      ],
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /ran\s+short\s+of\s+memory/,
      /Deployment bi\/analytics\s+may\s+use\s+40/,
      /not\s+the\s+disk/,
    ],
    never: [imageGc, /larger\s+volume/],
  },
  {
    name: 'memory-that-was-enough-again',
    thread: 'https://github.com/kubernetes/kubernetes/issues/34314',
    found:
      'Nodes of kops stop posting their status, and CloudWatch shows nothing unusual. Here memory was short for a moment, long before, and was enough again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 50, usedGib: 20 }, silentMinutes: 6 },
      unread: ['configz', 'summary'],
      workloads: [
        {
          ...{ namespace: 'bi', owner: 'Deployment analytics', pods: 5 },
          ...{ requests: { memory: '500Mi' }, limits: { memory: '8Gi' } },
        },
      ],
      events: [
        {
          ...{ type: 'Normal', reason: 'NodeHasInsufficientMemory', firstMinutesAgo: 50 },
          message: 'Node status is now: NodeHasInsufficientMemory',
        },
        {
          ...{ type: 'Normal', reason: 'NodeHasSufficientMemory', firstMinutesAgo: 44 },
          message: 'Node status is now: NodeHasSufficientMemory',
        },
      ],
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    never: [/short\s+of\s+memory/, /requests\s+and\s+limits/],
  },
  {
    name: 'claim-that-is-a-folder-of-the-node',
    thread: 'https://github.com/codefresh-io/cli/issues/500',
    found:
      'EKS: the pod of a Docker build is evicted though its /var/lib/docker is a claim: the claim is a local volume below /var/lib/codefresh/dind-volumes of the node.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', disk: { gib: 20, usedGib: 9 }, pressureMinutes: 33 },
        unread: ['configz', 'summary'],
        workloads: [
          ...users(2),
          {
            ...{ namespace: 'codefresh', owner: 'Bare dind', container: 'dind', claim: 'pvc-dind' },
            evicted:
              'The node was low on resource: ephemeral-storage. Threshold quantity: 2146223308, available: 1893320Ki. Container dind was using 100Ki, request is 0, has larger consumption of ephemeral-storage. ',
          },
        ],
      },
      { objects: { persistentvolumes: [localVolumeOf('codefresh', 'pvc-dind')] } },
    ),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /claim\s+pvc-dind\s+is\s+a\s+folder\s+of\s+this\s+node/,
      /\/var\/lib\/codefresh\/dind-volumes\/pvc-dind/,
      /pressure\s+(?:ended|is over)/,
    ],
    never: [imageGc, /larger\s+volume/],
  },
  {
    name: 'claim-of-another-evicted-pod',
    thread: 'https://github.com/kubernetes-sigs/aws-ebs-csi-driver/issues/1163',
    found: 'Near miss: the claim of the evicted pod is a volume of EBS, and no folder of the node.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', disk: { gib: 20, usedGib: 9 }, pressureMinutes: 33 },
        unread: ['configz', 'summary'],
        workloads: [
          ...users(2),
          {
            ...{ namespace: 'codefresh', owner: 'Bare dind', container: 'dind', claim: 'pvc-ebs' },
            evicted:
              'The node was low on resource: ephemeral-storage. Container dind was using 100Ki, request is 0, has larger consumption of ephemeral-storage. ',
          },
        ],
      },
      { objects: { persistentvolumes: [localVolumeOf('codefresh', 'pvc-dind')] } },
    ),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    never: [/folder\s+of\s+this\s+node/],
  },
  {
    name: 'database-in-an-emptydir-that-was-evicted',
    thread: 'https://github.com/elastic/kibana/issues/53933',
    found:
      'EFK on AWS: elasticsearch-0 was evicted for disk pressure, and its index was gone: its data are in an emptyDir. 43 minutes later only objects and events can be read.',
    world: {
      nodes: [
        {
          ...{ mode: 'proxy', disk: { gib: 100, usedGib: 40 }, unread: ['configz', 'summary'] },
          workloads: users(2),
          events: [
            ofGone(
              'monitoring',
              'elasticsearch-0',
              'The node was low on resource: ephemeral-storage. Threshold quantity: 10736157900, available: 9912004Ki. Container elasticsearch was using 214332Ki, request is 0, has larger consumption of ephemeral-storage. ',
              43,
            ),
            {
              ...{ type: 'Normal', reason: 'NodeHasNoDiskPressure', firstMinutesAgo: 38 },
              message: 'Node status is now: NodeHasNoDiskPressure',
            },
          ],
        },
        {
          ...{ mode: 'proxy', disk: { gib: 100, usedGib: 30 }, unread: ['configz', 'summary'] },
          workloads: [
            { namespace: 'monitoring', owner: 'StatefulSet elasticsearch', emptyDirGib: 2 },
          ],
        },
      ],
    },
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/data\s+in\s+an\s+emptyDir/, /The\s+pressure\s+ended/, /write\s+into\s+a\s+volume/],
    never: [imageGc, /larger\s+volume/],
  },
]
