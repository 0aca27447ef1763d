import { RequestFailure } from '#clients/failure.ts'
import type { ClusterCollector } from '#collect/collector.ts'
import { isCollectable, readForNodes } from '#facts/kubernetes/discovery.ts'
import { configResources, isGarbageResource } from '#facts/kubernetes/garbage-resources.ts'
import { type ApiResource, apiResources } from '#model/api-resources.ts'
import type { Policy } from '#model/policy.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { clusterCollectorsOf } from './index.ts'

/** Of a list of more pages the rest is not looked through: 200,000 objects of one kind. */
const mostPages = 400
const tells = 'what finalizers hold of what was deleted of these'

/** The rights of a sweep: by name, or by the groups that the policy names. */
export const sweepRights = ({
  clusterGarbage: { enabled, kinds, sweep },
}: Policy): { right: string; tells: string }[] =>
  enabled && kinds.includes('finalizers')
    ? sweep.map(name => ({ right: `list ${name === '*' ? '*.*' : name}`, tells }))
    : []

/**
 * Lists of whatever else the policy wants to be looked through for what finalizers hold: metadata alone, and of that only what is in deletion.
 *
 * @param served APIResourceLists
 */
export function sweepCollectorsOf(
  policy: Policy,
  served: readonly RawObject[],
): ClusterCollector[] {
  const { enabled, kinds, sweep } = policy.clusterGarbage
  if (!enabled || !kinds.includes('finalizers') || sweep.length === 0) return []
  const asked = new Set(clusterCollectorsOf(policy).map(({ resource }) => resource))
  const wanted = new Map<string, ApiResource>()
  for (const each of apiResources(served).served)
    if (
      !asked.has(each.resource) &&
      !wanted.has(each.resource) &&
      isCollectable(each) &&
      isSwept(each, sweep)
    )
      wanted.set(each.resource, each)
  return [...wanted.values()].map(sweeper)
}

/** Of volumes and claims their own section tells; who wants ConfigMaps and Secrets says so by their names. */
function isSwept({ resource, plural }: ApiResource, sweep: readonly string[]): boolean {
  if (isGarbageResource(resource) || readForNodes.has(resource))
    return configResources.has(resource) && sweep.includes(resource)
  if (sweep.includes(resource)) return true
  return sweep.includes('*') || sweep.includes(`*${resource.slice(plural.length)}`)
}

function sweeper({ resource, plural, apiVersion }: ApiResource): ClusterCollector {
  const path = `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/${plural}`
  return {
    resource,
    garbage: ['finalizers'],
    permissions: { kubernetes: [`list ${resource}`] },
    tells,

    async *collect({ kubernetes, signal, timeoutsMs }) {
      let pages = 0
      try {
        for await (const { items } of kubernetes.list(
          path,
          {},
          { signal, timeoutMs: timeoutsMs.list, isMetadataOnly: true },
        )) {
          // A server that knows no such form sends whole objects.
          yield items.filter(isInDeletion).map(({ metadata }) => ({ metadata }))
          if (++pages === mostPages)
            throw new Error(`only its first ${mostPages} pages were looked through`)
        }
      } catch (error) {
        // It went since the server named it.
        if (!(error instanceof RequestFailure && error.status === 404)) throw error
      }
    },
  }
}

const isInDeletion = ({ metadata }: RawObject): boolean =>
  isRawObject(metadata) && metadata.deletionTimestamp !== undefined
