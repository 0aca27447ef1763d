import { RequestFailure } from '#clients/failure.ts'
import type { KubernetesClient } from '#clients/kubernetes.ts'
import type { ClusterCollector, ObjectsContext } from '#collect/collector.ts'
import {
  type GarbageResource,
  garbageResources,
  podResource,
} from '#facts/kubernetes/garbage-resources.ts'
import { isRawObject, type RawObject } from '#model/record.ts'

/** Objects that may be uncollected garbage, each kind in one paged list. A kind that the server does not have has none. */
const listCollectors: ClusterCollector[] = garbageResources.map(resource => ({
  ...asked(resource),

  async *collect({ kubernetes, signal, timeoutsMs }) {
    const { path, isMetadataOnly } = resource
    const pages = kubernetes.list(path, {}, { signal, timeoutMs: timeoutsMs.list, isMetadataOnly })
    try {
      for await (const { items } of pages) yield items
    } catch (error) {
      if (!(error instanceof RequestFailure && error.status === 404)) throw error
    }
  },
}))

/**
 * Pods that stand in no node's record. The rest has come with the nodes, and is not listed a second time; but of pods whose node is gone the API server
 * has no list, only one of all that are over: those that were not, pod GC sets to Failed before it deletes them (`replay/cluster-gc/pod-gc.ts`), and so
 * those that finalizers hold then are among them. One that still says that it runs pod GC has not come to.
 */
const homelessPods: ClusterCollector = {
  ...asked(podResource),

  async *collect(context) {
    yield* podsOf(context, 'spec.nodeName=')
    for await (const items of podsOf(
      context,
      'status.phase!=Running,status.phase!=Pending,spec.nodeName!=',
    ))
      yield items.filter(
        pod => !context.nodesWithPods.has(String(isRawObject(pod.spec) ? pod.spec.nodeName : '')),
      )
  },
}

export const garbageCollectors: ClusterCollector[] = [homelessPods, ...listCollectors]

function asked({ resource, kinds, purpose }: GarbageResource) {
  return { resource, garbage: kinds, permissions: { kubernetes: [`list ${resource}`] }, purpose }
}

async function* podsOf(
  { kubernetes, signal, timeoutsMs }: ObjectsContext,
  fieldSelector: string,
): AsyncGenerator<RawObject[]> {
  const options: Parameters<KubernetesClient['list']>[2] = { signal, timeoutMs: timeoutsMs.list }
  for await (const { items } of kubernetes.list(podResource.path, { fieldSelector }, options))
    yield items
}
