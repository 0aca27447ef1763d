import { describe, expect, it } from 'vitest'
import { inspectTargetOf } from '#facts/aws/inspect-targets.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { KubernetesNode } from '#model/input/record.ts'

const activated = 'mi-0a1b2c3d4e5f60718'
const node = (
  name: string,
  providerID: string,
  labels: Record<string, string> = {},
  osImage = 'Amazon Linux 2023.9',
): KubernetesNode => ({
  metadata: { name, labels },
  spec: { providerID },
  status: {
    nodeInfo: { osImage, operatingSystem: osImage.startsWith('Windows') ? 'windows' : 'linux' },
  },
})
const ec2 = 'aws:///us-east-1a/i-0a1b2c3d4e5f60718'
const hybrid = (name: string, provider: string) =>
  node(
    name,
    `eks-hybrid:///us-east-1/prod/${name}`,
    {
      'eks.amazonaws.com/compute-type': 'hybrid',
      'eks.amazonaws.com/hybrid-credential-provider': provider,
    },
    'Ubuntu 24.04',
  )

describe('what SSM can inspect', () => {
  it.each<[string, KubernetesNode, string, string]>([
    [
      'an EC2 instance',
      node('ip-10-0-0-1.ec2.internal', ec2),
      'i-0a1b2c3d4e5f60718',
      'Highwater-Inspect',
    ],
    [
      'Ubuntu',
      node('n', ec2, {}, 'Ubuntu 22.04.5 LTS'),
      'i-0a1b2c3d4e5f60718',
      'Highwater-Inspect',
    ],
    [
      'Bottlerocket',
      node('n', ec2, {}, 'Bottlerocket OS 1.51.0'),
      'i-0a1b2c3d4e5f60718',
      'Highwater-InspectBottlerocket',
    ],
    [
      'Karpenter’s',
      node('n', ec2, { 'karpenter.sh/nodepool': 'default' }),
      'i-0a1b2c3d4e5f60718',
      'Highwater-Inspect',
    ],
    ['a hybrid node that SSM activated', hybrid(activated, 'ssm'), activated, 'Highwater-Inspect'],
  ])('%s', (_, given, instanceId, document) => {
    expect(inspectTargetOf(nodeIdentity(given))).toEqual({
      isReachable: true,
      instanceId,
      document,
      disksDocument: document === 'Highwater-Inspect' ? 'Highwater-InspectDisks' : null,
    })
  })

  it.each<[string, KubernetesNode, RegExp]>([
    [
      'Fargate',
      node('fargate-ip', 'aws:///us-east-1a/x/fargate-ip', {
        'eks.amazonaws.com/compute-type': 'fargate',
      }),
      /a Fargate node/,
    ],
    [
      'EKS Auto Mode',
      node('i-1', ec2, { 'eks.amazonaws.com/compute-type': 'auto' }),
      /EKS Auto Mode/,
    ],
    ['Windows', node('n', ec2, {}, 'Windows Server 2022 Datacenter'), /a Windows node/],
    ['a hybrid node by IAM Roles Anywhere', hybrid('rack-7', 'iam-ra'), /IAM Roles Anywhere/],
    // Its name is anybody's: only with the label it is SSM's.
    ['a node that only looks activated', hybrid(activated, 'iam-ra'), /IAM Roles Anywhere/],
    ['a node of no cloud', node('worker-1', ''), /providerID names no EC2 instance/],
    [
      'an id with something behind it',
      node('n', `${ec2};reboot`),
      /providerID names no EC2 instance/,
    ],
  ])('%s is named without asking', (_, given, reason) => {
    expect(inspectTargetOf(nodeIdentity(given))).toEqual({
      isReachable: false,
      reason: expect.stringMatching(reason),
    })
  })
})
