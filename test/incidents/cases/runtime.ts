/** What the runtime holds: leaked snapshots, packed layers, dead containers, another snapshotter. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nodeOf, users } from '../short-forms.ts'
import type { NodeWorld } from '../world.ts'

const leak: NodeWorld = {
  runtimeVersion: '1.7.28',
  disk: { gib: 134, usedGib: 118 },
  workloads: users(30),
  held: { images: images(40, 0.25, 0.85), leftover: 78 },
}

export const runtimeIncidents: Incident[] = [
  {
    name: 'leaked-snapshots',
    thread: 'https://github.com/coollabsio/coolify/issues/7270',
    found:
      'A Kubernetes node under DiskPressure: /var/lib/containerd has 114 GiB in 1,851 snapshots of overlayfs; the images explain a third of it.',
    world: nodeOf(leak),
    cause: [held('leftover-snapshots')],
    owner: 'platform',
    steps: ['replace'],
    words: [/snapshot/i, /replace|drain/i],
    notCauses: ['imageGCHighThresholdPercent'],
    never: [imageGc],
  },
  {
    name: 'leaked-snapshots-of-api',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/4825',
    found:
      'Bottlerocket, 500 GB: overlayfs snapshots grow by up to 17 GB an hour until eviction; GC thresholds do not help. Only the API can be read.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', runtimeVersion: '2.1.6+bottlerocket' },
        osImage: 'Bottlerocket OS 1.59.0 (aws-k8s-1.33)',
        disk: { gib: 500, usedGib: 452 },
        volumes: [
          { device: '/dev/xvda', gib: 4 },
          { device: '/dev/xvdb', gib: 500 },
        ],
        workloads: users(30),
        held: { images: images(40, 0.25, 0.8), leftover: 414 },
      },
      { nodegroups: [{ nodegroupName: 'workers', amiType: 'BOTTLEROCKET_x86_64', diskSize: 500 }] },
    ),
    cause: [held('not-images')],
    owner: 'platform',
    steps: ['replace'],
    words: [/not .*images|snapshot/i],
    notCauses: ['imageGCHighThresholdPercent', 'images-unused', 'images-in-use'],
    never: [imageGc],
  },
  {
    name: 'orphaned-writable-snapshots',
    thread: 'https://github.com/containerd/containerd/issues/13416',
    found:
      'containerd 2.1.6: writable snapshots of deleted containers stay on the disk and in the database, about 1 GiB each; no tool of containerd finds or deletes them.',
    world: nodeOf({
      runtimeVersion: '2.1.6',
      disk: { gib: 100, usedGib: 93 },
      diskPressure: true,
      workloads: users(12),
      held: { images: images(14, 0.3, 1), leftover: 61 },
    }),
    cause: [held('leftover-snapshots')],
    owner: 'platform',
    steps: ['replace'],
    words: [/snapshot/i],
    never: [imageGc],
  },
  {
    name: 'packed-layers',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/1359',
    found:
      'containerd keeps packed and unpacked layers, so images of random data take twice their size of the root volume; discard_unpacked_layers = true halves it.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 74 },
      containerd: { discardUnpackedLayers: false },
      workloads: users(10),
      held: { images: images(10, 3.1, 3.3), content: 31 },
    }),
    cause: [held('image-content')],
    owner: 'platform',
    steps: ['set'],
    words: [/discard_unpacked_layers/],
  },
  {
    name: 'dead-containers',
    thread: 'https://github.com/kubernetes/kubernetes/issues/45558',
    found:
      'ImageGCFailed on a node whose overlay folder has about 150 stopped containers, a couple of them with 7 GiB each: they hold the disk and their images.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92 },
      diskPressure: true,
      configuration: { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } },
      workloads: users(8),
      held: {
        images: images(8, 0.6, 2),
        dead: { gib: 66, containers: 150, owner: 'Deployment app-0' },
      },
    }),
    cause: [held('dead-containers')],
    owner: 'apps/Deployment app-0',
    steps: ['free', 'ask-owner', 'set'],
    words: [/dead|exited|stopped/i],
    notCauses: ['images-unused'],
    never: [/prune-images/],
  },
  {
    name: 'another-snapshotter',
    thread: 'https://github.com/containerd/stargz-snapshotter/issues/1349',
    found:
      'EKS nodes of 16 days: 34 GB in /var/lib/containerd-stargz-grpc/snapshotter/snapshots, and ctr lists no snapshot of it.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 52 },
      workloads: users(8),
      held: { images: images(8, 0.4, 1.1), folders: { '/var/lib/containerd-stargz-grpc': 34 } },
    }),
    cause: [held('unknown-folder', '/var/lib/containerd-stargz-grpc'), held('other-runtime')],
    owner: 'platform',
    steps: ['read-more', 'free', 'replace', 'ask-owner'],
    words: [/containerd-stargz-grpc/],
    never: [imageGc],
  },
]
