/** Custom resources that a cluster has installed, with their discovery. A group that nobody installed is not there. */

import type { RawObject } from '#base/raw-object.ts'
import { type CustomResource, nodeClasses } from '#facts/eks/node-classes.ts'
import { atPath, type Reply, type Route } from '#lab/api.ts'
import type { WorldCluster } from '#lab/world.ts'
import { authorize, type User } from './authorization.ts'
import { listParameters, listReply } from './lists.ts'
import { objectReply } from './objects.ts'

/** Upstream: apiserver's delegation ends in http.NotFound. */
const absent: Reply = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: '404 page not found\n',
}

export function customResourceRoutes(cluster: WorldCluster): Route<User>[] {
  return nodeClasses.flatMap(resource => {
    const { group, plural, kind, versions } = resource
    const [version = ''] = versions
    const found = installed(cluster, resource)
    return [
      {
        id: `group ${group}`,
        match: atPath('GET', `/apis/${group}`),
        parameters: ['timeout'],
        answer: request => (found ? objectReply(request, groupOf(resource)) : absent),
      },
      {
        id: `resources ${group}`,
        match: atPath('GET', `/apis/${group}/${version}`),
        parameters: ['timeout'],
        answer: request => (found ? objectReply(request, resourcesOf(resource)) : absent),
      },
      ...versions.map(
        (each): Route<User> => ({
          id: `list ${plural}`,
          match: atPath('GET', `/apis/${group}/${each}/${plural}`),
          parameters: listParameters,
          answer(request, _, user) {
            // Rights come before routes: who may not list what is not there is refused, too.
            authorize(user, 'list', plural, { group })
            if (!found || each !== version) return absent
            const item = (index: number) => ({
              apiVersion: `${group}/${version}`,
              kind,
              ...found[index],
            })
            const listing = {
              kind: `${kind}List`,
              apiVersion: `${group}/${version}`,
              count: found.length,
              item,
              selected: false,
            }
            return listReply(request, cluster, listing)
          },
        }),
      ),
    ]
  })
}

/** `APIGroup` of what is installed. */
export const installedGroups = (cluster: WorldCluster): object[] =>
  nodeClasses.filter(resource => installed(cluster, resource)).map(resource => groupOf(resource))

const installed = (
  { scenario }: WorldCluster,
  { plural, group }: CustomResource,
): readonly RawObject[] | undefined => scenario.nodeClasses?.[`${plural}.${group}`]

function groupOf({ group, versions: [version = ''] }: CustomResource): object {
  const served = { groupVersion: `${group}/${version}`, version }
  return {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: group,
    versions: [served],
    preferredVersion: served,
  }
}

const resourcesOf = ({ group, plural, kind, versions: [version] }: CustomResource): object => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${group}/${version}`,
  resources: [
    { name: plural, singularName: kind.toLowerCase(), namespaced: false, kind, verbs: ['list'] },
  ],
})
