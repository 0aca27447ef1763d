import { RequestFailure } from '#clients/failure.ts'
import type { GetOptions, KubernetesClient } from '#clients/kubernetes.ts'
import type { ClusterCollector } from '#collect/collector.ts'
import { coreVersion, discoveryPaths, discoveryResource } from '#facts/kubernetes/discovery.ts'
import { isRawObject, type RawObject } from '#model/record.ts'

/**
 * Which kinds there are, as the control plane's own collectors ask it, group by group. Every authenticated user may read it (the ClusterRole
 * system:discovery). It also marks the cluster as one that was looked through where that costs no list.
 */
export const discovery: ClusterCollector = {
  resource: discoveryResource,
  garbage: ['apis', 'nodes', 'owners', 'finalizers'],
  permissions: { kubernetes: [] },
  tells: 'which kinds of objects there are, and which API groups do not answer',

  async *collect({ kubernetes, signal, timeoutsMs }) {
    const options = { signal, timeoutMs: timeoutsMs.list }
    yield [await resourceList(kubernetes, coreVersion, discoveryPaths.core, options)]
    const groups = await kubernetes.getJson(discoveryPaths.groups, options)
    for (const versions of groupVersions(groups)) {
      const lists: RawObject[] = []
      for (const version of versions)
        lists.push(
          await resourceList(kubernetes, version, discoveryPaths.version(version), options),
        )
      yield lists
    }
  },
}

/** Of each group its versions, the preferred one first. */
function groupVersions(answer: unknown): string[][] {
  const groups =
    isRawObject(answer) && Array.isArray(answer.groups) ? answer.groups.filter(isRawObject) : []
  return groups.map(({ preferredVersion, versions }) => {
    const named = [preferredVersion, ...(Array.isArray(versions) ? versions : [])]
    return [
      ...new Set(
        named.flatMap(version => (isRawObject(version) ? String(version.groupVersion) : [])),
      ),
    ]
  })
}

/** A group may be served by somebody behind the API server: when he is away, that is an answer, too. Of subresources nothing is kept. */
async function resourceList(
  kubernetes: KubernetesClient,
  groupVersion: string,
  path: string,
  options: GetOptions,
): Promise<RawObject> {
  try {
    const answer = await kubernetes.getJson(path, { ...options, attempts: 2, isProxied: true })
    const resources =
      isRawObject(answer) && Array.isArray(answer.resources)
        ? answer.resources.filter(isRawObject)
        : []
    return { groupVersion, resources: resources.filter(({ name }) => !String(name).includes('/')) }
  } catch (error) {
    if (error instanceof RequestFailure && isUnanswered(error)) return { groupVersion }
    throw error
  }
}

/** 404: the resource was removed while its group was read, or no server serves it. */
const isUnanswered = ({ status, kind }: RequestFailure): boolean =>
  (status !== null && status >= 500) || status === 404 || kind === 'timeout'
