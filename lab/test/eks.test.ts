import {
  DescribeClusterCommand,
  DescribeNodegroupCommand,
  EKSClient,
  ListAddonsCommand,
  ListClustersCommand,
  paginateListClusters,
  paginateListNodegroups,
} from '@aws-sdk/client-eks'
import { afterEach, describe, expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { enterLab, scenario } from './support.ts'

let lab: Lab
afterEach(() => lab.close())

const client = (more: ConstructorParameters<typeof EKSClient>[0] = {}) =>
  new EKSClient({ maxAttempts: 1, ...more })

async function everyCluster(eks = client()) {
  const pages: string[][] = []
  for await (const { clusters } of paginateListClusters({ client: eks }, {}))
    pages.push(clusters ?? [])
  return pages
}

describe('EKS in the lab', () => {
  it("lists clusters in pages of the scenario's size, sorted, until none is left", async () => {
    lab = await enterLab(
      scenario(
        ['e', 'b', 'd', 'a', 'c'].map(name => ({ name })),
        { eksPageSize: 2 },
      ),
    )
    expect(await everyCluster()).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(lab.requests().routes.eks).toEqual({ ListClusters: 3 })
  })

  it('pages nodegroups too, and the page ends exactly where they end', async () => {
    const nodegroup = {
      amiType: 'AL2_x86_64',
      version: '1.32',
      releaseVersion: '1.32.9-20251120',
      instanceTypes: ['m5.large'],
      desiredSize: 1,
    }
    lab = await enterLab(
      scenario(
        [{ name: 'c', nodegroups: ['n2', 'n1', 'n4', 'n3'].map(name => ({ name, ...nodegroup })) }],
        { eksPageSize: 2 },
      ),
    )
    const pages: string[][] = []
    for await (const page of paginateListNodegroups({ client: client() }, { clusterName: 'c' }))
      pages.push(page.nodegroups ?? [])
    expect(pages).toEqual([
      ['n1', 'n2'],
      ['n3', 'n4'],
    ])
  })

  it('describes a cluster and a nodegroup with real dates', async () => {
    lab = await enterLab([recorded, incidents])
    const { cluster } = await client().send(new DescribeClusterCommand({ name: 'incidents' }))
    expect(cluster).toMatchObject({
      name: 'incidents',
      version: '1.32',
      status: 'ACTIVE',
      tags: { team: 'platform' },
    })
    expect(cluster?.createdAt).toEqual(new Date('2026-03-02T10:00:00.250Z'))
    expect(cluster?.endpoint).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(Buffer.from(cluster?.certificateAuthority?.data ?? '', 'base64').toString()).toMatch(
      /^-----BEGIN CERTIFICATE-----/,
    )
    const { nodegroup } = await client().send(
      new DescribeNodegroupCommand({ clusterName: 'incidents', nodegroupName: 'data-disk' }),
    )
    expect(nodegroup).toMatchObject({
      amiType: 'AL2023_x86_64_STANDARD',
      launchTemplate: { name: 'data-disk' },
    })
    expect(nodegroup?.diskSize).toBeUndefined()
  })

  it('shows a cluster that is CREATING without an endpoint or an authority', async () => {
    lab = await enterLab(scenario([{ name: 'new', status: 'CREATING' }]))
    const { cluster } = await client().send(new DescribeClusterCommand({ name: 'new' }))
    expect(cluster).toMatchObject({ status: 'CREATING', certificateAuthority: {} })
    expect(cluster?.endpoint).toBeUndefined()
  })

  it('shows only the clusters of the region that is asked', async () => {
    lab = await enterLab(scenario([{ name: 'here' }, { name: 'there', region: 'eu-west-1' }]))
    expect(await everyCluster()).toEqual([['here']])
    expect(await everyCluster(client({ region: 'eu-west-1' }))).toEqual([['there']])
  })

  it.each([
    [
      'a cluster that is not there',
      new DescribeClusterCommand({ name: 'nope' }),
      'ResourceNotFoundException',
      404,
    ],
    [
      'a nodegroup that is not there',
      new DescribeNodegroupCommand({ clusterName: 'c', nodegroupName: 'nope' }),
      'ResourceNotFoundException',
      404,
    ],
    [
      'a page token of another list',
      new ListClustersCommand({ nextToken: 'bm9kZWdyb3Vwcy8x' }),
      'InvalidParameterException',
      400,
    ],
    [
      'a page size over 100',
      new ListClustersCommand({ maxResults: 101 }),
      'InvalidParameterException',
      400,
    ],
    [
      'an operation that the lab does not know',
      new ListAddonsCommand({ clusterName: 'c' }),
      'NotImplemented',
      501,
    ],
  ])('refuses %s', async (_, command, name, status) => {
    lab = await enterLab(scenario([{ name: 'c' }]))
    await expect(client().send(command as ListClustersCommand)).rejects.toMatchObject({
      name,
      $metadata: { httpStatusCode: status },
    })
  })

  it.each([
    [
      'an unknown access key',
      { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'x' },
      'UnrecognizedClientException',
    ],
    ['a wrong secret', { secretAccessKey: 'x' }, 'InvalidSignatureException'],
    ['a session token that nobody gave', { sessionToken: 'x' }, 'UnrecognizedClientException'],
  ])('refuses %s', async (_, wrong, name) => {
    lab = await enterLab(scenario([{ name: 'c' }]))
    const credentials = {
      accessKeyId: lab.environment.AWS_ACCESS_KEY_ID!,
      secretAccessKey: lab.environment.AWS_SECRET_ACCESS_KEY!,
      ...wrong,
    }
    await expect(everyCluster(client({ credentials }))).rejects.toMatchObject({
      name,
      $metadata: { httpStatusCode: 403 },
    })
  })

  it('refuses a clock that is ten minutes off, and a request without a signature', async () => {
    lab = await enterLab(scenario([{ name: 'c' }]))
    await expect(everyCluster(client({ systemClockOffset: -600_000 }))).rejects.toMatchObject({
      name: 'InvalidSignatureException',
    })
    const unsigned = await fetch(`${lab.environment.AWS_ENDPOINT_URL_EKS}/clusters`)
    expect(unsigned.headers.get('x-amzn-errortype')).toBe('MissingAuthenticationTokenException')
  })

  it('throttles as often as the scenario says, and the SDK gets through by retrying', async () => {
    lab = await enterLab(scenario([{ name: 'c' }], { eksThrottlesFirst: 1 }))
    await expect(everyCluster()).rejects.toMatchObject({
      name: 'ThrottlingException',
      $metadata: { httpStatusCode: 429 },
    })
    await lab.close()
    lab = await enterLab(scenario([{ name: 'c' }], { eksThrottlesFirst: 1 }))
    expect(await everyCluster(client({ maxAttempts: 3 }))).toEqual([['c']])
  })
})
