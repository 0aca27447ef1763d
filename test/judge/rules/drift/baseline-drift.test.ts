import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { baselineDrift } from '#judge/rules/drift/baseline-drift.ts'
import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import { ineffectiveLogRotation } from '#judge/rules/logs/ineffective-log-rotation.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { type Baseline, defaultPolicy } from '#model/policy.ts'
import type { ContextExample } from '#test/example.ts'
import { baselineExamples } from '#test/examples/baseline-drift.ts'
import type { NodeOptions } from '#test/node-builder.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeIn } from '#test/rule-outcome.ts'
import { high, judged } from '#test/rules/drift-others.ts'

itJudgesExamples(baselineDrift, baselineExamples)

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
    ['user data that was not read', { userData: null }, 'pass'],
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
