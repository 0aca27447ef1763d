/** A scenario's cluster as etcd holds it, for an API server that decodes it by itself. */

import type { RawObject } from '#base/raw-object.ts'
import { garbageResources, podResource } from '#facts/kubernetes/garbage-resources.ts'
import { clusterRole } from '#facts/kubernetes/rbac.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import type { KubernetesNode } from '#model/input/record.ts'
import type { RealApiServer, StoredObject } from './real-api-server.ts'

/** All that the scenario's API server holds, each under the key that upstream's registry gives it. @param shown  the Node as it is to be kept */
export function storedObjects(
  cluster: ClusterScenario,
  at: string,
  shown: (node: KubernetesNode) => KubernetesNode = node => node,
): StoredObject[] {
  const keyed = (folder: string, object: RawObject): StoredObject => {
    const { namespace, name } = object.metadata as { namespace?: string; name: string }
    return {
      key: [folder, ...(namespace === undefined ? [] : [namespace]), name].join('/'),
      object,
    }
  }
  const nodes = cluster.nodes.names().flatMap(name => {
    const node = cluster.nodes.node(name)
    if (!node) return []
    const pods = node
      .podKeys()
      .map((_, index) => keyed('pods', { apiVersion: 'v1', kind: 'Pod', ...node.pod(index, at) }))
    return [keyed('minions', { apiVersion: 'v1', kind: 'Node', ...shown(node.node(at)) }), ...pods]
  })
  const listed = [podResource, ...garbageResources].flatMap(
    ({ resource, apiVersion, objectKind: kind }) => {
      const { count = 0, item } = cluster.objects?.[resource] ?? {}
      return Array.from({ length: count }, (_, index) =>
        keyed(resource.split('.')[0] ?? '', { apiVersion, kind, ...item?.(index, at) }),
      )
    },
  )
  const events = (cluster.events?.(at) ?? []).map(event =>
    keyed('events', { apiVersion: 'v1', kind: 'Event', ...event }),
  )
  return [...nodes, ...listed, ...events]
}

/** Gives the group of that name those rights, and no others. */
export async function grantRights(
  server: RealApiServer,
  name: string,
  rights: readonly string[],
): Promise<void> {
  for (const object of clusterRole(name, rights)) {
    const { kind } = object as { kind: string }
    await server.ask('POST', `/apis/rbac.authorization.k8s.io/v1/${kind.toLowerCase()}s`, object)
  }
}
