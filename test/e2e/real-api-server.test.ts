/** The scenario `garbage` in a real API server, where somebody has one: unmodified upstream code, which decodes, pages, cuts to metadata and refuses by itself, gives the same findings. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { garbage } from '#lab/scenarios/garbage.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { kubernetesRights } from '#pipeline/access/permissions.ts'
import { kubeconfigFleet } from '#pipeline/audit/fleet.ts'
import { auditRecords } from '#test/lab-audit.ts'
import {
  type RealApiServer,
  realApiServerPrograms,
  startRealApiServer,
} from '#test/real-api-server.ts'
import { grantRights, storedObjects } from '#test/stored-objects.ts'

const programs = realApiServerPrograms()
const why =
  programs === null
    ? ' (skipped: neither KUBEBUILDER_ASSETS nor the PATH has etcd and kube-apiserver)'
    : ''

const [reader, narrow] = ['highwater', 'highwater-narrow']
const [cluster] = garbage.clusters as [ClusterScenario]
const policy: Policy = {
  ...defaultPolicy,
  // There are no kubelets behind it, and no SSM beside it.
  modes: [{ match: {}, mode: 'ssm' }],
  pace: { ...defaultPolicy.pace, requestsPerSecond: 1000 },
}

/** Those that rest on the cluster alone: a kubeconfig says nothing of the account, nor of what EKS is configured with. */
const isOfCluster = (rule: string) =>
  !['unattached-disk', 'node-without-instance', 'terminated-pods-near-threshold'].includes(rule)

const found = ({ findings }: FindingsDocument) =>
  findings
    .filter(({ family, rule }) => family === 'cluster-gc' && isOfCluster(rule))
    .map(({ rule, subject }) => `${rule}: ${subject.kind} ${subject.name}`)
    .toSorted()
const expected = [
  ...(garbage.expect().garbage ?? [])
    .filter(({ rule }) => isOfCluster(rule))
    .map(({ rule, subject }) => `${rule}: ${subject}`),
].toSorted()

describe.skipIf(programs === null)(`a real API server${why}`, { timeout: 300_000 }, () => {
  let server: RealApiServer
  const audited = async (group: string) => {
    const endpoint = { context: cluster.name, endpoint: server.endpointOf(group) }
    const source = kubeconfigFleet([endpoint], {
      policy,
      selection: everything,
      signal: AbortSignal.timeout(240_000),
    })
    return (await auditRecords(source, { policy })).document
  }

  beforeAll(async () => {
    if (programs === null) return
    server = await startRealApiServer(programs, storedObjects(cluster, new Date().toISOString()), [
      reader,
      narrow,
    ])
  }, 300_000)
  afterAll(() => server?.close(), 60_000)

  it('gives the findings of the lab, and no healthy twin, with the rights that are documented and no others', async () => {
    await grantRights(
      server,
      reader,
      kubernetesRights('ssm', 'reader', policy).map(({ right }) => right),
    )
    const document = await audited(reader)
    expect(found(document)).toEqual(expected)
    expect(
      JSON.stringify(document.findings.filter(({ family }) => family === 'cluster-gc')),
    ).not.toContain('kept-')
    expect(document.notAudited.filter(({ node }) => node === null)).toEqual([])
    const { lists, read } = document.clusters[0]?.coverage.clusterGc ?? {}
    expect(read).toBe(lists)
  })

  it('refuses what was not granted: that costs its own rules, named, and no other', async () => {
    const rights = kubernetesRights('ssm', 'reader', policy).map(({ right }) => right)
    await grantRights(
      server,
      narrow,
      rights.filter(right => right !== 'list jobs.batch'),
    )
    const document = await audited(narrow)
    expect(found(document)).toEqual(expected.filter(rule => !/job/.test(rule)))
    expect(document.notAudited.filter(({ node }) => node === null)).toMatchObject([
      { reason: expect.stringMatching(/cannot list resource "jobs"/) },
    ])
  })
})
