import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { durableFixes, type Origin, originOf } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import { kubeletSetting, nodeRule } from '#judge/rule.ts'
import { openJudgement } from '#judge/run/judge.ts'
import type { DurableFix, Finding, Step } from '#model/finding.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import { type BuiltNode, buildNode } from '#test/node-builder.ts'
import { isComment, readBack } from '#test/snippet.ts'

const workers = { kind: 'Nodegroup', namespace: null, name: 'workers' } as const

const managed: Origin = {
  owner: 'managed-nodegroup',
  isEksctl: false,
  amiFamily: 'AL2023',
  kubeletMinor: '1.34',
}
const origins = {
  'managed AL2023': managed,
  'self-managed AL2023': { ...managed, owner: 'self-managed' },
  hybrid: { ...managed, owner: 'hybrid', amiFamily: 'other' },
  'managed AL2': { ...managed, amiFamily: 'AL2', kubeletMinor: '1.32' },
  Windows: { ...managed, amiFamily: 'Windows' },
  Bottlerocket: { ...managed, amiFamily: 'Bottlerocket' },
  'Karpenter AL2023': { ...managed, owner: 'karpenter' },
  'Karpenter AL2': { ...managed, owner: 'karpenter', amiFamily: 'AL2', kubeletMinor: '1.32' },
  'Karpenter Bottlerocket': { ...managed, owner: 'karpenter', amiFamily: 'Bottlerocket' },
  'eksctl managed AL2023': { ...managed, isEksctl: true },
  'eksctl managed AL2': { ...managed, isEksctl: true, amiFamily: 'AL2', kubeletMinor: '1.32' },
  'eksctl managed Bottlerocket': { ...managed, isEksctl: true, amiFamily: 'Bottlerocket' },
  'eksctl nodeGroups AL2023': { ...managed, owner: 'eksctl', isEksctl: true },
  'eksctl nodeGroups Bottlerocket': {
    ...managed,
    owner: 'eksctl',
    isEksctl: true,
    amiFamily: 'Bottlerocket',
  },
} as const satisfies Record<string, Origin>
type OriginName = keyof typeof origins

const trio = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' }
const configs = {
  'image GC': { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 },
  'hard thresholds': {
    evictionHard: { ...trio, 'imagefs.available': '15%', 'pid.available': '10%' },
  },
  'thresholds with image GC': {
    evictionHard: { ...trio, 'imagefs.available': '15%' },
    imageGCHighThresholdPercent: 75,
    imageGCLowThresholdPercent: 65,
  },
  'grace periods': { evictionSoftGracePeriod: { 'memory.available': '1m30s' } },
  'minimum reclaim': { evictionMinimumReclaim: { 'imagefs.available': '5%' } },
  'transition period': { evictionPressureTransitionPeriod: '5m0s' },
  'kube-reserved': { kubeReserved: { cpu: '80m', memory: '893Mi', 'ephemeral-storage': '1Gi' } },
  'system-reserved': { systemReserved: { memory: '300Mi' } },
  enforcement: { enforceNodeAllocatable: ['pods'] },
  'parallel pulls': { serializeImagePulls: false },
  'log size': { containerLogMaxSize: '50Mi', containerLogMaxFiles: 3 },
  'log workers': { containerLogMaxWorkers: 4 },
  'image age': { imageMaximumGCAge: '168h0m0s' },
  'all images': { nodeStatusMaxImages: -1 },
  'cgroup v1': { failCgroupV1: false },
  'merged defaults': { mergeDefaultEvictionSettings: true },
}
type ConfigName = keyof typeof configs

const notOnBottlerocket: ConfigName[] = [
  'minimum reclaim',
  'transition period',
  'enforcement',
  'parallel pulls',
  'all images',
  'cgroup v1',
  'merged defaults',
]
const withoutFlag: ConfigName[] = ['log workers', 'image age', 'merged defaults']
const untyped: ConfigName[] = [...notOnBottlerocket, 'log size', 'log workers', 'image age']
/** Where AL2 ends there is no field of 1.33. */
const after132: ConfigName[] = ['merged defaults']

const expected: Record<OriginName, { target: DurableFix['target']; leftOut: ConfigName[] }> = {
  'managed AL2023': { target: 'nodeadm', leftOut: [] },
  'self-managed AL2023': { target: 'nodeadm', leftOut: [] },
  hybrid: { target: 'nodeadm', leftOut: [] },
  'managed AL2': { target: 'launch-template', leftOut: after132 },
  Windows: { target: 'launch-template', leftOut: withoutFlag },
  Bottlerocket: { target: 'bottlerocket', leftOut: notOnBottlerocket },
  'Karpenter AL2023': { target: 'karpenter', leftOut: [] },
  'Karpenter AL2': { target: 'karpenter', leftOut: untyped },
  'Karpenter Bottlerocket': { target: 'karpenter', leftOut: notOnBottlerocket },
  'eksctl managed AL2023': { target: 'eksctl', leftOut: [] },
  'eksctl managed AL2': { target: 'eksctl', leftOut: after132 },
  'eksctl managed Bottlerocket': { target: 'eksctl', leftOut: notOnBottlerocket },
  'eksctl nodeGroups AL2023': { target: 'eksctl', leftOut: [] },
  'eksctl nodeGroups Bottlerocket': { target: 'eksctl', leftOut: notOnBottlerocket },
}

const cases = Object.entries(expected).flatMap(([origin, { target, leftOut }]) =>
  Object.entries(configs).map(([name, config]) => ({
    origin: origin as OriginName,
    name,
    config: config as RawObject,
    target,
    isLeftOut: leftOut.some(left => left === name),
  })),
)

const only = (origin: Origin, config: RawObject, group: Finding['subject'] = workers) => {
  const [found, ...others] = durableFixes(durableTargets, group, [{ origin, config }])
  expect(others).toEqual([])
  return found ?? { target: 'none', snippet: '' }
}

describe('a snippet', () => {
  it.each(cases)('for $origin gives back $name', ({ origin, config, target, isLeftOut }) => {
    const found = only(origins[origin], config)
    expect(found.target).toBe(target)
    if (isLeftOut) {
      expect(isComment(found.snippet)).toBe(true)
      for (const field of Object.keys(config)) expect(found.snippet).toContain(field)
    } else expect(readBack(found.snippet)).toEqual(config)
  })

  it.each(Object.entries(expected))(
    'for %s sets what it can beside what it cannot',
    (origin, { leftOut }) => {
      const { snippet } = only(
        origins[origin as OriginName],
        Object.assign({}, ...Object.values(configs)),
      )
      const fieldsOf = (isWanted: boolean) =>
        Object.entries(configs)
          .filter(([name]) => leftOut.some(left => left === name) !== isWanted)
          .map(([, config]) => config)
      expect(readBack(snippet)).toEqual(Object.assign({}, ...fieldsOf(true)))
      for (const field of fieldsOf(false).flatMap(config => Object.keys(config)))
        expect(snippet).toContain(field)
    },
  )

  it.each([
    [
      '1.32',
      { imageGCHighThresholdPercent: 70 },
      /not known to kubelet 1\.32: mergeDefaultEvictionSettings\./,
    ],
    ['1.33', { imageGCHighThresholdPercent: 70, mergeDefaultEvictionSettings: true }, null],
    [null, { imageGCHighThresholdPercent: 70, mergeDefaultEvictionSettings: true }, null],
  ] as const)('for kubelet %s sets %j', (kubeletMinor, set, said) => {
    const { snippet } = only(
      { ...managed, kubeletMinor },
      { imageGCHighThresholdPercent: 70, mergeDefaultEvictionSettings: true },
    )
    expect(readBack(snippet)).toEqual(set)
    if (said === null) expect(snippet).not.toContain('Left out')
    else expect(snippet).toMatch(said)
  })

  it.each([
    ['Bottlerocket', { imageGCHighThresholdPercent: 70 }, 'image-gc-high-threshold-percent = "70"'],
    ['Bottlerocket', { containerLogMaxFiles: 3 }, 'container-log-max-files = 3'],
    [
      'Bottlerocket',
      { containerLogMaxWorkers: 4 },
      'container-log-max-workers needs Bottlerocket 1.39 or later.',
    ],
    ['Bottlerocket', { evictionHard: trio }, 'a signal that it does not name is off'],
    [
      'eksctl managed Bottlerocket',
      { imageGCHighThresholdPercent: 70 },
      'image-gc-high-threshold-percent: "70"',
    ],
    ['Karpenter AL2023', { imageGCHighThresholdPercent: 70 }, 'replaces all its nodes'],
    ['Karpenter AL2', { nodeStatusMaxImages: -1 }, 'later than v1.14: nodeStatusMaxImages.'],
    [
      'managed AL2',
      { evictionHard: trio },
      '--eviction-hard=memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%',
    ],
    ['managed AL2', { containerLogMaxSize: '50Mi' }, 'kubelet-config.json'],
    ['Windows', { containerLogMaxWorkers: 4 }, 'no flag for it: containerLogMaxWorkers.'],
    [
      'managed AL2023',
      { imageGCHighThresholdPercent: 70 },
      'Content-Type: application/node.eks.aws',
    ],
    ['managed AL2023', { containerLogMaxSize: '50Mi' }, 'containerLogMaxSize: "50Mi"'],
    [
      'eksctl nodeGroups AL2023',
      { imageGCHighThresholdPercent: 70 },
      'nodeGroups:\n  - name: "workers"\n    kubeletExtraConfig:',
    ],
    [
      'eksctl managed AL2023',
      { imageGCHighThresholdPercent: 70 },
      'managedNodeGroups:\n  - name: "workers"\n    overrideBootstrapCommand: |',
    ],
  ] as const)('for %s with %j says %s', (origin, config, said) => {
    expect(only(origins[origin], config).snippet).toContain(said)
  })

  it.each([
    ['Bottlerocket', 'evictionHard containerfs.available'],
    ['Karpenter AL2023', 'evictionHard containerfs.available'],
  ] as const)('for %s leaves out a key that it does not take, and says so', (origin, said) => {
    const { snippet } = only(origins[origin], {
      evictionHard: { ...trio, 'containerfs.available': '10%' },
    })
    expect(readBack(snippet)).toEqual({ evictionHard: trio })
    expect(snippet).toContain(said)
  })
})

describe('of a kops InstanceGroup', () => {
  const nodes = { kind: 'InstanceGroup', namespace: null, name: 'nodes-us-east-1a' } as const
  const kops: Origin = { ...managed, owner: 'self-managed', amiFamily: 'other' }
  const without: ConfigName[] = [
    ...['enforcement', 'log workers', 'image age', 'all images', 'cgroup v1'],
    'merged defaults',
  ] as ConfigName[]

  it.each(Object.entries(configs))('gives back %s', (name, config) => {
    const found = only(kops, config, nodes)
    expect(found.target).toBe('kops')
    if (without.some(one => one === name)) expect(isComment(found.snippet)).toBe(true)
    else expect(readBack(found.snippet)).toEqual(config)
  })

  it('is written by kops, and by no tool of EKS', () => {
    const { snippet } = only(kops, configs['thresholds with image GC'], nodes)
    expect(
      snippet,
    ).toBe(`# kops edit instancegroup "nodes-us-east-1a", then kops update cluster --yes and kops rolling-update cluster --yes, which replaces its nodes.
kind: InstanceGroup
spec:
  kubelet:
    evictionHard: "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%"
    imageGCHighThresholdPercent: 75
    imageGCLowThresholdPercent: 65
`)
  })
})

const hostile = [
  "10%'; touch /tmp/x; '",
  '$(id)',
  '`id`',
  '10%\nHIGHWATER\nrm -rf /',
  '10%\n--HIGHWATER--\n',
  '</powershell>',
  '10%" # ',
  '10% --anonymous-auth=true',
  '10%,memory.available<1',
  '{{ template }}',
  '10%\u2028x',
  '',
  'x'.repeat(101),
]

describe('what a node says of itself', () => {
  const everywhere = Object.entries(origins).flatMap(([origin, facts]) =>
    hostile.filter(text => text !== '').map(text => ({ origin, facts, text })),
  )
  it.each(everywhere)('stays out for $origin: $text', ({ facts, text }) => {
    for (const config of [
      { evictionHard: { 'memory.available': text } },
      { evictionHard: { [text]: '10%' } },
      { containerLogMaxSize: text },
    ])
      expect(isComment(only(facts, config).snippet)).toBe(true)
  })

  it('is never more than values of its field, whatever it is', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(
        ...hostile,
        'null',
        'true',
        '1e3',
        '0x1F',
        '~',
        '2001-01-01',
        'y',
        '.inf',
        '5m0s',
      ),
    )
    const key = fc.oneof(
      text,
      fc.constantFrom(
        'memory.available',
        'nodefs.available',
        '__proto__',
        'constructor',
        'NaN',
        'no',
      ),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(origins)),
        fc.dictionary(key, text, { maxKeys: 4 }),
        (origin, evictionHard) => {
          const { snippet } = only(origin, { evictionHard })
          if (isComment(snippet)) return
          const { evictionHard: found, ...others } = readBack(snippet)
          expect(others).toEqual({})
          expect(evictionHard).toMatchObject(isRawObject(found) ? found : {})
        },
      ),
    )
  })

  it.each(['no', 'y', 'NULL', 'off'])('keeps the key %s a text', key => {
    const { snippet } = only(managed, { evictionHard: { [key]: '' } })
    expect(readBack(snippet)).toEqual({ evictionHard: { [key]: '' } })
  })

  it.each(["workers'\n- x", 'a: b', '', 'x'.repeat(200)])(
    'gives no name to a nodegroup called %j',
    name => {
      const { snippet } = only(
        origins['eksctl managed AL2023'],
        { imageGCHighThresholdPercent: 70 },
        { ...workers, name },
      )
      expect(snippet).toContain('- name: "my-nodegroup"\n')
      expect(readBack(snippet)).toEqual({ imageGCHighThresholdPercent: 70 })
    },
  )

  it('is not written where it is longer than a snippet may be', () => {
    const systemReserved = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`example.com-${index}`, '1'.repeat(60)]),
    )
    const { snippet } = only(managed, { systemReserved })
    expect(isComment(snippet)).toBe(true)
    expect(snippet).toContain('fix.config')
  })
})

describe('durableFixes', () => {
  const config = { imageGCHighThresholdPercent: 70 }
  const [al2023, al2, bottlerocket] = [
    origins['managed AL2023'],
    origins['managed AL2'],
    origins.Bottlerocket,
  ]
  it.each([
    ['no proposal', [], []],
    ['nothing to set', [{ origin: al2023, config: {} }], []],
    ['an unknown image', [{ origin: { ...managed, amiFamily: 'other' }, config }], []],
    [
      'another minor of one family',
      [
        { origin: al2023, config },
        { origin: { ...al2023, kubeletMinor: '1.33' }, config },
      ],
      ['nodeadm'],
    ],
    [
      'two families',
      [
        { origin: bottlerocket, config },
        { origin: al2023, config },
      ],
      ['bottlerocket', 'nodeadm'],
    ],
    [
      'three families',
      [
        { origin: al2023, config },
        { origin: al2, config },
        { origin: bottlerocket, config },
      ],
      ['nodeadm', 'launch-template'],
    ],
    [
      'two families of a NodePool',
      [
        { origin: origins['Karpenter AL2023'], config },
        { origin: origins['Karpenter Bottlerocket'], config },
      ],
      ['karpenter', 'karpenter'],
    ],
    [
      'EKS Auto Mode',
      [{ origin: { ...managed, owner: 'auto-mode', amiFamily: 'Bottlerocket' }, config }],
      ['auto-mode'],
    ],
    [
      'Windows by eksctl',
      [{ origin: { ...managed, isEksctl: true, amiFamily: 'Windows' }, config }],
      ['launch-template'],
    ],
    [
      'hybrid Bottlerocket',
      [{ origin: { ...bottlerocket, owner: 'hybrid' }, config }],
      ['bottlerocket'],
    ],
    [
      'an unknown image, by eksctl itself',
      [{ origin: { ...managed, owner: 'eksctl', isEksctl: true, amiFamily: 'other' }, config }],
      ['eksctl'],
    ],
    [
      'an unknown image, in Karpenter',
      [{ origin: { ...managed, owner: 'karpenter', amiFamily: 'other' }, config }],
      ['karpenter'],
    ],
  ] as const)('has for %s the right targets', (_, proposals, targets) => {
    expect(durableFixes(durableTargets, workers, proposals).map(({ target }) => target)).toEqual(
      targets,
    )
  })

  it('gives each family what was proposed for it', () => {
    const other = { imageGCHighThresholdPercent: 60 }
    const found = durableFixes(durableTargets, workers, [
      { origin: al2023, config },
      { origin: bottlerocket, config: other },
    ])
    expect(found.map(({ snippet }) => readBack(snippet))).toEqual([config, other])
  })
})

describe('originOf', () => {
  it.each([
    [
      { 'eks.amazonaws.com/nodegroup': 'a', 'alpha.eksctl.io/nodegroup-name': 'a' },
      { owner: 'managed-nodegroup', isEksctl: true },
    ],
    [{ 'eks.amazonaws.com/nodegroup': 'a' }, { owner: 'managed-nodegroup', isEksctl: false }],
    [{ 'alpha.eksctl.io/nodegroup-name': 'a' }, { owner: 'eksctl', isEksctl: true }],
  ])('of a node labelled %j is %j', (labels, origin) => {
    const node = {
      metadata: { name: 'a', labels },
      status: {
        nodeInfo: { kubeletVersion: 'v1.34.1-eks-1234567', osImage: 'Bottlerocket OS 1.50.0' },
      },
    }
    expect(originOf(nodeIdentity(node))).toEqual({
      ...origin,
      amiFamily: 'Bottlerocket',
      kubeletMinor: '1.34',
    })
  })
})

const commandsIn = (steps: readonly Step[]) =>
  steps.flatMap(({ commands }) => commands.map(({ command }) => command))

describe('a finding', () => {
  const proposing = (id: string, config: RawObject) =>
    nodeRule({
      id,
      family: 'image-gc',
      severity: 'medium',
      cause: kubeletSetting('imageGCHighThresholdPercent'),
      needs: [],
      title: 'A toy',
      why: 'To see the fix.',
      fix: 'None.',
      sources: ['none'],
      *judge() {
        yield { consequence: 'It fails.', evidence: [], fix: { config } }
      },
    })

  function findings(nodes: BuiltNode[], ...shelf: Parameters<typeof openJudgement>[0]): Finding[] {
    const judgement = openJudgement(shelf, defaultPolicy)
    for (const { record, prediction } of nodes) judgement.take(inputOf(record), prediction)
    return judgement.close('2026-11-21T00:00:00Z').findings
  }

  it('carries the text of what the findings on its group have agreed on, and a plan for them', () => {
    const gentle = { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 50 }
    const found = findings(
      [buildNode({ identity: { instanceId: 'i-0a1b2c3d4e5f60718' } })],
      proposing('a', { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 }),
      proposing('b', gentle),
    )
    expect(found).toHaveLength(2)
    for (const { fix, steps } of found) {
      expect(fix.config).toEqual(gentle)
      expect(fix.durable.map(({ target, snippet }) => [target, readBack(snippet)])).toEqual([
        ['nodeadm', gentle],
      ])
      expect(commandsIn(steps)).toEqual([expect.stringMatching(/^highwater plan .*--nodegroup /)])
    }
  })

  it('on nodes of two families has a text for each, that of most nodes first', () => {
    const bottlerocket = ['b', 'c'].map(name =>
      buildNode({ name, identity: { amiFamily: 'Bottlerocket' } }),
    )
    const [found] = findings(
      [buildNode({ name: 'a' }), ...bottlerocket],
      proposing('a', configs['image GC']),
    )
    expect(found?.fix.durable.map(({ target }) => target)).toEqual(['bottlerocket', 'nodeadm'])
  })

  it.each(['$(id)', 'a b', '-a', 'a..b', 'A', 'x'.repeat(254)])(
    'names no node called %j in a command',
    name => {
      const [found] = findings([buildNode({ name })], proposing('a', {}))
      expect(commandsIn(found?.steps ?? []).join()).not.toContain(name)
    },
  )
})
