/** The gate on sizes of volumes. */
import { expect, it } from 'vitest'
import { gated, gateSnapshot, snapshotOf } from '#test/gate-changes.ts'
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
