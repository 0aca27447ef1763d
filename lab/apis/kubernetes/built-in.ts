/** Lists of what every cluster has beside nodes, pods and events, with their discovery. */
import { type GarbageResource, garbageResources } from '#facts/kubernetes/garbage-resources.ts'
import { atPath, type LabRequest, Refusal, type Route } from '#lab/api.ts'
import { uidOf } from '#lab/nodes/random.ts'
import type { WorldCluster } from '#lab/world.ts'
import { authorize, type User } from './authorization.ts'
import { type Listing, listParameters, listReply } from './lists.ts'
import { objectReply } from './objects.ts'
import { singleObjectRoutes } from './single-objects.ts'

/** Read by an apply, to identify the cluster. */
const namespaces: GarbageResource = {
  ...{ resource: 'namespaces', path: '/api/v1/namespaces', apiVersion: 'v1' },
  ...{ objectKind: 'Namespace', isNamespaced: false, kinds: ['owners'], isMetadataOnly: false },
  purpose: '',
}
const resources = [...garbageResources, namespaces]

const parts = ({ resource }: GarbageResource) => {
  const [plural = '', ...group] = resource.split('.')
  return { plural, group: group.join('.') }
}

const apiResource = (resource: GarbageResource): object => {
  const { objectKind: kind, isNamespaced: namespaced } = resource
  return {
    name: parts(resource).plural,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs: ['delete', 'get', 'list'],
  }
}

const groups = [...new Set(resources.map(resource => parts(resource).group))].filter(
  group => group !== '',
)
const ofGroup = (group: string) => resources.filter(resource => parts(resource).group === group)

export const coreLists: readonly object[] = ofGroup('').map(apiResource)

const groupOf = (group: string): object => {
  const served = { groupVersion: `${group}/v1`, version: 'v1' }
  return {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: group,
    versions: [served],
    preferredVersion: served,
  }
}

export const builtInGroups: readonly object[] = groups.map(groupOf)

export function builtInRoutes(cluster: WorldCluster, at: string): Route<User>[] {
  return [
    ...groups.flatMap((group): Route<User>[] => [
      {
        id: `group ${group}`,
        match: atPath('GET', `/apis/${group}`),
        parameters: ['timeout'],
        answer: request => objectReply(request, groupOf(group)),
      },
      {
        id: `resources ${group}`,
        match: atPath('GET', `/apis/${group}/v1`),
        parameters: ['timeout'],
        answer: request =>
          objectReply(request, {
            kind: 'APIResourceList',
            apiVersion: 'v1',
            groupVersion: `${group}/v1`,
            resources: ofGroup(group).map(apiResource),
          }),
      },
    ]),
    ...resources.map(resource => listRoute(resource, cluster, at)),
    ...singleObjectRoutes(cluster, at),
  ]
}

/** The one that every cluster has, for whoever asks for it by its name. */
function ownNamespace({ query }: LabRequest, { scenario, region, account }: WorldCluster): Listing {
  const selector = query.get('fieldSelector')
  if (selector !== 'metadata.name=kube-system')
    throw new Refusal(501, 'NotImplemented', `the lab selects no namespaces by ${selector}`)
  const uid = uidOf(`${account}/${region}/${scenario.name}/kube-system`)
  const item = () => ({ metadata: { name: 'kube-system', uid }, status: { phase: 'Active' } })
  return { kind: 'NamespaceList', count: 1, item, selected: true }
}

function listRoute(resource: GarbageResource, cluster: WorldCluster, at: string): Route<User> {
  const { plural, group } = parts(resource)
  const { objectKind: kind, apiVersion } = resource
  return {
    id: `list ${plural}`,
    match: atPath('GET', resource.path),
    parameters: plural === 'namespaces' ? [...listParameters, 'fieldSelector'] : listParameters,
    answer(request, _, user) {
      authorize(user, 'list', plural, group === '' ? {} : { group })
      if (request.query.get('fieldSelector'))
        return listReply(request, cluster, ownNamespace(request, cluster))
      const source = cluster.scenario.objects?.[resource.resource]
      const item = (index: number) => ({ apiVersion, kind, ...source?.item(index, at) })
      const listing = {
        kind: `${kind}List`,
        apiVersion,
        count: source?.count ?? 0,
        item,
        selected: false,
      }
      return listReply(request, cluster, listing)
    },
  }
}
