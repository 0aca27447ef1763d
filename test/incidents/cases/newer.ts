/** Threads of caches, checkpoints, daemons and builds. Cause, owner, step and words were written from the thread, before the first run. */
import type { Incident } from '../incident.ts'
import {
  evictionOf,
  flaps,
  held,
  imageGc,
  images,
  nearMiss,
  nodeOf,
  setting,
  users,
} from '../short-forms.ts'

export const newerIncidents: Incident[] = [
  {
    name: 'checkpoints-of-deleted-pods',
    thread: 'https://github.com/ctrox/zeropod/issues/137',
    found:
      'Spot instances with many JVM pods: zeropod keeps a checkpoint of each container in /var/lib/zeropod and does not delete it with its pod. They fill the node until DiskPressure.',
    world: nodeOf({
      disk: { gib: 80, usedGib: 73.5 },
      diskPressure: true,
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'zeropod-system', owner: 'DaemonSet zeropod-node' },
          hostPath: '/var/lib/zeropod',
        },
      ],
      held: { images: images(9, 0.8, 2.4), folders: { '/var/lib/zeropod': 44 } },
    }),
    cause: [held('host-path', '/var/lib/zeropod')],
    owner: 'zeropod-system/DaemonSet zeropod-node',
    steps: ['ask-owner', 'free'],
    words: [/\/var\/lib\/zeropod/, /44(?:\.0)? GiB/, /zeropod-node/],
    never: [imageGc],
  },
  {
    name: 'binaries-of-earlier-releases',
    thread: 'https://github.com/rancher/rke2/issues/8493',
    found:
      'Each upgrade of the distribution leaves about 315 MB in /var/lib/rancher/rke2/data: more than 7 GB. The newest folder is in use.',
    world: nodeOf({
      disk: { gib: 20, usedGib: 18.3 },
      diskPressure: true,
      workloads: users(4),
      held: { images: images(4, 0.5, 1.5), folders: { '/var/lib/rancher/rke2/data': 7.2 } },
    }),
    cause: [held('unknown-folder', '/var/lib/rancher/rke2/data')],
    owner: 'platform',
    steps: ['free', 'read-more'],
    words: [/\/var\/lib\/rancher\/rke2\/data/, /7\.2 GiB/],
    never: [imageGc, /rm -rf \/var\/lib\/rancher\/rke2\/data/],
  },
  {
    name: 'build-daemon-on-nodes-that-stay',
    thread: 'https://github.com/2i2c-org/infrastructure/issues/6499',
    found:
      'Builds fail. A second dockerd keeps its build cache in a hostPath of the root disk of 28.9 GB. The node pool never scales to zero, so nothing clears it; pods are evicted from time to time.',
    world: nodeOf({
      disk: { gib: 28.9, usedGib: 26.6 },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'binder', owner: 'DaemonSet binderhub-docker-api' },
          hostPath: '/var/lib/binder/docker-api',
        },
      ],
      held: { images: images(4, 0.7, 2), folders: { '/var/lib/binder/docker-api': 13.2 } },
      events: flaps(4, 2880),
    }),
    cause: [held('host-path', '/var/lib/binder/docker-api')],
    owner: 'binder/DaemonSet binderhub-docker-api',
    steps: ['ask-owner', 'free'],
    words: [/docker-api/, /13\.2 GiB/],
    never: [imageGc],
  },
  {
    name: 'large-cache-on-a-larger-array',
    thread: 'https://github.com/marin-community/marin/issues/8280',
    found:
      'A hostPath for the caches of all tasks holds 743 GB after ten days and nothing reclaims it; another cache holds 1.4 TB. The array has 14 TB, of which 2.6 TB are used; the threshold is 5 %.',
    world: nodeOf({
      disk: { gib: 14_000, usedGib: 2600 },
      configuration: {
        evictionHard: {
          ...{ 'memory.available': '100Mi', 'nodefs.available': '5%', 'imagefs.available': '5%' },
          'nodefs.inodesFree': '5%',
        },
      },
      workloads: [
        ...users(6),
        { namespace: 'iris', owner: 'Job train-1', hostPath: '/mnt/local/iris-cache' },
      ],
      held: {
        images: images(20, 6, 15),
        folders: { '/mnt/local/iris-cache': 743, '/mnt/local/lota_cache': 1400 },
      },
    }),
    ...nearMiss,
    notCauses: ['host-path', 'unknown-folder', 'images-unused', 'images-in-use'],
  },
  {
    name: 'cache-at-the-path-of-the-container',
    thread: 'https://github.com/marin-community/marin/pull/3748',
    found:
      'Tasks mount a hostPath at the same path as in their container, /uv/cache, so the caches go to the root disk and not to the NVMe array: disk pressure.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92.4 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'iris', owner: 'Job tasks', pods: 3, hostPath: '/uv/cache' },
      ],
      held: { images: images(6, 2, 5.5), folders: { '/uv/cache': 51 } },
    }),
    cause: [held('host-path', '/uv/cache')],
    owner: 'iris/Job tasks',
    steps: ['ask-owner', 'free'],
    words: [/\/uv\/cache/, /51(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'image-gc-at-95-percent',
    thread: 'https://github.com/open-edge-platform/geti_v2/issues/848',
    found:
      'A disk of 400 GB has the images of three releases, 200 GB. Image GC starts when 20 GB are free; pods are evicted at more than 80 % long before, and the upgrade fails.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 400, usedGib: 342 },
      diskPressure: true,
      configuration: { imageGCHighThresholdPercent: 95, imageGCLowThresholdPercent: 90 },
      workloads: [
        ...users(22),
        { namespace: 'geti', owner: 'StatefulSet store', claim: 'data', emptyDirGib: 40 },
      ],
      held: { images: images(66, 1.2, 3.4), unexplained: 60 },
    }),
    cause: [
      setting('imageGCHighThresholdPercent'),
      held('images-unused'),
      held('images'),
      setting('evictionHard'),
    ],
    owner: 'platform',
    steps: ['set', 'free', 'read-more'],
    words: [/imageGCHighThresholdPercent/, /95/],
    never: [/containerLogMax/],
  },
  {
    name: 'notebook-image-larger-than-the-nodes',
    thread: 'https://github.com/jupyterhub/zero-to-jupyterhub-k8s/issues/1460',
    found:
      'A pre-puller pulls a large notebook image to two small nodes. The hub is evicted with 968Ki: "The node was low on resource: ephemeral-storage".',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 20, usedGib: 18.2 },
      diskPressure: true,
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'jhub', owner: 'DaemonSet hook-image-puller' },
          image: '111122223333.dkr.ecr.us-east-1.amazonaws.com/app-3:1',
        },
        {
          ...{ namespace: 'jhub', owner: 'Deployment hub' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container hub was using 968Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: [...images(3, 0.3, 0.8), ...images(4, 4.2, 11.8).slice(3)] },
    }),
    cause: [held('images-in-use'), held('images'), { kind: 'device' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger volume/],
    never: [/crictl rmi/],
  },
  {
    name: 'thousands-of-failed-pods-of-one-deployment',
    thread: 'https://github.com/akash-network/support/issues/275',
    found:
      'A deployment exceeds its own limit of ephemeral storage again and again and leaves thousands of failed pods. The node has room.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 500, usedGib: 140 },
      workloads: [
        ...users(8),
        {
          ...{ namespace: 'lease-1', owner: 'Deployment web', layerGib: 4.1 },
          requests: { 'ephemeral-storage': '5Gi' },
          limits: { 'ephemeral-storage': '5Gi' },
        },
        {
          ...{ namespace: 'lease-1', owner: 'Deployment web', pods: 60 },
          evicted: 'Pod ephemeral local storage usage exceeds the total limit of containers 5Gi. ',
        },
      ],
      held: { images: images(20, 1.5, 4.5) },
    }),
    cause: [held('writable-layers'), setting('resources.limits.ephemeral-storage')],
    owner: 'lease-1/Deployment web',
    steps: ['ask-owner', 'set'],
    words: [/lease-1|web/, /5(?:\.0)? ?Gi/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/prune-images|drain|larger volume/],
  },
  {
    name: 'fetches-that-are-killed',
    thread: 'https://github.com/argoproj/argo-cd/issues/18831',
    found:
      'Each git fetch is killed after 90 s and leaves a temporary pack. After 423 times one clone in the emptyDir of the repo server has 26.65 GiB. No sizeLimit, no request, no limit.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 50, usedGib: 45.4 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'argocd', owner: 'Deployment argocd-repo-server', emptyDirGib: 26.65 },
      ],
      held: { images: images(5, 0.8, 2.4) },
    }),
    cause: [held('pod-volumes')],
    owner: 'argocd/Deployment argocd-repo-server',
    steps: ['ask-owner', 'free'],
    words: [/argocd-repo-server/, /26\.\d+ GiB/, /sizeLimit|ephemeral-storage/],
    never: [imageGc],
  },
  {
    name: 'charts-on-a-kubelet-disk-of-5-gb',
    thread: 'https://github.com/argoproj/argo-cd/issues/9665',
    found:
      'The repo server pulls the same chart several times a second into its /tmp: a partition of 5 GB for /var/lib/kubelet is full in less than two minutes. The same happens on the next node.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 5, usedGib: 4.7, mount: '/var/lib/kubelet' },
      imageDisk: { gib: 60, usedGib: 17 },
      diskPressure: true,
      workloads: [
        ...users(4),
        { namespace: 'argocd', owner: 'Deployment argocd-repo-server', emptyDirGib: 4.2 },
        {
          ...{ namespace: 'argocd', owner: 'Deployment argocd-repo-server-2', pods: 3 },
          evicted:
            'The node was low on resource: ephemeral-storage. Container argocd-repo-server was using 4403200Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(6, 0.9, 2.6) },
    }),
    cause: [held('pod-volumes')],
    owner: 'argocd/Deployment argocd-repo-server',
    steps: ['ask-owner', 'free'],
    words: [/argocd-repo-server/, /4\.2 GiB/],
    notCauses: ['images-in-use', 'images-unused', 'images'],
    never: [imageGc],
  },
  {
    name: 'rejected-configurations-of-an-ingress',
    thread: 'https://github.com/deckhouse/deckhouse/issues/6868',
    found:
      'df: 50G, 48G used, 0 available. The emptyDir tmp-nginx of one pod has 42 GB: a file of 11 MB for each configuration that did not pass its test.',
    world: nodeOf({
      disk: { gib: 49, usedGib: 48.6 },
      diskPressure: true,
      workloads: [
        ...users(2),
        {
          ...{ namespace: 'd8-ingress-nginx', owner: 'DaemonSet controller-main' },
          ...{ container: 'controller', emptyDirGib: 41.6 },
        },
      ],
      held: { images: images(2, 0.4, 1.2) },
    }),
    cause: [held('pod-volumes')],
    owner: 'd8-ingress-nginx/DaemonSet controller-main',
    steps: ['ask-owner', 'free'],
    words: [/controller-main/, /41\.6 GiB/, /restart Pod d8-ingress-nginx\/controller-main/],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'logs-of-kube-proxy',
    thread: 'https://github.com/aws/containers-roadmap/issues/2519',
    found:
      'EKS: with topology aware routing the kube-proxy of the add-on writes a message for each service at its fixed verbosity of 2. Its logs bring the node under disk pressure.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 20, usedGib: 18.4 },
      diskPressure: true,
      workloads: [
        ...users(3),
        { namespace: 'kube-system', owner: 'DaemonSet kube-proxy', logsGib: 8.4 },
      ],
      held: { images: images(4, 0.6, 1.6) },
    }),
    cause: [held('container-logs')],
    owner: 'kube-system/DaemonSet kube-proxy',
    steps: ['free', 'ask-owner', 'set'],
    words: [/kube-proxy/, /8\.4 GiB/],
    never: [imageGc],
  },
  {
    name: 'checkpoints-of-containers',
    thread: 'https://github.com/kubernetes/kubernetes/pull/115888',
    found:
      'The kubelet writes the checkpoints of containers to /var/lib/kubelet/checkpoints and never deletes one: a large number fills the disk.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 55.2 },
      diskPressure: true,
      workloads: users(5),
      held: {
        images: images(6, 0.8, 2.4),
        listed: {
          ...{ holder: 'kubelet', path: '/var/lib/kubelet/checkpoints', gib: 34, inodes: 40 },
        },
      },
    }),
    cause: [held('kubelet', '/var/lib/kubelet/checkpoints')],
    owner: 'platform',
    steps: ['free'],
    words: [/\/var\/lib\/kubelet\/checkpoints/, /34(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'spilled-objects-of-a-cluster',
    thread: 'https://github.com/ray-project/ray/issues/24292',
    found:
      'Ray spills objects to the disk of its pod until the node has none left. The pod goes away without a word, and the autoscaler replaces it.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 100, usedGib: 91 },
      diskPressure: true,
      workloads: [
        ...users(2),
        { namespace: 'ray', owner: 'RayCluster etl', container: 'ray-worker', layerGib: 66 },
        {
          ...{ namespace: 'ray', owner: 'RayCluster etl', container: 'ray-worker' },
          evicted:
            'The node was low on resource: ephemeral-storage. Container ray-worker was using 71303168Ki, which exceeds its request of 0. ',
        },
      ],
      held: { images: images(4, 1.6, 4.8) },
    }),
    cause: [held('writable-layers')],
    owner: 'ray/RayCluster etl',
    steps: ['ask-owner', 'free'],
    words: [/etl/, /66(?:\.0)? GiB/, /68(?:\.0)? GiB/, /into\s+a\s+volume/],
    never: [imageGc],
  },
  {
    name: 'build-job-evicted-with-1-6-gib',
    thread: 'https://github.com/cloud-pi-native/socle/pull/532',
    found:
      '"Threshold quantity: 16023864137, available: 12671572Ki. Container build was using 1639680Ki, request is 0." The threshold is 15 % of 99.5 GiB; the build holds 1.6 GiB of 87.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 99.49, usedGib: 87.4 },
      diskPressure: true,
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: [
        ...users(9),
        {
          ...{ namespace: 'dso-gitlab', owner: 'Job runner-t1n3fbpd', container: 'build' },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 16023864137, available: 12671572Ki. Container build was using 1639680Ki, request is 0, has larger consumption of ephemeral-storage. ',
        },
      ],
      held: { images: images(28, 1, 2.9) },
    }),
    cause: [
      held('images-unused'),
      held('images'),
      setting('imageGCHighThresholdPercent'),
      setting('evictionHard'),
    ],
    owner: 'platform',
    steps: ['set', 'free', 'read-more'],
    notCauses: ['writable-layers'],
    never: [/containerLogMax/],
  },
  {
    name: 'unused-images-below-the-threshold',
    thread: 'https://github.com/kurokobo/awx-on-k3s/issues/270',
    found:
      'Images of execution environments fill 50 GB until somebody prunes them by hand. The disk is below 85 %, so image GC has not started: that is as designed.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 120, usedGib: 84 },
      workloads: users(5),
      held: { images: images(22, 1.2, 3.4) },
    }),
    ...nearMiss,
    notCauses: ['images-unused', 'images'],
  },
  {
    name: 'snapshots-of-images-that-were-pruned',
    thread: 'https://github.com/k3s-io/k3s/issues/1905',
    found:
      'After crictl rmi --prune the folder of the snapshots still has 19 GB, with 27 images of which the largest has 80 MB. Few pods run.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 30, usedGib: 27.4 },
      diskPressure: true,
      workloads: users(3),
      held: { images: images(27, 0.05, 0.12), deletedImages: 18 },
    }),
    cause: [held('not-images')],
    owner: 'platform',
    steps: ['replace', 'read-more'],
    words: [/other than images/],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'layers-of-pruned-images-on-the-node',
    thread: 'https://github.com/k3s-io/k3s/issues/1905',
    found: 'The same node, measured: layers that no image of the list and no container has.',
    world: nodeOf({
      disk: { gib: 30, usedGib: 27.4 },
      diskPressure: true,
      workloads: users(3),
      held: { images: images(27, 0.05, 0.12), deletedImages: 18 },
    }),
    cause: [held('leftover-snapshots')],
    owner: 'platform',
    steps: ['replace', 'read-more'],
    words: [/leftover snapshots/, /replace/],
    notCauses: ['images-unused'],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'replicas-under-a-mount-point',
    thread: 'https://github.com/kubernetes/kubernetes/issues/71869',
    found:
      'Image GC wants 4305076224 bytes and frees 0. The disk was once full of replicas in /var/lib/longhorn; later another disk was mounted there, and the old data stays below the mount point, where df and du of the folder do not show it.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 89.5 },
      workloads: users(6),
      held: { images: images(6, 0.9, 2.6), unexplained: 62 },
    }),
    cause: [held('not-explained')],
    owner: 'platform',
    steps: ['read-more'],
    words: [/under mount points/, /62(?:\.0)? GiB/],
    never: [imageGc, /larger volume/],
  },
  {
    name: 'slab-of-a-kernel',
    thread: 'https://github.com/IBM/deploy-ibm-cloud-private/issues/181',
    found:
      'Idle nodes become inactive after some days: slab objects of the kernel hold 125 of 128 GB of memory. No pod uses much; the disk is fine.',
    world: nodeOf({
      disk: { gib: 200, usedGib: 60 },
      ...{ memoryGib: 128, availableMemoryGib: 0.08, memoryPressure: true },
      workloads: users(10),
      held: { images: images(10, 1, 3) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more', 'replace'],
    words: [/memory/],
    notCauses: ['images-in-use', 'images-unused', 'writable-layers', 'pod-volumes'],
    never: [/larger volume|volumeSize|prune-images|apps\/app-\d requests/],
  },
]
