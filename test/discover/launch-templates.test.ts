import { describe, expect, it } from 'vitest'
import { discover } from '#discover/discover.ts'
import type { NodegroupScenario, Scenario } from '#lab/scenarios/scenario.ts'
import { scenario } from '#lab/test/support.ts'
import { type ClusterRecord, everything } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { labOf } from '#test/lab-audit.ts'

const userData = Buffer.from('[settings.kubernetes]\nmax-pods = 20').toString('base64')
const launchTemplates = ['one', 'two', 'three'].map((name, index) => ({
  id: `lt-0a11ab0000000010${index}`,
  name,
  versions: [{ number: 1 }, { number: 2, userData }],
}))

const nodegroup = (
  name: string,
  launchTemplate?: { template: number; version: string },
): NodegroupScenario => ({
  name,
  amiType: 'BOTTLEROCKET_x86_64',
  version: '1.34',
  releaseVersion: '1.51.0-a1b2c3d4',
  instanceTypes: ['m6i.large'],
  desiredSize: 1,
  ...(launchTemplate && {
    launchTemplate: {
      id: launchTemplates[launchTemplate.template]?.id ?? 'lt-gone',
      name: 'own',
      version: launchTemplate.version,
    },
  }),
})

async function discovered(
  nodegroups: NodegroupScenario[],
  more: Partial<Scenario> = {},
): Promise<ClusterRecord | undefined> {
  await labOf([scenario([{ name: 'c', nodegroups }], { launchTemplates, ...more })])
  const targets = await Array.fromAsync(
    discover(defaultPolicy, everything, new AbortController().signal),
  )
  return targets[0]?.record
}

describe('launch templates', () => {
  it('are read once each, in the versions that nodegroups name; those of EKS’s making are not', async () => {
    const named = [
      nodegroup('a', { template: 0, version: '2' }),
      nodegroup('b', { template: 0, version: '2' }),
      nodegroup('c', { template: 0, version: '$Default' }),
      nodegroup('d', { template: 1, version: '1' }),
      nodegroup('e'),
    ]
    const record = await discovered(named)
    expect(record?.errors).toEqual([])
    expect(
      record?.launchTemplates?.map(({ launchTemplateName, versionNumber, kubelet }) => [
        launchTemplateName,
        versionNumber,
        kubelet,
      ]),
    ).toEqual([
      ['one', 2, { source: 'bottlerocket', config: { maxPods: 20 }, flags: [] }],
      ['one', 1, null],
      ['two', 1, null],
    ])
  })

  it('are none, and no error, where every nodegroup has one of EKS’s making', async () => {
    expect(await discovered([nodegroup('a')])).toMatchObject({ launchTemplates: [], errors: [] })
  })

  it('that are gone cost only themselves', async () => {
    const record = await discovered([
      nodegroup('a', { template: 9, version: '1' }),
      nodegroup('b', { template: 0, version: '7' }),
      nodegroup('c', { template: 0, version: '2' }),
    ])
    expect(record?.launchTemplates).toMatchObject([{ launchTemplateName: 'one', versionNumber: 2 }])
    expect(record?.errors).toEqual([
      {
        what: 'launchTemplates',
        message: expect.stringContaining('lt-gone (1) in us-east-1: there is no such thing'),
      },
      {
        what: 'launchTemplates',
        message: expect.stringContaining(
          `${launchTemplates[0]?.id} (7) in us-east-1: there is no such thing`,
        ),
      },
    ])
  })

  it('that may not be read are said in one sentence, and the cluster is read all the same', async () => {
    const named = [0, 1, 2].map(template => nodegroup(`n${template}`, { template, version: '1' }))
    const record = await discovered(named, { ec2Denied: true })
    expect(record).toMatchObject({ launchTemplates: null, eks: { name: 'c' } })
    expect(record?.errors).toEqual([
      {
        what: 'launchTemplates',
        refusal: 'right',
        message: expect.stringMatching(/Grant ec2:DescribeLaunchTemplateVersions/),
      },
    ])
  })
})
