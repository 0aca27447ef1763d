import { describe, expect, it } from 'vitest'
import type { NodeOwner } from '#model/input/record.ts'
import { isReachable } from '#pipeline/gate/reach.ts'
import { gated, snapshotOf } from '#test/gate-changes.ts'
import { gateWorld } from '#test/gate-world.ts'

it.each<[NodeOwner, boolean]>([
  ['managed-nodegroup', true],
  ['karpenter', true],
  ['auto-mode', false],
  ['fargate', false],
])('a file reaches a node of %s: %s', (owner, isReached) => {
  const identity = {
    ...{ name: 'n1', group: { kind: 'Nodegroup' as const, namespace: null, name: 'general' } },
    ...{ amiFamily: 'Bottlerocket' as const, operatingSystem: 'linux' as const, owner },
  }
  expect(isReachable({ cluster: 'prod', identity, nodeClass: null })).toBe(isReached)
})

/** The same groups in two clusters. */
const twoClusters = () => {
  const [header = '', ...records] = gateWorld()
  const others = records.map(line => line.replaceAll('"cluster":"prod"', '"cluster":"stage"'))
  return snapshotOf([header, ...records, ...others])
}

/** Of a template. */
const expression = `\${cluster}`
const config = 'config: {podPidsLimit: 4096}'
const nodeConfig = (cluster: string) =>
  `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {name: "${cluster}"}\n  kubelet: {${config}}\n`
const inMime = (text: string) =>
  `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: application/node.eks.aws\n\n${text}\n--B--\n`
const planOf = (cluster: string) => {
  const name = cluster === expression ? {} : { cluster_name: cluster }
  const resource = { type: 'aws_eks_node_group', address: 'aws_eks_node_group.general' }
  const values = { ...name, node_group_name: 'general', disk_size: 200 }
  const root = { resources: [{ ...resource, mode: 'managed', values }] }
  return JSON.stringify({ format_version: '1.2', planned_values: { root_module: root } })
}

/** By file, with the number of its nodes in each cluster. */
const files: [file: string, nodes: number, text: (cluster: string) => string][] = [
  ['general/nodeconfig.yaml', 3, nodeConfig],
  ['general/user-data.txt', 3, cluster => inMime(nodeConfig(cluster))],
  ['bottlerocket.toml', 4, c => `[settings.kubernetes]\ncluster-name = "${c}"\nmax-pods = 30\n`],
  [
    'eksctl.yaml',
    3,
    cluster =>
      `apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: "${cluster}", region: us-east-1}\nmanagedNodeGroups: [{name: general, volumeSize: 200}]\n`,
  ],
  [
    'stack.yaml',
    3,
    cluster =>
      `Resources:\n  Group:\n    Type: AWS::EKS::Nodegroup\n    Properties: {ClusterName: "${cluster}", NodegroupName: general, DiskSize: 200}\n`,
  ],
  ['plan.json', 3, planOf],
  [
    'main.tf',
    3,
    cluster =>
      `resource "aws_eks_node_group" "general" {\n  cluster_name    = "${cluster}"\n  node_group_name = "general"\n  disk_size       = 200\n}\n`,
  ],
]

describe.each(files)('the cluster that %s names', (file, nodes, textOf) => {
  const tried = (cluster: string) =>
    gated(twoClusters(), [{ file, text: textOf(cluster), base: null }])

  it.each(['prod', 'stage'])('is the only one that it reaches: %s', async cluster => {
    const { groups } = await tried(cluster)
    expect(new Set(groups.map(group => group.cluster))).toEqual(new Set([cluster]))
    expect(groups.reduce((sum, group) => sum + group.nodes, 0)).toBe(nodes)
  })

  it('is each one if it is an expression, which is said', async () => {
    const { groups, files: read } = await tried(expression)
    expect(groups.reduce((sum, group) => sum + group.nodes, 0)).toBe(2 * nodes)
    expect(read[0]?.reach).toContain('in each cluster: its own is not known')
  })

  it('is not judged if the snapshot does not have it, unless its path names a group', async () => {
    const { groups, verdict, problems } = await tried('elsewhere')
    const isOfPath = file.startsWith('general/')
    expect(groups.reduce((sum, group) => sum + group.nodes, 0)).toBe(isOfPath ? 2 * nodes : 0)
    expect([
      verdict,
      problems.some(({ text }) => text.includes('no node of cluster elsewhere')),
    ]).toEqual(isOfPath ? ['ok', false] : ['unread', true])
  })
})

it.each([
  ['bare', nodeConfig(expression)],
  ['within MIME', inMime(nodeConfig(expression))],
  [
    'beside a script',
    inMime(
      `${nodeConfig(expression)}\n--B\nContent-Type: text/x-shellscript\n\n#!/bin/bash\ncat > /etc/kubernetes/kubelet/config.json.d/90-a.conf <<END\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 29\nEND`,
    ),
  ],
])('a NodeConfig %s reaches nodes of AL2023', async (_how, text) => {
  const { groups, problems } = await gated(twoClusters(), [{ file: 'a.txt', text, base: null }])
  const names = new Set(groups.map(({ group }) => group.name))
  expect([...names].toSorted()).toEqual(['batch', 'general', 'small', 'spot'])
  expect(problems.filter(({ stops }) => stops)).toEqual([])
})

it('does not judge a file whose cluster has nodes of other images only', async () => {
  const [header = '', ...records] = gateWorld()
  const others = records
    .filter(line => line.includes('"vault-'))
    .map(line => line.replaceAll('"cluster":"prod"', '"cluster":"stage"'))
  const snapshot = snapshotOf([header, ...records, ...others])
  const texts = [{ file: 'a.yaml', text: nodeConfig('stage'), base: null }]
  const { problems, verdict } = await gated(snapshot, texts)
  expect([verdict, problems[0]?.text]).toEqual([
    'unread',
    'The nodes of this NodeConfig are not known: the snapshot has no such node of cluster stage.',
  ])
})
