import { describe, expect, it } from 'vitest'
import { baselineDrift } from '#judge/rules/drift/baseline-drift.ts'
import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import type { Baseline } from '#model/policy.ts'
import type { RawObject } from '#model/record.ts'
import type { NodeExample } from '#test/example.ts'
import { baselineExamples } from '#test/examples/baseline-drift.ts'
import { buildNode, type NodeOptions } from '#test/node-builder.ts'
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
      'and is silent of a tie in which nobody has it',
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
