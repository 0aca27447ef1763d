/** What events and the scheduler say of volumes and of requests. */
import type { Incident } from '../incident.ts'
import { imageGc, images, nearMiss, nodeOf, setting, users } from '../short-forms.ts'
import type { NodeWorld } from '../world.ts'

const events = (
  reason: string,
  message: string,
  count: number,
): NonNullable<NodeWorld['events']> => [
  { ...{ type: 'Warning', reason, message, count }, ...{ firstMinutesAgo: 40, lastMinutesAgo: 2 } },
]

const dailyImage = (day: number) =>
  `111122223333.dkr.ecr.us-east-1.amazonaws.com/jupyter-user:2026-11-2${day}`

const waitingPod = (name: string, storage: string) => ({
  metadata: {
    ...{ name, namespace: 'default', uid: name },
    ownerReferences: [{ kind: 'ReplicaSet', name: `${name}-64c9`, uid: 'r', controller: true }],
  },
  spec: {
    containers: [{ name: 'pause', resources: { requests: { 'ephemeral-storage': storage } } }],
  },
  status: {
    phase: 'Pending',
    conditions: [
      {
        ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
        message: `incompatible with nodepool "default", daemonset overhead={"cpu":"150m"}, no instance type satisfied resources {"ephemeral-storage":"${storage}"} and requirements karpenter.sh/nodepool In [default]`,
      },
    ],
  },
})

const mapping = (deviceName: string, volumeSize: string) => ({ deviceName, ebs: { volumeSize } })

/** A NodePool of Karpenter that starts general instance types, and a pod of 100Gi that finds none. */
const ofClass = (blockDeviceMappings: object[]) => ({
  nodegroups: [],
  objects: {
    pods: [waitingPod('merge-29401', '100Gi')],
    'nodepools.karpenter.sh': [
      {
        metadata: { name: 'default' },
        spec: {
          template: {
            spec: {
              nodeClassRef: { name: 'test' },
              requirements: [
                {
                  ...{ key: 'karpenter.k8s.aws/instance-category', operator: 'In' },
                  values: ['m'],
                },
              ],
            },
          },
        },
      },
    ],
    'ec2nodeclasses.karpenter.k8s.aws': [
      {
        metadata: { name: 'test' },
        spec: { amiFamily: 'AL2023', amiSelectorTerms: [{ name: 'own-*' }], blockDeviceMappings },
      },
    ],
  },
})

export const afieldIncidents: readonly Incident[] = [
  {
    name: 'volume-that-stays-attaching',
    thread: 'https://github.com/kubernetes-sigs/aws-ebs-csi-driver/issues/1163',
    found:
      'Network interfaces share the attachment slots of Nitro instances with EBS volumes: the limit of the driver is too high, and a volume stays attaching. The disk of the node is fine.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 80, usedGib: 22 },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'db', owner: 'StatefulSet master', claim: 'master-master-0' },
          ...{ waiting: 'ContainerCreating' },
          events: [
            ...events(
              'FailedMount',
              'Unable to attach or mount volumes: unmounted volumes=[master], unattached volumes=[master backups]: timed out waiting for the condition',
              11,
            ),
            ...events(
              'FailedAttachVolume',
              'AttachVolume.Attach failed for volume "pvc-1f0e9a52" : rpc error: code = Internal desc = Could not attach volume "vol-0d5ab1" to node "i-0c4e3e1f0a1915061": attachment of disk "vol-0d5ab1" failed, expected device to be attached but was attaching',
              22,
            ),
          ],
        },
      ],
      held: { images: images(3, 0.4, 1.2) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [/db\/master/, /FailedAttachVolume/, /volumeAttachLimit/],
    never: [imageGc, /larger (?:disk|volume)/],
  },
  {
    name: 'request-that-no-node-can-have',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/1563',
    found:
      'A pod requests more ephemeral-storage than the default volume of 20 GiB of the node class leaves: Karpenter and the scheduler find no node for it. No disk is full.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'default' },
        disk: { gib: 20, usedGib: 4 },
        workloads: users(1),
        held: { images: images(1, 0.2, 0.6) },
      },
      {
        nodegroups: [],
        objects: {
          pods: [
            {
              metadata: {
                ...{ name: 'train-0', namespace: 'ml', uid: 'train-0' },
                ownerReferences: [
                  { kind: 'StatefulSet', name: 'train', uid: 't', controller: true },
                ],
              },
              spec: {
                containers: [
                  { name: 'train', resources: { requests: { 'ephemeral-storage': '30Gi' } } },
                ],
              },
              status: {
                phase: 'Pending',
                conditions: [
                  {
                    ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
                    message: '0/1 nodes are available: 1 Insufficient ephemeral-storage.',
                  },
                ],
              },
            },
          ],
        },
      },
    ),
    cause: [{ kind: 'device', what: 'too-small' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/ml\/train-0/, /30(?:\.0)? GiB/, /40(?:\.0)? GiB/, /request\s+at\s+most\s+16/],
    never: [imageGc],
  },
  {
    name: 'claim-of-prometheus-without-room',
    thread: 'https://github.com/vmware-archive/kube-prod-runtime/issues/841',
    found:
      'Prometheus cannot write its WAL: "no space left on device". Its persistent volume is full (8 GiB assumed), the disk of the node is fine. Resize the volume, or set a retention.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 28 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'kubeprod', owner: 'StatefulSet prometheus' },
          ...{ claim: 'data-prometheus-0', claimGib: { size: 8, used: 8 } },
        },
      ],
      held: { images: images(3, 0.4, 1.2) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'kubeprod/StatefulSet prometheus',
    steps: ['ask-owner'],
    words: [/kubeprod\/data-prometheus-0/, /no\s+disk\s+of\s+the\s+node/, /12(?:\.0)? GiB/],
    never: [imageGc, /larger (?:disk|volume)/, /drain/, /evict/],
  },
  {
    name: 'instance-store-that-karpenter-does-not-count',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/2797',
    found:
      'A pod requests 17Gi of ephemeral-storage; Karpenter counts the volume of 20 GiB of the node class, not the NVMe disks: no instance type fits. instanceStorePolicy RAID0 or a larger volume ends it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', disk: { gib: 80, usedGib: 20 } },
        workloads: users(1),
        held: { images: images(1, 0.2, 0.6) },
      },
      {
        nodegroups: [],
        objects: {
          pods: [waitingPod('scratch-test', '17Gi')],
          'nodepools.karpenter.sh': [
            {
              metadata: { name: 'default' },
              spec: { template: { spec: { nodeClassRef: { name: 'default' } } } },
            },
          ],
          'ec2nodeclasses.karpenter.k8s.aws': [
            { metadata: { name: 'default' }, spec: { amiFamily: 'AL2023' } },
          ],
        },
      },
    ),
    cause: [{ kind: 'device', what: 'too-small' }],
    owner: 'platform',
    steps: ['resize', 'set'],
    words: [/scratch-test/, /17\.0\s+GiB/, /EC2NodeClass\s+default/, /instanceStorePolicy\s+RAID0/],
    never: [imageGc, /CPU/],
  },
  {
    name: 'volume-of-a-root-that-karpenter-does-not-count',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/7937',
    found:
      'The class maps 400Gi to /dev/sda1, the root of its own image. Karpenter counts the device of the family, 20 GiB: rootVolume: true is missing. Its nodes have 400 GiB.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'test', disk: { gib: 400, usedGib: 92 } },
        volumes: [{ device: '/dev/sda1', gib: 400 }],
        workloads: users(2),
        held: { images: images(2, 1, 3) },
      },
      ofClass([mapping('/dev/sda1', '400Gi')]),
    ),
    cause: [{ kind: 'device', what: 'uncounted' }],
    owner: 'platform',
    steps: ['set'],
    words: [/rootVolume: true/, /\/dev\/sda1/, /400\.0\s+GiB/],
    never: [imageGc, /too small/, /volumeSize/, /RAID0/],
  },
  {
    name: 'volume-of-a-root-that-karpenter-counts',
    thread: 'https://github.com/aws/karpenter-provider-aws/issues/7937#near-miss',
    found: 'The same class with rootVolume: true: Karpenter counts 400 GiB.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'test', disk: { gib: 400, usedGib: 92 } },
        volumes: [{ device: '/dev/sda1', gib: 400 }],
        workloads: users(2),
        held: { images: images(2, 1, 3) },
      },
      ofClass([{ ...mapping('/dev/sda1', '400Gi'), rootVolume: true }]),
    ),
    ...nearMiss,
    never: [/rootVolume/, /volumeSize/, /RAID0/],
  },
  {
    name: 'images-of-each-day-leave-no-room',
    thread: 'https://github.com/jupyterhub/zero-to-jupyterhub-k8s/issues/1908',
    found:
      'A new image of the users comes each day; those of the days before stay unused, as image GC starts at 85 % of 30 GB only, and the next one does not fit.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 30, usedGib: 25 } },
      workloads: [
        { namespace: 'jhub', owner: 'Deployment hub', image: dailyImage(5) },
        {
          ...{ namespace: 'jhub', owner: 'Bare jupyter-ana', image: dailyImage(6) },
          waiting: 'ImagePullBackOff',
          message: `failed to pull and unpack image "${dailyImage(6)}": failed to extract layer: write /var/lib/containerd: no space left on device`,
        },
      ],
      held: {
        images: [1, 2, 3, 4, 5].map(day => ({
          name: dailyImage(day),
          ...{ packedGib: 1.5, unpackedGib: 4 },
        })),
      },
    }),
    cause: [setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/4 of the 5 images/, /jupyter-user/, /imageGCHighThresholdPercent 70/],
    never: [/larger disk/, /registry/],
  },
]
