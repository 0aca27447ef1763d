import {
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeLaunchTemplateVersionsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2'
import { afterEach, describe, expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { enterLab, scenario } from './support.ts'

let lab: Lab
afterEach(() => lab.close())

const client = (more: ConstructorParameters<typeof EC2Client>[0] = {}) =>
  new EC2Client({ maxAttempts: 1, ...more })
const tuned = { LaunchTemplateId: 'lt-0a11ab00000000001' }
const describing = (
  input: ConstructorParameters<typeof DescribeLaunchTemplateVersionsCommand>[0] = tuned,
) => new DescribeLaunchTemplateVersionsCommand(input)

describe('EC2 in the lab', () => {
  it('describes versions of a launch template by id or name, with their user data in base64', async () => {
    lab = await enterLab(incidents)
    const { LaunchTemplateVersions: all } = await client().send(describing())
    expect(
      all?.map(({ VersionNumber, DefaultVersion }) => [VersionNumber, DefaultVersion]),
    ).toEqual([
      [1, true],
      [3, false],
      [4, false],
    ])
    const { LaunchTemplateVersions: latest } = await client().send(
      describing({ LaunchTemplateName: 'al2-tuned', Versions: ['$Latest', '4'] }),
    )
    expect(latest).toMatchObject([
      { VersionNumber: 4, CreateTime: new Date('2026-03-02T10:00:00Z') },
    ])
    const text = Buffer.from(latest?.[0]?.LaunchTemplateData?.UserData ?? '', 'base64').toString()
    expect(text).toContain('imageGCHighThresholdPercent=70')
  })

  it('comes in pages', async () => {
    lab = await enterLab({ ...incidents, ec2PageSize: 2 })
    const first = await client().send(describing())
    expect(first.LaunchTemplateVersions).toHaveLength(2)
    const second = await client().send(describing({ ...tuned, NextToken: first.NextToken }))
    expect(second.LaunchTemplateVersions?.map(({ VersionNumber }) => VersionNumber)).toEqual([4])
    expect(second.NextToken).toBeUndefined()
  })

  it.each([
    [
      'a template that is not there',
      describing({ LaunchTemplateId: 'lt-1' }),
      'InvalidLaunchTemplateId.NotFound',
      400,
    ],
    [
      'a name that is not there',
      describing({ LaunchTemplateName: 'x' }),
      'InvalidLaunchTemplateName.NotFoundException',
      400,
    ],
    [
      'a version that is not there',
      describing({ ...tuned, Versions: ['2'] }),
      'InvalidLaunchTemplateId.VersionNotFound',
      400,
    ],
    [
      'an id and a name',
      describing({ ...tuned, LaunchTemplateName: 'al2-tuned' }),
      'InvalidParameterCombination',
      400,
    ],
    [
      'a filter, which it does not know',
      describing({ ...tuned, Filters: [{ Name: 'x', Values: ['y'] }] }),
      'NotImplemented',
      501,
    ],
    ['an operation that it does not know', new DescribeImagesCommand({}), 'NotImplemented', 501],
    [
      'another filter of instances',
      new DescribeInstancesCommand({ Filters: [{ Name: 'vpc-id', Values: ['y'] }] }),
      'NotImplemented',
      501,
    ],
    [
      'pages that are too small',
      new DescribeInstancesCommand({ MaxResults: 4 }),
      'InvalidParameterValue',
      400,
    ],
  ])('refuses %s', async (_, command, name, status) => {
    lab = await enterLab(incidents)
    await expect(client().send(command as DescribeInstancesCommand)).rejects.toMatchObject({
      name,
      $metadata: { httpStatusCode: status },
    })
  })

  it('checks the signature, and shows only the templates of the region that is asked', async () => {
    lab = await enterLab(incidents)
    const credentials = {
      accessKeyId: lab.environment.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: 'x',
    }
    await expect(client({ credentials }).send(describing())).rejects.toMatchObject({
      name: 'AuthFailure',
    })
    await expect(client({ region: 'eu-west-1' }).send(describing())).rejects.toMatchObject({
      name: 'InvalidLaunchTemplateId.NotFound',
    })
  })

  it('refuses everybody where the scenario says so', async () => {
    lab = await enterLab(scenario([], { ec2Denied: true }))
    await expect(client().send(describing())).rejects.toMatchObject({
      name: 'UnauthorizedOperation',
      $metadata: { httpStatusCode: 403 },
    })
  })
})
