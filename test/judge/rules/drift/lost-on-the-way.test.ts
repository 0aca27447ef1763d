import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import type { StartSettings } from '#model/prediction.ts'
import type { ContextExample, NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeIn } from '#test/rule-outcome.ts'
import { high as highPercent, judged as judgedBy, withImage } from '#test/rules/drift-others.ts'

const template = { id: 'lt-1', name: 'web', version: '4' }

const launchedBy = (source: string) => ({
  nodegroups: [
    { nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', launchTemplate: template },
  ],
  launchTemplates: [
    {
      launchTemplateId: 'lt-1',
      launchTemplateName: 'web',
      versionNumber: 4,
      kubelet: { config: {}, flags: ['--image-gc-high-threshold=70'], source },
    },
  ],
})

const runsWith = (high: number): NodeExample => ({
  configuration: { imageGCHighThresholdPercent: high },
})

itJudgesExamples(lostOnTheWay, {
  bad: { ...runsWith(85), ...launchedBy('bootstrap') },
  good: { ...runsWith(70), ...launchedBy('nodeadm') },
})

const launchTemplate = { id: 'lt-1', name: 'web', version: '4' }

const nodegroup = (more: RawObject = {}) => ({
  nodegroupName: 'workers',
  amiType: 'AL2023_x86_64_STANDARD',
  launchTemplate,
  ...more,
})

const version = (versionNumber: number, ...kubelets: (RawObject | null)[]): RawObject[] =>
  kubelets.map(kubelet => ({
    launchTemplateId: 'lt-1',
    launchTemplateName: 'web',
    versionNumber,
    kubelet,
  }))

const says = (config: RawObject, source = 'nodeadm', flags: string[] = []) => ({
  config,
  flags,
  source,
})

const high = (imageGCHighThresholdPercent: number) => ({ imageGCHighThresholdPercent })

const running = (percent: number): ContextExample => ({ configuration: high(percent) })

const declares = (...kubelets: RawObject[]): ContextExample => ({
  nodegroups: [nodegroup()],
  launchTemplates: version(4, ...kubelets),
})

const label = (name: string, value: string) => ({
  node: { metadata: { labels: { [`eks.amazonaws.com/${name}`]: value } } },
})

const judged = (...examples: ContextExample[]) =>
  outcomeIn(lostOnTheWay, Object.assign({}, ...examples))

const failing = (...examples: ContextExample[]) => {
  const outcome = judged(...examples)
  if (outcome.state !== 'fail') throw new Error(`it is ${JSON.stringify(outcome)}`)
  return outcome.failing
}

const state = (...examples: ContextExample[]) => judged(...examples).state

const layers = (...examples: ContextExample[]) =>
  failing(...examples)
    .evidence.filter(({ what }) => what === 'layer')
    .map(({ value }) => value)

const path = '/etc/kubernetes/kubelet/config.json'

const drop = `${path}.d/40-nodeadm.conf`

/** The files come to `comesTo` percent. */
function disk(comesTo: number, more: Partial<StartSettings> = {}): ContextExample {
  const configuration = {
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
    },
    ...high(comesTo),
  }
  const settings = {
    configuration,
    withoutFlags: configuration,
    said: {},
    ignored: [],
    unread: [],
    isCommandLineKnown: true,
    ...more,
  }
  return {
    nextStart: {
      files: [path],
      errors: [],
      imageGCHighThresholdPercent: comesTo,
      imageGCLowThresholdPercent: 60,
      settings,
    },
  }
}

const said = (...entries: ['file' | 'drop-in' | 'flag', string, number | null][]) => ({
  said: {
    imageGCHighThresholdPercent: entries.map(([by, where, value]) => ({ by, where, value })),
  },
})

describe('a declared setting', () => {
  it('that runs, however it is written, is not lost', () => {
    const declared = declares(
      says({
        containerLogMaxSize: '1024Mi',
        imageMinimumGCAge: '300s',
        evictionHard: { 'memory.available': '102400Ki' },
      }),
    )
    const configuration = {
      containerLogMaxSize: '1Gi',
      imageMinimumGCAge: '5m0s',
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
    }
    expect(state(declared, { configuration })).toBe('pass')
  })

  it('that does not run is likely lost where the files were not read, and says so', () => {
    const { confidence, evidence, fix } = failing(declares(says(high(70))), running(85))
    expect(confidence).toBe('likely')
    expect(evidence.slice(0, 2)).toEqual([
      { kind: 'layer', what: 'layer', value: 'declared' },
      { kind: 'unread', what: 'disk', value: expect.stringContaining('files were not read') },
    ])
    expect(evidence).toContainEqual({
      kind: 'declared',
      what: 'declared imageGCHighThresholdPercent',
      value: '70 (launch template web version 4)',
    })
    expect(evidence).toContainEqual({
      kind: 'configz',
      what: 'imageGCHighThresholdPercent',
      value: '85',
    })
    expect(fix).toEqual({ config: high(70) })
  })

  it('in a map keeps the rest of the map in its fix', () => {
    const { fix } = failing(declares(says({ evictionHard: { 'imagefs.available': '15%' } })))
    expect(fix?.config).toEqual({
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '5%',
        'imagefs.available': '15%',
      },
    })
  })

  it.each<[string, ContextExample, RawObject, RegExp]>([
    [
      'bootstrap.sh on AL2023',
      {},
      says({}, 'bootstrap', ['--max-pods=20']),
      /nodeadm on Amazon Linux 2023 reads NodeConfig, not bootstrap\.sh/,
    ],
    [
      'KUBELET_EXTRA_ARGS on AL2023',
      {},
      says({}, 'script', ['--max-pods=20']),
      /reads NodeConfig, not KUBELET_EXTRA_ARGS/,
    ],
    [
      'NodeConfig on AL2',
      { identity: { amiFamily: 'AL2' } },
      says(high(70)),
      /Amazon Linux 2 does not read NodeConfig/,
    ],
    [
      'a script on Bottlerocket',
      { identity: { amiFamily: 'Bottlerocket' } },
      says(high(70), 'script'),
      /Bottlerocket reads its own settings/,
    ],
    [
      'no such setting',
      { identity: { amiFamily: 'Bottlerocket' } },
      says({ evictionMinimumReclaim: { 'nodefs.available': '1Gi' } }, 'bottlerocket'),
      /Bottlerocket has no setting for evictionMinimumReclaim/,
    ],
    [
      'a misspelt field',
      {},
      says({ imageGCHighTresholdPercent: 70 }),
      /imageGCHighTresholdPercent is no field .*\(imageGCHighThresholdPercent is\)/,
    ],
    [
      'no field at all',
      {},
      says({ somethingElseAltogether: 3 }),
      /somethingElseAltogether is no field/,
    ],
    [
      'a later minor',
      { identity: { kubeletVersion: 'v1.32.1' } },
      says({ mergeDefaultEvictionSettings: true }),
      /minor does not know/,
    ],
  ])('says why it never arrives: %s', (_, example, settings, why) => {
    expect(failing(declares(settings), running(85), example).consequence).toMatch(why)
  })

  it('that a flag of the same template takes the place of is lost for certain, without files', () => {
    const both = declares(says(high(70), 'nodeadm', ['--image-gc-high-threshold=75']))
    const { confidence, consequence, evidence } = failing(both, running(75))
    expect(confidence).toBe('certain')
    expect(consequence).toMatchSnapshot()
    expect(evidence).not.toContainEqual(expect.objectContaining({ what: 'disk' }))
    expect(layers(both, running(75))).toEqual(['flags'])
    // Neither runs: then nobody knows.
    expect(layers(both, running(85))).toEqual(['declared'])
  })

  it('that is unknown is open where all others run', () => {
    expect(judged(declares(says({ maxPods: 'max_pods - 3' })), running(85))).toMatchObject({
      state: 'unknown',
      reason: /maxPods/,
    })
    expect(
      state(
        declares(says({ ...high(70), enforceNodeAllocatable: [], containerLogMaxSize: '' })),
        running(70),
      ),
    ).toBe('unknown')
    expect(state(declares(says({ ...high(70), containerLogMaxSize: '' })), running(70))).toBe(
      'pass',
    )
    expect(
      judged(declares(says({ ...high(70), systemReserved: { memory: '(removed)' } })), running(70))
        .state,
    ).toBe('unknown')
  })
})

describe('where it was lost', () => {
  const on = declares(says(high(70), 'script'))
  const al2: ContextExample = { identity: { amiFamily: 'AL2' } }

  it.each<[string, ContextExample, string[]]>([
    ['nothing has it', disk(85), ['declared']],
    ['a main file with the default', disk(85, said(['file', path, 85])), ['declared']],
    [
      'a main file of AL2 with the default, which the image does not write',
      { ...disk(85, said(['file', path, 85])), ...al2 },
      ['disk'],
    ],
    ['a main file with what is neither', disk(85, said(['file', path, 75])), ['disk']],
    [
      'a later drop-in',
      disk(85, said(['drop-in', drop, 70], ['drop-in', `${path}.d/90.conf`, 85])),
      ['disk'],
    ],
    [
      'null',
      disk(85, said(['drop-in', drop, 70], ['drop-in', `${path}.d/90.conf`, null])),
      ['disk'],
    ],
    [
      'a flag',
      disk(85, {
        ...said(['drop-in', drop, 70], ['flag', '--image-gc-high-threshold', 85]),
        withoutFlags: high(70),
      }),
      ['flags'],
    ],
    [
      'a file that is not read',
      disk(85, { unread: [{ path: `${path}.d/90.yaml`, why: 'name', values: high(70) }] }),
      ['disk'],
    ],
    [
      'a misspelt key',
      disk(85, {
        ignored: [
          {
            file: path,
            key: 'imageGCHighTreshold',
            value: 70,
            field: 'imageGCHighThresholdPercent',
            why: 'misspelt',
          },
        ],
      }),
      ['disk'],
    ],
  ])('%s', (_, example, expected) => {
    expect(layers(on, running(85), example)).toEqual(expected)
  })

  it('is changed-not-restarted alone where the files come to it', () => {
    expect(state(on, running(85), disk(70, said(['drop-in', drop, 70])))).toBe('pass')
  })

  it('names the layer first that lost most', () => {
    const three = declares(
      says({ ...high(70), containerLogMaxFiles: 3, containerLogMaxSize: '50Mi' }),
    )
    const settings = { ...said(['drop-in', drop, 70], ['drop-in', `${path}.d/90.conf`, 85]) }
    expect(layers(three, running(85), disk(85, settings))).toEqual(['declared', 'disk'])
  })

  it('is only likely where not all files were read', () => {
    const doubts = { nextStart: 'not all of the kubelet’s files were read' }
    expect(failing(on, running(85), disk(85), { doubts }).confidence).toBe('likely')
  })
})

describe('what stands on the disk', () => {
  const empty = {
    containerLogMaxSize: [{ by: 'drop-in', where: drop, value: '' } as const],
    enforceNodeAllocatable: [{ by: 'drop-in', where: drop, value: [] } as const],
  }
  const undeclared: ContextExample = { nodegroups: [nodegroup({ launchTemplate: undefined })] }

  it.each<[string, Partial<StartSettings>, string]>([
    ['the image’s value under a drop-in', said(['file', path, 85], ['drop-in', drop, 70]), 'pass'],
    [
      'somebody’s value in the main file under a drop-in',
      said(['file', path, 75], ['drop-in', drop, 70]),
      'fail',
    ],
    [
      'a drop-in under another',
      said(['drop-in', drop, 75], ['drop-in', `${path}.d/90.conf`, 70]),
      'fail',
    ],
    [
      'the same said twice',
      said(['drop-in', drop, 70], ['drop-in', `${path}.d/90.conf`, 70]),
      'pass',
    ],
    [
      'an ignored key with what runs anyway',
      {
        ignored: [
          { file: path, key: 'x', value: 70, field: 'imageGCHighThresholdPercent', why: 'case' },
        ],
      },
      'pass',
    ],
    [
      'an unread file with what runs anyway',
      { unread: [{ path: '/d/a.yaml', why: 'name', values: high(70) }] },
      'pass',
    ],
    ['an unread file', { unread: [{ path: '/d/a.yaml', why: 'name', values: high(75) }] }, 'fail'],
    [
      'an empty text, an empty list',
      { said: { ...said(['drop-in', drop, 70]).said, ...empty } },
      'pass',
    ],
    [
      'what an editor left behind',
      { unread: [{ path: `${drop}.bak`, why: 'name', values: high(75) }] },
      'pass',
    ],
    [
      'another main file as the image wrote it',
      { unread: [{ path: '/k.json', why: 'other', values: { ...high(85), maxPods: 9 } }] },
      'pass',
    ],
  ])('%s: %s', (_, settings, expected) => {
    expect(state(undeclared, running(70), disk(70, settings))).toBe(expected)
  })

  it('is judged alone where the declaration is unknown', () => {
    const hybrid: ContextExample = { identity: { owner: 'hybrid' } }
    expect(state(hybrid, running(70), disk(70))).toBe('pass')
    expect(
      layers(
        hybrid,
        running(70),
        disk(70, said(['drop-in', drop, 75], ['drop-in', '/d/90.conf', 70])),
      ),
    ).toEqual(['disk'])
    expect(state(hybrid, running(70), disk(70), { doubts: { nextStart: 'unread' } })).toBe(
      'unknown',
    )
  })
})

describe('what is not known', () => {
  it.each<[string, ContextExample, RegExp]>([
    ['a self-managed node', { identity: { owner: 'self-managed' } }, /no managed nodegroup/],
    ['nodegroups', {}, /nodegroups: not in the snapshot/],
    ['another nodegroup', { nodegroups: [] }, /workers is not among them/],
    ['launch templates', { nodegroups: [nodegroup()] }, /launchTemplates: not in the snapshot/],
    [
      'the version',
      { nodegroups: [nodegroup()], launchTemplates: version(3, says(high(70))) },
      /version 4 of web was not read/,
    ],
    [
      'its user data',
      {
        nodegroups: [nodegroup()],
        launchTemplates: [
          { launchTemplateId: 'lt-1', launchTemplateName: 'web', versionNumber: 4 },
        ],
      },
      /what version 4 of web tells/,
    ],
    ['node classes', { identity: { owner: 'karpenter' } }, /nodepools\.karpenter\.sh/],
  ])('%s', (_, example, reason) => {
    expect(judged(running(85), example)).toMatchObject({
      state: 'unknown',
      reason: expect.stringMatching(reason),
    })
  })

  it('does not matter on EKS Auto Mode, where nothing can be declared', () => {
    expect(state({ identity: { owner: 'auto-mode' } })).toBe('notApplicable')
  })

  it.each<[string, ContextExample]>([
    [
      'a nodegroup has no launch template',
      { nodegroups: [nodegroup({ launchTemplate: undefined })] },
    ],
    [
      'its launch template tells the kubelet nothing',
      { nodegroups: [nodegroup()], launchTemplates: version(4, null) },
    ],
  ])('is what stands on the disk, where %s', (_, nothing) => {
    const reason = expect.stringMatching(
      /nothing is declared.*files on the node's disk were not read/,
    )
    expect(judged(nothing)).toMatchObject({ state: 'unknown', reason })
    expect(state(nothing, running(85), disk(85))).toBe('pass')
  })
})

describe('versions of a launch template', () => {
  const named = (name: string) => ({
    nodegroups: [nodegroup({ launchTemplate: { ...launchTemplate, version: name } })],
  })
  const both = [...version(3, says(high(60))), ...version(10, says(high(70)))]

  it('$Latest is the highest, $Default has no number of its own', () => {
    expect(state(named('$Latest'), { launchTemplates: both }, running(70))).toBe('pass')
    expect(
      state(named('$Default'), { launchTemplates: version(3, says(high(60))) }, running(60)),
    ).toBe('pass')
    expect(state(named('$Default'), { launchTemplates: both }, running(60))).toBe('unknown')
    const beside = {
      nodegroups: [
        ...named('$Default').nodegroups,
        { nodegroupName: 'other', launchTemplate: { ...launchTemplate, version: '10' } },
      ],
    }
    expect(state(beside, { launchTemplates: both }, running(60))).toBe('pass')
  })

  const madeFrom3 = label('sourceLaunchTemplateVersion', '3')

  it('older ones explain what differs, and only that', () => {
    const older = failing(named('10'), { launchTemplates: both }, running(60), madeFrom3)
    expect(older.consequence).toMatchSnapshot()
    expect(state(named('10'), { launchTemplates: both }, running(70), madeFrom3)).toBe('pass')
    const alike = [...version(3, says(high(70))), ...version(10, says(high(70)))]
    expect(
      failing(named('10'), { launchTemplates: alike }, running(60), madeFrom3).consequence,
    ).not.toContain('made from')
  })

  it('may have said what the newer one does not', () => {
    const dropped = { launchTemplates: [...version(3, says(high(60))), ...version(10, null)] }
    expect(failing(named('10'), dropped, running(60), madeFrom3).evidence).toContainEqual({
      kind: 'declared',
      what: 'declared imageGCHighThresholdPercent',
      value: 'none (launch template web version 10)',
    })
    expect(state(named('10'), dropped, running(85), madeFrom3)).toBe('pass')
  })
})

describe('Karpenter', () => {
  const classes = 'ec2nodeclasses.karpenter.k8s.aws'
  const pools = 'nodepools.karpenter.sh'
  const hash = (value: string, version = 'v4') => ({
    'karpenter.k8s.aws/ec2nodeclass-hash': value,
    'karpenter.k8s.aws/ec2nodeclass-hash-version': version,
  })
  const nodeClass = (spec: RawObject) => ({
    metadata: { name: 'general', annotations: hash('new') },
    spec: { amiFamily: 'AL2023', ...spec },
  })
  const pool = (spec: RawObject = {}) => ({
    metadata: { name: 'workers' },
    spec: { template: { spec: { nodeClassRef: { name: 'general' }, ...spec } } },
  })
  const of = (spec: RawObject, poolSpec: RawObject = {}): ContextExample => ({
    identity: { owner: 'karpenter' },
    objects: { [classes]: [nodeClass(spec)], [pools]: [pool(poolSpec)] },
  })
  const node = (annotations: Record<string, string>) => ({ node: { metadata: { annotations } } })

  it('finds the class by the pool, and its settings', () => {
    expect(failing(of({ kubelet: high(70) }), running(85)).evidence).toContainEqual({
      kind: 'declared',
      what: 'declared imageGCHighThresholdPercent',
      value: '70 (EC2NodeClass general)',
    })
    expect(state(of({ kubelet: high(70) }), running(70))).toBe('pass')
  })

  it('wins over user data, but not over its flags; tells nodes of amiFamily Custom nothing', () => {
    const userData = [says(high(60))]
    expect(state(of({ kubelet: high(70), userData }), running(70))).toBe('pass')
    expect(
      state(
        of({
          kubelet: high(70),
          userData: [says({}, 'nodeadm', ['--image-gc-high-threshold=60'])],
        }),
        running(60),
      ),
    ).toBe('fail')
    expect(
      failing(of({ amiFamily: 'Custom', kubelet: high(70), userData }), running(60)).consequence,
    ).toContain('amiFamily Custom')
  })

  it('is open where user data is not known', () => {
    expect(judged(of({ userData: null }), running(85))).toMatchObject({ state: 'unknown' })
    expect(state(of({ userData: null, kubelet: high(70) }), running(85))).toBe('fail')
  })

  it('says it of the pool before v1', () => {
    expect(failing(of({}, { kubelet: { maxPods: 20 } }), running(85)).consequence).toContain(
      'maxPods 20',
    )
  })

  it('compares the class with what it was only by hashes of one version', () => {
    const changed = 'as it was before it changed'
    expect(
      failing(of({ kubelet: high(70) }), running(85), node(hash('old'))).consequence,
    ).toContain(changed)
    expect(
      failing(of({ kubelet: high(70) }), running(85), node(hash('old', 'v3'))).consequence,
    ).not.toContain(changed)
    expect(
      failing(of({ kubelet: high(70) }), running(85), node(hash('new'))).consequence,
    ).not.toContain(changed)
  })
})

describe('junk', () => {
  it.each<ContextExample>([
    declares({
      config: { constructor: 1, toString: { a: 1 } },
      flags: ['--eviction-hard', '--x'],
      source: 'nodeadm',
    }),
    { nodegroups: [nodegroup({ launchTemplate: {} })], launchTemplates: [{}] },
    {
      identity: { owner: 'karpenter' },
      objects: { 'ec2nodeclasses.karpenter.k8s.aws': [{}], 'nodepools.karpenter.sh': [{}] },
    },
  ])('%j is no error', example => {
    expect(judged(example).state).not.toBe('error')
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
        kubelet: { config: highPercent(70), flags: [], source: 'nodeadm' },
      },
    ],
  }
  const fired = (...percents: number[]) =>
    judgedBy(
      [lostOnTheWay, peerDrift],
      percents.map(percent => ({ configuration: highPercent(percent) })),
      cluster,
    ).map(({ rule, nodes }) => [rule, nodes.count])

  it('what arrives on most nodes was changed on the one that is unlike them', () => {
    expect(fired(70, 70, 85)).toEqual([['peer-drift', 1]])
  })

  it('what arrives on no node is lost', () => {
    expect(fired(85, 85, 85)).toEqual([['lost-on-the-way', 3]])
  })

  it('a node of an older version shows by its peers what was not read', () => {
    const evidenceText = (version: string, percent: number) => {
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
    expect(
      judgedBy(
        rules,
        [evidenceText('4', 85), evidenceText('4', 85), evidenceText('3', 70)],
        silent,
      ),
    ).toMatchObject([
      { rule: 'lost-on-the-way', confidence: 'likely', nodes: { sample: ['node-2'] } },
    ])
    expect(
      judgedBy(
        rules,
        [evidenceText('4', 85), evidenceText('4', 85), evidenceText('3', 85)],
        silent,
      ),
    ).toEqual([])
    expect(judgedBy(rules, [evidenceText('3', 70), evidenceText('3', 70)], silent)).toEqual([])
  })
})
