import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { baselineDrift } from '#judge/rules/drift/baseline-drift.ts'
import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import { openJudgement } from '#judge/run/judge.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { type Baseline, defaultPolicy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import type { NodeExample } from '#test/example.ts'
import { baselineExamples } from '#test/examples/baseline-drift.ts'
import { buildNode, type NodeOptions, takenAt } from '#test/node-builder.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { judged, withImage } from '#test/rules/drift-others.ts'

const node = (high: number): NodeExample => ({
  configuration: { imageGCHighThresholdPercent: high },
})

itJudgesExamples(peerDrift, {
  bad: [node(80), node(80), node(95)],
  good: [node(80), node(80), node(80)],
})

describe('peer-drift', () => {
  const edited = { configuration: { containerLogMaxFiles: 3 } }
  const peers = (...nodes: NodeOptions[]) =>
    judged([peerDrift], nodes).flatMap(({ nodes }) => nodes.sample)

  it.each<[string, NodeOptions]>([
    [
      'AMI',
      withImage('Amazon Linux 2023.6.20250203', { 'eks.amazonaws.com/nodegroup-image': 'ami-2' }),
    ],
    ['release', withImage('Amazon Linux 2023.9.20251208')],
    [
      'launch template version',
      withImage('Amazon Linux 2023.6.20250203', {
        'eks.amazonaws.com/sourceLaunchTemplateVersion': '3',
      }),
    ],
    [
      'node class',
      withImage(
        'Amazon Linux 2023.6.20250203',
        {},
        { 'karpenter.k8s.aws/ec2nodeclass-hash': 'old' },
      ),
    ],
  ])('compares no nodes of another %s', (_, other) => {
    const configz = { kubeletconfig: { containerLogMaxFiles: 3 } }
    expect(peers({}, {}, { ...other, record: { ...other.record, configz } })).toEqual([])
    expect(peers({}, {}, edited)).toEqual(['node-2'])
  })
})

describe('peer-drift beside what is declared, or written in the policy', () => {
  const launchTemplate = { id: 'lt-1', name: 'web', version: '4' }
  const declares = (kubelet: RawObject | null) => ({
    nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', launchTemplate }],
    launchTemplates: [
      { launchTemplateId: 'lt-1', launchTemplateName: 'web', versionNumber: 4, kubelet },
    ],
  })
  const gc = (high: number, low = 60) => ({
    configuration: {
      ...baselineExamples.good.configuration,
      imageGCHighThresholdPercent: high,
      imageGCLowThresholdPercent: low,
    },
  })
  const seventy = declares({
    config: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 },
    flags: [],
    source: 'nodeadm',
  })
  const wish: Baseline[] = [
    {
      match: {},
      configuration: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 },
    },
  ]
  const drifts = [lostOnTheWay, baselineDrift, peerDrift]
  const fired = (nodes: NodeOptions[], cluster: RawObject, baseline: Baseline[] = []) =>
    judged(drifts, nodes, cluster, { baseline }).map(({ rule, nodes }) =>
      [rule, ...nodes.sample].join(' '),
    )

  it.each<[string, NodeOptions[], RawObject, Baseline[], string[]]>([
    [
      'is silent of the few that run what was declared',
      [gc(95), gc(95), gc(70)],
      seventy,
      [],
      ['lost-on-the-way node-0 node-1'],
    ],
    [
      'or what the baseline says',
      [gc(95), gc(95), gc(70)],
      {},
      wish,
      ['baseline-drift node-0 node-1'],
    ],
    [
      'lets the declaration decide a tie',
      [gc(85, 60), gc(70)],
      seventy,
      [],
      ['lost-on-the-way node-0', 'peer-drift node-0'],
    ],
    [
      'lets the baseline decide a tie',
      [gc(85, 60), gc(70)],
      {},
      wish,
      ['baseline-drift node-0', 'peer-drift node-0'],
    ],
    [
      'and is silent in a tie where no node has it',
      [gc(95), gc(90)],
      seventy,
      [],
      ['lost-on-the-way node-0 node-1'],
    ],
    [
      'names the few that are as their image comes',
      [gc(95, 80), gc(95, 80), gc(85, 80)],
      declares(null),
      [],
      ['baseline-drift node-0 node-1', 'peer-drift node-2'],
    ],
  ])('%s', (_, nodes, cluster, baseline, expected) => {
    expect(fired(nodes, cluster, baseline)).toEqual(expected)
  })

  it('says no more than is so', () => {
    const text = (nodes: NodeOptions[], cluster: RawObject) =>
      judged([peerDrift], nodes, cluster)[0]?.consequence
    const brings = "a replacement brings back the group's own setting"
    expect(text([gc(85, 80), gc(85, 80), gc(95, 80)], declares(null))).toContain(brings)
    expect(text([gc(70), gc(70), gc(95)], seventy)).toContain(brings)
    expect(text([gc(85, 80), gc(85, 80), gc(95, 80)], {})).not.toContain(brings)
    const asImage = text([gc(95, 80), gc(95, 80), gc(85, 80)], declares(null))
    expect(asImage).not.toContain(brings)
    expect(asImage).toMatchSnapshot()
    const each = text(
      ['containerLogMaxFiles', 'registryBurst', 'podPidsLimit'].map(field => ({
        configuration: { [field]: 77 },
      })),
      {},
    )
    expect(each).toMatch(/^Each of the 3 nodes /)
  })
})

describe('peer-drift of reservations between sizes', () => {
  const sizes = { 'm5.large': '2', 'm5.xlarge': '4', 'm5.2xlarge': '8' }
  const node = (
    instanceType: keyof typeof sizes,
    kubeReserved: Record<string, string>,
    systemReserved: Record<string, string> = {},
  ): NodeOptions => {
    const base = buildNode({
      identity: { instanceType },
      configuration: { kubeReserved, systemReserved },
    }).record
    const status = {
      ...base.node.status,
      capacity: { cpu: sizes[instanceType], memory: `${Number(sizes[instanceType]) * 4}Gi` },
    }
    return { record: { node: { ...base.node, status }, configz: base.configz } }
  }
  const found = (...nodes: NodeOptions[]) =>
    judged([peerDrift], nodes).map(({ confidence, nodes, evidence }) => [
      confidence,
      ...nodes.sample,
      ...evidence.slice(1).map(({ what }) => what.replace('configz ', '')),
    ])
  const small = node('m5.large', { cpu: '70m', memory: '574Mi' })
  const middle = node('m5.xlarge', { cpu: '80m', memory: '893Mi' })

  it.each<[string, NodeOptions, string[][]]>([
    ['by the formula', node('m5.2xlarge', { cpu: '90m', memory: '893Mi' }), []],
    [
      'much more',
      node('m5.2xlarge', { cpu: '2000m', memory: '12Gi' }),
      [['likely', 'node-2', 'kubeReserved.cpu (m5.2xlarge)', 'kubeReserved.memory (m5.2xlarge)']],
    ],
    [
      'for the system',
      node('m5.2xlarge', { cpu: '90m', memory: '893Mi' }, { memory: '4Gi' }),
      [['likely', 'node-2', 'systemReserved.memory (m5.2xlarge)']],
    ],
  ])('%s', (_, third, expected) => {
    expect(found(small, middle, third)).toEqual(expected)
  })

  it('is silent where the group has its own measure', () => {
    const fixed = { cpu: '500m', memory: '1Gi' }
    expect(
      found(node('m5.large', fixed), node('m5.xlarge', fixed), node('m5.2xlarge', fixed)),
    ).toEqual([])
    const system = (type: keyof typeof sizes, memory: string) => node(type, {}, { memory })
    expect(
      found(
        system('m5.large', '500Mi'),
        system('m5.large', '500Mi'),
        system('m5.xlarge', '1000Mi'),
      ),
    ).toEqual([])
    expect(
      found(system('m5.large', '500Mi'), system('m5.large', '500Mi'), system('m5.xlarge', '3Gi')),
    ).toHaveLength(1)
  })
})

function judgedPeers(nodes: NodeOptions[]) {
  const judgement = openJudgement([peerDrift], defaultPolicy)
  nodes.forEach((options, index) => {
    const { record, prediction } = buildNode({ name: `node-${index}`, ...options })
    judgement.take(inputOf(record), prediction)
  })
  return judgement.close(takenAt)
}

const outliers = (...configurations: KubeletConfiguration[]) =>
  judgedPeers(configurations.map(configuration => ({ configuration }))).findings.flatMap(
    ({ nodes }) => nodes.sample,
  )

const trio = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' }

describe('equal settings, however written', () => {
  it.each<[KubeletConfiguration, KubeletConfiguration]>([
    [{ containerLogMaxSize: '1Gi' }, { containerLogMaxSize: '1024Mi' }],
    [{ evictionPressureTransitionPeriod: '5m0s' }, { evictionPressureTransitionPeriod: '300s' }],
    [{ imageMaximumGCAge: '24h0m0s' }, { imageMaximumGCAge: '1440m' }],
    [
      { evictionHard: { ...trio } },
      { evictionHard: Object.fromEntries(Object.entries(trio).reverse()) },
    ],
    [
      { evictionHard: { ...trio, 'memory.available': '1Gi' } },
      { evictionHard: { ...trio, 'memory.available': '1048576Ki' } },
    ],
    [
      { evictionHard: { ...trio, 'nodefs.available': '10%' } },
      { evictionHard: { ...trio, 'nodefs.available': '10.0%' } },
    ],
    [{ evictionSoft: {} }, {}],
    [{ kubeReserved: {} }, {}],
    [
      { kubeReserved: { cpu: '0.08', memory: '893Mi' } },
      { kubeReserved: { memory: '914432Ki', cpu: '80m' } },
    ],
    [
      { enforceNodeAllocatable: ['pods', 'kube-reserved'] },
      { enforceNodeAllocatable: ['kube-reserved', 'pods'] },
    ],
    [{ containerLogMaxFiles: 5, evictionMaxPodGracePeriod: 0 }, {}],
    [{ nodeStatusMaxImages: 50 }, {}],
    [{ podPidsLimit: -1 }, { podPidsLimit: -5 }],
    [{ evictionHard: { ...trio, 'imagefs.available': '0%' } }, { evictionHard: trio }],
    [{ evictionHard: { ...trio, 'imagefs.available': '0' } }, { evictionHard: trio }],
    [
      { evictionHard: { ...trio, 'imagefs.available': '0.0%' } },
      { evictionHard: { ...trio, 'imagefs.available': '100%' } },
    ],
    [{ evictionMinimumReclaim: { 'nodefs.available': '0' } }, {}],
    [{ systemReserved: { memory: '0Mi' } }, {}],
    [{ featureGates: { RotateKubeletServerCertificate: true } }, {}],
    [{ featureGates: { NodeSwap: true, AllAlpha: false } }, { featureGates: {} }],
  ])('%j and %j', (a, b) => {
    expect(outliers(a, b, b)).toEqual([])
  })
})

describe('settings that differ', () => {
  it.each<[string, KubeletConfiguration, KubeletConfiguration]>([
    [
      'imageGCHighThresholdPercent',
      { imageGCHighThresholdPercent: 80 },
      { imageGCHighThresholdPercent: 95 },
    ],
    ['imageMinimumGCAge', {}, { imageMinimumGCAge: '3m0s' }],
    [
      'evictionHard.nodefs.available',
      { evictionHard: trio },
      { evictionHard: { ...trio, 'nodefs.available': '15%' } },
    ],
    [
      'evictionHard.imagefs.available',
      { evictionHard: trio },
      { evictionHard: { ...trio, 'imagefs.available': '15%' } },
    ],
    [
      'evictionHard.nodefs.available',
      { evictionHard: trio },
      { evictionHard: { ...trio, 'nodefs.available': '0%' } },
    ],
    [
      'evictionMinimumReclaim.nodefs.available',
      {},
      { evictionMinimumReclaim: { 'nodefs.available': '100%' } },
    ],
    [
      'featureGates.RotateKubeletServerCertificate',
      {},
      { featureGates: { RotateKubeletServerCertificate: false } },
    ],
    [
      'evictionHard.nodefs.inodesFree',
      { evictionHard: trio },
      { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } },
    ],
    [
      'evictionSoftGracePeriod.memory.available',
      {},
      { evictionSoftGracePeriod: { 'memory.available': '1m' } },
    ],
    [
      'evictionMinimumReclaim.nodefs.available',
      {},
      { evictionMinimumReclaim: { 'nodefs.available': '1Gi' } },
    ],
    ['containerLogMaxFiles', {}, { containerLogMaxFiles: 3 }],
    [
      'kubeReserved.memory (m5.xlarge)',
      { kubeReserved: { memory: '893Mi' } },
      { kubeReserved: { memory: '1Gi' } },
    ],
    ['systemReserved.cpu (m5.xlarge)', {}, { systemReserved: { cpu: '100m' } }],
    ['maxPods (m5.xlarge)', { maxPods: 58 }, { maxPods: 110 }],
    ['enforceNodeAllocatable', {}, { enforceNodeAllocatable: ['pods', 'system-reserved'] }],
  ])('%s', (path, norm, edited) => {
    const { findings } = judgedPeers(
      [norm, norm, edited, norm].map(configuration => ({ configuration })),
    )
    expect(findings).toHaveLength(1)
    expect(findings[0]?.nodes).toEqual({ count: 1, sample: ['node-2'] })
    expect(findings[0]?.evidence.map(({ what }) => what)).toEqual(['layer', `configz ${path}`])
    expect(findings[0]?.evidence[1]?.value).toMatchSnapshot()
  })

  it('counts the nodes of each value and names outliers of all fields once', () => {
    const { findings, clusters } = judgedPeers([
      ...Array.from({ length: 9 }, () => ({})),
      { configuration: { containerLogMaxFiles: 3, imageGCHighThresholdPercent: 95 } },
      { configuration: { containerLogMaxFiles: 3 } },
    ])
    expect(findings[0]?.nodes).toEqual({ count: 2, sample: ['node-10', 'node-9'] })
    expect(findings[0]?.evidence).toMatchSnapshot()
    expect(clusters[0]?.outcomes).toMatchObject({ pass: 9, fail: 2 })
  })
})

describe('ties', () => {
  it.each<[string, KubeletConfiguration[], string[]]>([
    [
      "the kubelet's default is the norm",
      [{ containerLogMaxFiles: 5 }, { containerLogMaxFiles: 3 }],
      ['node-1'],
    ],
    [
      "the image's default is the norm",
      [{ evictionHard: { ...trio, 'imagefs.available': '15%' } }, { evictionHard: trio }],
      ['node-0'],
    ],
    [
      'with no default among them the nearest to it is left out',
      [{ containerLogMaxFiles: 3 }, { containerLogMaxFiles: 4 }],
      ['node-0'],
    ],
    [
      'so it is with percentages',
      [{ imageGCHighThresholdPercent: 75 }, { imageGCHighThresholdPercent: 70 }],
      ['node-1'],
    ],
    [
      'and with quantities',
      [
        { evictionHard: { ...trio, 'memory.available': '1Gi' } },
        { evictionHard: { ...trio, 'memory.available': '200Mi' } },
      ],
      ['node-0'],
    ],
    [
      'of another unit is never nearer',
      [
        { evictionHard: { ...trio, 'nodefs.available': '10Gi' } },
        { evictionHard: { ...trio, 'nodefs.available': '30%' } },
      ],
      ['node-0'],
    ],
    [
      'reservations have no default: the first as sorted is left out',
      [{ kubeReserved: { memory: '1Gi' } }, {}],
      ['node-0'],
    ],
    [
      'a majority beats the default',
      [{ containerLogMaxFiles: 3 }, { containerLogMaxFiles: 3 }, { containerLogMaxFiles: 5 }],
      ['node-2'],
    ],
    [
      'the default is no norm where it is not among the tied',
      [3, 3, 4, 4, 5].map(containerLogMaxFiles => ({ containerLogMaxFiles })),
      ['node-0', 'node-1', 'node-4'],
    ],
  ])('%s', (_, configurations, names) => {
    expect(outliers(...configurations)).toEqual(names)
  })

  it('without a norm are only possible, and say so', () => {
    const [finding] = judgedPeers(
      [70, 75].map(high => ({ configuration: { imageGCHighThresholdPercent: high } })),
    ).findings
    expect(finding).toMatchObject({
      confidence: 'possible',
      nodes: { count: 1, sample: ['node-0'] },
      consequence: expect.stringContaining('no value has a majority'),
      evidence: [
        { value: 'peers' },
        {
          value:
            '75 on 1 node (no value has a majority: compared with this one); 70 on 1 node (node-0)',
        },
      ],
    })
  })

  it('with a norm are certain', () => {
    expect(
      judgedPeers([{}, { configuration: { containerLogMaxFiles: 3 } }]).findings[0]?.confidence,
    ).toBe('certain')
  })
})

describe('values that the kubelet would not read', () => {
  it('are compared as they are written', () => {
    const log = (containerLogMaxSize: string) => ({ containerLogMaxSize })
    expect(outliers(log('10 Mi'), log('10 Mi'), log('10Mi'))).toEqual(['node-2'])
    expect(outliers(log(`1${'0'.repeat(10_000)}`), log('10Mi'), log('10Mi'))).toEqual(['node-0'])
    const age = (imageMaximumGCAge: string) => ({ imageMaximumGCAge })
    expect(outliers(age('1d'), age('0s'), age('0s'))).toEqual(['node-0'])
  })
})

describe('who is compared', () => {
  const edited = { configuration: { containerLogMaxFiles: 3 } }

  it.each([
    ['another nodegroup', { nodegroup: 'other' }],
    ['another cluster', { cluster: 'test' }],
    ['no nodegroup', { nodegroup: null }],
    ['another kubelet minor', { identity: { kubeletVersion: 'v1.33.5-eks-0000000' } }],
  ])('not with a node of %s', (_, options) => {
    const { findings, clusters } = judgedPeers([{}, {}, { ...edited, ...options }])
    expect(findings).toEqual([])
    expect(clusters.reduce((sum, { outcomes }) => sum + outcomes.notApplicable, 0)).toBe(1)
  })

  it('another patch of the same minor is', () => {
    expect(
      judgedPeers([{}, {}, { ...edited, identity: { kubeletVersion: 'v1.34.9' } }]).findings,
    ).toHaveLength(1)
  })

  it('reservations and pod limits only among equal instance types', () => {
    const large = {
      identity: { instanceType: 'm5.4xlarge' },
      configuration: { maxPods: 234, kubeReserved: { memory: '2829Mi' } },
    }
    const small = { configuration: { maxPods: 58, kubeReserved: { memory: '893Mi' } } }
    expect(judgedPeers([small, small, large]).findings).toEqual([])
    expect(
      judgedPeers([
        small,
        small,
        large,
        large,
        { ...large, configuration: { maxPods: 250, kubeReserved: { memory: '2829Mi' } } },
      ]).findings,
    ).toMatchObject([
      {
        nodes: { sample: ['node-4'] },
        evidence: [{ value: 'peers' }, { what: 'configz maxPods (m5.4xlarge)' }],
      },
    ])
  })

  it('is one finding on a nodegroup whose two minors both have outliers', () => {
    const old = { identity: { kubeletVersion: 'v1.33.5' } }
    const { findings } = judgedPeers([{}, {}, edited, old, old, { ...old, ...edited }])
    expect(findings).toHaveLength(1)
    expect(findings[0]?.nodes.sample).toEqual(['node-2', 'node-5'])
  })

  it('leaves a node open whose peers could not be read', () => {
    const unread = { record: { configz: null } }
    expect(judgedPeers([{}, unread]).clusters[0]?.outcomes).toMatchObject({ pass: 0, unknown: 2 })
    expect(judgedPeers([{}, {}, unread]).clusters[0]?.outcomes).toMatchObject({
      pass: 2,
      unknown: 1,
    })
  })
})
