/** One object by its name, as `kubectl get` and `kubectl describe` read it. */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { garbageResources, podResource } from '#facts/kubernetes/garbage-resources.ts'
import { atPath, type Route } from '#lab/api.ts'
import type { WorldCluster } from '#lab/world.ts'
import { authorize, type User } from './authorization.ts'
import type { Listing } from './lists.ts'
import { objectReply } from './objects.ts'
import { podsListing } from './pods.ts'
import { notFound } from './status.ts'

export const singleObjectRoutes = (cluster: WorldCluster, at: string): Route<User>[] =>
  [podResource, ...garbageResources].flatMap(({ resource, path, isNamespaced }) => {
    const [plural = '', ...rest] = resource.split('.')
    const group = rest.join('.')
    const template = path.replace(
      new RegExp(`${plural}$`),
      `${isNamespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`,
    )
    const find = (namespace: string, name: string): RawObject => {
      const { count, item } = listingOf(cluster, resource, at)
      const all = Array.from({ length: count }, (_, index): RawObject => ({ ...item(index) }))
      const isIt = ({ metadata }: RawObject) =>
        isRawObject(metadata) && (metadata.namespace ?? '') === namespace && metadata.name === name
      const found = all.find(isIt)
      if (found === undefined) throw notFound(plural, name)
      const metadata = isRawObject(found.metadata) ? found.metadata : {}
      return { ...found, metadata: { resourceVersion: '1', ...metadata } }
    }
    return [
      {
        id: `get ${plural}`,
        match: atPath('GET', template),
        parameters: [],
        answer(request, { namespace = '', name = '' }, user) {
          authorize(user, 'get', plural, { group, name, namespace })
          return objectReply(request, find(namespace, name))
        },
      },
    ]
  })

const listingOf = (
  cluster: WorldCluster,
  resource: string,
  at: string,
): Pick<Listing, 'count' | 'item'> => {
  if (resource === 'pods') return podsListing(cluster, at, { fieldSelector: null })
  const source = cluster.scenario.objects?.[resource]
  return { count: source?.count ?? 0, item: index => source?.item(index, at) ?? {} }
}
