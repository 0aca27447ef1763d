import { describe, expect, it } from 'vitest'
import { outcomeOf } from '#judge/outcome.ts'
import { diskDiffersFromNodeClass } from '#judge/rules/configuration/disk-differs-from-node-class.ts'
import { inodeGrowth } from '#judge/rules/eviction/inode-growth.ts'
import { foreignCleaner } from '#judge/rules/image-gc/foreign-cleaner.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type ContextExample, exampleSubject, type NodeExample } from '#test/example.ts'
import { outcomeIn } from '#test/rule-outcome.ts'

const gibibyte = 1024 ** 3
const pod = (name: string, image: string, path: string | null, phase = 'Running') => ({
  pods: [
    {
      metadata: { namespace: 'ops', name },
      spec: {
        containers: [{ name: 'main', image }],
        volumes: path === null ? [] : [{ name: 'socket', hostPath: { path } }],
      },
      status: { phase },
    },
  ],
})
const socket = '/run/containerd/containerd.sock'

describe('foreign-cleaner', () => {
  it.each([
    { ...pod('a', 'mcr.microsoft.com/oss/eraser/remover:v1', null), is: 'fail' },
    { ...pod('a', 'spotify/docker-gc', null), is: 'fail' },
    { ...pod('a', 'spotify/docker-gc', null, 'Succeeded'), is: 'pass' },
    { ...pod('a', 'ghcr.io/shop/remover:v1', null), is: 'pass' },
    { ...pod('node-image-prune-x7', 'alpine:3', socket), is: 'fail' },
    { ...pod('node-image-prune-x7', 'alpine:3', null), is: 'pass' },
    { ...pod('node-image-prune-x7', 'alpine:3', '/var/log'), is: 'pass' },
    { ...pod('falco-4k2', 'falcosecurity/falco:0.40', socket), is: 'pass' },
  ])('of $pods.0.metadata.name with $pods.0.spec.containers.0.image: $is', ({ pods, is }) => {
    expect(outcomeOf(foreignCleaner, exampleSubject({ pods }), defaultPolicy).state).toBe(is)
  })
})

describe('inode-growth', () => {
  const used = (inodesFree: number | null, availableGib: number): NodeExample => ({
    filesystems: {
      nodefs: {
        ...{ capacityBytes: 100 * gibibyte, availableBytes: availableGib * gibibyte },
        ...{ usedPercent: 0, inodes: 1000, inodesFree },
      },
    },
  })
  it.each([
    { free: 500, availableGib: 60, is: 'fail' },
    { free: 501, availableGib: 60, is: 'pass' },
    { free: 300, availableGib: 30, is: 'pass' }, // both at 70 %
    { free: null, availableGib: 60, is: 'unknown' },
  ])(
    'with $free of 1000 inodes and $availableGib of 100 GiB free: $is',
    ({ free, availableGib, is }) => {
      expect(
        outcomeOf(inodeGrowth, exampleSubject(used(free, availableGib)), defaultPolicy).state,
      ).toBe(is)
    },
  )

  it('gives the days that are left at the mean rate since the node joined', () => {
    const subject = exampleSubject({
      ...used(400, 60),
      at: '2026-11-21T00:00:00Z',
      node: { metadata: { creationTimestamp: '2026-11-15T00:00:00Z' } },
    })
    expect(JSON.stringify(outcomeOf(inodeGrowth, subject, defaultPolicy))).toContain('in 4 days')
  })
})

describe('disk-differs-from-node-class', () => {
  const nodeClass = (spec: object): ContextExample => ({
    identity: { owner: 'karpenter', group: { kind: 'NodePool', namespace: null, name: 'burst' } },
    node: { metadata: { labels: { 'karpenter.k8s.aws/ec2nodeclass': 'burst' } } },
    objects: { 'ec2nodeclasses.karpenter.k8s.aws': [{ metadata: { name: 'burst' }, spec }] },
  })
  const volume = (deviceName: string, volumeSize: string) => ({ deviceName, ebs: { volumeSize } })
  it.each([
    { spec: { blockDeviceMappings: [volume('/dev/xvda', '100Gi')] }, is: 'pass' },
    { spec: { blockDeviceMappings: [volume('/dev/xvda', '118Gi')] }, is: 'fail' },
    { spec: { blockDeviceMappings: [volume('/dev/xvda', '97Gi')] }, is: 'fail' },
    { spec: { blockDeviceMappings: [volume('/dev/xvdb', '500Gi')] }, is: 'pass' },
    { spec: {}, is: 'pass' },
    { spec: { instanceStorePolicy: 'RAID0' }, is: 'unknown' },
  ])('of the class $spec: $is', ({ spec, is }) => {
    expect(outcomeIn(diskDiffersFromNodeClass, nodeClass(spec)).state).toBe(is)
  })

  it('reads the second volume of Bottlerocket', () => {
    const spec = { blockDeviceMappings: [volume('/dev/xvda', '4Gi'), volume('/dev/xvdb', '100Gi')] }
    const example = nodeClass(spec)
    const identity = { ...example.identity, amiFamily: 'Bottlerocket' as const }
    expect(outcomeIn(diskDiffersFromNodeClass, { ...example, identity }).state).toBe('pass')
  })

  it.each([
    { version: 3, sizeGiB: 100, is: 'pass' },
    { version: 3, sizeGiB: 200, is: 'fail' },
    { version: 4, sizeGiB: 200, is: 'unknown' },
    { version: 3, sizeGiB: undefined, is: 'unknown' },
  ])('of version 3 of a launch template with $sizeGiB GiB in version $version: $is', found => {
    const nodegroups = [{ nodegroupName: 'workers', launchTemplate: { id: 'lt-1' } }]
    const { version: versionNumber, sizeGiB } = found
    const volumes = sizeGiB === undefined ? undefined : [{ deviceName: '/dev/xvda', sizeGiB }]
    const launchTemplates = [{ launchTemplateId: 'lt-1', versionNumber, volumes }]
    const labels = {
      'eks.amazonaws.com/sourceLaunchTemplateId': 'lt-1',
      'eks.amazonaws.com/sourceLaunchTemplateVersion': '3',
    }
    const node = { metadata: { labels } }
    const example = { nodegroups, launchTemplates, node }
    expect(outcomeIn(diskDiffersFromNodeClass, example).state).toBe(found.is)
  })
})
