/** A cluster that does not grant access to its kubelets (`nodes/proxy`): the nodes’ machines report the missing data, if SSM reaches them. */
import { inNodegroup, onPremises, selfManaged } from '#lab/nodes/placement.ts'
import {
  finishedPod,
  holding,
  ordinaryPods,
  type PodProfile,
  systemPods,
  workloadPods,
} from '#lab/nodes/pod-profile.ts'
import { GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { instanceIdOf, randomOf } from '#lab/nodes/random.ts'
import { withWorkloads } from '#lab/nodes/workloads.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import { probeTemplates } from './launch-templates.ts'
import {
  type AgentFault,
  type ExpectedRule,
  fixedNodes,
  type NodegroupScenario,
  type Scenario,
} from './scenario.ts'

interface ExpectedNode {
  profile: NodeProfile
  rules: readonly ExpectedRule[]
}

const cluster = 'probe'
const al2 = { family: 'AL2', version: '1.32.9', instanceType: 'm5.large' } as const
const al2023 = { family: 'AL2023', version: '1.32.9', instanceType: 'm6i.large' } as const
const calm = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }

type Unfinished = Omit<NodeProfile, 'pods' | 'nodefs' | 'agent'> & Partial<NodeProfile>

function expectedNode(unfinished: Unfinished, rules: readonly ExpectedRule[]): ExpectedNode {
  const { name } = unfinished
  const profile = {
    nodefs: {
      capacityBytes: 20 * GiB,
      usedPercent: 36 + Math.round(20 * randomOf(`disk/${name}`)()),
      imagesPercent: 31 + Math.round(50 * randomOf(`images/${name}`)()),
    },
    agent: {},
    ...unfinished,
  }
  const pods = withWorkloads(
    holding(ordinaryPods(name), 'cache', {
      emptyDirMiB: 90 + Math.round(1800 * randomOf(`cache/${name}`)()),
    }),
    profile,
  )
  return { profile: { pods, ...profile }, rules }
}

/** Amazon Linux 2 of three ages. */
const old: ExpectedNode[] = [
  // 70/50 was written into the kubelet's file, and the kubelet never restarted.
  expectedNode(
    {
      ...inNodegroup('al2-edited', { ...al2, ip: '10.0.5.11' }),
      disk: { editedConfiguration: calm },
    },
    ['baseline-drift'],
  ),
  // A kernel that counts kernel memory for each group and forgets none: it leaks a group with each container.
  expectedNode(
    {
      ...inNodegroup('al2', { ...al2, ip: '10.0.5.12' }),
      configuration: calm,
      kernel: '4.14.355-275.572.amzn2.x86_64',
      disk: { dyingCgroups: 31_400 },
    },
    ['memory-cgroup-leak'],
  ),
  // Its pause image was pulled by hand, so containerd does not hold it fast.
  expectedNode(
    {
      ...inNodegroup('al2', { ...al2, ip: '10.0.5.13' }),
      configuration: calm,
      disk: { isSandboxImageUnpinned: true },
    },
    ['unpinned-sandbox-image'],
  ),
]

const rotation = (size: string) => `/var/log/app/*.log {
  daily
  rotate 5
  maxsize ${size}
  copytruncate
  missingok
}
`
const rotated = (size: string) => ({ files: { '/etc/logrotate.d/app': rotation(size) } })

/** Four nodes alike, until somebody gave one of them tenfold logs. */
const alike: ExpectedNode[] = ['10.0.5.21', '10.0.5.22', '10.0.5.23', '10.0.5.24'].map(
  (ip, index) =>
    expectedNode(
      {
        ...inNodegroup('general', { ...al2023, ip }),
        configuration: calm,
        disk: rotated(index === 2 ? '1G' : '100M'),
      },
      index === 2 ? ['log-rotation-drift'] : [],
    ),
)

const finishedJobs = (node: string): PodProfile[] =>
  Array.from({ length: 60 }, (_, index) => {
    const name = `nightly-report-${29_380_000 + index * 60}`
    return {
      ...finishedPod(`${node}/${index}`),
      name: `${name}-x${index.toString(36).padStart(4, 'b')}`,
      owner: { kind: 'Job', name },
    }
  })

/** Each of an image of its own. */
const services = (node: string, count: number): PodProfile[] =>
  Array.from({ length: count }, (_, index) => workloadPods(`${node}/${index}`).slice(0, 1))
    .flat()
    .map((pod, index) => ({
      ...pod,
      containers: pod.containers.map(container => ({
        ...container,
        image: `registry.example.com/services/part-${index}:4.2`,
        requests: { ...container.requests, cpu: '100m' },
      })),
    }))

const others: ExpectedNode[] = [
  // All of its images are in use, more of them than its Node object names.
  expectedNode(
    {
      ...inNodegroup('full', { ...al2023, instanceType: 'm6i.2xlarge', ip: '10.0.5.32' }),
      configuration: calm,
      nodefs: { capacityBytes: 200 * GiB, usedPercent: 88 },
      pods: [...systemPods('full'), ...services('full', 52)],
    },
    ['disk-nearly-full', 'image-gc-due', 'unreachable-gc-low-threshold'],
  ),
  // Nobody deletes the pods of its Jobs.
  expectedNode(
    {
      ...inNodegroup('jobs', { ...al2023, ip: '10.0.5.31' }),
      configuration: calm,
      pods: [...systemPods('jobs'), ...finishedJobs('jobs')],
    },
    ['dead-container-pile'],
  ),
  // A drop-in that no flag names to the kubelet: the kubelet does not read it.
  expectedNode(
    {
      ...inNodegroup('stray', { ...al2023, ip: '10.0.5.41' }),
      disk: {
        dropIns: {
          '90-disk.conf': {
            kind: 'KubeletConfiguration',
            apiVersion: 'kubelet.config.k8s.io/v1beta1',
            ...calm,
          },
        },
      },
    },
    ['alert-before-image-gc', 'lost-on-the-way'],
  ),
  expectedNode(
    {
      ...inNodegroup('bottlerocket', {
        family: 'Bottlerocket',
        version: '1.32.9',
        instanceType: 'm6i.large',
        ip: '10.0.5.51',
      }),
      nodefs: { capacityBytes: 80 * GiB, usedPercent: 33, imagesPercent: 66 },
      configuration: { ...calm, evictionHard: { 'memory.available': '200Mi' } },
    },
    // Whoever set one threshold by apiclient took all others away. Its disks and images stay unknown.
    ['baseline-drift', 'lost-default-threshold', 'unread-node'],
  ),
  // Its kubelet lets everybody in, so that root there can read what it runs with; its file was edited, and it was not restarted. Six releases of a model are unused.
  expectedNode(
    {
      ...selfManaged(
        { family: 'Ubuntu', version: '1.32.5', instanceType: 'm5.xlarge', ip: '10.0.5.61' },
        'probe-worker-1',
      ),
      nodefs: { capacityBytes: 100 * GiB, usedPercent: 38, imagesPercent: 84 },
      configuration: {
        ...calm,
        authorization: {
          mode: 'AlwaysAllow',
          webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' },
        },
        serializeImagePulls: false,
        systemReserved: { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '2Gi' },
      },
      disk: {
        editedConfiguration: { containerLogMaxFiles: 3 },
        unusedImages: Object.fromEntries(
          [1, 2, 3, 4, 5, 6].map(release => [
            `registry.example.com/models/rank:${release}`,
            4 * GiB,
          ]),
        ),
      },
    },
    ['changed-not-restarted'],
  ),
  expectedNode(
    {
      ...onPremises(cluster, { version: '1.32.5', instanceType: 'm5.xlarge', ip: '10.0.5.71' }),
      nodefs: { capacityBytes: 200 * GiB, usedPercent: 51, imagesPercent: 23 },
      configuration: { ...calm, maxPods: 110 },
    },
    [],
  ),
]

const olderAnswer =
  '{"schema":"highwater.inspect/0","instanceId":"","nodeName":"","at":null,"host":null,"runtime":null}\n'

/** Nodes that tell nothing, each in its own way. */
const silent: ExpectedNode[] = (
  [
    ['10.0.5.81', { pingStatus: 'ConnectionLost', lastPingMinutesAgo: 190 }],
    ['10.0.5.82', failing({ kind: 'status', status: 'TimedOut', details: 'Delivery Timed Out' })],
    ['10.0.5.83', failing({ kind: 'killed', afterCharacters: 900 })],
    ['10.0.5.84', failing({ kind: 'truncated', afterCharacters: 2500 })],
    // Its image was made of a node that still runs.
    ['10.0.5.85', failing({ kind: 'other-identity', instanceId: instanceIdOf('10.0.5.21') })],
    ['10.0.5.86', { run: async () => ({ stdout: olderAnswer, stderr: '', exitCode: 0 }) }],
  ] as const
).map(([ip, agent]) =>
  expectedNode({ ...inNodegroup('silent', { ...al2023, ip }), agent }, ['unread-node']),
)

function failing(fault: AgentFault): { fault: AgentFault } {
  return { fault }
}

const nodes = [...old, ...alike, ...others, ...silent]

const nodegroup = (name: string, desiredSize: number): NodegroupScenario => ({
  name,
  amiType: 'AL2023_x86_64_STANDARD',
  version: '1.32',
  releaseVersion: '1.32.9-20261103',
  instanceTypes: [al2023.instanceType],
  desiredSize,
  launchTemplate: { id: 'lt-0a11ab00000000022', name: 'probe-al2023', version: '1' },
})

/** Without a launch template. */
const withDisk = (name: string, desiredSize: number): NodegroupScenario => {
  const { launchTemplate: _, ...plain } = nodegroup(name, desiredSize)
  return { ...plain, diskSize: 20 }
}

const ofAl2 = {
  amiType: 'AL2_x86_64',
  releaseVersion: '1.32.9-20251120',
  instanceTypes: [al2.instanceType],
}

export const probe: Scenario = {
  name: 'probe',
  about: 'nodes that only SSM can read, with what only their own machines know',
  clusters: [
    {
      name: cluster,
      version: '1.32',
      nodegroups: [
        { ...withDisk('al2-edited', 1), ...ofAl2 },
        {
          ...nodegroup('al2', 2),
          ...ofAl2,
          launchTemplate: { id: 'lt-0a11ab00000000021', name: 'probe-al2', version: '1' },
        },
        nodegroup('general', 4),
        { ...nodegroup('full', 1), instanceTypes: ['m6i.2xlarge'] },
        nodegroup('jobs', 1),
        withDisk('stray', 1),
        {
          ...nodegroup('bottlerocket', 1),
          amiType: 'BOTTLEROCKET_x86_64',
          releaseVersion: '1.51.0-a1b2c3d4',
          launchTemplate: { id: 'lt-0a11ab00000000023', name: 'probe-bottlerocket', version: '1' },
        },
        nodegroup('silent', silent.length),
      ],
      nodes: fixedNodes(
        Object.fromEntries(nodes.map(({ profile }) => [profile.name, profiledNode(profile)])),
      ),
      access: { [labPrincipal]: auditorRights.filter(right => right !== 'get nodes/proxy') },
    },
  ],
  launchTemplates: probeTemplates,
  expect: () => ({
    mode: 'ssm',
    nodes: nodes.map(({ profile, rules }) => ({
      cluster,
      node: profile.name,
      rules: [...rules].toSorted(),
    })),
    notAudited: [],
  }),
}
