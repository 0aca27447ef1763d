/** Incidents of claims and folders that pods write on the node: a PersistentVolume that is a folder, data beside a claim, logs of static pods. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nodeOf, users } from '../short-forms.ts'
import type { NodeWorld, Workload } from '../world.ts'

const rubbish = /delete what is no longer needed/
const uid = '8f1c2a44-6c1e-4a6f-9d55-0d2f61a7b3c1'

const volumeOf = (namespace: string, claim: string, root: string) => ({
  metadata: { name: `pvc-${uid}`, uid: `pv-${claim}` },
  spec: {
    capacity: { storage: '30Gi' },
    claimRef: { namespace, name: claim, uid: claim },
    hostPath: { path: `${root}/pvc-${uid}_${namespace}_${claim}` },
  },
  status: { phase: 'Bound' },
})

const minio: Workload = { namespace: 'gitpod', owner: 'Deployment minio', claim: 'minio' }

const server = (more: Partial<NodeWorld>, workloads: readonly Workload[] = [minio]): NodeWorld => ({
  disk: { gib: 220, usedGib: 209 },
  ...{ diskPressure: true, pressureMinutes: 190, workloads: [...users(4), ...workloads] },
  held: { images: images(6, 0.6, 1.8) },
  ...more,
})

const ofClaims = {
  thread: 'https://github.com/gitpod-io/gitpod/issues/12416',
  found:
    "The root disk of one server is full: MinIO's claim of 30 GiB is a folder of local-path with 163 GiB of old backups. The folder is live data.",
  cause: [held('local-volumes')],
  owner: 'gitpod/Deployment minio',
  steps: ['ask-owner'],
  words: [/claim\s+gitpod\/minio/, /163\.0\s+GiB/, /never\s+delete/],
  notCauses: ['unknown-folder', 'host-path', 'images-in-use'],
  never: [imageGc, rubbish],
} satisfies Omit<Incident, 'name' | 'world'>

const k3s = '/var/lib/k3s/storage'

export const claimIncidents: readonly Incident[] = [
  {
    ...ofClaims,
    name: 'claim-below-an-unknown-folder',
    world: nodeOf(server({ held: { images: images(6, 0.6, 1.8), folders: { [k3s]: 163 } } }), {
      objects: { persistentvolumes: [volumeOf('gitpod', 'minio', k3s)] },
    }),
  },
  {
    ...ofClaims,
    name: 'folder-that-names-its-claim',
    world: nodeOf(
      server({
        held: {
          images: images(6, 0.6, 1.8),
          folders: { [`/opt/local-path-provisioner/pvc-${uid}_gitpod_minio`]: 163 },
        },
      }),
    ),
  },
  {
    ...ofClaims,
    name: 'folder-of-claims-of-two-owners',
    world: nodeOf(
      server({ held: { images: images(6, 0.6, 1.8), folders: { [k3s]: 163 } } }, [
        minio,
        { namespace: 'gitpod', owner: 'StatefulSet mysql', claim: 'data-mysql-0' },
      ]),
      {
        objects: {
          persistentvolumes: [
            volumeOf('gitpod', 'minio', k3s),
            volumeOf('gitpod', 'data-mysql-0', k3s),
          ],
        },
      },
    ),
    owner: 'platform',
    words: [/claims\s+gitpod\/data-mysql-0\s+and\s+gitpod\/minio/, /never\s+delete/],
  },
  {
    ...ofClaims,
    name: 'claim-that-only-the-api-shows',
    world: nodeOf(server({ mode: 'proxy' }), {
      objects: { persistentvolumes: [volumeOf('gitpod', 'minio', k3s)] },
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/\/var\/lib\/k3s\/storage\s+\(claim\s+minio\s+of\s+Deployment\s+gitpod\/minio\)/],
  },
  {
    name: 'data-beside-an-empty-claim',
    thread: 'https://github.com/bitnami/containers/issues/65107',
    found:
      'MinIO has a claim of 500 GiB, and writes its objects into the layer of its container. A restart loses them.',
    world: nodeOf({
      disk: { gib: 50, usedGib: 44 },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'minio', owner: 'Deployment minio', container: 'minio' },
          ...{ layerGib: 34.6, claim: 'minio', claimGib: { size: 500, used: 0.00002 } },
        },
      ],
      held: { images: images(2, 0.6, 1.2) },
    }),
    cause: [held('writable-layers')],
    owner: 'minio/Deployment minio',
    steps: ['ask-owner'],
    words: [
      /its\s+claim\s+at\s+\/claim\s+is\s+nearly\s+empty/,
      /First\s+copy\s+what\s+is\s+needed/,
    ],
    never: [imageGc, /34\.7\s+GiB[\s\S]*34\.6\s+GiB/],
  },
  {
    name: 'log-of-a-static-pod',
    thread: 'https://github.com/kubernetes/kubernetes/issues/27754',
    found:
      'A small /var of a control plane: kube-apiserver.log was not rotated in time, and the journal has 979 MiB more.',
    world: nodeOf({
      disk: { gib: 5.7, usedGib: 5.4 },
      diskPressure: true,
      workloads: [
        {
          ...{ namespace: 'kube-system', owner: 'Node kube-apiserver' },
          hostPath: '/var/log/kube-apiserver.log',
        },
      ],
      held: {
        journal: 0.96,
        folders: { '/var/log/kube-apiserver.log': 3 },
        writtenLogs: [{ path: '/var/log/kube-apiserver.log', gib: 3, minutesAgo: 1 }],
      },
    }),
    cause: [held('host-path', '/var/log/kube-apiserver.log')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/etc\/logrotate\.d/, /cut\s+the\s+journal/],
    never: [imageGc, /have\s+Pod/, /clean\s+up\s+\/var\/log/, /du -h -a -x -d 2 -0 \/var\/log/],
  },
]
