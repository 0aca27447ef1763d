/**
 * One object by its name: read, and deleted as an API server deletes it, with preconditions and dry runs.
 * Upstream: apiserver/pkg/registry/generic/registry/store.go Delete, apiserver/pkg/storage/interfaces.go Preconditions.Check
 */
import { garbageResources, podResource } from '#facts/kubernetes/garbage-resources.ts'
import { atPath, type LabRequest, Refusal, type Route } from '#lab/api.ts'
import type { WorldCluster } from '#lab/world.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { authorize, type User } from './authorization.ts'
import type { Listing } from './lists.ts'
import { objectReply } from './objects.ts'
import { podsListing } from './pods.ts'
import { badRequest, notFound } from './status.ts'

const keyOf = (resource: string, { metadata }: RawObject): string =>
  isRawObject(metadata) ? `${resource} ${metadata.namespace}/${metadata.name}` : resource

/** A list without what was deleted from it. @param resource `plural` or `plural.group` */
export function withoutDeleted(cluster: WorldCluster, resource: string, listing: Listing): Listing {
  if (![...cluster.deleted].some(key => key.startsWith(`${resource} `))) return listing
  const kept = Array.from({ length: listing.count }, (_, index) => index).filter(
    index => !cluster.deleted.has(keyOf(resource, { ...listing.item(index) })),
  )
  return { ...listing, count: kept.length, item: index => listing.item(kept[index] ?? -1) }
}

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
      if (found === undefined || cluster.deleted.has(keyOf(resource, found)))
        throw notFound(plural, name)
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
      {
        id: `delete ${plural}`,
        match: atPath('DELETE', template),
        parameters: [],
        answer(request, { namespace = '', name = '' }, user) {
          authorize(user, 'delete', plural, { group, name, namespace })
          const object = find(namespace, name)
          if (remove(request, plural, object)) {
            cluster.deleted.add(keyOf(resource, object))
            cluster.revision += 1
          }
          return objectReply(request, {
            kind: 'Status',
            apiVersion: 'v1',
            metadata: {},
            status: 'Success',
            details: { name, kind: plural },
          })
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

/** Whether it goes; a dry run ends well and keeps it. @throws Refusal */
function remove({ body }: LabRequest, plural: string, { metadata, status }: RawObject): boolean {
  const { name, uid, resourceVersion, finalizers } = isRawObject(metadata) ? metadata : {}
  const { preconditions = {}, dryRun = [], propagationPolicy = 'Background' } = optionsOf(body)
  if (!['Background', 'Foreground', 'Orphan'].includes(String(propagationPolicy)))
    throw badRequest(`propagationPolicy: Unsupported value: "${propagationPolicy}"`)
  for (const [what, present] of Object.entries({ uid, resourceVersion })) {
    const wanted = isRawObject(preconditions) ? preconditions[what] : undefined
    if (wanted !== undefined && wanted !== present)
      throw new Refusal(
        409,
        'Conflict',
        `Operation cannot be fulfilled on ${plural} "${name}": Precondition failed: ${what} ${present}, not ${wanted}`,
      )
  }
  if (
    Array.isArray(finalizers) &&
    finalizers.some(finalizer => finalizer !== protection || isBound(status))
  )
    throw new Refusal(
      501,
      'NotImplemented',
      'the lab finalizes no objects but volumes that nobody uses',
    )
  return !(Array.isArray(dryRun) && dryRun.includes('All'))
}

/** Upstream: pkg/controller/volume/pvprotection/pv_protection_controller.go isBeingUsed. */
const protection = 'kubernetes.io/pv-protection'
const isBound = (status: unknown): boolean => isRawObject(status) && status.phase === 'Bound'

function optionsOf(body: Buffer): RawObject {
  if (body.length === 0) return {}
  try {
    const options: unknown = JSON.parse(body.toString())
    if (isRawObject(options) && options.kind === 'DeleteOptions') return options
  } catch {
    // Said below.
  }
  throw badRequest('the body of a DELETE has to be DeleteOptions')
}
