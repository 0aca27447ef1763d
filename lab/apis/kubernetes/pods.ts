/** Which pods a list covers. Of those on nodes only their keys are held; a pod is made when its page is, or a selector asks for its phase. */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { byText } from '#base/text.ts'
import { Refusal } from '#lab/api.ts'
import type { ObjectSource, PodKey } from '#lab/scenarios/scenario.ts'
import type { WorldCluster } from '#lab/world.ts'
import type { Listing } from './lists.ts'

interface PodReference extends PodKey {
  /** Empty: it is not scheduled. */
  nodeName: string
  pod(at: string): object
}

export function podsListing(
  cluster: WorldCluster,
  at: string,
  selection: { namespace?: string; fieldSelector: string | null },
): Listing {
  const requirements = requirementsOf(selection.fieldSelector ?? '')
  const selected = selectedPods(cluster, at, selection.fieldSelector ?? '', requirements)
  const pods =
    selection.namespace === undefined
      ? selected
      : selected.filter(pod => pod.namespace === selection.namespace)
  return {
    kind: 'PodList',
    count: pods.length,
    item: position => pods[position]!.pod(at),
    selected: requirements.length > 0,
  }
}

interface Requirement {
  field: 'spec.nodeName' | 'status.phase'
  isEqual: boolean
  value: string
}

/** @throws Refusal 501 for what the lab cannot select by. */
function requirementsOf(selector: string): Requirement[] {
  if (selector === '') return []
  return selector.split(',').map(requirement => {
    const [, field, operator, value = ''] =
      /^(spec\.nodeName|status\.phase)(!=|==?)([^,=!]*)$/.exec(requirement) ?? []
    if (field !== 'spec.nodeName' && field !== 'status.phase')
      throw new Refusal(
        501,
        'NotImplemented',
        `the lab does not know the field selector ${selector}`,
      )
    return { field, isEqual: operator !== '!=', value }
  })
}

/** By field selector, as long as there are the same nodes. */
const indexes = new WeakMap<
  WorldCluster,
  { names: readonly string[]; pods: Map<string, PodReference[]> }
>()

function selectedPods(
  cluster: WorldCluster,
  at: string,
  selector: string,
  requirements: Requirement[],
): PodReference[] {
  const node = requirements.find(
    ({ field, isEqual, value }) => field === 'spec.nodeName' && isEqual && value !== '',
  )
  const meets = (pod: PodReference) =>
    requirements.every(
      ({ field, isEqual, value }) =>
        ((field === 'spec.nodeName' ? pod.nodeName : phaseOf(pod, at)) === value) === isEqual,
    )
  if (node) return podsOf(cluster, node.value, at).filter(meets)
  // A page of many must not walk through all of them anew.
  const names = cluster.scenario.nodes.names()
  const last = indexes.get(cluster)
  const known = last?.names === names ? last.pods : new Map<string, PodReference[]>()
  indexes.set(cluster, { names, pods: known })
  const pods = known.get(selector) ?? everyPod(cluster, at).filter(meets)
  known.set(selector, pods)
  return pods
}

const phaseOf = (reference: PodReference, at: string): unknown => {
  const pod: RawObject = { ...reference.pod(at) }
  return isRawObject(pod.status) ? pod.status.phase : ''
}

/** In the API server's order. */
const everyPod = (cluster: WorldCluster, at: string): PodReference[] =>
  sorted([
    ...cluster.scenario.nodes.names().flatMap(name => onNode(cluster, name)),
    ...elsewhere(cluster, at),
  ])

const podsOf = (cluster: WorldCluster, nodeName: string, at: string): PodReference[] =>
  sorted([
    ...onNode(cluster, nodeName),
    ...elsewhere(cluster, at).filter(pod => pod.nodeName === nodeName),
  ])

function onNode(cluster: WorldCluster, nodeName: string): PodReference[] {
  const { nodes } = cluster.scenario
  const node = nodes.node(nodeName)
  if (!node) return []
  const now = () => nodes.asNow?.(nodeName, node) ?? node
  return node.podKeys().map((key, index) => ({ ...key, nodeName, pod: at => now().pod(index, at) }))
}

/** Where each of them is does not change; and the list of each node asks for all. */
const references = new WeakMap<ObjectSource, readonly PodReference[]>()

/** Pods without a node, or whose node is gone. */
function elsewhere(cluster: WorldCluster, at: string): readonly PodReference[] {
  const source = cluster.scenario.objects?.pods
  if (!source) return []
  const known =
    references.get(source) ??
    Array.from({ length: source.count }, (_, index) => referenceTo(source, index, at))
  references.set(source, known)
  return known
}

function referenceTo(source: ObjectSource, index: number, at: string): PodReference {
  const { metadata, spec } = source.item(index, at)
  const { namespace = '', name = '' } = isRawObject(metadata) ? metadata : {}
  const nodeName = isRawObject(spec) ? String(spec.nodeName ?? '') : ''
  return {
    namespace: String(namespace),
    name: String(name),
    nodeName,
    pod: now => source.item(index, now),
  }
}

const sorted = (pods: PodReference[]) =>
  pods.sort((a, b) => byText(a.namespace, b.namespace) || byText(a.name, b.name))
