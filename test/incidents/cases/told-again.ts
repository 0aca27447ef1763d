/** Incidents whose first explanation sent the reader to another place: what is not known is named, and what has to be first stands first. */
import type { Incident } from '../incident.ts'
import { evictionOf, held, imageGc, images, nodeOf, users } from '../short-forms.ts'

const unreadCauses = [held('unread'), { kind: 'unread' as const }, { kind: 'world' as const }]

const vector = {
  ...{ namespace: 'vector', owner: 'DaemonSet vector', layerGib: 0.001, memoryGib: 0.9 },
  hostPath: '/var/log/',
}

const ofHost = {
  ...{ mode: 'proxy' as const, family: 'Ubuntu' as const, oldVersion: 'v1.33.1', volumes: [] },
  ...{ osImage: 'Debian GNU/Linux 12 (bookworm)', runtimeVersion: '2.1.1' },
  providerId: 'kind://docker/e2e/e2e-worker',
  ...{ disk: { gib: 71.6, usedGib: 68.18 }, diskPressure: true, ageDays: 0.02 },
  configuration: evictionOf({ 'nodefs.available': '5%', 'imagefs.available': '5%' }),
}

export const toldAgainIncidents: readonly Incident[] = [
  {
    name: 'log-agent-with-deleted-files-unread',
    thread: 'https://github.com/vectordotdev/vector/issues/11742',
    found:
      'df counts 105 GB, du finds 10. vector holds 90 GB of deleted logs of containers open: a restart of its pod frees them. Nothing of it is in the API.',
    world: {
      nodes: [
        {
          ...{ mode: 'proxy', disk: { gib: 116, usedGib: 102 } },
          workloads: [...users(5, { logsGib: 0.04 }), vector],
          held: { images: images(5, 0.35, 1) },
        },
      ],
    },
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [/what\s+pods\s+hold\s+open\s+of\s+deleted\s+files\s+is\s+not\s+known/],
    never: [imageGc, /nor\s+deleting\s+pods/],
  },
  {
    name: 'nodes-that-share-the-disk-of-their-host',
    thread: 'https://github.com/rancher/fleet/pull/5645',
    found:
      'Three nodes in containers of Docker report one disk of 72 GB. Tools of the runner image hold 25.6 GB of it, Docker 6.9 GB. Their deletion on the host ends it; moving pods does not.',
    world: {
      nodes: [
        {
          ...{ ...ofHost, held: { images: images(1, 0.1, 0.31) } },
          workloads: users(1, { isCritical: true }),
        },
        { ...ofHost, workloads: users(6), held: { images: images(6, 0.1, 0.31) } },
      ],
    },
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /all\s+nodes\s+of\s+its\s+cluster\s+share\s+the\s+disk/,
      /sudo du /,
      // The numbers of the node that is named.
      /first\s+e2e-worker-1\n\s+Cause:[\s\S]*images\s+are\s+at\s+most\s+1\.9\s+GiB/,
    ],
    never: [imageGc, /drain/],
  },
  {
    name: 'head-of-a-cluster-whose-job-a-deletion-ends',
    thread: 'https://github.com/ray-project/ray/issues/15595',
    found:
      'gcs_server.out has 150 GB in the layer of the head of a Ray cluster. The deletion of its pod ends the job of all workers: the file is looked at, and emptied, before.',
    world: nodeOf({
      ...{ disk: { gib: 200, usedGib: 184 }, diskPressure: true },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'ml', owner: 'RayCluster tune', container: 'ray-head', layerGib: 151.4 },
          memoryGib: 8,
        },
      ],
      held: { images: images(3, 0.9, 2.1) },
    }),
    cause: [held('writable-layers')],
    owner: 'ml/RayCluster tune',
    steps: ['ask-owner'],
    words: [
      /Now:\s+look\s+what\s+is\s+large\s+in\s+RayCluster[\s\S]+copy[\s\S]+delete\s+Pod\s+ml\/tune/,
      /sudo du -h -a -x -d 3 -0 \/run\/containerd/,
    ],
    never: [imageGc, /delete pod -n ml/],
  },
  {
    name: 'claims-whose-volumes-are-not-mounted',
    thread: 'https://github.com/longhorn/longhorn/issues/2537',
    found:
      'The folder of the kubelet is not where Longhorn mounts: each claim is a folder on the disk of the node, with its size. The data was copied before the folder was right and the pods started again.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Ubuntu', oldVersion: 'v1.31.5+k3s1', volumes: [] },
        ...{ runtimeVersion: '1.7.23-k3s2', providerId: 'k3s://node', ageDays: 120 },
        ...{ memoryGib: 31, availableMemoryGib: 18, disk: { gib: 20, usedGib: 17.6 } },
        imageDisk: { gib: 30, usedGib: 7.4, device: '/dev/vg/k3s', mount: '/srv/k8s/k3s' },
        configuration: { evictionHard: { 'imagefs.available': '5%', 'nodefs.available': '5%' } },
        workloads: [
          ...users(3),
          ...['influxdb', 'postgres'].map(name => ({
            ...{ namespace: 'iot', owner: `StatefulSet ${name}`, claim: `data-${name}-0` },
            claimGib: { size: 20, used: 17.6 },
          })),
        ],
        held: { images: images(3, 0.2, 0.6) },
      },
      {
        nodegroups: [],
        objects: {
          persistentvolumes: ['influxdb', 'postgres'].map(name => ({
            metadata: { name: `pvc-${name}`, uid: name, creationTimestamp: '2026-09-01T00:00:00Z' },
            spec: {
              ...{ capacity: { storage: '10Gi' }, storageClassName: 'longhorn' },
              csi: { driver: 'driver.longhorn.io', volumeHandle: `pvc-${name}` },
              claimRef: { namespace: 'iot', name: `data-${name}-0` },
            },
            status: { phase: 'Bound' },
          })),
        },
      },
    ),
    cause: unreadCauses,
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /2\s+claims\s+report\s+the\s+size\s+and\s+the\s+free\s+space\s+of\s+the\s+node's\s+own\s+disk/,
      /the\s+only\s+copy/,
      /data-postgres-0\s+\(StatefulSet\s+iot\/postgres\)/,
      /findmnt/,
    ],
    never: [imageGc, /expand/, /evictionHard\.memory/],
  },
  {
    name: 'scratch-beside-the-claim-of-a-database',
    thread: 'https://github.com/cloudnative-pg/cloudnative-pg/issues/317',
    found:
      'A base backup writes 30 GB into the scratch volume of a database whose data has a claim. The operator has no claim for it: the backup was ended, and the operator was upgraded.',
    world: nodeOf({
      ...{ disk: { gib: 50, usedGib: 45.4 }, diskPressure: true },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'db', owner: 'Cluster orders', container: 'postgres' },
          ...{ claim: 'orders-1', claimGib: { size: 196, used: 121 }, emptyDirGib: 34.6 },
        },
      ],
      held: { images: images(3, 0.5, 1.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'db/Cluster orders',
    steps: ['free', 'ask-owner'],
    words: [/look\s+what\s+is\s+large/, /likely\s+scratch/, /sudo du -h/],
    never: [imageGc, /a\s+claim\s+for\s+its\s+data/, /retention/, /another\s+object/, /makes\s+it/],
  },
]
