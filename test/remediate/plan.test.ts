import { describe, expect, it } from 'vitest'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { dockerHubLimits } from '#facts/kubernetes/registries.ts'
import { everything, type NodeRecord, type Selection } from '#model/input/record.ts'
import type { Plan } from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { takenAt } from '#test/node-builder.ts'
import {
  type Family,
  type FleetNode,
  fleetNode,
  hashOf,
  idleImage,
  indentOf,
  mainFile,
  pathOf,
  readyPod,
  snapshotOf,
} from '#test/plan-fleet.ts'

interface Asked {
  set?: string[]
  rules?: string[]
  findings?: string[]
  allowActAtOnce?: boolean
  selection?: Partial<Selection>
}

async function planFile(
  file: string,
  { set = [], rules = [], findings = [], allowActAtOnce = false, selection }: Asked = {},
): Promise<Plan> {
  const request = {
    rules,
    findings,
    changes: set.map(parseChange),
    allowActAtOnce,
    policy: defaultPolicy,
    version: '0.0.0',
  }
  return (await makePlan(file, { ...request, selection: { ...everything, ...selection } })).plan
}
const planOf = (nodes: NodeRecord[], asked?: Asked, ...others: object[]) =>
  planFile(snapshotOf(nodes, ...others), asked)
const planOne = (node: FleetNode, asked: Asked) => planOf([fleetNode(node)], asked)

const gc = ['imageGCHighThresholdPercent=70', 'imageGCLowThresholdPercent=50']
const stepOf = async (node: FleetNode, set = gc) => {
  const { steps, refused } = await planOne(node, { set })
  expect(refused).toEqual([])
  return steps[0]!
}
const whyRefused = async (node: FleetNode, set = gc, asked: Asked = {}) => {
  const { steps, refused } = await planOne(node, { set, ...asked })
  expect(steps).toEqual([])
  return refused[0]?.why
}

describe('the file that a plan writes', () => {
  it.each<[Family, string]>([
    ['AL2', 'replacement'],
    ['Ubuntu', 'replacement'],
    ['old AL2023', 'reboot'],
  ])(
    'of %s is the whole main file: other fields, their order and the indentation stay',
    async (family, lastsUntil) => {
      const step = await stepOf({ family }, [...gc, 'evictionHard.imagefs.available=12%'])
      const wanted = {
        ...mainFile,
        evictionHard: { ...(mainFile.evictionHard as RawObject), 'imagefs.available': '12%' },
        imageGCHighThresholdPercent: 70,
        imageGCLowThresholdPercent: 50,
      }
      expect(step).toMatchObject({ method: 'kubelet-file', path: pathOf(family), lastsUntil })
      expect(step.content).toBe(`${JSON.stringify(wanted, null, indentOf(family))}\n`)
      expect(step.oldSha256).toBe(hashOf(`${JSON.stringify(mainFile, null, indentOf(family))}\n`))
      expect(step.newSha256).toBe(hashOf(step.content))
    },
  )

  it('takes the merged files if the kubelet was not queried', async () => {
    const read = await stepOf({ family: 'AL2' })
    expect(await stepOf({ family: 'AL2', record: { configz: null } })).toMatchObject({
      path: read.path,
      content: read.content,
    })
  })

  it('reports a change that the next reboot undoes', async () => {
    const { cohorts } = await planOne({ family: 'old AL2023' }, { set: gc })
    expect(cohorts[0]?.effect.text).toContain('at the next reboot')
  })

  it.each<[string, (file: RawObject) => string]>([
    ['without a last newline', file => JSON.stringify(file, null, 2)],
    ['on one line', file => `${JSON.stringify(file)}\n`],
    ['with tabs', file => `${JSON.stringify(file, null, '\t')}\n`],
  ])('is written %s as it was before', async (_, write) => {
    const { content } = await stepOf({ family: 'AL2', text: write(mainFile) })
    expect(content).toBe(
      write({ ...mainFile, imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }),
    )
  })

  it('escapes what Go escapes', async () => {
    const file = { ...mainFile, clusterDomain: 'a&b' }
    const { content } = await stepOf({
      family: 'AL2',
      file,
      text: `${JSON.stringify(file, null, 2).replace('&', '\\u0026')}\n`,
    })
    expect(content).toContain('"a\\u0026b"')
  })

  it('is refused where the text cannot be rebuilt to its hash: comments, or a secret that was cut out', async () => {
    expect(
      await whyRefused({ family: 'AL2', text: '{"kind": "KubeletConfiguration" } # mine' }),
    ).toContain('cannot be rebuilt')
  })

  it('names the whole map where the file had none: in a main file one signal takes the defaults away', async () => {
    const { evictionHard: _none, ...file } = mainFile
    const defaults = {
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
    }
    const { content } = await stepOf({ family: 'AL2', file, configz: { evictionHard: defaults } }, [
      'evictionHard.memory.available=200Mi',
    ])
    expect(JSON.parse(content).evictionHard).toEqual({ ...defaults, 'memory.available': '200Mi' })
  })

  it('is a NodeConfig piece on AL2023, which adds to the map instead', async () => {
    const step = await stepOf({}, [...gc, 'evictionHard.imagefs.available=12%'])
    expect(step).toMatchObject({
      method: 'nodeadm',
      path: '/etc/eks/nodeadm.d/50-highwater.yaml',
      oldSha256: 'absent',
    })
    expect(step.content).toMatchSnapshot()
    expect(step.expect).toEqual([
      { field: 'evictionHard.imagefs.available', value: '12%' },
      { field: 'imageGCHighThresholdPercent', value: 70 },
      { field: 'imageGCLowThresholdPercent', value: 50 },
    ])
  })

  it('keeps what an earlier piece says', async () => {
    const record = fleetNode({
      dropIns: { '40-nodeadm.conf': { containerLogMaxFiles: 9 } },
      configz: { containerLogMaxFiles: 9 },
    })
    const kubelet = (record.host as { kubelet: { files: RawObject[] } }).kubelet
    const content = { spec: { kubelet: { config: { containerLogMaxFiles: 9 } } } }
    kubelet.files.push({
      path: '/etc/eks/nodeadm.d/50-highwater.yaml',
      role: 'nodeadm',
      sha256: hashOf('old'),
      content,
    })
    const { steps } = await planOf([record], { set: gc })
    expect(steps[0]?.oldSha256).toBe(hashOf('old'))
    expect(steps[0]?.content).toContain(
      'containerLogMaxFiles: 9\n      imageGCHighThresholdPercent: 70',
    )
  })

  it('is a drop-in on an older AL2023 that reads them, and a hybrid node of SSM', async () => {
    const dropIns = { '40-nodeadm.conf': { containerLogMaxFiles: 9 } }
    const node = { dropIns, configz: { containerLogMaxFiles: 9 } }
    const expected = {
      method: 'drop-in',
      path: '/etc/kubernetes/kubelet/config.json.d/90-highwater.conf',
      oldSha256: 'absent',
    }
    const step = await stepOf({ ...node, family: 'old AL2023' })
    expect(step).toMatchObject(expected)
    expect(JSON.parse(step.content)).toEqual({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      imageGCHighThresholdPercent: 70,
      imageGCLowThresholdPercent: 50,
    })
    const hybrid = await stepOf({ ...node, family: 'hybrid', name: 'mi-0123456789abcdef0' })
    expect(hybrid).toMatchObject({ ...expected, instanceId: 'mi-0123456789abcdef0' })
  })

  it.each([
    {
      osImage: 'Amazon Linux 2023.9.20251013',
      releaseVersion: '1.34.1-20251023',
      method: 'nodeadm',
    },
    {
      osImage: 'Amazon Linux 2023.9.20251013',
      releaseVersion: '1.34.1-20251016',
      method: 'kubelet-file',
    },
    // An older node that an update of its nodegroup has not reached yet.
    {
      osImage: 'Amazon Linux 2023.6.20250203',
      releaseVersion: '1.34.1-20251120',
      method: 'kubelet-file',
    },
  ])(
    'of $osImage in a nodegroup of $releaseVersion is by $method',
    async ({ osImage, releaseVersion, method }) => {
      const record = fleetNode()
      Object.assign(record.node.status?.nodeInfo ?? {}, { osImage })
      const cluster = {
        kind: 'Cluster',
        cluster: 'prod',
        nodegroups: [{ nodegroupName: 'workers', releaseVersion }],
      }
      const { steps } = await planOf([record], { set: gc }, cluster)
      expect(steps[0]?.method).toBe(method)
    },
  )

  it('is settings on Bottlerocket: percentages as texts, maps as a whole, since a setting replaces every default', async () => {
    const step = await stepOf({ family: 'Bottlerocket' }, [
      ...gc,
      'evictionHard.imagefs.available=12%',
    ])
    expect(step).toMatchObject({ method: 'bottlerocket', path: 'settings.kubernetes' })
    expect(JSON.parse(step.content).set).toEqual({
      'eviction-hard': {
        'imagefs.available': '12%',
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '5%',
      },
      'image-gc-high-threshold-percent': '70',
      'image-gc-low-threshold-percent': '50',
    })
    // Nobody had set these two, and nothing ran for imagefs.available.
    expect(JSON.parse(step.content).back).toEqual({
      'image-gc-high-threshold-percent': '85',
      'image-gc-low-threshold-percent': '80',
    })
    expect(step.expectBack).toEqual([
      { field: 'imageGCHighThresholdPercent', value: 85 },
      { field: 'imageGCLowThresholdPercent', value: 80 },
    ])
    // Of the settings that a plan may set, as the node's script hashes them: keys sorted, nothing between the tokens.
    const trio = '"memory.available":"100Mi","nodefs.available":"10%","nodefs.inodesFree":"5%"'
    expect(step.oldSha256).toBe(hashOf(`{"eviction-hard":{${trio}}}`))
    const percents = '"image-gc-high-threshold-percent":"70","image-gc-low-threshold-percent":"50"'
    expect(step.newSha256).toBe(
      hashOf(`{"eviction-hard":{"imagefs.available":"12%",${trio}},${percents}}`),
    )
    const was = '"image-gc-high-threshold-percent":"85","image-gc-low-threshold-percent":"80"'
    expect(step.backSha256).toBe(
      hashOf(`{"eviction-hard":{"imagefs.available":"12%",${trio}},${was}}`),
    )
  })

  it('says on Bottlerocket what a rollback cannot take away', async () => {
    const { cohorts } = await planOf([fleetNode({ family: 'Bottlerocket' })], {
      set: [...gc, 'evictionHard.imagefs.available=12%'],
    })
    expect(cohorts[0]?.effect.text).toMatch(
      /Nothing ran for evictionHard\.imagefs\.available: a rollback leaves that as it is set\.$/,
    )
  })

  it.each([
    { release: '1.38.0', is: 'refused' },
    { release: '1.39.0', is: 'planned' },
    { release: '2.0.0', is: 'planned' },
    { release: 'unheard-of', is: 'refused' },
  ])('with container-log-max-workers on Bottlerocket $release is $is', async ({ release, is }) => {
    const record = fleetNode({ family: 'Bottlerocket' })
    Object.assign(record.host?.bottlerocket as RawObject, { os: { version_id: release } })
    const { steps, refused } = await planOf([record], { set: ['containerLogMaxWorkers=2'] })
    expect(steps.length).toBe(is === 'planned' ? 1 : 0)
    if (is === 'refused') expect(refused[0]?.why).toContain('needs Bottlerocket 1.39 or later')
  })

  it('expects the defaults that come back, too', async () => {
    const { expect: expected } = await stepOf({ family: 'AL2' }, [
      'mergeDefaultEvictionSettings=true',
    ])
    expect(expected).toEqual([
      { field: 'evictionHard.imagefs.available', value: '15%' },
      { field: 'evictionHard.imagefs.inodesFree', value: '5%' },
      { field: 'mergeDefaultEvictionSettings', value: true },
    ])
  })

  it.each([
    [
      'evictionMinimumReclaim.nodefs.available=5%',
      'Bottlerocket has no setting for evictionMinimumReclaim',
    ],
    ['evictionHard.containerfs.available=5%', 'has no key containerfs.available'],
    ['evictionHard.nodefs.available=null', 'Bottlerocket cannot take nodefs.available away'],
  ])('refuses what Bottlerocket has no setting for: %s', async (set, why) => {
    expect(await whyRefused({ family: 'Bottlerocket' }, [set])).toContain(why)
  })
})

/** Its files, and not how its kubelet was started. */
const silent = {
  kubelet: {
    ...(fleetNode({ family: 'AL2' }).host as { kubelet: RawObject }).kubelet,
    commandLine: [],
  },
}
const nodeInfo = { kubeletVersion: 'v1.34.1', operatingSystem: 'linux', osImage: 'Amazon Linux 2' }

describe('a node is refused', () => {
  it.each<[string, FleetNode, string[], string]>([
    [
      'whose files were not read',
      { record: { host: null } },
      gc,
      "the node's files were not read (mode ssm or both)",
    ],
    [
      'whose files were asked for in vain',
      {
        record: {
          host: null,
          errors: [{ what: 'host', message: 'SSM does not know the instance' }],
        },
      },
      gc,
      "the node's files were not read: SSM does not know the instance",
    ],
    [
      'whose configuration was not read',
      { record: { configz: null, host: null } },
      gc,
      'its running configuration was not read',
    ],
    [
      'whose flag says the same field',
      { flags: ['--image-gc-high-threshold=90'] },
      gc,
      'the flag --image-gc-high-threshold',
    ],
    [
      'of another path',
      { family: 'AL2', flags: ['--config=/opt/kubelet.json'] },
      gc,
      '/opt/kubelet.json is none that a plan may write',
    ],
    [
      'whose later drop-in says otherwise',
      { family: 'old AL2023', dropIns: { '99-team.conf': { imageGCHighThresholdPercent: 85 } } },
      gc,
      'imageGCHighThresholdPercent would still not be as wanted: /etc/kubernetes/kubelet/config.json.d/99-team.conf says 85',
    ],
    [
      'whose ignored drop-in a new NodeConfig would activate',
      { ignored: { '90-disk.conf': { imageGCHighThresholdPercent: 85 } } },
      gc,
      'imageGCHighThresholdPercent would still not be as wanted: /etc/kubernetes/kubelet/config.json.d/90-disk.conf says 85',
    ],
    [
      'whose ignored drop-in was not read',
      { ignored: { '90-disk.conf': null } },
      gc,
      'would begin to read /etc/kubernetes/kubelet/config.json.d/90-disk.conf',
    ],
    [
      'whose restart would change more',
      { family: 'AL2', file: { ...mainFile, containerLogMaxFiles: 3 } },
      gc,
      'a restart would change more than this: containerLogMaxFiles to 3',
    ],
    [
      'whose drop-ins lie elsewhere',
      { family: 'old AL2023', flags: ['--config-dir=/opt/kubelet.d'] },
      gc,
      'drop-ins of this kubelet lie in /opt/kubelet.d',
    ],
    [
      'whose command line was not read',
      { family: 'AL2', record: { host: silent } },
      gc,
      "the kubelet's command line was not read",
    ],
    [
      'that no SSM knows',
      { record: { node: { metadata: { name: 'a' }, status: { nodeInfo } } } },
      gc,
      'names no instance',
    ],
    ['of an unknown minor', { minor: '55' }, gc, 'is not known here'],
    [
      'whose CPU manager is static, for reserved CPUs',
      { configz: { cpuManagerPolicy: 'static' } },
      ['kubeReserved.cpu=200m'],
      'CPU manager is static',
    ],
    [
      'whose memory manager is static, for memory',
      { configz: { memoryManagerPolicy: 'Static' } },
      ['evictionHard.memory.available=300Mi'],
      'memory manager is static',
    ],
    [
      'that has no disk to be seen',
      { record: { summary: null } },
      gc,
      'what it would do at once is not known (not read: summary',
    ],
  ])('%s', async (_, node, set, why) => {
    expect(await whyRefused(node, set)).toContain(why)
  })

  it('where a raised threshold is met by what is there now, but not where the old one was, too (kubernetes#83612)', async () => {
    const set = ['evictionHard.nodefs.available=30%']
    const why = await whyRefused({ available: 25 }, set)
    expect(why).toContain('26843545600 now, below the new 30%')
    const { steps } = await planOne({ available: 25 }, { set, allowActAtOnce: true })
    expect(steps[0]).toMatchObject({
      before: { evictsNow: [] },
      after: { evictsNow: ['nodefs.available'] },
    })
    expect((await planOne({ available: 5 }, { set })).steps).toHaveLength(1)
  })

  it('where its pods would no longer fit at the restart', async () => {
    const pods = [readyPod('big', 'big', { resources: { requests: { memory: '15Gi' } } })]
    expect(await whyRefused({ pods }, ['systemReserved.memory=4Gi'])).toMatch(
      /its pods request more memory than the \S+ that the node would offer/,
    )
    expect((await planOne({ pods }, { set: ['systemReserved.memory=100Mi'] })).steps).toHaveLength(
      1,
    )
  })

  it('and not where many ask for small parts of a core', async () => {
    const pods = Array.from({ length: 9 }, (_, index) =>
      readyPod(`p${index}`, 'small', { resources: { requests: { cpu: '50m' } } }),
    )
    const { steps } = await planOne({ pods }, { set: gc })
    expect(steps[0]).toMatchObject({ before: { evictsNow: [] }, after: { evictsNow: [] } })
  })
})

describe('what is asked for is refused as a whole', () => {
  it.each<[string, string[], RegExp]>([
    [
      'a low percentage that is not below the high one',
      ['imageGCHighThresholdPercent=50', 'imageGCLowThresholdPercent=60'],
      /must be less than imageGCHighThresholdPercent/,
    ],
    [
      'a threshold that no kubelet parses',
      ['evictionHard.nodefs.available=lots'],
      /would not start with it/,
    ],
    ['more than the node has', ['systemReserved.memory=64Gi'], /would not start with it/],
    ['a field that no plan changes', ['maxPods=200'], /maxPods is no field that a plan may change/],
  ])('%s', async (_, set, message) => {
    await expect(planOne({}, { set })).rejects.toThrow(message)
  })

  it('a rule or finding that there is not, and a finding without a fix', async () => {
    await expect(planOne({}, { rules: ['no-such-rule'] })).rejects.toThrow('No rule is called')
    await expect(planOne({}, { findings: ['ffff'] })).rejects.toThrowErrorMatchingSnapshot()
    await expect(
      planOne({}, { set: gc, selection: { nodes: ['nobody'] } }),
    ).rejects.toThrowErrorMatchingSnapshot()
  })
})

describe('nodes that are never touched', () => {
  it.each<[string, FleetNode, string]>([
    ['Karpenter', { nodegroup: null, labels: { 'karpenter.sh/nodepool': 'general' } }, 'karpenter'],
    [
      'EKS Auto Mode',
      { nodegroup: null, labels: { 'eks.amazonaws.com/compute-type': 'auto' } },
      'auto-mode',
    ],
    ['a hybrid node of IAM Roles Anywhere', { family: 'hybrid', name: 'rack-7' }, 'nodeadm'],
  ])('%s has the lasting text instead', async (_, node, target) => {
    const { steps, never, refused, cohorts, waves } = await planOne(node, { set: gc })
    expect({ steps, refused, waves, never: never.length }).toEqual({
      steps: [],
      refused: [],
      waves: [],
      never: 1,
    })
    expect(cohorts[0]).toMatchObject({ nodes: 1, planned: 0, durable: [{ target }] })
  })
})

describe('a plan of findings', () => {
  // 15 % for eviction beside 85 for image GC: the disk is at the one before the other.
  const sick: FleetNode = {
    file: {
      ...mainFile,
      evictionHard: {
        'nodefs.available': '15%',
        'nodefs.inodesFree': '5%',
        'memory.available': '100Mi',
      },
    },
    configz: {
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '15%',
        'nodefs.inodesFree': '5%',
      },
    },
  }

  it('says what today evicts first, and that it no longer does', async () => {
    const nodes = ['a', 'b', 'c'].map(name => fleetNode({ ...sick, name }))
    const { cohorts, steps } = await planOf(nodes, { rules: ['eviction-before-image-gc'] })
    expect(cohorts).toHaveLength(1)
    expect(cohorts[0]).toMatchObject({
      nodes: 3,
      planned: 3,
      effect: { before: { evictFirst: 3 }, after: { evictFirst: 0 } },
    })
    expect(cohorts[0]?.findings).toHaveLength(1)
    expect(cohorts[0]?.effect.text).toMatch(
      /^Today 3 of 3 nodes evict first, before image GC; after: 0\./,
    )
    expect(cohorts[0]?.durable[0]?.snippet).toContain('imageGCHighThresholdPercent')
    expect(steps.every(({ after }) => after.evictsBeforeImageGc === false)).toBe(true)
  })

  it('takes every finding with a fix of these fields by default, and nothing where there is none', async () => {
    const { cohorts } = await planOf([fleetNode(sick)])
    expect(Object.keys(cohorts[0]?.fields ?? {})).toEqual([
      'imageGCHighThresholdPercent',
      'imageGCLowThresholdPercent',
      'kubeReserved',
    ])
    expect(cohorts[0]?.findings.length).toBeGreaterThan(1)
  })

  it('takes each node’s own fix: the map of most of them is not that of all', async () => {
    const evictionHard = {
      'memory.available': '100Mi',
      'nodefs.available': '11%',
      'nodefs.inodesFree': '0%',
    }
    const common = { file: { ...mainFile, evictionHard }, configz: { evictionHard } }
    const own = { ...evictionHard, 'nodefs.available': '12%', 'pid.available': '8%' }
    const other = {
      name: 'z',
      file: { ...mainFile, evictionHard: own },
      configz: { evictionHard: own },
    }
    const nodes = [...['a', 'b', 'c'].map(name => ({ name, ...common })), other]
    const { steps, cohorts } = await planOf(nodes.map(fleetNode), { rules: ['unwatched-inodes'] })
    expect(steps.map(({ node, expect: wanted }) => [node, wanted])).toEqual(
      ['a', 'b', 'c', 'z'].map(node => [
        node,
        [{ field: 'evictionHard.nodefs.inodesFree', value: '5%' }],
      ]),
    )
    expect(cohorts).toHaveLength(1)
  })

  it('takes what contradicting findings have agreed on, the sound value, and an operator’s word before it', async () => {
    const policy = {
      ...defaultPolicy,
      baseline: [
        {
          match: {},
          configuration: { imageGCHighThresholdPercent: 90, imageGCLowThresholdPercent: 80 },
        },
      ],
    }
    const request = {
      rules: ['eviction-before-image-gc', 'baseline-drift'],
      findings: [],
      allowActAtOnce: false,
      policy,
      version: '0',
    }
    const file = snapshotOf([fleetNode(sick)])
    const asked = async (set: string[]) =>
      (await makePlan(file, { ...request, changes: set.map(parseChange), selection: everything }))
        .plan
    const { refused, steps } = await asked([])
    expect(refused).toEqual([])
    const [high, low] = steps[0]?.expect ?? []
    expect([high?.field, low?.field]).toEqual([
      'imageGCHighThresholdPercent',
      'imageGCLowThresholdPercent',
    ])
    expect(Number(high?.value)).toBeLessThan(85)
    expect((await asked(gc)).steps).toMatchObject([{ expect: [{ value: 70 }, { value: 50 }] }])
  })

  it.each<Family>(['AL2', 'old AL2023', 'AL2023', 'Bottlerocket'])(
    'refuses on %s what is written already and does not run: there is nothing to write',
    async family => {
      const path = pathOf(family)
      const said = await stepOf({ family })
      const percents = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
      const node: FleetNode = {
        family,
        file:
          family === 'AL2023' || family === 'Bottlerocket'
            ? mainFile
            : { ...mainFile, ...percents },
      }
      const { host } = fleetNode(node) as unknown as {
        host: { kubelet: { files: RawObject[] }; bottlerocket: { kubernetes: RawObject } }
      }
      if (family === 'Bottlerocket')
        Object.assign(
          host.bottlerocket.kubernetes,
          (JSON.parse(said.content) as { set: RawObject }).set,
        )
      if (family === 'AL2023') {
        const content = {
          apiVersion: 'node.eks.aws/v1alpha1',
          kind: 'NodeConfig',
          spec: { kubelet: { config: percents } },
        }
        host.kubelet.files.push({
          path: said.path,
          role: 'nodeadm',
          sha256: said.newSha256,
          content,
        })
      }
      const place =
        family === 'Bottlerocket'
          ? 'its settings say'
          : `${family === 'AL2023' ? said.path : path} says`
      expect(await whyRefused({ ...node, record: { host } })).toContain(
        `${place} so already, and its kubelet does not run with`,
      )
    },
  )

  it('refuses a drop-in that says so already', async () => {
    const percents = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
    const first = await stepOf({ family: 'old AL2023', dropIns: { '10-other.conf': {} } })
    expect(first.method).toBe('drop-in')
    const host = fleetNode({ family: 'old AL2023', dropIns: { '10-other.conf': {} } }).host as {
      kubelet: { files: RawObject[] }
    }
    host.kubelet.files.push({
      path: first.path,
      role: 'drop-in',
      sha256: first.newSha256,
      content: JSON.parse(first.content) as RawObject,
    })
    expect(first.content).toContain(JSON.stringify(percents).slice(1, 20))
    expect(await whyRefused({ family: 'old AL2023', record: { host } })).toContain(
      `${first.path} says so already`,
    )
  })

  it('leaves nodes out that run with it already', async () => {
    const done = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
    const { steps, unchanged, cohorts } = await planOf([fleetNode({ configz: done })], { set: gc })
    expect({ steps, unchanged, cohorts }).toEqual({ steps: [], unchanged: 1, cohorts: [] })
  })
})

describe('image GC that is due at once', () => {
  const images = [
    idleImage('docker.io/library/a:1', 4),
    idleImage('docker.io/library/b:1', 3),
    idleImage('quay.io/c/c:1', 2),
  ]

  it('is counted, with the bytes at most and what may be pulled again', async () => {
    const { cohorts, steps } = await planOne({ available: 28, images }, { set: gc })
    expect(steps[0]).toMatchObject({
      before: { imageGcDue: false },
      after: { imageGcDue: true, freedBytesAtMost: 9 * 2 ** 30, evictsNow: [] },
    })
    expect(cohorts[0]?.effect.pulls).toEqual([
      {
        registry: 'docker.io',
        images: 2,
        limit: { pulls: dockerHubLimits.anonymousPulls, hours: dockerHubLimits.hours },
      },
      { registry: 'quay.io', images: 1, limit: null },
    ])
    expect(cohorts[0]?.effect.text).toContain(
      'Image GC is due at once on 1 node (today 0), freeing at most 9.0 GiB. At most 3 images',
    )
  })
})

describe('the restart', () => {
  const pods = [
    readyPod('web-1', 'web'),
    readyPod('api-1', 'api'),
    readyPod('slow-1', 'slow', { startupProbe: { periodSeconds: 5 } }),
  ]
  const budget = (disruptionsAllowed: number) => ({
    kind: 'Objects',
    cluster: 'prod',
    resource: 'poddisruptionbudgets.policy',
    items: [
      {
        metadata: { namespace: 'shop', name: 'api' },
        spec: { selector: { matchLabels: { app: 'api' } } },
        status: { disruptionsAllowed },
      },
    ],
  })

  it('turns probed pods NotReady; the only ones of their owner are named, wherever the others are', async () => {
    const nodes = [
      fleetNode({ name: 'a', pods }),
      fleetNode({ name: 'b', pods: [readyPod('web-2', 'web')] }),
    ]
    const { cohorts } = await planOf(nodes, { set: gc, selection: { nodes: ['a'] } }, budget(0))
    expect(cohorts[0]?.blast).toMatchObject({
      pods: 3,
      notReadyPods: 3,
      singletons: { count: 2, sample: ['shop/api-1', 'shop/slow-1'] },
      budgetsAtLimit: { count: 1, sample: ['shop/api'] },
      startupProbes: 1,
    })
    expect(cohorts[0]?.blast.text).toContain('kubernetes#100277')
  })

  it('omits budgets that were not read, and those that allow an eviction', async () => {
    const unread = await planOne({ pods }, { set: gc })
    expect(unread.cohorts[0]?.blast).toMatchObject({ budgetsAtLimit: null })
    expect(unread.cohorts[0]?.blast.text).toContain('PodDisruptionBudgets were not read')
    const broken = {
      kind: 'Cluster',
      cluster: 'prod',
      errors: [{ what: 'poddisruptionbudgets.policy', message: 'broke off' }],
    }
    const ofPage = { ...budget(0), errors: broken.errors }
    for (const records of [[budget(0), broken], [ofPage]]) {
      const cut = await planOf([fleetNode({ pods })], { set: gc }, ...records)
      expect(cut.cohorts[0]?.blast).toMatchObject({ budgetsAtLimit: null })
    }
    const { cohorts } = await planOf([fleetNode({ pods })], { set: gc }, budget(1))
    expect(cohorts[0]?.blast.budgetsAtLimit).toEqual({ count: 0, sample: [] })
  })

  it.each([
    { minor: '34', gates: {}, notReadyPods: 3 },
    { minor: '35', gates: {}, notReadyPods: 0 },
    { minor: '35', gates: { ChangeContainerStatusOnKubeletRestart: true }, notReadyPods: 3 },
  ])(
    'of kubelet 1.$minor with gates $gates: $notReadyPods pods',
    async ({ minor, gates, notReadyPods }) => {
      const file = { ...mainFile, featureGates: gates, failCgroupV1: false }
      const { cohorts, refused } = await planOne(
        { minor, pods, file, configz: { featureGates: gates, failCgroupV1: false } },
        { set: gc },
      )
      expect(refused).toEqual([])
      expect(cohorts[0]?.blast.notReadyPods).toBe(notReadyPods)
    },
  )

  it('counts what it could not read', async () => {
    const { cohorts } = await planOne({ record: { pods: null } }, { set: gc })
    expect(cohorts[0]?.blast).toMatchObject({ unreadNodes: 1, pods: 0 })
  })
})

describe('waves', () => {
  it('begin with one node of each cohort, the healthiest and least loaded, and grow', async () => {
    const many = Array.from({ length: 40 }, (_, index) => {
      const name = `n${String(index).padStart(2, '0')}`
      const pods = index === 7 ? [] : [readyPod(`p${name}`, 'web')]
      return fleetNode({ name, pods })
    })
    const other = fleetNode({ name: 'other', family: 'Bottlerocket', nodegroup: 'br' })
    const { waves, steps } = await planOf([...many, other], { set: gc })
    expect(waves.map(wave => wave.length)).toEqual([2, 1, 6, 32])
    expect(waves[0]).toEqual(expect.arrayContaining(['prod/n07', 'prod/other']))
    expect(waves.flat().toSorted()).toEqual(steps.map(({ cluster, node }) => `${cluster}/${node}`))
  })

  it('take nodes without a group for one cohort: else each of them would go first', async () => {
    const { waves, cohorts } = await planOf(
      ['a', 'b', 'c'].map(name => fleetNode({ name, nodegroup: null })),
      { set: gc },
    )
    expect(cohorts).toMatchObject([{ group: { kind: 'Cluster', name: 'prod' }, nodes: 3 }])
    expect(waves[0]).toHaveLength(1)
  })

  it('put nodes under pressure, and those that are not ready, last', async () => {
    const sick = fleetNode({ name: 'a' })
    Object.assign(sick.node.status ?? {}, { conditions: [{ type: 'Ready', status: 'False' }] })
    const full = fleetNode({ name: 'b' })
    Object.assign(full.node.status ?? {}, {
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'DiskPressure', status: 'True' },
      ],
    })
    const { waves } = await planOf([sick, full, fleetNode({ name: 'c' })], { set: gc })
    expect(waves.flat()).toEqual(['prod/c', 'prod/b', 'prod/a'])
  })
})

describe('the digest', () => {
  const nodes = () => [
    fleetNode({ name: 'a' }),
    fleetNode({ name: 'b', family: 'AL2' }),
    fleetNode({ name: 'c', available: 28 }),
  ]

  it('is the same for the same fleet, whatever the order of its snapshot', async () => {
    const one = await planOf(nodes(), { set: gc })
    const other = await planOf(nodes().reverse(), { set: gc })
    expect(planText(other)).toBe(planText(one))
    expect(one.id).toBe(one.digest.slice(0, 16))
    expect(one.createdAt).toBe(takenAt)
    // Written down, so that a plan that was approved yesterday is known tomorrow.
    expect(one.digest).toMatchInlineSnapshot(
      `"992d14e22798b9a8c91de314783e839b864656e915833d729d5546700b8a8034"`,
    )
  })

  it('is another one for another value, and for another file', async () => {
    const digests = new Set(
      await Promise.all([
        planOf(nodes(), { set: gc }),
        planOf(nodes(), { set: ['imageGCHighThresholdPercent=71', gc[1]!] }),
        planOf(
          [...nodes().slice(0, 2), fleetNode({ name: 'c', available: 28, family: 'old AL2023' })],
          { set: gc },
        ),
      ]).then(plans => plans.map(({ digest }) => digest)),
    )
    expect(digests.size).toBe(3)
  })

  it('is read back from the file, which is sorted by key and ends with a newline', async () => {
    const plan = await planOf(nodes(), { set: gc })
    const text = planText(plan)
    expect(parsePlan(text, 'plan.json')).toEqual(plan)
    expect(text.endsWith('}\n')).toBe(true)
    const isSorted = (value: unknown): boolean => {
      if (Array.isArray(value)) return value.every(isSorted)
      if (!isRawObject(value)) return true
      const keys = Object.keys(value)
      return (
        keys.every((key, index) => index === 0 || key > keys[index - 1]!) &&
        Object.values(value).every(isSorted)
      )
    }
    expect(isSorted(JSON.parse(text))).toBe(true)
  })
})

describe('a plan of many nodes', () => {
  /** As many fields as a real kubelet has, one of them its own. */
  const many = (name: string) => ({
    ...Object.fromEntries(
      Array.from({ length: 90 }, (_, index) => [`someSettingOfTheKubelet${index}`, index]),
    ),
    providerID: `aws:///eu-west-1a/${name}`,
  })

  it('is refused at its first wrong step', () => {
    const before = process.cpuUsage()
    const text = `{"schema":"highwater.plan/1","steps":[${Array(100_000).fill('{}').join()}]}`
    expect(() => parsePlan(text, 'plan.json')).toThrow('plan.json is no highwater.plan/1')
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10)
  })

  it('stays within some bytes a node', async () => {
    const nodes = Array.from({ length: 200 }, (_, index) =>
      fleetNode({ name: `n${String(index).padStart(4, '0')}` }),
    )
    const plan = await planOf(nodes, { set: gc })
    expect(plan.steps).toHaveLength(200)
    expect(plan.cohorts).toHaveLength(1)
    expect(planText(plan).length / 200).toBeLessThan(2500)
  })

  it('has what its nodes share once', async () => {
    const nodes = Array.from({ length: 100 }, (_, index) =>
      fleetNode({ name: `n${index}`, configz: many(`n${index}`) }),
    )
    const plan = await planOf(nodes, { set: gc })
    expect(Object.keys(plan.steps[0]?.others ?? {}).length).toBeGreaterThan(90)
    const text = planText(plan)
    expect(text.length / 100).toBeLessThan(2500)
    expect(parsePlan(text, 'plan.json')).toEqual(plan)
  })

  it('keeps what a node has otherwise, or has not at all, at its step', async () => {
    const nodes = ['a', 'b', 'c'].map(name => fleetNode({ name, configz: many(name) }))
    const unlike = fleetNode({ name: 'd', configz: { ...many('d'), someSettingOfTheKubelet7: -7 } })
    const fewer = fleetNode({ name: 'e', configz: { providerID: 'e' } })
    for (const fleet of [nodes, [...nodes, unlike], [...nodes, fewer]]) {
      const plan = await planOf(fleet, { set: gc })
      expect(plan.cohorts).toHaveLength(1)
      expect(parsePlan(planText(plan), 'plan.json')).toEqual(plan)
    }
  })

  it('has a shared field under its digest, too', async () => {
    const nodes = ['a', 'b'].map(name => fleetNode({ name, configz: many(name) }))
    const written = JSON.parse(planText(await planOf(nodes, { set: gc })))
    expect(Object.keys(written.steps[0].others)).toEqual(['providerID'])
    for (const forge of [
      (others: Record<string, string>) => delete others.someSettingOfTheKubelet7,
      (others: Record<string, string>) =>
        Object.assign(others, { someSettingOfTheKubelet7: '0'.repeat(16) }),
      (others: Record<string, string>) => Object.assign(others, { another: '0'.repeat(16) }),
    ]) {
      const forged = structuredClone(written)
      forge(forged.cohorts[0].others)
      expect(() => parsePlan(JSON.stringify(forged), 'plan.json')).toThrowErrorMatchingSnapshot()
    }
  })
})
