/** The roles that `highwater permissions` prints, applied by kubectl to a real API server: they suffice for an audit in every mode, and grant nothing that it does not ask for. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ReadMode, readModes } from '#model/input/record.ts'
import { kubernetesRights } from '#pipeline/access/permissions.ts'
import {
  type ApiServer,
  type AuditedRequest,
  hasApiServer,
  startApiServer,
} from '#test/api-server.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'

const rightsOf = (mode: ReadMode, identity: 'reader' | 'kubelet' = 'reader') =>
  kubernetesRights(mode, identity).map(({ right }) => right)

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
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
}))

/** `get nodes/proxy`, as the permissions say it. */
const asked = ({ verb, objectRef }: AuditedRequest) =>
  `${verb} ${objectRef?.resource}${objectRef?.subresource ? `/${objectRef.subresource}` : ''}${objectRef?.apiGroup ? `.${objectRef.apiGroup}` : ''}`
const decision = ({ annotations }: AuditedRequest) => annotations?.['authorization.k8s.io/decision']
const isOfResources = ({ objectRef }: AuditedRequest) => objectRef?.resource !== undefined

/** What everybody may ask who is known at all: about himself. Source: Kubernetes, RBAC default roles, system:basic-user. */
const aboutHimself =
  /^create self(subject(access|rules)reviews\.authorization|subjectreviews\.authentication)\.k8s\.io$/

/** By what the API server says of a caller to himself. */
async function mayDo(server: ApiServer, caller: string): Promise<string[]> {
  const input = JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'default' },
  })
  const review = await server.kubectl(['create', '--validate=false', '-f', '-', '-o', 'json'], {
    input,
    caller,
  })
  const rules: { verbs: string[]; apiGroups: string[]; resources: string[] }[] =
    JSON.parse(review).status.resourceRules
  const rights = rules.flatMap(({ verbs, apiGroups, resources }) =>
    verbs.flatMap(verb =>
      apiGroups.flatMap(group =>
        resources.map(resource => `${verb} ${resource}${group && `.${group}`}`),
      ),
    ),
  )
  return rights.filter(right => !aboutHimself.test(right)).toSorted()
}

/** An audit by the reader, and what the API server has noted of it. */
async function audited(server: ApiServer, mode: ReadMode) {
  const before = server.requestsOf('reader').length
  const policy = join(temporaryFolder(), 'highwater.yaml')
  writeFileSync(policy, 'kubelet: { useOwnToken: true }\n')
  const way = [
    '--kubeconfig',
    server.kubeconfig,
    '--context',
    'reader',
    '--mode',
    mode,
    '--policy',
    policy,
  ]
  const { code } = await inProcess(['audit', ...way, '--out', temporaryFolder()])
  const requests = server.requestsOf('reader').slice(before)
  return {
    code,
    refused: requests
      .filter(request => decision(request) !== 'allow')
      .map(({ requestURI }) => requestURI),
    asked: [...new Set(requests.filter(isOfResources).map(asked))].toSorted(),
  }
}

const title =
  'are taken by kubectl, suffice for an audit in every mode, and grant nothing that it does not ask for'
it.skipIf(!hasApiServer)(
  `the printed roles ${title} (a real API server: KUBEBUILDER_ASSETS)`,
  { timeout: 300_000 },
  async () => {
    const server = await startApiServer({ reader: ['highwater'], token: ['highwater-kubelet'] })
    await server.kubectl(['create', '-f', '-'], { input: node })
    await server.kubectl(['create', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: nodeClasses }),
    })
    await server.kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'])
    for (const mode of readModes) {
      const { stdout } = await inProcess(['permissions', '--mode', mode, '--format', 'yaml'])
      await server.kubectl(['apply', '-f', '-'], { input: stdout })
      const rights = rightsOf(mode).toSorted()
      // There is no kubelet: its node could not be read, and that is all.
      expect({ mode, ...(await audited(server, mode)) }).toEqual({
        mode,
        code: 3,
        refused: [],
        asked: rights,
      })
      expect({ mode, granted: await mayDo(server, 'reader') }).toEqual({ mode, granted: rights })
    }
    expect(await mayDo(server, 'token')).toEqual(rightsOf('kubelet', 'kubelet').toSorted())
  },
)
