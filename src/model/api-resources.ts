/** What an API server has, by its own APIResourceLists. Follows client-go restmapper/discovery.go NewDiscoveryRESTMapper: subresources have no kind of their own. */
import { isRawObject } from './record.ts'

export interface ApiResource {
  /** `plural` or `plural.group`. */
  resource: string
  plural: string
  /** `v1`, `apps/v1` */
  apiVersion: string
  kind: string
  isNamespaced: boolean
  verbs: readonly string[]
}

export interface ApiResources {
  /** In the order of the lists: of a resource that is there in several versions the preferred one is the first. */
  served: readonly ApiResource[]
  /** Versions of groups that have not said what is in them. */
  unanswered: ReadonlySet<string>
}

/** @param lists APIResourceLists; one without `resources` was not had */
export function apiResources(lists: readonly unknown[]): ApiResources {
  const served: ApiResource[] = []
  const unanswered = new Set<string>()
  for (const list of lists) {
    if (!isRawObject(list) || typeof list.groupVersion !== 'string') continue
    const { groupVersion: apiVersion, resources } = list
    if (!Array.isArray(resources)) unanswered.add(apiVersion)
    else for (const resource of resources) served.push(...(apiResource(apiVersion, resource) ?? []))
  }
  return { served, unanswered }
}

function apiResource(apiVersion: string, raw: unknown): [ApiResource] | null {
  if (
    !isRawObject(raw) ||
    typeof raw.name !== 'string' ||
    typeof raw.kind !== 'string' ||
    raw.name.includes('/')
  )
    return null
  const { name: plural, kind, namespaced, verbs } = raw
  const slash = apiVersion.indexOf('/')
  const resource = slash < 0 ? plural : `${plural}.${apiVersion.slice(0, slash)}`
  const named = Array.isArray(verbs) ? verbs.filter(verb => typeof verb === 'string') : []
  return [{ resource, plural, apiVersion, kind, isNamespaced: namespaced === true, verbs: named }]
}
