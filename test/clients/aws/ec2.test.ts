import { afterEach, describe, expect, it } from 'vitest'
import { Ec2Api } from '#clients/aws/ec2.ts'
import type { Lab } from '#lab/lab.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { enterLab, scenario } from '#lab/test/support.ts'

let lab: Lab
afterEach(() => lab.close())

const signal = new AbortController().signal
const base64 = (text: string) => Buffer.from(text).toString('base64')
const bootstrap = (maxPods: number) =>
  base64(`#!/bin/bash\n/etc/eks/bootstrap.sh c --kubelet-extra-args --max-pods=${maxPods}`)

const template = {
  id: 'lt-0a11ab00000000009',
  name: 'own',
  defaultVersion: 2,
  versions: [
    { number: 1 },
    ...[2, 3, 4, 5].map(number => ({ number, userData: bootstrap(number) })),
    { number: 6, userData: base64('?') },
  ],
}

async function api(more: Partial<Scenario> = {}): Promise<Ec2Api> {
  lab = await enterLab(scenario([], { launchTemplates: [template], ...more }))
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = lab.environment
  return new Ec2Api('us-east-1', async () => ({
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
  }))
}

describe('launchTemplates', () => {
  it('asks once for all versions of a template, page by page, and resolves $Default and $Latest', async () => {
    const ec2 = await api({ ec2PageSize: 2 })
    const { templates, unread } = await ec2.launchTemplates(
      { by: { id: template.id }, versions: ['3', '$Default', '5'] },
      signal,
    )
    expect(templates).toEqual(
      [3, 2, 5].map(versionNumber => ({
        launchTemplateId: template.id,
        launchTemplateName: 'own',
        versionNumber,
        volumes: [],
        kubelet: { source: 'bootstrap', config: {}, flags: [`--max-pods=${versionNumber}`] },
      })),
    )
    expect(unread).toEqual([])
    expect(lab.requests().routes.ec2).toEqual({ DescribeLaunchTemplateVersions: 2 })
  })

  it('tells a template that says nothing to the kubelet from one whose user data is not known', async () => {
    const ec2 = await api()
    const { templates, unread } = await ec2.launchTemplates(
      { by: { name: 'own' }, versions: ['1', '$Latest'] },
      signal,
    )
    expect(templates).toEqual([
      {
        launchTemplateId: template.id,
        launchTemplateName: 'own',
        versionNumber: 1,
        volumes: [],
        kubelet: null,
      },
      { launchTemplateId: template.id, launchTemplateName: 'own', versionNumber: 6, volumes: [] },
    ])
    expect(unread).toMatchSnapshot()
  })

  it.each([
    [
      'a template that is gone',
      { by: { id: 'lt-0' }, versions: ['1'] },
      {},
      /lt-0 \(1\) in us-east-1: there is no such thing/,
      400,
    ],
    [
      'a version that is gone',
      { by: { id: template.id }, versions: ['9'] },
      {},
      /there is no such thing .*version 9/,
      400,
    ],
    [
      'a missing right',
      { by: { id: template.id }, versions: ['1'] },
      { ec2Denied: true },
      /not allowed .*Grant ec2:DescribeLaunchTemplateVersions to this identity/,
      403,
    ],
  ])('says what to do about %s', async (_, asked, more, message, status) => {
    const ec2 = await api(more)
    await expect(ec2.launchTemplates(asked, signal)).rejects.toMatchObject({
      message: expect.stringMatching(message),
      status,
    })
  })
})
