/** Threads on which an audit said less than its data showed, or more. What is expected was written from the thread; each case failed before it was mended. */
import type { Incident } from '../incident.ts'
import { flaps, held, imageGc, images, nodeOf, setting, users } from '../short-forms.ts'
import type { NodeWorld } from '../world.ts'

/** A node of AKS, with the disk that was asked for. */
const ofAks = {
  ...{ family: 'Ubuntu', mode: 'proxy', osImage: 'Ubuntu 22.04.5 LTS', volumes: [] },
  ...{ version: '1.32.9', runtimeVersion: '1.7.27' },
  providerId:
    'azure:///subscriptions/5a1f/resourceGroups/mc_shop/providers/Microsoft.Compute/virtualMachineScaleSets/aks-pool-vmss/virtualMachines/0',
  configuration: {
    evictionHard: {
      ...{ 'memory.available': '100Mi', 'nodefs.available': '10%' },
      ...{ 'nodefs.inodesFree': '5%', 'pid.available': '2000' },
    },
  },
} satisfies Partial<NodeWorld>

const ofK3s = {
  ...{ family: 'Ubuntu', mode: 'proxy', osImage: 'Ubuntu 20.04.6 LTS', volumes: [] },
  ...{ version: '1.32.9', runtimeVersion: '2.0.5-k3s1', providerId: 'k3s://edge-0' },
  configuration: { evictionHard: { 'imagefs.available': '5%', 'nodefs.available': '5%' } },
} satisfies Partial<NodeWorld>

const lowOnDisk = (threshold: number, available: string) =>
  `The node was low on resource: ephemeral-storage. Threshold quantity: ${threshold}, available: ${available}. `

export const lookedAtTwiceIncidents: Incident[] = [
  {
    name: 'zombies-of-exec-probes',
    thread: 'https://github.com/k3s-io/k3s/issues/5675',
    found:
      'Exec probes under a PID 1 that reaps nothing leave tens of thousands of zombies; then fork fails on the node. No program of the host has them: the end of that pod ends them.',
    world: nodeOf({
      ...ofK3s,
      ...{ disk: { gib: 60, usedGib: 19 }, pids: { max: 32_768, used: 32_611 } },
      workloads: [
        ...users(7, { processes: 24 }),
        { namespace: 'data', owner: 'StatefulSet keydb', processes: 9 },
      ],
      held: { images: images(7, 0.5, 1.5) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/zombies/, /stat=/, /delete\s+that\s+pod/, /if\s+no\s+pod\s+has\s+them/],
    notCauses: ['images-in-use', 'images-unused'],
    never: [/most\s+processes\s+are/],
  },
  {
    name: 'reserve-below-images-and-system',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/1126',
    found:
      'Allocatable ephemeral-storage promises more than the disk has beside operating system and images: pods that keep within their requests bring the node under DiskPressure again and again.',
    world: nodeOf({
      ...{ disk: { gib: 19.988, usedGib: 14.95 }, volumes: [{ device: '/dev/xvda', gib: 20 }] },
      ...{ diskPressure: true, events: flaps(4, 600) },
      workloads: [
        {
          ...{ namespace: 'etl', owner: 'StatefulSet sorter', pods: 3, emptyDirGib: 3.58 },
          requests: { 'ephemeral-storage': '4Gi' },
        },
        {
          ...{ namespace: 'etl', owner: 'StatefulSet sorter', before: 3 },
          requests: { 'ephemeral-storage': '4Gi' },
          evicted: lowOnDisk(2_146_223_340, '1560412Ki'),
        },
      ],
      held: { images: images(1, 0.3, 0.9), journal: 0.2 },
    }),
    cause: [setting('systemReserved.ephemeral-storage')],
    owner: 'platform',
    steps: ['set'],
    words: [/no\s+more\s+than\s+it\s+requests/, /systemReserved\.ephemeral-storage 3Gi/],
    notCauses: ['pod-volumes'],
    never: [/sizeLimit/, imageGc],
  },
  {
    name: 'last-attempt-of-a-pod-that-runs',
    thread: 'https://github.com/kubernetes/kubernetes/issues/115201',
    found:
      'A dead container of a running pod holds 10 GB, which the kubelet counts for no pod: it evicts another. Deletion of the pod with the dead container frees them.',
    world: nodeOf({
      ...{ disk: { gib: 30, usedGib: 27.4 }, diskPressure: true, pressureMinutes: 26 },
      workloads: [
        ...users(5),
        { namespace: 'default', owner: 'Deployment gc-test-b', image: 'gc-test-b:1' },
        {
          ...{ namespace: 'default', owner: 'Deployment gc-test-a', image: 'gc-test-a:1' },
          evicted: `${lowOnDisk(3_221_225_472, '2411724Ki')}Container gc-test-a was using 5242904Ki, request is 0, has larger consumption of ephemeral-storage. `,
        },
      ],
      held: {
        images: images(5, 0.7, 2.2),
        dead: { gib: 10.2, containers: 1, owner: 'Deployment gc-test-b' },
      },
    }),
    cause: [held('dead-containers')],
    owner: 'default/Deployment gc-test-b',
    steps: ['free'],
    words: [/running or not/, /crictl ps -a -s Exited/, /delete pod -n default gc-test-b-/],
    notCauses: ['images-unused'],
    never: [/kubectl exec/, /gc-test-a/],
  },
  {
    name: 'logs-on-a-partition-of-their-own',
    thread: 'https://github.com/microsoft/azure_arc/issues/2515',
    found:
      '/var/log is a partition of 1 GB, which the logs of 20 pods fill: "mkdir /var/log/pods/…: no space left on device". The disks that the kubelet reports have room.',
    world: nodeOf({
      ...ofK3s,
      disk: { gib: 29.4, usedGib: 9.6 },
      workloads: [
        ...users(21, { logsGib: 0.0455 }),
        {
          ...{ namespace: 'iot', owner: 'StatefulSet broker', waiting: 'ContainerCreating' },
          events: [
            {
              ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', count: 61 },
              message:
                'Failed to create pod sandbox: mkdir /var/log/pods/iot_broker-0_6f0c2b51-11aa-4f7e-9a7c-000000000001: no space left on device',
              ...{ firstMinutesAgo: 64, lastMinutesAgo: 1 },
            },
          ],
        },
      ],
      held: { images: images(8, 0.12, 0.4) },
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/df -h \/var\/log\/pods/, /97\d(?:\.\d)? MiB/],
    notCauses: ['images-in-use', 'images-unused', 'container-logs'],
    never: [/inotify/, /every disk has/, /No disk is full/, imageGc],
  },
  {
    name: 'files-of-the-cloud-agent',
    thread: 'https://github.com/Azure/WALinuxAgent/issues/2619',
    found:
      '1.5 million small files of the agent of Azure below /var/lib/waagent/history take all inodes of an AKS node. 44 % of its bytes are used. No pod has the files.',
    world: nodeOf({
      ...ofAks,
      disk: { gib: 28.9, usedGib: 12.1, inodes: { all: 1_966_080, free: 214 } },
      ...{ snapshotInodes: 171_400, diskPressure: true, pressureMinutes: 95 },
      workloads: [
        ...users(6),
        {
          ...{ namespace: 'shop', owner: 'Deployment cart' },
          evicted:
            'The node was low on resource: inodes. Threshold quantity: 96Ki, available: 214. ',
        },
      ],
      held: { images: images(6, 0.45, 1.3) },
    }),
    cause: [{ kind: 'unread' }],
    owner: 'platform',
    steps: ['read-more'],
    // A pull would fail on this node.
    words: [/az vmss run-command invoke .*du --inodes/],
    notCauses: ['images', 'images-in-use'],
    never: [/busybox/, /highwater audit/, imageGc],
  },
]
