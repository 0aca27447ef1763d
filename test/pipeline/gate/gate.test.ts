import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { inputLimits } from '#base/limits.ts'
import { openBudget, readChangedFile } from '#pipeline/gate/changed-file.ts'
import {
  briefSnapshot,
  changedTexts,
  gateChanges,
  gated,
  gateSnapshot,
  hasBase,
  snapshotOf,
} from '#test/gate-changes.ts'
import { gateWorld } from '#test/gate-world.ts'
import { isLinear } from '#test/linear.ts'

const judged = (change: (typeof gateChanges)[number]) =>
  gated(briefSnapshot(), changedTexts(change), { group: change.group, hasBase: hasBase(change) })

const bad = gateChanges.filter(({ verdict }) => verdict === 'bad')
const good = gateChanges.filter(({ verdict }) => verdict === 'good')

it('tries at least 25 bad and 25 good changes', () => {
  expect(bad.length).toBeGreaterThanOrEqual(25)
  expect(good.length).toBeGreaterThanOrEqual(25)
})

it.each(bad)('stops $name at $file:$line', async change => {
  const { problems, verdict } = await judged(change)
  const stops = problems.filter(({ stops }) => stops)
  expect(stops).toContainEqual(
    expect.objectContaining({
      ...{ kind: change.kind, file: change.file, line: change.line },
      text: expect.stringContaining(change.text ?? ''),
    }),
  )
  const isRefused = stops.some(({ kind }) => kind === 'refused' || kind === 'unparsed')
  expect(verdict).toBe(isRefused ? 'refused' : 'worse')
})

it.each(good)('passes $name', async change => {
  const { problems, verdict } = await judged(change)
  expect(problems.filter(({ stops }) => stops)).toEqual([])
  expect(verdict).toBe('ok')
})

it.each([
  [
    'absolute-threshold-on-small-disk',
    ['eviction eviction-due', 'worse eviction-before-image-gc', 'worse zero-min-reclaim-thrash'],
  ],
  ['lost-signal', ['threshold-lost lost-default-threshold']],
  ['bottlerocket-wrong-type', ['refused null']],
  ['image-gc-off', ['worse image-gc-disabled']],
])('reports each effect of %s once', async (name, expected) => {
  const change = bad.find(each => each.name === name)
  if (change === undefined) throw new Error(`no change is called ${name}`)
  const stops = (await judged(change)).problems.filter(({ stops }) => stops)
  expect(stops.map(({ kind, rule }) => `${kind} ${rule}`)).toEqual(expected)
  expect(stops.every(({ rule, detail }) => (rule === null) === (detail === null))).toBe(true)
})

describe('the largest threshold that does not evict', () => {
  const tried = async (signal: string, value: string) => {
    const [large = '', ...lines] = gateWorld()
      .filter(line => !line.includes('"small-1"'))
      .toReversed()
    const other = gateWorld().find(line => line.includes('"small-1"')) ?? ''
    const fuller = other.replaceAll(/"availableBytes":8589934592/g, '"availableBytes":4509715661')
    const text = `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      evictionHard:\n        ${signal}: "${value}"\n`
    const snapshot = snapshotOf([...lines.toReversed(), large, fuller])
    const { problems } = await gated(snapshot, [{ file: 'a.yaml', text, base: null }], {
      group: 'small',
    })
    return problems.find(({ kind }) => kind === 'eviction')
  }

  it('is that of the fullest node', async () => {
    const eviction = await tried('nodefs.available', '15Gi')
    expect(eviction).toMatchObject({
      nodes: { count: 2 },
      most: [{ signal: 'nodefs.available', available: 4_509_715_661, percent: 21 }],
    })
  })

  it.each([
    ['4300Mi', false],
    ['4301Mi', true],
    ['21%', false],
    ['22%', true],
  ])('%s evicts: %s', async (value, evicts) => {
    expect((await tried('nodefs.available', value)) !== undefined).toBe(evicts)
  })
})

/** The snapshot with the kubelet's file of one node. */
function withFileOf(name: string, fields: object) {
  const path = '/etc/kubernetes/kubelet/config.json'
  const config = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
  return gateWorld().map(line => {
    const record = JSON.parse(line)
    if (record.node?.metadata.name !== name) return line
    const content = { ...config, ...record.configz.kubeletconfig, ...fields }
    const files = [{ path, role: 'config', sha256: '0'.repeat(64), content }]
    const commandLine = ['/usr/bin/kubelet', `--config=${path}`]
    const kubelet = { startedAt: record.at, commandLine, files }
    const host = { schema: 'highwater.host/1', kubelet }
    return JSON.stringify({ ...record, configz: undefined, mode: 'ssm', host })
  })
}

/** nodeadm makes the folder of drop-ins and its flag with the first NodeConfig. */
it('takes the present values of a kubelet that was not asked from its files', async () => {
  const lines = withFileOf('small-0', { imageGCHighThresholdPercent: 83 })
  const text =
    'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {imageGCHighThresholdPercent: 82}}}\n'
  const { groups } = await gated(snapshotOf(lines), [{ file: 'a.yaml', text, base: null }], {
    group: 'small',
  })
  expect(groups[0]?.settings[0]).toMatchObject({
    ...{ field: 'imageGCHighThresholdPercent', values: { before: ['83', '85'], after: ['82'] } },
  })
})

it.each([
  ['small-0', false],
  ['small-1', true],
])('loses settings of %s unless a file that was not read has them: %s', async (name, isUnknown) => {
  const lines = withFileOf('small-0', { imageGCHighThresholdPercent: 83 })
  const text = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
  const texts = [{ file: `${name}/kubelet.yaml`, text, base: null }]
  const { problems } = await gated(snapshotOf(lines), texts)
  const lost = problems.find(({ kind }) => kind === 'settings-lost')
  expect(lost?.text.includes('unless a flag or a drop-in sets them')).toBe(isUnknown)
})

it.each([
  ['spot', 'EC2NodeClass spot'],
  [null, 'its name is not known: --group names its nodes'],
])('takes the name %s from a JSON patch without a target', async (name, reach) => {
  const operations = [
    ...(name === null ? [] : [{ op: 'add', path: '/metadata/name', value: name }]),
    { op: 'add', path: '/spec/kubelet', value: { imageGCHighThresholdPercent: 75 } },
    { op: 'replace', path: '', value: {} },
    { op: 'add', path: '/spec/__proto__/x', value: 1 },
  ]
  const texts = [{ file: 'patch.yaml', text: JSON.stringify(operations), base: null }]
  const { files } = await gated(gateSnapshot(), texts)
  const standIn = 'tried on general-0 of prod/general (AL2023), since no node has it'
  const shown = name === null ? `${reach}; ${standIn}` : reach
  expect(files[0]).toMatchObject({ kinds: ['EC2NodeClass'], reach: shown })
})

it('names the value that ends a finding', async () => {
  const change = bad.find(({ name }) => name === 'ten-bytes')!
  const { problems } = await gated(gateSnapshot(), changedTexts(change), { group: change.group })
  expect(problems.find(({ stops }) => stops)?.instead).toEqual([
    { settings: { 'evictionHard.nodefs.available': '10%' }, nodes: 3 },
  ])
})

it('names the file whose setting acts, not the one that it hides', async () => {
  const dropIn = (name: string, high: number) => ({
    file: `general/kubelet.conf.d/${name}`,
    text: `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nimageGCHighThresholdPercent: ${high}\n`,
    base: null,
  })
  const files = [dropIn('10-a.conf', 84), dropIn('20-b.conf', 100)]
  const { problems } = await gated(gateSnapshot(), files)
  const stops = problems.filter(({ stops }) => stops).map(({ kind, file }) => [kind, file])
  expect(stops).toEqual([
    ['worse', 'general/kubelet.conf.d/20-b.conf'],
    ['no-effect', 'general/kubelet.conf.d/10-a.conf'],
  ])
})

it('lists each lost key of a map, none of the keys that stay', async () => {
  const change = bad.find(({ name }) => name === 'lost-signal-bottlerocket')
  if (change === undefined) throw new Error('the change is gone')
  const { groups, problems } = await judged(change)
  const settings = groups[0]?.settings.map(({ field, values: { before, after } }) => [
    field,
    ...before,
    ...after,
  ])
  expect(settings?.toSorted()).toEqual([
    ['evictionHard.imagefs.available', '15%', null],
    ['evictionHard.memory.available', '100Mi', null],
    ['evictionHard.nodefs.available', '10%', '15%'],
    ['evictionHard.nodefs.inodesFree', '5%', null],
  ])
  expect(problems[0]).toMatchObject({ field: 'evictionHard.imagefs.available', line: 4 })
})

const nodeConfig = (settings: string, file = 'nodeconfig.yaml') => ({
  file,
  text: `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n${settings}`,
  base: null,
})

describe('which nodes a file reaches', () => {
  const reached = async (file: string, text: string, group?: string) => {
    const { groups, files } = await gated(gateSnapshot(), [{ file, text, base: null }], { group })
    return {
      groups: groups.map(({ group: { name }, nodes }) => [name, nodes]),
      reach: files[0]?.reach,
    }
  }
  const settings = '      maxPods: 29\n'

  it('all that read a NodeConfig, if nothing names them', async () => {
    const { groups, reach } = await reached('a.yaml', nodeConfig(settings).text)
    expect(groups.map(([name]) => name)).toEqual(['batch', 'general', 'small', 'spot'])
    expect(reach).toContain('AL2023')
  })

  it.each([
    'general/a.yaml',
    'groups/general.yaml',
    'general-user-data.yaml',
    'prod/general_1.yaml',
  ])('the group in the path %s', async file => {
    expect((await reached(file, nodeConfig(settings).text)).groups).toEqual([['general', 3]])
  })

  it('the node in the path', async () => {
    const { groups } = await reached('nodes/general-1/a.yaml', nodeConfig(settings).text)
    expect(groups).toEqual([['general', 1]])
  })

  it('--group before the path', async () => {
    const { groups } = await reached('general/a.yaml', nodeConfig(settings).text, 'sma*')
    expect(groups).toEqual([['small', 2]])
  })
})

it('counts nodes by their worst effect, and what starts at once', async () => {
  const { groups } = await gated(
    gateSnapshot(),
    [nodeConfig('      imageGCHighThresholdPercent: 55\n      imageGCLowThresholdPercent: 45\n')],
    { group: '*' },
  )
  const small = groups.find(({ group }) => group.name === 'small')
  expect(small).toMatchObject({ nodes: 2, imageGcs: 2, evictions: 0 })
})

it('says that the value of an expression is not judged', async () => {
  const file = nodeConfig('      maxPods: $MAX_PODS\n')
  const { problems } = await gated(gateSnapshot(), [file], { group: 'general' })
  expect(problems).toEqual([
    expect.objectContaining({
      ...{ kind: 'unread', stops: false, line: 6, field: 'maxPods' },
      text: expect.stringContaining('Render the file first'),
    }),
  ])
})

it.each([
  ['$MAX_PODS', 'ok'],
  ['$MOST_PODS', 'unread'],
])('an expression that the base has as well is no change: %s', async (value, verdict) => {
  const { text } = nodeConfig(`      maxPods: ${value}\n      podPidsLimit: 4096\n`)
  const base = nodeConfig('      maxPods: $MAX_PODS\n').text
  const file = { file: 'general/a.yaml', text, base }
  expect((await gated(gateSnapshot(), [file], { hasBase: true })).verdict).toBe(verdict)
})

it.each([
  ['$MAX', 'legacy/ud.sh'],
  [`\${max_pods}`, 'legacy/ud.sh'],
  ['$(cat /etc/max)', 'legacy/ud.sh'],
])('says that the flag --max-pods=%s is not judged', async (value, file) => {
  const text = `#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args "--max-pods=${value} --node-labels=a=b"\n`
  const { problems, verdict } = await gated(gateSnapshot(), [{ file, text, base: null }])
  expect({ notes: problems.map(({ kind, field, line }) => [kind, field, line]), verdict }).toEqual({
    notes: [['unread', 'maxPods', 2]],
    verdict: 'unread',
  })
})

it.each([
  ['is cut off', (line: string) => line.slice(0, -20)],
  [
    'has a part of another form',
    (line: string) => line.replace(/"pods":(\[\{"metadata")/, '"pods":7,"x":$1'),
  ],
])('judges nothing if a line %s', async (_, broken) => {
  const lines = gateWorld().map(line => (line.includes('"general-1"') ? broken(line) : line))
  const result = gated(snapshotOf(lines), [nodeConfig('      maxPods: 29\n')])
  await expect(result).rejects.toThrow('is not whole, so nodes may be missing')
})

describe('nodes that the change leaves as they are', () => {
  const judgedBeside = (text: string, base: string | null = null) => {
    const lines = gateWorld().map(line => {
      const isOther = line.includes('"general-1"')
      return isOther
        ? line.replace('"imageGCHighThresholdPercent":85', '"imageGCHighThresholdPercent":97')
        : line
    })
    const file = { file: 'general/a.yaml', text, base }
    return gated(snapshotOf(lines), [file], { hasBase: base !== null })
  }

  it('count beside others of their group', async () => {
    const { groups, problems } = await judgedBeside(
      nodeConfig('      imageGCHighThresholdPercent: 97\n').text,
    )
    expect(groups).toMatchObject([{ nodes: 3, unchanged: 1, worse: 2 }])
    expect(problems.find(({ kind }) => kind === 'worse')?.nodes.sample).toEqual([
      'general-0',
      'general-2',
    ])
  })

  /** More nodes than have findings of their own: those of a cluster become one. */
  it('count beside others of the cluster, if they are in no group', async () => {
    const lines = gateWorld(12).map((line, index) => {
      const record = JSON.parse(line)
      if (record.node?.metadata.labels['eks.amazonaws.com/nodegroup'] !== 'general') return line
      record.node.metadata.labels = {}
      const { kubeletconfig } = record.configz
      if (index % 2 === 0) kubeletconfig.imageGCHighThresholdPercent = 97
      return JSON.stringify({ ...record, cluster: index % 3 === 0 ? 'test' : 'prod' })
    })
    const file = nodeConfig('      imageGCHighThresholdPercent: 97\n')
    const { groups, problems } = await gated(snapshotOf(lines), [file], { group: 'general-*' })
    const changed = groups.filter(({ unchanged }) => unchanged === 0).map(({ group }) => group.name)
    const worse = problems.filter(({ kind }) => kind === 'worse')
    expect(groups).toHaveLength(36)
    expect(changed).toHaveLength(18)
    expect(new Set(worse.flatMap(({ nodes }) => nodes.sample))).toEqual(new Set(changed))
  })

  it('have no problem if a comment changes', async () => {
    const { text } = nodeConfig('      imageGCHighThresholdPercent: 97\n')
    const { groups, problems } = await judgedBeside(`# of today\n${text}`, text)
    expect(problems).toEqual([])
    expect(groups).toMatchObject([{ nodes: 3, unchanged: 3 }])
  })
})

describe('nodes whose configuration was not read', () => {
  const unread = () =>
    gateWorld().map(line => {
      const { configz, host, ...record } = JSON.parse(line)
      return JSON.stringify(record)
    })
  const toml = (lines: string) => ({
    file: 'vault/a.toml',
    text: `[settings.kubernetes]\n${lines}`,
    base: null,
  })

  it.each([
    ['image-gc-high-threshold-percent = 60\nimage-gc-low-threshold-percent = 70\n', 2, 'imageGC'],
    ['[settings.kubernetes.eviction-soft]\n"nodefs.available" = "15%"\n', 3, 'grace period'],
  ])(
    'refuse settings of Bottlerocket that no kubelet starts with: %s',
    async (lines, line, text) => {
      const { problems, verdict } = await gated(snapshotOf(unread()), [toml(lines)])
      expect(verdict).toBe('refused')
      expect(problems).toMatchObject([
        { kind: 'refused', line, text: expect.stringContaining(text) },
      ])
    },
  )

  it.each([
    ['      imageGCHighThresholdPercent: 120\n', 'refused'],
    ['      imageGCHighThresholdPercent: 60\n      imageGCLowThresholdPercent: 70\n', 'refused'],
    ['      imageMinimumGCAge: 2 min\n', 'refused'],
    ['      evictionHard:\n        nodefs.avail: "10%"\n', 'refused'],
    ['      crashLoopBackOff:\n        maxContainerRestartPeriod: 1h\n', 'refused'],
    ['      containerLogMaxFiles: 1\n', 'refused'],
    ['      imageGCHighThresholdPercent: 60\n', 'unread'],
    ['      cgroupsPerQOS: false\n', 'unread'],
    ['      systemCgroups: /system\n', 'unread'],
    ['      evictionSoft:\n        nodefs.available: "15%"\n', 'unread'],
  ])('with the NodeConfig %s: %s', async (settings, verdict) => {
    const file = { ...nodeConfig(settings), file: 'general/a.yaml' }
    expect((await gated(snapshotOf(unread()), [file])).verdict).toBe(verdict)
  })
})

it.each([
  'imageGCHighThresholdPercent: {toString: 0}',
  'evictionHard: {nodefs.available: {toString: 0, valueOf: 1}}',
  'imageMinimumGCAge: {toString: 0}',
  'enforceNodeAllocatable: [{toString: 0}]',
  'containerLogMaxSize: [{toString: 0}]',
])('refuses a value with a toString of its own: %s', async setting => {
  const { problems } = await gated(snapshotOf(gateWorld()), [
    { ...nodeConfig(`      ${setting}\n`), file: 'general/a.yaml' },
    {
      file: 'class.yaml',
      text: `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: general}\nspec:\n  blockDeviceMappings: [{deviceName: {toString: 0}, ebs: {volumeSize: {toString: 0}}}]\n  kubelet: {${setting}}\n`,
      base: null,
    },
  ])
  expect(problems.map(({ kind }) => kind)).toContain('refused')
})

it.each(['.inf', '.nan'])(
  'refuses %s, whether the files of the node were read or not',
  async value => {
    const text = `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nimageGCHighThresholdPercent: ${value}\n`
    const texts = [{ file: 'small/kubelet.yaml', text, base: null }]
    const { problems, groups } = await gated(snapshotOf(withFileOf('small-0', {})), texts)
    expect(problems.map(({ kind }) => kind)).toContain('refused')
    expect(groups).toMatchObject([{ nodes: 2, refused: 2 }])
  },
)

it('does not judge nodes whose configuration was not read', async () => {
  const lines = gateWorld().map(line => {
    const { configz, host, ...record } = JSON.parse(line)
    return JSON.stringify(record)
  })
  const text = nodeConfig('      imageGCHighThresholdPercent: 90\n').text
  const { problems, verdict, groups } = await gated(snapshotOf(lines), [
    { file: 'general/a.yaml', text, base: null },
  ])
  expect(problems.map(({ kind, text: why }) => [kind, why])).toEqual([
    ['unread', 'Not judged: the configuration of these nodes was not read.'],
  ])
  expect(verdict).toBe('unread')
  expect(groups).toMatchObject([{ nodes: 3, unread: 3, unchanged: 0 }])
})

it.each([
  ['imageMinimumGCAge: 2h', 'imageMaximumGCAge: 1h'],
  ['imageGCHighThresholdPercent: 60', 'imageGCLowThresholdPercent: 70'],
])('names the line of the other half of a pair: %s, %s', async (first, second) => {
  const { text } = nodeConfig(`      ${first}\n      maxPods: 29\n      ${second}\n`)
  const { problems } = await gated(gateSnapshot(), [{ file: 'general/a.yaml', text, base: null }])
  const [refused] = problems
  expect([refused?.kind, refused?.line, refused?.otherLine]).toEqual(['refused', 6, 8])
})

it('says that flags of a NodeConfig are not judged whose value is an expression', async () => {
  const text = nodeConfig('').text.replace(
    '    config:\n',
    '    flags:\n    - --max-pods\n    - $MAX\n    - --image-gc-high-threshold=20\n',
  )
  const { problems } = await gated(gateSnapshot(), [{ file: 'general/a.yaml', text, base: null }])
  expect(problems.filter(({ kind }) => kind === 'unread')).toMatchObject([{ field: 'maxPods' }])
  expect(problems).toContainEqual(
    expect.objectContaining({ kind: 'refused', field: 'imageGCHighThresholdPercent' }),
  )
})

it.each(['10 %', '<10%', '10,5%', '10percent', '5GiB'])('refuses the amount %s', async amount => {
  const file = nodeConfig(`      evictionHard:\n        nodefs.available: "${amount}"\n`)
  const { problems } = await gated(gateSnapshot(), [file], { group: 'general' })
  expect(problems.map(({ kind, line }) => [kind, line])).toEqual([['refused', 7]])
})

describe('the image that an EC2NodeClass names', () => {
  const nodeClass = (image: string, userData: string) =>
    `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: spot\nspec:\n  ${image}\n  userData: |\n${userData.replace(/^/gm, '    ')}`
  const settings = '      imageGCHighThresholdPercent: 75\n      imageGCLowThresholdPercent: 65\n'
  const toml =
    '[settings.kubernetes]\nimage-gc-high-threshold-percent = 75\nimage-gc-low-threshold-percent = 65\n'
  const judgedClass = async (image: string, userData: string) => {
    const text = nodeClass(image, userData)
    return (await gated(gateSnapshot(), [{ file: 'k/spot.yaml', text, base: null }])).problems
  }

  it.each([
    ['amiSelectorTerms: [{alias: bottlerocket@latest}]', 'Bottlerocket reads its own settings'],
    ['amiFamily: Bottlerocket', 'Bottlerocket reads its own settings'],
    ['amiSelectorTerms: [{alias: al2@latest}]', 'Amazon Linux 2 does not read NodeConfig'],
  ])('decides who reads a NodeConfig: %s', async (image, why) => {
    const lost = (await judgedClass(image, nodeConfig(settings).text)).filter(({ stops }) => stops)
    expect(lost).toEqual([
      expect.objectContaining({ kind: 'no-effect', line: 13, text: expect.stringContaining(why) }),
      expect.objectContaining({ kind: 'no-effect', line: 14 }),
    ])
  })

  it('decides that TOML is read', async () => {
    const found = await judgedClass('amiSelectorTerms: [{alias: bottlerocket@latest}]', toml)
    expect(found.filter(({ stops }) => stops)).toEqual([])
  })

  it.each(['{}', '{name: "$NAME"}'])(
    'with the metadata %s is for the nodes of --group',
    async metadata => {
      const text = `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: ${metadata}\nspec:\n  kubelet:\n    evictionHard:\n      nodefs.available: "10"\n`
      const file = { file: 'k/patch.yaml', text, base: null }
      const { groups, verdict } = await gated(gateSnapshot(), [file], { group: 'spot' })
      expect({ groups: groups.map(({ group }) => group.name), verdict }).toEqual({
        groups: ['spot'],
        verdict: 'worse',
      })
      const { files } = await gated(gateSnapshot(), [file])
      expect(files).toMatchObject([{ nodes: 0, reach: expect.stringContaining('--group') }])
    },
  )
})

describe('a setting in the wrong place', () => {
  const head = 'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n'
  const gc = 'imageGCHighThresholdPercent: 75\n'
  const ofClass = 'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: spot\n'
  const eksctl =
    'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: prod}\nnodeGroups:\n- name: batch\n'
  const toml = 'image-gc-high-threshold-percent = 75\n'
  it.each([
    ['no-effect', 4, 'a.yaml', `${head}  config:\n    ${gc}`],
    ['no-effect', 5, 'a.yaml', `${head}  kubelet:\n    ${gc}`],
    ['refused', 5, 'a.yaml', `${head}  kubelet:\n    config:\n    - ${gc}`],
    ['refused', 1, 'a.yaml', head.replace('v1alpha1', 'v1')],
    ['refused', 2, 'a.yaml', head.replace('NodeConfig', 'Nodeconfig')],
    ['refused', 7, 'a.yaml', `${ofClass}spec:\n  kubelet:\n    imageMaximumGCAge: 24h\n`],
    ['refused', 6, 'a.yaml', `${eksctl}  kubeletExtraConfigs:\n    maxPods: 20\n`],
    ['refused', 2, 'a.toml', `[settings.kubelet]\n${toml}`],
    ['refused', 2, 'a.toml', `[setting.kubernetes]\n${toml}`],
  ])('is named: %s on line %i of %s', async (kind, line, file, text) => {
    const { problems } = await gated(gateSnapshot(), [{ file, text, base: null }])
    const stops = problems.filter(problem => problem.stops)
    expect(new Set(stops.map(problem => `${problem.kind} ${problem.line}`))).toEqual(
      new Set([`${kind} ${line}`]),
    )
  })
})

describe('a flag that the kubelet does not know', () => {
  const stopped = async (file: string, text: string, base: string | null = null) =>
    (await gated(gateSnapshot(), [{ file, text, base }], { hasBase: base !== null })).problems
      .filter(({ stops }) => stops)
      .map(({ kind, line, text: why }) => [kind, line, why])
  const unknown = (flag: string) => `failed to parse kubelet flag: unknown flag: --${flag}`
  const bootstrap = (flags: string) =>
    `#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args '${flags}'\n`
  const ofNodeConfig = (flag: string) =>
    nodeConfig('').text.replace('    config:\n', `    flags:\n    - ${flag}\n`)

  it.each(['no-such-flag', 'container-runtime', 'keep-terminated-pod-volumes'])(
    'is refused in arguments of bootstrap.sh: --%s',
    async flag => {
      const found = await stopped('legacy/ud.sh', bootstrap(`--node-labels=a=b --${flag}=1`))
      expect(found).toEqual([['refused', 2, unknown(flag)]])
    },
  )

  it.each(['image-gc-high-treshold', 'register-schedulable'])(
    'is refused in a NodeConfig: --%s',
    async flag => {
      const found = await stopped('spot/a.yaml', ofNodeConfig(`--${flag}=75`))
      expect(found).toEqual([['refused', 6, unknown(flag.replaceAll('_', '-'))]])
    },
  )

  it('is refused though its value is a text that may be a secret', async () => {
    const found = await stopped('legacy/ud.sh', bootstrap('--keep-terminated-pod-volumes=true'))
    expect(found).toEqual([['refused', 2, unknown('keep-terminated-pod-volumes')]])
  })

  it('does not count if the base has it', async () => {
    const before = bootstrap('--no-such-flag')
    expect(await stopped('legacy/ud.sh', `${before}\n`, before)).toEqual([])
  })

  it('is named on the line of a value that cannot be parsed', async () => {
    const [first] = await stopped('general/a.yaml', ofNodeConfig('--max-pods=abc'))
    expect(first?.slice(0, 2)).toEqual(['refused', 6])
  })
})

describe('a file of another kind', () => {
  it.each([
    ['README.md', 'Our NodePool is new.\n'],
    ['README.md', '# x\n\n```yaml\nkind: NodeConfig\n\t- [x\n```\n'],
    ['docs/page.md', '---\ntitle: NodeConfig\n---\n# NodeConfig\n'],
    [
      'cmd/main.go',
      'package main\n\n// NodeConfig\nfunc main() {\n\tx := map[string]string{"a": "b"}\n}\n',
    ],
    ['gen.py', 'def f():\n    """EC2NodeClass: {a"""\n    return {\n'],
    ['stack.ts', '// EC2NodeClass and NodePool\nexport const x = { a: 1 }\n'],
    ['Makefile', 'all:\n\t./bootstrap.sh\n'],
    ['Dockerfile', 'FROM x\nCOPY bootstrap.sh /\n'],
    ['img.png', '\ufffdPNG\r\n\0NodeConfig'],
    ['lib/bucket.ts', "import { Bucket } from 'aws-cdk-lib/aws-s3'\n"],
    ['bucket.yaml', 'Resources:\n  B:\n    Type: AWS::S3::Bucket\n'],
    ['bucket.tf', 'resource "aws_s3_bucket" "x" {\n  policy = <<EOT\n{}\nEOT\n}\n'],
    ['values.yaml', 'image: {tag: v1}\nresources: {requests: {memory: 1Gi}}\n'],
  ])('is ignored: %s', async (file, text) => {
    const { problems, files } = await gated(gateSnapshot(), [{ file, text, base: null }])
    const isProgram = /\.(?:go|py|ts)$/.test(file)
    const reach = `${isProgram ? 'a program' : 'it sets nothing of a kubelet'}: ignored`
    expect({ problems, files }).toEqual({
      problems: [],
      files: [{ file, kinds: [], unread: null, nodes: 0, reach }],
    })
  })

  const launchTemplate = 'AWSTemplateFormatVersion: "2010-09-09"\nResources:\n  T:\n'
  it.each([
    ['Terraform', 'main.tf', 'locals {\n  x = jsonencode({ a = [NodeConfig, "b" ] })\n}\n'],
    ['Terraform', 'main.tf', 'x = <<-EOT\n  kind: NodeConfig\n  --max-pods=many\n  EOT\n'],
    ['Terraform', 'main.tf.json', '{"locals": {"kind": "NodeConfig", "x": ['],
    ['Terraform', 'a.tfvars', 'kubelet = {\n imageGC = "KubeletConfiguration"\n}\n'],
    ['HCL', 'a.pkr.hcl', 'source "x" {\n user_data = "NodeConfig"\n}\n'],
    [
      'CloudFormation',
      'stack.yaml',
      `${launchTemplate}    Type: AWS::EC2::LaunchTemplate\n    Properties:\n      UserData: !Base64\n        Fn::Sub: /etc/eks/bootstrap.sh\n`,
    ],
    [
      'CloudFormation',
      'stack.json',
      '{\n  "Resources": {"T": {\n    "Type": "AWS::EC2::LaunchTemplate",\n    "x": "NodeConfig"}}}\n',
    ],
    ['CDK', 'nodes.ts', "import * as ec2 from 'aws-cdk-lib/aws-ec2'\nnew ec2.LaunchTemplate(x)\n"],
    ['CDK', 'app.py', 'from aws_cdk import aws_eks\ncluster.add_nodegroup_capacity("x")\n'],
    [
      'CloudFormation',
      'sub.yaml',
      'Resources:\n  S:\n    Type: AWS::CloudFormation::Stack\n    x: bootstrap\n',
    ],
    [
      'values of a template',
      'values.yaml',
      'pool:\n  kubelet:\n    evictionHard: {nodefs.available: "10"}\n',
    ],
  ])('is named as not read, with what to give instead: %s in %s', async (unread, file, text) => {
    const { problems, files, verdict } = await gated(gateSnapshot(), [{ file, text, base: null }])
    const how = expect.stringMatching(new RegExp(`^Not read: ${unread}\\. .*[Gg]ive the `))
    expect({ problems, files, verdict }).toMatchObject({
      problems: [{ kind: 'unread', stops: false, file, line: 1, field: null, text: how }],
      verdict: 'unread',
      files: [{ file, kinds: [], unread, nodes: 0, reach: `not read: ${unread}` }],
    })
  })

  const ofNodes = (userData: string) =>
    `${launchTemplate}    Type: AWS::EC2::LaunchTemplate\n    Properties:\n      LaunchTemplateData:\n        UserData:\n          Fn::Base64: !Sub |\n            #!/bin/bash\n            ${userData}\n`
  const ofTerraform = (userData: string) =>
    `resource "aws_launch_template" "nodes" {\n  user_data = base64encode(<<-EOT\n    #!/bin/bash\n    ${userData}\n  EOT\n  )\n}\n`
  const joins = `/etc/eks/bootstrap.sh \${Cluster} --b64-cluster-ca \${CA} --apiserver-endpoint \${Endpoint}`

  it.each([
    ['stack.yaml', ofNodes(joins), true],
    ['stack.yaml', ofNodes('yum install -y amazon-ssm-agent'), true],
    [
      'stack.yaml',
      ofNodes('/etc/eks/bootstrap.sh $' + '{Cluster} $' + '{BootstrapArguments}'),
      false,
    ],
    ['stack.yaml', ofNodes('$' + '{PreBootstrap}'), false],
    ['stack.yaml', `${ofNodes(joins)}  S:\n    Type: AWS::CloudFormation::Stack\n`, false],
    [
      'stack.yaml',
      `${launchTemplate}    Type: AWS::EKS::Nodegroup\n    Properties: {AmiType: AL2023_x86_64_STANDARD}\n`,
      true,
    ],
    ['eks.tf', ofTerraform(joins), true],
    [
      'eks.tf',
      ofTerraform('/etc/eks/bootstrap.sh c --kubelet-extra-args "$' + '{var.args}"'),
      false,
    ],
    ['eks.tf', `${ofTerraform(joins)}\nlocals {\n  user_data = var.x\n}\n`, false],
    ['eks.tf', 'eks_managed_node_groups = {\n  a = { instance_types = ["m6i.large"] }\n}\n', true],
    ['eks.tf', 'enable_bootstrap_user_data = true # node_group\n', true],
    ['eks.tf', 'x = templatefile("node_group.tftpl", {})\n', false],
    ['prod.tfvars', 'node_groups = {\n  a = { max_size = 3 }\n}\n', true],
    ['prod.tfvars', 'node_groups = {\n  a = { bootstrap_extra_args = "--x" }\n}\n', false],
    [
      'pool.yaml',
      'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: {{ .Values.name }}}\nspec:\n  template:\n    spec:\n      nodeClassRef: {kind: EC2NodeClass, name: {{ .Values.class }}}\n',
      true,
    ],
    [
      'pool.yaml',
      'apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: {{ .Values.name }}}\n',
      false,
    ],
  ])('of %s sets nothing, or is not read: %j', async (file, text, isEmpty) => {
    const { problems, files } = await gated(gateSnapshot(), [{ file, text, base: null }])
    expect(problems.map(({ kind }) => kind)).toEqual(isEmpty ? [] : ['unread'])
    expect(files[0]?.reach).toMatch(isEmpty ? /^it sets nothing of a kubelet/ : /^not read: /)
  })

  it('sets nothing, and was not read before the change', async () => {
    const texts = [{ file: 'eks.tf', text: ofTerraform(joins), base: 'user_data = var.x\n' }]
    const { files } = await gated(gateSnapshot(), texts, { hasBase: true })
    expect(files).toMatchObject([{ unread: 'Terraform', nodes: 0 }])
  })

  it.each([
    ['!Ref LongParameterForUserData', 'CloudFormation'],
    ['!If [IsOn, a, b]', 'CloudFormation'],
    ['{Fn::GetAtt: [X, Y]}', 'CloudFormation'],
  ])('names the line of user data that is not written out: %s', async (userData, unread) => {
    const text = `${launchTemplate}    Type: AWS::EC2::LaunchTemplate\n    Properties:\n      LaunchTemplateData:\n        UserData: ${userData}\n`
    const { problems, files, verdict } = await gated(gateSnapshot(), [
      { file: 'stack.yaml', text, base: null },
    ])
    expect({ problems, files, verdict }).toMatchObject({
      problems: [
        { kind: 'unread', stops: false, line: 7, text: expect.stringContaining('of T is') },
      ],
      files: [{ unread, nodes: 0 }],
      verdict: 'unread',
    })
  })

  const settings = '      imageGCHighThresholdPercent: 75\n      imageGCLowThresholdPercent: 65\n'
  const heredoc = (name: string) =>
    `${name} = <<-EOT\n  ${nodeConfig(settings).text.replaceAll('\n', '\n  ')}\n  EOT\n`

  it.each([
    ['one', heredoc('x'), ['batch', 'general', 'small', 'spot']],
    ['several', `${heredoc('x')}${heredoc('y')}`, []],
  ])('with %s in a heredoc reaches its nodes if they are clear', async (_, text, expected) => {
    const { groups, files } = await gated(gateSnapshot(), [{ file: 'eks.tf', text, base: null }])
    expect(groups.map(({ group }) => group.name)).toEqual(expected)
    expect(files[0]).toMatchObject({ kinds: ['NodeConfig'], unread: null })
  })

  it('of several user data reaches the nodegroup of each', async () => {
    const template = (name: string, group: string, high: number) => `  ${name}:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        UserData: !Base64 |
          apiVersion: node.eks.aws/v1alpha1
          kind: NodeConfig
          spec: {kubelet: {config: {imageGCHighThresholdPercent: ${high}}}}
  ${name}Nodes:
    Type: AWS::EKS::Nodegroup
    Properties: {NodegroupName: ${group}, LaunchTemplate: {Id: !Ref ${name}}}
`
    const text = `Resources:\n${template('A', 'general', 84)}${template('B', 'small', 83)}${template('C', '!Ref X', 82)}`
    const { groups } = await gated(gateSnapshot(), [{ file: 'stack.yaml', text, base: null }])
    expect(groups.map(({ group, settings }) => [group.name, settings[0]?.values.after])).toEqual([
      ['general', ['84']],
      ['small', ['83']],
    ])
  })

  it.each([
    [
      '{{- if .Values.on }}\nkind: EC2NodeClass\nmetadata:\n  name: {{ .Values.name }}\n{{- end }}\n',
      1,
    ],
    ['kind: ConfigMap\ndata:\n  x: {{ .Values.x }} # KubeletConfiguration\n', 3],
  ])('is a template that is not rendered: %j', async (text, line) => {
    const file = 'chart/templates/x.yaml'
    const { problems, verdict } = await gated(gateSnapshot(), [{ file, text, base: null }])
    expect({ problems, verdict }).toMatchObject({
      problems: [
        { kind: 'unread', line, text: expect.stringContaining('output of helm template') },
      ],
      verdict: 'unread',
    })
  })

  it.each([
    ['n.yaml', 'NodeConfig: [a\nb: c\n', 'before it is not closed'],
    ['n.yaml', 'kind: NodeConfig\nspec:\n\tx: 1\n', 'a tab indents a line'],
    ['user-data', 'kind: NodeConfig\nspec: "a\n', 'is missing'],
    ['vault.toml', '[settings.kubernetes\n', 'is no TOML'],
  ])('is not one that should be a configuration: %s', async (file, text, why) => {
    const { problems } = await gated(gateSnapshot(), [{ file, text, base: null }])
    expect(problems).toMatchObject([{ kind: 'unparsed', text: expect.stringContaining(why) }])
  })
})

it('shows the old and the new value of a setting that the kubelet refuses', async () => {
  const file = nodeConfig('      imageGCHighThresholdPercent: 101\n')
  const { problems, groups } = await gated(gateSnapshot(), [{ ...file, base: null }], {
    group: 'general',
  })
  const field = 'imageGCHighThresholdPercent'
  expect(problems).toMatchObject([{ kind: 'refused', field }])
  expect(groups[0]?.settings).toMatchObject([{ field, values: { after: ['101'] } }])
  expect(groups[0]?.settings[0]?.values.before).toEqual([expect.stringMatching(/^\d+$/)])
})

it('ends with a settings that the base has and the head has not', async () => {
  const head = nodeConfig('      imageGCLowThresholdPercent: 60\n')
  const base = nodeConfig(
    '      imageGCLowThresholdPercent: 60\n      imageGCHighThresholdPercent: 75\n',
  )
  const { problems } = await gated(gateSnapshot(), [{ ...head, base: base.text }], {
    ...{ group: 'general', hasBase: true },
  })
  expect(problems.some(({ rule }) => rule === 'alert-before-image-gc')).toBe(true)
})

/** The text and 5 MB after it, in base64 of gzip. */
const packedText = (text: string) => gzipSync(text + 'a'.repeat(5_000_000)).toString('base64')

describe('hostile files', () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefgh'
      .split('')
      .map((name, index) =>
        `${name}: &${name} [${'abcdefgh'[index]},${'abcdefgh'[index]}]`.replaceAll(
          /\b([a-h])\b(?=[,\]])/g,
          '*$1',
        ),
      ),
  ].join('\n')
  const texts = {
    'an alias bomb': `kind: KubeletConfiguration\n${bomb}`,
    'deep nesting': `kind: KubeletConfiguration\nx: ${'['.repeat(20_000)}`,
    'a long file': `kind: KubeletConfiguration\n${'#'.repeat(inputLimits.userData.maxBytes)}`,
    'a gzip bomb': `#cloud-config\nKUBELET_EXTRA_ARGS\nwrite_files:\n  - encoding: gz+b64\n    content: ${gzipSync(Buffer.alloc(5_000_000)).toString('base64')}\n`,
    'many keys': `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${Array.from({ length: 5_000 }, (_, index) => `key${index}: 1`).join('\n')}`,
    __proto__:
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n__proto__: {maxPods: 1}\nconstructor: 1\n',
  }

  it.each(Object.entries(texts))(
    '%s is read within bounds',
    { timeout: 30_000 },
    async (_, text) => {
      const document = await gated(gateSnapshot(), [{ file: 'general/x.yaml', text, base: null }])
      expect(document.problems.length).toBeLessThanOrEqual(1_000)
      expect(JSON.stringify(document).length).toBeLessThan(2_000_000)
    },
  )

  it.each([
    ['base64 of gzip', packedText(nodeConfig('      imageGCHighThresholdPercent: 99\n').text)],
    [
      'an encoded part',
      `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//\nContent-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n${packedText('#!/bin/bash\n')}\n--//--\n`,
    ],
  ])('that unpacks to more than is read stops the change: %s', async (_, text) => {
    const { problems, verdict } = await gated(
      gateSnapshot(),
      [{ file: 'user-data.txt', text, base: null }],
      { group: 'general' },
    )
    expect({ verdict, problems }).toMatchObject({
      verdict: 'refused',
      problems: [{ kind: 'unparsed', text: expect.stringContaining('times as long as its gzip') }],
    })
  })

  it('that is a long script is ignored', async () => {
    const text = `#!/bin/bash\n${'echo\n'.repeat(100_000)}`
    const { problems, files } = await gated(gateSnapshot(), [{ file: 'x.sh', text, base: null }])
    expect({ problems, files }).toMatchObject({ problems: [], files: [{ unread: null }] })
  })

  it('of many documents is replayed for the first 30, and names the line of the next', async () => {
    const one = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50'
    const text = Array.from({ length: 60 }, () => one).join('\n---\n')
    const { problems } = await gated(gateSnapshot(), [{ file: 'general/x.yaml', text, base: null }])
    const why = 'it has more than 30 configurations, and the others are not replayed'
    const found = problems.filter(problem => problem.text.includes(why))
    expect(found).toEqual([expect.objectContaining({ kind: 'unparsed', line: 121 })])
  })
})

/** The nodes of spot, after their record was changed. */
const spotSnapshot = (change: (record: ReturnType<typeof JSON.parse>) => void, ...more: object[]) =>
  snapshotOf([
    ...gateWorld().map(line => {
      const record = JSON.parse(line)
      if (record.node?.metadata.name.startsWith('spot-')) change(record)
      return JSON.stringify(record)
    }),
    ...more.map(record => JSON.stringify(record)),
  ])

describe('a setting that an EC2NodeClass no longer has', () => {
  const running = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 }
  const resource = 'ec2nodeclasses.karpenter.k8s.aws'
  const items = [{ metadata: { name: 'spot' }, spec: { kubelet: running } }]
  const snapshot = () =>
    spotSnapshot(({ configz }) => Object.assign(configz.kubeletconfig, running), {
      ...{ kind: 'Objects', cluster: 'prod', resource, items },
    })
  const nodeClass = (spec: string) =>
    `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: spot\nspec:\n  role: prod\n${spec}`
  const subnets = '  subnetSelectorTerms: [{tags: {a: b}}]\n'
  const low = '  kubelet:\n    imageGCLowThresholdPercent: 60\n'
  const judgedFile = async (file: string, text: string) => {
    const { groups, problems } = await gated(snapshot(), [{ file, text, base: null }])
    const high = groups[0]?.settings.find(({ field }) => field === 'imageGCHighThresholdPercent')
    const alerts = problems.filter(({ rule }) => rule === 'alert-before-image-gc')
    return { values: high?.values, lines: alerts.map(({ line }) => line) }
  }
  const ended = { before: ['70'], after: ['85'] }

  it('ends with the whole class, without a base', async () => {
    const whole = await judgedFile('spot.yaml', nodeClass(`${subnets}${low}`))
    expect(whole).toEqual({ values: ended, lines: [9] })
  })

  it('stays with a part of the class', async () => {
    const part = await judgedFile('spot.yaml', nodeClass(low))
    expect(part).toEqual({ values: undefined, lines: [] })
  })

  it('ends with an operation that removes it', async () => {
    const text = `kind: Kustomization
patches:
- target: {kind: EC2NodeClass, name: spot}
  patch: |-
    - op: remove
      path: /spec/kubelet/imageGCHighThresholdPercent
`
    const removed = await judgedFile('kustomization.yaml', text)
    expect(removed).toEqual({ values: ended, lines: [6] })
  })
})

describe("nodeadm's files on the node", () => {
  const folder = '/etc/kubernetes/kubelet/config.json.d'
  const kind = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
  const main = '/etc/kubernetes/kubelet/config.json'
  const withDropIns = (dropIns: Record<string, object>) =>
    spotSnapshot(record => {
      const files = Object.entries(dropIns).map(([name, content]) => ({
        ...{ path: `${folder}/${name}`, role: 'drop-in', content: { ...kind, ...content } },
      }))
      record.host = {
        schema: 'highwater.host/1',
        kubelet: {
          startedAt: '2026-11-01T00:00:00Z',
          commandLine: ['/usr/bin/kubelet', `--config=${main}`, `--config-dir=${folder}`],
          files: [
            { path: main, role: 'config', content: { ...record.configz.kubeletconfig, ...kind } },
            ...files,
          ],
        },
      }
    })
  const problemsOf = async (snapshot: string, file: string, text: string) =>
    (await gated(snapshot, [{ file, text, base: null }])).problems
  const lostOf = async (snapshot: string) =>
    (await problemsOf(snapshot, 'spot/a.yaml', head))
      .filter(({ kind: effect }) => effect === 'no-effect')
      .map(({ line, text }) => [line, text])
  const team = { '20-team.conf': { imageGCHighThresholdPercent: 90 } }
  const head = nodeConfig('      imageGCHighThresholdPercent: 82\n').text

  it('the old drop-in comes before those of others', async () => {
    const snapshot = withDropIns({ '00-nodeadm.conf': {}, ...team })
    expect(await lostOf(snapshot)).toEqual([
      [6, expect.stringContaining('20-team.conf takes its place')],
    ])
  })

  it('the new one beside it comes after them', async () => {
    const snapshot = withDropIns({ '00-nodeadm.conf': {}, ...team, '40-nodeadm.conf': {} })
    expect(await lostOf(snapshot)).toEqual([])
  })

  it.each([
    ['--image-gc-high-threshold=60', 'refused'],
    ['--no-such-flag=1', 'refused'],
    ['--image-gc-high-threshold=84', undefined],
  ])('a script that writes the flag %s for the kubelet: %s', async (flag, stop) => {
    const text = `#!/bin/bash\ncat >> /etc/eks/kubelet/environment <<END\nNODEADM_KUBELET_ARGS=${flag}\nEND\n`
    const problems = await problemsOf(withDropIns({}), 'spot/user-data.sh', text)
    const lost = problems.filter(
      ({ kind: effect }) => effect === 'refused' || effect === 'no-effect',
    )
    expect(lost.map(({ kind: effect, line }) => [effect, line])).toEqual(stop ? [[stop, 3]] : [])
  })
})

it('blames the setting without which the finding ends', async () => {
  const file = nodeConfig(
    '      imageGCHighThresholdPercent: 84\n      imageGCLowThresholdPercent: 75\n      evictionHard:\n        nodefs.available: "20%"\n',
  )
  const { problems } = await gated(gateSnapshot(), [file], { group: 'general' })
  expect(problems).toMatchObject([
    { rule: 'eviction-before-image-gc', field: 'evictionHard.nodefs.available', line: 9 },
  ])
})

describe('a ClusterConfig of eksctl', () => {
  const clusterConfig = (...names: string[]) =>
    [
      'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata:\n  name: prod\n  region: eu-west-1\nnodeGroups:',
      ...names.map(
        name =>
          `  - name: ${name}\n    amiFamily: AmazonLinux2\n    kubeletExtraConfig:\n      evictionHard:\n        nodefs.available: "60%"`,
      ),
    ].join('\n')
  const judged = (...names: string[]) =>
    gated(gateSnapshot(), [{ file: 'cluster.yaml', text: clusterConfig(...names), base: null }])

  it('changes on Amazon Linux 2 what bootstrap.sh has written', async () => {
    const { problems } = await judged('general')
    expect(problems.map(({ kind }) => kind)).not.toContain('no-effect')
    expect(problems).toContainEqual(
      expect.objectContaining({
        kind: 'eviction',
        field: 'evictionHard.nodefs.available',
        line: 11,
      }),
    )
  })

  it('reaches the nodes of all its nodegroups', async () => {
    const { files, groups } = await judged('general', 'small')
    expect(groups.map(({ nodes }) => nodes)).toEqual([3, 2])
    expect(files).toMatchObject([{ nodes: 5 }])
  })
})

it.each([
  ['keys at one depth', (length: number) => `a: [\n${'kubelet: x\n'.repeat(length / 11)}`],
  [
    'keys that go deeper',
    (length: number) =>
      `a: [\n${Array.from({ length: length / 150 }, (_, at) => `${' '.repeat(at % 280)}kubelet: x`).join('\n')}`,
  ],
])('reads values with many kubelets in linear time: %s', (_what, textOf) => {
  const read = (length: number) => readChangedFile('values.yaml', textOf(length), openBudget())
  expect(isLinear(read, 300_000)).toBe(true)
})
