/**
 * Two clusters whose nodes delete images at 85 % only and shall at 70: three OS families, five ways in which a node takes its settings. Documents that
 * change a node really change it: its kubelet is started anew with the files that are there then, or stays down.
 *
 * Every fault that a run has to survive can be asked for. On a node (`faults`, by its key):
 * - its kubelet never comes back, comes back with the old files only, or comes back unwell: `change`, `never-up`, `only-old`, `sick`;
 * - the agent is lost before the swap, after it, or when all is done and only the answer is to come; for good, or for a while: `agent-lost`;
 * - the instance is replaced half-way, by another one of its nodegroup (`successorOf`): `replaced`;
 * - the disk is full, seen, not seen, or from the restart on: `disk-full`; the clock is wrong: `clock-skew`;
 * - a command comes late, twice, is not answered, or fails in SSM's own words: `agent`;
 * - somebody's hand has left a main file that is no JSON; the kubelet that runs has not read it: `isFileBroken`.
 * In the world: SSM throttles, `ssm: { throttlesFirstOf: { SendCommand: 3 } }`; an API server is away, `clusterFaults: { shop: { away: … } }`.
 */
import type { ChangeFault } from '#lab/machines/start.ts'
import { inNodegroup } from '#lab/nodes/placement.ts'
import { systemPods } from '#lab/nodes/pod-profile.ts'
import { GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { instanceIdOf } from '#lab/nodes/random.ts'
import { requiredBudgets, requiredPods } from './required-pods.ts'
import {
  type AgentFault,
  type ClusterFaults,
  type ClusterScenario,
  fixedNodes,
  type LabNode,
  type NodegroupScenario,
  type Scenario,
  type SsmScenario,
} from './scenario.ts'

export interface NodeTrouble {
  change?: ChangeFault
  agent?: AgentFault
  isFileBroken?: true
}

export interface RemediationOptions {
  /** Of both clusters together, in turn by cluster and nodegroup. Default 60. */
  nodes?: number
  /** By `cluster/nodegroup/index`, from 0: `shop/al2/0`. */
  faults?: Readonly<Record<string, NodeTrouble>>
  clusterFaults?: Readonly<Record<string, ClusterFaults>>
  ssm?: Partial<SsmScenario>
  /** A PodDisruptionBudget allows nothing, as of a single pod that must be available. */
  hasTightBudget?: boolean
  /** Kubelets listen on their own ports, too. */
  kubelets?: boolean
}

interface Group {
  name: string
  amiType: string
  releaseVersion: string
  instanceType: 'm5.large' | 'm6i.large'
  profile: Pick<NodeProfile, 'family' | 'nodefs'> & Partial<NodeProfile>
  /** The kubelet's main file, where there is one to edit. */
  main?: string
}

const disk = { capacityBytes: 20 * GiB, usedPercent: 47 }
const older = {
  releaseVersion: '1.32.9-20250920',
  instanceType: 'm6i.large',
  amiType: 'AL2023_x86_64_STANDARD',
} as const
const olderProfile = {
  family: 'AL2023',
  nodefs: disk,
  osImage: 'Amazon Linux 2023.8.20250915',
} as const
const nodeadmMain = '/etc/kubernetes/kubelet/config.json'

const groups: readonly Group[] = [
  {
    name: 'al2',
    amiType: 'AL2_x86_64',
    releaseVersion: '1.32.9-20251120',
    instanceType: 'm5.large',
    profile: { family: 'AL2', nodefs: disk },
    main: '/etc/kubernetes/kubelet/kubelet-config.json',
  },
  // Its nodeadm reads more NodeConfigs from a folder.
  {
    name: 'al2023',
    amiType: 'AL2023_x86_64_STANDARD',
    releaseVersion: '1.32.9-20261103',
    instanceType: 'm6i.large',
    profile: { family: 'AL2023', nodefs: disk },
    main: nodeadmMain,
  },
  // An older nodeadm; its user data says something, so the kubelet reads drop-ins.
  {
    name: 'al2023-dropin',
    ...older,
    profile: { ...olderProfile, configuration: { maxPods: 29 } },
    main: nodeadmMain,
  },
  // It says nothing, so there is the one file only.
  { name: 'al2023-plain', ...older, profile: olderProfile, main: nodeadmMain },
  {
    name: 'bottlerocket',
    amiType: 'BOTTLEROCKET_x86_64',
    releaseVersion: '1.51.0-a1b2c3d4',
    instanceType: 'm6i.large',
    profile: { family: 'Bottlerocket', nodefs: { capacityBytes: 80 * GiB, usedPercent: 33 } },
  },
]
const clusterNames = ['shop', 'media'] as const
const version = '1.32.9'
/** Successors have the addresses behind. */
const successorsFrom = 100
const mostNodes = clusterNames.length * groups.length * successorsFrom

interface Place {
  cluster: (typeof clusterNames)[number]
  group: Group
  index: number
}

export interface RemediationNode {
  /** `shop/al2/0` */
  key: string
  cluster: string
  nodegroup: string
  /** As Kubernetes names it. */
  name: string
  instanceId: string
}

/** @throws Error when the number of nodes is not between 1 and 1000, or a fault is that of no node. */
export function remediationScenario({
  nodes = 60,
  faults = {},
  clusterFaults = {},
  ssm,
  hasTightBudget = false,
  kubelets = false,
}: RemediationOptions = {}): Scenario {
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > mostNodes)
    throw new Error(`the scenario remediation has 1 to ${mostNodes} nodes`)
  const places = placesOf(nodes)
  const stray = Object.keys(faults).find(key => !places.some(place => keyOf(place) === key))
  if (stray !== undefined) throw new Error(`the scenario remediation has no node ${stray}`)
  const clusterOf = (name: string): ClusterScenario => {
    const own = places.filter(({ cluster }) => cluster === name)
    const successors = own.filter(place => faults[keyOf(place)]?.change?.kind === 'replaced')
    return {
      name,
      version: '1.32',
      nodegroups: groups.map(group =>
        nodegroupOf(group, own.filter(place => place.group === group).length),
      ),
      nodes: fixedNodes(
        Object.fromEntries(
          own.map(place => [remediationNodeAt(place).name, labNode(place, faults[keyOf(place)])]),
        ),
        Object.fromEntries(
          successors.map(place => [remediationNodeAt(place).name, successor(place)]),
        ),
      ),
      disruptionBudgets: requiredBudgets(own.length, hasTightBudget),
      ...(kubelets && { kubelets }),
      ...(clusterFaults[name] && { faults: clusterFaults[name] }),
    }
  }
  return {
    name: 'remediation',
    about: 'nodes of three OS families at 85/80 that can really be changed',
    clusters: clusterNames.map(clusterOf),
    ...(ssm && { ssm }),
    expect: () => ({
      nodes: places.map(place => ({
        cluster: place.cluster,
        node: remediationNodeAt(place).name,
        rules:
          place.group.profile.family === 'Bottlerocket'
            ? ['alert-before-image-gc', 'eviction-before-image-gc']
            : ['alert-before-image-gc'],
      })),
      notAudited: [],
    }),
  }
}

/** Every node of a scenario of that many. */
export const remediationNodes = (nodes = 60): RemediationNode[] =>
  placesOf(nodes).map(remediationNodeAt)

/** Who comes in the place of a node whose instance is replaced. @throws Error when there is no node of that key */
export function successorOf(key: string): RemediationNode {
  const place = placesOf(mostNodes).find(one => keyOf(one) === key)
  if (!place) throw new Error(`the scenario remediation has no node ${key}`)
  return remediationNodeAt(behind(place))
}

const placesOf = (nodes: number): Place[] =>
  Array.from({ length: nodes }, (_, at) => {
    const round = Math.trunc(at / clusterNames.length)
    return {
      cluster: clusterNames[at % clusterNames.length]!,
      group: groups[round % groups.length]!,
      index: Math.trunc(round / groups.length),
    }
  })

const keyOf = ({ cluster, group, index }: Place) => `${cluster}/${group.name}/${index}`
const behind = (place: Place): Place => ({ ...place, index: place.index + successorsFrom })

const ipOf = ({ cluster, group, index }: Place) =>
  `10.${20 + clusterNames.indexOf(cluster)}.${groups.indexOf(group)}.${index + 1}`

const placementOf = (place: Place) =>
  inNodegroup(place.group.name, {
    family: place.group.profile.family,
    version,
    instanceType: place.group.instanceType,
    ip: ipOf(place),
  })

const remediationNodeAt = (place: Place): RemediationNode => ({
  key: keyOf(place),
  cluster: place.cluster,
  nodegroup: place.group.name,
  name: placementOf(place).name,
  instanceId: instanceIdOf(ipOf(place)),
})

function labNode(place: Place, { change, agent, isFileBroken }: NodeTrouble = {}): LabNode {
  const placement = placementOf(place)
  const { profile, main } = place.group
  if (isFileBroken && main === undefined)
    throw new Error(`${keyOf(place)} has no file of its kubelet to break`)
  return profiledNode({
    ...profile,
    ...placement,
    agent: { ...(agent && { fault: agent }) },
    ...(change && { changeFault: change }),
    ...(isFileBroken &&
      main !== undefined && {
        disk: { files: { [main]: '{\n    "kind": "KubeletConfiguration",\n' } },
      }),
    pods: [...systemPods(placement.name), ...requiredPods(placement.name, place.index)],
  })
}

function successor(place: Place): { name: string; node: LabNode } {
  return { name: remediationNodeAt(behind(place)).name, node: labNode(behind(place)) }
}

const nodegroupOf = (
  { name, amiType, releaseVersion, instanceType, profile }: Group,
  desiredSize: number,
): NodegroupScenario => ({
  name,
  amiType,
  version: '1.32',
  releaseVersion,
  instanceTypes: [instanceType],
  desiredSize,
  diskSize: profile.nodefs.capacityBytes / GiB,
})
