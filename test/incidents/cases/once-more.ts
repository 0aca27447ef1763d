/** Work that ended before the audit, and what lies beside what was measured. Cause, owner and step were written from the thread. */
import type { Incident } from '../incident.ts'
import { held, images, nearMiss, setting, users } from '../short-forms.ts'
import type { NodeWorld } from '../world.ts'

const onPremises = (version: string, runtimeVersion: string): Partial<NodeWorld> => ({
  ...{ family: 'Ubuntu', osImage: 'Ubuntu 24.04.3 LTS', volumes: [], mode: 'proxy' },
  ...{ version: '1.34.2', oldVersion: version, runtimeVersion },
})

const backup = {
  ...{ namespace: 'pawtograder', owner: 'Job pawtograder-backup', container: 'backup' },
  image: 'ghcr.io/pawtograder/backup:1.4',
}
const backupImage = { name: backup.image, packedGib: 0.2, unpackedGib: 0.5 }

/** The disk on the morning after the backup, of which two pods were evicted two hours ago. */
const afterBackup = (usedGib: number, layerKi: number): NodeWorld => ({
  ...onPremises('v1.33.4', '2.1.4'),
  ...{ disk: { gib: 60, usedGib }, pressureMinutes: 61 },
  workloads: [
    ...users(12),
    {
      ...{ ...backup, pods: 2, ageMinutes: 118 },
      evicted: `The node was low on resource: ephemeral-storage. Threshold quantity: 6442450944, available: 6100013Ki. Container backup was using ${layerKi}Ki, request is 0, has larger consumption of ephemeral-storage. `,
    },
  ],
  held: { images: [...images(17, 0.6, 1.9), backupImage] },
})

const k3s: Partial<NodeWorld> = {
  ...onPremises('v1.31.6+k3s1', '1.7.23-k3s1'),
  ...{ mode: 'both', providerId: 'k3s://mini' },
  configuration: { evictionHard: { 'imagefs.available': '5%', 'nodefs.available': '5%' } },
}

/** k3s on the small disk of a node that has a second one of this size. */
const onSmallDisk = (gib: number): NodeWorld => ({
  ...k3s,
  disk: { gib: 28.4, usedGib: 27.2, device: '/dev/mmcblk1p2', mount: '/' },
  ...{ diskPressure: true, pressureMinutes: 47 },
  devices: [
    { name: 'mmcblk1', gib: 29.1, mounted: true },
    { name: 'sda', gib, mounted: true },
  ],
  workloads: users(11),
  held: { images: images(13, 0.5, 1.35) },
})

const warning = (reason: string, message: string, count: number, first: number) => ({
  ...{ type: 'Warning' as const, reason, message, count },
  ...{ firstMinutesAgo: first, lastMinutesAgo: 1 },
})

const task =
  '/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/7d99079fde994c2c54c695ccc47eead5336305e083afdaf585120686d5b498d5'

const klipper = 'docker.io/rancher/klipper-helm:v0.8.2-build20230815'
const unreachable = (repository: string) =>
  `failed to do request: Head "https://registry.internal/v2/rancher/${repository}?ns=docker.io": dial tcp: lookup registry.internal: no such host`

export const onceMoreIncidents: Incident[] = [
  {
    name: 'backup-evicted-at-night-and-next-night-again',
    thread: 'https://github.com/pawtograder/platform/pull/975',
    found:
      'A CronJob dumps 7.35 GB into /tmp of its container. Its pods are evicted from two nodes, and the Job reaches its backoff limit. In the morning no node is under pressure.',
    world: {
      nodegroups: [],
      nodes: [
        afterBackup(48.3, 4_412_211),
        { ...onPremises('v1.33.4', '2.1.4'), disk: { gib: 60, usedGib: 33 }, workloads: users(9) },
      ],
    },
    cause: [setting('resources.requests.ephemeral-storage')],
    owner: 'pawtograder/Job pawtograder-backup',
    steps: ['ask-owner'],
    words: [/2\s+pods\s+of\s+Job\s+pawtograder\/pawtograder-backup/, /4\.2\s+GiB/],
  },
  {
    name: 'evicted-backup-that-fits-now',
    thread: 'https://github.com/pawtograder/platform/pull/975',
    found: 'The dump goes to a volume now, and half of the disk is free.',
    world: { nodegroups: [], nodes: [afterBackup(31, 4_412_211)] },
    ...nearMiss,
    never: [/pawtograder-backup.{0,40}volume/],
  },
  {
    name: 'k3s-on-the-small-one-of-two-disks',
    thread: 'https://github.com/k3s-io/k3s/issues/4565',
    found:
      'A NUC has 32 GB of eMMC and a disk of 1 TB at /mnt. The folders of Docker and containerd were moved there; those of k3s are on the eMMC, which is full.',
    world: { nodegroups: [], nodes: [onSmallDisk(931.5)] },
    cause: [held('images-in-use')],
    owner: 'platform',
    steps: ['resize'],
    words: [/another\s+disk,\s+\/dev\/sda\s+\(931\.5\s+GiB\)/, /put\s+the\s+folders/],
  },
  {
    name: 'k3s-on-the-larger-one-of-two-disks',
    thread: 'https://github.com/k3s-io/k3s/issues/4565',
    found: 'The second disk is a stick of 32 GB.',
    world: { nodegroups: [], nodes: [onSmallDisk(29.8)] },
    cause: [held('images-in-use')],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger\s+disk/],
    never: [/another disk|\/dev\/sda/],
  },
  {
    name: 'core-dumps-of-a-crash-loop-in-a-host-path',
    thread: 'https://github.com/rook/rook/issues/13184',
    found:
      'An OSD of Ceph crashes at each start and leaves a core file in its log folder, a hostPath. The disk of the system fills, and pods are evicted.',
    world: {
      nodegroups: [],
      nodes: [
        {
          ...{ ...onPremises('v1.31.9', '1.7.27'), mode: 'both' },
          ...{ disk: { gib: 100, usedGib: 92.4 }, diskPressure: true, pressureMinutes: 38 },
          workloads: [
            ...users(7),
            {
              ...{ namespace: 'rook-ceph', owner: 'Deployment rook-ceph-osd-3', container: 'osd' },
              ...{ hostPath: '/var/lib/rook', waiting: 'CrashLoopBackOff', endedWith: '' },
            },
          ],
          held: { images: images(7, 0.55, 1.55), folders: { '/var/lib/rook': 65 } },
        },
      ],
    },
    cause: [held('host-path', '/var/lib/rook')],
    owner: 'rook-ceph/Deployment rook-ceph-osd-3',
    steps: ['ask-owner'],
    words: [/end\s+the\s+crash\s+loop/, /7\s+restarts/, /core\*/],
  },
  {
    name: 'exec-probe-that-fills-run',
    thread: 'https://github.com/opencontainers/runc/issues/3253',
    found:
      'A probe that runs a command each second fills log.json of its task below /run, a tmpfs of 395 MB, until no container starts. The disk has room.',
    world: {
      nodegroups: [],
      nodes: [
        {
          ...{ ...k3s, disk: { gib: 58, usedGib: 24.6 } },
          workloads: [
            ...users(6),
            {
              ...{ namespace: 'net', owner: 'DaemonSet keepalived' },
              events: [
                warning(
                  'Unhealthy',
                  `Liveness probe errored: rpc error: code = Unknown desc = failed to exec in container: failed to start exec "0e5a8e1539902911f76888152b289f0976dc3d6245f9660952ec": OCI runtime exec failed: write ${task}/log.json: no space left on device: unknown`,
                  ...([410, 70] as const),
                ),
              ],
            },
          ],
          held: { images: images(6, 0.6, 1.8) },
        },
      ],
    },
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/exec\s+probe\s+of\s+net\/keepalived-\w+\s+fails\s+there\s+\(410\s+times\)/],
  },
  {
    name: 'pause-image-of-an-airgapped-node',
    thread: 'https://github.com/k3s-io/k3s/issues/8781',
    found:
      'A file of 6 GB fills a small disk without a registry in reach. Image GC deletes imported images, that of the sandbox too.',
    world: {
      nodegroups: [],
      nodes: [
        {
          ...{ ...k3s, disk: { gib: 7.57, usedGib: 7.08 } },
          workloads: [
            ...users(3),
            {
              ...{ namespace: 'kube-system', owner: 'Job helm-install-traefik', image: klipper },
              waiting: 'ImagePullBackOff',
              message: `Back-off pulling image "${klipper}"`,
              events: [
                warning(
                  'Failed',
                  `Failed to pull image "${klipper}": ${unreachable('klipper-helm/manifests/v0.8.2-build20230815')}`,
                  ...([9, 33] as const),
                ),
              ],
            },
            {
              ...{ namespace: 'apps', owner: 'Deployment kiosk', waiting: 'ContainerCreating' },
              events: [
                warning(
                  'FailedCreatePodSandBox',
                  `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "rancher/mirrored-pause:3.6": failed to pull image "rancher/mirrored-pause:3.6": ${unreachable('mirrored-pause/manifests/3.6')}`,
                  ...([120, 31] as const),
                ),
              ],
            },
          ],
          held: { images: images(3, 0.02, 0.05), journal: 0.05, folders: { '/dummy': 5.59 } },
          containerd: { sandboxImage: 'rancher/mirrored-pause:3.6' },
        },
      ],
    },
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [/import\s+rancher\/mirrored-pause:3\.6/, /klipper-helm/],
  },
]
