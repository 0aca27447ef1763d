import { describe, expect, it } from 'vitest'
import { nodeIdentity } from '#facts/eks/node-identity.ts'

it.each([
  [{ operatingSystem: 'windows' }, 'Windows', 'windows'],
  [{ osImage: 'Windows Server 2022 Datacenter' }, 'Windows', 'windows'],
  [{ operatingSystem: 'linux', osImage: 'Amazon Linux 2023.9' }, 'AL2023', 'linux'],
])('image and system of %j', (nodeInfo, amiFamily, operatingSystem) => {
  expect(nodeIdentity({ status: { nodeInfo } })).toMatchObject({ amiFamily, operatingSystem })
})

it.each([
  ['eks.amazonaws.com/nodegroup', 'Nodegroup', 'managed-nodegroup'],
  ['alpha.eksctl.io/nodegroup-name', 'Nodegroup', 'eksctl'],
  ['karpenter.sh/nodepool', 'NodePool', 'karpenter'],
  ['kops.k8s.io/instancegroup', 'InstanceGroup', 'self-managed'],
  ['cloud.google.com/gke-nodepool', 'GKENodePool', 'self-managed'],
  ['kubernetes.azure.com/agentpool', 'AgentPool', 'self-managed'],
  ['agentpool', 'AgentPool', 'self-managed'],
  ['node.kubernetes.io/instance-group', 'Group', 'self-managed'],
  ['example.com/pool', 'Node', 'self-managed'],
])('the label %s names a group of the kind %s', (label, kind, owner) => {
  const identity = nodeIdentity({ metadata: { name: 'n', labels: { [label]: 'blue' } } })
  const name = kind === 'Node' ? 'n' : 'blue'
  expect(identity).toMatchObject({ owner, group: { kind, name } })
})

it('the group of EKS comes before that of another label', () => {
  const labels = { agentpool: 'b', 'eks.amazonaws.com/nodegroup': 'a' }
  expect(nodeIdentity({ metadata: { labels } }).group).toMatchObject({ name: 'a' })
})

describe('the instance behind a node', () => {
  const id = 'i-0a1b2c3d4e5f60718'
  it.each([
    ['as the cloud provider writes it', `aws:///us-east-1a/${id}`, id],
    ['with the zone where a host would stand', `aws://us-east-1a/${id}`, id],
    ['with an empty zone', `aws:////${id}`, id],
    ['without a zone', `aws:///${id}`, id],
    ['bare', id, id],
    ['with a slash behind it', `aws:///us-east-1a/${id}/`, id],
    ['where the host should stand, which the cloud provider does not take', `aws://${id}`, null],
    ['of Fargate', 'aws:///us-east-1a/0123/fargate-ip-10-0-0-1.ec2.internal', null],
    ['of another cloud', `gce://project/zone/${id}`, null],
    ['with more behind it', `aws:///us-east-1a/${id}/x`, null],
    ['that does not exist', '', null],
  ])('%s', (_, providerID, instanceId) => {
    expect(nodeIdentity({ metadata: { name: 'n' }, spec: { providerID } }).instanceId).toBe(
      instanceId,
    )
  })
})
