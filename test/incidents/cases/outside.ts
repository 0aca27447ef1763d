/** Threads that a reader outside of the project chose, with what he expected of each. Those that were missed at first are here. */
import type { Incident } from '../incident.ts'
import {
  evictionOf,
  held,
  imageGc,
  images,
  nearMiss,
  nodeOf,
  setting,
  users,
} from '../short-forms.ts'

const onPremises = {
  ...{ family: 'Ubuntu' as const, osImage: 'Ubuntu 22.04.5 LTS', volumes: [] },
  providerId: 'openstack:///9a1b',
}

const largerDisk = /larger (?:disk|volume)/

const warning = (reason: string, message: string, count: number) => ({
  ...{ type: 'Warning' as const, reason, count, message },
  ...{ firstMinutesAgo: 55, lastMinutesAgo: 3 },
})

export const outsideIncidents: Incident[] = [
  {
    name: 'deleted-logs-that-an-agent-holds-on-premises',
    thread: 'https://github.com/vectordotdev/vector/issues/8101',
    found:
      'vector keeps logs of pods open that are rotated and deleted, one more every 3 to 4 minutes. Its restart frees them. The API alone shows nothing of them.',
    world: nodeOf({
      ...{ ...onPremises, mode: 'proxy', disk: { gib: 93, usedGib: 85 }, diskPressure: true },
      workloads: users(6),
      held: {
        images: images(6, 0.3, 0.9),
        deletedOpen: { gib: 70, files: 400, process: 'vector' },
      },
    }),
    cause: [{ kind: 'unread' }, held('unread')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/links 0/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'logs-of-etcd-without-rotation',
    thread: 'https://github.com/kubernetes/kops/issues/7613',
    found:
      'On masters of kops, etcd-events.log and etcd.log grow with the age of the node: no file of logrotate names them. The logs of other components have one each.',
    world: nodeOf({
      ...{ ...onPremises, disk: { gib: 62, usedGib: 57.4 }, diskPressure: true },
      workloads: users(4),
      held: {
        images: images(4, 0.4, 1.2),
        folders: { '/var/log/etcd-events.log': 21.8, '/var/log/etcd.log': 20.4 },
      },
    }),
    cause: [held('host-logs', '/var/log/etcd-events.log')],
    owner: 'platform',
    steps: ['free'],
    words: [/etcd-events\.log/, /rotate/],
    never: [imageGc, largerDisk, /containerLogMaxSize/, /auditd/],
  },
  {
    name: 'errors-of-the-kubelet-in-two-files',
    thread: 'https://github.com/kubernetes/kops/issues/11643',
    found:
      'messages and user.log are both full of the same errors of the kubelet; logrotate has files for components, and none for these two.',
    world: nodeOf({
      ...{ ...onPremises, disk: { gib: 39, usedGib: 36 }, diskPressure: true },
      workloads: users(3),
      held: {
        images: images(3, 0.6, 1.8),
        folders: { '/var/log/messages': 11.5, '/var/log/user.log': 11.3 },
      },
    }),
    cause: [held('host-logs', '/var/log/')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/log\/messages/, /logrotate/],
    never: [imageGc, largerDisk, /containerLogMaxSize/, /auditd/],
  },
  {
    name: 'limit-of-ten-mebibytes',
    thread: 'https://github.com/Dynatrace/dynatrace-operator/issues/1151',
    found:
      'Pods of an operator have a limit of 10Mi for local storage, and are evicted over it again and again. The disk of the node has room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 40, usedGib: 12 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'dynatrace', owner: 'Deployment webhook', pods: 3 },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ',
        },
      ],
      held: { images: images(4, 0.5, 1.5) },
    }),
    cause: [{ kind: 'setting', field: 'resources.limits.ephemeral-storage' }],
    owner: 'dynatrace/Deployment webhook',
    steps: ['ask-owner'],
    words: [/ephemeral-storage\s+above\s+10\.0 MiB/],
    never: [imageGc, largerDisk, /that it writes/],
  },
  {
    name: 'memory-without-a-request-by-its-evictions',
    thread: 'https://github.com/nebari-dev/nebari/issues/766',
    found:
      'Pods are evicted for memory: "Container conda-store was using 4757848Ki, which exceeds its request of 0." Only objects and events were read.',
    world: nodeOf({
      ...{ ...onPremises, mode: 'proxy', disk: { gib: 128, usedGib: 31 }, memoryPressure: true },
      unread: ['configz', 'summary'],
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'qhub', owner: 'Deployment qhub-conda-store', pods: 2 },
          evicted:
            'The node was low on resource: memory. Threshold quantity: 100Mi, available: 88164Ki. Container nfs-server was using 165800Ki, request is 0, has larger consumption of memory. Container conda-store was using 4757848Ki, request is 0, has larger consumption of memory. ',
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [{ kind: 'setting', field: 'resources.requests.memory' }],
    owner: 'qhub/Deployment qhub-conda-store',
    steps: ['ask-owner'],
    words: [/conda-store/, /4\.5 GiB/],
    never: [imageGc, largerDisk],
  },
  {
    name: 'thin-pool-of-the-runtime',
    thread: 'https://github.com/cri-o/cri-o/issues/1766',
    found:
      '"devmapper: Thin Pool has 5833 free data blocks which is less than minimum required 7781": sandboxes that nothing deletes hold the pool. The disks of the node have room.',
    world: nodeOf({
      ...{ ...onPremises, mode: 'proxy', runtimeVersion: 'cri-o://1.29.1' },
      disk: { gib: 30, usedGib: 9 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'apps', owner: 'Deployment web', waiting: 'ContainerCreating' },
          events: [
            warning(
              'FailedCreatePodSandBox',
              'Failed to create pod sandbox: rpc error: code = Unknown desc = devmapper: Thin Pool has 5833 free data blocks which is less than minimum required 7781 free data blocks. Create more free space in thin pool or use dm.min_free_space option to change behavior',
              57,
            ),
          ],
        },
      ],
      held: { images: images(3, 0.3, 0.9) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/thin pool/i, /dmsetup/],
    never: [imageGc, largerDisk, /no space left/],
  },
  {
    name: 'registry-that-denies-a-node',
    thread: 'https://github.com/kubernetes/kubernetes/issues/74297',
    found:
      'Pulls from ECR fail on few of the nodes with "no basic auth credentials". Others with the same role have no problem; a restart of the kubelet ends it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 21 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'apps', owner: 'Deployment api', waiting: 'ErrImagePull' },
          image: '444455556666.dkr.ecr.us-east-1.amazonaws.com/api:7',
          message:
            'rpc error: code = Unknown desc = Error response from daemon: Get https://444455556666.dkr.ecr.us-east-1.amazonaws.com/v2/api/manifests/7: no basic auth credentials',
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/444455556666\.dkr\.ecr/, /imagePullSecrets/, /restart\s+the\s+kubelet/],
    never: [imageGc, largerDisk, /pin the images/],
  },
  {
    name: 'pulls-above-the-limit-of-the-kubelet',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/1269',
    found:
      'More than 50 jobs of a pipeline start on a new node at once: "pull QPS exceeded". The kubelet permits 5 pulls a second, and 10 at once.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 9 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'ci', owner: 'Job runner', pods: 4, waiting: 'ErrImagePull' },
          image: '111122223333.dkr.ecr.us-east-1.amazonaws.com/ci/build:11',
          message: 'pull QPS exceeded',
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [{ kind: 'setting', field: 'registryPullQPS' }],
    owner: 'platform',
    steps: ['set'],
    words: [/registryPullQPS/, /registryBurst/],
    never: [imageGc, largerDisk, /pin the images/],
  },
  {
    name: 'token-of-a-pull-secret-that-ended',
    thread: 'https://github.com/upmc-enterprises/registry-creds/issues/68',
    found:
      'An add-on writes tokens of ECR into a pull secret. A token ends after 12 hours, and the next one is late: pulls are denied.',
    world: nodeOf({
      ...{ ...onPremises, mode: 'proxy', disk: { gib: 40, usedGib: 9 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'apps', owner: 'Deployment orders', waiting: 'ErrImagePull' },
          image: '444455556666.dkr.ecr.ap-southeast-2.amazonaws.com/orders:1.8.2',
          message:
            "Error response from daemon: pull access denied for 444455556666.dkr.ecr.ap-southeast-2.amazonaws.com/orders, repository does not exist or may require 'docker login': denied: Your authorization token has expired. Reauthenticate and try again.",
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/expired credentials/],
    never: [imageGc, largerDisk, /pin the images/],
  },
  {
    name: 'image-with-a-wrong-name',
    thread: 'https://github.com/kubernetes/kubernetes/issues/103643',
    found:
      'A name that no registry has: "pull access denied, repository does not exist or may require authorization". No right of the node ends it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 40, usedGib: 9 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'apps', owner: 'Deployment web', waiting: 'ErrImagePull' },
          image: 'ngnix:1',
          message:
            'failed to pull and unpack image "docker.io/library/ngnix:1": failed to resolve reference "docker.io/library/ngnix:1": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['ask-owner'],
    words: [/missing or denied/, /correct\s+the\s+name/, /apps\/web-/],
    never: [/library/, /imagePullSecrets/, imageGc, largerDisk, /pin the images/],
  },
  {
    name: 'crash-that-is-no-pull',
    thread: 'https://github.com/kubernetes-sigs/kind/issues/2399',
    found:
      'Programs fail with "failed to watch file: no space left on device", and crash: inotify watches of the kernel are used up. No pull failed, and no disk is short of room.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 7.2 } },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'ci', owner: 'Deployment run-tests', waiting: 'CrashLoopBackOff' },
          message: 'back-off 5m0s restarting failed container=run-tests',
          events: [
            warning(
              'BackOff',
              'Back-off restarting failed container run-tests in pod run-tests',
              70,
            ),
          ],
        },
      ],
      held: { images: images(3, 0.4, 1.2) },
    }),
    ...nearMiss,
    never: [/pulled/, largerDisk],
  },
  {
    name: 'victim-that-wrote-eight-gibibytes',
    thread: 'https://github.com/libero/reviewer/issues/977',
    found:
      'Pods of helm-operator are evicted again and again: "Container flux-helm-operator was using 8250536Ki". It leaks temporary files; 1.1.0 ended it. Only objects and events were read.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 31 } },
      unread: ['configz', 'summary'],
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'flux', owner: 'Deployment helm-operator', pods: 3 },
          container: 'flux-helm-operator',
          evicted:
            'The node was low on resource: ephemeral-storage. Container flux-helm-operator was using 8250536Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [setting('resources.requests.ephemeral-storage')],
    owner: 'flux/Deployment helm-operator',
    steps: ['ask-owner'],
    words: [
      /flux-helm-operator\s+used\s+7\.9\s+GiB/,
      /write\s+less/,
      /what\s+it\s+held\s+when\s+it\s+was\s+evicted\s+is\s+not\s+what\s+it\s+needs/,
    ],
    never: [imageGc, largerDisk],
  },
  {
    name: 'victims-with-sixty-kibibytes',
    thread: 'https://github.com/argoproj/argo-workflows/issues/8526',
    found:
      'Pods of workflows are evicted: "Container wait was using 60Ki, which exceeds its request of 0". Something else fills the disk for a time. The pressure is over, and only objects and events were read.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 9 } },
      unread: ['configz', 'summary'],
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'workflows', owner: 'Job nightly-etl', pods: 2, container: 'wait' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container wait was using 60Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/2\s+pods\s+evicted\s+for\s+ephemeral-storage/, /wait\s+used\s+60\.0\s+KiB/],
    notCauses: ['resources.requests.ephemeral-storage'],
    never: [imageGc, /requests\s+and\s+limits/],
  },
  {
    name: 'packs-in-the-volumes-of-twelve-owners',
    thread: 'https://github.com/StackStorm/stackstorm-k8s/issues/170',
    found:
      'Packs are copied into an emptyDir of every pod of st2: "each pod is taking ~ 1G", and almost all are evicted. No owner alone holds the disk.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 30, usedGib: 27.4 }, diskPressure: true },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '10%' }),
      workloads: [
        {
          ...{ namespace: 'stackstorm', owner: 'Deployment st2actionrunner', pods: 5 },
          emptyDirGib: 0.95,
        },
        ...Array.from({ length: 11 }, (_, index) => ({
          ...{ namespace: 'stackstorm', owner: `Deployment st2-${index}`, emptyDirGib: 0.93 },
        })),
      ],
      held: { images: images(3, 0.5, 1.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'stackstorm/Deployment st2actionrunner',
    steps: ['ask-owner', 'free'],
    words: [/largest\s+of\s+5\s+or\s+more\s+owners,\s+4\.[78]\s+GiB/],
    never: [imageGc],
  },
]
