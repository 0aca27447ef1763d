/** The gate on sizes of volumes. */
import { expect, it } from 'vitest'
import { changedTexts, gated, gateSnapshot, snapshotOf } from '#test/gate-changes.ts'
import { gateWorld } from '#test/gate-world.ts'

const nodeClass = (size: string) =>
  `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: spot}\nspec:\n  blockDeviceMappings:\n    - deviceName: /dev/xvda\n      ebs:\n        volumeSize: ${size}\n`

const sizesOf = async (snapshot: string, size: string, base: string | null = null) => {
  const texts = [{ file: 'spot.yaml', text: nodeClass(size), base: base && nodeClass(base) }]
  const { groups } = await gated(snapshot, texts, { hasBase: base !== null })
  return groups.flatMap(({ settings }) => settings.map(({ values }) => values))
}

it.each([
  ['200Gi', null, [{ before: ['100 GiB'], after: ['200Gi'] }]],
  ['100Gi', null, []],
  ['200Gi', '200Gi', []],
  ['50Gi', '100Gi', [{ before: ['100 GiB'], after: ['50Gi'] }]],
])('of %s after %s changes %j', async (size, base, expected) => {
  expect(await sizesOf(gateSnapshot(), size, base)).toEqual(expected)
})

it('compares with the volume that the node has', async () => {
  const lines = gateWorld().map(line => {
    const record = JSON.parse(line)
    const volumes = [{ VolumeId: 'vol-1', Size: 110, VolumeType: 'gp3', Device: '/dev/xvda' }]
    return record.kind === 'Node' ? JSON.stringify({ ...record, volumes }) : line
  })
  const sizes = [
    await sizesOf(snapshotOf(lines), '110Gi'),
    await sizesOf(snapshotOf(lines), '120Gi'),
  ]
  expect(sizes).toEqual([[], [{ before: ['110 GiB'], after: ['120Gi'] }]])
})

it.each([
  [
    'a patch by index',
    'kustomization.yaml',
    'kind: Kustomization\npatches:\n  - target: {kind: EC2NodeClass, name: spot}\n    patch: |\n      - op: replace\n        path: /spec/blockDeviceMappings/0/ebs/volumeSize\n        value: 45Gi\n',
    6,
  ],
  [
    'a parameter',
    'stack.yaml',
    'Resources:\n  Nodes:\n    Type: AWS::EKS::Nodegroup\n    Properties:\n      NodegroupName: general\n      DiskSize: !Ref Size\n',
    6,
  ],
  ['an expression', 'spot.yaml', nodeClass('$SIZE'), 8],
])('of %s are not read', async (_, file, text, line) => {
  const { problems, verdict } = await gated(gateSnapshot(), [{ file, text, base: null }])
  expect({ verdict, problems }).toMatchObject({
    verdict: 'unread',
    problems: [{ kind: 'unread', line, field: expect.stringContaining('volumeSize') }],
  })
})

it('is not judged where the kubelet has an instance store', async () => {
  const text = `${nodeClass('20Gi')}  instanceStorePolicy: RAID0\n`
  const { verdict } = await gated(gateSnapshot(), [{ file: 'spot.yaml', text, base: null }])
  expect(verdict).toBe('ok')
})

const mapping = (size: string) =>
  `block_device_mappings {\n    device_name = "/dev/xvda"\n    ebs {\n      volume_size = ${size} # GiB\n    }\n  }`
const template = (size: string) =>
  `resource "aws_launch_template" "nodes" {\n  ${mapping(size)}\n}\n`
const nodegroup = (more: string) =>
  `resource "aws_eks_node_group" "nodes" {\n  node_group_name = "general"\n  ${more}\n}\n`
const module = (size: string) =>
  `module "eks" {\n  eks_managed_node_groups = {\n    general = {\n      block_device_mappings = {\n        xvda = { device_name = "/dev/xvda", ebs = { volume_size = ${size} } }\n      }\n    }\n  }\n}\n`

it.each([
  [
    'eks.tf',
    `${template('50')}${nodegroup('launch_template { id = aws_launch_template.nodes.id }')}`,
    5,
  ],
  ['eks.tf', nodegroup('disk_size = 50'), 3],
  ['general/lt.tf', template('"50"'), 5],
  ['general/eks.tf', module('50'), 5],
  ['general.tfvars', 'node_groups = {\n  general = { disk_size = 50 }\n}\n', 2],
])('reads HCL: %s %#', async (file, text, line) => {
  const { problems, groups } = await gated(gateSnapshot(), [{ file, text, base: null }])
  expect(groups.map(({ group }) => group.name)).toEqual(['general'])
  expect(problems[0]).toMatchObject({ kind: 'eviction', line, values: { after: ['50'] } })
})

it.each([
  ['a size that is known', template('200'), 'ok'],
  ['a size of a variable', template('var.disk'), 'unread'],
  ['user data of a variable', `${template('200')}locals {\n  user_data = var.x\n}\n`, 'unread'],
  ['a size in a comment of several lines', `/*\n${template('50')}\n*/\n${template('200')}`, 'ok'],
  [
    'a size behind a URL',
    template('50 ').replace(
      'device_name',
      'x = "https://a/b" }\n  block_device_mappings {\n    device_name',
    ),
    'worse',
  ],
  ['a size behind a name with an asterisk', `x = "arn:aws:s3:::a/*"\n${template('50')}`, 'worse'],
  ['an expression that begins with a number', template('20 + var.x'), 'unread'],
  ['a size that is null', template('null'), 'ok'],
  ['a device that is an expression', template('50').replace('"/dev/xvda"', 'var.root'), 'unread'],
  [
    'a device of another mapping',
    `${template('50').replace('    device_name = "/dev/xvda"\n', '')}${template('200')}`,
    'unread',
  ],
  [
    'more sizes than are read',
    Array.from({ length: 61 }, () => 'ebs { volume_size = 1 }\n').join(''),
    'unread',
  ],
  ['two sizes of unknown groups', `${module('50')}${module('200')}`, 'unread'],
  ['a size after much else', `${'# a nodegroup\n'.repeat(50_000)}${template('50')}`, 'unread'],
  [
    'another machine',
    'resource "aws_instance" "x" {\n  root_block_device {\n    volume_size = 50\n  }\n}\n# node_group\n',
    'ok',
  ],
])('of HCL with %s', async (_, text, expected) => {
  const texts = [{ file: 'general/lt.tf', text, base: null }]
  expect((await gated(gateSnapshot(), texts)).verdict).toBe(expected)
})

it('gives a size of a module to no nodegroup beside it', async () => {
  const texts = [{ file: 'eks.tf', text: `${module('50')}${nodegroup('')}`, base: null }]
  const { groups } = await gated(gateSnapshot(), texts)
  expect(groups).toEqual([])
})

it('does not judge a partition that does not grow with its volume', async () => {
  const lines = gateWorld().map(line => {
    const record = JSON.parse(line)
    const volumes = [{ VolumeId: 'vol-1', Size: 300, VolumeType: 'gp3', Device: '/dev/xvda' }]
    return record.kind === 'Node' ? JSON.stringify({ ...record, volumes }) : line
  })
  expect(await sizesOf(snapshotOf(lines), '400Gi')).toEqual([])
})

it('names a size of HCL whose nodes are not known', async () => {
  const texts = [{ file: 'lt.tf', text: template('50'), base: null }]
  const { files } = await gated(gateSnapshot(), texts)
  expect(files[0]).toMatchObject({ nodes: 0, reach: expect.stringContaining('--group') })
})

it('names the setting that ends a finding, not the size beside it', async () => {
  const texts = changedTexts({ verdict: 'good', name: 'class-with-volume-and-pool' })
  const { problems } = await gated(gateSnapshot(), texts)
  const better = problems.filter(({ kind }) => kind === 'better')
  expect(better.map(({ rule, field }) => `${rule}: ${field}`)).toContain(
    'alert-before-image-gc: imageGCHighThresholdPercent',
  )
})
