/** Kubelets and clusters that fail, each in its own way, beside one healthy node. */
import { inNodegroup } from '#lab/nodes/placement.ts'
import { ordinaryPods } from '#lab/nodes/pod-profile.ts'
import { GiB } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import {
  type ClusterFaults,
  type ClusterScenario,
  type ExpectedRule,
  fixedNodes,
  type LabNode,
  type NodeFault,
  type NodegroupScenario,
  type Scenario,
} from './scenario.ts'

const nodegroup: NodegroupScenario = {
  name: 'general',
  amiType: 'AL2023_x86_64_STANDARD',
  version: '1.34',
  releaseVersion: '1.34.1-20261103',
  instanceTypes: ['m6i.large'],
  desiredSize: 4,
  diskSize: 20,
}

const failing: { ip: string; fault?: NodeFault; rules: readonly ExpectedRule[] }[] = [
  // Its nodegroup declares nothing, so whoever set 70/50 did it on the node.
  { ip: '10.0.9.1', rules: ['baseline-drift'] },
  { ip: '10.0.9.2', fault: { kind: 'hanging' }, rules: ['unread-node'] },
  {
    ip: '10.0.9.3',
    fault: {
      kind: 'status',
      status: 500,
      body: 'Internal Error: failed to list pod stats: rpc error: code = DeadlineExceeded\n',
    },
    rules: ['unread-node'],
  },
  { ip: '10.0.9.4', fault: { kind: 'truncated' }, rules: ['unread-node'] },
]

/** A healthy AL2023 node with 70/50, with a fault or without. */
export function faultyNode(ip: string, fault?: NodeFault): { name: string; node: LabNode } {
  const placement = inNodegroup(nodegroup.name, {
    family: 'AL2023',
    version: '1.34.1',
    instanceType: 'm6i.large',
    ip,
  })
  const node = profiledNode({
    ...placement,
    nodefs: { capacityBytes: 20 * GiB, usedPercent: 49 },
    configuration: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 },
    pods: ordinaryPods(placement.name),
    ...(fault && { fault }),
  })
  return { name: placement.name, node }
}

/** A cluster with one healthy node, unless the fault hides it. */
const lone = (
  name: string,
  ip: string,
  more: { status?: ClusterScenario['status']; faults?: ClusterFaults },
): ClusterScenario => {
  const { name: nodeName, node } = faultyNode(ip)
  return {
    name,
    version: '1.34',
    nodegroups: [{ ...nodegroup, desiredSize: 1 }],
    nodes: fixedNodes({ [nodeName]: node }),
    ...more,
  }
}

const nodes = failing.map(({ ip, fault, rules }) => ({ ...faultyNode(ip, fault), rules }))

export const faults: Scenario = {
  name: 'faults',
  about: 'nodes and clusters that do not answer, or answer nonsense',
  clusters: [
    {
      name: 'faults',
      version: '1.34',
      nodegroups: [nodegroup],
      nodes: fixedNodes(Object.fromEntries(nodes.map(({ name, node }) => [name, node]))),
    },
    lone('faults-unreachable', '10.0.9.11', { faults: { endpoint: 'closed-port' } }),
    lone('faults-creating', '10.0.9.12', { status: 'CREATING' }),
    lone('faults-other-host', '10.0.9.13', { faults: { certificate: 'other-host' } }),
  ],
  expect: () => ({
    nodes: nodes.map(({ name, rules }) => ({ cluster: 'faults', node: name, rules })),
    notAudited: ['faults-unreachable', 'faults-creating', 'faults-other-host'],
  }),
}
