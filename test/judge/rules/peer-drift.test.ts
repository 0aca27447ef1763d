import { describe, expect, it } from 'vitest'
import { openJudgement } from '#judge/judge.ts'
import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import { buildNode, type NodeOptions, takenAt } from '#test/node-builder.ts'

function judged(nodes: NodeOptions[]) {
  const judgement = openJudgement([peerDrift], defaultPolicy)
  nodes.forEach((options, index) => {
    const { record, prediction } = buildNode({ name: `node-${index}`, ...options })
    judgement.take(inputOf(record), prediction)
  })
  return judgement.close(takenAt)
}

const outliers = (...configurations: KubeletConfiguration[]) =>
  judged(configurations.map(configuration => ({ configuration }))).findings.flatMap(
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
    const { findings } = judged(
      [norm, norm, edited, norm].map(configuration => ({ configuration })),
    )
    expect(findings).toHaveLength(1)
    expect(findings[0]?.nodes).toEqual({ count: 1, sample: ['node-2'] })
    expect(findings[0]?.evidence.map(({ what }) => what)).toEqual(['layer', `configz ${path}`])
    expect(findings[0]?.evidence[1]?.value).toMatchSnapshot()
  })

  it('counts the nodes of each value and names outliers of all fields once', () => {
    const { findings, clusters } = judged([
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
    const [finding] = judged(
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
      judged([{}, { configuration: { containerLogMaxFiles: 3 } }]).findings[0]?.confidence,
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
    const { findings, clusters } = judged([{}, {}, { ...edited, ...options }])
    expect(findings).toEqual([])
    expect(clusters.reduce((sum, { outcomes }) => sum + outcomes.notApplicable, 0)).toBe(1)
  })

  it('another patch of the same minor is', () => {
    expect(
      judged([{}, {}, { ...edited, identity: { kubeletVersion: 'v1.34.9' } }]).findings,
    ).toHaveLength(1)
  })

  it('reservations and pod limits only among equal instance types', () => {
    const large = {
      identity: { instanceType: 'm5.4xlarge' },
      configuration: { maxPods: 234, kubeReserved: { memory: '2829Mi' } },
    }
    const small = { configuration: { maxPods: 58, kubeReserved: { memory: '893Mi' } } }
    expect(judged([small, small, large]).findings).toEqual([])
    expect(
      judged([
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
    const { findings } = judged([{}, {}, edited, old, old, { ...old, ...edited }])
    expect(findings).toHaveLength(1)
    expect(findings[0]?.nodes.sample).toEqual(['node-2', 'node-5'])
  })

  it('leaves a node open whose peers could not be read', () => {
    const unread = { record: { configz: null } }
    expect(judged([{}, unread]).clusters[0]?.outcomes).toMatchObject({ pass: 0, unknown: 2 })
    expect(judged([{}, {}, unread]).clusters[0]?.outcomes).toMatchObject({ pass: 2, unknown: 1 })
  })
})
