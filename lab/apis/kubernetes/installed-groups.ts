/** API groups that somebody has installed: of CustomResourceDefinitions, and of programs behind the API server, which may be away. */
import { atPath, type Route } from '#lab/api.ts'
import type { InstalledResource } from '#lab/scenarios/scenario.ts'
import type { WorldCluster } from '#lab/world.ts'
import { authorize, type User } from './authorization.ts'
import { listParameters, listReply } from './lists.ts'
import { objectReply } from './objects.ts'
import { serviceUnavailable } from './status.ts'

interface Group {
  group: string
  version: string
  /** Null: who serves it is away. */
  resources: readonly InstalledResource[] | null
}

function groupsOf({ scenario: { installed = [], awayGroups = [] } }: WorldCluster): Group[] {
  const there = Map.groupBy(installed, ({ group, version }) => `${group}/${version}`)
  return [
    ...[...there].map(([name, resources]) => ({ ...parts(name), resources })),
    ...awayGroups.map(name => ({ ...parts(name), resources: null })),
  ]
}

function parts(groupVersion: string) {
  const [group = '', version = ''] = groupVersion.split('/')
  return { group, version }
}

const shown = ({ group, version }: Group): object => {
  const served = { groupVersion: `${group}/${version}`, version }
  return {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: group,
    versions: [served],
    preferredVersion: served,
  }
}

export const moreGroups = (cluster: WorldCluster): object[] => groupsOf(cluster).map(shown)

export function moreGroupRoutes(cluster: WorldCluster, at: string): Route<User>[] {
  return groupsOf(cluster).flatMap((each): Route<User>[] => {
    const { group, version, resources } = each
    return [
      {
        id: `group ${group}`,
        match: atPath('GET', `/apis/${group}`),
        parameters: ['timeout'],
        answer: request => objectReply(request, shown(each)),
      },
      {
        id: `resources ${group}`,
        match: atPath('GET', `/apis/${group}/${version}`),
        parameters: ['timeout'],
        answer(request) {
          // Upstream: kube-aggregator pkg/apiserver/handler_proxy.go.
          if (resources === null) throw serviceUnavailable('service unavailable')
          return objectReply(request, {
            kind: 'APIResourceList',
            apiVersion: 'v1',
            groupVersion: `${group}/${version}`,
            resources: resources.map(told),
          })
        },
      },
      ...(resources ?? []).map(resource => listRoute(resource, cluster, at)),
    ]
  })
}

const told = ({ plural, kind, isNamespaced, isStored = true }: InstalledResource): object => ({
  ...{ name: plural, singularName: kind.toLowerCase(), namespaced: isNamespaced, kind },
  verbs: isStored ? ['delete', 'get', 'list'] : ['get', 'list'],
})

function listRoute(
  { group, version, plural, kind, objects }: InstalledResource,
  cluster: WorldCluster,
  at: string,
): Route<User> {
  const apiVersion = `${group}/${version}`
  return {
    id: `list ${plural}`,
    match: atPath('GET', `/apis/${apiVersion}/${plural}`),
    parameters: listParameters,
    answer(request, _, user) {
      authorize(user, 'list', plural, { group })
      const item = (index: number) => ({ apiVersion, kind, ...objects.item(index, at) })
      return listReply(request, cluster, {
        kind: `${kind}List`,
        apiVersion,
        count: objects.count,
        item,
        selected: false,
      })
    },
  }
}
