/** A scenario's cluster as etcd holds it, for an API server that decodes it by itself. */
import { garbageResources, podResource } from '#facts/kubernetes/garbage-resources.ts'
import { clusterRole } from '#facts/kubernetes/rbac.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import type { KubernetesNode } from '#model/kubernetes.ts'
import type { RawObject } from '#model/record.ts'
import type { RealApiServer, StoredObject } from './real-api-server.ts'

/** Installed resources that the API server keeps. */
const keptResources = ({ installed = [] }: ClusterScenario) =>
  installed.filter(({ isStored }) => isStored !== false)

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
  const installed = keptResources(cluster).flatMap(({ group, version, plural, kind, objects }) =>
    Array.from({ length: objects.count }, (_, index) =>
      keyed(`${group}/${plural}`, {
        apiVersion: `${group}/${version}`,
        kind,
        ...objects.item(index, at),
      }),
    ),
  )
  return [...nodes, ...listed, ...events, ...installed]
}

/** Has the API server know what is installed in the scenario's cluster, and the groups whose programs are away. */
export async function installResources(
  server: RealApiServer,
  cluster: ClusterScenario,
): Promise<void> {
  for (const resource of keptResources(cluster)) {
    await server.ask(
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      definition(resource),
    )
    await server.awaits(
      `/apis/${resource.group}/${resource.version}/${resource.plural}`,
      () => true,
    )
  }
  const { awayGroups = [] } = cluster
  for (const group of awayGroups)
    await server.ask('POST', '/apis/apiregistration.k8s.io/v1/apiservices', awayService(group))
  await server.awaits('/apis', answer =>
    awayGroups.every(group => JSON.stringify(answer).includes(group)),
  )
}

const definition = ({
  group,
  version,
  plural,
  kind,
  isNamespaced,
}: ReturnType<typeof keptResources>[number]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
})

/** A program behind the API server whose Service nobody has made. */
function awayService(groupVersion: string) {
  const [group, version] = groupVersion.split('/')
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}` },
    spec: {
      ...{
        group,
        version,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
      },
      service: { namespace: 'kube-system', name: 'nobody' },
    },
  }
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
