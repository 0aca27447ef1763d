/** What pods hold: writable layers, emptyDir volumes, logs, deleted files, processes. */
import type { Incident } from '../incident.ts'
import { evictionOf, held, imageGc, images, nodeOf, setting, users } from '../short-forms.ts'

export const podIncidents: Incident[] = [
  {
    name: 'writable-layers-of-jobs',
    thread: 'https://github.com/METR/hawk/issues/1628',
    found:
      '91 evictions by imagefs on nodes of 200 GB: eight Jobs write 11 GiB each into their writable layers, without a request or limit of ephemeral-storage. Requests ended it.',
    world: nodeOf({
      disk: { gib: 200, usedGib: 172 },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      workloads: [
        ...users(6),
        { namespace: 'inspect', owner: 'Job runner', pods: 8, layerGib: 11 },
      ],
      held: { images: images(6, 3, 9) },
    }),
    cause: [held('writable-layers')],
    owner: 'inspect/Job runner',
    steps: ['ask-owner', 'set'],
    words: [/ephemeral-storage/, /runner/],
    never: [imageGc],
  },
  {
    name: 'docker-in-docker',
    thread: 'https://github.com/artifact-keeper/artifact-keeper-iac/pull/167',
    found:
      'dockerd with vfs in runner pods copies each layer into the writable layer of its container on a root disk of 70 GB: DiskPressure evicts other pods. A volume for /var/lib/docker ended it.',
    world: nodeOf({
      disk: { gib: 70, usedGib: 64 },
      diskPressure: true,
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'arc-runners', owner: 'StatefulSet ak-ci-runners', pods: 4 },
          ...{ container: 'dind', layerGib: 11 },
        },
      ],
      held: { images: images(4, 0.8, 2.5) },
    }),
    cause: [held('writable-layers')],
    owner: 'arc-runners/StatefulSet ak-ci-runners',
    steps: ['ask-owner', 'set'],
    words: [/ak-ci-runners/],
    never: [imageGc],
  },
  {
    name: 'empty-dir',
    thread: 'https://github.com/kestra-io/helm-charts/issues/227',
    found:
      'Pods of a worker are evicted from nodes of 120 GB: an emptyDir without sizeLimit for docker-in-docker, and no request or limit of ephemeral-storage.',
    world: nodeOf({
      disk: { gib: 120, usedGib: 111 },
      diskPressure: true,
      workloads: [
        ...users(5),
        { namespace: 'kestra', owner: 'Deployment kestra-worker', pods: 2, emptyDirGib: 40 },
      ],
      held: { images: images(5, 0.8, 2.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'kestra/Deployment kestra-worker',
    steps: ['ask-owner', 'set'],
    words: [/kestra-worker/, /sizeLimit|ephemeral-storage/],
    never: [imageGc],
  },
  {
    name: 'empty-dir-of-api',
    thread: 'https://github.com/kubernetes/kubernetes/issues/106606',
    found:
      'One pod writes much more into its emptyDir than its neighbours log; the kubelet evicts the neighbours first. Only the API can be read.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 100, usedGib: 92 }, diskPressure: true },
      workloads: [
        ...users(5, { logsGib: 0.3 }),
        { namespace: 'data', owner: 'Deployment sorter', emptyDirGib: 70 },
      ],
      held: { images: images(5, 0.8, 2.5) },
    }),
    cause: [held('pod-volumes')],
    owner: 'data/Deployment sorter',
    steps: ['ask-owner', 'set'],
    words: [/sorter/],
    never: [imageGc],
  },
  {
    name: 'logs-faster-than-rotation',
    thread: 'https://github.com/kubernetes/kubernetes/issues/110630',
    found:
      'A StatefulSet logs 6 MB/s; containerLogMaxSize is 50Mi with 5 files, and the kubelet lets its log grow to tens of GB before it rotates.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 91 },
      diskPressure: true,
      configuration: { containerLogMaxSize: '50Mi', containerLogMaxFiles: 5 },
      workloads: [
        ...users(6),
        { namespace: 'stream', owner: 'StatefulSet broker', pods: 2, logsGib: 34 },
      ],
      held: { images: images(6, 0.8, 2.5) },
    }),
    cause: [held('container-logs')],
    owner: 'stream/StatefulSet broker',
    steps: ['ask-owner', 'set', 'free'],
    words: [/broker/, /log/i],
    never: [imageGc, /containerLogMaxSize[^\n]{0,40}(?:[1-9]\d{2,}Mi|\dGi)/],
  },
  {
    name: 'logs-of-one-pod',
    thread: 'https://neilcameronwhite.medium.com/under-disk-pressure-34b5ba4284b6',
    found:
      'One small pod that prints without end fills the root disk with its log; the node evicts all of its pods.',
    world: nodeOf({
      mode: 'proxy',
      disk: { gib: 50, usedGib: 46 },
      diskPressure: true,
      workloads: [...users(4), { namespace: 'demo', owner: 'Deployment chatter', logsGib: 28 }],
      held: { images: images(4, 0.8, 2.5) },
    }),
    cause: [held('container-logs')],
    owner: 'demo/Deployment chatter',
    steps: ['ask-owner', 'set', 'free'],
    words: [/chatter/],
    never: [imageGc],
  },
  {
    name: 'deleted-open-files',
    thread: 'https://github.com/kubernetes/kubernetes/issues/83107',
    found:
      'A pod deletes large files and keeps them open: no statistic of a pod counts them, the kubelet evicts other pods, and only lsof +L1 on the node shows them.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 92 },
      diskPressure: true,
      workloads: [...users(6), { namespace: 'ingest', owner: 'Deployment spooler' }],
      held: {
        images: images(6, 0.8, 2.5),
        deletedOpen: { ...{ gib: 62, files: 4, process: 'spooler' }, owner: 'Deployment spooler' },
      },
    }),
    cause: [held('deleted-open-files')],
    owner: 'ingest/Deployment spooler',
    steps: ['free', 'ask-owner'],
    words: [/deleted/i, /spooler/],
    never: [imageGc],
  },
  {
    name: 'process-ids',
    thread: 'https://github.com/Azure/AKS/issues/2276',
    found:
      'A pod starts threads without end: the kubelet and containerd cannot start one, the node becomes NotReady. podPidsLimit was not set.',
    world: nodeOf({
      disk: { gib: 100, usedGib: 40 },
      pids: { max: 32_768, used: 32_300 },
      workloads: [...users(5), { namespace: 'lab', owner: 'Deployment python', processes: 31_000 }],
      held: { images: images(5, 0.8, 2.5) },
    }),
    cause: [setting('podPidsLimit'), setting('evictionHard')],
    owner: 'platform',
    steps: ['set', 'ask-owner'],
    words: [/podPidsLimit|pid\.available/],
  },
  {
    name: 'memory-threshold',
    thread: 'https://github.com/JiRaska/open-bank-oss/pull/820',
    found:
      'EKS nodes hang: memory.available<100Mi is too late, so the node reclaims memory until kubelet and agent starve. 300Mi with a soft threshold ended it.',
    world: nodeOf({
      disk: { gib: 60, usedGib: 22 },
      availableMemoryGib: 0.14,
      workloads: [
        ...users(4),
        { namespace: 'ci', owner: 'StatefulSet gradle-runner', memoryGib: 24 },
      ],
      held: { images: images(4, 0.8, 2.5) },
    }),
    cause: [setting('evictionHard'), setting('systemReserved'), setting('kubeReserved')],
    owner: 'platform',
    steps: ['set'],
    words: [/memory/],
    notCauses: ['images-unused', 'images-in-use'],
    never: [imageGc],
  },
]
