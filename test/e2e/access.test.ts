/** The roles that `highwater permissions` prints, applied by kubectl to a real API server: they suffice for an audit in every mode, and grant nothing that it does not ask for. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ReadMode, readModes } from '#model/read-mode.ts'
import { kubernetesRights } from '#pipeline/permissions.ts'
import { type ApiServer, type AuditedRequest, kubernetesPrograms, missingPrograms, startApiServer } from '#test/api-server.ts'
import { highwater, temporaryFolder } from '#test/cli.ts'

const callers = { 'highwater-reader': ['highwater'], 'highwater-token': ['highwater-kubelet'] }
const rightsOf = (mode: ReadMode, identity: 'reader' | 'kubelet' = 'reader') => kubernetesRights(mode, identity).map(({ right }) => right)

const node = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels: { 'kubernetes.io/os': 'linux' } },
})

/** What Karpenter and Auto Mode install. Source: their CustomResourceDefinitions, of which only the names matter here. */
const nodeClasses = [
  ['nodepools', 'NodePool', 'karpenter.sh'],
  ['ec2nodeclasses', 'EC2NodeClass', 'karpenter.k8s.aws'],
  ['nodeclasses', 'NodeClass', 'eks.amazonaws.com'],
].map(([plural, kind, group]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    ...{ group, scope: 'Cluster', names: { plural, kind } },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}))

/** `get nodes/proxy`, as the permissions say it. */
const asked = ({ verb, objectRef }: AuditedRequest) =>
  `${verb} ${objectRef?.resource}${objectRef?.subresource ? `/${objectRef.subresource}` : ''}${objectRef?.apiGroup ? `.${objectRef.apiGroup}` : ''}`
const decision = ({ annotations }: AuditedRequest) => annotations?.['authorization.k8s.io/decision']
const isOfResources = ({ objectRef }: AuditedRequest) => objectRef?.resource !== undefined

const isHere = kubernetesPrograms !== null
describe.skipIf(!isHere)(`the printed access${isHere ? '' : ` (${missingPrograms})`}`, () => {
  let server: ApiServer
  beforeAll(async () => {
    server = await startApiServer(callers)
    await server.kubectl(['create', '-f', '-'], node)
    await server.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: nodeClasses }))
    await server.kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'])
  }, 150_000)
  afterAll(() => server?.stop())

  const permissions = async (mode: ReadMode) => (await highwater(['permissions', '--mode', mode, '--format', 'yaml'])).stdout
  /** By what the API server says of a caller to himself. */
  const mayDo = async (context: string): Promise<string[]> => {
    const review = await server.kubectl(
      ['--context', context, 'create', '--validate=false', '-f', '-', '-o', 'json'],
      JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: 'default' } }),
    )
    const rules: { verbs: string[]; apiGroups: string[]; resources: string[] }[] = JSON.parse(review).status.resourceRules
    return rules.flatMap(({ verbs, apiGroups, resources }) =>
      verbs.flatMap(verb => apiGroups.flatMap(group => resources.map(resource => `${verb} ${resource}${group && `.${group}`}`))),
    )
  }
  /** What everybody may ask who is known at all: about himself. Source: Kubernetes, RBAC default roles, system:basic-user. */
  const aboutHimself = /^create self(subject(access|rules)reviews\.authorization|subjectreviews\.authentication)\.k8s\.io$/

  it.each(readModes)(
    'mode %s: is taken by kubectl, lets an audit ask for all that it wants, and no more',
    { timeout: 120_000 },
    async mode => {
      await server.kubectl(['apply', '-f', '-'], await permissions(mode))
      const before = server.requestsOf('highwater-reader').length
      const policy = join(temporaryFolder(), 'highwater.yaml')
      writeFileSync(policy, 'kubelet: { useOwnToken: true }\n')
      const run = await highwater([
        'audit',
        '--kubeconfig',
        server.kubeconfig,
        '--context',
        'highwater-reader',
        '--mode',
        mode,
        ...['--policy', policy],
        '--out',
        temporaryFolder(),
      ])
      // There is no kubelet: its node could not be read, and that is all.
      expect(run).toMatchObject({ code: 3 })
      const requests = server.requestsOf('highwater-reader').slice(before)
      expect(requests.filter(request => decision(request) !== 'allow').map(({ requestURI }) => requestURI)).toEqual([])
      expect([...new Set(requests.filter(isOfResources).map(asked))].toSorted()).toEqual(rightsOf(mode).toSorted())
      const granted = await mayDo('highwater-reader')
      expect(granted.filter(right => !aboutHimself.test(right)).toSorted()).toEqual(rightsOf(mode).toSorted())
    },
  )

  it('gives the identity that kubelets see its two rights, and nothing of the reader’s', async () => {
    await server.kubectl(['apply', '-f', '-'], await permissions('kubelet'))
    const granted = await mayDo('highwater-token')
    expect(granted.filter(right => !aboutHimself.test(right)).toSorted()).toEqual(rightsOf('kubelet', 'kubelet').toSorted())
  })
})
