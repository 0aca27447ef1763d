import { describe, expect, it } from 'vitest'
import { diskDiffersFromNodeClass } from '#judge/rules/configuration/disk-differs-from-node-class.ts'
import type { NodeLedger } from '#model/prediction.ts'
import { type ContextExample, exampleSubject } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeIn } from '#test/rule-outcome.ts'

const declares = (diskSize: number) => ({
  nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', diskSize }],
})

const disk = { usedPercent: 50, inodes: null, inodesFree: null }

itJudgesExamples(diskDiffersFromNodeClass, { bad: declares(200), good: declares(100) })

describe('disk-differs-from-node-class', () => {
  it('names the volumes of the node, as far as EC2 reports them', () => {
    const evidenceOf = (volumes: NodeLedger['volumes'] | undefined) => {
      const outcome = outcomeIn(diskDiffersFromNodeClass, { ...declares(200), volumes })
      return outcome.state === 'fail' ? outcome.failing.evidence.slice(2) : null
    }
    const gp3 = { volumeId: 'vol-1', device: '/dev/xvda', type: 'gp3' }
    expect(evidenceOf([{ ...gp3, sizeBytes: 100 * 2 ** 30, iops: 3000 }])).toEqual([
      { kind: 'object', what: 'EBS volume /dev/xvda', value: 'gp3, 100.0 GiB, 3000 IOPS' },
    ])
    expect(evidenceOf(undefined)).toEqual([
      { kind: 'object', what: 'EBS volumes', value: 'unknown' },
    ])
  })

  it.each([
    ['shared', undefined, 'not-grown', ['read-devices', 'reboot']],
    ['imagefs', undefined, 'differs', ['read-devices']],
    ['imagefs', '/dev/nvme0n1p1', 'not-grown', ['reboot']],
  ] as const)('layout %s, device %s: %s', (layout, device, what, steps) => {
    const volume = { volumeId: 'vol-1', device: '/dev/xvda', type: 'gp3', iops: 3000 }
    const nodefs = { ...disk, capacityBytes: 20 * 2 ** 30, availableBytes: 2 ** 30 }
    const filesystems = device === undefined ? [] : [{ role: 'nodefs' as const, device }]
    const outcome = outcomeIn(diskDiffersFromNodeClass, {
      ...declares(200),
      volumes: [{ ...volume, sizeBytes: 200 * 2 ** 30 }],
      filesystems: { layout, nodefs },
      host: { filesystems },
    })
    if (outcome.state !== 'fail') throw new Error(outcome.state)
    expect(outcome.failing.cause).toMatchObject({ kind: 'device', what })
    expect(outcome.failing.steps?.map(({ id }) => id)).toEqual(steps)
  })

  it.each([
    { declared: 150, freeGiB: 10, severity: undefined },
    { declared: 250, freeGiB: 60, severity: 'medium' },
    { declared: 250, freeGiB: 10, severity: 'high' },
  ])('counts less than half of the declared size: $severity', one => {
    const { declared, freeGiB, severity } = one
    const nodefs = { ...disk, capacityBytes: 100 * 2 ** 30, availableBytes: freeGiB * 2 ** 30 }
    const outcome = outcomeIn(diskDiffersFromNodeClass, {
      ...declares(declared),
      filesystems: { layout: 'shared', nodefs },
    })
    expect(outcome.state === 'fail' ? outcome.failing.severity : null).toBe(severity)
  })

  it('keeps one fact for nodes that differ only in the ids of their volumes', () => {
    const factOf = (volumeId: string) =>
      diskDiffersFromNodeClass.fact(
        exampleSubject({
          volumes: [{ volumeId, device: '/dev/xvda', type: 'gp3', sizeBytes: 2 ** 36, iops: 3000 }],
        }),
      )
    expect(factOf('vol-1')).toEqual(factOf('vol-2'))
    expect(factOf('vol-1')).toMatchObject({ volumes: [{ type: 'gp3', iops: 3000 }] })
  })

  it('says nothing of a kubelet whose files have a volume of their own', () => {
    const own = { volumeId: 'vol-2', device: '/dev/xvdb', type: 'gp3', iops: 3000 }
    const stateWith = (sizeBytes: number) =>
      outcomeIn(diskDiffersFromNodeClass, {
        ...declares(20),
        volumes: [
          { ...own, volumeId: 'vol-1', device: '/dev/xvda', sizeBytes: 20 * 2 ** 30 },
          { ...own, sizeBytes },
        ],
      }).state
    expect([100, 300].map(gib => stateWith(gib * 2 ** 30))).toEqual(['pass', 'fail'])
  })

  it.each([
    [4, 'differs', 'map-volume', '/dev/xvda'],
    [2, 'not-grown', 'reboot', '/dev/xvdb'],
  ])('of Bottlerocket with 3 GiB for pods, and %i for its system: %s', (...expected) => {
    const [system, what, step, place] = expected
    const volume = { volumeId: 'vol-1', type: 'gp3', iops: 3000 }
    const nodefs = { ...disk, capacityBytes: 3 * 2 ** 30, availableBytes: 2 ** 30 }
    const outcome = outcomeIn(diskDiffersFromNodeClass, {
      ...declares(50),
      identity: { amiFamily: 'Bottlerocket' },
      filesystems: { nodefs },
      volumes: [
        { ...volume, device: '/dev/xvda', sizeBytes: system * 2 ** 30 },
        { ...volume, device: '/dev/xvdb', sizeBytes: 50 * 2 ** 30 },
      ],
    })
    if (outcome.state !== 'fail') throw new Error(outcome.state)
    expect(outcome.failing.cause).toMatchObject({ what })
    expect(outcome.failing.steps).toMatchObject([{ id: step, place }])
  })

  it('names the reason why the volumes were not read', () => {
    const example = { ...declares(200), volumesUnread: 'ec2:DescribeVolumes is denied' }
    const outcome = outcomeIn(diskDiffersFromNodeClass, example)
    expect(outcome.state === 'fail' && outcome.failing.evidence.at(-1)).toEqual({
      ...{ kind: 'unread', what: 'EBS volumes', value: 'ec2:DescribeVolumes is denied' },
    })
  })

  it('is unknown of a node without labels of its launch template', () => {
    const example: ContextExample = {
      identity: { group: { kind: 'Nodegroup', namespace: null, name: 'workers' } },
      nodegroups: [{ nodegroupName: 'workers', launchTemplate: {} }],
      launchTemplates: [],
    }
    expect(outcomeIn(diskDiffersFromNodeClass, example)).toEqual({
      ...{ state: 'unknown', reason: 'no label of the node names its launch template' },
    })
  })

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
    { spec: { blockDeviceMappings: [volume('/dev/xvdb', '80Gi')] }, is: 'pass' },
    { spec: {}, is: 'pass' },
    { spec: { instanceStorePolicy: 'RAID0' }, is: 'unknown' },
  ])('of the class $spec: $is', ({ spec, is }) => {
    expect(outcomeIn(diskDiffersFromNodeClass, nodeClass(spec)).state).toBe(is)
  })

  it.each([
    ['118Gi', 'replace-node', undefined],
    ['97Gi', 'declare-size', 100 * 2 ** 30],
  ])('has a size of %s that is declared followed by %s', (size, id, bytes) => {
    const spec = { blockDeviceMappings: [volume('/dev/xvda', size)] }
    const outcome = outcomeIn(diskDiffersFromNodeClass, nodeClass(spec))
    expect(outcome.state === 'fail' ? outcome.failing.steps : []).toEqual([
      { id, place: '/dev/xvda', ...(bytes && { bytes }) },
    ])
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

  const attached = (device: string, gib: number) => ({
    ...{ volumeId: null, device, type: 'gp3', sizeBytes: gib * 2 ** 30, iops: 3000 },
  })
  const bottlerocket = (systemGib: number, dataGib: number): ContextExample => ({
    nodegroups: [{ nodegroupName: 'workers', amiType: 'BOTTLEROCKET_x86_64', diskSize: 100 }],
    identity: { amiFamily: 'Bottlerocket' },
    volumes: [attached('/dev/xvda', systemGib), attached('/dev/xvdb', dataGib)],
  })

  it.each([
    ['the system volume is the larger one', bottlerocket(200, 100), 'high'],
    ['the system volume has the size of its image', bottlerocket(4, 100), undefined],
    ['the data volume is the larger one', bottlerocket(50, 100), undefined],
  ])('of Bottlerocket, where %s', (_, example, severity) => {
    const outcome = outcomeIn(diskDiffersFromNodeClass, example)
    expect(outcome.state === 'fail' ? outcome.failing.severity : undefined).toBe(severity)
  })

  it('takes the size of the Node object, if the statistics were not read', () => {
    const outcome = outcomeIn(diskDiffersFromNodeClass, {
      ...declares(200),
      filesystems: { layout: null, nodefs: null, imagefs: null },
      node: { status: { capacity: { 'ephemeral-storage': '20G' } } },
    })
    expect(outcome).toMatchObject({
      failing: { cause: { kind: 'device', what: 'differs', actualBytes: 20_000_000_000 } },
    })
  })

  it('has a Windows node with a small drive replaced', () => {
    const outcome = outcomeIn(diskDiffersFromNodeClass, {
      nodegroups: [
        { nodegroupName: 'workers', amiType: 'WINDOWS_CORE_2022_x86_64', diskSize: 200 },
      ],
      identity: { amiFamily: 'Windows', operatingSystem: 'windows' },
      volumes: [attached('/dev/sda1', 200)],
    })
    expect(outcome).toMatchObject({
      failing: { cause: { device: '/dev/sda1' }, steps: [{ id: 'replace-node' }] },
    })
  })

  it('of Bottlerocket, whose volumes were not read: a filesystem is a little smaller than its volume', () => {
    const { volumes: _, ...unread } = bottlerocket(100, 100)
    expect(outcomeIn(diskDiffersFromNodeClass, unread).state).toBe('pass')
  })

  it('takes a logical volume of the image for one that no boot grows', () => {
    const device = '/dev/mapper/vg0-var'
    const outcome = outcomeIn(diskDiffersFromNodeClass, {
      ...declares(400),
      volumes: [attached('/dev/xvda', 400)],
      host: { filesystems: [{ role: 'nodefs', device }] },
    })
    expect(outcome.state === 'fail' && outcome.failing).toMatchObject({
      cause: { kind: 'device', what: 'own-partition', device },
      steps: [{ id: 'grow-partition', place: device, bytes: 400 * 2 ** 30 }],
    })
  })

  it.each<[string, ContextExample, string | null]>([
    ['Bottlerocket', bottlerocket(4, 200), '/dev/xvdb'],
    [
      'a volume grown by hand',
      { ...declares(100), volumes: [attached('/dev/xvda', 200)] },
      '/dev/xvda',
    ],
    [
      'the declared volume',
      { ...declares(400), volumes: [attached('/dev/xvda', 400)] },
      '/dev/xvda',
    ],
    ['an unknown declaration', { volumes: [attached('/dev/xvda', 200)] }, null],
  ])('a filesystem smaller than its volume: %s', (_, example, device) => {
    const outcome = outcomeIn(diskDiffersFromNodeClass, example)
    const cause = outcome.state === 'fail' ? outcome.failing.cause : null
    expect(cause?.kind === 'device' && cause.what === 'not-grown' ? cause.device : null).toBe(
      device,
    )
  })

  it('names the volume to map on Bottlerocket, also from the node class alone', () => {
    const spec = { blockDeviceMappings: [volume('/dev/xvda', '300Gi')] }
    const example = nodeClass(spec)
    const identity = { ...example.identity, amiFamily: 'Bottlerocket' as const }
    const outcome = outcomeIn(diskDiffersFromNodeClass, { ...example, identity })
    expect(outcome).toMatchObject({
      failing: {
        cause: { kind: 'device', what: 'wrong-volume', device: '/dev/xvdb' },
        steps: [{ id: 'map-volume', place: '/dev/xvdb', bytes: 300 * 2 ** 30 }],
      },
    })
  })

  describe('the only declared volume is beside that of kubelet and runtime', () => {
    const GiB = 2 ** 30
    const nodefs = (usedPercent: number) => ({
      ...{ ...disk, usedPercent, capacityBytes: 20 * GiB },
      availableBytes: (1 - usedPercent / 100) * 20 * GiB,
    })
    const beside = (usedPercent = 90, more: ContextExample = {}): ContextExample => ({
      ...nodeClass({ blockDeviceMappings: [volume('/dev/xvdb', '500Gi')] }),
      filesystems: { layout: 'shared', nodefs: nodefs(usedPercent) },
      volumes: [attached('/dev/xvda', 20), attached('/dev/xvdb', 500)],
      ...more,
    })
    const devices = (isUsed: boolean): ContextExample => ({
      host: {
        diskUse: {
          devices: [
            { name: 'nvme0n1', bytes: 20 * GiB, model: 'Amazon Elastic Block Store', isUsed: true },
            { name: 'nvme1n1', bytes: 500 * GiB, model: 'Amazon Elastic Block Store', isUsed },
          ],
        },
      },
    })
    const imagefs = { ...nodefs(20), capacityBytes: 498 * GiB, availableBytes: 400 * GiB }
    const mapped = (...mappings: object[]) => ({
      ...beside(),
      ...nodeClass({ blockDeviceMappings: mappings }),
    })
    const withUserData = (): ContextExample => ({
      ...beside(),
      ...nodeClass({ blockDeviceMappings: [volume('/dev/xvdb', '500Gi')], userData: null }),
    })
    it.each<[string, ContextExample, string | null]>([
      ['the disk is used', beside(), 'high'],
      ['the disk is not used', beside(30), 'medium'],
      ['the node shows that nothing mounts it', beside(30, devices(false)), 'high'],
      ['the volumes were not read', beside(90, { volumes: null }), 'high'],
      ['user data may mount it', withUserData(), 'medium'],
      ['user data does not mount it', { ...withUserData(), ...devices(false) }, 'high'],
      ['something mounts it', beside(90, devices(true)), null],
      [
        'images are on it',
        beside(90, { filesystems: { layout: 'imagefs', nodefs: nodefs(90), imagefs } }),
        null,
      ],
      [
        'the node is older than the mapping',
        beside(90, { volumes: [attached('/dev/xvda', 20)] }),
        null,
      ],
      ['it is not larger', { ...mapped(volume('/dev/xvdb', '20Gi')) }, null],
      [
        'the volume of the system is declared too',
        mapped(volume('/dev/xvda', '20Gi'), volume('/dev/xvdb', '500Gi')),
        null,
      ],
      [
        'two volumes are declared',
        mapped(volume('/dev/xvdb', '500Gi'), volume('/dev/xvdc', '500Gi')),
        null,
      ],
      [
        'it is that of an own image',
        beside(90, { identity: { ...beside().identity, amiFamily: 'other' } }),
        null,
      ],
    ])('%s: %s', (_, example, severity) => {
      const outcome = outcomeIn(diskDiffersFromNodeClass, example)
      const failing = outcome.state === 'fail' ? outcome.failing : null
      const isWrong = failing?.cause?.kind === 'device' && failing.cause.what === 'wrong-volume'
      expect(isWrong ? failing?.severity : null).toBe(severity)
    })

    it('looks whether user data mounts the volume before it maps one', () => {
      const outcome = outcomeIn(diskDiffersFromNodeClass, withUserData())
      const { steps, evidence } = (outcome.state === 'fail' && outcome.failing) || { evidence: [] }
      expect(steps).toEqual([{ id: 'read-devices' }])
      expect(evidence.map(({ what }) => what)).not.toContain('mapping to write')
    })

    it('names the mapping to write, of a launch template too', () => {
      const labels = {
        'eks.amazonaws.com/sourceLaunchTemplateId': 'lt-1',
        'eks.amazonaws.com/sourceLaunchTemplateVersion': '3',
      }
      const volumes = [{ deviceName: '/dev/sda1', sizeGiB: 500 }]
      const outcome = outcomeIn(diskDiffersFromNodeClass, {
        filesystems: { layout: 'shared', nodefs: nodefs(90) },
        volumes: [attached('/dev/xvda', 20), attached('/dev/sda1', 500)],
        nodegroups: [{ nodegroupName: 'workers', launchTemplate: { id: 'lt-1' } }],
        launchTemplates: [{ launchTemplateId: 'lt-1', versionNumber: 3, volumes }],
        node: { metadata: { labels } },
        ...devices(false),
      })
      expect(outcome).toMatchObject({
        failing: {
          cause: { declaredBytes: 500 * GiB, actualBytes: 20 * GiB, device: '/dev/xvda' },
          steps: [{ id: 'map-volume', place: '/dev/xvda', bytes: 500 * GiB }],
        },
      })
      const { evidence } = (outcome.state === 'fail' && outcome.failing) || { evidence: [] }
      expect(evidence.map(({ value }) => value)).toContain(
        'deviceName: /dev/xvda, ebs: {volumeSize: 500Gi}',
      )
    })
  })
})
