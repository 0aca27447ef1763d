import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { KubernetesClient } from '#clients/kubernetes/kubernetes.ts'
import type { ClusterCollector, ObjectsContext } from '#collect/collector.ts'
import {
  type GarbageResource,
  garbageResources,
  podResource,
} from '#facts/kubernetes/garbage-resources.ts'

/** Lists objects that may be uncollected garbage, one paged list per kind. A kind that the server does not have yields no objects. */
const listCollectors: ClusterCollector[] = garbageResources.map(resource => ({
  ...collectorFields(resource),

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
 * Pods that no node's record contains: pods without a node, and ended pods of deleted nodes. The API server cannot list the pods of deleted nodes
 * alone, so all ended pods are listed. Pod GC sets running pods of a deleted node to Failed before it deletes them (`replay/cluster-gc/pod-gc.ts`),
 * so pods that finalizers then hold are listed, too. A pod that is still Running or Pending was not yet handled by pod GC, and is not listed.
 */
const homelessPods: ClusterCollector = {
  ...collectorFields(podResource),

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

function collectorFields({ resource, kinds, purpose }: GarbageResource) {
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
