/** Work that did not fit twice, thresholds that wait, and disks on which others write. */
import type { Incident } from '../incident.ts'
import { held, imageGc, images, nearMiss, nodeOf, setting, users } from '../short-forms.ts'
import type { NodeWorld } from '../world.ts'

const lowOnDisk =
  'The node was low on resource: ephemeral-storage. Threshold quantity: 2146223308, available: 1893320Ki. Container main was using 2093320Ki, request is 0, has larger consumption of ephemeral-storage. '

const workflow = (id: string) => ({
  ...{ namespace: 'argo', owner: `Workflow artifact-big-${id}`, container: 'main' },
  image: 'python:3.7',
})

const agent = (id: string) => ({
  ...{ namespace: 'jenkins-agents', owner: `Bare bom-2-${id}`, container: 'maven' },
  image: 'jenkins/agent:1',
})

/** A threshold of 6Gi that waits for 10 minutes. */
const softOf6Gi = {
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1Gi' },
  evictionSoft: { 'imagefs.available': '6Gi' },
  evictionSoftGracePeriod: { 'imagefs.available': '10m' },
}

/** A DaemonSet that mounts /var/log, with one large file there. */
const fluentd = (log: { path: string; gib: number; minutesAgo: number }) =>
  nodeOf({
    disk: { gib: 120, usedGib: 105 },
    workloads: [
      ...users(3),
      { namespace: 'kube-system', owner: 'DaemonSet fluentd', hostPath: log.path },
    ],
    held: { images: images(3, 0.6, 1.8), folders: { [log.path]: log.gib }, writtenLogs: [log] },
  })

/** The second try of a backup; the first was evicted with so much. */
const backup = (firstGib: number) =>
  nodeOf({
    disk: { gib: 48.6, usedGib: 43.4 },
    workloads: [
      ...users(3),
      {
        ...{ namespace: 'databases', owner: 'Job logical-backup', container: 'backup' },
        evicted: `The node was low on resource: ephemeral-storage. Threshold quantity: 5218238259, available: 4893320Ki. Container backup was using ${Math.round(firstGib * 1_048_576)}Ki, request is 0, has larger consumption of ephemeral-storage. `,
      },
      {
        ...{ namespace: 'databases', owner: 'Job logical-backup', container: 'backup' },
        ...{ before: 1, layerGib: 16.9, ageMinutes: 14 },
      },
    ],
    held: { images: images(3, 0.6, 1.8) },
  })

/** Data of the cluster's own logging in emptyDirs. */
const logging = (isCritical: boolean) => {
  const critical = isCritical ? { isCritical: true as const } : {}
  const pod = { namespace: 'kube-system', ...critical }
  return nodeOf({
    disk: { gib: 30, usedGib: 29 },
    diskPressure: true,
    workloads: [
      { ...pod, owner: 'StatefulSet elasticsearch-logging', emptyDirGib: 16.2 },
      { ...pod, owner: 'Deployment influxdb', emptyDirGib: 4.8 },
    ],
  })
}

/** Core dumps in the layer of a database, which started so long ago. */
const dumps = (ageMinutes: number) =>
  nodeOf({
    disk: { gib: 80, usedGib: 70.7 },
    workloads: [
      ...users(3),
      {
        ...{ namespace: 'databases', owner: 'StatefulSet acid-orders', container: 'postgres' },
        ...{ layerGib: 60.7, ageMinutes },
      },
    ],
  })

/** A claim of the evicted pod is a folder of the node. Null: it is a disk of its own. */
const uyuni = (folder: string | null) =>
  nodeOf(
    {
      ...{ mode: 'proxy', family: 'Ubuntu', providerId: '', volumes: [], pressureMinutes: 360 },
      ...{ disk: { gib: 200, usedGib: 182 }, diskPressure: true },
      configuration: {
        evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '5%' },
        evictionMinimumReclaim: { 'nodefs.available': '10%' },
      },
      workloads: [
        ...users(1),
        {
          ...{ namespace: 'default', owner: 'Deployment uyuni', claim: 'pgsql' },
          evicted: 'The node was low on resource: ephemeral-storage. ',
        },
      ],
      held: { images: images(1, 0.6, 1.8), unexplained: 150 },
    },
    {
      nodegroups: [],
      objects: {
        persistentvolumes: [
          {
            metadata: { name: 'pvc-1', uid: 'pvc-1', creationTimestamp: '2026-11-01T00:00:00Z' },
            spec: {
              claimRef: { namespace: 'default', name: 'pgsql', uid: 'c' },
              ...(folder === null
                ? { csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1' } }
                : { hostPath: { path: folder } }),
            },
            status: { phase: 'Bound' },
          },
        ],
        pods: [
          {
            metadata: { name: 'uyuni-6c8d9f7b5-4kx2m', namespace: 'default', uid: 'u' },
            spec: { containers: [{ name: 'uyuni' }] },
            status: {
              phase: 'Pending',
              conditions: [
                {
                  ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
                  message:
                    '0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }.',
                },
              ],
            },
          },
        ],
      },
    },
  )

/** The usual root of 20 GiB, with evicted pods of one name and no owner. */
const rootOf = ({
  usedGib,
  podGib = 0.07,
  imageDisk,
}: {
  usedGib: number
  podGib?: number
  imageDisk?: NodeWorld['imageDisk']
}) =>
  nodeOf({
    ...{ mode: 'proxy', nodegroup: 'workers', diskPressure: true },
    ...{ disk: { gib: 19.6, usedGib, device: '/dev/xvda1' }, imageDisk },
    workloads: [
      { namespace: 'etl', owner: 'Deployment store', emptyDirGib: podGib },
      ...['1', '2', '3'].map(id => ({
        ...{ namespace: 'etl', owner: `Bare spark-exec-${id}` },
        evicted: lowOnDisk,
      })),
    ],
    held: { images: images(2, 0.6, 1.8) },
  })

/** 27 builds of one image, of which pods use some. */
const frontend = (used: number) => {
  const builds = Array.from({ length: 27 }, (_, index) => `eu.gcr.io/acme/frontend:${index}`)
  return nodeOf({
    ...{ mode: 'proxy', family: 'Ubuntu', providerId: 'gce://acme/us-east1-b/pool-1', volumes: [] },
    disk: { gib: 100, usedGib: 41, inodes: { all: 6_291_456, free: 440_000 } },
    snapshotInodes: 5_500_000,
    workloads: builds
      .slice(0, used)
      .map((image, index) => ({ namespace: 'web', owner: `Deployment web-${index}`, image })),
    held: { images: builds.map(name => ({ name, packedGib: 0.8, unpackedGib: 1.4 })) },
  })
}

export const secondTryIncidents: readonly Incident[] = [
  {
    name: 'artifact-that-did-not-fit-twice',
    thread: 'https://github.com/argoproj/argo-workflows/issues/1742',
    found:
      'EKS, 20 GiB: a step unpacks an artifact of 6 GB, and is evicted for ephemeral-storage. Each try is a Workflow of its own. A larger volume ended it.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 17.4 } },
      workloads: [
        { ...workflow('x7k2m'), emptyDirGib: 6, layerGib: 1.9 },
        { ...workflow('p4m9z'), evicted: lowOnDisk },
        { ...workflow('k8d2v'), evicted: lowOnDisk },
      ],
      held: { images: images(2, 0.6, 1.8) },
    }),
    cause: [held('pod-volumes')],
    owner: 'argo/Workflow artifact-big-x7k2m',
    steps: ['resize'],
    words: [
      /2\s+pods\s+of\s+the\s+same\s+name\s+and\s+image/,
      /larger\s+disk/,
      /above\s+7\.9\s+GiB/,
    ],
    never: [imageGc, /sizeLimit/, /delete\s+Pod/],
  },
  {
    name: 'artifact-beside-evictions-of-other-work',
    thread: 'https://github.com/argoproj/argo-workflows/issues/1742#near-miss',
    found: 'Evictions of another work: nothing says that this one did not fit before.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 80, usedGib: 73 } },
      workloads: [
        { ...workflow('x7k2m'), emptyDirGib: 40, layerGib: 1.9 },
        { ...workflow('p4m9z'), image: 'python:3.9', evicted: lowOnDisk },
        { namespace: 'argo', owner: 'Workflow report-k8d2v', evicted: lowOnDisk },
      ],
      held: { images: images(2, 0.6, 1.8) },
    }),
    cause: [held('pod-volumes')],
    owner: 'argo/Workflow artifact-big-x7k2m',
    steps: ['ask-owner', 'free'],
    never: [imageGc, /same\s+name\s+and\s+image/, /same\s+job/],
  },
  {
    name: 'agents-on-twenty-gib',
    thread: 'https://github.com/jenkins-infra/helpdesk/issues/4317',
    found:
      'Agents of Jenkins fill a root volume of 20 GiB and are evicted. Each holds 2.5 GiB, of which the workspace is 1.7.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.6 }, diskPressure: true },
      workloads: [
        { ...agent('2e3b7'), emptyDirGib: 1.9, layerGib: 0.7 },
        ...['e1c30', '08243', 'a4990', 'e73d2'].map(id => ({
          ...agent(id),
          emptyDirGib: 1.7,
          layerGib: 0.8,
        })),
        ...['f303e', 'aa6a5'].map(id => ({ ...agent(id), evicted: lowOnDisk })),
      ],
      held: { images: images(2, 0.6, 1.8) },
    }),
    cause: [held('pod-volumes')],
    owner: 'jenkins-agents/Bare bom-2-2e3b7',
    steps: ['resize', 'ask-owner'],
    words: [/2\s+pods\s+of\s+the\s+same/, /larger\s+disk/, /above\s+2\.6\s+GiB/],
    never: [imageGc, /sizeLimit/, /above\s+1\.9/],
  },
  {
    name: 'soft-threshold-that-waits',
    thread: 'https://github.com/kubernetes/kubernetes/issues/51516',
    found:
      'kubeadm: evictionSoft imagefs.available 6Gi on 36 GB with image GC at 85 %: DiskPressure comes first, while many builds lie unused. Within its grace period nothing is evicted.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Ubuntu', providerId: '', volumes: [] },
      ...{ disk: { gib: 36, usedGib: 30.2 }, diskPressure: true, pressureMinutes: 4 },
      configuration: softOf6Gi,
      workloads: users(3),
      held: { images: images(20, 0.7, 1.3) },
    }),
    cause: [setting('imageGCHighThresholdPercent')],
    owner: 'platform',
    steps: ['free', 'set'],
    words: [
      /evictionSoft\.imagefs\.available\s+is\s+6Gi/,
      /acts\s+at\s+2026-11-21\s+06:06\s+UTC/,
      /unused\s+images\s+before\s+pods/,
      /crictl rmi --prune/,
      /under\s+pressure,\s+evicts\s+from\s+2026-11-21\s+06:06\s+UTC/,
    ],
    never: [/larger (?:disk|volume)/],
  },
  {
    name: 'soft-threshold-that-is-not-met',
    thread: 'https://github.com/kubernetes/kubernetes/issues/51516#near-miss',
    found: 'The same threshold with 12 GiB free: nothing waits.',
    world: nodeOf({
      ...{ mode: 'proxy', family: 'Ubuntu', providerId: '', volumes: [] },
      disk: { gib: 36, usedGib: 24 },
      configuration: softOf6Gi,
      workloads: users(3),
      held: { images: images(3, 0.7, 1.3) },
    }),
    ...nearMiss,
    never: [/acts\s+at/, /evicts now/],
  },
  {
    name: 'log-that-a-daemon-writes-on-the-host',
    thread: 'https://github.com/kubernetes/kubernetes/issues/43772',
    found:
      'kops on AWS: fluentd, a DaemonSet, writes /var/log/fluentd.log through its hostPath, 96 GB. truncate frees them; the file needs a rule of logrotate.',
    world: fluentd({ path: '/var/log/fluentd.log', gib: 89.8, minutesAgo: 0 }),
    cause: [held('host-path', '/var/log/fluentd.log')],
    owner: 'kube-system/DaemonSet fluentd',
    steps: ['free'],
    words: [/truncate\s+-s\s+0/, /\/etc\/logrotate\.d/, /DaemonSet\s+kube-system\/fluentd/],
    never: [imageGc],
  },
  {
    name: 'log-that-no-daemon-writes-now',
    thread: 'https://github.com/kubernetes/kubernetes/issues/43772#near-miss',
    found: 'Nothing has written the file for two days: its owner decides what is needed of it.',
    world: fluentd({ path: '/var/log/fluentd.log', gib: 89.8, minutesAgo: 2880 }),
    cause: [held('host-path', '/var/log/fluentd.log')],
    owner: 'kube-system/DaemonSet fluentd',
    steps: ['ask-owner'],
    never: [imageGc, /truncate/],
  },
  {
    name: 'claims-that-are-folders-of-the-disk',
    thread: 'https://github.com/SUSE/susemanager-ci/pull/1143',
    found:
      'k3s: / has 200 GB and is 94 % full; the claims of Uyuni are folders of local-path on it. The evicted pod waits for the taint, which a minimum reclaim of 10 % keeps.',
    world: uyuni('/var/lib/rancher/k3s/storage/pvc-1_default_pgsql'),
    cause: [setting('evictionMinimumReclaim')],
    owner: 'platform',
    steps: ['set'],
    words: [
      /under\s+DiskPressure,\s+8\.\d\s+GiB/,
      /\/var\/lib\/rancher\/k3s\/storage\s+\(claim\s+pgsql\s+of\s+Deployment\s+default\/uyuni\)/,
      /1\s+pod\s+waits\s+for\s+the\s+end\s+of\s+its\s+taint/,
    ],
    never: [imageGc, /to eviction/],
  },
  {
    name: 'claims-that-are-disks-of-their-own',
    thread: 'https://github.com/SUSE/susemanager-ci/pull/1143#near-miss',
    found: 'The same node, with claims on EBS volumes: they are not on its disk.',
    world: uyuni(null),
    cause: [setting('evictionMinimumReclaim')],
    owner: 'platform',
    steps: ['set'],
    never: [imageGc, /pgsql/],
  },
  {
    name: 'evictions-that-cannot-help',
    thread: 'https://github.com/kubernetes/kops/issues/429',
    found:
      'kops on AWS: pods and images are on an NVMe disk behind links, and the kubelet looks at the root of 20 GiB. Five pods are evicted, which frees nothing there.',
    world: rootOf({ usedGib: 18, imageDisk: { gib: 278.5, usedGib: 55, device: '/dev/nvme1n1' } }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [
      /evicting\s+every\s+pod\s+would\s+not\s+make\s+enough\s+room/,
      /images\s+are\s+on\s+another\s+disk,\s+of\s+278\.5\s+GiB/,
      /make\s+this\s+disk\s+larger/,
    ],
    never: [imageGc, /What\s+replaces\s+them/],
  },
  {
    name: 'evictions-that-help',
    thread: 'https://github.com/kubernetes/kops/issues/429#near-miss',
    found: 'Pods hold the same root: their eviction makes room.',
    world: rootOf({ usedGib: 18, podGib: 9 }),
    cause: [held('pod-volumes')],
    owner: 'etl/Deployment store',
    steps: ['free', 'ask-owner', 'resize'],
    never: [imageGc, /would\s+not\s+make\s+enough\s+room/, /another\s+disk/],
  },
  {
    name: 'files-of-old-builds',
    thread: 'https://github.com/kubernetes/kubernetes/issues/56573',
    found:
      'GKE: 27 builds of one image with 200,000 files each; inodes run out, while image GC looks at bytes. Deleting the unused images ends it.',
    world: frontend(1),
    cause: [held('images')],
    owner: 'platform',
    steps: ['free'],
    words: [
      /No\s+pod\s+uses\s+26\s+of\s+the\s+27\s+images/,
      /acme\/frontend/,
      /crictl rmi --prune/,
      /set\s+imageMaximumGCAge/,
    ],
    never: [/imageGCHighThresholdPercent/, /look\s+which\s+folders/],
  },
  {
    name: 'files-of-images-in-use',
    thread: 'https://github.com/kubernetes/kubernetes/issues/56573#near-miss',
    found: 'Pods use all of these images: to delete unused ones frees no file.',
    world: frontend(27),
    cause: [held('images'), held('images-in-use')],
    owner: 'platform',
    steps: ['resize', 'read-more'],
    never: [/No\s+pod\s+uses/, /rmi --prune/],
  },
  {
    name: 'second-try-of-a-backup-job',
    thread: 'https://github.com/zalando/postgres-operator/issues/2596',
    found:
      'A logical backup writes into the layer of its Job. The first try was evicted with 18.1 GiB; the second has 16.9 GiB after 14 minutes.',
    world: backup(18.1),
    cause: [held('writable-layers')],
    owner: 'databases/Job logical-backup',
    steps: ['ask-owner'],
    words: [
      /evicted\s+here\s+since\s+2026-11-\d\d\s+\S+\s+UTC,\s+with\s+up\s+to\s+18\.1\s+GiB/,
      /what\s+it\s+held\s+when\s+it\s+was\s+evicted\s+is\s+not\s+what\s+it\s+needs/,
      /template\s+of\s+a\s+Job\s+cannot\s+change/,
      /larger\s+(?:disk|volume)/,
      /du -h -a -x -d 3/,
    ],
    never: [/above\s+16\.9/, /still\s+holds/, /volumeSize\s+\d/],
  },
  {
    name: 'clones-that-fill-any-disk',
    thread: 'https://github.com/argoproj/argo-cd/issues/13691',
    found:
      'EKS, 100 GB: pods of the ApplicationSet controller are evicted again and again with 41 GB of Git clones in their emptyDir. Nothing collects them: git gc ended it, and a larger disk would only be full later.',
    world: nodeOf({
      ...{ disk: { gib: 100, usedGib: 90.6 }, diskPressure: true },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'argocd', owner: 'Deployment applicationset-controller', pods: 3 },
          evicted:
            'The node was low on resource: ephemeral-storage. Threshold quantity: 10736353484, available: 10192968Ki. Container applicationset-controller was using 42991616Ki, request is 0, has larger consumption of ephemeral-storage. ',
        },
        {
          ...{ namespace: 'argocd', owner: 'Deployment applicationset-controller', before: 3 },
          emptyDirGib: 41.2,
        },
      ],
      held: { images: images(3, 2.5, 7.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'argocd/Deployment applicationset-controller',
    steps: ['ask-owner'],
    words: [
      /3\s+pods\s+of\s+the\s+same\s+owner\s+were\s+evicted\s+here\s+since/,
      /find\s+what\s+Deployment\s+argocd\/applicationset-controller\s+writes/,
      /du -h -a -x -d 3/,
    ],
    never: [/volumeSize/, /does\s+not\s+fit/, /at\s+least\s+41/, /delete\s+pod\b/i],
  },
  {
    name: 'first-try-that-wrote-little',
    thread: 'https://github.com/zalando/postgres-operator/issues/2596#near-miss',
    found: 'The first pod of the Job was evicted with 0.5 GiB: another had filled the disk.',
    world: backup(0.5),
    cause: [held('writable-layers')],
    owner: 'databases/Job logical-backup',
    steps: ['ask-owner'],
    never: [/does\s+not\s+fit/],
  },
  {
    name: 'data-of-critical-pods',
    thread: 'https://github.com/kubernetes/kubernetes/issues/14274',
    found:
      'elasticsearch and influxdb keep their data in emptyDirs, and are critical: the kubelet evicts none of them.',
    world: logging(true),
    cause: [held('pod-volumes')],
    owner: 'kube-system/StatefulSet elasticsearch-logging',
    steps: ['free'],
    words: [
      /the\s+kubelet\s+can\s+evict\s+no\s+pod/,
      /influxdb\s+holds\s+4\.8\s+GiB\s+more/,
      /have\s+its\s+owner\s+delete\s+there/,
      /du -h -a -x -d 3/,
    ],
    never: [/sizeLimit/, /kubectl.* delete pod/],
  },
  {
    name: 'data-of-pods-that-are-evicted',
    thread: 'https://github.com/kubernetes/kubernetes/issues/14274#near-miss',
    found: 'The same pods without that priority: the kubelet evicts them.',
    world: logging(false),
    cause: [held('pod-volumes')],
    owner: 'kube-system/StatefulSet elasticsearch-logging',
    steps: ['ask-owner'],
    words: [/sizeLimit/],
    never: [/critical\s+pod/, /evict\s+no\s+pod/],
  },
  {
    name: 'core-dumps-in-a-layer',
    thread: 'https://github.com/zalando/spilo/issues/643',
    found:
      'A database writes core dumps into its layer: 60.7 GiB in 44 minutes, and 1.3 GiB are left.',
    world: dumps(44),
    cause: [held('writable-layers')],
    owner: 'databases/StatefulSet acid-orders',
    steps: ['ask-owner'],
    words: [/1\.4\s+GiB\s+a\s+minute:\s+at\s+that\s+rate/, /rootfs \| sort -z -h/],
    never: [/the kubelet says/],
  },
  {
    name: 'layer-of-many-days',
    thread: 'https://github.com/zalando/spilo/issues/643#near-miss',
    found: 'The same layer after a week: at that rate the rest lasts for hours.',
    world: dumps(10_080),
    cause: [held('writable-layers')],
    owner: 'databases/StatefulSet acid-orders',
    steps: ['ask-owner'],
    never: [/at\s+that\s+rate/],
  },
]
