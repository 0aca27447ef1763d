/** Who makes nodes in the scenarios besides nodegroups: Karpenter, and EKS Auto Mode. */

import type { RawObject } from '#base/raw-object.ts'
import { uidOf } from '#lab/nodes/random.ts'

const created = '2026-03-02T10:00:00Z'
const metadata = (kind: string, name: string) => ({
  name,
  uid: uidOf(`${kind}/${name}`),
  generation: 1,
  creationTimestamp: created,
})

function nodePool(name: string, nodeClassRef: RawObject): RawObject {
  const disruption = {
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: '1m',
    budgets: [{ nodes: '10%' }],
  }
  return {
    metadata: metadata('NodePool', name),
    spec: {
      disruption,
      weight: 10,
      template: {
        metadata: { labels: { pool: name } },
        spec: { nodeClassRef, expireAfter: '336h', requirements: [] },
      },
    },
    status: { resources: { nodes: '0' } },
  }
}

/** A pool for peaks, scaled to nothing just now. */
export const karpenter: Record<string, RawObject[]> = {
  'nodepools.karpenter.sh': [
    nodePool('burst', { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'burst' }),
  ],
  'ec2nodeclasses.karpenter.k8s.aws': [
    {
      metadata: metadata('EC2NodeClass', 'burst'),
      spec: {
        amiFamily: 'AL2023',
        amiSelectorTerms: [{ alias: 'al2023@v20251120' }],
        role: 'incidents-karpenter',
        subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'incidents' } }],
        blockDeviceMappings: [
          {
            deviceName: '/dev/xvda',
            ebs: { volumeSize: '40Gi', volumeType: 'gp3', encrypted: true },
          },
        ],
        kubelet: {
          imageGCHighThresholdPercent: 70,
          imageGCLowThresholdPercent: 50,
          evictionHard: { 'memory.available': '200Mi' },
        },
        userData: `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config: { containerLogMaxSize: 50Mi }
  instance:
    environment: { default: { AGENT_TOKEN: lab-secret-karpenter } }
`,
      },
      status: { amis: [] },
    },
  ],
}

export const autoModeClasses: Record<string, RawObject[]> = {
  'nodepools.karpenter.sh': ['general-purpose', 'system'].map(name =>
    nodePool(name, { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' }),
  ),
  'nodeclasses.eks.amazonaws.com': [
    {
      metadata: metadata('NodeClass', 'default'),
      spec: {
        role: 'incidents-managed-auto',
        ephemeralStorage: { size: '80Gi', iops: 3000, throughput: 125 },
        networkPolicy: 'DefaultAllow',
      },
      status: {},
    },
  ],
}
