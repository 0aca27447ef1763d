/** Incidents in which a usual step does not fit: a volume that is too small, a drain that moves the writer, an image that no registry has. */
import type { Incident } from '../incident.ts'
import { evictionOf, held, imageGc, images, nodeOf, users } from '../short-forms.ts'

const pause = 'localhost/kubernetes/pause'
const eks = evictionOf({ 'nodefs.available': '10%' })

export const fittingIncidents: readonly Incident[] = [
  {
    name: 'build-beside-a-claim-that-is-too-small',
    thread: 'https://github.com/tektoncd/pipeline/issues/8313',
    found:
      'The image disk of 59 GiB is full, by the layer of a build step of buildah. Its claim of 9.8 GiB is nearly empty, and takes none of it.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 8 },
      imageDisk: { gib: 59, usedGib: 59, device: '/dev/nvme1n1', mount: '/var/lib/containerd' },
      volumes: ['a', 'b'].map(name => ({ device: `/dev/xvd${name}`, gib: 60 })),
      configuration: { evictionHard: eks.evictionHard },
      workloads: [
        ...users(8),
        {
          ...{ namespace: 'ci', owner: 'TaskRun app-build', container: 'step-build' },
          ...{ layerGib: 38.1, claim: 'workspace', claimGib: { size: 9.8, used: 0.055 } },
        },
      ],
      held: { images: images(8, 0.75, 2.1) },
    }),
    cause: [held('writable-layers')],
    owner: 'ci/TaskRun app-build',
    steps: ['free', 'ask-owner'],
    words: [/is\s+full/, /writes\s+fail\s+now/, /a\s+claim,\s+or\s+an\s+emptyDir/],
    never: [imageGc, /claim\s+at\s+\/claim/, /nearly\s+full/, /\s0\s+B\s+\(0/, /rest\s+lasts/],
  },
  {
    name: 'only-copy-of-a-log-of-messages',
    thread: 'https://github.com/strimzi/strimzi-kafka-operator/issues/2370',
    found:
      'Kafka with ephemeral storage fills the 30 GiB of its node: its log is in an emptyDir. It needs a claim or a shorter retention, in the Kafka resource. A limit, and a deletion of the pod, end its data.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 30, usedGib: 27.3 }, diskPressure: true },
      workloads: [
        ...users(3),
        { namespace: 'kafka', owner: 'StrimziPodSet my-cluster-kafka', emptyDirGib: 16.9 },
      ],
      held: { images: images(3, 0.4, 1.2) },
    }),
    cause: [held('pod-volumes')],
    owner: 'kafka/StrimziPodSet my-cluster-kafka',
    steps: ['ask-owner'],
    words: [
      /write\s+it\s+in\s+the\s+StrimziPodSet,\s+or\s+in\s+what\s+makes\s+that/,
      /a\s+claim\s+for\s+its\s+data\s+\(16\.9\s+GiB/,
      /retention/,
      /an\s+eviction\s+deletes\s+the\s+data/,
    ],
    never: [imageGc, /a\s+sizeLimit\s+\(/, /delete\s+pod\b/i, /drain/],
  },
  {
    name: 'volume-that-the-image-of-one-container-declares',
    thread: 'https://github.com/moby/buildkit/issues/1169',
    found:
      'The cache of rootless BuildKit lies in the volume that its image declares, below the folders of containerd. The kubelet counts 40 MB, and evicts other pods. The deletion of the pod frees it; a volume of its own ends it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 91.3 },
      diskPressure: true,
      configuration: { evictionHard: eks.evictionHard },
      workloads: [
        ...users(6),
        { namespace: 'ci', owner: 'Deployment buildkitd', layerGib: 0.03, declaredGib: 70.4 },
      ],
      held: { images: images(6, 0.6, 1.8) },
    }),
    cause: [held('image-volumes')],
    owner: 'ci/Deployment buildkitd',
    steps: ['free', 'ask-owner'],
    words: [/delete\s+Pod\s+ci\/buildkitd/, /image\s+declares\s+one\s+\(VOLUME\)/],
    // A drain moves it to the next node, and `du -x` of the container's root does not see its volume.
    never: [imageGc, /drain/, /\/rootfs/],
  },
  {
    name: 'pause-image-that-is-on-no-registry',
    thread: 'https://jishuzhan.net/article/2004106583115104258',
    found:
      'nerdctl pruned the sandbox image of a self-built node. Its name, localhost/kubernetes/pause, is on no registry. Another sandbox_image and a restart of containerd ended it. The disk has room.',
    world: {
      nodegroups: [],
      nodes: [
        {
          ...{ family: 'Ubuntu', mode: 'proxy', osImage: 'Ubuntu 22.04.4 LTS', providerId: '' },
          ...{ oldVersion: 'v1.29.9', runtimeVersion: 'containerd://1.7.12', volumes: [] },
          disk: { gib: 98, usedGib: 37.2 },
          workloads: [
            ...users(8),
            ...['orders', 'invoice', 'report'].map((name, index) => ({
              ...{ namespace: `team-${index}`, owner: `Deployment ${name}` },
              waiting: 'ContainerCreating',
              events: [
                {
                  ...{ type: 'Warning' as const, reason: 'FailedCreatePodSandBox', count: 40 },
                  message: `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "${pause}": failed to pull image "${pause}": failed to resolve reference "${pause}:latest": dial tcp 127.0.0.1:443: connect: connection refused`,
                  ...{ firstMinutesAgo: 41, lastMinutesAgo: 0 },
                },
              ],
            })),
          ],
          held: { images: images(8, 1.1, 3.3) },
        },
      ],
    },
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/import\s+localhost\/kubernetes\/pause/, /sandbox_image/, /restart\s+containerd/],
    never: [/prune/, /replace the node/],
  },
  {
    name: 'tools-of-a-machine-image-on-k3s',
    thread: 'https://github.com/oomichi/try-kubernetes/issues/144',
    found:
      'Preinstalled tools of a CI runner hold 55 GB of its disk. Images and pods hold little; image GC fails, and pods are evicted. The deletion of the tools ended it.',
    world: {
      nodegroups: [],
      nodes: [
        {
          ...{ family: 'Ubuntu', mode: 'proxy', osImage: 'Ubuntu 22.04.3 LTS', volumes: [] },
          ...{ oldVersion: 'v1.30.5+k3s1', providerId: 'k3s://runner', diskPressure: true },
          disk: { gib: 72.5, usedGib: 68.9 },
          configuration: { evictionHard: { 'imagefs.available': '5%', 'nodefs.available': '5%' } },
          workloads: users(4),
          held: { images: images(4, 0.15, 0.45) },
          events: [
            {
              ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 7 },
              message:
                'Failed to garbage collect required amount of images. Attempted to free 10926891469 bytes, but only found 0 bytes eligible to free.',
              ...{ firstMinutesAgo: 33, lastMinutesAgo: 3 },
            },
          ],
        },
      ],
    },
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/does\s+not\s+show/, /at\s+most\s+1\.8\s+GiB/, /makes\s+little\s+room/],
    never: [/Cause:\s+Image\s+GC/, /prune-images|crictl rmi/],
  },
]
