/** Clusters of a kubeconfig, and what EKS says of them before their nodes are changed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { remediationScenario } from '#lab/scenarios/remediation.ts'
import type { ClusterRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { kubeconfigTargets } from '#pipeline/audit/fleet.ts'
import { openEksLookup } from '#pipeline/remediation/run/eks-behind.ts'
import { temporaryFolder } from '#test/cli.ts'
import { kubeconfigEndpoint } from '#test/kubeconfig-endpoint.ts'
import { labOf } from '#test/lab-audit.ts'

vi.setConfig({ testTimeout: 60_000 })

const never = new AbortController().signal

it('the cluster of a context is found by its address, with its status and its nodegroups', async () => {
  const scenario = remediationScenario({ nodes: 4 })
  const lab = await labOf([scenario])
  const file = join(temporaryFolder(), 'kubeconfig')
  writeFileSync(file, lab.kubeconfig)
  const endpoint = await kubeconfigEndpoint(file, null)
  const behind = openEksLookup(defaultPolicy, never)
  for (const _ of [1, 2]) {
    const [target] = await kubeconfigTargets([endpoint], defaultPolicy, behind)
    expect(target?.record).toMatchObject({
      cluster: endpoint.context,
      eks: { status: 'ACTIVE' },
      errors: [],
    })
    expect(target?.record.nodegroups?.map(({ nodegroupName }) => nodegroupName)).toContain('al2023')
  }
  const [alone] = await kubeconfigTargets([endpoint], defaultPolicy)
  expect(alone?.record).toEqual({ kind: 'Cluster', cluster: endpoint.context, errors: [] })
})

describe('a cluster that EKS does not find', () => {
  const server = 'https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com'
  const found = (...records: Partial<ClusterRecord>[]) =>
    async function* () {
      for (const record of records)
        yield {
          record: { kind: 'Cluster' as const, cluster: 'prod', ...record },
          endpoint: null,
          place: null,
        }
    }

  it.each([
    ['by its address', 'prod', server],
    ['by its address in China', 'prod', server.replace('.com', '.com.cn')],
    ['by its context', 'arn:aws:eks:eu-west-1:111122223333:cluster/prod', 'https://127.0.0.1:6443'],
  ])('and that is one of EKS %s: not read, and why', async (_, context, address) => {
    const other = found({ eks: { name: 'other', endpoint: 'https://other.eks.amazonaws.com' } })
    expect(
      await openEksLookup(defaultPolicy, never, other).clusterBehind(context, { server: address }),
    ).toEqual({
      eks: null,
      nodegroups: null,
      errors: [{ what: 'cluster', message: expect.stringContaining('has its address') }],
    })
    const denied = () => {
      throw new Error('AccessDenied')
    }
    expect(
      (
        await openEksLookup(defaultPolicy, never, denied).clusterBehind(context, {
          server: address,
        })
      ).errors?.[0]?.message,
    ).toMatchSnapshot()
  })

  it('and that nothing says is one of EKS: nothing', async () => {
    expect(
      await openEksLookup(defaultPolicy, never, found()).clusterBehind('kind', {
        server: 'https://127.0.0.1:6443',
      }),
    ).toEqual({})
  })

  it('is asked for by its name once that is known, whatever letters its address is written in', async () => {
    const asked: (readonly string[])[] = []
    const find = (names: readonly string[]) => {
      asked.push(names)
      return found({
        eks: { name: 'prod', endpoint: server, status: 'ACTIVE' },
        nodegroups: [],
        errors: [],
      })()
    }
    const behind = openEksLookup(defaultPolicy, never, find)
    for (const address of [server.toLowerCase(), server.toLowerCase()])
      expect(await behind.clusterBehind('prod', { server: address })).toMatchObject({
        eks: { status: 'ACTIVE' },
      })
    expect(asked).toEqual([[], ['prod']])
  })
})
