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
]
