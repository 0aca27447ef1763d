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
]
