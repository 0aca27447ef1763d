/** Steps that the replay refutes, disks that nobody measured, and causes of which the event's words say who has to act. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nodeOf, users } from '../short-forms.ts'

export const noReliefIncidents: readonly Incident[] = [
  {
    name: 'boot-disk-of-images-in-use',
    thread: 'https://github.com/falldamagestudio/UE-Jenkins-BuildSystem/issues/21',
    found:
      'The boot disk of 10 GB has a filesystem of 5832 MB, 4816 MB of it used. Jenkins takes its controller out of service with less than 1 GB free. A disk of 50 GB ended it.',
    world: nodeOf({
      ...{ family: 'Hybrid', mode: 'proxy', disk: { gib: 5.7, usedGib: 4.72 } },
      workloads: [
        {
          ...{ namespace: 'jenkins', owner: 'StatefulSet jenkins-controller', layerGib: 0.05 },
          image: 'jenkins/jenkins:2.263',
        },
        { namespace: 'logging', owner: 'DaemonSet fluentbit', image: 'fluent/fluent-bit:1.5' },
      ],
      held: {
        images: [
          { name: 'jenkins/jenkins:2.263', packedGib: 0.7, unpackedGib: 2.4 },
          { name: 'fluent/fluent-bit:1.5', packedGib: 0.3, unpackedGib: 0.9 },
        ],
      },
    }),
    cause: [held('images-in-use'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger disk/],
    never: [imageGc],
  },
  {
    name: 'second-ssd-of-caches',
    thread: 'https://github.com/sourcegraph/about/pull/716',
    found:
      'Searcher fails with "no space left on device" below /mnt/cache. Two frontends on one node keep more than 160 GB each on its local SSD of 375 GB; the disk of the kubelet is fine.',
    world: nodeOf({
      ...{ family: 'AL2023', disk: { gib: 93, usedGib: 38 } },
      workloads: ['Deployment sourcegraph-frontend', 'StatefulSet searcher'].map(owner => ({
        ...{ namespace: 'prod', owner, hostPath: '/mnt/disks/ssd0/pod-tmp' },
      })),
      devices: [{ name: 'nvme1n1', gib: 349, mounted: true }],
    }),
    cause: [{ kind: 'device', what: 'unmeasured' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /nvme1n1 \(349\.0 GiB\)/,
      /\/mnt\/disks\/ssd0\/pod-tmp/,
      /a disk that pods can write to/,
    ],
  },
  {
    name: 'images-of-docker-in-docker',
    thread: 'https://github.com/jupyterhub/mybinder.org-deploy/issues/773',
    found:
      'Nodes with 1 TB fill in three to four days: Docker in Docker keeps its images below a hostPath, and the kubelet frees only its own.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 931, usedGib: 819 } },
      ...{
        providerId: 'gce://project/us-central1-a/user-0',
        configuration: { nodeStatusMaxImages: 3 },
      },
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'prod', owner: 'DaemonSet binderhub-dind' },
          hostPath: '/var/lib/dind/prod',
        },
      ],
      held: { images: images(12, 8, 25), unexplained: 480 },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 11 },
          message:
            'Failed to garbage collect required amount of images. Attempted to free 80530636800 bytes, but only found 0 bytes eligible to free.',
          ...{ firstMinutesAgo: 56, lastMinutesAgo: 4 },
        },
      ],
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/pods can write to\s+\/var\/lib\/dind\/prod\s+\(DaemonSet prod\/binderhub-dind\)/],
    never: [imageGc],
  },
]
