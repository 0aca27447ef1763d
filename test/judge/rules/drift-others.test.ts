import { describe, expect, it } from 'vitest'
import { openJudgement } from '#judge/judge.ts'
import { outcomeOf } from '#judge/outcome.ts'
import type { Rule } from '#judge/rule.ts'
import { baselineDrift } from '#judge/rules/drift/baseline-drift.ts'
import { changedNotRestarted } from '#judge/rules/drift/changed-not-restarted.ts'
import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import { versionSkewDrift } from '#judge/rules/drift/version-skew-drift.ts'
import { ineffectiveLogRotation } from '#judge/rules/logs/ineffective-log-rotation.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import { type Baseline, defaultPolicy, type Policy } from '#model/policy.ts'
import type { RawObject } from '#model/record.ts'
import { clusterOf, inputOf } from '#test/at-the-door.ts'
import type { ContextExample } from '#test/example.ts'
import { exampleSubject } from '#test/example.ts'
import { baselineExamples } from '#test/examples/baseline-drift.ts'
import { restartExamples } from '#test/examples/changed-not-restarted.ts'
import { buildNode, type NodeOptions, takenAt } from '#test/node-builder.ts'
import { outcomeIn } from '#test/rule-outcome.ts'

const high = (imageGCHighThresholdPercent: number) => ({ imageGCHighThresholdPercent })
const withImage = (
  osImage: string,
  labels: Record<string, string> = {},
  annotations: Record<string, string> = {},
): NodeOptions => {
  const { record } = buildNode({ labels })
  const { metadata, status } = record.node
  return {
    labels,
    record: {
      node: {
        metadata: { ...metadata, annotations },
        status: { ...status, nodeInfo: { ...status?.nodeInfo, osImage } },
      },
    },
  }
}

function judged(
  rules: Rule[],
  nodes: NodeOptions[],
  cluster: RawObject = {},
  policy: Partial<Policy> = {},
) {
  const judgement = openJudgement(rules, { ...defaultPolicy, ...policy })
  judgement.takeCluster(clusterOf({ errors: [], ...cluster }))
  nodes.forEach((options, index) => {
    const { record, prediction } = buildNode({ name: `node-${index}`, ...options })
    const name = `node-${index}`
    judgement.take(
      inputOf({ ...record, node: { ...record.node, metadata: { ...record.node.metadata, name } } }),
      prediction,
    )
  })
  return judgement.close(takenAt).findings
}

describe('changed-not-restarted', () => {
  const { bad, good } = restartExamples
  const judge = (example: ContextExample) =>
    outcomeOf(changedNotRestarted, exampleSubject(example), defaultPolicy)
  const nextStart = bad.nextStart
  if (!nextStart?.settings) throw new Error('the example has no files')
  const { settings } = nextStart

  it('names the file, what it says and what runs', () => {
    expect(judge(bad)).toMatchObject({
      failing: {
        confidence: 'certain',
        evidence: [
          { kind: 'layer', what: 'layer', value: 'configz' },
          {
            kind: 'declared',
            what: 'file imageGCHighThresholdPercent',
            value: '70 (/etc/kubernetes/kubelet/config.json)',
          },
          { kind: 'configz', what: 'imageGCHighThresholdPercent', value: '85' },
        ],
      },
    })
  })

  it('sees a key of a map that the files no longer have', () => {
    const configuration = {
      ...good.configuration,
      evictionHard: { ...good.configuration?.evictionHard, 'pid.available': '5%' },
    }
    expect(judge({ ...good, configuration })).toMatchObject({
      failing: {
        evidence: expect.arrayContaining([
          {
            kind: 'declared',
            what: 'file evictionHard.pid.available',
            value: 'none (no file names it)',
          },
        ]),
      },
    })
  })

  it('is silent about another spelling', () => {
    expect(
      judge({
        ...good,
        configuration: {
          ...good.configuration,
          imageMinimumGCAge: '120s',
          containerLogMaxSize: '10240Ki',
        },
      }).state,
    ).toBe('pass')
  })

  it.each<[string, ContextExample]>([
    ['files that nobody read', { configuration: bad.configuration }],
    ['files that do not load', { ...bad, nextStart: { ...nextStart, settings: null } }],
    ['files that would be refused', { ...bad, nextStart: { ...nextStart, errors: ['invalid'] } }],
    [
      'flags that were not told',
      { ...bad, nextStart: { ...nextStart, settings: { ...settings, isCommandLineKnown: false } } },
    ],
    [
      'sound files of which one was not read',
      { ...good, doubts: { nextStart: 'one was not read' } },
    ],
  ])('is unknown for %s', (_, example) => {
    expect(judge(example).state).toBe('unknown')
  })

  it('is only likely where not all of the files were read', () => {
    expect(judge({ ...bad, doubts: { nextStart: 'one was not read' } })).toMatchObject({
      failing: { confidence: 'likely' },
    })
  })
})

describe('baseline-drift against a baseline', () => {
  const judge = (baseline: Baseline[], example: ContextExample = {}) =>
    outcomeIn(baselineDrift, example, { ...defaultPolicy, baseline })
  const wish = (match: Baseline['match'], configuration: RawObject): Baseline => ({
    match,
    configuration,
  })

  it.each<[string, Baseline[], string]>([
    ['what runs', [wish({}, { imageGCHighThresholdPercent: 80 })], 'pass'],
    ['something else', [wish({}, { imageGCHighThresholdPercent: 70 })], 'fail'],
    ['one key of a map', [wish({}, { evictionHard: { 'nodefs.available': '10.0%' } })], 'pass'],
    [
      'a key that does not run',
      [wish({}, { evictionHard: { 'imagefs.available': '15%' } })],
      'fail',
    ],
    [
      'no such key, and there is none',
      [wish({}, { evictionHard: { 'imagefs.available': null } })],
      'pass',
    ],
    [
      'no such key, and there is one',
      [wish({}, { evictionHard: { 'nodefs.available': null } })],
      'fail',
    ],
    ['a later field wins', [wish({}, high(70)), wish({ group: 'work*' }, high(80))], 'pass'],
    [
      'an earlier one stays where the later says nothing',
      [wish({}, high(70)), wish({}, { containerLogMaxFiles: 5 })],
      'fail',
    ],
    [
      'maps are merged by key',
      [
        wish({}, { evictionHard: { 'nodefs.available': '5%' } }),
        wish({}, { evictionHard: { 'pid.available': null } }),
      ],
      'fail',
    ],
    ['another cluster', [wish({ cluster: 'test*' }, high(70))], 'pass'],
    ['another family', [wish({ amiFamily: 'AL2' }, high(70))], 'pass'],
    ['another instance type', [wish({ instanceType: 'c5.*' }, high(70))], 'pass'],
    [
      'all that match',
      [wish({ cluster: 'pr*d', group: '*', amiFamily: 'AL2023', instanceType: 'm5.*' }, high(70))],
      'fail',
    ],
    ['a field that is not compared', [wish({}, { clusterDomain: 'x' })], 'unknown'],
    ['the default of a field, which runs', [wish({}, { containerLogMaxFiles: null })], 'pass'],
    [
      'the default of a field, and something else runs',
      [wish({}, { imageGCHighThresholdPercent: null })],
      'fail',
    ],
    ["the image's default, which runs", [wish({}, { evictionHard: null })], 'pass'],
    [
      "the image's default, and the kubelet's runs",
      [wish({}, { serializeImagePulls: null })],
      'fail',
    ],
    ['the default of a field that depends on the size', [wish({}, { maxPods: null })], 'unknown'],
    [
      'a null that a later one fills',
      [wish({}, { imageGCHighThresholdPercent: null }), wish({}, high(80))],
      'pass',
    ],
  ])('%s: %s', (_, baseline, state) => {
    expect(judge(baseline).state).toBe(state)
  })

  it('takes null for the default, and says it', () => {
    expect(judge([wish({}, { imageGCHighThresholdPercent: null })])).toMatchObject({
      failing: {
        consequence: expect.stringContaining('imageGCHighThresholdPercent 80 instead of 85'),
        fix: { config: { imageGCHighThresholdPercent: 85 } },
      },
    })
    const evictionHard = {
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'pid.available': '5%',
    }
    expect(
      judge([wish({}, { evictionHard: null })], {
        configuration: { evictionHard, serializeImagePulls: false },
      }),
    ).toMatchObject({
      failing: { consequence: expect.stringContaining('evictionHard.pid.available 5% instead') },
    })
  })

  it('says what should run, and sets it', () => {
    expect(judge([wish({}, high(70))])).toMatchObject({
      failing: {
        evidence: [
          { kind: 'layer', what: 'layer', value: 'baseline' },
          { kind: 'declared', what: 'baseline imageGCHighThresholdPercent', value: '70' },
          { kind: 'configz', what: 'imageGCHighThresholdPercent', value: '80' },
        ],
        fix: { config: { imageGCHighThresholdPercent: 70 } },
      },
    })
  })
})

describe('baseline-drift against the AMI', () => {
  const { good } = baselineExamples
  const judge = (configuration: KubeletConfiguration, more: ContextExample = {}) =>
    outcomeIn(baselineDrift, {
      ...good,
      configuration: { ...good.configuration, ...configuration },
      ...more,
    }).state
  const nodegroup = (more: RawObject) => ({
    nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', ...more }],
  })

  it.each<[string, KubeletConfiguration, string]>([
    ['as it comes', {}, 'pass'],
    ['one pull at a time', { serializeImagePulls: true }, 'fail'],
    [
      'a shutdown as older releases have it',
      { shutdownGracePeriod: '0s', shutdownGracePeriodCriticalPods: '0s' },
      'pass',
    ],
    ['another shutdown', { shutdownGracePeriod: '1m' }, 'fail'],
    ['feature gates', { featureGates: { NodeSwap: true } }, 'pass'],
    ['the formula for other pods', { maxPods: 110 }, 'pass'],
    [
      'another instance’s pods',
      { kubeReserved: { cpu: '80m', memory: '574Mi', 'ephemeral-storage': '1Gi' } },
      'pass',
    ],
    [
      'no formula',
      { kubeReserved: { cpu: '80m', memory: '1Gi', 'ephemeral-storage': '1Gi' } },
      'fail',
    ],
    [
      'other cores',
      { kubeReserved: { cpu: '70m', memory: '893Mi', 'ephemeral-storage': '1Gi' } },
      'fail',
    ],
    ['nothing for the disk', { kubeReserved: { cpu: '80m', memory: '893Mi' } }, 'fail'],
    ['something for the system', { systemReserved: { memory: '100Mi' } }, 'fail'],
  ])('%s: %s', (_, configuration, state) => {
    expect(judge(configuration)).toBe(state)
  })

  it.each<[string, ContextExample]>([
    ['a launch template', nodegroup({ launchTemplate: { id: 'lt-1' } })],
    ['an AMI of its own', nodegroup({ amiType: 'CUSTOM' })],
    ['no nodegroup that is known', { nodegroups: undefined }],
    ['Karpenter', { identity: { owner: 'karpenter' } }],
    ['another image', { identity: { amiFamily: 'other' } }],
  ])('says nothing of %s', (_, more) => {
    expect(judge(high(95), more)).toBe('pass')
  })

  it.each<[string, RawObject, string]>([
    ['an alias', { amiSelectorTerms: [{ alias: 'al2023@latest' }] }, 'fail'],
    ['no terms, as of old', {}, 'fail'],
    ['an id', { amiSelectorTerms: [{ alias: 'al2023@latest' }, { id: 'ami-1' }] }, 'pass'],
    ['the family Custom', { amiFamily: 'Custom' }, 'pass'],
    ['user data that nobody read', { userData: null }, 'pass'],
    ['the field', { kubelet: high(95) }, 'pass'],
    ['another field', { kubelet: { maxPods: 20 } }, 'fail'],
  ])('knows what the image of an EC2NodeClass comes to by %s', (_, spec, state) => {
    const nodeClass = { metadata: { name: 'general' }, spec: { amiFamily: 'AL2023', ...spec } }
    const labels = { 'karpenter.k8s.aws/ec2nodeclass': 'general' }
    const more = {
      identity: { owner: 'karpenter' as const },
      node: { ...good.node, metadata: { labels } },
    }
    expect(
      judge(high(95), { ...more, objects: { 'ec2nodeclasses.karpenter.k8s.aws': [nodeClass] } }),
    ).toBe(state)
  })

  it('leaves to peer-drift what only some nodes of the group have', () => {
    const cluster = nodegroup({})
    const sound: KubeletConfiguration = { ...good.configuration }
    const odd = { configuration: { ...sound, ...high(95) } }
    const alike = { configuration: sound }
    const fired = (nodes: NodeOptions[]) =>
      judged([baselineDrift, peerDrift], nodes, cluster).map(({ rule, nodes }) => [
        rule,
        nodes.count,
      ])
    expect(fired([alike, alike, odd])).toEqual([['peer-drift', 1]])
    expect(fired([odd, odd, odd])).toEqual([['baseline-drift', 3]])
    expect(fired([alike, odd])).toEqual([['peer-drift', 1]])
    // Alone of its minor it has no peer.
    const old = {
      configuration: { ...sound, shutdownGracePeriod: '0s', shutdownGracePeriodCriticalPods: '0s' },
    }
    expect(fired([{ ...old, identity: { kubeletVersion: 'v1.33.5' } }, odd])).toEqual([
      ['baseline-drift', 1],
    ])
  })
})

describe('a configuration that is only on the disk', () => {
  const onDisk = (configuration: KubeletConfiguration, host: RawObject = {}): NodeOptions => ({
    record: {
      mode: 'ssm',
      configz: null,
      summary: null,
      host,
      runtime: { images: [], containers: [] },
    },
    prediction: { configurationOnDisk: configuration },
  })

  it('is not said to run', () => {
    const { good } = baselineExamples
    const cluster = {
      nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD' }],
    }
    const nodes = [
      onDisk({
        ...good.configuration,
        imageGCHighThresholdPercent: 70,
        imageGCLowThresholdPercent: 60,
      }),
    ]
    const [finding] = judged([baselineDrift], nodes, cluster)
    expect(finding?.consequence).toMatchSnapshot()
    expect(finding?.confidence).toBe('likely')
  })

  it('makes nothing certain where a rule could do without it', () => {
    const logrotate = [
      {
        path: '/etc/logrotate.d/pods',
        directives: { patterns: ['/var/log/pods/*/*/*.log'], daily: true, rotate: 5 },
      },
    ]
    const host = { logrotate, logrotateRuns: { by: 'timer', schedule: 'daily' } }
    const [finding] = judged(
      [ineffectiveLogRotation],
      [onDisk({ containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 }, host)],
    )
    expect(finding).toMatchObject({ confidence: 'likely' })
    expect(finding?.evidence.map(({ what }) => what)).toContain('on disk containerLogMaxSize')
  })
})

describe('version-skew-drift', () => {
  const older = withImage('Amazon Linux 2023.9.20251105')
  const newer = withImage('Amazon Linux 2023.9.20251208')
  const skew = (...nodes: NodeOptions[]) => judged([versionSkewDrift], nodes)

  it('names the older nodes, be they the most', () => {
    expect(skew(older, older, newer)).toMatchObject([
      { severity: 'info', nodes: { sample: ['node-0', 'node-1'] } },
    ])
    expect(skew(newer, newer, older)).toMatchObject([{ nodes: { sample: ['node-2'] } }])
  })

  it('names the fewer where the age of an AMI cannot be told', () => {
    const ami = (id: string) =>
      withImage('Amazon Linux 2', { 'eks.amazonaws.com/nodegroup-image': id })
    expect(skew(ami('ami-1'), ami('ami-2'), ami('ami-1'))).toMatchObject([
      { nodes: { sample: ['node-1'] } },
    ])
    expect(skew(ami('ami-1'), ami('ami-1'), withImage('Amazon Linux 2'))).toEqual([])
  })

  it('says which settings differ for it, and is low then', () => {
    const [finding] = skew(
      newer,
      newer,
      {
        ...older,
        record: { ...older.record, configz: { kubeletconfig: { shutdownGracePeriod: '0s' } } },
      },
      newer,
    )
    expect(finding?.severity).toBe('low')
    expect(finding?.consequence).toMatch(/ differ\b/)
  })

  it('does not blame a release for what somebody edited', () => {
    const shutdown = { shutdownGracePeriod: '2m30s', shutdownGracePeriodCriticalPods: '30s' }
    const configuration = {
      ...baselineExamples.good.configuration,
      shutdownGracePeriod: '0s',
      shutdownGracePeriodCriticalPods: '0s',
    }
    const old = { configuration, identity: { kubeletVersion: 'v1.33.5' } }
    const text = (more: KubeletConfiguration) =>
      skew({ configuration: { ...configuration, ...more } }, old)[0]?.consequence
    expect(text(shutdown)).toMatchSnapshot()
    expect(text(high(95))).toMatchSnapshot()
    expect(text(high(95))).not.toContain('So these settings')
    expect(text({ ...shutdown, ...high(95) })).toMatchSnapshot()
  })

  it('of minors is low, and of Karpenter info', () => {
    const old = { identity: { kubeletVersion: 'v1.33.1' } }
    expect(skew({}, {}, old)).toMatchObject([{ severity: 'low', nodes: { sample: ['node-2'] } }])
    const labels = { 'karpenter.sh/nodepool': 'general' }
    expect(skew({ labels }, { labels }, { labels, ...old })).toMatchObject([{ severity: 'info' }])
    const auto = { labels: { ...labels, 'eks.amazonaws.com/compute-type': 'auto' } }
    expect(skew(auto, { ...auto, ...old })).toEqual([])
  })
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

describe('one cause is said once', () => {
  const launchTemplate = { id: 'lt-1', name: 'web', version: '4' }
  const cluster = {
    nodegroups: [{ nodegroupName: 'workers', launchTemplate }],
    launchTemplates: [
      {
        launchTemplateId: 'lt-1',
        launchTemplateName: 'web',
        versionNumber: 4,
        kubelet: { config: high(70), flags: [], source: 'nodeadm' },
      },
    ],
  }
  const fired = (...percents: number[]) =>
    judged(
      [lostOnTheWay, peerDrift],
      percents.map(percent => ({ configuration: high(percent) })),
      cluster,
    ).map(({ rule, nodes }) => [rule, nodes.count])

  it('what arrives on most nodes was changed on the one that is unlike them', () => {
    expect(fired(70, 70, 85)).toEqual([['peer-drift', 1]])
  })

  it('what arrives on no node is lost', () => {
    expect(fired(85, 85, 85)).toEqual([['lost-on-the-way', 3]])
  })

  it('a node of an older version shows what nobody has read of it by its peers', () => {
    const told = (version: string, percent: number) => {
      const base = withImage('Amazon Linux 2023.6.20250203', {
        'eks.amazonaws.com/sourceLaunchTemplateVersion': version,
      })
      return {
        ...base,
        record: {
          ...base.record,
          configz: { kubeletconfig: { imageGCHighThresholdPercent: percent } },
        },
      }
    }
    const silent = {
      ...cluster,
      launchTemplates: [{ ...cluster.launchTemplates[0], kubelet: null }],
    }
    const rules = [lostOnTheWay, peerDrift]
    expect(judged(rules, [told('4', 85), told('4', 85), told('3', 70)], silent)).toMatchObject([
      { rule: 'lost-on-the-way', confidence: 'likely', nodes: { sample: ['node-2'] } },
    ])
    expect(judged(rules, [told('4', 85), told('4', 85), told('3', 85)], silent)).toEqual([])
    expect(judged(rules, [told('3', 70), told('3', 70)], silent)).toEqual([])
  })
})
