/** The gate on the output of `terraform show -json`. */
import { describe, expect, it } from 'vitest'
import { gated, gateSnapshot } from '#test/gate-changes.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const nodeConfig = (high: number, low: number) =>
  `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {imageGCHighThresholdPercent: ${high}, imageGCLowThresholdPercent: ${low}}}}\n`

const resource = (type: string, address: string, values: object) => ({
  ...{ mode: 'managed', type, address: `${address}.${type}.this`, values },
})
const template = (module: string, values: object) =>
  resource('aws_launch_template', module, { name: null, ...values })
const group = (module: string, name: string, more: object = {}) =>
  resource('aws_eks_node_group', module, { node_group_name: name, ...more })

const planOf = (resources: object[], changes: object[] = []) =>
  JSON.stringify({
    format_version: '1.2',
    planned_values: { root_module: { child_modules: [{ resources }] } },
    resource_changes: changes,
  })

const judged = async (text: string) => {
  const { groups, problems, verdict, files } = await gated(gateSnapshot(), [
    { file: 'plan.json', text, base: null },
  ])
  return {
    verdict,
    groups: groups.map(one => one.group.name),
    stops: problems.filter(({ stops }) => stops).map(({ kind, field }) => `${kind} ${field}`),
    unread: problems.filter(({ kind }) => kind === 'unread').map(({ text: why }) => why),
    reach: files[0]?.reach,
  }
}

it('stops user data of the launch template that the nodegroup of its module has', async () => {
  const userData = base64(nodeConfig(60, 70))
  const plan = planOf([
    template('module.a', { user_data: userData }),
    group('module.a', 'general'),
    template('module.b', { user_data: base64(nodeConfig(75, 65)) }),
    group('module.b', 'small'),
  ])
  expect(await judged(plan)).toMatchObject({
    verdict: 'refused',
    groups: ['general', 'small'],
    stops: ['refused imageGCHighThresholdPercent'],
  })
})

it('finds the nodegroup by the name of the template', async () => {
  const plan = planOf([
    template('module.x', { name: 'lt', user_data: base64(nodeConfig(75, 65)) }),
    group('module.a', 'general', { launch_template: [{ name: 'lt' }] }),
    group('module.b', 'small'),
  ])
  expect(await judged(plan)).toMatchObject({ verdict: 'ok', groups: ['general'] })
})

it('replays the size of a volume', async () => {
  const mappings = [{ device_name: '/dev/xvda', ebs: [{ volume_size: 50 }] }]
  const plan = planOf([
    template('module.a', { block_device_mappings: mappings }),
    group('module.a', 'general'),
  ])
  expect((await judged(plan)).stops).toContain('eviction volumeSize of /dev/xvda')
})

it('reads manifests', async () => {
  const manifest = {
    ...{ apiVersion: 'karpenter.k8s.aws/v1', kind: 'EC2NodeClass', metadata: { name: 'spot' } },
    spec: { kubelet: { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 70 } },
  }
  const plans = [
    planOf([resource('kubernetes_manifest', 'module.k', { manifest })]),
    planOf([resource('kubectl_manifest', 'module.k', { yaml_body: JSON.stringify(manifest) })]),
  ]
  for (const plan of plans)
    expect(await judged(plan)).toMatchObject({ verdict: 'refused', groups: ['spot'] })
})

it('says that user data is not known before apply', async () => {
  const change = {
    ...{ type: 'aws_launch_template', address: 'aws_launch_template.x' },
    change: { after_unknown: { user_data: true } },
  }
  expect(await judged(planOf([], [change]))).toMatchObject({
    verdict: 'unread',
    unread: [expect.stringContaining('aws_launch_template.x is not judged')],
  })
})

it('asks for the group of a template that no nodegroup of its module has', async () => {
  const plan = planOf([template('module.x', { user_data: base64(nodeConfig(75, 65)) })])
  expect((await judged(plan)).reach).toContain('--group names its nodes')
})

it('may be far longer than user data', async () => {
  const padding = Array.from({ length: 3_000 }, (_, at) =>
    resource('aws_iam_policy', `module.p${at}`, { policy: 'x'.repeat(200) }),
  )
  const plan = planOf([
    ...padding,
    template('module.a', { user_data: base64(nodeConfig(60, 70)) }),
    group('module.a', 'general'),
  ])
  expect((await judged(plan)).verdict).toBe('refused')
})

it('without nodes is ignored', async () => {
  const { reach, verdict } = await judged(planOf([resource('aws_s3_bucket', 'module.b', {})]))
  expect({ reach, verdict }).toEqual({
    ...{ reach: 'it sets nothing of a kubelet: ignored', verdict: 'ok' },
  })
})

describe('reports what it cannot judge', () => {
  const bad = template('module.a', { user_data: base64(nodeConfig(60, 70)) })
  const nodes = [bad, group('module.a', 'general')]
  const configMaps = (kind: string) =>
    Array.from({ length: 40 }, (_, at) => {
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', data: { text: 'x'.repeat(20_000) } }
      return kind === 'kubernetes_manifest'
        ? resource(kind, `module.c${at}`, { manifest })
        : resource(kind, `module.c${at}`, { yaml_body: JSON.stringify(manifest) })
    })

  it.each(['kubernetes_manifest', 'kubectl_manifest'])('behind much text of %s', async kind => {
    const plan = planOf([...configMaps(kind), ...nodes])
    expect((await judged(plan)).stops).toEqual(['refused imageGCHighThresholdPercent'])
  })

  it('in modules of any depth', async () => {
    const deep = Array.from({ length: 30 }).reduce<object>(
      module => ({ child_modules: [module] }),
      { resources: nodes },
    )
    const plan = JSON.stringify({ format_version: '1.2', planned_values: { root_module: deep } })
    expect((await judged(plan)).stops).toEqual(['refused imageGCHighThresholdPercent'])
  })

  it('with its keys in another order', async () => {
    const { format_version, planned_values } = JSON.parse(planOf(nodes))
    const sorted = { configuration: { root_module: {} }, format_version, planned_values }
    expect((await judged(JSON.stringify(sorted))).stops).toEqual([
      'refused imageGCHighThresholdPercent',
    ])
  })

  it.each<[string, string]>([
    [
      'a state',
      JSON.stringify({ format_version: '1.0', values: { root_module: { resources: nodes } } }),
    ],
    ['a plan that is cut', planOf(nodes).slice(0, -9)],
    ['a plan of 17 MiB', planOf([resource('x', 'm', { text: 'x'.repeat(17 * 2 ** 20) })])],
    ['a template that is cut', `${planOf([bad, resource('x', 'm', { text: '{{ x }}' })])},`],
    ['a plan of too many values', planOf([resource('x', 'm', { list: Array(900_000).fill(1) })])],
    ['a plan that is too deep', `{"format_version":"1.2","planned_values":${'['.repeat(200)}`],
  ])('%s', async (_, plan) => {
    expect((await judged(plan)).stops).toEqual(['unparsed null'])
  })

  it('but no state without nodes', async () => {
    const state = { format_version: '1.0', values: { root_module: { resources: [] } } }
    expect((await judged(JSON.stringify(state))).stops).toEqual([])
  })
})
