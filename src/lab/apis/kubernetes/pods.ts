/** Which pods a list covers. Only their keys are held; a pod is made when its page is. */
import { Refusal } from '#lab/api.ts'
import type { LabNode, PodKey } from '#lab/scenarios/scenario.ts'
import type { WorldCluster } from '#lab/world.ts'
import type { Listing } from './lists.ts'

interface PodReference extends PodKey {
  node: LabNode
  index: number
}

export function podsListing(cluster: WorldCluster, at: string, selection: { namespace?: string; fieldSelector: string | null }): Listing {
  const nodeName = nodeNameOf(selection.fieldSelector)
  const onNode = nodeName === null ? everyPod(cluster) : podsOf(cluster, nodeName)
  const pods = selection.namespace === undefined ? onNode : onNode.filter(pod => pod.namespace === selection.namespace)
  return {
    kind: 'PodList',
    count: pods.length,
    item: position => {
      const { node, index } = pods[position]!
      return node.pod(index, at)
    },
    selected: nodeName !== null,
  }
}

/** The node that a field selector names; null for no selector. @throws Refusal 501 for any other selector. */
function nodeNameOf(fieldSelector: string | null): string | null {
  if (!fieldSelector) return null
  const [, name] = /^spec\.nodeName==?([^,=!]+)$/.exec(fieldSelector) ?? []
  if (name === undefined) throw new Refusal(501, 'NotImplemented', `the lab does not know the field selector ${fieldSelector}`)
  return name
}

const indexes = new WeakMap<WorldCluster, PodReference[]>()

/** In the API server's order; collected at the first list of all pods. */
function everyPod(cluster: WorldCluster): PodReference[] {
  const known = indexes.get(cluster)
  if (known) return known
  const { nodes } = cluster.scenario
  const index = sorted(nodes.names().flatMap(name => references(nodes.node(name)!)))
  indexes.set(cluster, index)
  return index
}

function podsOf(cluster: WorldCluster, nodeName: string): PodReference[] {
  const node = cluster.scenario.nodes.node(nodeName)
  return node ? sorted(references(node)) : []
}

const references = (node: LabNode): PodReference[] => node.podKeys().map((key, index) => ({ ...key, node, index }))

const sorted = (pods: PodReference[]) => pods.sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name))

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
