/** Ordinary threads that a reader outside of the project chose, with what was missed at first: limits, refusals, sizes. */
import type { Incident } from '../incident.ts'
import { imageGc, images, nodeOf, setting, users } from '../short-forms.ts'

const largerDisk = /larger (?:disk|volume)/
const ofLimit = { kind: 'setting', field: 'resources.limits.ephemeral-storage' } as const

/** Not of EKS. */
const elsewhere = {
  ...{ family: 'Ubuntu' as const, osImage: 'Ubuntu 22.04.5 LTS', volumes: [] },
  providerId: 'gce://acme/us-central1-a/node',
}

export const ordinaryIncidents: Incident[] = [
  {
    name: 'limit-of-two-gibibytes-by-objects-alone',
    thread: 'https://github.com/neuvector/docs/pull/272',
    found:
      'Scanner pods on GKE Autopilot are evicted: "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi." Their limit has to be 3Gi. Nobody may read the kubelet there.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 95, usedGib: 30 } },
      unread: ['configz', 'summary'],
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'neuvector', owner: 'Deployment scanner', pods: 3 },
          ...{ requests: { 'ephemeral-storage': '1Gi' }, limits: { 'ephemeral-storage': '2Gi' } },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ',
        },
      ],
      held: { images: images(2, 0.5, 1.5) },
    }),
    cause: [ofLimit],
    owner: 'neuvector/Deployment scanner',
    steps: ['ask-owner'],
    words: [/own\s+limit\s+of\s+2Gi/, /ephemeral-storage\s+above\s+2\.0 GiB/],
    never: [imageGc, largerDisk, /requests and limits/, /again and again/],
  },
  {
    name: 'limit-of-one-container-of-twenty-mebibytes',
    thread: 'https://github.com/cloud-ark/kubeplus/issues/1389',
    found:
      'Container consumerui exceeded its local ephemeral storage limit "20Mi". The node is not involved: the limit of that container had to be raised.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 8.6 } },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'default', owner: 'Deployment kubeplus', container: 'consumerui' },
          evicted: 'Container consumerui exceeded its local ephemeral storage limit "20Mi". ',
        },
        {
          ...{ namespace: 'default', owner: 'Deployment kubeplus-2', container: 'consumerui' },
          ...{ layerGib: 0.007, logsGib: 0.01, limits: { 'ephemeral-storage': '20Mi' } },
        },
      ],
      held: { images: images(2, 0.5, 1.5) },
    }),
    cause: [ofLimit],
    owner: 'default/Deployment kubeplus',
    steps: ['ask-owner'],
    words: [
      /limit\s+of\s+container\s+consumerui\s+of\s+20Mi/,
      /Next\s+is\s+pod\s+default\/kubeplus/,
    ],
    never: [imageGc, largerDisk],
  },
  {
    name: 'silent-after-its-disk-ran-short',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/79',
    found:
      'Nodes of 64 GB go NotReady, two a day: logs are not rotated, and fill them. The lost node cannot be read; another is nearly full of the logs of one pod, which ran on the lost one, too.',
    world: {
      nodes: [
        {
          ...{ mode: 'proxy', unread: ['configz', 'summary'], silent: true },
          disk: { gib: 60, usedGib: 58 },
          workloads: [{ namespace: 'ingest', owner: 'DaemonSet gateway' }],
          events: [
            {
              ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 5 },
              message:
                'Failed to garbage collect required amount of images. Attempted to free 5027870924 bytes, but only found 0 bytes eligible to free.',
              ...{ firstMinutesAgo: 60, lastMinutesAgo: 41 },
            },
            {
              ...{ type: 'Warning', reason: 'EvictionThresholdMet', count: 9 },
              message: 'Attempting to reclaim ephemeral-storage',
              ...{ firstMinutesAgo: 48, lastMinutesAgo: 39 },
            },
          ],
        },
        {
          ...{ mode: 'proxy', disk: { gib: 60, usedGib: 48 } },
          configuration: { containerLogMaxSize: '20Gi' },
          workloads: [
            ...users(3),
            { namespace: 'ingest', owner: 'DaemonSet gateway', logsGib: 41.7 },
          ],
          held: { images: images(3, 0.4, 1.2) },
        },
      ],
    },
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/disk\s+ran\s+short:.+EvictionThresholdMet\s+\(9\s+times\)/s, /gateway\s+ran\s+here/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [imageGc],
  },
  {
    name: 'disk-of-half-a-gibibyte',
    thread: 'https://github.com/rancher/k3os/issues/55',
    found:
      'The installer made a data partition of 545 MB: containerd cannot extract the first images. The node is new; a larger disk ended it.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 0.53, usedGib: 0.512 }, diskPressure: true },
      ageDays: 0.01,
      held: { journal: 0, hostLogs: 0, content: 0 },
    }),
    cause: [{ kind: 'device', what: 'too-small' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/542\.7 MiB\s+in\s+all/],
    notCauses: ['images-in-use', 'images-unused', 'unread'],
    never: [imageGc],
  },
  {
    name: 'requests-that-a-scheduler-does-not-count',
    thread: 'https://github.com/gitpod-io/gitpod/issues/2269',
    found:
      'Workspaces request ephemeral storage, and ws-scheduler does not count it: the kubelet refuses pods with OutOfephemeral-storage. The disk is half empty.',
    world: nodeOf({
      ...{ ...elsewhere, mode: 'proxy', disk: { gib: 95, usedGib: 42 } },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'default', owner: 'Bare ws', pods: 8, scheduler: 'ws-scheduler' },
          requests: { 'ephemeral-storage': '5Gi' },
        },
        {
          ...{ namespace: 'default', owner: 'Bare late', pods: 3, scheduler: 'ws-scheduler' },
          requests: { 'ephemeral-storage': '5Gi' },
          refused: {
            reason: 'OutOfephemeral-storage',
            message:
              "Pod was rejected: Node didn't have enough resource: ephemeral-storage, requested: 5368709120, used: 42949672960, capacity: 47093746742",
          },
        },
      ],
      held: { images: images(2, 0.5, 1.5) },
    }),
    cause: [{ kind: 'setting', field: 'resources.requests.ephemeral-storage' }],
    owner: 'platform',
    steps: ['ask-owner'],
    words: [/40\.0 GiB\s+of\s+43\.9 GiB/, /ws-scheduler/, /Scheduler\s+ws-scheduler/],
    never: [imageGc, /evict/],
  },
  {
    name: 'image-gc-thresholds-of-fifty-and-forty',
    thread: 'https://github.com/deckhouse/deckhouse/pull/1189',
    found:
      'Low thresholds of image GC on a small disk: constant rounds, and a great amount of error events, because nothing can be freed. The thresholds were raised; nothing was in danger.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 30, usedGib: 18.6 } },
      configuration: { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 40 },
      workloads: users(8),
      held: { images: images(8, 0.5, 1.5) },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 1714 },
          message:
            'Failed to garbage collect required amount of images. Attempted to free 7027870924 bytes, but only found 0 bytes eligible to free.',
          ...{ firstMinutesAgo: 8640, lastMinutesAgo: 3 },
        },
      ],
    }),
    cause: [setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['set'],
    words: [/no\s+round\s+would\s+be\s+due/, /imageGCHighThresholdPercent\s+80/],
    never: [largerDisk],
  },
]
