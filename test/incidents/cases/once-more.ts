/** Work that ended before the audit, and what lies beside what was measured. Cause, owner and step were written from the thread. */
import type { Incident } from '../incident.ts'
import { images, nearMiss, setting, users } from '../short-forms.ts'
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
]
