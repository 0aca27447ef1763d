/** The scenario `garbage` in a real API server, where somebody has one: unmodified upstream code, which decodes, pages, cuts to metadata and refuses by itself, gives the same findings. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { garbageResources, podResource } from '#facts/kubernetes/garbage-resources.ts'
import { clusterRole } from '#facts/kubernetes/rbac.ts'
import { garbage } from '#lab/scenarios/garbage.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { RawObject } from '#model/record.ts'
import { everything } from '#model/selection.ts'
import { kubeconfigFleet } from '#pipeline/fleet.ts'
import { kubernetesRights } from '#pipeline/permissions.ts'
import { auditRecords } from '#test/lab-audit.ts'
import { type RealApiServer, realApiServerPrograms, type StoredObject, startRealApiServer } from '#test/real-api-server.ts'

const programs = realApiServerPrograms()
const why = programs === null ? ' (skipped: neither KUBEBUILDER_ASSETS nor the PATH has etcd and kube-apiserver)' : ''

const [reader, narrow] = ['highwater', 'highwater-narrow']
const [cluster] = garbage.clusters as [ClusterScenario]
const sweep = ['*.web.example.com']
const policy: Policy = {
  ...defaultPolicy,
  // There are no kubelets behind it, and no SSM beside it.
  modes: [{ match: {}, mode: 'ssm' }],
  pace: { ...defaultPolicy.pace, requestsPerSecond: 1000 },
  clusterGarbage: { ...defaultPolicy.clusterGarbage, sweep },
}
const others = cluster.installed?.filter(({ isStored }) => isStored !== false) ?? []

/** All that the scenario's API server holds, each under the key that upstream's registry gives it. */
function storedObjects(at: string): StoredObject[] {
  const keyed = (folder: string, object: RawObject): StoredObject => {
    const { namespace, name } = object.metadata as { namespace?: string; name: string }
    return { key: [folder, ...(namespace === undefined ? [] : [namespace]), name].join('/'), object }
  }
  const nodes = cluster.nodes.names().flatMap(name => {
    const node = cluster.nodes.node(name)
    if (!node) return []
    const pods = node.podKeys().map((_, index) => keyed('pods', { apiVersion: 'v1', kind: 'Pod', ...node.pod(index, at) }))
    return [keyed('minions', { apiVersion: 'v1', kind: 'Node', ...node.node(at) }), ...pods]
  })
  const listed = [podResource, ...garbageResources].flatMap(({ resource, apiVersion, objectKind: kind }) => {
    const { count = 0, item } = cluster.objects?.[resource] ?? {}
    return Array.from({ length: count }, (_, index) => keyed(resource.split('.')[0] ?? '', { apiVersion, kind, ...item?.(index, at) }))
  })
  const events = (cluster.events?.(at) ?? []).map(event => keyed('events', { apiVersion: 'v1', kind: 'Event', ...event }))
  const installed = others.flatMap(({ group, version, plural, kind, objects }) =>
    Array.from({ length: objects.count }, (_, index) =>
      keyed(`${group}/${plural}`, { apiVersion: `${group}/${version}`, kind, ...objects.item(index, at) }),
    ),
  )
  return [...nodes, ...listed, ...events, ...installed]
}

const definition = ({ group, version, plural, kind, isNamespaced }: (typeof others)[number]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

/** A program behind the API server whose Service nobody has made. */
function awayService(groupVersion: string) {
  const [group, version] = groupVersion.split('/')
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}` },
    spec: {
      ...{ group, version, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true },
      service: { namespace: 'kube-system', name: 'nobody' },
    },
  }
}

/** Those that rest on the cluster alone: a kubeconfig says nothing of the account, nor of what EKS is configured with. */
const isOfCluster = (rule: string) =>
  !['unattached-disk', 'instance-without-node', 'node-without-instance', 'terminated-pods-near-threshold'].includes(rule)

const found = ({ findings }: FindingsDocument) =>
  findings
    .filter(({ family, rule }) => family === 'cluster-gc' && isOfCluster(rule))
    .map(({ rule, subject }) => `${rule}: ${subject.kind} ${subject.name}`)
    .toSorted()
const expected = [
  ...(garbage.expect().garbage ?? []).filter(({ rule }) => isOfCluster(rule)).map(({ rule, subject }) => `${rule}: ${subject}`),
  // Beside what is found by default: of a kind that the policy sweeps.
  'stuck-finalizer: Namespace old-web',
].toSorted()

describe.skipIf(programs === null)(`a real API server${why}`, { timeout: 300_000 }, () => {
  let server: RealApiServer
  const audited = async (group: string) => {
    const endpoint = { context: cluster.name, endpoint: server.endpointOf(group) }
    const source = kubeconfigFleet([endpoint], { policy, selection: everything, signal: AbortSignal.timeout(240_000) })
    return (await auditRecords(source, { policy })).document
  }
  const grant = (name: string, rights: readonly string[]) =>
    Promise.all(
      clusterRole(name, rights).map(object => {
        const { kind } = object as { kind: string }
        return server.ask('POST', `/apis/rbac.authorization.k8s.io/v1/${kind.toLowerCase()}s`, object)
      }),
    )

  beforeAll(async () => {
    if (programs === null) return
    server = await startRealApiServer(programs, storedObjects(new Date().toISOString()), [reader, narrow])
    for (const resource of others) {
      await server.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(resource))
      const path = `/apis/${resource.group}/${resource.version}/${resource.plural}`
      await server.awaits(path, () => true)
    }
    for (const group of cluster.awayGroups ?? [])
      await server.ask('POST', '/apis/apiregistration.k8s.io/v1/apiservices', awayService(group))
    await server.awaits('/apis', answer => (cluster.awayGroups ?? []).every(group => JSON.stringify(answer).includes(group)))
  }, 300_000)
  afterAll(() => server?.close(), 60_000)

  it('gives the findings of the lab, and no healthy twin, with the rights that are documented and no others', async () => {
    await grant(
      reader,
      kubernetesRights('ssm', 'reader', policy).map(({ right }) => right),
    )
    const document = await audited(reader)
    expect(found(document)).toEqual(expected)
    expect(JSON.stringify(document.findings.filter(({ family }) => family === 'cluster-gc'))).not.toContain('kept-')
    expect(document.notAudited.filter(({ node }) => node === null)).toEqual([])
    const { lists, read, notSwept } = document.clusters[0]?.coverage.clusterGc ?? {}
    expect(read).toBe(lists)
    expect(notSwept?.sample).toEqual(expect.arrayContaining(['configmaps', 'endpoints', 'ingresses.networking.k8s.io']))
    expect(notSwept?.sample).not.toContain('sites.web.example.com')
  })

  it('refuses what was not granted: that costs its own rules, named, and no other', async () => {
    const rights = kubernetesRights('ssm', 'reader', policy).map(({ right }) => right)
    await grant(
      narrow,
      rights.filter(right => right !== 'list jobs.batch' && right !== 'list *.web.example.com'),
    )
    const document = await audited(narrow)
    const lost = (rule: string) => /job|suspended/.test(rule) || rule === 'stuck-finalizer: Namespace old-web'
    expect(found(document)).toEqual(expected.filter(rule => !lost(rule)))
    expect(document.notAudited.filter(({ node }) => node === null)).toMatchObject([
      { reason: expect.stringMatching(/^jobs\.batch: .*403.*cannot list resource "jobs" in API group "batch"/) },
      { reason: expect.stringMatching(/^sites\.web\.example\.com: .*403/) },
    ])
  })
})
