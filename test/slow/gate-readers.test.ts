/** Files of a change, with the worst texts found for each reader: twice the text takes at most three times the time. */
import { gzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { openBudget, readChangedFile } from '#pipeline/gate/changed-file.ts'
import { isLinear, numbered, repeated } from '#test/linear.ts'

vi.setConfig({ testTimeout: 120_000 })

type Shape = (length: number) => string

const lines =
  (piece: (index: number) => string, head = ''): Shape =>
  length =>
    `${head}${numbered(length, piece)}`
const again =
  (piece: string, head = '', end = ''): Shape =>
  length =>
    `${head}${repeated(piece)(length)}${end}`

const files: [file: string, name: string, shape: Shape][] = [
  [
    'a.yaml',
    'a stack of nodegroups',
    lines(i => ` r${i}: {Type: AWS::EKS::Nodegroup, Properties: {DiskSize: 1}}\n`, 'Resources:\n'),
  ],
  [
    'a.yaml',
    'a stack of launch templates',
    lines(
      i =>
        ` r${i}: {Type: AWS::EC2::LaunchTemplate, Properties: {LaunchTemplateData: {UserData: a b}}}\n`,
      'Resources:\n',
    ),
  ],
  ['a.tf', 'sizes', again('resource "aws_eks_node_group" "a" {\n disk_size = 1\n}\n')],
  [
    'a.tf',
    'open blocks',
    again('{', '', '\nresource "aws_eks_node_group" "a" {\n disk_size = 1\n}'),
  ],
  ['a.tf', 'signs behind a size', again('disk_size =')],
  ['a.tf', 'heredocs', again('user_data = <<EOT\nkind: NodeConfig\nEOT\n')],
  ['a.tf', 'heredocs without end', again('user_data = <<EOT\n')],
  ['a.tf', 'devices', again('device_name = ')],
  ['a.tf', 'comments without end', again('/*\n')],
  ['a.tf', 'quotes', again('a = "\n')],
  [
    'a.tf',
    'nodegroups',
    again('resource "aws_eks_node_group" "a"\nnode_group_name =\n', '', 'disk_size = 1'),
  ],
  [
    'kustomization.yaml',
    'patches of many targets',
    lines(
      i =>
        `- {target: {kind: EC2NodeClass, name: a|b|c|d|e|f|g|h}, patch: "{spec: {kubelet: {maxPods: ${i}}}}"}\n`,
      'kind: Kustomization\npatches:\n',
    ),
  ],
  [
    'kustomization.yaml',
    'operations',
    lines(
      i =>
        `   - {op: add, path: /spec/blockDeviceMappings/-, value: {deviceName: a${i}, ebs: {volumeSize: 1}}}\n`,
      'kind: Kustomization\npatches:\n- target: {kind: EC2NodeClass, name: a}\n  patch: |\n',
    ),
  ],
  [
    'kustomization.yaml',
    'deep paths',
    lines(
      i => `   - {op: add, path: ${'/spec'.repeat(500)}/a${i}, value: 1}\n`,
      'kind: Kustomization\npatches:\n- target: {kind: EC2NodeClass, name: a}\n  patch: |\n',
    ),
  ],
  [
    'a.yaml',
    'objects of a list',
    lines(
      i =>
        `- {apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {kubelet: {x${i}: 1}}}\n`,
      'kind: List\napiVersion: v1\nitems:\n',
    ),
  ],
  [
    'a.yaml',
    'fields of a node class',
    lines(
      i => `  k${i}: 1\n`,
      'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n kubelet:\n',
    ),
  ],
  ['a.yaml', 'objects in values of Helm', lines(i => `k${i}: {apiVersion: karpenter.sh/v1}\n`)],
  [
    'a.yaml',
    'misspelt fields of a NodeConfig',
    lines(i => `imagegc${i}: 1\n`, 'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n'),
  ],
  ['a.yaml', 'documents', again('---\nkind: KubeletConfiguration\n')],
  ['a.yaml', 'marks of a template', again('{{ if }}: [', 'kind: KubeletConfiguration\n')],
  [
    'a.yaml',
    'volumes of eksctl',
    lines(
      i => `  - {volumeName: a${i}, volumeSize: 1}\n`,
      'apiVersion: eksctl.io/v1\nkind: ClusterConfig\nnodeGroups:\n- name: a\n  additionalVolumes:\n',
    ),
  ],
  ['a.sh', 'commands', again('echo "$A" > /etc/kubernetes/kubelet/config.json\n', '#!/bin/bash\n')],
  ['a.toml', 'settings', lines(i => `k${i} = "x"\n`, '[settings.kubernetes]\n')],
  ['a.toml', 'misplaced settings', lines(i => `[settings.a${i}]\nmax-pods = 1\n`)],
  [
    'a',
    'parts of MIME',
    again(
      '--B\n\n#!/bin/bash\n',
      'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n',
    ),
  ],
  ['a', 'base64', again('QUFB')],
]

it.each(files)('%s takes linear time for %s', (file, _, shape) => {
  const texts = new Map([110_000, 220_000].map(length => [length, shape(length)]))
  const read = (length: number) => readChangedFile(file, texts.get(length) ?? '', openBudget())
  expect(isLinear(read, 110_000)).toBe(true)
})

const script = '#!/bin/bash\n/etc/eks/bootstrap.sh c --kubelet-extra-args --max-pods=3\n'
const userData = Buffer.from(script).toString('base64')
const bomb = gzipSync(`kind: NodeConfig\nspec: ${'{'.repeat(40_000)}`).toString('base64')
const planOf =
  (resource: (index: number) => string): Shape =>
  length =>
    `{"format_version":"1.2","planned_values":{"root_module":{"resources":[${numbered(length, resource)}{}]}}}`

const plans: [name: string, shape: Shape][] = [
  ...[userData, bomb].map((data, index): [string, Shape] => [
    index === 0 ? 'launch templates' : 'packed user data',
    planOf(
      i =>
        `{"type":"aws_launch_template","address":"m.a.t${i}","values":{"name":"n${i}","user_data":"${data}"}},`,
    ),
  ]),
  [
    'nodegroups of one template',
    planOf(
      () =>
        '{"type":"aws_eks_node_group","address":"m.a.t","values":{"launch_template":[{"name":"n"}]}},{"type":"aws_launch_template","address":"m.a.x","values":{"name":"n","block_device_mappings":[{"device_name":"a","ebs":[{"volume_size":1}]}]}},',
    ),
  ],
  [
    'manifests',
    planOf(() => '{"type":"kubectl_manifest","values":{"yaml_body":"karpenter: {}"}},'),
  ],
  [
    'modules in modules',
    length =>
      `{"format_version":"1","planned_values":{"root_module":${'{"child_modules":['.repeat(50)}${repeated('{},')(length)}{}${']}'.repeat(50)}}}`,
  ],
  [
    'unknown user data',
    length =>
      `{"format_version":"1","planned_values":{"root_module":{}},"resource_changes":[${numbered(length, i => `{"type":"aws_launch_template","address":"a${i}","change":{"after_unknown":{"user_data":true}}},`)}{}]}`,
  ],
]

it.each(plans)('a plan of Terraform takes linear time for %s', (_, shape) => {
  const texts = new Map([480_000, 960_000].map(length => [length, shape(length)]))
  const read = (length: number) =>
    readChangedFile('plan.json', texts.get(length) ?? '', openBudget())
  expect(isLinear(read, 480_000)).toBe(true)
})
