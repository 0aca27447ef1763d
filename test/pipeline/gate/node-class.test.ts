/** What the API server refuses of an EC2NodeClass, in the words of its CRD. */
import { describe, expect, it } from 'vitest'
import { briefSnapshot, gated, gateSnapshot, snapshotOf } from '#test/gate-changes.ts'
import { gateWorld } from '#test/gate-world.ts'

const indented = (text: string, depth: number) => text.replace(/^(?=.)/gm, ' '.repeat(depth))

/** Each line of `kubelet` is one below line 14. */
const nodeClass = (kubelet: string, name = 'spot', alias = 'al2023@v20251103', more = '') =>
  `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: ${name}
spec:
  role: nodes
  amiSelectorTerms:
    - alias: ${alias}
  subnetSelectorTerms:
    - tags: {karpenter.sh/discovery: prod}
  securityGroupSelectorTerms:
    - tags: {karpenter.sh/discovery: prod}
${more}  kubelet:
${indented(kubelet, 4)}`

const stopsOf = async (text: string, snapshot = briefSnapshot()) => {
  const { problems, verdict } = await gated(snapshot, [{ file: 'class.yaml', text, base: null }])
  return {
    verdict,
    stops: problems
      .filter(({ stops }) => stops)
      .map(({ kind, line, field, text }) => ({ kind, line, field, text })),
  }
}

const signals =
  "['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']"

describe.each([
  ['that nodes have', 'spot'],
  ['that no node has', 'fresh'],
])('of a class %s', (_, name) => {
  it.each([
    [
      'a grace period without its threshold',
      'evictionSoftGracePeriod:\n  memory.available: 1m\n',
      [
        15,
        'evictionSoftGracePeriod.memory.available',
        'evictionSoftGracePeriod OwnerKey does not have a matching evictionSoft.',
      ],
    ],
    [
      'a soft threshold without its grace period',
      'evictionSoft:\n  memory.available: 500Mi\n',
      [
        15,
        'evictionSoft.memory.available',
        'evictionSoft OwnerKey does not have a matching evictionSoftGracePeriod.',
      ],
    ],
    [
      'thresholds in the wrong order',
      'imageGCLowThresholdPercent: 80\nimageGCHighThresholdPercent: 70\n',
      [
        15,
        'imageGCHighThresholdPercent',
        'imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent.',
      ],
    ],
    [
      'a percentage above 100',
      'imageGCHighThresholdPercent: 120\n',
      [
        14,
        'imageGCHighThresholdPercent',
        'imageGCHighThresholdPercent in body should be less than or equal to 100.',
      ],
    ],
    [
      'a negative number',
      'podsPerCore: -1\n',
      [14, 'podsPerCore', 'podsPerCore in body should be greater than or equal to 0.'],
    ],
    [
      'a text for a number',
      'imageGCHighThresholdPercent: "85"\n',
      [
        14,
        'imageGCHighThresholdPercent',
        'imageGCHighThresholdPercent in body must be of type integer: "string".',
      ],
    ],
    [
      'a number for a text',
      'kubeReserved:\n  cpu: 1\n',
      [15, 'kubeReserved.cpu', 'kubeReserved.cpu in body must be of type string: "integer".'],
    ],
    [
      'an unknown resource',
      'systemReserved:\n  ephemeral_storage: 1Gi\n',
      [
        15,
        'systemReserved.ephemeral_storage',
        "valid keys for systemReserved are ['cpu','memory','ephemeral-storage','pid'].",
      ],
    ],
    [
      'a negative reservation',
      'kubeReserved:\n  memory: -1Gi\n',
      [15, 'kubeReserved.memory', 'kubeReserved value cannot be a negative resource quantity.'],
    ],
    [
      'no amount',
      'evictionHard:\n  memory.available: 10 %\n',
      [
        15,
        'evictionHard.memory.available',
        'evictionHard.memory.available in body should match the pattern of a percentage or a quantity.',
      ],
    ],
  ] as const)('refuses %s', async (_, kubelet, [line, field, why]) => {
    expect(await stopsOf(nodeClass(kubelet, name))).toEqual({
      verdict: 'refused',
      stops: [
        { kind: 'refused', line, field, text: `The API server refuses spec.kubelet: ${why}` },
      ],
    })
  })

  it('names an unknown signal beside other refusals', async () => {
    const kubelet =
      'evictionHard:\n  nodefs.freeInodes: 5%\n  memory.available: 1 Gi\nkubeReserved:\n  memory: -1Gi\n'
    const { stops } = await stopsOf(nodeClass(kubelet, name))
    expect(stops.map(({ field }) => field)).toEqual([
      'evictionHard.nodefs.freeInodes',
      'evictionHard.memory.available',
      'kubeReserved.memory',
    ])
    expect(stops[0]?.text).toContain(`valid keys for evictionHard are ${signals}`)
  })

  it('takes a whole class with pairs and limits', async () => {
    const kubelet =
      'evictionSoft:\n  memory.available: 500Mi\nevictionSoftGracePeriod:\n  memory.available: 1m30s\nimageGCHighThresholdPercent: 80\nimageGCLowThresholdPercent: 70\nkubeReserved:\n  cpu: 100m\n'
    expect(await stopsOf(nodeClass(kubelet, name))).toEqual({ verdict: 'ok', stops: [] })
  })

  it('names a setting of the user data that spec.kubelet replaces', async () => {
    const userData = `  userData: |
    apiVersion: node.eks.aws/v1alpha1
    kind: NodeConfig
    spec: {kubelet: {config: {imageGCHighThresholdPercent: 75}}}
`
    const text = nodeClass('imageGCHighThresholdPercent: 85\n', name, 'al2023@latest', userData)
    expect(await stopsOf(text)).toEqual({
      verdict: 'worse',
      stops: [
        {
          ...{ kind: 'no-effect', line: 16, field: 'imageGCHighThresholdPercent' },
          text: 'spec.kubelet of EC2NodeClass, which Karpenter adds last, takes its place.',
        },
      ],
    })
  })
})

it.each([
  ['imageGCHighThresholdPercnt', '.'],
  ['serializeImagePulls', ': EC2NodeClass does not have it up to Karpenter 1.14.'],
])('does not know the field %s', async (field, more) => {
  expect((await stopsOf(nodeClass(`${field}: 80\n`))).stops).toEqual([
    {
      ...{ kind: 'refused', line: 14, field },
      text: `strict decoding error: unknown field "spec.kubelet.${field}"${more}`,
    },
  ])
})

it('refuses what Bottlerocket and the API server refuse, also if no node of the snapshot runs it', async () => {
  const others = snapshotOf(gateWorld().filter(line => !line.includes('Bottlerocket')))
  const refused = await stopsOf(
    nodeClass('imageGCHighThresholdPercent: 101\n', 'fresh', 'bottlerocket@latest'),
    others,
  )
  expect(refused.stops).toMatchObject([{ kind: 'refused', line: 14 }])
  const { verdict } = await gated(others, [
    {
      file: 'a.toml',
      text: '[settings.kubernetes]\nimage-gc-high-threshold-percent = 101\n',
      base: null,
    },
  ])
  expect(verdict).toBe('refused')
})

it('pairs a part of a class with what its nodes run', async () => {
  const patch =
    'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: spot}\nspec:\n  kubelet:\n    evictionSoftGracePeriod: {memory.available: 2m}\n'
  expect(await stopsOf(patch)).toMatchObject({ verdict: 'refused', stops: [{ line: 6 }] })
  const soft = {
    evictionSoft: { 'memory.available': '500Mi' },
    evictionSoftGracePeriod: { 'memory.available': '1m' },
  }
  const lines = gateWorld().map(line => {
    const record = JSON.parse(line)
    if (record.configz) Object.assign(record.configz.kubeletconfig, soft)
    return JSON.stringify(record)
  })
  expect(await stopsOf(patch, snapshotOf(lines))).toEqual({ verdict: 'ok', stops: [] })
})

it('gives a NodePool of v1beta1 the same rules', async () => {
  const text =
    'apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: spot}\nspec:\n  template:\n    spec:\n      kubelet:\n        evictionSoftGracePeriod: {memory.available: 2m}\n'
  const { stops } = await stopsOf(text)
  expect(stops).toMatchObject([
    { line: 8, text: expect.stringContaining('refuses spec.template.spec.kubelet: ') },
  ])
})

it('does not compare with a value that is an expression', async () => {
  const { stops } = await stopsOf(
    nodeClass(`maxPods: \${max_pods}\nimageGCHighThresholdPercent: "\${high}"\n`),
  )
  expect(stops).toEqual([])
})

describe('a class that no node has', () => {
  // Its machines may have more memory than the one that stands in.
  const text = nodeClass('kubeReserved: {memory: 99Gi}\nimageGCHighThresholdPercent: 70\n', 'fresh')
  const without = (isUnread: (name: string) => boolean) =>
    snapshotOf(
      gateWorld().map(line => {
        const { configz, ...record } = JSON.parse(line)
        return isUnread(record.node?.metadata.name ?? '') ? JSON.stringify(record) : line
      }),
    )
  const tried = async (isUnread: (name: string) => boolean) => {
    const texts = [{ file: 'class.yaml', text, base: null }]
    const { files, problems, verdict } = await gated(without(isUnread), texts)
    return { reach: files[0]?.reach, verdict, texts: problems.map(({ text: why }) => why) }
  }
  const refused = [expect.stringContaining('must be less than imageGCHighThresholdPercent')]

  it.each<[string, string, (name: string) => boolean]>([
    ['general-0', 'prod/general (AL2023)', () => false],
    ['small-1', 'prod/small (AL2023)', name => /^(general-|small-0)/.test(name)],
    ['old-0', 'prod/old (AL2)', name => !name.startsWith('old')],
  ])(
    'is tried on the first node that was read, of its image if there is one: %s',
    async (name, group, isUnread) => {
      expect(await tried(isUnread)).toEqual({
        reach: `EC2NodeClass fresh; tried on ${name} of ${group}, since no node has it`,
        verdict: 'refused',
        texts: refused,
      })
    },
  )

  it('is not judged if no such node was read', async () => {
    expect(await tried(name => name !== '')).toEqual({
      reach: 'EC2NodeClass fresh',
      verdict: 'unread',
      texts: ['Not judged: no node has this EC2NodeClass, and none that could have it was read.'],
    })
  })
})

describe('what the snapshot has of a class', () => {
  const kubelet = {
    imageGCHighThresholdPercent: 70,
    imageGCLowThresholdPercent: 60,
    evictionHard: { 'memory.available': '200Mi', 'nodefs.available': '12%' },
  }
  const spec = {
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    kubelet,
    blockDeviceMappings: [{ deviceName: '/dev/xvda', ebs: { volumeSize: '100Gi' } }],
  }
  const items = [{ metadata: { name: 'spot' }, spec }]
  const objects = { kind: 'Objects', cluster: 'prod', resource: 'ec2nodeclasses.karpenter.k8s.aws' }
  const [header = '', ...lines] = gateWorld().map(line => {
    const record = JSON.parse(line)
    if (record.node?.metadata.name.startsWith('spot'))
      Object.assign(record.configz.kubeletconfig, kubelet)
    return JSON.stringify(record)
  })
  const withClass = () => snapshotOf([header, JSON.stringify({ ...objects, items }), ...lines])
  const patches = (patch: string) =>
    `patches:\n  - target: {kind: EC2NodeClass, name: spot}\n    patch: |\n${indented(patch, 6)}`
  const operation = patches('- op: remove\n  path: /spec/kubelet\n')
  const merged = patches(
    'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: spot}\nspec:\n  kubelet: null\n',
  )
  const outcomeOf = async (text: string, base: string | null, snapshot: string) => {
    const texts = [{ file: 'kustomization.yaml', text, base }]
    const { problems, verdict } = await gated(snapshot, texts, { hasBase: base !== null })
    return { verdict, lines: problems.map(({ kind, line }) => `${line} ${kind}`) }
  }

  it.each([
    ['an operation', operation, null, 5],
    ['a null', merged, null, 8],
    ['an operation that is new', operation, 'patches: []\n', 5],
  ])('goes with spec.kubelet, removed by %s', async (_, text, base, line) => {
    expect(await outcomeOf(text, base, withClass())).toMatchObject({
      verdict: 'worse',
      lines: expect.arrayContaining([`${line} worse`]),
    })
  })

  it('has to be known', async () => {
    const { verdict } = await outcomeOf(operation, null, gateSnapshot())
    expect(verdict).toBe('unread')
  })

  it('goes with a volume', async () => {
    const { verdict, stops } = await stopsOf(
      nodeClass(
        'imageGCHighThresholdPercent: 70\nimageGCLowThresholdPercent: 60\nevictionHard: {memory.available: 200Mi, nodefs.available: 12%}\n',
      ),
      withClass(),
    )
    expect({ verdict, first: stops[0]?.kind }).toEqual({ verdict: 'worse', first: 'eviction' })
  })
})
