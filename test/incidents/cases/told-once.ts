/** Incidents whose cause lies beside the disk, or that two rules see: what a node was started with, a claim, another disk. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nodeOf, setting, users } from '../short-forms.ts'
import type { NodeWorld } from '../world.ts'

const upstream = {
  ...{ 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
  ...{ 'imagefs.available': '15%', 'imagefs.inodesFree': '5%' },
}

/** A node outside of AWS, read by its API alone. */
const elsewhere = (
  osImage: string,
  runtimeVersion: string,
  evictionHard: Record<string, string> = upstream,
): Pick<
  NodeWorld,
  'family' | 'mode' | 'osImage' | 'runtimeVersion' | 'volumes' | 'providerId' | 'configuration'
> => ({
  ...{ family: 'Ubuntu', mode: 'proxy', osImage, runtimeVersion, volumes: [], providerId: '' },
  configuration: { evictionHard },
})

const warning = (reason: string, message: string, count: number, minutes: number) => ({
  ...{ type: 'Warning' as const, reason, message, count },
  ...{ firstMinutesAgo: minutes, lastMinutesAgo: 2 },
})

const failedRounds = (count: number, bytes: number) => [
  warning(
    'FreeDiskSpaceFailed',
    `Failed to garbage collect required amount of images. Attempted to free ${bytes} bytes, but only found 0 bytes eligible to free.`,
    ...([count, 300] as const),
  ),
]

const underPressure = { diskPressure: true, pressureMinutes: 1 } as const

const indexImages = Array.from({ length: 30 }, (_, index) => ({
  name: `registry.redhat.io/redhat/certified-operator-index:v4.18-${index}`,
  ...{ packedGib: 1.41, unpackedGib: 1.41 },
}))

const harvester = elsewhere('Harvester v1.4.1', '2.0.5-k3s1', {
  ...{ 'imagefs.available': '5%', 'nodefs.available': '5%', 'memory.available': '100Mi' },
})
const imported = 'rancher/harvester:v1.5.0'

const database = (used: number, claim: string) => ({
  ...{ namespace: 'kilobase', owner: 'StatefulSet supabase-cluster', container: 'postgres' },
  ...{ image: 'ghcr.io/cloudnative-pg/postgresql:17', claim, claimGib: { size: 39.08, used } },
  endedWith: 'FATAL:  could not write to file "pg_wal/xlogtemp.31": No space left on device',
})

const agent = (processes: number) => ({
  ...{ namespace: 'datadog', owner: 'DaemonSet datadog-agent', container: 'agent', processes },
  image: 'gcr.io/datadoghq/agent:7.38.1',
})

const longhorn = {
  ...{ namespace: 'longhorn-system', owner: 'DaemonSet longhorn-manager' },
  ...{ image: 'longhornio/longhorn-manager:v1.7.2', hostPath: '/var/lib/longhorn' },
}

export const toldOnceIncidents: readonly Incident[] = [
  {
    name: 'stale-images-of-the-machine-image',
    thread: 'https://github.com/openshift/release/pull/79304',
    found:
      'A VM under DiskPressure 6 minutes after its boot: its snapshot has 30 stale index images of 42 GB. The pull request prunes them before the snapshot is made.',
    world: nodeOf({
      ...elsewhere('Red Hat Enterprise Linux CoreOS 418.94', 'cri-o://1.31.9'),
      ...{ ...underPressure, ageDays: 0.0042, disk: { gib: 93, usedGib: 79.2 } },
      workloads: users(30, { namespace: 'openshift', ageMinutes: 5 }),
      held: { images: [...images(30, 0.6, 0.6), ...indexImages] },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['free'],
    words: [
      /the\s+builder\s+of\s+the\s+machine\s+image/,
      /started 6 minutes ago/,
      /18\.\d GiB\s+to 77\.\d GiB/,
    ],
    never: [/set imageGCHighThresholdPercent/],
  },
  {
    name: 'unused-images-of-an-hour-of-jobs',
    thread: 'https://github.com/openshift/release/pull/79304',
    found: 'Near miss: the same images after 50 minutes of jobs. They may have been pulled.',
    world: nodeOf({
      ...elsewhere('Red Hat Enterprise Linux CoreOS 418.94', 'cri-o://1.31.9'),
      ...{ ...underPressure, ageDays: 0.035, disk: { gib: 93, usedGib: 79.2 } },
      workloads: users(30, { namespace: 'openshift', ageMinutes: 5 }),
      held: { images: [...images(30, 0.6, 0.6), ...indexImages] },
    }),
    cause: [setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['free'],
    never: [/machine image/],
  },
  {
    name: 'alert-before-image-gc-without-a-registry',
    thread: 'https://github.com/harvester/harvester/issues/4210',
    found:
      'Image GC has deleted imported images of an air-gapped cluster, whose pods then wait for docker.io. The other nodes are above the alert.',
    world: {
      nodes: [
        {
          ...{ ...harvester, disk: { gib: 59, usedGib: 53, reservedGib: 2.2 } },
          workloads: [
            ...users(14, { namespace: 'harvester-system', logsGib: 0.3 }),
            {
              ...{ namespace: 'harvester-system', owner: 'Deployment harvester', image: imported },
              ...{ waiting: 'ImagePullBackOff', message: `Back-off pulling image "${imported}"` },
              events: [
                warning(
                  'Failed',
                  `Failed to pull image "${imported}": failed to do request: Head "https://registry-1.docker.io/v2/rancher/harvester/manifests/v1.5.0": dial tcp: lookup registry-1.docker.io on 10.0.0.2:53: no such host`,
                  ...([9, 40] as const),
                ),
              ],
            },
          ],
          held: { images: images(14, 0.5, 1.5) },
          events: failedRounds(9, 8_589_934_592),
        },
        {
          ...{ ...harvester, disk: { gib: 59, usedGib: 43, reservedGib: 2.2 } },
          workloads: users(14, { namespace: 'harvester-system' }),
          held: { images: images(14, 0.5, 1.5) },
        },
      ],
    },
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    never: [/set imageGC/, /prune/],
  },
  {
    name: 'wal-of-a-full-claim-without-its-path',
    thread: 'https://github.com/KBVE/kbve/pull/7795',
    found:
      'Stale replication slots keep 40 GB of WAL: the claims of two replicas are full, and PostgreSQL names the file from its own folder. The disks of the nodes have room.',
    world: {
      nodes: [39.06, 39.07].map((used, index) => ({
        disk: { gib: 80, usedGib: 36 - index },
        workloads: [
          ...users(6),
          { ...database(used, `supabase-cluster-${index + 5}`), before: index },
        ],
        held: { images: images(6, 0.7, 2.1) },
      })),
    },
    cause: [{ kind: 'world' }],
    owner: 'kilobase/StatefulSet supabase-cluster',
    steps: ['ask-owner'],
    words: [/expand\s+PVC\s+supabase-cluster-5\s+and\s+supabase-cluster-6\s+to/],
    never: [/folders of the\s+node/, /ended with "no space left on device"/],
  },
  {
    name: 'memory-of-one-pod-and-no-threshold',
    thread: 'https://github.com/spatiumddi/spatiumddi/issues/1124',
    found:
      'k3s with evictionHard of the disks alone: the kernel kills the api beside a pod with 4.25 of 5.8 GiB, and the kubelet never evicts.',
    world: nodeOf({
      ...elsewhere('Debian GNU/Linux 13 (trixie)', '2.1.4-k3s1', {
        ...{ 'imagefs.available': '5%', 'nodefs.available': '5%' },
      }),
      ...{ memoryGib: 5.78, availableMemoryGib: 0.06, disk: { gib: 58, usedGib: 32 } },
      ...{ kubeletMemoryGib: 0.12, runtimeMemoryGib: 0.1 },
      podsMemory: { limitGib: 5.78, usedGib: 5.4 },
      workloads: [
        ...users(6, { namespace: 'spatium', memoryGib: 0.12 }),
        {
          ...{ namespace: 'default', owner: 'Bare hog', image: 'busybox:1.36', memoryGib: 4.25 },
          ...{ requests: { memory: '4402Mi' }, limits: { memory: '4402Mi' } },
        },
      ],
      held: { images: images(6, 0.5, 1.4) },
      events: [
        warning('SystemOOM', 'System OOM encountered, victim process: uvicorn, pid: 41234', 1, 9),
      ],
    }),
    cause: [setting('evictionHard')],
    owner: 'platform',
    steps: ['set'],
    words: [/Holds the memory: 4\.3 GiB\s+Pod default\/hog/, /delete\s+Pod\s+default\/hog/],
    never: [/Holds the memory: unknown/],
  },
  {
    name: 'folder-of-a-deleted-local-volume-on-talos',
    thread: 'https://github.com/openebs/dynamic-localpv-provisioner/issues/181',
    found:
      'The clean-up pod of a deleted local volume does not start under DiskPressure: 80 GB stay in /var/openebs/local of a Talos node.',
    world: nodeOf({
      ...elsewhere('Talos (v1.10.6)', '2.0.5'),
      ...{ diskPressure: true, pressureMinutes: 310, disk: { gib: 100, usedGib: 91.2 } },
      workloads: [
        ...users(5, { logsGib: 0.2 }),
        {
          ...{ namespace: 'openebs', owner: 'Bare cleanup-pvc', hostPath: '/var/openebs/local' },
          image: 'openebs/linux-utils:3.5.0',
          refused: {
            ...{ reason: 'Evicted' },
            message: 'Pod was rejected: The node had condition: [DiskPressure]. ',
          },
        },
      ],
      held: { images: images(5, 0.35, 1), journal: 0.1 },
      events: failedRounds(61, 11_918_999_224),
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/var\/openebs\/local/, /talosctl -n \S+ usage -a -d 3/],
    never: [/kubectl\s+describe\s+node/],
  },
  {
    name: 'zombies-of-a-daemonset',
    thread: 'https://github.com/DataDog/datadog-agent/issues/12997',
    found:
      'The agent does not reap its children: after days its pods have 26,000 processes, and fork fails on the node. A restart helps for some days.',
    world: {
      nodes: [31_905, 13_500].map(used => ({
        ...{ disk: { gib: 80, usedGib: 30.4 }, ageDays: 5, pids: { max: 32_768, used } },
        workloads: [...users(12, { processes: 380 }), agent(used - 5765)],
        held: { images: images(12, 0.5, 1.5) },
      })),
    },
    cause: [setting('evictionHard')],
    owner: 'platform',
    steps: ['set'],
    words: [
      /has\s+many\s+elsewhere,\s+too:\s+7735\s+on/,
      /restart\s+Pod\s+datadog\/datadog-agent/,
      /If\s+the\s+processes\s+come\s+back,\s+its\s+image\s+has\s+to\s+reap/,
    ],
  },
  {
    name: 'emptydir-of-a-build-cache',
    thread: 'https://github.com/pulumi/pulumi-kubernetes-operator/issues/381',
    found:
      'The operator keeps 15 GB of Go build cache in its emptyDir; its deletion empties it, and it grows again.',
    world: nodeOf({
      ...{ ...underPressure, disk: { gib: 40, usedGib: 36.6 } },
      workloads: [
        ...users(6, { logsGib: 0.4 }),
        {
          ...{ namespace: 'pulumi-system', owner: 'Deployment pulumi-kubernetes-operator' },
          ...{ image: 'pulumi/pulumi-kubernetes-operator:v1.10.1', emptyDirGib: 14 },
        },
      ],
      held: { images: images(6, 0.7, 2), journal: 1 },
    }),
    cause: [held('pod-volumes')],
    owner: 'pulumi-system/Deployment pulumi-kubernetes-operator',
    steps: ['ask-owner', 'free'],
    words: [/deletion\s+of\s+a\s+pod\s+empties/],
    never: [imageGc],
  },
  {
    name: 'small-threshold-of-a-large-disk',
    thread:
      'https://artsysops.com/2022/06/25/how-to-fix-disk-pressure-issue-in-kubernetes-microk8s',
    found:
      'Thresholds of 1Gi on a disk of 468 GiB: it is 97.6 % full, mostly of Longhorn, and the node reports no pressure.',
    world: nodeOf({
      ...elsewhere('Ubuntu 22.04.5 LTS', '1.7.28', {
        ...{ 'memory.available': '100Mi', 'nodefs.available': '1Gi', 'imagefs.available': '1Gi' },
      }),
      ...{ disk: { gib: 468, usedGib: 456.8 }, ageDays: 400 },
      workloads: [...users(8), longhorn],
      held: { images: images(8, 0.9, 2.7) },
      events: failedRounds(12, 88_475_893_956),
    }),
    cause: [{ kind: 'world' }, { kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/var\/lib\/longhorn/, /less than 1\s+%\s+of\s+a\s+large\s+disk/],
  },
  {
    name: 'cache-on-a-second-disk',
    thread: 'https://github.com/sourcegraph/sourcegraph-public-snapshot/issues/8308',
    found:
      'searcher finds no space in a hostPath on a second disk of 375 GB, which two frontends fill. The kubelet does not watch that disk.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 42 },
      devices: [
        { name: '/dev/nvme0n1', gib: 100, mounted: true },
        { name: '/dev/nvme1n1', gib: 349, mounted: true },
      ],
      workloads: [
        ...users(8),
        {
          ...{ namespace: 'prod', owner: 'Deployment searcher', hostPath: '/mnt/cache' },
          ...{ image: 'sourcegraph/searcher:5.3' },
          endedWith: 'write /host/searcher-0/9f2c.zip.part: no space left on device',
        },
      ],
      held: { images: images(8, 0.7, 2) },
    }),
    cause: [{ kind: 'device', what: 'unmeasured' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /\/mnt\/cache\.\s+It\s+may\s+be\s+on\s+a\s+disk\s+that\s+was\s+not\s+measured/,
      /on 1 node a disk/,
    ],
    never: [/it was full then/],
  },
]
